"""Part of an OpenAPI document: the operations of some tags, and the components that they reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

__all__ = ["select_tags"]

_NOT_OPERATIONS = frozenset({"parameters", "summary", "description", "servers"})


def select_tags(document: Mapping[str, Any], tags: Collection[str]) -> dict[str, Any]:
    """Return the document with only the operations of these tags; the others' names, order and text are unchanged.

    Links to operations that are left out are left out, too. Security schemes are kept.
    """
    paths = {path: _of_tags(item, tags) for path, item in document["paths"].items()}
    paths = {path: item for path, item in paths.items() if item.keys() - _NOT_OPERATIONS}
    kept = {one["operationId"] for item in paths.values() for one in _operations(item)}
    for item in paths.values():
        for operation in _operations(item):
            operation["responses"] = {
                status: _with_links(response, kept) for status, response in operation["responses"].items()
            }
    components = document["components"]
    reached = _reached(paths, components)
    return {
        **document,
        "tags": [one for one in document["tags"] if one["name"] in tags],
        "paths": paths,
        "components": {
            kind: found if kind == "securitySchemes" else {n: one for n, one in found.items() if (kind, n) in reached}
            for kind, found in components.items()
        },
    }


def _of_tags(item: Mapping[str, Any], tags: Collection[str]) -> dict[str, Any]:
    return {
        name: member if name in _NOT_OPERATIONS else dict(member)
        for name, member in item.items()
        if name in _NOT_OPERATIONS or not set(tags).isdisjoint(member.get("tags", ()))
    }


def _operations(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (member for name, member in item.items() if name not in _NOT_OPERATIONS)


def _with_links(response: Mapping[str, Any], kept: Collection[str]) -> dict[str, Any]:
    links = {name: one for name, one in response.get("links", {}).items() if one.get("operationId") in kept}
    rest = {name: member for name, member in response.items() if name != "links"}
    return {**rest, **({"links": links} if links else {})}


def _reached(paths: Mapping[str, Any], components: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return kind and name of each component that the paths refer to, directly or through others."""
    reached: set[tuple[str, str]] = set()
    waiting: list[Any] = [paths]
    while waiting:
        for reference in _references(waiting.pop()):
            _, _, kind, name = reference.split("/", 3)
            if (kind, name) not in reached:
                reached.add((kind, name))
                waiting.append(components[kind][name])
    return reached


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(one.get("$ref"), str):
                yield one["$ref"]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one

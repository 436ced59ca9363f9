"""Examples in an OpenAPI document: rows of the service, and the pages and bodies that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odata_server.openapi.values import Schema

__all__ = ["add_examples"]

_CHANGED_MAX = 2  # properties in the example of an update


def add_examples(schemas: dict[str, Schema], rows: Mapping[str, Mapping[str, Any]], extras: Mapping[str, Any]) -> None:
    """Add an example to the schemas of each entity type in ``rows``: of its answers, its pages and its bodies.

    ``extras``: members with their values that the service adds to every answer. The body of a create has what the row
    has and is not its default; it has no example if the row, as answered, lacks what a create must contain.
    """
    for name, row in rows.items():
        made: dict[str, Any] = {name: {**row, **extras}, f"{name}-page": {"@count": 1, "value": [row], **extras}}
        for kind, body in (("create", _created), ("update", _updated)):
            if f"{name}-{kind}" in schemas:
                made[f"{name}-{kind}"] = body(schemas[f"{name}-{kind}"], row)
        for schema, example in made.items():
            if schema in schemas and example:
                schemas[schema] = {**schemas[schema], "examples": [example]}


def _created(schema: Schema, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that would create the row, or an empty one."""
    required = set(schema.get("required", ()))
    body = {
        name: row[name]
        for name, prop in schema["properties"].items()
        if row.get(name) is not None and (name in required or not (name == "ID" or prop.get("default") == row[name]))
    }
    return body if required <= body.keys() else {}


def _updated(schema: Schema, row: Mapping[str, Any]) -> dict[str, Any]:
    names = [name for name in schema["properties"] if row.get(name) is not None and name not in ("ID", "code")]
    return {name: row[name] for name in names[:_CHANGED_MAX]}

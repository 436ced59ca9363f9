"""What the OpenAPI documents of the public API and of reporting share: names of codes, and rows as examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from promenade import model
from promenade.model.declare import Service

__all__ = ["allowed_values", "enum_names", "example_rows"]


def example_rows(service: Service) -> Mapping[str, Mapping[str, Any]]:
    """Return entity type -> a row as the service answers it, recorded from a demo."""
    text = files("promenade.web.odata").joinpath("examples", f"{service.value}.json").read_bytes()
    rows: dict[str, dict[str, Any]] = msgspec.json.decode(text)
    return rows


def allowed_values() -> Mapping[str, Sequence[str]]:
    """Return ``Type/property`` -> its codes, of every property that has a code list."""
    return {name: model.code_list(of).codes for name, of in _coded()}


def enum_names() -> Mapping[str, str]:
    """Return ``Type/property`` -> the name of the schema with its codes, which all with the same code list share."""
    return {name: f"{of}-code" for name, of in _coded()}


def _coded() -> Iterator[tuple[str, str]]:
    for entity in model.entities():
        for field in entity.fields:
            if field.code_list:
                yield f"{entity.set_name}/{field.wire}", field.code_list
    for set_name in model.code_lists():
        yield f"{set_name}/code", set_name

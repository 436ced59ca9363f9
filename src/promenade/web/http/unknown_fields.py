"""Finds the members of a request that its declaration does not have, each with the nearest name that it has.

Requests are tolerant by default, because additive changes need it; who develops a till asks for the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from typing import Any, get_args, get_origin

import msgspec
from msgspec import Struct

from promenade.errors import Detail
from promenade.web.http.validation import unwrap

DETAILS_MAX = 50
_SHOWN_MAX = 100  # characters of an unknown name that are compared and shown


def unknown_fields(request: Mapping[str, Any], message: type[Struct]) -> list[Detail]:
    """Return UNKNOWN_FIELD for each member of ``request`` that ``message`` does not declare, at any depth; at most 50.

    Annotations (names with `@`) are allowed anywhere.
    """
    return list(islice(_unknown(request, message, ""), DETAILS_MAX))


def unknown_field(name: str, known: tuple[str, ...], path: str = "") -> Detail:
    """Return the fault of a member that is none of the ``known`` ones; ``path`` is that of its object."""
    shown = name[:_SHOWN_MAX]
    target = f"{path}.{shown}" if path else shown
    nearest = max(known, key=lambda one: SequenceMatcher(None, shown.lower(), one.lower()).ratio())
    return Detail("UNKNOWN_FIELD", f"`{target}` is not a field; the nearest one is `{nearest}`.", target)


def _unknown(value: Mapping[str, Any], struct: type[Struct], path: str) -> Iterator[Detail]:
    below = _members(struct)
    for name, entry in value.items():
        if name not in below:
            if "@" not in name:
                yield unknown_field(name, tuple(below), path)
            continue
        kind = below[name]
        if kind is None:
            continue
        target = f"{path}.{name}" if path else name
        if isinstance(entry, dict):
            yield from _unknown(entry, kind, target)
        elif isinstance(entry, list):
            for position, one in enumerate(entry):
                if isinstance(one, dict):
                    yield from _unknown(one, kind, f"{target}[{position}]")


@cache
def _members(struct: type[Struct]) -> Mapping[str, type[Struct] | None]:
    """Return the members of ``struct`` by name, each with the struct of its object or of the objects in its list."""
    found: dict[str, type[Struct] | None] = {}
    for field in msgspec.structs.fields(struct):
        kind = unwrap(field.type)[0]
        if get_origin(kind) is list:
            kind = unwrap(get_args(kind)[0])[0]
        found[field.encode_name] = kind if isinstance(kind, type) and issubclass(kind, Struct) else None
    return found

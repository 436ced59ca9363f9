"""What a tool is: its name, its arguments and its result as types, and what it may cause."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from promenade.errors import Invalid
from promenade.web.agents.service import Service

__all__ = [
    "RESULT_BYTES_MAX",
    "ROWS_MAX",
    "Arguments",
    "Limit",
    "Offset",
    "Part",
    "PromotionRef",
    "Result",
    "Tool",
    "arguments_of",
    "fitting",
    "one_of",
    "schema_of",
    "size_of",
    "without_marks",
]

RESULT_BYTES_MAX = 64 * 1024
"""Of the data of one result, as JSON."""

ROWS_MAX = 100


class Arguments(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The arguments of a tool."""


class Part(Struct, rename="camel", frozen=True, omit_defaults=True):
    """Part of a result."""


class Result(Struct, rename="camel", frozen=True):
    """The result of a tool."""


Limit = Annotated[int, Meta(ge=1, le=ROWS_MAX, description="The most rows to return.")]
Offset = Annotated[int, Meta(ge=0, le=100_000, description="How many rows to leave out before the first.")]
PromotionRef = Annotated[
    str, Meta(min_length=1, max_length=50, description="The promotion: its code, or its ID if it has none.")
]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``reads``: it changes nothing. ``needs``: the scopes of which its caller has one, for the reference."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result]
    run: Callable[[Service, Any], Awaitable[Result]]
    needs: str
    reads: bool = True


def one_of(*values: str) -> Meta:
    """Return the bounds of a text that is one of ``values``."""
    return Meta(pattern=f"^({'|'.join(values)})$", extra_json_schema={"enum": list(values)})


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a struct, an object at its root as the protocol wants it."""
    (root,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = root["$ref"].rpartition("/")[2]
    found = dict(parts.pop(name))
    if parts:
        found["$defs"] = parts
    return found


def arguments_of(kind: type[Arguments], given: Any) -> Arguments:
    """Return the arguments of a call. Raises Invalid (INVALID_ARGUMENTS) naming the first that is wrong."""
    try:
        arguments = msgspec.convert({} if given is None else given, kind)
        msgspec.json.encode(arguments)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `")
        target = place.removesuffix("`").removeprefix("$").lstrip(".") or None
        raise Invalid("INVALID_ARGUMENTS", f"{message}.", target) from None
    except (UnicodeError, RecursionError):
        raise Invalid("INVALID_ARGUMENTS", "A text has a character that no text may have.") from None
    return arguments


def size_of(value: Any) -> int:
    """Return the bytes of a value as JSON."""
    return len(msgspec.json.encode(value))


def fitting(rows: list[Any], *, at_most: int = RESULT_BYTES_MAX) -> list[Any]:
    """Return as many of the rows, from the first, as fit into a result."""
    left, found = at_most, 0
    for row in rows:
        left -= size_of(row) + 1
        if left < 0:
            break
        found += 1
    return rows[:found]


def without_marks(value: Any) -> Any:
    """Return what OData has answered without its own annotations."""
    if isinstance(value, dict):
        return {name: without_marks(one) for name, one in value.items() if "@" not in name}
    return [without_marks(one) for one in value] if isinstance(value, list) else value

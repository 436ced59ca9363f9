"""JSON as the interface has it: every number exactly as it is written, never as a binary fraction."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Union, get_args, get_origin, get_type_hints


class NotOfThisInterface(ValueError):
    """What was received is not what the interface describes."""


def encode(value: object) -> bytes:
    """Return a request as JSON in UTF-8. Raises TypeError for a float, ValueError for NaN or a time without a zone."""
    return _text(value).encode()


def parse(body: bytes) -> object:
    """Return what a JSON text says, numbers with a fraction as Decimal. Raises NotOfThisInterface."""
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotOfThisInterface(str(error)) from None


def read(kind: Any, value: object) -> Any:
    """Return parsed JSON as a ``kind``: a dataclass, a list, a Decimal, a datetime ... Raises NotOfThisInterface."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        (one,) = (part for part in get_args(kind) if part is not types.NoneType)
        return None if value is None else read(one, value)
    if origin is list:
        return [read(get_args(kind)[0], one) for one in _a(list, value)]
    if dataclasses.is_dataclass(kind):
        found = _a(dict, value)
        members = {
            name: read(hint, found[key])
            for name, (key, hint) in _members(kind).items()  # type: ignore[arg-type]  # it is the class, not one of it
            if key in found
        }
        try:
            return kind(**members)  # type: ignore[operator]
        except TypeError as error:
            raise NotOfThisInterface(str(error)) from None
    if kind is Decimal:
        return _decimal(value)
    if kind is datetime:
        return _time(_a(str, value))
    return _a(kind, value)


def _decimal(value: object) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(_a(int, value))


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise NotOfThisInterface(str(error)) from None


def _a(kind: Any, value: object) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise NotOfThisInterface(f"{kind.__name__} expected, not {value!r:.40}")
    return value


@functools.cache
def _members(kind: type) -> Mapping[str, tuple[str, Any]]:
    """Return the fields of a dataclass: their names in JSON and their types."""
    return {name: (_camel(name), hint) for name, hint in get_type_hints(kind).items()}


@functools.cache
def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _text(value: object) -> str:
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no amount")
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return f'"{value.astimezone(UTC).isoformat().replace("+00:00", "Z")}"'
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((_camel(field.name), getattr(value, field.name)) for field in dataclasses.fields(value))
        return _object({key: one for key, one in fields if one is not None})
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return f"[{','.join(map(_text, value))}]"
    raise TypeError(f"{type(value).__name__} cannot be sent exactly: use Decimal for amounts, not {value!r}")


def _object(members: Mapping[str, object]) -> str:
    return f"{{{','.join(f'{json.dumps(key, ensure_ascii=False)}:{_text(one)}' for key, one in members.items())}}}"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")

"""Values of the model as JSON Schema 2020-12: those in responses, and the often wider range of accepted input."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from odata_server.csdl import model as csdl_model
from odata_server.edm import (
    Annotation,
    ComplexType,
    EnumMemberValue,
    EnumType,
    Parameter,
    Primitive,
    Property,
    Record,
    ReturnType,
)

__all__ = [
    "Schema",
    "described",
    "is_deprecated",
    "is_union",
    "nullable",
    "ref",
    "typed",
    "union_name",
    "value_schema",
]

Schema = dict[str, Any]

_CLOCK = "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?$"
_RANGES = {
    Primitive.BYTE: (0, 2**8 - 1),
    Primitive.SBYTE: (-(2**7), 2**7 - 1),
    Primitive.INT16: (-(2**15), 2**15 - 1),
    Primitive.INT32: (-(2**31), 2**31 - 1),
    Primitive.INT64: (-(2**63), 2**63 - 1),
}


def _floating(precision: str) -> Schema:
    return {"oneOf": [{"type": "number", "format": precision}, {"type": "string", "enum": ["NaN", "INF", "-INF"]}]}


_PLAIN: Mapping[Primitive, Schema] = {
    Primitive.BOOLEAN: {"type": "boolean"},
    Primitive.DATE: {"type": "string", "format": "date"},
    Primitive.DATE_TIME_OFFSET: {"type": "string", "format": "date-time"},
    Primitive.DOUBLE: _floating("double"),
    Primitive.DURATION: {"type": "string", "format": "duration"},
    Primitive.GUID: {"type": "string", "format": "uuid"},
    Primitive.SINGLE: _floating("float"),
    Primitive.TIME_OF_DAY: {"type": "string", "pattern": _CLOCK, "examples": ["09:30:00"]},
}
_WIDEST = 400  # digits of a Decimal without precision


def ref(name: str, kind: str = "schemas") -> Schema:
    """Return a reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def nullable(schema: Schema) -> Schema:
    """Return the same schema, or null."""
    if "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**rest, "anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}
    if "oneOf" in schema:
        return {**schema, "oneOf": [*schema["oneOf"], {"type": "null"}]}
    if "type" not in schema:
        return schema
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    widened = {**schema, "type": [*kinds, "null"]}
    return {**widened, "enum": [*schema["enum"], None]} if "enum" in schema else widened


def typed(
    typed_: Property | Parameter | ReturnType,
    *,
    for_input: bool,
    allowed: Sequence[str] | None = None,
    annotations: Iterable[Annotation] = (),
    suffix: str = "",
    named: Callable[[Schema], Schema] = lambda schema: schema,
) -> Schema:
    """Return the schema of a property, parameter or return value that is not an entity.

    ``suffix`` selects the variant of complex types. ``allowed``: the only possible values, if a code list defines them.
    ``named`` may replace the schema of a single value that is not null by a reference to a component.
    """
    schema = value_schema(typed_, for_input=for_input, suffix=suffix)
    _narrow(schema, annotations, allowed)
    schema = named(schema)
    if typed_.collection:
        item = nullable(schema) if typed_.nullable else schema
        return {"type": "array", "items": item}
    return nullable(schema) if typed_.nullable else schema


def value_schema(typed_: Property | Parameter | ReturnType, *, for_input: bool, suffix: str = "") -> Schema:
    """Return the schema of one value that is not null."""
    kind = typed_.type
    if isinstance(kind, ComplexType):
        return ref(f"{kind.name}{suffix}")
    if isinstance(kind, EnumType):
        return _enum(kind, for_input=for_input)
    if kind is Primitive.DECIMAL:
        return _decimal(typed_, for_input=for_input)
    if kind in _RANGES:
        return _whole(kind, for_input=for_input)
    if kind is Primitive.BINARY:
        return _binary(typed_.max_length, for_input=for_input)
    if kind is Primitive.STRING or kind is None:
        return {"type": "string"} | ({} if typed_.max_length is None else {"maxLength": typed_.max_length})
    return dict(_PLAIN[kind])


def is_union(typed_: Property | Parameter | ReturnType) -> bool:
    """Return whether the value may be written as one of several types."""
    return "oneOf" in value_schema(typed_, for_input=True)


def union_name(typed_: Property | Parameter | ReturnType, schema: Schema) -> str:
    """Return the name of the component of a primitive value that may be of several types: equal ones share it."""
    kind = typed_.type.removeprefix("Edm.")  # type: ignore[union-attr]
    if typed_.type in (Primitive.DOUBLE, Primitive.SINGLE):
        return kind
    sizes = [str(one) for one in (typed_.precision, typed_.scale) if one is not None]
    number = schema["oneOf"][0]
    low = [f"from-{number['minimum']}"] if "minimum" in number and typed_.type is Primitive.DECIMAL else []
    high = [f"to-{number['maximum']}"] if "maximum" in number and typed_.type is Primitive.DECIMAL else []
    return "-".join([kind, *sizes, *low, *high, "input"])


def _enum(kind: EnumType, *, for_input: bool) -> Schema:
    names = [member.name for member in kind.members]
    if kind.is_flags:
        named: Schema = {"type": "string", "description": f"One or more of {', '.join(names)}, separated by commas."}
    else:
        named = {"type": "string", "enum": names}
    return {"oneOf": [named, {"type": "integer"}]} if kind.numbers and for_input else named


def _whole(kind: Primitive, *, for_input: bool) -> Schema:
    low, high = _RANGES[kind]
    whole: Schema = {"type": "integer", "minimum": low, "maximum": high}
    if kind in (Primitive.INT32, Primitive.INT64):
        whole["format"] = kind.value.removeprefix("Edm.").lower()
    if kind is Primitive.INT64 and for_input:
        return {"oneOf": [whole, {"type": "string", "pattern": "^-?[0-9]{1,18}$"}]}
    return whole


def _decimal(typed_: Property | Parameter | ReturnType, *, for_input: bool) -> Schema:
    """Return the schema of a number; input may be a string, which no JSON library rounds."""
    number: Schema = {"type": "number"}
    scale = typed_.scale
    notes: Schema = {} if scale is None else {"description": f"At most {scale} decimals; text is never rounded."}
    if typed_.precision is not None:
        limit = 10 ** (typed_.precision - (scale or 0))
        number |= {"exclusiveMinimum": -limit, "exclusiveMaximum": limit}
    if not for_input:
        return number
    digits = (typed_.precision or _WIDEST) - (scale or 0)
    places = "" if scale == 0 else f"(\\.[0-9]{{1,{scale or typed_.precision or _WIDEST}}})?"
    text = {"type": "string", "pattern": f"^-?[0-9]{{1,{max(digits, 1)}}}{places}$"}
    return {**notes, "oneOf": [number, text]}


def _binary(max_length: int | None, *, for_input: bool) -> Schema:
    """Return the schema of base64url text; input may be unpadded, and its length is then exact."""
    schema: Schema = {"type": "string", "format": "base64url"}
    if for_input:
        schema["pattern"] = "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2,3})?$"
    if max_length is not None:
        schema["maxLength"] = -(-max_length * 4 // 3) if for_input else -(-max_length // 3) * 4
    return schema


# ---- annotations --------------------------------------------------------------------------------------------------


def described(
    annotations: Iterable[Annotation], *, fallback: str = "", default: object = None, deprecated: bool = True
) -> Schema:
    """Return title, description, default value and deprecation, where present."""
    values = {one.term: one.value for one in annotations if one.qualifier is None}
    made: Schema = {}
    if isinstance(label := values.get("Common.Label"), str):
        made["title"] = label
    text = values.get("Core.Description") or fallback
    longer = values.get("Core.LongDescription")
    if text or longer:
        made["description"] = " ".join(str(part) for part in (text, longer) if part)
    if default is not None:
        made["default"] = _json(default)
    if deprecated and is_deprecated(annotations):
        made["deprecated"] = True
    return made


def is_deprecated(annotations: Iterable[Annotation]) -> bool:
    """Return whether Core.Revisions has a record of Kind ``Core.RevisionKind/Deprecated``."""
    for one in annotations:
        for revision in one.value if one.term == "Core.Revisions" and isinstance(one.value, tuple) else ():
            kind = revision.values.get("Kind") if isinstance(revision, Record) else None
            if isinstance(kind, EnumMemberValue) and kind.members == ("Core.RevisionKind/Deprecated",):
                return True
    return False


def _narrow(schema: Schema, annotations: Iterable[Annotation], allowed: Sequence[str] | None) -> None:
    """Add the constraints of the Validation vocabulary, and ``allowed``, to a schema."""
    values = {one.term: one.value for one in annotations if one.qualifier is None}
    choices = values.get("Validation.AllowedValues")
    if allowed is None and isinstance(choices, tuple):
        allowed = [_json(choice.values["Value"]) for choice in choices if isinstance(choice, Record)]
    if allowed is not None and "oneOf" not in schema and "$ref" not in schema:
        schema["enum"] = list(allowed)
    for term, keyword in (("Validation.Minimum", "minimum"), ("Validation.Maximum", "maximum")):
        bound = values.get(term)
        if isinstance(bound, int | Decimal) and not isinstance(bound, bool):
            for numeric in (one for one in schema.get("oneOf", [schema]) if one.get("type") in ("number", "integer")):
                numeric[keyword] = _json(bound)
                numeric.pop(f"exclusive{keyword.capitalize()}", None)
    if isinstance(pattern := values.get("Validation.Pattern"), str) and schema.get("type") == "string":
        schema["pattern"] = pattern


def _json(value: Any) -> Any:
    """Return a Python value of the model as JSON."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode().rstrip("=")
    if isinstance(value, dt.datetime | dt.date | dt.time | dt.timedelta):
        return csdl_model.value_text(value)
    if isinstance(value, Mapping):
        return {key: _json(one) for key, one in value.items()}
    return [_json(one) for one in value] if isinstance(value, list | tuple) else value

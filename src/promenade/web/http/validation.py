"""Finds everything that is wrong with a body, in wire names.

A valid body never comes here: it is decoded directly into its struct and its numbers are scaled. Only if that fails is
the body checked again along the same struct declarations, so that every fault is named and not just the first.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import islice
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo

from promenade.errors import Detail, Invalid
from promenade.web.http.numbers import BadNumber

DEPTH_MAX = 64
# Limits the memory and time that JSON can cost; 5 000 lines of ten additional fields each stay below it.
VALUES_MAX = 250_000
_TOO_DEEP = f"The body is nested deeper than {DEPTH_MAX} levels."
_DETAILS_MAX = 50

Rule = Callable[[Mapping[str, Any]], list[Detail]]


def explain(body: bytes, message: type[Struct], rules: Sequence[Rule]) -> Invalid:
    """Return the error that names everything that is wrong with ``body`` as the ``request`` of an envelope.

    ``message`` is the request's struct, ``rules`` check what must hold between its fields; targets are paths below
    ``request``.
    """
    document = _parse(body)
    request = document.get("request") if isinstance(document, dict) else None
    if not isinstance(request, dict):
        return Invalid("VALIDATION_FAILED", "The body must be an object with a member `request`.", "request")
    faults = list(islice(_struct_faults(request, message, ""), _DETAILS_MAX))
    for rule in rules:
        faults.extend(rule(request))
    if not faults:
        return Invalid(
            "MALFORMED_JSON", "The body holds a value that JSON does not allow, such as NaN or half a character."
        )
    first = faults[0]
    return Invalid("VALIDATION_FAILED", first.message, first.target, faults[:_DETAILS_MAX])


def require_bounded(body: bytes) -> None:
    """Refuse JSON of more than 250 000 values (TOO_MANY_VALUES) before it is decoded.

    Every value but the first of its list or object follows a comma, and every list or object opens with a bracket, so
    counting these characters never gives too few. It gives too many if objects stand in lists or texts contain commas;
    the limit allows for that.
    """
    if len(body) > VALUES_MAX and body.count(b",") + body.count(b"[") + body.count(b"{") > VALUES_MAX:
        raise Invalid("TOO_MANY_VALUES", f"The body holds more than {VALUES_MAX} values.")


def require_sound(body: bytes) -> Any:
    """Refuse JSON that decodes but is not sound: not UTF-8, too deep, a member twice in one object, a NUL.

    Returns the document as plain, untyped values.

    It is quick for good bodies: members counted in the text are compared with members after decoding. A string that
    looks like a member makes the first number larger, never smaller, so a repeated member cannot hide; if the numbers
    differ, the exact parser decides.
    """
    try:
        if not body.isascii():
            body.decode("utf-8")
        if b"\\u0000" not in body:
            document = _PLAIN.decode(body)
            if _member_count(document) == body.translate(None, _JSON_SPACE).count(b'":'):
                return document
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
        pass
    return _parse(body)


def has_plain_numbers(value: Mapping[str, Any], struct: type[Struct]) -> bool:
    """Return whether all numbers that are sent as strings are written as JSON numbers.

    The decoder's Decimal accepts more: "1_000", " 2 ", digits of other scripts. ``value`` is the body that was decoded
    to a ``struct``.
    """
    for name, below in _checked_fields(struct):
        entry = value.get(name)
        if below is None:
            if type(entry) is str and not _NUMBER.fullmatch(entry):
                return False
        elif type(entry) is list:
            for one in entry:
                if not has_plain_numbers(one, below):
                    return False
        elif entry is not None and not has_plain_numbers(entry, below):
            return False
    return True


_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@cache
def _checked_fields(struct: type[Struct]) -> tuple[tuple[str, type[Struct] | None], ...]:
    """Return the fields of ``struct`` that have numbers in or below them, each with the struct of its objects."""
    found: list[tuple[str, type[Struct] | None]] = []
    for field in _fields(struct):
        kind, _ = unwrap(field.type)
        if get_origin(kind) is list:
            kind, _ = unwrap(get_args(kind)[0])
        if _has_checks(field.type):
            found.append((field.encode_name, None if kind is Decimal else kind))
    return tuple(found)


_PLAIN = msgspec.json.Decoder()
_HALF = re.compile("[\ud800-\udfff]")
_JSON_SPACE = b" \t\r\n"


def _member_count(document: Any) -> int:
    """Return the number of object members in ``document``, at all depths; -1 if it is too deep."""
    count, level = 0, [document]
    for _ in range(DEPTH_MAX):
        below: list[Any] = []
        for value in level:
            if type(value) is dict:
                count += len(value)
                below.extend(value.values())
            elif type(value) is list:
                below.extend(value)
        if not below:
            return count
        level = below
    return -1


def _parse(body: bytes) -> Any:
    """Parse exactly and slowly: each reason why a text is not sound JSON has its own message."""
    if body.startswith(BOM_UTF8):
        raise Invalid("MALFORMED_JSON", "The body starts with a byte order mark, which JSON must not have.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid("NOT_UTF8", f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        document = json.loads(
            text, parse_int=_number, parse_float=_number, parse_constant=Decimal, object_pairs_hook=_unique
        )
    except RecursionError:
        raise Invalid("TOO_DEEP", _TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise Invalid("MALFORMED_JSON", f"The body is not JSON: {error}.") from None
    if _member_count(document) < 0:
        raise Invalid("TOO_DEEP", _TOO_DEEP)
    return document


def _number(text: str) -> int | Decimal:
    if len(text) <= 40 and text.lstrip("-").isdigit():
        return int(text)
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond Decimal's range
        return Decimal("Infinity")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    for name, value in pairs:
        if "\0" in name or any("\0" in text for text in _texts(value)):
            shown = _shown(name)
            raise Invalid("NUL_CHARACTER", f"The member `{shown}` holds a NUL character.", shown)
        if _HALF.search(name) or any(map(_HALF.search, _texts(value))):
            shown = _shown(name)
            raise Invalid("MALFORMED_JSON", f"The member `{shown}` holds half a character.", shown)
    if len(members) != len(pairs):
        twice = _shown(Counter(name for name, _ in pairs).most_common(1)[0][0])
        raise Invalid("DUPLICATE_KEY", f"The member `{twice}` occurs twice in one object.", twice)
    return members


def _shown(name: str) -> str:
    """Return a member's name as an answer may hold it: short, and without NUL and halves of characters."""
    return _HALF.sub("\ufffd", name[:100]).replace("\0", "\ufffd")


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a member, including those in lists; nested objects have members of their own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _struct_faults(
    value: Mapping[str, Any], struct: type[Struct], path: str, *, is_declared: bool = False
) -> Iterator[Detail]:
    """Yield the faults of an object's fields; ``is_declared``: its types are known to match the declaration."""
    for field in _fields(struct):
        if is_declared and not _has_checks(field.type):
            continue
        target = f"{path}.{field.encode_name}" if path else field.encode_name
        if field.encode_name in value:
            yield from _value_faults(value[field.encode_name], field.type, target)
        elif field.default is NODEFAULT and field.default_factory is NODEFAULT:
            yield Detail("REQUIRED", f"`{target}` is required.", target)


def _value_faults(value: Any, annotation: Any, target: str) -> Iterator[Detail]:
    """Yield the faults of one value, including those inside lists and objects, each with its own path."""
    kind, metas = unwrap(annotation)
    whole: Detail | None = None
    converted = None
    try:
        converted = msgspec.convert(value, annotation)
    except msgspec.ValidationError as error:
        whole = _fault(error, target)
    if whole is None and not _has_checks(annotation):
        return
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        yield from _struct_faults(value, kind, target, is_declared=whole is None)
    elif isinstance(value, list) and get_origin(kind) is list:
        yield from _list_faults(value, kind, metas, target)
    elif whole is not None:
        yield whole
    else:
        faults = list(_check_faults(converted, metas, target))
        if not faults and kind is Decimal and isinstance(value, str) and not _NUMBER.fullmatch(value):
            faults = [Detail("NOT_A_NUMBER", f"`{target}` must be a number.", target)]
        yield from faults


def _list_faults(value: list[Any], kind: Any, metas: tuple[Meta, ...], target: str) -> Iterator[Detail]:
    (element,) = get_args(kind)
    try:
        msgspec.convert([0] * len(value), Annotated[(list[Any], *metas)] if metas else list[Any])
    except msgspec.ValidationError as error:
        yield _fault(error, target)
        return
    if unwrap(element)[0] not in {str} and value and all(isinstance(entry, str) for entry in value):
        yield Detail("WRONG_TYPE", f"`{target}` must hold objects, not strings.", target)
        return
    for position, entry in enumerate(value):
        yield from _value_faults(entry, element, f"{target}[{position}]")


@cache
def _fields(struct: type[Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(struct)  # resolves annotations again with every call


@cache
def _has_checks(annotation: Any) -> bool:
    """Return whether something below this type has limits that its declaration cannot express."""
    kind, metas = unwrap(annotation)
    if any("check" in (meta.extra or {}) for meta in metas):
        return True
    if isinstance(kind, type) and issubclass(kind, Struct):
        return any(_has_checks(field.type) for field in _fields(kind))
    return get_origin(kind) is list and _has_checks(get_args(kind)[0])


def _check_faults(value: Any, metas: tuple[Meta, ...], target: str) -> Iterator[Detail]:
    for meta in metas:
        check = (meta.extra or {}).get("check")
        if check is not None and value is not None:
            try:
                check(value)
            except BadNumber as error:
                yield Detail(error.code, f"`{target}`: {error.message}", target)


def unwrap(annotation: Any) -> tuple[Any, tuple[Meta, ...]]:
    """Return the type inside Annotated and Optional, and its limits."""
    if get_origin(annotation) is Annotated:
        kind, *metas = get_args(annotation)
        return kind, tuple(meta for meta in metas if isinstance(meta, Meta))
    arguments = [argument for argument in get_args(annotation) if argument is not type(None)]
    if get_origin(annotation) is not list and len(arguments) == 1 and arguments[0] is not annotation:
        return unwrap(arguments[0])
    return annotation, ()


_LENGTH = re.compile(r"Expected `(\w+)` of length (<=|>=) (\d+)")
_EXPECTED = re.compile(r"Expected `(.+?)`, got `(.+)`")


def _fault(error: msgspec.ValidationError, target: str) -> Detail:
    """Convert the decoder's message into one for people who send messages."""
    text = str(error)
    length = _LENGTH.search(text)
    if length is not None:
        kind, bound, number = length.groups()
        if bound == ">=":
            return Detail("EMPTY", f"`{target}` must not be empty.", target)
        things = "characters" if kind == "str" else "entries"
        return Detail("TOO_LONG", f"`{target}` may have at most {number} {things}.", target)
    for sign, code, words in _WORDS:
        if sign in text:
            return Detail(code, f"`{target}` {words}.", target)
    expected = _EXPECTED.search(text)
    if expected is not None:
        wanted, given = (_KINDS.get(name.removesuffix(" | null"), name) for name in expected.groups())
        return Detail("WRONG_TYPE", f"`{target}` must be {wanted}, not {given}.", target)
    return Detail("OUT_OF_RANGE", f"`{target}` is out of range: {text}.", target)


_WORDS = (
    ("Invalid UUID", "NOT_A_UUID", "must be a UUID"),
    ("RFC3339", "NOT_A_TIMESTAMP", "must be an ISO-8601 date and time"),
    ("`datetime", "NOT_A_TIMESTAMP", "must be an ISO-8601 date and time"),
    ("decimal string", "NOT_A_NUMBER", "must be a number"),
    ("matching regex", "WRONG_FORM", "does not have the required form"),
    ("got `null`", "REQUIRED", "must not be null"),
)
_KINDS = {
    "str": "a string",
    "int": "a whole number",
    "decimal": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
}

"""Bodies in JSON as payloads: strictly read, checked against the model, every fault told (JSON Format 4.01).

What a rule of the host's must say (required, ranges, references that dangle) is not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from odata_server.decoding import Decoding, Member, ResolveReference
from odata_server.edm import Edm, EntityType, NavigationProperty, Operation, Property
from odata_server.errors import ODataError, bad_request
from odata_server.source import Key, Payload

__all__ = [
    "ResolveReference",
    "check_structure",
    "decode_entity",
    "decode_json",
    "decode_parameters",
    "decode_property",
]

_JSON = msgspec.json.Decoder(float_hook=Decimal)
_SMALL_BYTES = 1024 * 1024
_MARKS_MAX = 300_000  # of structure in a large body: a few bytes each, they make objects of a hundred
_QUOTES_MAX = 800_000
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # one without an end ends with the body


def check_structure(body: bytes) -> None:
    """Refuse a large body of very many tiny values, before memory is spent on them.

    Raises ODataError 413 BODY_TOO_LARGE. A body that consists of long texts may be as large as bodies are.
    """
    if len(body) <= _SMALL_BYTES or _marks(body) <= _MARKS_MAX:
        return
    if body.count(b'"') > _QUOTES_MAX or _marks(_TEXT.sub(b"", body)) > _MARKS_MAX:
        raise ODataError(413, "BODY_TOO_LARGE", "The body holds too many values.")


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"{") + text.count(b"[")


def decode_json(body: bytes) -> Any:
    """Any JSON text, numbers exact: int, or Decimal where there is a fraction or an exponent.

    Raises ODataError 400 MALFORMED_BODY. Of a member that is there twice the last counts.
    """
    try:
        return _JSON.decode(body)
    except RecursionError:
        raise bad_request("MALFORMED_BODY", "The body nests too deep.") from None
    except (msgspec.MsgspecError, UnicodeError, ArithmeticError, ValueError) as error:
        reason = str(error) if isinstance(error, msgspec.MsgspecError) else "it is not UTF-8, or a number is too long"
        raise bad_request("MALFORMED_BODY", f"The body is not JSON: {reason}.") from None


def decode_entity(
    edm: Edm,
    entity_type: EntityType,
    body: bytes | object,
    *,
    for_create: bool,
    resolve_reference: ResolveReference,
) -> Payload:
    """The body of a create or an update, as bytes or as `decode_json` gives it.

    Raises one ODataError 400 for all faults: with one it says that fault, with several ``details`` say each.
    """
    decoding = Decoding(edm, resolve_reference, for_create)
    payload = decoding.entity(entity_type, decode_json(body) if isinstance(body, bytes) else body, "", nested=False)
    decoding.finish()
    return payload


def decode_property(edm: Edm, prop: Property, value: object) -> Any:
    """One value for one property; null is refused where it may not be. Raises ODataError 400."""
    decoding = Decoding(edm, _no_reference, for_create=False)
    found = decoding.value(Member(prop), value, prop.name)
    decoding.finish()
    return found


def decode_parameters(
    edm: Edm, operation: Operation, given: Mapping[str, object], resolve_reference: ResolveReference
) -> dict[str, Any]:
    """The parameters of an operation by name; one that may be null may be left out.

    A parameter that takes an entity becomes a `Payload` (a list of them for a collection). Raises ODataError 400.
    """
    decoding = Decoding(edm, resolve_reference, for_create=True)
    found: dict[str, Any] = {}
    names = {parameter.name: parameter for parameter in operation.parameters}
    for name, value in given.items():
        if name in names:
            found[name] = decoding.parameter(names[name], value)
        elif "@" not in name:
            decoding.fault("UNKNOWN_PARAMETER", f"{operation.name} has no parameter {name[:80]}.", name[:80])
    for parameter in operation.parameters:
        if parameter.name not in given and not parameter.nullable:
            decoding.fault("REQUIRED", f"{parameter.name} is missing.", parameter.name)
    decoding.finish()
    return found


def _no_reference(text: str, navigation: NavigationProperty) -> Key:
    raise bad_request("MALFORMED_BODY", "A reference is not possible here.")

"""Master-data messages in JSON, with the names and the rules of the SOAP message.

Only the members that are used become objects, an item at a time; the rest is skipped as text.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw
from msgspec.json import Decoder

from promenade.errors import Invalid
from promenade.workflows.imports.master_data import (
    ACTION_CODE,
    INTERFACE,
    ITEM,
    MEMBERS,
    VALUE_LENGTH_MAX,
    Gathering,
    Message,
)

OBJECTS_MAX = 300_000  # counted by braces, including those in texts; takes up to a second
_ITEMS_IN_A_GO = 100
_REST_SECONDS = 0.0002  # sleep after each batch, so that the tills' event loop gets the interpreter (GIL) at once
_MALFORMED = "MALFORMED_BODY"
_WRONG = "VALIDATION_FAILED"
_ACTION_CODES = (ACTION_CODE, "actionCode")  # an attribute in SOAP; both spellings occur
_IDENTIFIERS = ("ID", "UUID")
_Scalar = str | Annotated[int, Meta(ge=-(2**62), le=2**62)] | None


def _object(name: str, kind: Any, default: Any, *members: str) -> type[Any]:
    """Return a type of object of which these members are read."""
    return msgspec.defstruct(name, [(member, kind, default) for member in members], frozen=True, gc=False)


_Request = _object("_Request", Raw, Raw(), "MessageHeader", ITEM, INTERFACE)
_Header = _object("_Header", _Scalar, None, *_IDENTIFIERS)
_Item = _object("_Item", Raw, Raw(), "Product")
_MEMBERS = sorted(MEMBERS.difference(_ACTION_CODES))
_REQUEST, _HEADER, _ITEM = Decoder(_Request), Decoder(_Header), Decoder(_Item)
_ITEMS: Decoder[Any] = Decoder(list[_Item])  # type: ignore[valid-type]
_PRODUCT = Decoder(_object("_Product", _Scalar, None, *_MEMBERS, *_ACTION_CODES))


def read_json_message(body: bytes) -> Message:
    """Parse a body: the request's members, or an object whose only member is the request under its name.

    Raises Invalid (MALFORMED_BODY, TOO_MANY_VALUES, VALIDATION_FAILED).
    """
    if body.count(b"{") > OBJECTS_MAX:
        raise Invalid("TOO_MANY_VALUES", f"The message holds more than {OBJECTS_MAX} objects.")
    request = _decoded(body, _REQUEST, "")
    if getattr(request, INTERFACE):
        request = _decoded(getattr(request, INTERFACE), _REQUEST, INTERFACE)
    message_id = _message_id(request.MessageHeader)
    gathering = Gathering()
    for number, item in enumerate(_items(getattr(request, ITEM))):
        _add(gathering, item.Product, f"{ITEM}/{number}/Product")
        if number % _ITEMS_IN_A_GO == _ITEMS_IN_A_GO - 1:
            time.sleep(_REST_SECONDS)
    return gathering.message(message_id)


def _items(text: Raw) -> list[Any]:
    """Return the items, written as a single object or as an array."""
    if bytes(memoryview(text)[:1]) == b"[":
        found: list[Any] = _decoded(text, _ITEMS, ITEM)
        return found
    return [_decoded(text, _ITEM, ITEM)] if text else []


def _message_id(text: Raw) -> str | None:
    if not text:
        return None
    header = _decoded(text, _HEADER, "MessageHeader")
    return next((value for name in _IDENTIFIERS if (value := _text(getattr(header, name)))), None)


def _add(gathering: Gathering, text: Raw, target: str) -> None:
    if not text:
        gathering.add(set(), {})
        return
    product = _decoded(text, _PRODUCT, target)
    codes = {code for name in _ACTION_CODES if (code := _text(getattr(product, name)))}
    gathering.add(codes, {name: value for name in _MEMBERS if (value := _text(getattr(product, name)))})


def _text(value: str | int | None) -> str | None:
    """Return a text or a number as text."""
    return None if value is None else str(value)[: VALUE_LENGTH_MAX + 1].strip()


def _decoded(text: bytes | Raw, decoder: Decoder[Any], target: str) -> Any:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        # The decoder's message ends with the location: - at `$.GTIN`, or at `$[3].Product`.
        place = str(error).partition(" - at `$")[2].rstrip("`").replace("[", "/").replace("]", "").replace(".", "/")
        path = f"{target}{place}".strip("/")
        what = f"`{path}`" if path else "The body"
        raise Invalid(_WRONG, f"{what} does not have the required form.", path or None) from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Invalid(_MALFORMED, "The body is not valid JSON.") from None

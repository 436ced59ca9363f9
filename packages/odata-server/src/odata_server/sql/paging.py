"""Paging: the content of a ``$skiptoken``, and the condition for the rows of the next page.

A token holds the number of rows still wanted, and the position of the last row in the order (or, if that has no exact
value, the number of rows to skip). It is opaque and checked, and all its values are bound as parameters.
"""

from __future__ import annotations

import binascii
import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import ColumnElement, and_, false, literal, or_, tuple_

from odata_server.edm import Primitive
from odata_server.errors import ODataError, bad_request
from odata_server.sql.order import Ordered
from odata_server.sql.terms.storage import NATIVE
from odata_server.sql.terms.typed import INTEGERS, Term, check_text

__all__ = ["Token", "after", "decode_token", "encode_token"]

_CHECK_BYTES = 6
_LENGTH_MAX = 20_000
_WHOLE_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Token:
    """The start of a page: after the row with ``values``, or after ``offset`` rows. ``left``: rows still wanted."""

    left: int | None
    values: tuple[Any, ...] | None = None
    offset: int = 0


def _order_digest(order: Sequence[Ordered]) -> str:
    shape = [(one.term.name, one.descending, str(one.term.type)) for one in order]
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:8]


def encode_token(token: Token, order: Sequence[Ordered]) -> str:
    """Encode a token as text."""
    values = None if token.values is None else [_encoded(value) for value in token.values]
    text = json.dumps([_order_digest(order), token.left, token.offset, values], separators=(",", ":")).encode()
    return urlsafe_b64encode(hashlib.sha256(text).digest()[:_CHECK_BYTES] + text).decode().rstrip("=")


def _encoded(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, date | time) else value


def decode_token(text: str, order: Sequence[Ordered]) -> Token:
    """Decode a token. Raise 400 INVALID_SKIPTOKEN if it was not created here, or for another order."""
    try:
        return _decoded(text, order)
    except (ValueError, TypeError, InvalidOperation, binascii.Error, RecursionError, ODataError):
        raise bad_request(
            "INVALID_SKIPTOKEN", "This $skiptoken does not belong to this request.", "$skiptoken"
        ) from None


def _decoded(text: str, order: Sequence[Ordered]) -> Token:
    if len(text) > _LENGTH_MAX:
        raise ValueError("too long")
    data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    body = data[_CHECK_BYTES:]
    if hashlib.sha256(body).digest()[:_CHECK_BYTES] != data[:_CHECK_BYTES]:
        raise ValueError("changed")
    digest, left, offset, values = json.loads(body)
    if digest != _order_digest(order) or not _is_count(offset) or not (left is None or _is_count(left)):
        raise ValueError("of another request")
    if values is None:
        return Token(left, None, offset)
    return Token(left, tuple(_value(one, by.term) for one, by in zip(values, order, strict=True)), 0)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _WHOLE_MAX


def _value(value: Any, term: Term) -> Any:
    if value is None:
        return None
    if term.storage is not NATIVE or term.type in INTEGERS:
        if type(value) is not int or abs(value) > _WHOLE_MAX:
            raise ValueError("not a whole number")
        return value
    if term.type is Primitive.BOOLEAN:
        return bool(value)
    if not isinstance(value, str):
        raise TypeError("no text")
    check_text(value)
    read = _READERS.get(term.type) if isinstance(term.type, Primitive) else None
    return value if read is None else read(value)


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


_READERS: dict[Primitive, Callable[[str], Any]] = {
    Primitive.DECIMAL: Decimal,
    Primitive.DATE: date.fromisoformat,
    Primitive.TIME_OF_DAY: time.fromisoformat,
    Primitive.DATE_TIME_OFFSET: _moment,
}


def after(order: Sequence[Ordered], values: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that a row comes after the row with these values; it starts with a range for an index."""
    finder = order[0].term.finder
    found = _after(order, values)
    if finder is None or values[0] is None:
        return found
    start = literal(values[0], order[0].term.element.type)
    return finder.narrowed(found, "le" if order[0].descending else "ge", [start])


def _after(order: Sequence[Ordered], values: Sequence[Any]) -> ColumnElement[bool]:
    directions = {one.descending for one in order}
    elements = [one.term.element for one in order]
    bound = [None if value is None else literal(value, one.type) for value, one in zip(values, elements, strict=True)]
    if len(directions) == 1 and not any(one.term.nullable for one in order) and None not in values:
        left, right = (elements[0], bound[0]) if len(order) == 1 else (tuple_(*elements), tuple_(*bound))
        return left < right if True in directions else left > right
    found: ColumnElement[bool] = false()
    for one, element, value in reversed(list(zip(order, elements, bound, strict=True))):
        found = or_(_strictly(one, element, value), and_(_equal(element, value), found))
    first, value = order[0], bound[0]
    if value is None or (first.descending and first.term.nullable):
        return found
    return and_(elements[0] <= value if first.descending else elements[0] >= value, found)


def _strictly(one: Ordered, element: ColumnElement[Any], value: Any) -> ColumnElement[bool]:
    if not one.descending:
        return element.is_not(None) if value is None else element > value
    if value is None:
        return false()
    return or_(element < value, element.is_(None)) if one.term.nullable else element < value


def _equal(element: ColumnElement[Any], value: Any) -> ColumnElement[bool]:
    return element.is_(None) if value is None else element == value

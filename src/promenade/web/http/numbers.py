"""Numbers of a request as integers in units of their last decimal place: exact, or refused with a code."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Annotated

from msgspec import Meta

# Multiplication in this context is exact or raises: input digits are never lost.
_EXACT = Context(prec=60, traps=[Inexact, InvalidOperation, Overflow])
_REMEMBERED_MAX, _REMEMBERED_LENGTH = 20_000, 20  # numbers, characters
_QUANTITY_LIMIT = Decimal(10) ** 12  # Decimal(15,3): twelve digits before the decimal point
_PRICE_LIMIT = Decimal(10) ** 13  # Decimal(15,2): thirteen


class BadNumber(ValueError):
    """A number that does not fit its field."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class _Scale:
    """A conversion to integers in units of the last decimal place; cached, as most numbers repeat."""

    __slots__ = ("_decimals", "_factor", "_known", "_limit")

    def __init__(self, limit: Decimal, decimals: int) -> None:
        self._limit = limit
        self._decimals = decimals
        self._factor = Decimal(10) ** decimals
        self._known: dict[str, int] = {}

    def __call__(self, value: Decimal) -> int:
        text = str(value)  # hashing a Decimal takes six times as long
        scaled = self._known.get(text)
        if scaled is None:
            scaled = _scaled(value, self._factor, self._limit, self._decimals)
            if len(self._known) >= _REMEMBERED_MAX:
                self._known.clear()
            if len(text) <= _REMEMBERED_LENGTH:
                self._known[text] = scaled
        return scaled


def _scaled(value: Decimal, factor: Decimal, limit: Decimal, decimals: int) -> int:
    try:
        if not -limit < value < limit:
            raise BadNumber("OUT_OF_RANGE", f"The absolute value of the number must be below {limit:f}.")
        product = _EXACT.multiply(value, factor)
        scaled = int(product)
    except (InvalidOperation, Inexact, Overflow):
        if value.is_finite():
            raise BadNumber("TOO_MANY_DECIMALS", f"At most {decimals} decimals are allowed.") from None
        raise BadNumber("NOT_A_NUMBER", "The number must be finite.") from None
    if scaled != product:
        raise BadNumber("TOO_MANY_DECIMALS", f"At most {decimals} decimals are allowed.")
    return scaled


_QUANTITIES = _Scale(_QUANTITY_LIMIT, 3)
_PRICES = _Scale(_PRICE_LIMIT, 2)
_AMOUNTS = _Scale(_PRICE_LIMIT, 3)


def quantity_thousandths(value: Decimal) -> int:
    """Return a Decimal(15,3) quantity in thousandths; zero is refused, being neither a sale nor a return."""
    scaled = _QUANTITIES(value)
    if scaled == 0:
        raise BadNumber(
            "QUANTITY_ZERO", "The quantity must not be 0: send a positive one for a sale, a negative one for a return."
        )
    return scaled


def price_hundredths(value: Decimal) -> int:
    """Return a Decimal(15,2) price in hundredths, not negative: returns have a negative quantity."""
    scaled = _PRICES(value)
    if scaled < 0:
        raise BadNumber("NEGATIVE", "The price must not be negative: for a return, send a negative quantity.")
    return scaled


def amount_thousandths(value: Decimal) -> int:
    """Return a computed amount in thousandths, not negative: currencies have up to three decimals."""
    scaled = _AMOUNTS(value)
    if scaled < 0:
        raise BadNumber("NEGATIVE", "The amount must not be negative.")
    return scaled


Quantity = Annotated[Decimal, Meta(extra={"check": quantity_thousandths})]
Amount = Annotated[Decimal, Meta(extra={"check": amount_thousandths})]
Price = Annotated[Decimal, Meta(extra={"check": price_hundredths})]

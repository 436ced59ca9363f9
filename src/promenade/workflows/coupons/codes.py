"""Unguessable coupon codes, in the shape their type defines, from a random source that the caller provides.

The source is cryptographic wherever codes have value; tests provide their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from promenade.errors import Conflict
from promenade.store.coupons.pool import CodeShape, IssuingType, add_codes
from promenade.store.driver.unit import Session

Draw = Callable[[Sequence[str]], str]  # returns one of the characters, all equally likely


@runtime_checkable
class BulkDraw(Protocol):
    """A source that can also draw many characters of an ASCII alphabet in one call."""

    def many(self, alphabet: str, number: int, /) -> str: ...


# 12 out of 32 characters without look-alikes: 60 bits.
DEFAULT_SHAPE = CodeShape(None, None, 12, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", check_character=False)
ROUNDS_MAX = 20  # a code of 40 bits or more is rarely taken; a type that runs out of codes must not loop forever
MISSES_MAX = 20  # codes drawn in a row that were all taken


async def make_codes(
    session: Session,
    kind: IssuingType,
    wanted: Sequence[Mapping[str, Any]],
    *,
    new_id: Callable[[], str],
    draw: Draw,
) -> dict[int, tuple[str, str]]:
    """Insert a new code of a type for each of ``wanted``, which holds its other columns (the same for all).

    Returns (ID, code) by position in ``wanted``; positions are missing if the type's configuration allows too few
    codes. The number of statements does not depend on the quantity, unless codes are already taken.
    """
    made: dict[int, tuple[str, str]] = {}
    open_places = list(range(min(len(wanted), _number_of(kind))))
    misses = 0
    for _ in range(ROUNDS_MAX):
        texts = dict.fromkeys(generate_codes(kind.shape, len(open_places), draw))
        drawn = {new_id(): (place, text) for place, text in zip(open_places, texts, strict=False)}
        rows = [{**wanted[place], "id": code_id, "code": text} for code_id, (place, text) in drawn.items()]
        added = await add_codes(session, rows)
        made |= {drawn[code_id][0]: (code_id, drawn[code_id][1]) for code_id in added}
        open_places = [place for place in open_places if place not in made]
        misses = 0 if added else misses + len(drawn)
        if not open_places or misses >= MISSES_MAX:
            break
    return made


def refuse_too_many(kind: IssuingType, quantity: int) -> None:
    """Raise Conflict (CODES_EXHAUSTED) if a type does not have that many codes, taken or not."""
    if _number_of(kind) < quantity:
        raise exhausted(kind)


def _number_of(kind: IssuingType) -> int:
    shape = kind.shape or DEFAULT_SHAPE
    return int(len(shape.alphabet) ** shape.length)


def exhausted(kind: IssuingType) -> Conflict:
    """The error when codes have run out."""
    message = f"The code configuration of the coupon type {kind.code} gives too few codes: the free ones have run out."
    return Conflict("CODES_EXHAUSTED", message)


def generate_codes(shape: CodeShape | None, number: int, draw: Draw) -> list[str]:
    """Generate ``number`` codes, which may rarely contain duplicates; ``shape`` None: the default one."""
    shape = shape or DEFAULT_SHAPE
    length, alphabet = shape.length, shape.alphabet
    characters = _characters(alphabet, number * length, draw)
    prefix, suffix = shape.prefix or "", shape.suffix or ""
    codes = []
    for start in range(0, number * length, length):
        drawn = characters[start : start + length]
        check = check_character(drawn, alphabet) if shape.check_character else ""
        codes.append(f"{prefix}{drawn}{check}{suffix}")
    return codes


def _characters(alphabet: str, number: int, draw: Draw) -> str:
    """Return ``number`` characters from ``draw``, in one call if it supports that."""
    if isinstance(draw, BulkDraw) and alphabet.isascii():
        return draw.many(alphabet, number)
    return "".join([draw(alphabet) for _ in range(number)])


def check_character(drawn: str, alphabet: str) -> str:
    """Compute the check character (Luhn's method, modulo the size of the alphabet).

    It detects every single mistyped character, and most swaps of neighbours.
    """
    size = len(alphabet)
    total = 0
    for place, character in enumerate(reversed(drawn)):
        value = alphabet.index(character)
        if place % 2 == 0:
            value *= 2
            # The digit sum of the doubled value is unique in an even base, its remainder in an odd one.
            value = value % size + (value // size if size % 2 == 0 else 0)
        total += value
    return alphabet[-total % size]

"""Coupon codes that cannot be guessed: in the shape their type asks for, from a source that the caller brings.

That source is cryptographic wherever codes are worth money; tests bring one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from promenade.errors import Conflict
from promenade.store.coupon_pool import CodeShape, IssuingType, add_codes
from promenade.store.unit import Session

__all__ = ["DEFAULT_SHAPE", "Draw", "check_character", "generate_code", "make_codes", "refuse_too_many"]

Draw = Callable[[Sequence[str]], str]  # one of the characters, each as likely as the others

# 12 of 32 characters without look-alikes: 60 bits.
DEFAULT_SHAPE = CodeShape(None, None, 12, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", check_character=False)
DRAWS_MAX = 20  # a code of 40 bits or more is hardly ever taken; a type whose codes run out must not loop for ever


async def make_codes(
    session: Session,
    kind: IssuingType,
    quantity: int,
    columns: Mapping[str, Any],
    *,
    new_id: Callable[[], str],
    draw: Draw,
) -> list[tuple[str, str]]:
    """Add ``quantity`` new codes of a type to the database, which share ``columns``; the answer is (ID, code) of each.

    A number of statements that does not depend on how many, unless codes are taken already. Raises Conflict
    (CODES_EXHAUSTED) when the type's configuration gives too few; what was added until then is the caller's to undo.
    """
    refuse_too_many(kind, quantity)
    made: list[tuple[str, str]] = []
    for _ in range(DRAWS_MAX):
        texts = dict.fromkeys(generate_code(kind.shape, draw) for _ in range(quantity - len(made)))
        drawn = [(new_id(), text) for text in texts]
        added = await add_codes(session, drawn, columns)
        made += [one for one in drawn if one[0] in added]
        if len(made) == quantity:
            return made
    raise _exhausted(kind)


def refuse_too_many(kind: IssuingType, quantity: int) -> None:
    """Raises Conflict (CODES_EXHAUSTED) when a type has not that many codes, taken or not."""
    shape = kind.shape or DEFAULT_SHAPE
    if len(shape.alphabet) ** shape.length < quantity:
        raise _exhausted(kind)


def _exhausted(kind: IssuingType) -> Conflict:
    message = f"The code configuration of the coupon type {kind.code} gives too few codes: the free ones have run out."
    return Conflict("CODES_EXHAUSTED", message)


def generate_code(shape: CodeShape | None, draw: Draw) -> str:
    """A new code; ``shape`` None: the default one."""
    shape = shape or DEFAULT_SHAPE
    drawn = "".join(draw(shape.alphabet) for _ in range(shape.length))
    if shape.check_character:
        drawn += check_character(drawn, shape.alphabet)
    return f"{shape.prefix or ''}{drawn}{shape.suffix or ''}"


def check_character(drawn: str, alphabet: str) -> str:
    """The character that makes the code add up (Luhn's method, modulo the size of the alphabet).

    It tells every single mistyped character, and most swaps of neighbours.
    """
    size = len(alphabet)
    total = 0
    for place, character in enumerate(reversed(drawn)):
        value = alphabet.index(character)
        if place % 2 == 0:
            value *= 2
            # The digit sum of the double tells values apart in an even base, its remainder in an odd one.
            value = value % size + (value // size if size % 2 == 0 else 0)
        total += value
    return alphabet[-total % size]

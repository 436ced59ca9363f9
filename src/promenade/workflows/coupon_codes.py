"""Coupon codes that cannot be guessed: in the shape their type asks for, from a source that the caller brings.

That source is cryptographic wherever codes are worth money; tests bring one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promenade.store.coupon_pool import CodeShape

__all__ = ["DEFAULT_SHAPE", "Draw", "check_character", "generate_code"]

Draw = Callable[[Sequence[str]], str]  # one of the characters, each as likely as the others

# 12 of 32 characters without look-alikes: 60 bits.
DEFAULT_SHAPE = CodeShape(None, None, 12, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", check_character=False)


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

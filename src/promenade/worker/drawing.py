"""Characters of coupon codes, drawn from the system's cryptographic source, many at a time."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

__all__ = ["SecretDraw"]


class SecretDraw:
    """Draws as `secrets.choice` does. That asks the system for each character, which takes longer than to store it."""

    def __call__(self, alphabet: Sequence[str], /) -> str:
        return secrets.choice(alphabet)

    def many(self, alphabet: str, number: int, /) -> str:
        """``number`` characters of an alphabet of at most 256 ASCII ones, each as likely as any other.

        Of the 256 values of a byte as many stand for one character as for any other; the few left over are thrown away.
        """
        size = len(alphabet)
        fair = 256 - 256 % size
        table = bytes([ord(alphabet[value % size]) for value in range(256)])
        left_over = bytes(range(fair, 256))
        found = bytearray()
        while len(found) < number:
            found += os.urandom((number - len(found)) * 256 // fair + 1).translate(table, left_over)
        return found[:number].decode("ascii")

"""Generates and recognizes IDs."""

from __future__ import annotations

import os
import re


class _RandomIds:
    """Random UUIDs in lower case; randomness is fetched for many at once, because the system call is the slow part."""

    _BATCH = 256

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def __call__(self) -> str:
        # Threads may call this: popping is atomic, and any thread that finds the list empty refills it.
        try:
            random = self._waiting.pop()
        except IndexError:
            drawn = os.urandom(16 * self._BATCH)
            self._waiting.extend(drawn[start : start + 16] for start in range(16, len(drawn), 16))
            random = drawn[:16]
        digits = random.hex()  # an import needs thousands at a time, and `uuid` takes four times as long
        variant = "89ab"[random[8] >> 4 & 3]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


new_id = _RandomIds()
"""The one source of IDs."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_id(value: object) -> bool:
    """Return whether this has the form of an ID: a UUID in lower case."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None

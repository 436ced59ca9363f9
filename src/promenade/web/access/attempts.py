"""Counts of recent failures, to limit guessing."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address
from typing import Protocol

from promenade.errors import TooMany

_HOST_BITS = 64  # of an IPv6 address: whoever has one address has its whole network


class Counts(Protocol):
    """Counters that restart some time after their first count; they live in the cache, shared by processes."""

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        """Add ``by`` and return the sum; ``by`` 0 reads."""
        ...


class Attempts:
    """Failures of one kind, counted by originator."""

    def __init__(self, kind: str, counts: Counts, *, failures_max: int, window_seconds: int = 60) -> None:
        self._kind = kind
        self._counts = counts
        self._failures_max = failures_max
        self._window_seconds = window_seconds

    async def require_room(self, who: Iterable[str]) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) if one of ``who`` failed too often in the window."""
        for key in who:
            if await self._counts.count(self._key(key), self._window_seconds, 0) >= self._failures_max:
                text = "Too many failed attempts; wait before the next."
                raise TooMany("TOO_MANY_ATTEMPTS", text, self._window_seconds)

    async def record_failure(self, who: Iterable[str]) -> None:
        """Count one failure for each of ``who``."""
        for key in who:
            await self._counts.count(self._key(key), self._window_seconds)

    async def take_back(self, who: Iterable[str]) -> None:
        """Take one failure back from each of ``who``: an attempt that was counted before its end was none."""
        for key in who:
            await self._counts.count(self._key(key), self._window_seconds, -1)

    def _key(self, who: str) -> str:
        return f"attempts:{self._kind}:{who[:200]}"


def network_of(address: str) -> str:
    """Return the unit of counting: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or int(found) >> _HOST_BITS)

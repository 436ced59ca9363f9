"""Who has guessed a password too often: by address, with waits that double, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from promenade.errors import TooMany
from promenade.web.attempts import network_of

__all__ = ["FAILURES_FREE", "LoginThrottle"]

FAILURES_FREE = 5
WAIT_SECONDS = 30.0
"""How long an address waits after so many failures; each further one doubles it."""

WAIT_SECONDS_MAX = 3600.0
ADDRESSES_MAX = 10_000  # beyond, the longest idle is forgotten


@dataclass(frozen=True, slots=True)
class _Failures:
    """How often in a row, and until when none of its attempts is looked at."""

    count: int
    until: float


class LoginThrottle:
    """Failures of one process. ``seconds`` tells a time that never goes back, whatever happens to the clock."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._failed: OrderedDict[str, _Failures] = OrderedDict()

    def require_room(self, address: str) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) while ``address`` has to wait."""
        failed = self._failed.get(network_of(address))
        wait = failed.until - self._seconds() if failed is not None else 0.0
        if wait > 0.0:
            raise TooMany("TOO_MANY_ATTEMPTS", "Too many failed attempts; wait before the next.", ceil(wait))

    def record(self, address: str) -> None:
        """Count an attempt as failed: before it is looked at, so that many at once are many, too."""
        key, now = network_of(address), self._seconds()
        failed = self._failed.get(key)
        # An hour after its wait is over, an address begins afresh.
        count = 1 if failed is None or now - failed.until > WAIT_SECONDS_MAX else failed.count + 1
        beyond = count - FAILURES_FREE
        wait = min(WAIT_SECONDS * 2 ** min(beyond, 16), WAIT_SECONDS_MAX) if beyond >= 0 else 0.0
        self._failed[key] = _Failures(count, now + wait)
        self._failed.move_to_end(key)
        while len(self._failed) > ADDRESSES_MAX:
            self._failed.popitem(last=False)

    def forgive(self, address: str) -> None:
        """Forget the failures of ``address``: an attempt has succeeded."""
        self._failed.pop(network_of(address), None)

    def forgive_all(self) -> None:
        """Forget all failures: they were made at another password."""
        self._failed.clear()

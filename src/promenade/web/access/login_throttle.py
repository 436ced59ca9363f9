"""A throttle for password guessing: by address, with waiting times that double, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from promenade.errors import TooMany
from promenade.web.access.attempts import network_of

FAILURES_FREE = 5
WAIT_SECONDS = 30.0
"""How long an address waits after so many failures; each further one doubles it."""

WAIT_SECONDS_MAX = 3600.0
ADDRESSES_MAX = 10_000  # if exceeded, the longest inactive address is dropped


@dataclass(frozen=True, slots=True)
class _Failures:
    """The number of consecutive failures, and the time until which attempts are refused."""

    count: int
    until: float


class LoginThrottle:
    """The login failures of one process. ``seconds`` returns a monotonic time."""

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
        """Count an attempt as failed before it is checked, so that concurrent attempts count as well."""
        key, now = network_of(address), self._seconds()
        failed = self._failed.get(key)
        # An hour after the end of its waiting time, an address starts over.
        count = 1 if failed is None or now - failed.until > WAIT_SECONDS_MAX else failed.count + 1
        beyond = count - FAILURES_FREE
        wait = min(WAIT_SECONDS * 2 ** min(beyond, 16), WAIT_SECONDS_MAX) if beyond >= 0 else 0.0
        self._failed[key] = _Failures(count, now + wait)
        self._failed.move_to_end(key)
        while len(self._failed) > ADDRESSES_MAX:
            self._failed.popitem(last=False)

    def reset(self, address: str) -> None:
        """Forget the failures of ``address`` after a success."""
        self._failed.pop(network_of(address), None)

    def reset_all(self) -> None:
        """Forget all failures: they belong to an earlier password."""
        self._failed.clear()

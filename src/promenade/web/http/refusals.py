"""Lines of the log about refused requests: from where they came, whose they were, and what the caller may not do.

A minute has room for `LINES_MAX` of them in each process; the next line tells how many had none. So nobody fills a disk
with refusals, and none of them is lost without a trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field

from promenade.log import Logger
from promenade.web.http.rate_limits import Buckets

LINES_MAX = 60
REFUSED = frozenset({401, 403, 421, 429})
"""No credential or a wrong one, not allowed, a foreign host name, too many requests or attempts."""

_log = Logger("promenade.access")


@dataclass(slots=True)
class Served:
    """What is known of the caller of a request that is being served."""

    caller: dict[str, str] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)


_served: ContextVar[Served | None] = ContextVar("served", default=None)


def serve() -> tuple[Served, Token[Served | None]]:
    """Begin a request: what is noted from now on is about it, until `stop` gets the token."""
    served = Served()
    return served, _served.set(served)


def stop(outside: Token[Served | None]) -> None:
    """Go back to the request around this one, or to none."""
    _served.reset(outside)


def note_caller(tenant: str, client: str, user: str) -> None:
    """Note whose the request is, once its credential is verified."""
    served = _served.get()
    if served is not None:
        served.caller = {"tenant": tenant, "client": client, "user": user}


def note_missing(scopes: str) -> None:
    """Note what the caller lacks for the request, or for a part of it: a batch is answered with 200 all the same."""
    served = _served.get()
    if served is not None:
        served.missing[scopes] = None


class Refusals:
    """Writes the lines of one process. ``seconds`` is a monotonic clock."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._room: Buckets[str] = Buckets(LINES_MAX)
        self._left_out = 0

    def tell(self, served: Served, *, status: int, method: str, route: str, address: str) -> None:
        """Write a line about a request that was refused, wholly or in part."""
        now = self._seconds()
        room = self._room.find("")
        if room.wait(now) > 0.0:
            self._left_out += 1
            return
        self._room.fill("", room, now)
        more: dict[str, object] = {"left_out": self._left_out} if self._left_out else {}
        self._left_out = 0
        if served.missing:
            more["missing"] = ", ".join(served.missing)
        _log.warning(
            "request.refused", status=status, method=method, route=route, address=address, **served.caller, **more
        )

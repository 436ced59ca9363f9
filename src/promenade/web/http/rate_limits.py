"""Rate limits for tenants and for each of their clients in this process (specification, Errors, 429).

Each has a leaky bucket in memory: it holds as many requests as a minute allows, and drains at that rate. A bucket is
stored as the time at which it will be empty, so a request costs one look-up and one addition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import ceil
from typing import Generic, TypeVar

from promenade import metrics
from promenade.errors import TooMany

CLIENTS_MAX = 10_000  # buckets kept; beyond that the oldest are dropped, even if full
SHOWN_MAX = 100  # clients whose use is shown
_MINUTE = 60.0
_ROUNDING = 1e-6  # seconds of tolerance for rounding errors

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Use:
    """How full a bucket is: ``client_id`` None: that of the tenant as a whole; ``limit`` None: there is none.

    ``refused``: of the tenant, the requests that this process has refused since it began.
    """

    client_id: str | None
    limit: int | None
    in_use: int
    refused: int | None = None


class RateLimits:
    """Limits the requests of authenticated callers, per minute; 0 means no limit.

    ``seconds`` is a monotonic clock. The tenant and its client are verified before they are counted, so made-up names
    cannot use up memory.
    """

    __slots__ = ("_of_clients", "_of_tenants", "_refusals", "_seconds")

    def __init__(self, *, per_tenant: int, per_client: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self._of_tenants: Buckets[str] | None = Buckets(per_tenant) if per_tenant else None
        self._of_clients: Buckets[tuple[str, str]] | None = Buckets(per_client) if per_client else None
        self._refusals: dict[str, int] = {}  # by tenant; only existing ones get here
        self._seconds = seconds

    def take(self, tenant_id: str, client_id: str) -> None:
        """Count a request. Raises TooMany (RATE_LIMITED) beyond a limit; a refused request is not counted."""
        now = self._seconds()
        clients, tenants = self._of_clients, self._of_tenants
        client = (tenant_id, client_id)
        if clients is not None and (wait := clients.wait(client, now)) > 0.0:
            raise self._refused(tenant_id, "client", wait)
        if tenants is not None:
            if (wait := tenants.wait(tenant_id, now)) > 0.0:
                raise self._refused(tenant_id, "tenant", wait)
            tenants.fill(tenant_id, now)
        if clients is not None:
            clients.fill(client, now)

    def use(self, tenant_id: str) -> list[Use]:
        """Return how full the tenant's bucket is, and those of its clients that have called, the fullest first."""
        now, clients = self._seconds(), self._of_clients
        found: list[Use] = []
        if clients is not None:
            own = [key for key in clients.known() if key[0] == tenant_id]
            found = [Use(key[1], clients.size, clients.level(key, now)) for key in own]
        found.sort(key=lambda one: (-one.in_use, one.client_id))
        tenants = self._of_tenants
        level, size = (0, None) if tenants is None else (tenants.level(tenant_id, now), tenants.size)
        return [Use(None, size, level, self._refusals.get(tenant_id, 0)), *found[:SHOWN_MAX]]

    def _refused(self, tenant_id: str, whose: str, wait: float) -> TooMany:
        metrics.rate_limited.labels(tenant_id, whose).inc()
        self._refusals[tenant_id] = self._refusals.get(tenant_id, 0) + 1
        return _refusal(whose, wait)


def _refusal(whose: str, wait: float) -> TooMany:
    return TooMany("RATE_LIMITED", f"Too many requests from this {whose}: wait before the next.", max(1, ceil(wait)))


class Buckets(Generic[K]):
    """Buckets of one size, each stored as the time at which it will be empty; empty ones need not be kept."""

    __slots__ = ("_empty_at", "_one", "_room", "size")

    def __init__(self, requests_a_minute: int) -> None:
        self.size = requests_a_minute
        self._one = _MINUTE / requests_a_minute  # seconds until one request has drained
        self._room = _MINUTE - self._one + _ROUNDING
        self._empty_at: dict[K, float] = {}

    def wait(self, key: K, now: float) -> float:
        """Return the seconds until a request fits; 0 or less if it fits now."""
        return self._empty_at.get(key, now) - now - self._room

    def level(self, key: K, now: float) -> int:
        """Return how many requests are in a bucket."""
        return max(0, ceil((self._empty_at.get(key, now) - now) / self._one - _ROUNDING))

    def known(self) -> list[K]:
        """Return whose buckets are known."""
        return list(self._empty_at)

    def fill(self, key: K, now: float) -> None:
        """Add a request."""
        empty_at = self._empty_at.get(key)
        if empty_at is None and len(self._empty_at) >= CLIENTS_MAX:
            self._make_room(now)
        self._empty_at[key] = (now if empty_at is None or empty_at < now else empty_at) + self._one

    def _make_room(self, now: float) -> None:
        # Free half at a time: otherwise each new client would cause a scan of all buckets.
        left = [(key, moment) for key, moment in self._empty_at.items() if moment > now]
        self._empty_at = dict(left[-CLIENTS_MAX // 2 :])

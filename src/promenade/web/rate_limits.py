"""How many requests a tenant, and each client of it, may make of this process (specification, Errors, 429).

A leaky bucket each, in memory: as many requests as a minute admits at once, and afterwards as many as have run out of
it. All that is kept of a bucket is when it will be empty, so a request costs a look-up and a sum.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from math import ceil

from promenade import metrics
from promenade.errors import TooMany

__all__ = ["CLIENTS_MAX", "RateLimits"]

CLIENTS_MAX = 10_000  # whose buckets are kept; beyond, the full ones of whoever came first are forgotten, too
_MINUTE = 60.0
_ROUNDING = 1e-6  # seconds that sums of fractions may be off


class RateLimits:
    """Counts the requests of callers that are known, in requests a minute; 0 is no limit.

    ``seconds`` tells a time that never goes back. A tenant must exist and a client be its own before they are counted:
    nobody makes the memory grow by making up names.
    """

    __slots__ = ("_of_clients", "_of_tenants", "_seconds")

    def __init__(self, *, per_tenant: int, per_client: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self._of_tenants = _Buckets(per_tenant) if per_tenant else None
        self._of_clients = _Buckets(per_client) if per_client else None
        self._seconds = seconds

    def take(self, tenant_id: str, client_id: str) -> None:
        """Count a request. Raises TooMany (RATE_LIMITED) beyond a limit, and then counts it nowhere."""
        now = self._seconds()
        clients, tenants = self._of_clients, self._of_tenants
        client = (tenant_id, client_id)
        if clients is not None and (wait := clients.wait(client, now)) > 0.0:
            raise _refused(tenant_id, "client", wait)
        if tenants is not None:
            if (wait := tenants.wait(tenant_id, now)) > 0.0:
                raise _refused(tenant_id, "tenant", wait)
            tenants.fill(tenant_id, now)
        if clients is not None:
            clients.fill(client, now)


def _refused(tenant_id: str, whose: str, wait: float) -> TooMany:
    metrics.rate_limited.labels(tenant_id, whose).inc()
    return TooMany("RATE_LIMITED", f"Too many requests of this {whose}: wait before the next.", max(1, ceil(wait)))


class _Buckets:
    """Buckets of one size, each by the moment at which it will be empty again; the empty ones need not be kept."""

    __slots__ = ("_empty_at", "_one", "_room")

    def __init__(self, requests_a_minute: int) -> None:
        self._one = _MINUTE / requests_a_minute  # seconds until one request has run out
        self._room = _MINUTE - self._one + _ROUNDING
        self._empty_at: dict[Hashable, float] = {}

    def wait(self, key: Hashable, now: float) -> float:
        """Seconds until a request fits; 0 or less when one does."""
        return self._empty_at.get(key, now) - now - self._room

    def fill(self, key: Hashable, now: float) -> None:
        """Put a request in."""
        empty_at = self._empty_at.get(key)
        if empty_at is None and len(self._empty_at) >= CLIENTS_MAX:
            self._make_room(now)
        self._empty_at[key] = (now if empty_at is None or empty_at < now else empty_at) + self._one

    def _make_room(self, now: float) -> None:
        # Half is made free at a time, or each new client of a crowd would have them all looked through.
        left = [(key, moment) for key, moment in self._empty_at.items() if moment > now]
        self._empty_at = dict(left[-CLIENTS_MAX // 2 :])

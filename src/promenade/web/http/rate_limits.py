"""Rate limits for tenants and for each of their clients in this process (specification, Errors, 429).

Each has a leaky bucket in memory: it holds as many requests as a minute allows, and drains at that rate. A bucket is
stored as the time at which it will be empty, so a request costs one look-up and one addition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from math import ceil

from promenade import metrics
from promenade.errors import TooMany

CLIENTS_MAX = 10_000  # buckets kept; beyond that the oldest are dropped, even if full
_MINUTE = 60.0
_ROUNDING = 1e-6  # seconds of tolerance for rounding errors


class RateLimits:
    """Limits the requests of authenticated callers, per minute; 0 means no limit.

    ``seconds`` is a monotonic clock. The tenant and its client are verified before they are counted, so made-up names
    cannot use up memory.
    """

    __slots__ = ("_of_clients", "_of_tenants", "_seconds")

    def __init__(self, *, per_tenant: int, per_client: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self._of_tenants = _Buckets(per_tenant) if per_tenant else None
        self._of_clients = _Buckets(per_client) if per_client else None
        self._seconds = seconds

    def take(self, tenant_id: str, client_id: str) -> None:
        """Count a request. Raises TooMany (RATE_LIMITED) beyond a limit; a refused request is not counted."""
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
    return TooMany("RATE_LIMITED", f"Too many requests from this {whose}: wait before the next.", max(1, ceil(wait)))


class _Buckets:
    """Buckets of one size, each stored as the time at which it will be empty; empty ones need not be kept."""

    __slots__ = ("_empty_at", "_one", "_room")

    def __init__(self, requests_a_minute: int) -> None:
        self._one = _MINUTE / requests_a_minute  # seconds until one request has drained
        self._room = _MINUTE - self._one + _ROUNDING
        self._empty_at: dict[Hashable, float] = {}

    def wait(self, key: Hashable, now: float) -> float:
        """Return the seconds until a request fits; 0 or less if it fits now."""
        return self._empty_at.get(key, now) - now - self._room

    def fill(self, key: Hashable, now: float) -> None:
        """Add a request."""
        empty_at = self._empty_at.get(key)
        if empty_at is None and len(self._empty_at) >= CLIENTS_MAX:
            self._make_room(now)
        self._empty_at[key] = (now if empty_at is None or empty_at < now else empty_at) + self._one

    def _make_room(self, now: float) -> None:
        # Free half at a time: otherwise each new client would cause a scan of all buckets.
        left = [(key, moment) for key, moment in self._empty_at.items() if moment > now]
        self._empty_at = dict(left[-CLIENTS_MAX // 2 :])

"""Rate limits for tenants and for each of their clients (specification, Errors, 429).

Each has a leaky bucket: it holds as many requests as a minute allows, and drains at that rate. A bucket is in memory,
stored as the time at which it will be empty, so a request costs one look-up and one addition.

Where processes share a cache, they share the buckets. Each admits requests by what it knows, on credit: at most a
hundredth of the limit, before it has told the others of them and has heard in turn how full the bucket is. That is
usually done in the background, when half the credit is used or a second has passed. A request waits for the cache only
when the credit is used up, or if there is none because the limit is below a hundred. So N processes together admit, in
any time, at most N hundredths of a minute's requests more than one would (decision 50). Without an answer of the cache
a process goes on from what it knew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Generic, Protocol, TypeVar

from promenade import metrics
from promenade.errors import TooMany
from promenade.store.driver.cache import Filled, Pour

CLIENTS_MAX = 10_000  # buckets kept; beyond that the oldest are dropped, even if full
CREDIT = 100  # of a limit, a process admits one part in so many before it has told the others
SHOWN_MAX = 100  # clients whose use is shown
TOLD_MAX = 500  # buckets that are told of at once
TELL_SECONDS = 1.0
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


class SharedBuckets(Protocol):
    """The buckets of all processes, in the cache that they share."""

    async def fill(self, pours: Sequence[Pour], full: float) -> Filled | None:
        """Fill buckets, which are full at ``full`` seconds; None: the cache does not answer."""
        ...


class RateLimits:
    """Limits the requests of authenticated callers, per minute; 0 means no limit.

    ``shared``: where other processes count; None: this one counts for itself. ``seconds`` is a monotonic clock. The
    tenant and its client are verified before they are counted, so made-up names cannot use up memory.
    """

    __slots__ = ("_of_clients", "_of_tenants", "_refusals", "_seconds", "_shared", "_tell_at", "_telling", "_untold")

    def __init__(
        self,
        *,
        per_tenant: int,
        per_client: int,
        shared: SharedBuckets | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._of_tenants: Buckets[str] | None = Buckets(per_tenant) if per_tenant else None
        self._of_clients: Buckets[tuple[str, str]] | None = Buckets(per_client) if per_client else None
        self._refusals: dict[str, int] = {}  # by tenant; only existing ones get here
        self._seconds = seconds
        self._shared = shared
        self._untold: dict[_Bucket, None] = {}  # buckets with requests that the others do not know of
        self._tell_at = 0.0
        self._telling: asyncio.Task[None] | None = None

    async def take(self, tenant_id: str, client_id: str) -> None:
        """Count a request. Raises TooMany (RATE_LIMITED) beyond a limit; a refused request is not counted."""
        now = self._seconds()
        clients, tenants = self._of_clients, self._of_tenants
        client = None if clients is None else clients.find((tenant_id, client_id))
        tenant = None if tenants is None else tenants.find(tenant_id)
        self._require_room(tenant_id, client, tenant, now)
        if self._shared is not None and not (_has_credit(client) and _has_credit(tenant)):
            await self._ask(self._shared, tenant_id, client_id, client, tenant)
            return
        if tenants is not None and tenant is not None:
            tenants.fill(tenant_id, tenant, now)
        if clients is not None and client is not None:
            clients.fill((tenant_id, client_id), client, now)
        if self._shared is not None:
            self._note(self._shared, client, tenant, now)

    def use(self, tenant_id: str) -> list[Use]:
        """Return how full the tenant's bucket is, and those of its clients that have called, the fullest first.

        It is what this process knows of them: of requests to others up to a second ago, if it gets some itself.
        """
        now, clients = self._seconds(), self._of_clients
        found: list[Use] = []
        if clients is not None:
            own = [key for key in clients.known() if key[0] == tenant_id]
            found = [Use(key[1], clients.size, clients.level(key, now)) for key in own]
        found.sort(key=lambda one: (-one.in_use, one.client_id))
        tenants = self._of_tenants
        level, size = (0, None) if tenants is None else (tenants.level(tenant_id, now), tenants.size)
        return [Use(None, size, level, self._refusals.get(tenant_id, 0)), *found[:SHOWN_MAX]]

    def _require_room(self, tenant_id: str, client: _Bucket | None, tenant: _Bucket | None, now: float) -> None:
        if client is not None and (wait := client.wait(now)) > 0.0:
            raise self._refused(tenant_id, "client", wait)
        if tenant is not None and (wait := tenant.wait(now)) > 0.0:
            raise self._refused(tenant_id, "tenant", wait)

    def _refused(self, tenant_id: str, whose: str, wait: float) -> TooMany:
        metrics.rate_limited.labels(tenant_id, whose).inc()
        self._refusals[tenant_id] = self._refusals.get(tenant_id, 0) + 1
        return _refusal(whose, wait)

    # ---- sharing ------------------------------------------------------------------------------------------------

    async def _ask(
        self, shared: SharedBuckets, tenant_id: str, client_id: str, client: _Bucket | None, tenant: _Bucket | None
    ) -> None:
        """Count a request where all processes see it at once."""
        now = self._seconds()
        if self._of_clients is not None and client is not None:
            self._of_clients.keep((tenant_id, client_id), client, now)
        if self._of_tenants is not None and tenant is not None:
            self._of_tenants.keep(tenant_id, tenant, now)
        held = [bucket for bucket in (client, tenant) if bucket is not None]
        filled = await self._exchange(shared, held, wanted=True)
        if filled is not None and filled.has_fitted:
            return
        now = self._seconds()
        self._require_room(tenant_id, client, tenant, now)
        if filled is not None:  # there was no room when all of them were asked
            whose, fullest = max(_waits(client, tenant, now), key=lambda one: one[1])
            raise self._refused(tenant_id, whose, fullest)
        for bucket in held:
            bucket.fill(now)

    def _note(self, shared: SharedBuckets, client: _Bucket | None, tenant: _Bucket | None, now: float) -> None:
        """Note a request that was admitted on credit; tell of it and others in the background if it is time."""
        is_time = now >= self._tell_at
        for bucket in (client, tenant):
            if bucket is not None:
                if not bucket.untold:
                    self._untold[bucket] = None
                bucket.untold += 1
                is_time = is_time or 2 * bucket.untold >= bucket.credit
        if is_time and self._telling is None:
            self._tell_at = now + TELL_SECONDS
            self._telling = asyncio.create_task(self._tell(shared), name="rate limits")

    async def _tell(self, shared: SharedBuckets) -> None:
        try:
            untold = list(self._untold)
            for start in range(0, len(untold), TOLD_MAX):
                await self._exchange(shared, untold[start : start + TOLD_MAX], wanted=False)
        finally:
            self._telling = None

    async def _exchange(self, shared: SharedBuckets, held: Sequence[_Bucket], *, wanted: bool) -> Filled | None:
        """Tell of requests that were admitted on credit, and hear how full the buckets are.

        Without an answer those requests are not told of again: a cache that answers too late would count them twice.
        They are part of what is known to be in the bucket, which the next exchange tells.
        """
        sent_at = self._seconds()
        amounts = [bucket.untold for bucket in held]
        pours = [bucket.pour(sent_at, wanted=wanted) for bucket in held]
        for bucket, amount in zip(held, amounts, strict=True):
            self._untold.pop(bucket, None)
            bucket.untold, bucket.sent = 0, bucket.sent + amount
        try:
            filled = await shared.fill(pours, _MINUTE)
        finally:
            for bucket, amount in zip(held, amounts, strict=True):
                bucket.sent -= amount
        for bucket, level in zip(held, filled.levels if filled is not None else (), strict=filled is not None):
            bucket.hear(sent_at + level)
        return filled


def _refusal(whose: str, wait: float) -> TooMany:
    return TooMany("RATE_LIMITED", f"Too many requests from this {whose}: wait before the next.", max(1, ceil(wait)))


def _waits(client: _Bucket | None, tenant: _Bucket | None, now: float) -> list[tuple[str, float]]:
    both = (("client", client), ("tenant", tenant))
    return [(whose, bucket.wait(now)) for whose, bucket in both if bucket is not None]


def _has_credit(bucket: _Bucket | None) -> bool:
    return bucket is None or bucket.untold + bucket.sent < bucket.credit


class _Bucket:
    """A bucket, stored as the time at which it will be empty.

    Of the requests in it, the other processes have not been told of ``untold``, and are just being told of ``sent``.
    """

    __slots__ = ("credit", "empty_at", "name", "one", "room", "sent", "untold")

    def __init__(self, name: str, one: float, room: float, credit: int) -> None:
        self.name = name
        self.one = one  # seconds until one request has drained
        self.room = room
        self.credit = credit
        self.empty_at = float("-inf")
        self.untold = self.sent = 0

    def wait(self, now: float) -> float:
        """Return the seconds until a request fits; 0 or less if it fits now."""
        return self.empty_at - now - self.room

    def fill(self, now: float) -> None:
        """Add a request."""
        self.empty_at = (now if self.empty_at < now else self.empty_at) + self.one

    def pour(self, now: float, *, wanted: bool) -> Pour:
        """Return what the other processes are told."""
        known = self.empty_at - now - (self.untold + self.sent) * self.one
        return Pour(self.name, max(0.0, known), self.untold * self.one, self.one if wanted else 0.0)

    def hear(self, empty_at: float) -> None:
        """Learn when it would be empty without the requests that the others have not been told of.

        Those that they are just being told of may be among the others: whoever hears of these learns it then.
        """
        self.empty_at = max(self.empty_at, empty_at + self.untold * self.one)


class Buckets(Generic[K]):
    """Buckets of one size; empty ones need not be kept."""

    __slots__ = ("_credit", "_kept", "_one", "_room", "size")

    def __init__(self, requests_a_minute: int) -> None:
        self.size = requests_a_minute
        self._one = _MINUTE / requests_a_minute
        self._room = _MINUTE - self._one + _ROUNDING
        self._credit = requests_a_minute // CREDIT
        self._kept: dict[K, _Bucket] = {}

    def find(self, key: K) -> _Bucket:
        """Return a bucket, a new one if it is not known."""
        found = self._kept.get(key)
        return _Bucket(_name_of(key), self._one, self._room, self._credit) if found is None else found

    def level(self, key: K, now: float) -> int:
        """Return how many requests are in a bucket."""
        left = max(0.0, self.find(key).empty_at - now)
        return max(0, ceil(left / self._one - _ROUNDING))

    def known(self) -> list[K]:
        """Return whose buckets are known."""
        return list(self._kept)

    def fill(self, key: K, bucket: _Bucket, now: float) -> None:
        """Add a request to a bucket that was found, and keep it."""
        self.keep(key, bucket, now)
        bucket.fill(now)

    def keep(self, key: K, bucket: _Bucket, now: float) -> None:
        """Keep a bucket that was found."""
        if key not in self._kept:
            if len(self._kept) >= CLIENTS_MAX:
                self._make_room(now)
            self._kept[key] = bucket

    def _make_room(self, now: float) -> None:
        # Free half at a time: otherwise each new client would cause a scan of all buckets.
        left = [(key, one) for key, one in self._kept.items() if one.empty_at > now]
        self._kept = dict(left[-CLIENTS_MAX // 2 :])


def _name_of(key: Hashable) -> str:
    """Return the name of a bucket in the cache; tenant IDs may contain colons, so it has their length."""
    tenant_id, client_id = key if isinstance(key, tuple) else (key, None)
    return f"limits:{len(tenant_id)}:{tenant_id}{'' if client_id is None else f':{client_id}'}"

"""Health, metrics and the tills' heartbeat."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from starlette.types import Receive, Scope

from promenade import __version__, metrics
from promenade.errors import PromenadeError, Unauthorized, Unavailable
from promenade.settings import CLOUD, LOCAL_STORE, Settings
from promenade.web.access.auth import Authentication
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.pricing.encode import timestamp
from promenade.web.pricing.pos import SCOPES
from promenade.workflows.context import Context
from promenade.workflows.uplink import Uplink

if TYPE_CHECKING:
    from promenade.workflows.clockwork.figures import WatchedFigures

SERVICE = "promenade"
# How the headers begin that proxies and networks of delivery add.
_OF_PROXIES = (
    *(b"x-forwarded", b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip", b"x-cluster-client-ip"),
    *(b"cf-", b"fly-", b"fastly-", b"cdn-", b"x-envoy-", b"x-amz", b"x-original-", b"x-azure-", b"x-appengine-"),
)
_CHECK_SECONDS_MAX = 2.0
_NO_UPLINK = Uplink()  # of the cloud, which has no uplink


class Check(msgspec.Struct, frozen=True, rename="camel"):
    """The result of checking a dependency of the service."""

    status: str  #: `UP` or `DOWN`.
    response_time: float  #: Milliseconds.


class Delivery(msgspec.Struct, frozen=True, rename="camel"):
    """Whether events can be delivered."""

    status: str  #: `active` or `inactive`; never degrades the overall status.


class Checks(msgspec.Struct, frozen=True, rename="camel"):
    """The dependencies that were checked."""

    database: Check  #: The database.
    cache: Check  #: Redis or Valkey where one is configured, else the cache in the process.
    webhook_delivery: Delivery  #: Active while the cache is up.


class Health(msgspec.Struct, frozen=True, rename="camel"):
    """The health of the service."""

    status: str  #: `UP`, or `DEGRADED` when a check is `DOWN`.
    version: str  #: The service's version.
    uptime: float  #: Seconds since the process started.
    timestamp: str  #: The current time. UTC.
    service: str  #: `promenade`.
    checks: Checks  #: The dependencies that were checked.


class Live(msgspec.Struct, frozen=True):
    """The process serves."""

    status: str  #: Always `UP`.


DISCONNECTED = "DISCONNECTED"


class Heartbeat(msgspec.Struct, frozen=True, rename="camel"):
    """The state of the service, as tills query it before they rely on it."""

    status: str  #: `UP`, or `DEGRADED` when the database, or the cloud of a linked store, is unreachable.
    version: str  #: The service's version.
    mode: str  #: `cloud` or `local-store`.
    btp_connectivity: str  #: `CONNECTED`, `DISCONNECTED`, or `NOT_CONFIGURED`: no link, as in the cloud.
    last_sync: str | None  #: Last time a store was up to date with its cloud; null if never, and in the cloud. UTC.
    pending_transactions: int  #: Sales that a store has not uploaded to its cloud yet; 0 in the cloud.
    promotions_loaded: int  #: Promotions of the tenant that can be priced.
    uptime: int  #: Seconds since the process started.


class Monitoring:
    """The endpoints for monitoring, and the tills' heartbeat."""

    def __init__(self, context: Context, authenticator: Authentication, settings: Settings) -> None:
        self._context = context
        self._authenticator = authenticator
        self._metrics_token = settings.metrics_token
        self._has_proxy = settings.has_proxy
        self._figures: WatchedFigures | None = None
        self._started = time.monotonic()

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [
            Endpoint("/health", {"GET": self._health}),
            Endpoint("/health/live", {"GET": self._live}),
            Endpoint("/health/ready", {"GET": self._ready}),
            Endpoint("/metrics", {"GET": self._metrics}),
            Endpoint("/pos/heartbeat", {"GET": self._heartbeat}),
        ]

    async def _health(self, scope: Scope, receive: Receive) -> Answer:
        """Return the health of the service. The status is always 200: read the body."""
        return _uncached(await self._examined())

    async def _live(self, scope: Scope, receive: Receive) -> Answer:
        """Answer 200 as long as the process serves: whoever gets no answer restarts it."""
        return _uncached(Live("UP"))

    async def _ready(self, scope: Scope, receive: Receive) -> Answer:
        """Return the health with 503 if other processes should get the requests.

        The database does not answer, or this process is about to stop.
        """
        health = await self._examined()
        is_ready = health.checks.database.status == "UP" and not scope["promenade.leaving"]
        return _uncached(health, 200 if is_ready else 503)

    async def _examined(self) -> Health:
        database, cache = await asyncio.gather(_check(self._database_answers), _check(self._context.cache.ping))
        now: datetime = self._context.clock()
        return Health(
            status="UP" if database.status == cache.status == "UP" else "DEGRADED",
            version=__version__,
            uptime=round(time.monotonic() - self._started, 3),
            timestamp=timestamp(now),
            service=SERVICE,
            checks=Checks(database, cache, Delivery("active" if cache.status == "UP" else "inactive")),
        )

    async def _database_answers(self) -> bool:
        await self._context.database.ping()
        return True

    async def _metrics(self, scope: Scope, receive: Receive) -> Answer:
        """Return all metrics in the Prometheus text format.

        They are for the same machine if no proxy passes requests on, and for requests with the token of
        `--metrics-token`.
        """
        if not self._may_see_metrics(scope):
            raise Unauthorized(
                "UNAUTHORIZED",
                "Requests for metrics from another machine, or through a proxy, need the token of --metrics-token.",
            )
        if self._figures is None:
            module = await asyncio.to_thread(import_module, "promenade.workflows.clockwork.figures")
            self._figures = self._figures or module.WatchedFigures(self._context)
        await self._figures.refresh()
        # Summing over processes reads files, which tills must not wait for.
        body = await asyncio.to_thread(metrics.render)
        return Answer(body, content_type=(b"content-type", metrics.CONTENT_TYPE.encode("ascii")))

    def _may_see_metrics(self, scope: Scope) -> bool:
        address = (scope.get("client") or ("", 0))[0]
        # A proxy on this machine forwards requests from anywhere. Settings name it, or what it sends shows it.
        is_passed_on = self._has_proxy or any(name.startswith(_OF_PROXIES) for name, _ in scope["headers"])
        if _is_loopback(address) and _is_loopback(_name_of(header(scope, b"host") or b"")) and not is_passed_on:
            return True
        given = (header(scope, b"authorization") or b"").removeprefix(b"Bearer ")
        wanted = self._metrics_token
        return wanted is not None and hmac.compare_digest(given, wanted.encode("utf-8"))

    async def _heartbeat(self, scope: Scope, receive: Receive) -> Answer:
        """Return the state of the service, for a till that is about to rely on it."""
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        database = await _check(self._database_answers)
        uplink = self._context.uplink or _NO_UPLINK
        connectivity = _connectivity(uplink)
        is_up = database.status == "UP" and connectivity != DISCONNECTED
        heartbeat = Heartbeat(
            status="UP" if is_up else "DEGRADED",
            version=__version__,
            mode=LOCAL_STORE if self._context.is_store else CLOUD,
            btp_connectivity=connectivity,
            last_sync=None if uplink.last_sync_at is None else timestamp(uplink.last_sync_at),
            pending_transactions=uplink.pending,
            promotions_loaded=await self._promotions_loaded(caller.tenant_id, as_it_is=database.status == "UP"),
            uptime=int(time.monotonic() - self._started),
        )
        return _uncached(heartbeat)

    async def _promotions_loaded(self, tenant_id: str, *, as_it_is: bool) -> int:
        catalogues = self._context.catalogues
        look = catalogues.current if as_it_is else catalogues.get
        try:
            return len((await look(tenant_id)).definitions)
        except Unavailable:
            return 0


def _connectivity(uplink: Uplink) -> str:
    if uplink.client is None:
        return "NOT_CONFIGURED"
    return "CONNECTED" if uplink.is_connected else DISCONNECTED


async def _check(answers: Callable[[], Awaitable[bool]]) -> Check:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(_CHECK_SECONDS_MAX):
            is_up = await answers()
    except (PromenadeError, OSError):  # a timeout is an OSError
        is_up = False
    return Check("UP" if is_up else "DOWN", round((time.perf_counter() - started) * 1000, 3))


def _uncached(shown: msgspec.Struct, status: int = 200) -> Answer:
    return Answer(msgspec.json.encode(shown), status, headers=[(b"cache-control", b"no-store")])


def _name_of(host: bytes) -> str:
    try:
        name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
    except ValueError:
        return ""
    return "127.0.0.1" if name == "localhost" else name


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False

"""The composition root: builds a running service from settings."""

# ruff: noqa: PLC0415 -- what not every service needs, and what it needs only once it serves, is imported then

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import secrets
import shutil
import signal
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import TYPE_CHECKING

import uvicorn
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.supervisors import Multiprocess

from promenade.clock import clock
from promenade.ids import new_id
from promenade.log import Logger, name_also
from promenade.settings import LOCAL_STORE, Settings, SettingsError
from promenade.store.access.local_store import StoreRow
from promenade.store.driver.cache import Cache, LocalCache, open_cache
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.store.driver.watching import watched
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.replica.link import read_link
from promenade.tracing import log_fields
from promenade.web.http.endpoint import Edge, Endpoint, not_found
from promenade.web.http.leaving import Leaving
from promenade.web.http.protection import Protection
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.routing import routed
from promenade.web.http.server_config import server_config
from promenade.workflows.access.cache_key import cache_key
from promenade.workflows.access.local_admin import KnownStore, establish_store, find_store, forget_password
from promenade.workflows.context import Context, Retention
from promenade.workflows.uplink import Uplink

if TYPE_CHECKING:
    from promenade.web.access.tls.files import TlsMaterial

__all__ = ["Cloud", "LocalStore", "clock", "cloud", "local_store", "new_id", "opened_context", "serve", "traced"]

_log = Logger("promenade")

# Pricing makes thousands of short-lived objects and no cycles: at the interpreter's default of 700 every basket is
# searched for garbage several times over.
_GARBAGE_THRESHOLDS = (50_000, 20, 50)
_WORK_AFTER_SECONDS = 0.1


def set_aside() -> None:
    """Keep loaded catalogues, millions of objects that stay, out of searches for garbage.

    A search through all of them would hold every till for a tenth of a second.
    """
    gc.freeze()


async def open_context(settings: Settings) -> Context:
    """Open the resources that workflows need. The caller closes the database and cache.

    A database that belongs to a store is always opened as that store. Raises Conflict for another store's.
    """
    database = await open_database(settings.database_url)
    try:
        store = await _store_of(settings, database)
        cache = await _cache_of(settings, database)
    except BaseException:
        await database.close()
        raise
    own = None if store is None else store.instance_id
    reporting_url = settings.reporting_database_url
    return Context(
        database=database,
        catalogues=Catalogues(database, on_load=set_aside),
        cache=cache,
        clock=clock,
        new_id=new_id,
        source="btp" if store is None else LOCAL_STORE,
        instance_id=settings.instance_id or own or new_id(),
        webhook_allow=frozenset(target.lower() for target in settings.webhook_allow),
        webhook_retry_schedule=settings.webhook_retry_schedule,
        events_to=settings.broker,
        retention=Retention.of(settings),
        uplink=None if store is None else Uplink(run_id=new_id()),
        replica=None if reporting_url is None else await open_database(reporting_url),
    )


async def _cache_of(settings: Settings, database: Database) -> Cache:
    if settings.redis_url is None:
        return LocalCache()
    secret = await cache_key(database, lambda: secrets.token_bytes(32), clock())
    return open_cache(settings.redis_url, secret)


async def _store_of(settings: Settings, database: Database) -> StoreRow | None:
    """Return the store that owns this database, created at its first start; None: it is the cloud's."""
    if settings.edition == LOCAL_STORE:
        identities = {"instance_id": settings.instance_id or new_id(), "api_key": new_api_key()}
        store, is_new = await establish_store(database, settings.tenant, at=clock(), **identities)
        if is_new:
            _log.info("store.made", tenant=store.tenant_id, instance=store.instance_id)
        return store
    return await find_store(database) if settings.is_sqlite else None


def new_api_key() -> str:
    """Return 64 random hexadecimal digits."""
    return secrets.token_hex(32)


@contextlib.asynccontextmanager
async def traced(settings: Settings, service: str) -> AsyncIterator[None]:
    """Record traces, if the settings say so; ``service`` is the name of this process in them."""
    if settings.traces_url is None:
        yield
        return
    otlp = await asyncio.to_thread(import_module, "promenade.tracing.otlp")
    name_also(log_fields)
    try:
        async with otlp.recording(settings.traces_url, settings.traces_sample, service=service):
            yield
    finally:
        name_also(None)


@contextlib.asynccontextmanager
async def opened_context(settings: Settings) -> AsyncIterator[Context]:
    """Open a context, and close it at the end; from now on the process searches for garbage less often."""
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    context = await open_context(settings)
    try:
        async with watched(context.database):
            yield context
    finally:
        await context.cache.close()
        if context.replica is not None:
            await context.replica.close()
        await context.database.close()


def edge_of(settings: Settings, app: ASGIApp, leaving: Leaving) -> Edge:
    """Return the outermost layer around an application."""
    return Edge(app, new_id, Protection.of(settings, leaving), logs_requests=settings.access_log)


class _Edition(ABC):
    """An edition as an ASGI application; its lifespan opens all resources."""

    def __init__(self, settings: Settings, *, run_worker: bool | None = None) -> None:
        self._settings = settings
        self._leaving = Leaving(settings.drain_seconds)
        self._run_worker = settings.workers == 1 if run_worker is None else run_worker
        self._app: ASGIApp = Router(lifespan=self._lifespan, default=not_found)  # replaced once the resources are open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        settings = self._settings
        service = "promenade-store" if settings.edition == LOCAL_STORE else "promenade"
        async with (
            traced(settings, service),
            opened_context(settings) as context,
            self._worker(context),
        ):
            limits = self._limits_in(context)
            self._app = edge_of(settings, await self._served(context, limits), self._leaving)
            async with self._beside(context, limits):
                self._leaving.await_signal()
                yield

    def _limits_in(self, context: Context) -> RateLimits:
        settings = self._settings
        shared = None if settings.redis_url is None else context.cache
        return RateLimits(per_tenant=settings.rate_limit_tenant, per_client=settings.rate_limit_client, shared=shared)

    @abstractmethod
    async def _served(self, context: Context, limits: RateLimits) -> ASGIApp:
        """Return the application that handles the requests."""

    def _beside(self, context: Context, limits: RateLimits) -> contextlib.AbstractAsyncContextManager[None]:
        """Run additional listeners, if the edition has any."""
        return contextlib.nullcontext()

    @contextlib.asynccontextmanager
    async def _worker(self, context: Context) -> AsyncIterator[None]:
        """Run background work in this process, stopped before the database closes."""
        if not self._run_worker:
            yield
            return
        stop = asyncio.Event()
        task = asyncio.create_task(run_worker(context, stop), name="worker")
        try:
            yield
        finally:
            stop.set()
            await task


async def run_worker(context: Context, stop: asyncio.Event) -> None:
    """Run background work once requests are served: loading its code takes as long as all that pricing needs."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), _WORK_AFTER_SECONDS)
        return
    worker = await asyncio.to_thread(import_module, "promenade.worker")
    await worker.run_worker(context, stop)


class Cloud(_Edition):
    """The cloud edition."""

    def __init__(
        self, settings: Settings, *, certified: socket.socket | None = None, run_worker: bool | None = None
    ) -> None:
        super().__init__(settings, run_worker=run_worker)
        self._certified = certified
        self._health: list[Endpoint] = []
        self._material: TlsMaterial | None = None  # of the listener for client certificates

    async def _served(self, context: Context, limits: RateLimits) -> ASGIApp:
        from promenade.web.services.cloud import CloudService

        service = CloudService(context, self._settings, limits, lambda: self._material)
        self._health = service.health
        return service.app

    @contextlib.asynccontextmanager
    async def _beside(self, context: Context, limits: RateLimits) -> AsyncIterator[None]:
        """Run the listener for client certificates, if there is one: master data, its jobs, health."""
        settings = self._settings
        if settings.mtls_port is None:
            yield
            return
        from promenade.web.access.tls.certificates import Certificates
        from promenade.web.access.tls.files import TlsFiles, TlsMaterial
        from promenade.web.access.tls.mtls import bind, listening
        from promenade.web.imports.master_data import MasterData
        from promenade.web.imports.status import certificate_status_endpoint

        material = self._material = TlsMaterial(TlsFiles.of(settings), clock)
        certificates = Certificates(context.database, clock, lambda: material.authorities, limits)
        endpoints = [
            *MasterData(context, certificates, base_url=settings.mtls_url).endpoints(),
            certificate_status_endpoint(context, certificates.caller),
            *self._health,
        ]
        listener = self._certified or bind(settings.mtls_host or settings.host, settings.mtls_port)
        async with listening(edge_of(settings, routed(endpoints, {}), self._leaving), listener, material):
            yield


class LocalStore(_Edition):
    """The local-store edition: one store with its own database, its tills and its administrator."""

    async def _served(self, context: Context, limits: RateLimits) -> ASGIApp:
        store = await _store_of(self._settings, context.database)
        if store is None:
            raise LookupError("the edition is another")
        if context.uplink is not None:  # responses name the cloud's tenant before the worker maintains the link
            context.uplink.recall(await context.database.read(read_link, system=True))
        from promenade.web.services.local_store import store_service

        known = KnownStore(context.database, store)
        await known.read()
        return store_service(context, self._settings, known, limits, new_api_key)


def local_store(settings: Settings) -> ASGIApp:
    """Return the local-store edition: `/pos` with an API key, services for an administrator's session, monitoring."""
    return LocalStore(settings)


def cloud(settings: Settings, certified: socket.socket | None = None) -> ASGIApp:
    """Return the cloud edition.

    It has `/pos`, `/api/v1`, `/admin` and `/reporting` for bearer tokens, the built-in issuer unless a JWKS address is
    set, monitoring; master data for client certificates on the socket ``certified``, else on one of its own.
    """
    return Cloud(settings, certified=certified)


# ---- serving ------------------------------------------------------------------------------------------------------


def serve(settings: Settings, configure: Callable[[], None]) -> bool:
    """Serve until a signal stops it; return whether the server started. In-flight requests are finished first.

    ``configure`` is run first in each further process. Raises SettingsError for unusable certificates and for a
    database of the other edition, Conflict for a store's database of another tenant, and Unavailable when the address
    for client certificates cannot be bound.
    """
    asyncio.run(_check_edition(settings))
    certified = _certified_socket(settings)
    if settings.workers > 1:
        return _serve_processes(settings, certified, configure)
    app = local_store(settings) if settings.edition == LOCAL_STORE else cloud(settings, certified)
    server = uvicorn.Server(server_config(settings, app, factory=False))
    # uvicorn raises the signal that stopped it again after shutdown; a requested stop is not a failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.run()
    return server.started


async def _check_edition(settings: Settings) -> None:
    """Check that the database fits the edition; for a store, reset the administrator's password if requested."""
    if not settings.is_sqlite:
        return
    async with opened_context(settings) as context:
        if context.is_store and settings.edition != LOCAL_STORE:
            raise SettingsError("This is a store's database: start it with --edition local-store.")
        if not context.is_store:
            return
        if settings.reset_admin_password:
            await forget_password(context.database, clock())
            _log.warning("store.password_forgotten", why="--reset-admin-password")
        store = await find_store(context.database)
        if store is not None and store.password_hash is None:
            _log.warning("store.setup_is_open", address=f"{settings.base_url}/local-admin/setup")


def _certified_socket(settings: Settings) -> socket.socket | None:
    """Return the socket for clients with certificates, shared by all processes; None: there is none."""
    if settings.mtls_port is None:
        return None
    from promenade.web.access.tls.files import TlsFiles, TlsMaterial
    from promenade.web.access.tls.mtls import bind

    files = TlsFiles.of(settings)
    TlsMaterial(files, clock).load()
    return bind(settings.mtls_host or settings.host, settings.mtls_port)


def _process(settings: Settings, certified: socket.socket | None, configure: Callable[[], None]) -> ASGIApp:
    """Return the application of one of several processes; it shares only the arguments with its parent."""
    configure()
    return cloud(settings, certified)


def _serve_processes(settings: Settings, certified: socket.socket | None, configure: Callable[[], None]) -> bool:
    # Must be set before prometheus_client is imported in a child, which decides on import whether metrics are shared.
    directory = tempfile.mkdtemp(prefix="promenade-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
    try:
        config = server_config(settings, functools.partial(_process, settings, certified, configure), factory=True)
        listener = config.bind_socket()
        try:
            Multiprocess(config, sockets=[listener]).run()
        finally:
            listener.close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return True

"""The composition root: settings become a running service. Owns the clock and the source of IDs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import uvicorn
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.supervisors import Multiprocess

from promenade.settings import Settings
from promenade.store.cache import open_cache
from promenade.store.catalogue import Catalogues
from promenade.store.session import open_database
from promenade.store.unit import Database
from promenade.web.admin import ROOT as ADMIN_ROOT
from promenade.web.admin import AdminApi
from promenade.web.auth import Authenticator, KeySource
from promenade.web.bulk_import import BulkImport
from promenade.web.certificates import Certificates
from promenade.web.connection import Connection
from promenade.web.endpoint import Edge, Endpoint, not_found
from promenade.web.import_status import ImportStatus, certificate_status_endpoint
from promenade.web.issuer import TOKEN_SECONDS, Issuer, generate_signing_key
from promenade.web.keys import CachedKeys, fetch_jwks
from promenade.web.master_data import MasterData
from promenade.web.monitoring import Monitoring
from promenade.web.mtls import bind, listening
from promenade.web.pos import Pos
from promenade.web.pos_articles import PosArticles
from promenade.web.pos_coupons import PosCoupons
from promenade.web.pos_metadata import PosMetadata
from promenade.web.public import ROOT as PUBLIC_ROOT
from promenade.web.public import PublicApi
from promenade.web.public_openapi import render_public_openapi
from promenade.web.rate_limits import RateLimits
from promenade.web.reader_pages import document_endpoint, reader_endpoints
from promenade.web.tls_files import TlsFiles, TlsMaterial
from promenade.worker import run_worker
from promenade.workflows.clients import (
    Client,
    SigningKey,
    add_first_signing_key,
    authenticate_client,
    list_signing_keys,
)
from promenade.workflows.context import Context, Retention
from promenade.workflows.tenants import TenantDirectory

__all__ = ["Cloud", "clock", "cloud", "new_id", "opened_context", "serve"]

# How long requests in flight may take to end after SIGTERM before they are cut.
_GRACE_SECONDS = 20
# A server process that has not answered for so long is replaced; on a busy machine starting alone takes a while.
_STARTED_SECONDS_MAX = 30
_BACKLOG = 2048
# Pricing makes thousands of short-lived objects and no cycles: at the interpreter's default of 700 every basket is
# searched for garbage several times over. A loaded catalogue, millions of objects that stay, is set aside
# (`gc.freeze`), or now and then a search through all of it would hold every till for a tenth of a second.
_GARBAGE_THRESHOLDS = (50_000, 20, 50)


def clock() -> datetime:
    """The one clock of the service."""
    return datetime.now(UTC)


class _RandomIds:
    """Random UUIDs in lower case; randomness is fetched for many at once, as asking the kernel is the costly part."""

    _BATCH = 256

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def __call__(self) -> str:
        # Threads may call this: popping is atomic, and an empty list is filled anew by whoever finds it empty.
        try:
            random = self._waiting.pop()
        except IndexError:
            drawn = os.urandom(16 * self._BATCH)
            self._waiting.extend(drawn[start : start + 16] for start in range(16, len(drawn), 16))
            random = drawn[:16]
        digits = random.hex()  # an import makes thousands at a time: by `uuid` each takes four times as long
        variant = "89ab"[random[8] >> 4 & 3]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


new_id = _RandomIds()
"""The one source of IDs."""


class _DatabaseIssuerStore:
    """The issuer's clients and keys in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def authenticate(self, client_id: str, secret: str) -> Client | None:
        return await authenticate_client(self._database, client_id, secret)

    async def signing_keys(self) -> Sequence[SigningKey]:
        keys = await list_signing_keys(self._database, token_seconds=TOKEN_SECONDS, at=clock())
        if not any(key.retired_at is None for key in keys):
            key = await asyncio.to_thread(generate_signing_key, new_id(), clock())
            await add_first_signing_key(self._database, key)
            keys = await list_signing_keys(self._database, token_seconds=TOKEN_SECONDS, at=clock())
        return keys


async def open_context(settings: Settings) -> Context:
    """The parts that workflows work with. Whoever opens it closes its database and cache."""
    database = await open_database(settings.database_url)
    return Context(
        database=database,
        catalogues=Catalogues(database, on_load=gc.freeze),
        cache=open_cache(settings.redis_url),
        clock=clock,
        new_id=new_id,
        source="btp",
        instance_id=settings.instance_id or new_id(),
        webhook_allow=frozenset(target.lower() for target in settings.webhook_allow),
        webhook_retry_schedule=settings.webhook_retry_schedule,
        retention=Retention(
            iterations=settings.keep_iterations_days,
            sales=settings.keep_sales_days,
            events=settings.keep_events_days,
            imports=settings.keep_imports_days,
        ),
    )


@contextlib.asynccontextmanager
async def opened_context(settings: Settings) -> AsyncIterator[Context]:
    """An open context, closed at the end."""
    context = await open_context(settings)
    try:
        yield context
    finally:
        await context.cache.close()
        await context.database.close()


class Cloud:
    """The cloud edition as an ASGI application; everything is opened by its lifespan, nothing before."""

    def __init__(
        self, settings: Settings, *, certified: socket.socket | None = None, run_worker: bool | None = None
    ) -> None:
        self._settings = settings
        self._certified = certified
        self._limits = RateLimits(per_tenant=settings.rate_limit_tenant, per_client=settings.rate_limit_client)
        self._health: list[Endpoint] = []
        self._run_worker = settings.workers == 1 if run_worker is None else run_worker
        self._app: ASGIApp = Router(lifespan=self._lifespan, default=not_found)  # replaced once things are open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        async with opened_context(self._settings) as context, self._worker(context):
            self._app = Edge(await self._served(context), new_id)
            async with self._served_to_certificates(context):
                yield

    async def _served(self, context: Context) -> ASGIApp:
        settings = self._settings
        issuer: Issuer | None = None
        keys: KeySource
        if settings.jwks_url is not None:
            keys = CachedKeys(fetch_jwks(settings.jwks_url), clock)
        else:
            issuer = Issuer(
                _DatabaseIssuerStore(context.database),
                context.cache,
                clock,
                new_id,
                issuer=settings.issuer_url,
                base_url=settings.base_url,
                audience=settings.audience,
            )
            keys = CachedKeys(issuer.verification_keys, clock, own=True)
        authenticator = Authenticator(
            keys,
            TenantDirectory(context.database, clock).exists,
            clock,
            issuer=settings.issuer_url,
            audience=settings.audience,
            tenant_claims=settings.tenant_claims,
            scope_claims=settings.scope_claims,
            limits=self._limits,
        )
        pos = Pos(context, authenticator)
        monitoring = Monitoring(context, authenticator, settings.metrics_token)
        self._health = [one for one in monitoring.endpoints() if one.route == "/health"]
        documents = [
            *PosMetadata(authenticator).endpoints(),
            *reader_endpoints("/pos", "POS service"),
            document_endpoint(f"{PUBLIC_ROOT}/openapi.json", render_public_openapi),
            *reader_endpoints(PUBLIC_ROOT, "Public API"),
        ]
        coupons = PosCoupons(context, authenticator)
        endpoints = [
            *pos.endpoints(),
            *coupons.endpoints(),
            *PosArticles(context, authenticator).endpoints(),
            *BulkImport(context, authenticator).endpoints(),
            ImportStatus(context, authenticator).endpoint(),
            *MasterData(context, Certificates(context.database, clock), base_url=settings.mtls_url).endpoints(),
            *monitoring.endpoints(),
            *documents,
            *(issuer.endpoints() if issuer else ()),
        ]
        services = {PUBLIC_ROOT: PublicApi(context, authenticator), ADMIN_ROOT: AdminApi(context, authenticator)}
        return _routed(endpoints, services)

    @contextlib.asynccontextmanager
    async def _served_to_certificates(self, context: Context) -> AsyncIterator[None]:
        """The listener for clients with certificates, where there is one: master data, its jobs, health."""
        settings = self._settings
        files = TlsFiles.of(settings)
        if files is None or settings.mtls_port is None:
            yield
            return
        material = TlsMaterial(files, clock)
        certificates = Certificates(context.database, clock, lambda: material.authorities, self._limits)
        endpoints = [
            *MasterData(context, certificates, base_url=settings.mtls_url).endpoints(),
            certificate_status_endpoint(context, certificates.caller),
            *self._health,
        ]
        listener = self._certified or bind(settings.mtls_host or settings.host, settings.mtls_port)
        async with listening(Edge(_routed(endpoints, {}), new_id), listener, material):
            yield

    @contextlib.asynccontextmanager
    async def _worker(self, context: Context) -> AsyncIterator[None]:
        """Background work inside this process, ended before the database closes."""
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


def _routed(endpoints: Sequence[Endpoint], services: Mapping[str, ASGIApp]) -> ASGIApp:
    """Lead each request to its endpoint: a path without parameters, every till's, by one look-up.

    Where no endpoint is meant, ``services`` have everything at and below their paths.
    """
    exact: dict[str, ASGIApp] = {endpoint.route: endpoint for endpoint in endpoints if "{" not in endpoint.route}
    routes = [
        Route(endpoint.route, endpoint, include_in_schema=False)
        for endpoint in endpoints
        if endpoint.route not in exact
    ]

    async def below(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        found = [one for root, one in services.items() if path == root or path.startswith(f"{root}/")]
        await (found[0] if found else not_found)(scope, receive, send)

    router = Router(routes=routes, default=below, redirect_slashes=False)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        await exact.get(scope["path"], router)(scope, receive, send)

    return route


def cloud(settings: Settings, certified: socket.socket | None = None) -> ASGIApp:
    """The cloud edition: `/pos`, `/api/v1` and `/admin` for bearer tokens, the built-in issuer unless a JWKS address
    is set, monitoring; master data for certificates on the socket ``certified``, else on one of its own."""
    return Cloud(settings, certified=certified)


# ---- serving ------------------------------------------------------------------------------------------------------


def serve(settings: Settings) -> bool:
    """Serve until a signal ends it; whether it came to serve at all. In-flight requests are finished first.

    Raises SettingsError for certificates of no use, and Unavailable when the address for them cannot be had.
    """
    certified = _certified_socket(settings)
    if settings.workers > 1:
        return _serve_processes(settings, certified)
    server = uvicorn.Server(_config(settings, cloud(settings, certified), factory=False))
    # uvicorn raises the signal that stopped it once more when it has ended; being told to end is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.run()
    return server.started


def _certified_socket(settings: Settings) -> socket.socket | None:
    """Where clients with certificates come to, one socket for all processes; None: nowhere."""
    files = TlsFiles.of(settings)
    if files is None or settings.mtls_port is None:
        return None
    TlsMaterial(files, clock).load()
    return bind(settings.mtls_host or settings.host, settings.mtls_port)


def _serve_processes(settings: Settings, certified: socket.socket | None) -> bool:
    # Set before prometheus_client is imported in a child, which decides then whether metrics are shared.
    directory = tempfile.mkdtemp(prefix="promenade-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
    try:
        config = _config(settings, functools.partial(cloud, settings, certified), factory=True)
        listener = config.bind_socket()
        try:
            Multiprocess(config, sockets=[listener]).run()
        finally:
            listener.close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return True


def _config(settings: Settings, app: Any, *, factory: bool) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        factory=factory,
        workers=settings.workers,
        loop="uvloop" if os.name != "nt" else "asyncio",
        http=Connection,
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=None,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_worker_healthcheck=_STARTED_SECONDS_MAX,
    )

"""The composition root: settings become a running service. Owns the clock."""

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
from datetime import UTC, datetime

import structlog
import uvicorn
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.supervisors import Multiprocess

from promenade.ids import new_id
from promenade.settings import CLOUD, LOCAL_STORE, Settings, SettingsError
from promenade.store.cache import open_cache
from promenade.store.catalogue import Catalogues
from promenade.store.local_store import StoreRow
from promenade.store.session import open_database
from promenade.store.unit import Database
from promenade.web.admin import ROOT as ADMIN_ROOT
from promenade.web.admin import AdminApi
from promenade.web.auth import Authenticator, KeySource
from promenade.web.back_office import back_office_endpoints
from promenade.web.bulk_import import BulkImport
from promenade.web.certificates import Certificates
from promenade.web.endpoint import Edge, Endpoint, not_found
from promenade.web.import_status import ImportStatus, certificate_status_endpoint
from promenade.web.issuer import Issuer
from promenade.web.issuer_store import DatabaseIssuerStore
from promenade.web.keys import CachedKeys, fetch_jwks
from promenade.web.local_admin import SETUP
from promenade.web.login import Login
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
from promenade.web.reporting import ROOT as REPORTING_ROOT
from promenade.web.reporting import ReportingApi
from promenade.web.reporting_openapi import reporting_documents
from promenade.web.routing import routed
from promenade.web.server_config import server_config
from promenade.web.sign_in import ExternalSignIn, HowToSignIn, built_in_sign_in
from promenade.web.store_service import store_service
from promenade.web.sync import Sync
from promenade.web.sync_sales import SyncSales
from promenade.web.sync_shares import SyncShares
from promenade.web.tls_files import TlsFiles, TlsMaterial
from promenade.worker import run_worker
from promenade.workflows.context import Context, Retention
from promenade.workflows.local_admin import KnownStore, establish_store, find_store, forget_password
from promenade.workflows.tenants import TenantDirectory
from promenade.workflows.uplink import Uplink

__all__ = ["Cloud", "LocalStore", "clock", "cloud", "local_store", "new_id", "opened_context", "serve"]

_log = structlog.get_logger("promenade")

# Pricing makes thousands of short-lived objects and no cycles: at the interpreter's default of 700 every basket is
# searched for garbage several times over. A loaded catalogue, millions of objects that stay, is set aside
# (`gc.freeze`), or now and then a search through all of it would hold every till for a tenth of a second.
_GARBAGE_THRESHOLDS = (50_000, 20, 50)


def clock() -> datetime:
    """The one clock of the service."""
    return datetime.now(UTC)


async def open_context(settings: Settings) -> Context:
    """The parts that workflows work with. Whoever opens it closes its database and cache.

    A database that is a store's is opened as that store, whatever opens it. Raises Conflict for another store's.
    """
    database = await open_database(settings.database_url)
    try:
        store = await _store_of(settings, database)
    except BaseException:
        await database.close()
        raise
    own = None if store is None else store.instance_id
    return Context(
        database=database,
        catalogues=Catalogues(database, on_load=gc.freeze),
        cache=open_cache(settings.redis_url),
        clock=clock,
        new_id=new_id,
        source="btp" if store is None else LOCAL_STORE,
        instance_id=settings.instance_id or own or new_id(),
        webhook_allow=frozenset(target.lower() for target in settings.webhook_allow),
        webhook_retry_schedule=settings.webhook_retry_schedule,
        retention=Retention(
            iterations=settings.keep_iterations_days,
            sales=settings.keep_sales_days,
            events=settings.keep_events_days,
            imports=settings.keep_imports_days,
        ),
        uplink=None if store is None else Uplink(),
    )


async def _store_of(settings: Settings, database: Database) -> StoreRow | None:
    """The store whose database this is, made at the first start of one; None: it is the cloud's."""
    if settings.edition == LOCAL_STORE:
        identities = {"instance_id": settings.instance_id or new_id(), "api_key": new_api_key()}
        store, is_new = await establish_store(database, settings.tenant, at=clock(), **identities)
        if is_new:
            _log.info("store.made", tenant=store.tenant_id, instance=store.instance_id)
        return store
    return await find_store(database) if settings.is_sqlite else None


def new_api_key() -> str:
    """64 hexadecimal digits that nobody can guess."""
    return secrets.token_hex(32)


@contextlib.asynccontextmanager
async def opened_context(settings: Settings) -> AsyncIterator[Context]:
    """An open context, closed at the end."""
    context = await open_context(settings)
    try:
        yield context
    finally:
        await context.cache.close()
        await context.database.close()


class _Edition(ABC):
    """An edition as an ASGI application; everything is opened by its lifespan, nothing before."""

    def __init__(self, settings: Settings, *, run_worker: bool | None = None) -> None:
        self._settings = settings
        self._limits = RateLimits(per_tenant=settings.rate_limit_tenant, per_client=settings.rate_limit_client)
        self._run_worker = settings.workers == 1 if run_worker is None else run_worker
        self._app: ASGIApp = Router(lifespan=self._lifespan, default=not_found)  # replaced once things are open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        async with opened_context(self._settings) as context, self._worker(context):
            self._app = Edge(await self._served(context), new_id)
            async with self._beside(context):
                yield

    @abstractmethod
    async def _served(self, context: Context) -> ASGIApp:
        """What requests are led to."""

    def _beside(self, context: Context) -> contextlib.AbstractAsyncContextManager[None]:
        """What else is served."""
        return contextlib.nullcontext()

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


class Cloud(_Edition):
    """The cloud edition."""

    def __init__(
        self, settings: Settings, *, certified: socket.socket | None = None, run_worker: bool | None = None
    ) -> None:
        super().__init__(settings, run_worker=run_worker)
        self._certified = certified
        self._health: list[Endpoint] = []

    def _doorkeepers(self, context: Context) -> tuple[Authenticator, Issuer | None]:
        """Who lets in those that come with tokens, and who gives them tokens, unless that is done elsewhere."""
        settings = self._settings
        issuer: Issuer | None = None
        keys: KeySource
        if settings.jwks_url is not None:
            keys = CachedKeys(fetch_jwks(settings.jwks_url), clock)
        else:
            issuer = Issuer(
                DatabaseIssuerStore(context.database, clock, new_id),
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
        return authenticator, issuer

    def _sign_in(self, issuer: Issuer | None) -> tuple[HowToSignIn, list[Endpoint]]:
        """How people sign in to the back office, and the endpoints of the issuer if that is done here."""
        settings = self._settings
        if issuer is None:
            return ExternalSignIn(settings, clock), []
        login = Login(issuer, issuer_url=settings.issuer_url, base_url=settings.base_url)
        return built_in_sign_in(settings.issuer_url), [*issuer.endpoints(), *login.endpoints()]

    async def _served(self, context: Context) -> ASGIApp:
        settings = self._settings
        authenticator, issuer = self._doorkeepers(context)
        sign_in, token_endpoints = self._sign_in(issuer)
        pos = Pos(context, authenticator)
        monitoring = Monitoring(context, authenticator, settings.metrics_token)
        self._health = [one for one in monitoring.endpoints() if one.route == "/health"]
        documents = [
            *PosMetadata(authenticator).endpoints(),
            *reader_endpoints("/pos", "POS service"),
            document_endpoint(f"{PUBLIC_ROOT}/openapi.json", render_public_openapi),
            *reader_endpoints(PUBLIC_ROOT, "Public API"),
            *reporting_documents(),
        ]
        coupons = PosCoupons(context, authenticator)
        endpoints = [
            *pos.endpoints(),
            *coupons.endpoints(),
            *PosArticles(context, authenticator).endpoints(),
            *BulkImport(context, authenticator).endpoints(),
            ImportStatus(context, authenticator).endpoint(),
            *MasterData(context, Certificates(context.database, clock), base_url=settings.mtls_url).endpoints(),
            *Sync(context, authenticator).endpoints(),
            *SyncSales(context, authenticator).endpoints(),
            *SyncShares(context, authenticator).endpoints(),
            *monitoring.endpoints(),
            *documents,
            *back_office_endpoints(authenticator, CLOUD, sign_in),
            *token_endpoints,
        ]
        services = {
            PUBLIC_ROOT: PublicApi(context, authenticator),
            ADMIN_ROOT: AdminApi(context, authenticator),
            REPORTING_ROOT: ReportingApi(context, authenticator),
        }
        return routed(endpoints, services)

    @contextlib.asynccontextmanager
    async def _beside(self, context: Context) -> AsyncIterator[None]:
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
        async with listening(Edge(routed(endpoints, {}), new_id), listener, material):
            yield


class LocalStore(_Edition):
    """The local-store edition: one store on its own database, its tills and its administrator."""

    async def _served(self, context: Context) -> ASGIApp:
        store = await _store_of(self._settings, context.database)
        if store is None:
            raise LookupError("the edition is another")
        known = KnownStore(context.database, store)
        return store_service(context, self._settings, known, self._limits, new_api_key)


def local_store(settings: Settings) -> ASGIApp:
    """The local-store edition: `/pos` for an API key, what an administrator's session opens, monitoring."""
    return LocalStore(settings)


def cloud(settings: Settings, certified: socket.socket | None = None) -> ASGIApp:
    """The cloud edition: `/pos`, `/api/v1`, `/admin` and `/reporting` for bearer tokens, the built-in issuer unless a
    JWKS address is set, monitoring; master data for certificates on the socket ``certified``, else on one of its own.
    """
    return Cloud(settings, certified=certified)


# ---- serving ------------------------------------------------------------------------------------------------------


def serve(settings: Settings, configure: Callable[[], None]) -> bool:
    """Serve until a signal ends it; whether it came to serve at all. In-flight requests are finished first.

    ``configure`` is what each further process begins with. Raises SettingsError for certificates of no use and for a
    database of the other edition, Conflict for a store's of another tenant, and Unavailable when the address for
    certificates cannot be had.
    """
    asyncio.run(_check_edition(settings))
    certified = _certified_socket(settings)
    if settings.workers > 1:
        return _serve_processes(settings, certified, configure)
    app = local_store(settings) if settings.edition == LOCAL_STORE else cloud(settings, certified)
    server = uvicorn.Server(server_config(settings, app, factory=False))
    # uvicorn raises the signal that stopped it once more when it has ended; being told to end is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.run()
    return server.started


async def _check_edition(settings: Settings) -> None:
    """See that the database is of the edition, and of a store whether its administrator is to have no password."""
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
            _log.warning("store.setup_is_open", address=f"{settings.base_url}{SETUP}")


def _certified_socket(settings: Settings) -> socket.socket | None:
    """Where clients with certificates come to, one socket for all processes; None: nowhere."""
    files = TlsFiles.of(settings)
    if files is None or settings.mtls_port is None:
        return None
    TlsMaterial(files, clock).load()
    return bind(settings.mtls_host or settings.host, settings.mtls_port)


def _process(settings: Settings, certified: socket.socket | None, configure: Callable[[], None]) -> ASGIApp:
    """What one of several processes serves: it shares nothing with the one that started it but what it is given."""
    configure()
    return cloud(settings, certified)


def _serve_processes(settings: Settings, certified: socket.socket | None, configure: Callable[[], None]) -> bool:
    # Set before prometheus_client is imported in a child, which decides then whether metrics are shared.
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

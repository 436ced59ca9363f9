"""The cloud's HTTP services, for bearer tokens.

These are `/pos`, `/api/v1`, `/admin`, `/reporting`, the back office, the built-in issuer unless tokens come from an
external one, and monitoring. A server is ready as soon as it can price: the endpoints for tills are created
immediately, the others on their first request.
"""

# ruff: noqa: PLC0415 -- what is served later is imported later

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from promenade.settings import CLOUD, Settings
from promenade.web.access.auth import Authentication, Authenticator
from promenade.web.access.keys import CachedKeys, fetch_jwks
from promenade.web.coupons.endpoints import PosCoupons
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.routing import Later, Served, routed
from promenade.web.pricing.pos import Pos
from promenade.web.services.monitoring import Monitoring
from promenade.workflows.access.groups import GroupDirectory
from promenade.workflows.access.tenants import TenantDirectory, admits_basic
from promenade.workflows.access.withdrawn import TokenDirectory
from promenade.workflows.context import Context

if TYPE_CHECKING:
    from promenade.web.access.issuer import Issuer
    from promenade.web.access.issuer_store import DatabaseIssuerStore
    from promenade.web.access.sign_in import SignInProvider
    from promenade.web.access.tls.files import TlsMaterial
    from promenade.web.access.tokens import VerificationKey
    from promenade.web.http.endpoint import Endpoint


class CloudService:
    """The cloud's HTTP application, as ``app``.

    ``at_once`` are the endpoints created at the start, ``later`` creates the others, by path prefix. ``health`` is also
    served to clients with certificates; ``material`` returns what their listener uses, None without one.
    """

    def __init__(
        self,
        context: Context,
        settings: Settings,
        limits: RateLimits,
        material: Callable[[], TlsMaterial | None] = lambda: None,
    ) -> None:
        self._context, self._settings = context, settings
        self._limits, self._material = limits, material
        self._issues_tokens = settings.jwks_url is None
        accepts = groups = None
        if settings.jwks_url is not None:
            keys = CachedKeys(fetch_jwks(settings.jwks_url), context.clock)
            groups = GroupDirectory(context.database, context.clock, settings.issuer_url)
        else:
            keys = CachedKeys(self._own_keys, context.clock, own=True)
            accepts = TokenDirectory(context.database, context.clock).accepts
        self._authenticator = Authenticator(
            keys,
            TenantDirectory(context.database, context.clock).exists,
            context.clock,
            issuer=settings.issuer_url,
            audience=settings.audience,
            tenant_claims=settings.tenant_claims,
            scope_claims=settings.scope_claims,
            group_claims=settings.group_claims,
            groups=groups,
            accepts=accepts,
            limits=limits,
        )
        monitoring = Monitoring(context, self._authenticator, settings).endpoints()
        self.health = [one for one in monitoring if one.route.startswith("/health")]
        self.at_once = [
            *Pos(context, self._authenticator).endpoints(),
            *PosCoupons(context, self._authenticator).endpoints(),
            *monitoring,
        ]
        self.later: dict[str, Callable[[], Served]] = {
            "/pos": self._rest_of_pos,
            "/api/v1": self._public,
            "/admin": self._administration,
            "/reporting": self._reporting,
            "/sync": self._sync,
            "/ui": self._back_office,
            "/": self._back_office,
            "/oauth": self._tokens,
            "/.well-known": self._tokens,
            **({"/mcp": self._agents} if settings.mcp else {}),
        }
        self.app: ASGIApp = routed(self.at_once, {root: Later(make) for root, make in self.later.items()})

    def _rest_of_pos(self) -> Served:
        from promenade.web.http.reader_pages import reader_endpoints
        from promenade.web.imports.till_articles import PosArticles
        from promenade.web.services.pos_metadata import PosMetadata

        endpoints = [
            *PosArticles(self._context, self._authenticator).endpoints(),
            *PosMetadata(self._authenticator).endpoints(),
            *reader_endpoints("/pos", "POS service"),
        ]
        return endpoints, {}

    def _public(self) -> Served:
        from promenade.web.access.tls.certificates import Certificates
        from promenade.web.http.reader_pages import document_endpoints, reader_endpoints
        from promenade.web.imports.bulk import BulkImport
        from promenade.web.imports.master_data import MasterData
        from promenade.web.imports.status import ImportStatus
        from promenade.web.odata.public import ROOT, PublicApi
        from promenade.web.services.customers import Customers
        from promenade.web.services.public_openapi import render_public_openapi

        context, authenticator = self._context, self._authenticator
        certificates = Certificates(context.database, context.clock)
        endpoints = [
            *BulkImport(context, authenticator).endpoints(),
            ImportStatus(context, authenticator).endpoint(),
            *Customers(context, authenticator).endpoints(),
            *MasterData(context, certificates, base_url=self._settings.mtls_url).endpoints(),
            *document_endpoints(ROOT, render_public_openapi),
            *reader_endpoints(ROOT, "Public API"),
        ]
        return endpoints, {ROOT: PublicApi(context, self._readers)}

    def _administration(self) -> Served:
        from promenade.web.access.tls.trust_shown import Trust
        from promenade.web.imports.bulk import BulkImport
        from promenade.web.services.admin import ROOT, AdminApi, no_own_tokens

        issues_tokens = self._issues_tokens
        trust = Trust(self._settings.issuer_url, issues_tokens=issues_tokens, material=self._material)
        imports = BulkImport(self._context, self._authenticator).admin_endpoints(
            None if issues_tokens else no_own_tokens
        )
        return imports, {
            ROOT: AdminApi(self._context, self._authenticator, self._limits, trust, issues_tokens=issues_tokens)
        }

    def _reporting(self) -> Served:
        from promenade.web.reports.openapi import reporting_documents
        from promenade.web.reports.service import ROOT, ReportingApi

        context = self._context
        if context.replica is not None:
            from promenade.store.driver.session import Replicated

            context = replace(context, database=Replicated(context.database, context.replica))
        return reporting_documents(), {ROOT: ReportingApi(context, self._readers)}

    def _sync(self) -> Served:
        from promenade.web.sync.endpoints import Sync
        from promenade.web.sync.erasures import SyncErasures
        from promenade.web.sync.sales import SyncSales
        from promenade.web.sync.shares import SyncShares

        parts = (Sync, SyncErasures, SyncSales, SyncShares)
        return [one for part in parts for one in part(self._context, self._authenticator).endpoints()], {}

    def _back_office(self) -> Served:
        from promenade.web.services.back_office import back_office_endpoints

        endpoints = back_office_endpoints(
            self._authenticator, CLOUD, self._sign_in(), self._context.database, issues_tokens=self._issues_tokens
        )
        return endpoints, {}

    def _sign_in(self) -> SignInProvider:
        from promenade.web.access.sign_in import ExternalSignIn, built_in_sign_in

        if self._settings.jwks_url is not None:
            return ExternalSignIn(self._settings, self._context.clock)
        return built_in_sign_in(self._settings.issuer_url)

    def _agents(self) -> Served:
        from promenade.web.agents.over_http import ROOT, AgentsOverHttp

        context = self._context
        return [], {
            ROOT: AgentsOverHttp(self._authenticator, self.app, context.new_id, base_url=self._settings.base_url)
        }

    def _tokens(self) -> Served:
        endpoints: list[Endpoint] = []
        if self._settings.mcp:
            from promenade.web.agents.over_http import resource_metadata

            endpoints += resource_metadata(self._settings.base_url, self._settings.issuer_url)
        if self._settings.jwks_url is not None:
            return endpoints, {}
        from promenade.web.access.own_password import OwnPassword
        from promenade.web.access.own_sessions import OwnSessions
        from promenade.web.services.invitation import Invitations
        from promenade.web.services.login import Login

        store, base_url = self._issuer_store, self._settings.base_url
        login = Login(self._issuer, store, issuer_url=self._settings.issuer_url, base_url=base_url)
        invitations = Invitations(store.people, self._context.cache, base_url=base_url)
        own = [one(self._authenticator, self._issuer, store.people) for one in (OwnPassword, OwnSessions)]
        for one in (self._issuer, login, *own, invitations):
            endpoints += one.endpoints()
        return endpoints, {}

    @cached_property
    def _readers(self) -> Authentication:
        """The authentication of services that tools read from: of the own issuer's clients, also by their secrets."""
        if not self._issues_tokens:
            return self._authenticator
        from promenade.web.access.basic import BasicReaders

        issuer, context = self._issuer, self._context
        admits = partial(admits_basic, context.database)
        return BasicReaders(self._authenticator, issuer.authenticate, admits, context.clock, self._limits)

    @cached_property
    def _issuer_store(self) -> DatabaseIssuerStore:
        from promenade.web.access.issuer_store import DatabaseIssuerStore

        context = self._context
        return DatabaseIssuerStore(context.database, context.clock, context.new_id, self._settings.key_passphrase)

    @cached_property
    def _issuer(self) -> Issuer:
        from promenade.web.access.issuer import Issuer

        context, settings = self._context, self._settings
        return Issuer(
            self._issuer_store,
            context.cache,
            context.clock,
            context.new_id,
            issuer=settings.issuer_url,
            base_url=settings.base_url,
            audience=settings.audience,
        )

    async def _own_keys(self) -> Sequence[VerificationKey]:
        return await self._issuer.verification_keys()

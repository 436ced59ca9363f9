"""The services of a store: `/pos` for tills; `/admin`, `/reporting`, `/local-admin` for the administrator; monitoring.

As in the cloud, the services for tills are built at the start, each of the others on its first request.
"""

# ruff: noqa: PLC0415 -- what is served later is imported later

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from promenade.settings import LOCAL_STORE, Settings
from promenade.web.access.api_key import StoreAuthenticator, behind_key
from promenade.web.access.sessions import Sessions
from promenade.web.coupons.endpoints import PosCoupons
from promenade.web.http.endpoint import Endpoint
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.routing import Later, Served, routed
from promenade.web.pricing.pos import Pos
from promenade.web.services.monitoring import Monitoring
from promenade.workflows.access.local_admin import KnownStore, StorePassword
from promenade.workflows.context import Context


def store_service(
    context: Context, settings: Settings, known: KnownStore, limits: RateLimits, new_key: Callable[[], str]
) -> ASGIApp:
    """Return the store as an ASGI application for HTTP; ``new_key`` returns 64 random hexadecimal digits.

    There is no public API, no token endpoint and no sync: only the cloud has those. There is no documentation page for
    `/pos` either, because a browser has no key to send.
    """
    sessions = Sessions(context.clock, is_secure=settings.base_url.startswith("https:"))
    authenticator = StoreAuthenticator(known, sessions, context.clock, limits)

    def rest_of_pos() -> Served:
        from promenade.web.imports.till_articles import PosArticles
        from promenade.web.services.pos_metadata import PosMetadata

        return [*PosArticles(context, authenticator).endpoints(), *PosMetadata(authenticator).endpoints()], {}

    def local_administration() -> Served:
        return _local_administration(context, settings, known, sessions, authenticator, new_key), {}

    def administration() -> Served:
        from promenade.web.access.tls.trust_shown import Trust
        from promenade.web.services.admin import ROOT, AdminApi

        trust = Trust(None)
        return [], {ROOT: AdminApi(context, authenticator, limits, trust, issues_tokens=False, is_store=True)}

    def reporting() -> Served:
        from promenade.web.reports.openapi import reporting_documents
        from promenade.web.reports.service import ROOT, ReportingApi

        return reporting_documents(), {ROOT: ReportingApi(context, authenticator)}

    def back_office() -> Served:
        from promenade.web.access.sign_in import store_sign_in
        from promenade.web.services.back_office import back_office_endpoints

        sign_in = store_sign_in(known, authenticator)
        return back_office_endpoints(authenticator, LOCAL_STORE, sign_in, context.database), {}

    at_once = [
        *Pos(context, authenticator).endpoints(),
        *PosCoupons(context, authenticator).endpoints(),
        *Monitoring(context, authenticator, settings).endpoints(),
    ]
    later: dict[str, Callable[[], Served]] = {
        "/pos": rest_of_pos,
        "/admin": administration,
        "/reporting": reporting,
        "/local-admin": local_administration,
        "/ui": back_office,
        "/": back_office,
    }
    return behind_key(routed(at_once, {root: Later(make) for root, make in later.items()}), authenticator)


def _local_administration(
    context: Context,
    settings: Settings,
    known: KnownStore,
    sessions: Sessions,
    authenticator: StoreAuthenticator,
    new_key: Callable[[], str],
) -> list[Endpoint]:
    from promenade.web.access.local_admin import ADMINISTRATOR, LocalAdmin
    from promenade.web.access.local_requests import LocalRequests
    from promenade.web.access.store_state import StoreStateAdmin
    from promenade.web.access.till_keys import TillKeyAdmin
    from promenade.workflows.access.till_keys import Author

    requests = LocalRequests(settings.base_url)
    password = StorePassword(known, context.database, context.clock)
    by = Author(ADMINISTRATOR, context.new_id)
    how: dict[str, Any] = {"new_key": new_key, "by": by, "clock": context.clock}
    local = LocalAdmin(known, password, sessions, authenticator, requests, **how)
    keys = TillKeyAdmin(context.database, known, authenticator, requests, **how)
    state = StoreStateAdmin(context, authenticator, requests)
    return [*local.endpoints(), *keys.endpoints(), *state.endpoints()]

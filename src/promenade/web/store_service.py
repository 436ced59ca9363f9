"""What a store serves: `/pos` to tills, `/admin`, `/reporting` and `/local-admin` to its administrator, monitoring."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp

from promenade.settings import LOCAL_STORE, Settings
from promenade.web.admin import ROOT as ADMIN_ROOT
from promenade.web.admin import AdminApi
from promenade.web.api_key import StoreAuthenticator, behind_key
from promenade.web.back_office import back_office_endpoints
from promenade.web.local_admin import LocalAdmin
from promenade.web.monitoring import Monitoring
from promenade.web.pos import Pos
from promenade.web.pos_articles import PosArticles
from promenade.web.pos_coupons import PosCoupons
from promenade.web.pos_metadata import PosMetadata
from promenade.web.rate_limits import RateLimits
from promenade.web.reporting import ROOT as REPORTING_ROOT
from promenade.web.reporting import ReportingApi
from promenade.web.reporting_openapi import reporting_documents
from promenade.web.routing import routed
from promenade.web.sessions import Sessions
from promenade.web.sign_in import store_sign_in
from promenade.workflows.context import Context
from promenade.workflows.local_admin import KnownStore, StorePassword

__all__ = ["store_service"]


def store_service(
    context: Context, settings: Settings, known: KnownStore, limits: RateLimits, new_key: Callable[[], str]
) -> ASGIApp:
    """The store as an ASGI application for HTTP; ``new_key`` makes 64 hexadecimal digits that nobody can guess.

    There is no public API, no token endpoint and no sync: those are the cloud's. Nor is there a page that shows the
    interface of `/pos`, for a browser has no key to show.
    """
    sessions = Sessions(context.clock)
    authenticator = StoreAuthenticator(known, sessions, context.clock, limits)
    password = StorePassword(known, context.database, context.clock)
    administration = LocalAdmin(known, password, sessions, authenticator, base_url=settings.base_url, new_key=new_key)

    endpoints = [
        *Pos(context, authenticator).endpoints(),
        *PosCoupons(context, authenticator).endpoints(),
        *PosArticles(context, authenticator).endpoints(),
        *PosMetadata(authenticator).endpoints(),
        *Monitoring(context, authenticator, settings.metrics_token).endpoints(),
        *administration.endpoints(),
        *reporting_documents(),
        *back_office_endpoints(authenticator, LOCAL_STORE, store_sign_in(known, authenticator)),
    ]
    services = {
        ADMIN_ROOT: AdminApi(context, authenticator),
        REPORTING_ROOT: ReportingApi(context, authenticator),
    }
    return behind_key(routed(endpoints, services), authenticator)

"""Authentication by client certificate: its common name, while it is trusted, identifies a tenant.

See "Master-data ingest" under Authentication in the specification, and reliability S5.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from starlette.types import Scope

from promenade import metrics
from promenade.errors import Forbidden, Unauthorized
from promenade.store.access.trust import find_trusting_tenant
from promenade.store.driver.unit import Database, Session
from promenade.web.access.auth import Caller
from promenade.web.access.tls.authorities import Authorities, Refused
from promenade.web.access.tls.expiry import ExpiryNotice
from promenade.web.access.tls.peer import PEER, PEER_ISSUERS
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.refusals import note_caller


def _none() -> None:
    return None


class Certificates:
    """Identifies callers by their certificates; ``authorities`` returns the current ones, or None without any."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        authorities: Callable[[], Authorities | None] = _none,
        limits: RateLimits | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._authorities = authorities
        self._limits = limits
        self._expiry = ExpiryNotice()

    async def caller(self, scope: Scope) -> Caller:
        """Return the caller of a request: its tenant, and the common name as user and client.

        Raises Unauthorized (UNAUTHORIZED) without a currently valid certificate, Forbidden (NOT_TRUSTED) for a name of
        no tenant, TooMany (RATE_LIMITED), and Unavailable if the database does not answer.
        """
        shown = scope.get(PEER)
        authorities = self._authorities()
        if shown is None or authorities is None:
            metrics.drfout_certificate_refused.labels("missing").inc()
            raise Unauthorized("UNAUTHORIZED", "A client certificate is needed.")
        at = self._clock()
        try:
            verified = authorities.verify(shown, scope.get(PEER_ISSUERS, ()), at)
        except Refused as refused:
            metrics.drfout_certificate_refused.labels(refused.reason).inc()
            raise Unauthorized("UNAUTHORIZED", refused.message) from None
        tenant_id = await self._tenant_of(verified.common_name, at)
        if tenant_id is None:
            metrics.drfout_certificate_refused.labels("unmapped").inc()
            raise Forbidden("NOT_TRUSTED", "The certificate's name is not trusted here.")
        name = verified.common_name
        note_caller(tenant_id, name, name)
        if self._limits is not None:
            await self._limits.take(tenant_id, name)
        self._expiry.show("client", name, verified.until)
        self._expiry.tell("client", name, verified.until, at)
        return Caller(tenant_id, name, name, frozenset(), verified.until.timestamp())

    async def _tenant_of(self, common_name: str, at: datetime) -> str | None:
        async def work(session: Session) -> str | None:
            return await find_trusting_tenant(session, common_name, at)

        return await self._database.read(work, system=True)

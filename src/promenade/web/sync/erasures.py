"""`GET /sync/erasures`: stores hear which customers were erased, without a customer's ID."""

from __future__ import annotations

import base64

import msgspec
from starlette.types import Receive, Scope

from promenade.web.access.auth import Authenticator
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.pricing.responses import Response
from promenade.web.sync.bodies import SYNC, read_place
from promenade.web.sync.messages import SyncOperation
from promenade.workflows.context import Context
from promenade.workflows.sync.erasures import erasures_after


class Erasures(Response, frozen=True):
    """A page of erased customers, in the order in which their erasures were asked for."""

    key: str | None  #: The tenant's key of the digests, in Base64; null if there are none on the page.
    full: bool  #: The store must start over: digests that are on no page from this one on were forgotten.
    digests: list[str]  #: HMAC-SHA-256 of the customers' IDs in UTF-8, in hexadecimal digits; at most 1000.
    cursor: str  #: To be sent unchanged with the next request; at most 200 characters.
    has_more: bool  #: There are more pages.
    total: int  #: Number of all erasures. A store that knows another number has to start over, without a cursor.


OPERATIONS = (
    SyncOperation(
        "GET",
        "/sync/erasures",
        None,
        Erasures,
        "Customers who were erased, or whose erasure has begun anew, since `cursor`; without one, all of them."
        " Query: `deploymentId`, `cursor`.",
    ),
)


class SyncErasures:
    """The handler."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator

    def endpoints(self) -> list[Endpoint]:
        """Return the route."""
        return [Endpoint("/sync/erasures", {"GET": self._erasures})]

    async def _erasures(self, scope: Scope, receive: Receive) -> Answer:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(SYNC)
        deployment_id, cursor = read_place(scope)
        page = await erasures_after(self._context, caller.tenant_id, deployment_id, cursor)
        key = None if page.key is None else base64.b64encode(page.key).decode()
        answer = Erasures(key, page.full, list(page.digests), page.cursor, page.has_more, page.total)
        return Answer(msgspec.json.encode(answer))

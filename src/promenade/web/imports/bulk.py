"""Bulk import: many rows of one collection in a request, accepted immediately and stored by the worker.

``POST /api/v1/<Entity>:bulk-import``, the OData action ``PublicAPI.bulkImport`` of the collection, and the action
without its namespace (specification, Public API actions and Bulk import request). Clients are imported in the same way
by administrators, ``POST /admin/Clients:bulk-import``. A body of up to 64 MiB is spooled to
a file and split into rows in steps of a millisecond, so that tills served by the same process hardly notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

import msgspec

from odata_server.errors import not_found
from odata_server.http import Response
from odata_server.negotiation import require_json_body
from promenade import model
from promenade.errors import Forbidden, Invalid, TooMany
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.operations import BULK_IMPORT, IMPORT_ACCEPTED
from promenade.store.imports.parts import pack
from promenade.web.access.auth import SESSION_SCOPE, Authenticator
from promenade.web.http.idempotency import key_of_headers
from promenade.web.http.row_cutter import RowCutter
from promenade.web.http.spool import MEMORY_BYTES_MAX, SpooledBody
from promenade.web.imports.bulk_header import BulkHeader, decode_header
from promenade.web.odata.public import WRITE
from promenade.web.odata.public_endpoint import (
    ADMIN_ROOT,
    ADMIN_VERSION,
    PUBLIC_ROOT,
    AdminEndpoint,
    Call,
    PublicEndpoint,
)
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import (
    RETRY_AFTER_SECONDS,
    Accepted,
    ImportOrder,
    accept_import,
    check_room,
    find_accepted,
)
from promenade.workflows.imports.ownership import tenant_of_import

ALIAS = "bulk-import"
CLIENTS = "Clients"
ROWS_MAX = 10_000  # per request (specification, Limits)
JOBS_MAX = 4  # unfinished jobs of one tenant, including those being received
LARGE_BODIES_MAX = 16  # being received by this process, for all tenants: each may take 64 MiB of disk
SOURCE = KEY_SCOPE = "BULK_IMPORT"
_ENDED = object()


class BulkImport:
    """The endpoints of bulk import."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator
        self._turns = _Turns()
        self._large = _LargeBodies()
        # Splitting and packing are CPU-bound: one large body at a time, the others wait in their files.
        self._working = asyncio.Semaphore(1)

    def endpoints(self) -> list[PublicEndpoint]:
        """Return an endpoint for each form of the address."""
        routes = (f"{{entity}}:{ALIAS}", f"{{entity}}/PublicAPI.{BULK_IMPORT}", f"{{entity}}/{BULK_IMPORT}")
        handlers = {"POST": self._import}
        return [
            PublicEndpoint(f"{PUBLIC_ROOT}/{route}", handlers, self._authenticator.authenticate) for route in routes
        ]

    def admin_endpoints(self, refusal: Callable[[], Exception] | None = None) -> list[AdminEndpoint]:
        """Return the endpoints for rows that administrators alone import: each in the form with the colon.

        ``refusal`` of all of them, if the service has no clients.
        """

        async def take(call: Call) -> Response:
            call.caller.require_scope(SESSION_SCOPE)
            if refusal is not None:
                raise refusal()
            accepted = await self._accepted(call, CLIENTS, names_tenants=False)
            body = {"jobId": accepted.job_id, "statusUrl": f"{ADMIN_ROOT}/ImportJobs({accepted.job_id})"}
            headers = {"Content-Type": "application/json", "OData-Version": ADMIN_VERSION}
            return Response(200 if accepted.is_replay else 202, headers, msgspec.json.encode(body))

        route = f"{ADMIN_ROOT}/{CLIENTS}:{ALIAS}"
        return [AdminEndpoint(route, {"POST": take}, self._authenticator.authenticate)]

    async def _import(self, call: Call) -> Response:
        call.caller.require_scope(WRITE)
        entity = _importable(call.named["entity"])
        return _answer(call, await self._accepted(call, entity, names_tenants=SESSION_SCOPE in call.caller.scopes))

    async def _accepted(self, call: Call, entity: str, *, names_tenants: bool) -> Accepted:
        """Accept a request. ``names_tenants``: its caller may import for another tenant, if an operator's."""
        if call.caller.agent is not None:  # its rows are written later, by nobody's agent
            raise Forbidden("AGENTS_DO_NOT_IMPORT", "An agent imports nothing: write rows one by one, or ask a person.")
        require_json_body(call.request)
        key = key_of_headers(call.scope)
        async with self._turns.taken(call.caller.tenant_id, key):
            if key is not None and not names_tenants:  # who may name another tenant may mean that tenant's key
                seen = await find_accepted(self._context, call.caller.tenant_id, KEY_SCOPE, key)
                if seen is not None:
                    return seen
            with ExitStack() as given_back:
                async with SpooledBody() as body:
                    await body.read(call.scope, call.receive, lambda: self._make_room(call, given_back))
                    is_large = len(body.text) > MEMORY_BYTES_MAX
                    async with self._working if is_large else nullcontext():
                        return await self._accept(call, entity, body, key, names_tenants)

    async def _make_room(self, call: Call, given_back: ExitStack) -> None:
        """Reserve a slot for a large body, released at the end. Raises TooMany (TOO_MANY_JOBS)."""
        tenant_id = call.caller.tenant_id
        others = given_back.enter_context(self._large.taken(tenant_id))
        await check_room(self._context, tenant_id, SOURCE, JOBS_MAX, under_way=others)

    async def _accept(
        self, call: Call, entity: str, body: SpooledBody, key: str | None, names_tenants: bool
    ) -> Accepted:
        rows = RowCutter(body.text, "rows", ("header",), rows_max=ROWS_MAX, forget=body.forget)
        steps = rows.cut()
        if len(body.text) > MEMORY_BYTES_MAX:
            while await asyncio.to_thread(next, steps, _ENDED) is not _ENDED:
                pass
        else:
            for _ in steps:
                await asyncio.sleep(0)
        header: BulkHeader = decode_header(rows.members.get("header"), key, self._context.webhook_allow)
        caller = call.caller
        tenant_id = await tenant_of_import(
            self._context, caller.tenant_id, header.tenant_id, is_administrator=names_tenants
        )
        order = ImportOrder(
            entity=entity,
            source=SOURCE,
            user=caller.user,
            continue_on_error=header.continue_on_error,
            key=header.key,
            key_scope=KEY_SCOPE,
            callback_url=header.callback_url,
            unfinished_max=JOBS_MAX,
        )
        return await accept_import(self._context, tenant_id, order, pack(rows))


def _importable(name: str) -> str:
    """Return the name. Raises ODataError 404 if it is no collection, and Invalid (NOT_IMPORTABLE)."""
    if name not in edm_for(Service.PUBLIC).entity_sets:
        raise not_found(f"There is no collection {name[:80]}.")
    if name in model.code_lists() or not model.entity(name).importable:
        known = ", ".join(sorted(one.set_name for one in model.entities() if one.importable))
        message = f"{name} cannot be imported; these can: {known}. Import the rows that belong to them inside of them."
        raise Invalid("NOT_IMPORTABLE", message)
    return name


def status_url(job_id: str) -> str:
    """Return the URL of a job's status."""
    return f"{PUBLIC_ROOT}/jobs/{job_id}"


def _answer(call: Call, accepted: Accepted) -> Response:
    body = {"jobId": accepted.job_id, "statusUrl": status_url(accepted.job_id)}
    return call.answer(body, status=200 if accepted.is_replay else 202, context=f"PublicAPI.{IMPORT_ACCEPTED}")


@dataclass(slots=True)
class _Turns:
    """Serializes requests with the same key, so that a repetition need not upload again what was already received."""

    _locks: dict[tuple[str, str], asyncio.Lock] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], int] = field(default_factory=dict)

    @asynccontextmanager
    async def taken(self, tenant_id: str, key: str | None) -> AsyncIterator[None]:
        if key is None:
            yield
            return
        turn = tenant_id, key
        lock = self._locks.setdefault(turn, asyncio.Lock())
        self._waiting[turn] = self._waiting.get(turn, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[turn] -= 1
            if not self._waiting[turn]:
                del self._waiting[turn], self._locks[turn]


@dataclass(slots=True)
class _LargeBodies:
    """The number of large bodies being received, by tenant."""

    _by_tenant: dict[str, int] = field(default_factory=dict)

    def taken(self, tenant_id: str) -> _Place:
        return _Place(self._by_tenant, tenant_id)


@dataclass(slots=True)
class _Place:
    """A slot for one large body; entering returns how many others the tenant has."""

    by_tenant: dict[str, int]
    tenant_id: str

    def __enter__(self) -> int:
        if sum(self.by_tenant.values()) >= LARGE_BODIES_MAX:
            message = "Too many large imports are being received at the moment; try again."
            raise TooMany("TOO_MANY_JOBS", message, RETRY_AFTER_SECONDS)
        others = self.by_tenant.get(self.tenant_id, 0)
        self.by_tenant[self.tenant_id] = others + 1
        return others

    def __exit__(self, *_: object) -> None:
        self.by_tenant[self.tenant_id] -= 1
        if not self.by_tenant[self.tenant_id]:
            del self.by_tenant[self.tenant_id]

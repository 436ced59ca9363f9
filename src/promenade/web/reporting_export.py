"""``POST /reporting/exportCsv``: a report of a period as CSV within JSON, sent while it is being read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.types import Message, Receive, Scope, Send

from odata_server.errors import bad_request
from odata_server.http import Request
from odata_server.negotiation import Dialect, json_dialect, require_json_body, version_of
from odata_server.parse import parse_options
from odata_server.payload import check_structure, decode_json, decode_parameters
from odata_server.transport import read_body
from promenade.errors import TooMany
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.reporting_operations import EXPORT_FILE, export_csv_action
from promenade.web.admin_roles import ROLES
from promenade.web.auth import Caller
from promenade.web.body import Disconnected
from promenade.web.odata_api import ApiHooks, is_odata_client
from promenade.web.reporting_csv import csv_pieces
from promenade.workflows.context import Context
from promenade.workflows.reporting import Export
from promenade.workflows.reporting.exporting import ExportOrder, begin_export
from promenade.workflows.reporting.exports import Row

__all__ = ["EXPORTS_MAX", "CsvExports"]

EXPORTS_MAX = 4
"""Exports of one tenant that one process sends at a time."""

RETRY_AFTER_SECONDS = 5
# Who takes longer to read a piece is gone, or keeps others of its tenant from theirs.
_SECONDS_MAX = 60.0
_OPTIONS = frozenset({"format"})
_CONTENT_TYPE = "text/csv"

Begin = Callable[[Context, str, ExportOrder], Awaitable[tuple[Export, AsyncIterator[Row]]]]


class CsvExports:
    """What answers the action; ``root`` is the address of the service, ``begin`` finds out what an order exports."""

    def __init__(self, context: Context, hooks: ApiHooks, *, root: str, begin: Begin = begin_export) -> None:
        self._context = context
        self._begin = begin
        self._hooks = hooks
        self._root = root
        self._places = _Places()

    async def answer(self, scope: Scope, receive: Receive, send: Send, request: Request) -> None:
        """Answer a POST. Raises ODataError and PromenadeError while nothing has been sent, and `Disconnected`."""
        caller: Caller = await self._hooks.authenticate(scope)
        caller.require_scope(*ROLES)
        body = await read_body(self._hooks, request.headers, receive)
        dialect = _dialect(request, self._hooks.default_version)
        order = _order(request, body)
        with self._places.taken(caller.tenant_id):
            wanted, rows = await self._begin(self._context, caller.tenant_id, order)
            opening = self._context_member(request, dialect) | {
                "filename": wanted.filename,
                "contentType": _CONTENT_TYPE,
            }
            pieces = _json_pieces(opening, csv_pieces(wanted.columns, rows))
            async with aclosing(pieces):
                await _send_pieces(pieces, _headers(dialect), receive, send)

    def _context_member(self, request: Request, dialect: Dialect) -> dict[str, str]:
        """What the answer is, for those who speak OData; others get what the specification names and nothing else."""
        if dialect.metadata == "none" or not is_odata_client(request):
            return {}
        return {f"{dialect.prefix}context": f"{request.origin}{self._root}/$metadata#ReportingService.{EXPORT_FILE}"}


# ---- what is asked for --------------------------------------------------------------------------------------------


def _dialect(request: Request, default_version: str) -> Dialect:
    options = parse_options(request.query)
    for name in sorted(options.present - _OPTIONS):
        raise bad_request("OPTION_NOT_APPLICABLE", f"${name} is not possible here.", f"${name}")
    return json_dialect(request, version_of(request, default_version), options.format)


def _order(request: Request, body: bytes) -> ExportOrder:
    require_json_body(request)
    check_structure(body)
    given = decode_json(body) if body.strip() else {}
    if not isinstance(given, dict):
        raise bad_request("MALFORMED_BODY", "The body must be a JSON object.")
    found = decode_parameters(edm_for(Service.REPORTING), export_csv_action(), given, _no_reference)
    return ExportOrder(
        report_type=found["reportType"],
        date_from=found["dateFrom"],
        date_to=found["dateTo"],
        promotion_id=found.get("promotionId"),
        stakeholder_id=found.get("stakeholderId"),
    )


def _no_reference(text: str, navigation: object) -> Mapping[str, Any]:
    raise bad_request("MALFORMED_BODY", "A reference is not possible here.")


# ---- the answer ---------------------------------------------------------------------------------------------------


async def _json_pieces(opening: Mapping[str, str], pieces: AsyncIterator[str]) -> AsyncGenerator[bytes, None]:
    """An object with the members of ``opening`` and then ``data``, the texts of ``pieces`` as one."""
    head = msgspec.json.encode(opening)[:-1] + b',"data":"'
    async for piece in pieces:
        yield head + msgspec.json.encode(piece)[1:-1]
        head = b""
    yield head + b'"}'


def _headers(dialect: Dialect) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", dialect.media_type.encode("ascii")),
        (b"odata-version", dialect.version.encode("ascii")),
        (b"cache-control", b"no-store"),
    ]


async def _send_pieces(
    pieces: AsyncIterator[bytes], headers: list[tuple[bytes, bytes]], receive: Receive, send: Send
) -> None:
    """Send each piece once the one before it is on its way, and read no further when nobody listens any more.

    The first is read before anything is sent, so that what cannot be read at all is told as an error.
    """
    first = await anext(pieces)
    gone = asyncio.ensure_future(receive())
    try:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send_one(send, first, gone)
        async for piece in pieces:
            await _send_one(send, piece, gone)
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()


async def _send_one(send: Send, piece: bytes, gone: asyncio.Future[Message]) -> None:
    if gone.done():
        raise Disconnected
    try:
        async with asyncio.timeout(_SECONDS_MAX):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)  # tills of this process come between two pieces
    except TimeoutError:
        raise Disconnected from None


@dataclass(slots=True)
class _Places:
    """How many exports are being sent, by tenant."""

    _by_tenant: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def taken(self, tenant_id: str) -> Iterator[None]:
        """Raises TooMany (TOO_MANY_EXPORTS)."""
        others = self._by_tenant.get(tenant_id, 0)
        if others >= EXPORTS_MAX:
            message = f"{EXPORTS_MAX} exports of the tenant are under way: wait for one to end."
            raise TooMany("TOO_MANY_EXPORTS", message, RETRY_AFTER_SECONDS)
        self._by_tenant[tenant_id] = others + 1
        try:
            yield
        finally:
            self._by_tenant[tenant_id] -= 1
            if not self._by_tenant[tenant_id]:
                del self._by_tenant[tenant_id]

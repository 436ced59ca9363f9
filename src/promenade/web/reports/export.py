"""``POST /reporting/exportCsv``: the report of a period as CSV within JSON, streamed while it is read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

from odata_server.errors import bad_request
from odata_server.http import Request
from odata_server.negotiation import Dialect, json_dialect, require_json_body, version_of
from odata_server.parse import parse_options
from odata_server.payload import check_structure, decode_json, decode_parameters
from odata_server.transport import read_body
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.reports.operations import EXPORT_FILE, export_csv_action
from promenade.web.access.auth import Caller
from promenade.web.access.roles import REPORTS
from promenade.web.http.csv import csv_pieces
from promenade.web.http.downloads import Places, send_pieces
from promenade.web.odata.api import ApiHooks, is_odata_client
from promenade.workflows.context import Context
from promenade.workflows.reports import Export
from promenade.workflows.reports.exports import ExportOrder, Row, begin_export

_OPTIONS = frozenset({"format"})
_CONTENT_TYPE = "text/csv"

Begin = Callable[[Context, str, ExportOrder], Awaitable[tuple[Export, AsyncIterator[Row]]]]


class CsvExports:
    """Answers the action; ``root`` is the service's path, ``begin`` resolves an order to its export."""

    def __init__(self, context: Context, hooks: ApiHooks, *, root: str, begin: Begin = begin_export) -> None:
        self._context = context
        self._begin = begin
        self._hooks = hooks
        self._root = root
        self._places = Places()

    async def answer(self, scope: Scope, receive: Receive, send: Send, request: Request) -> None:
        """Answer a POST. Raises `Disconnected`, and before the first byte is sent ODataError and PromenadeError."""
        caller: Caller = await self._hooks.authenticate(scope)
        caller.require_scope(*REPORTS)
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
                await send_pieces(pieces, _headers(dialect), receive, send)

    def _context_member(self, request: Request, dialect: Dialect) -> dict[str, str]:
        """Return the context URL for OData clients; other clients get only the members that the specification names."""
        if dialect.metadata == "none" or not is_odata_client(request):
            return {}
        return {f"{dialect.prefix}context": f"{request.origin}{self._root}/$metadata#ReportingService.{EXPORT_FILE}"}


# ---- what is asked for --------------------------------------------------------------------------------------------


def _dialect(request: Request, default_version: str) -> Dialect:
    options = parse_options(request.query)
    for name in sorted(options.present - _OPTIONS):
        raise bad_request("OPTION_NOT_APPLICABLE", f"${name} is not allowed here.", f"${name}")
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
    raise bad_request("MALFORMED_BODY", "A reference is not allowed here.")


# ---- the answer ---------------------------------------------------------------------------------------------------


async def _json_pieces(opening: Mapping[str, str], pieces: AsyncIterator[str]) -> AsyncGenerator[bytes, None]:
    """Yield an object with the members of ``opening`` followed by ``data``, the ``pieces`` joined to one text."""
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

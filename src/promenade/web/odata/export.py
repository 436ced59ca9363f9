"""Lists as files for spreadsheets, with their filters, page by page.

The rows are read by the service itself, request by request as a client would: what a caller may not read is not in the
file, and memory holds one page, and of the file a few rows.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from odata_server.edm import Edm
from odata_server.http import Request, Response
from odata_server.negotiation import require_json_body
from odata_server.source import Source
from odata_server.transport import read_body, request_of, send_response
from promenade.errors import Conflict
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Session
from promenade.web.access.auth import Caller
from promenade.web.http.downloads import Places, send_pieces
from promenade.web.odata.api import ApiHooks, ODataApi
from promenade.web.odata.export_files import file_headers, portions
from promenade.web.odata.export_orders import reading_of_order
from promenade.web.odata.export_reading import Reading
from promenade.web.odata.sheets import may_want_file, reading_of_get, wants_file
from promenade.workflows.context import Context

EXPORT_LIST = "exportList"

_BATCHES = "CouponCodeBatches"
_KEPT = (b"authorization", b"cookie", b"host", b"odata-version", b"odata-maxversion")
_PAGES = msgspec.json.Decoder(float_hook=Decimal)


class ExportingApi(ODataApi):
    """A service that gives away its lists as files; ``takes_orders``: by ``exportList``, too."""

    def __init__(
        self,
        context: Context,
        edm: Edm,
        source: Source,
        hooks: ApiHooks,
        *,
        root: str,
        takes_orders: bool = True,
    ) -> None:
        super().__init__(edm, source, hooks, root=root)
        self._orders_at = f"{root}/{EXPORT_LIST}" if takes_orders else None
        self._lists = ListExports(context, hooks, edm, super().serve, root=root)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send files while their rows are read; answer everything else as OData."""
        is_order = scope["method"] == "POST" and scope["path"].rstrip("/") == self._orders_at
        request = request_of(scope, self._root) if is_order or may_want_file(scope) else None
        if request is None or not (is_order or wants_file(request)):
            await super().serve(scope, receive, send)
            return
        answer = self._lists.answer_order if is_order else self._lists.answer_get
        await self.send_file(send, request, answer(_Asking(scope, receive, send, request)))


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request for a file, and the way back."""

    scope: Scope
    receive: Receive
    send: Send
    request: Request


class ListExports:
    """Sends lists; ``service`` is the OData service at ``root`` that the rows are read from.

    Its answers raise `Disconnected`, and before the first byte is sent ODataError and PromenadeError.
    """

    def __init__(self, context: Context, hooks: ApiHooks, edm: Edm, service: ASGIApp, *, root: str) -> None:
        self._context = context
        self._hooks = hooks
        self._edm = edm
        self._service = service
        self._root = root
        self._places = Places()

    async def answer_order(self, asking: _Asking) -> None:
        """Answer a POST, whose body says what is in the file."""
        caller: Caller = await self._hooks.authenticate(asking.scope)
        require_json_body(asking.request)
        body = await read_body(self._hooks, asking.request.headers, asking.receive)
        await self._answer(asking, caller, reading_of_order(self._edm, body))

    async def answer_get(self, asking: _Asking) -> None:
        """Answer a GET of a list; what is no list is left to the service."""
        caller: Caller = await self._hooks.authenticate(asking.scope)
        reading = reading_of_get(self._edm, asking.request)
        if reading is None:
            await self._service(asking.scope, asking.receive, asking.send)
            return
        await read_body(self._hooks, asking.request.headers, asking.receive)  # what comes next is the client's leaving
        await self._answer(asking, caller, reading)

    async def _answer(self, asking: _Asking, caller: Caller, reading: Reading) -> None:
        scope, request = asking.scope, asking.request
        batch = await self._batch(scope, reading)
        first = await self._read(scope, reading.path, reading.query)
        if first.status != 200:
            await send_response(asking.send, request, first)
            return
        headers = file_headers(reading.name, reading.form, self._context.clock())
        headers.append((b"odata-version", first.headers["Odata-Version"].encode("ascii")))
        if request.method == "HEAD":
            await asking.send({"type": "http.response.start", "status": 200, "headers": headers})
            await asking.send({"type": "http.response.body", "body": b""})
            return
        page = _PAGES.decode(first.body)
        # Only who has further pages read for a while takes one of the places.
        with self._places.taken(caller.tenant_id) if _next_in(page) else nullcontext():
            await self._record(caller, reading, batch)
            pieces = self._pieces(scope, reading, page)
            async with aclosing(pieces):
                await send_pieces(pieces, headers, asking.receive, asking.send)

    async def _pieces(self, scope: Scope, reading: Reading, page: Any) -> AsyncGenerator[bytes, None]:
        file = reading.new_file()
        yield file.begin()
        while True:
            for portion in portions(file, map(reading.values, page["value"])):
                yield portion
            more = _next_in(page)
            if more is None:
                break
            answer = await self._read(scope, reading.path, more.partition("?")[2])
            if answer.status != 200:
                raise RuntimeError(f"a page of an export was answered with {answer.status}")
            page = _PAGES.decode(answer.body)
        yield file.end()

    async def _read(self, scope: Scope, path: str, query: str) -> Response:
        """Return a page as the service answers it to this caller."""
        got: list[Message] = []

        async def keep(message: Message) -> None:
            got.append(message)

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        kept = [one for one in scope["headers"] if one[0].lower() in _KEPT]
        asked = {
            **scope,
            "method": "GET",
            "path": f"{self._root}/{path}",
            "raw_path": f"{self._root}/{path}".encode(),
            "query_string": query.encode(),
            "headers": [*kept, (b"accept", b"application/json;odata.metadata=minimal")],
        }
        await self._service(asked, nothing, keep)
        headers = {name.decode("latin-1").title(): value.decode("latin-1") for name, value in got[0]["headers"]}
        headers.pop("Content-Length", None)
        return Response(got[0]["status"], headers, b"".join(one.get("body", b"") for one in got[1:]))

    async def _batch(self, scope: Scope, reading: Reading) -> Subject | None:
        """Return the batch whose codes are wanted, if any. Raises Conflict while they are being generated."""
        if reading.batch is None:
            return None
        answer = await self._read(scope, reading.batch, "$expand=couponType($select=name)")
        if answer.status != 200:
            return None  # nor are its codes there
        row = _PAGES.decode(answer.body)
        if row["status"] in ("QUEUED", "RUNNING"):
            progress = f"{row['generatedCount']} of {row['quantity']}"
            message = f"The codes of this batch are still being generated: {progress} are there."
            raise Conflict("BATCH_UNFINISHED", message)
        return Subject(_BATCHES, row["ID"], row["name"] or row["couponType"]["name"])

    async def _record(self, caller: Caller, reading: Reading, batch: Subject | None) -> None:
        """Have the audit trail say who took coupon codes out of the service, if they are in the file, and which.

        It tells what was read, not what was asked for, which may have more in it.
        """
        if batch is None and not reading.has_secret:
            return
        subject = batch or Subject("CouponCodes", self._context.new_id(), "CouponCodes")
        note = reading.rows_of_batch if batch else reading.asked
        at = self._context.clock()
        entry = trail_entry(self._context.new_id(), at, caller.user, "EXPORT", subject, note=note)

        async def work(session: Session) -> None:
            await write_trail(session, [entry])

        await self._context.database.write(work, tenant=caller.tenant_id, agent=caller.agent)


def _next_in(body: Mapping[str, Any]) -> str | None:
    """Return the address of the page after this one, in the forms of either version."""
    found: str | None = body.get("@odata.nextLink", body.get("@nextLink"))
    return found

"""`/api/v1/customer-erasures` and `/api/v1/customer-exports`: erase a customer, and tell what is stored about one.

Of a scope of its own, which opens nothing else: whoever reads or writes promotions needs no customers. An ID is in the
body alone, never in an address, which servers and proxies on the way write into their logs.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from odata_server.http import Response
from promenade.errors import Forbidden, Invalid
from promenade.store.driver.types import from_microseconds, to_microseconds
from promenade.web.access.auth import Authenticator, Caller
from promenade.web.http.downloads import Places
from promenade.web.http.json_body import read_message
from promenade.web.odata.public_endpoint import PUBLIC_ROOT, Call, PublicEndpoint, Streamed
from promenade.web.pricing.encode import timestamp
from promenade.web.pricing.messages import Message
from promenade.workflows.access.customers import Record, begin_export
from promenade.workflows.access.erasures import Erasure, erase_customer, page_of_erasures
from promenade.workflows.context import Context

CUSTOMERS = "PublicApi.Customers"
"""The scope."""

ERASURES, EXPORTS = "customer-erasures", "customer-exports"
LINES = "application/x-ndjson"
LIMIT, LIMIT_MAX = 100, 1000
"""Erasures on a page, unless the request says another number, and at most."""

_BODY_BYTES_MAX = 4096
_CURSOR_LENGTH_MAX = 200
_PIECE_BYTES = 32 * 1024
CustomerId = Annotated[str, Meta(min_length=1, max_length=50, pattern="^[^\\x00]*$")]


class CustomerRequest(Message):
    """Which customer is meant."""

    customer_id: CustomerId  #: The ID that tills send.


_REQUEST = msgspec.json.Decoder(CustomerRequest)


class Customers:
    """The handlers."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator
        self._places = Places()

    def endpoints(self) -> list[PublicEndpoint]:
        """Return the routes."""
        authenticate = self._authenticator.authenticate
        erasures = {"GET": self._erasures, "POST": self._erase}
        return [
            PublicEndpoint(f"{PUBLIC_ROOT}/{ERASURES}", erasures, authenticate),
            PublicEndpoint(f"{PUBLIC_ROOT}/{EXPORTS}", {"POST": self._export}, authenticate),
        ]

    async def _erase(self, call: Call) -> Response:
        caller = _permitted(call)
        if caller.agent is not None:
            raise Forbidden("AGENTS_DO_NOT_ERASE", "An agent erases nobody: nothing can undo it, so ask a person.")
        asked = await read_message(call.scope, call.receive, _REQUEST, _BODY_BYTES_MAX)
        erasure = await erase_customer(
            self._context.database,
            caller.tenant_id,
            asked.customer_id,
            secret=secrets.token_bytes(32),
            new_id=self._context.new_id,
            at=self._context.clock(),
            user=caller.user,
        )
        return call.answer(_told(erasure), status=202)

    async def _erasures(self, call: Call) -> Response:
        caller = _permitted(call)
        limit, before = _page(call.request.query)
        found, more = await page_of_erasures(self._context.database, caller.tenant_id, limit, before)
        following = _write_cursor(found[-1]) if more else None
        return call.answer({"value": [_told(one) for one in found], "cursor": following})

    async def _export(self, call: Call) -> Streamed:
        caller = _permitted(call)
        asked = await read_message(call.scope, call.receive, _REQUEST, _BODY_BYTES_MAX)
        records = await begin_export(
            self._context, caller.tenant_id, asked.customer_id, user=caller.user, agent=caller.agent
        )
        return Streamed(LINES, self._lines(caller.tenant_id, records))

    async def _lines(self, tenant_id: str, records: AsyncGenerator[Record, None]) -> AsyncGenerator[bytes, None]:
        """Yield a line for each record, and one more that says how many there were: without it some are missing."""
        with self._places.taken(tenant_id):
            lines, size, count = [], 0, 0
            async with aclosing(records):
                async for one in records:
                    lines.append(msgspec.json.encode({"kind": one.kind, "values": one.values}) + b"\n")
                    size, count = size + len(lines[-1]), count + 1
                    if size >= _PIECE_BYTES:
                        yield b"".join(lines)
                        lines, size = [], 0
            lines.append(msgspec.json.encode({"kind": "End", "values": {"records": count}}) + b"\n")
            yield b"".join(lines)


def _permitted(call: Call) -> Caller:
    call.caller.require_scope(CUSTOMERS)
    return call.caller


def _told(erasure: Erasure) -> dict[str, Any]:
    completed = erasure.completed_at
    return {
        "id": erasure.id,
        "status": erasure.status,
        "customerId": erasure.customer_id,
        "requestedAt": timestamp(erasure.requested_at),
        "completedAt": None if completed is None else timestamp(completed),
        "changedRows": erasure.changed_rows,
    }


# ---- pages -----------------------------------------------------------------------------------------------------------


def _page(query: str) -> tuple[int, tuple[datetime, str] | None]:
    """Return `limit` and `cursor`. Raises Invalid naming the wrong one; other parameters are refused, too."""
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in {"limit", "cursor"} or name in given:
            raise Invalid("UNKNOWN_PARAMETER", "Only `limit` and `cursor` may be given, each once.", name[:80])
        given[name] = value
    text = given.get("limit", str(LIMIT))
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= LIMIT_MAX):
        raise Invalid("OUT_OF_RANGE", f"`limit` must be a number from 1 to {LIMIT_MAX}.", "limit")
    return int(text), _read_cursor(given["cursor"]) if "cursor" in given else None


def _write_cursor(erasure: Erasure) -> str:
    place = (to_microseconds(erasure.requested_at), erasure.digest)
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).rstrip(b"=").decode()


def _read_cursor(text: str) -> tuple[datetime, str]:
    try:
        if len(text) > _CURSOR_LENGTH_MAX:
            raise ValueError
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        at, digest = msgspec.msgpack.decode(raw, type=tuple[int, str])
        if "\0" in digest:
            raise ValueError
        return from_microseconds(at), digest
    except (ValueError, OverflowError, msgspec.MsgspecError):
        raise Invalid("INVALID_CURSOR", "`cursor` must be one that a page has told.", "cursor") from None

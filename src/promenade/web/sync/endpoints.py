"""`/sync` for stores that price on their own: they register, are heard of, and fetch what they price by.

Of the scope svc.Sync alone. What they send up and ask to spend is in `web.sync.sales` and `web.sync.shares`.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Iterable

import msgspec
from starlette.types import Receive, Scope

from promenade.web.access.auth import Authenticator, Caller
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.json_body import read_message
from promenade.web.http.problems import Headers
from promenade.web.pricing.encode import timestamp
from promenade.web.sync.bodies import SYNC, read_place
from promenade.web.sync.messages import HEARTBEAT, REGISTER, HeartbeatAnswer, RegisterAnswer, Reserve
from promenade.workflows.context import Context
from promenade.workflows.sync.deployments import StoreCard, record_heartbeat, register
from promenade.workflows.sync.feed import Page, latest_cursor, nothing_new, page_after

_BYTES_MAX = 64 * 1024
_PAGES_AT_ONCE = 2  # all stores may sync at once, and tills need the database and the memory, too
_ZIPPED_FROM = 1024  # bytes; smaller responses consist mostly of headers
_ZIP_LEVEL = 3  # takes a third of the time of level 6, for a tenth more bytes


class Sync:
    """The handlers for registration, heartbeats and changes."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator
        self._turns = asyncio.Semaphore(_PAGES_AT_ONCE)

    def endpoints(self) -> list[Endpoint]:
        return [
            Endpoint("/sync/heartbeat", {"POST": self._heartbeat}),
            Endpoint("/sync/promotions", {"GET": self._promotions}),
            Endpoint("/sync/register", {"POST": self._register}),
        ]

    async def _caller(self, scope: Scope) -> Caller:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(SYNC)
        return caller

    async def _register(self, scope: Scope, receive: Receive) -> Answer:
        caller = await self._caller(scope)
        asked = await read_message(scope, receive, REGISTER, _BYTES_MAX)
        card = StoreCard(asked.store_code, asked.name or None, asked.pos_group_code, asked.version)
        found = await register(self._context, caller.tenant_id, card, user=caller.user)
        answer = RegisterAnswer(found.deployment_id, found.instance_id, caller.tenant_id)
        return Answer(msgspec.json.encode(answer))

    async def _heartbeat(self, scope: Scope, receive: Receive) -> Answer:
        caller = await self._caller(scope)
        asked = await read_message(scope, receive, HEARTBEAT, _BYTES_MAX)
        heard = await record_heartbeat(
            self._context,
            caller.tenant_id,
            str(asked.deployment_id),
            version=asked.version,
            pending=asked.pending_transactions,
            since=asked.reserves_since,
            run_id=None if asked.run_id is None else str(asked.run_id),
        )
        reserves = [Reserve(one.kind, one.entity_id, one.halvings, one.piece) for one in heard.reserves]
        cursor = latest_cursor(heard.version, caller.tenant_id)
        answer = HeartbeatAnswer(timestamp(heard.at), cursor, reserves, heard.epoch)
        return Answer(msgspec.json.encode(answer))

    async def _promotions(self, scope: Scope, receive: Receive) -> Answer:
        caller = await self._caller(scope)
        deployment_id, cursor = read_place(scope)
        nothing = await nothing_new(self._context, caller.tenant_id, deployment_id, cursor)
        if nothing is not None:
            return Answer(_body(nothing))
        async with self._turns:
            page = await page_after(self._context, caller.tenant_id, deployment_id, cursor)
            # Encoding and compressing a full page takes longer than a till should wait.
            body, headers = await asyncio.to_thread(_encoded, page, _takes_gzip(scope))
        return Answer(body, headers=headers)


# --- the answer -------------------------------------------------------------------------------------------------------


def _takes_gzip(scope: Scope) -> bool:
    """Return whether the client accepts gzip (RFC 9110, 12.5.3); without the header it does not."""
    accepted = (header(scope, b"accept-encoding") or b"").lower().replace(b" ", b"")
    for one in accepted.split(b","):
        coding, _, quality = one.partition(b";q=")
        if coding == b"gzip":
            return not re.fullmatch(rb"0(\.0*)?", quality)
    return False


def _encoded(page: Page, zipped: bool) -> tuple[bytes, Headers]:
    body = _body(page)
    headers: Headers = [(b"vary", b"accept-encoding")]
    if zipped and len(body) >= _ZIPPED_FROM:
        packing = zlib.compressobj(_ZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        return packing.compress(body) + packing.flush(), [*headers, (b"content-encoding", b"gzip")]
    return body, headers


def _body(page: Page) -> bytes:
    """Return a page as JSON; its rows already are JSON."""
    return b"".join(_members(page))


def _members(page: Page) -> Iterable[bytes]:
    cursor, full, more = (msgspec.json.encode(one) for one in (page.cursor, page.full, page.has_more))
    yield b'{"cursor":%s,"full":%s,"upserts":{' % (cursor, full)
    comma = b""
    for set_name, rows in page.upserts.items():
        yield b'%s"%s":[' % (comma, set_name.encode("ascii"))
        yield b",".join(rows)
        yield b"]"
        comma = b","
    yield b'},"deletes":%s,"hasMore":%s}' % (msgspec.json.encode(page.deletes), more)

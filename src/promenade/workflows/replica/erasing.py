"""Hear from the cloud which customers were erased, and erase them in the store.

The cloud tells digests and their key, no ID. So the store computes the digest of each ID that it has stored, once after
it has heard of something new, and what comes later is recognised as in the cloud (`store.access.erasures.notice`).
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from promenade.store.access.customers import read_customers, walked_tables
from promenade.store.access.erasures import notice
from promenade.store.driver.unit import Session
from promenade.store.replica.told_erasures import (
    Heard,
    Told,
    find_told,
    is_news,
    note_searched,
    read_heard,
    write_told,
)
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer, Rest
from promenade.workflows.uplink import CloudClient, CloudRefused, CloudUnreachable, Searching

PAGES_MAX = 100
"""Pages of one round; the next one goes on."""
PORTION = 200
"""IDs that are compared together."""
SEARCH_SECONDS = 10.0
"""Of one round: heartbeats must go on."""
_THIRD = Rest(times=2.0, seconds_max=0.2)  # of the time, while tills are busy
_CURSOR_LENGTH_MAX = 200
_NOT_FOUND = "NOT_FOUND"  # of an address: a cloud that knows of no erasures
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class _Page(msgspec.Struct, frozen=True, rename="camel"):
    """The response of ``GET /sync/erasures``."""

    digests: list[str]
    cursor: str
    has_more: bool
    total: int
    full: bool = False
    key: str | None = None


async def keep_erased(context: Context, tenant_id: str, client: CloudClient, deployment_id: str) -> None:
    """Hear of erasures and begin those of customers whom the store knows. Raises CloudUnreachable and CloudRefused."""
    await hear_erasures(context, tenant_id, client, deployment_id)
    await search_customers(context, tenant_id)


async def hear_erasures(context: Context, tenant_id: str, client: CloudClient, deployment_id: str) -> None:
    """Download erasures page by page; each is stored with the place in one unit of work.

    Raises CloudUnreachable, and CloudRefused for other reasons than that an older cloud does not tell of erasures.
    """
    cursor = (await context.database.read(read_heard, tenant=tenant_id)).cursor
    for _ in range(PAGES_MAX):
        query = {"deploymentId": deployment_id} | ({} if cursor is None else {"cursor": cursor})
        try:
            told = _read(await client.get("/sync/erasures", query))
        except CloudRefused as error:
            if error.code == _NOT_FOUND:
                return
            raise
        if not await context.database.read(partial(is_news, page=told), tenant=tenant_id):
            return
        write = partial(write_told, page=told, new_id=context.new_id, at=context.clock())
        is_whole = await context.database.write(write, tenant=tenant_id)
        if not told.has_more and (is_whole or cursor is None):  # if not even all of them: again in the next round
            return
        cursor = told.cursor if told.has_more else None


def _read(answer: dict[str, Any]) -> Told:
    try:
        page = msgspec.convert(answer, _Page)
        secret = None if page.key is None else base64.b64decode(page.key, validate=True)
    except (msgspec.ValidationError, binascii.Error) as error:
        raise _unreadable(f"{error}") from error
    if page.digests and not secret:
        raise _unreadable("digests without their key")
    if any(_DIGEST.fullmatch(one) is None for one in page.digests):
        raise _unreadable("a digest that is none")
    if page.has_more and not (page.digests and page.cursor):
        raise _unreadable("a page that leads nowhere")
    if len(page.cursor) > _CURSOR_LENGTH_MAX:
        raise _unreadable("a cursor that is too long")
    return Told(secret, page.full, page.digests, page.cursor, page.has_more, page.total)


def _unreadable(why: str) -> CloudUnreachable:
    return CloudUnreachable("CLOUD_UNREADABLE", f"The cloud's answer about erasures cannot be understood: {why}.")


# ---- in the store ----------------------------------------------------------------------------------------------------


async def search_customers(context: Context, tenant_id: str) -> None:
    """Begin the erasures of stored customers of whom the cloud has told, table by table.

    Ends after `SEARCH_SECONDS`, and goes on with the next round; a store that was restarted in between compares all
    again. What is written meanwhile is compared when it is written.
    """
    heard = await context.database.read(read_heard, tenant=tenant_id)
    if heard.secret is None or heard.searched >= heard.told:
        return
    search = _Search(context, tenant_id, heard.secret, _place(context, heard))
    is_done = await Pacer(_THIRD, run_seconds=SEARCH_SECONDS, tills=context.tills).while_more(search.portion)
    if is_done:
        await context.database.write(partial(note_searched, told=search.place.told), tenant=tenant_id)
    if context.uplink is not None:
        context.uplink.searching = None if is_done else search.place


def _place(context: Context, heard: Heard) -> Searching:
    """Return where to go on; a search for what was told before starts over if the key is another one."""
    known = None if context.uplink is None else context.uplink.searching
    is_same = known is not None and known.secret == heard.secret
    return known if known is not None and is_same else Searching(heard.secret or b"", heard.told)


class _Search:
    """A search; ``place`` is how far it is."""

    def __init__(self, context: Context, tenant_id: str, secret: bytes, place: Searching) -> None:
        self._context = context
        self._tenant = tenant_id
        self._secret = secret
        self._tables = walked_tables()
        self.place = place

    async def portion(self) -> tuple[int, bool]:
        """Compare some IDs; return how many, and whether there are more."""
        place, context = self.place, self._context
        name = self._tables[place.table]

        async def look(session: Session) -> tuple[list[str], bool, list[str]]:
            stored, more = await read_customers(session, name, place.after, PORTION)
            return stored, more, await find_told(session, self._secret, stored) if stored else []

        stored, more, erased = await context.database.read(look, tenant=self._tenant)
        if erased:
            at = context.clock()
            begin = partial(notice, customer_ids=erased, new_id=context.new_id, at=at)
            await context.database.write(begin, tenant=self._tenant)
        self.place = replace(place, table=place.table + (not more), after=stored[-1] if more else "")
        return len(stored), self.place.table < len(self._tables)

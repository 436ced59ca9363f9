"""What was downloaded becomes what tills are priced by.

Pages are kept until the last one is there. A download of one page is applied in one unit of work; one of many pages
in several, as tills wait for each: articles by the page, then everything else, then articles that are gone. The cursor
moves with the last unit, so that a store which is killed in between begins again with the pages that it kept, and finds
that much of it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import msgspec
import structlog

from promenade.errors import Conflict
from promenade.model.sync_sets import ROOTS, Part, Root, values_of
from promenade.store.authored import Columns
from promenade.store.sync_apply import (
    Aggregate,
    Changes,
    delete_roots,
    find_changes,
    find_unnamed,
    write_changes,
    write_tenant,
)
from promenade.store.sync_link import drop_pages, page_numbers, read_link, read_page, write_synced
from promenade.store.unit import Session
from promenade.workflows.context import Context

__all__ = ["Page", "PageUnreadable", "apply_pages", "read_staged"]

DELETED_AT_ONCE = 1000  # articles in one unit
TENANTS, ARTICLES, GROUPS = "Tenants", "Articles", "ArticleGroups"

_log = structlog.get_logger(__name__)
_DECODER = msgspec.json.Decoder(list[dict[str, object]])


class PageUnreadable(Exception):
    """A page cannot be understood; its text says why."""


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """An answer of ``GET /sync/promotions``; rows stay text until they are needed."""

    cursor: str
    has_more: bool
    full: bool = False
    upserts: dict[str, msgspec.Raw] = {}
    deletes: dict[str, list[str]] = {}

    def rows(self, set_name: str) -> list[Columns]:
        """The rows of a set, by columns. Raises PageUnreadable."""
        raw = self.upserts.get(set_name)
        if raw is None:
            return []
        try:
            return [values_of(set_name, row) for row in _DECODER.decode(raw)]
        except (msgspec.MsgspecError, ValueError) as error:
            raise PageUnreadable(f"{set_name} cannot be read: {error}") from error


@dataclass(slots=True)
class _Wanted:
    """What the pages say of one root, the later ones in place of the earlier: its rows, and IDs that are gone."""

    root: Root
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)

    def take(self, page: Page) -> None:
        """Let a further page speak."""
        owned = _by_root(self.root, page)
        for row in page.rows(self.root.set_name):
            self.aggregates[row["id"]] = Aggregate(row, owned.get(row["id"], {}))
            self.deletes.discard(row["id"])
        for gone in page.deletes.get(self.root.set_name, ()):
            self.aggregates.pop(gone, None)
            self.deletes.add(gone)


def _take(wanted: Iterable[_Wanted], page: Page) -> None:
    """Let a page speak of several roots; beside the event loop, as tills are priced on that."""
    for one in wanted:
        one.take(page)


def _by_root(root: Root, page: Page) -> Mapping[str, Mapping[str, Sequence[Columns]]]:
    """The rows of the parts on a page, by the root's ID and by set; what belongs to nobody is passed over."""
    found: dict[str, dict[str, list[Columns]]] = {}
    root_of: dict[str, dict[str, str]] = {}
    for part in root.parts:
        of_part = root_of.setdefault(part.set_name, {})
        for row in page.rows(part.set_name):
            root_id = _root_id(root, part, row, root_of)
            if root_id is not None:
                of_part[row["id"]] = root_id
                found.setdefault(root_id, {}).setdefault(part.set_name, []).append(row)
    return found


def _root_id(root: Root, part: Part, row: Columns, root_of: Mapping[str, Mapping[str, str]]) -> str | None:
    owner: str = row[part.column]
    return owner if part.owner == root.set_name else root_of[part.owner].get(owner)


def read_staged(body: bytes) -> Page:
    """A page as it was received. Raises PageUnreadable."""
    try:
        return msgspec.json.decode(body, type=Page)
    except (msgspec.MsgspecError, ValueError) as error:
        raise PageUnreadable(f"The page cannot be read: {error}") from error


# --- applying ---------------------------------------------------------------------------------------------------------


async def apply_pages(context: Context, tenant_id: str) -> bool:
    """Apply the download that is kept, if it is complete; whether it was. Raises Unavailable and PageUnreadable.

    Raises Conflict (LINK_CHANGED) if the link was led elsewhere meanwhile: then nothing of this belongs here.
    """
    return await _Application(context, tenant_id).run()


class _Application:
    """One download on its way into the tables."""

    def __init__(self, context: Context, tenant_id: str) -> None:
        self._context = context
        self._tenant = tenant_id
        self._full = False
        self._left_out = 0
        self._changed_at: datetime | None = None

    async def run(self) -> bool:
        numbers = await self._context.database.read(self._begin, tenant=self._tenant)
        if not numbers:
            return False
        last = await self._page(numbers[-1])
        if last.has_more:
            return False
        self._full = (await self._page(numbers[0])).full
        if len(numbers) == 1:
            await self._at_once(last)
        else:
            await self._by_parts(numbers, last)
        return True

    async def _begin(self, session: Session) -> Sequence[int]:
        link = await read_link(session)
        self._changed_at = link.changed_at if link is not None else None
        return await page_numbers(session)

    async def _page(self, number: int) -> Page:
        body = await self._context.database.read(lambda session: read_page(session, number), tenant=self._tenant)
        return read_staged(body)

    # --- one page -----------------------------------------------------------------------------------------------------

    async def _at_once(self, page: Page) -> None:
        wanted = [_Wanted(root) for root in _roots()]
        await asyncio.to_thread(_take, wanted, page)
        settings = page.rows(TENANTS)
        changes, gone = await self._context.database.read(lambda session: self._plan(session, wanted),
                                                          tenant=self._tenant)  # fmt: skip

        async def write(session: Session) -> None:
            await self._write(session, changes, settings)
            await self._delete(session, gone)
            await self._finish(session, page.cursor)

        await self._context.database.write(write, tenant=self._tenant)

    async def _plan(
        self, session: Session, wanted: Sequence[_Wanted]
    ) -> tuple[list[Changes], list[tuple[Root, set[str]]]]:
        """What is to be written, in the order of references, and what is to be deleted, in the other order."""
        coming: dict[str, set[str]] = {}
        changes = []
        gone = []
        for one in wanted:
            session.renew()
            found = await find_changes(session, one.root, one.aggregates, coming)
            coming[one.root.set_name] = {row["id"] for row in found.inserts}
            changes.append(found)
            gone.append((one.root, await self._gone(session, one)))
        return changes, gone[::-1]

    async def _gone(self, session: Session, one: _Wanted) -> set[str]:
        if self._full:
            return await find_unnamed(session, one.root.set_name, one.aggregates)
        return one.deletes

    # --- many pages ---------------------------------------------------------------------------------------------------

    async def _by_parts(self, numbers: Sequence[int], last: Page) -> None:
        database, tenant = self._context.database, self._tenant
        wanted = {root.set_name: _Wanted(root) for root in _roots() if root.set_name != ARTICLES}
        settings: list[Columns] = []
        for number in numbers:
            page = await self._page(number)
            await asyncio.to_thread(_take, wanted.values(), page)
            settings = page.rows(TENANTS) or settings
        await self._add_groups(wanted[GROUPS])
        gone_articles = await self._write_articles(numbers)
        changes, gone = await database.read(partial(self._plan, wanted=list(wanted.values())), tenant=tenant)
        groups = [(root, ids) for root, ids in gone if root.set_name == GROUPS]

        async def write(session: Session) -> None:
            await self._write(session, changes, settings)
            await self._delete(session, [one for one in gone if one not in groups])

        await database.write(write, tenant=tenant)
        articles = _root(ARTICLES)
        ordered = sorted(gone_articles)
        for start in range(0, len(ordered), DELETED_AT_ONCE):
            portion = set(ordered[start : start + DELETED_AT_ONCE])
            await database.write(partial(self._delete, gone=[(articles, portion)]), tenant=tenant)

        async def finish(session: Session) -> None:
            await self._delete(session, groups)
            await self._finish(session, last.cursor)

        await database.write(finish, tenant=tenant)

    async def _add_groups(self, groups: _Wanted) -> None:
        """Add the article groups that are not there: articles name them. What else changes of groups waits."""
        at = self._context.clock()
        found = await self._context.database.read(
            partial(find_changes, root=groups.root, wanted=groups.aggregates, coming={}), tenant=self._tenant
        )
        new = Changes(groups.root, inserts=found.inserts, parked=found.parked)
        await self._context.database.write(partial(write_changes, changes=new, at=at), tenant=self._tenant)

    async def _write_articles(self, numbers: Sequence[int]) -> set[str]:
        """Write the articles of each page in a unit of its own; the answer are those that are to be deleted."""
        database, tenant, at = self._context.database, self._tenant, self._context.clock()
        named: set[str] = set()
        deleted: set[str] = set()
        for number in numbers:
            page = _Wanted(_root(ARTICLES))
            await asyncio.to_thread(_take, [page], await self._page(number))
            found = await database.read(
                partial(find_changes, root=page.root, wanted=page.aggregates, coming={}), tenant=tenant
            )
            self._left_out += len(found.left_out)
            if found:
                await database.write(partial(write_changes, changes=found, at=at), tenant=tenant)
            named = (named | page.aggregates.keys()) - page.deletes
            deleted = (deleted | page.deletes) - page.aggregates.keys()
        if self._full:
            return await database.read(lambda session: find_unnamed(session, ARTICLES, named), tenant=tenant)
        return deleted

    # --- what both do -------------------------------------------------------------------------------------------------

    async def _write(self, session: Session, changes: Sequence[Changes], settings: Sequence[Columns]) -> None:
        at = self._context.clock()
        for row in settings:
            await write_tenant(session, row, at=at)
        for one in changes:
            session.renew()
            await write_changes(session, one, at=at)
            if one.left_out:
                self._left_out += len(one.left_out)
                _log.warning("sync.left_out", set=one.root.set_name, count=len(one.left_out), first=min(one.left_out))

    async def _delete(self, session: Session, gone: Sequence[tuple[Root, set[str]]]) -> None:
        at = self._context.clock()
        for root, ids in gone:
            session.renew()
            if ids and (stay := await delete_roots(session, root, ids, at=at)):
                _log.warning("sync.not_deleted", set=root.set_name, count=len(stay), first=min(stay))

    async def _finish(self, session: Session, cursor: str) -> None:
        """The download is in; the next one asks for what came after it, or for everything where something was left out
        of a delta. What a full one leaves out, as it names what is nowhere, waits for the change that mends it."""
        link = await read_link(session)
        if link is None or link.changed_at != self._changed_at:
            raise Conflict("LINK_CHANGED", "The link was changed while a download was applied.")
        is_whole = self._full or not self._left_out
        await write_synced(session, cursor if is_whole else None, at=self._context.clock())
        await drop_pages(session)


def _roots() -> Iterator[Root]:
    return (root for root in ROOTS if root.set_name != TENANTS)


def _root(set_name: str) -> Root:
    return next(root for root in ROOTS if root.set_name == set_name)

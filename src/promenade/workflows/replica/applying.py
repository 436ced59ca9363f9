"""Apply downloaded changes, so that baskets are priced with them.

Pages are stored until the last one has arrived. A download of one page is applied in one unit of work; a download of
many pages in several, because tills wait for each: articles page by page, then everything else, then deleted articles.
The cursor moves with the last unit, so a store that is killed in between starts again with the stored pages, and finds
much of it done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import msgspec

from promenade.errors import Conflict
from promenade.log import Logger
from promenade.model.sync_sets import ROOTS, Part, Root, values_of
from promenade.store.authoring.statements import Columns
from promenade.store.driver.unit import Session
from promenade.store.replica.applying import (
    Aggregate,
    Changes,
    delete_roots,
    find_changes,
    find_unnamed,
    write_changes,
    write_tenant,
)
from promenade.store.replica.link import drop_pages, page_numbers, read_link, read_page, write_synced
from promenade.workflows.context import Context

DELETE_BATCH_MAX = 1000  # articles per unit
TENANTS, ARTICLES, GROUPS = "Tenants", "Articles", "ArticleGroups"

_log = Logger(__name__)
_DECODER = msgspec.json.Decoder(list[dict[str, object]])


class PageUnreadable(Exception):
    """A page cannot be decoded; the message says why."""


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """A response of ``GET /sync/promotions``; rows are decoded when needed."""

    cursor: str
    has_more: bool
    full: bool = False
    upserts: dict[str, msgspec.Raw] = {}
    deletes: dict[str, list[str]] = {}

    def rows(self, set_name: str) -> list[Columns]:
        """Return the rows of a set, by columns. Raises PageUnreadable."""
        raw = self.upserts.get(set_name)
        if raw is None:
            return []
        try:
            return [values_of(set_name, row) for row in _DECODER.decode(raw)]
        except (msgspec.MsgspecError, ValueError) as error:
            raise PageUnreadable(f"{set_name} cannot be read: {error}") from error


@dataclass(slots=True)
class _RootChanges:
    """The pages' changes to one kind of root, later pages overriding earlier ones: rows and deleted IDs."""

    root: Root
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)

    def take(self, page: Page) -> None:
        """Add the changes of another page."""
        owned = _by_root(self.root, page)
        for row in page.rows(self.root.set_name):
            self.aggregates[row["id"]] = Aggregate(row, owned.get(row["id"], {}))
            self.deletes.discard(row["id"])
        for gone in page.deletes.get(self.root.set_name, ()):
            self.aggregates.pop(gone, None)
            self.deletes.add(gone)


def _collect(wanted: Iterable[_RootChanges], page: Page) -> None:
    """Add a page's changes to several roots; in a thread, as the event loop prices baskets."""
    for one in wanted:
        one.take(page)


def _by_root(root: Root, page: Page) -> Mapping[str, Mapping[str, Sequence[Columns]]]:
    """Group the rows of the parts on a page by the root's ID and by set; parts without a root are skipped."""
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
    """Decode a page as received. Raises PageUnreadable."""
    try:
        return msgspec.json.decode(body, type=Page)
    except (msgspec.MsgspecError, ValueError) as error:
        raise PageUnreadable(f"The page cannot be read: {error}") from error


# --- applying ---------------------------------------------------------------------------------------------------------


async def apply_pages(context: Context, tenant_id: str) -> bool:
    """Apply the stored download if it is complete; return whether it was. Raises Unavailable and PageUnreadable.

    Raises Conflict (LINK_CHANGED) if the link was changed in the meantime: then the download does not belong here.
    """
    return await _Application(context, tenant_id).run()


class _Application:
    """The application of one download to the tables."""

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
            await self._apply_single_page(last)
        else:
            await self._apply_in_stages(numbers, last)
        return True

    async def _begin(self, session: Session) -> Sequence[int]:
        link = await read_link(session)
        self._changed_at = link.changed_at if link is not None else None
        return await page_numbers(session)

    async def _page(self, number: int) -> Page:
        body = await self._context.database.read(lambda session: read_page(session, number), tenant=self._tenant)
        return read_staged(body)

    # --- one page -----------------------------------------------------------------------------------------------------

    async def _apply_single_page(self, page: Page) -> None:
        wanted = [_RootChanges(root) for root in _roots()]
        await asyncio.to_thread(_collect, wanted, page)
        settings = page.rows(TENANTS)
        changes, gone = await self._context.database.read(lambda session: self._plan(session, wanted),
                                                          tenant=self._tenant)  # fmt: skip

        async def write(session: Session) -> None:
            await self._write(session, changes, settings)
            await self._delete(session, gone)
            await self._finish(session, page.cursor)

        await self._context.database.write(write, tenant=self._tenant)

    async def _plan(
        self, session: Session, wanted: Sequence[_RootChanges]
    ) -> tuple[list[Changes], list[tuple[Root, set[str]]]]:
        """Plan the writes, in the order of references, and the deletions, in reverse order."""
        coming: dict[str, set[str]] = {}
        changes = []
        gone = []
        for one in wanted:
            session.renew()
            found = await find_changes(session, one.root, one.aggregates, coming)
            coming[one.root.set_name] = {row["id"] for row in found.inserts}
            changes.append(found)
            gone.append((one.root, await self._deleted_rows(session, one)))
        return changes, gone[::-1]

    async def _deleted_rows(self, session: Session, one: _RootChanges) -> set[str]:
        if self._full:
            return await find_unnamed(session, one.root.set_name, one.aggregates)
        return one.deletes

    # --- many pages ---------------------------------------------------------------------------------------------------

    async def _apply_in_stages(self, numbers: Sequence[int], last: Page) -> None:
        database, tenant = self._context.database, self._tenant
        wanted = {root.set_name: _RootChanges(root) for root in _roots() if root.set_name != ARTICLES}
        settings: list[Columns] = []
        for number in numbers:
            page = await self._page(number)
            await asyncio.to_thread(_collect, wanted.values(), page)
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
        for start in range(0, len(ordered), DELETE_BATCH_MAX):
            portion = set(ordered[start : start + DELETE_BATCH_MAX])
            await database.write(partial(self._delete, gone=[(articles, portion)]), tenant=tenant)

        async def finish(session: Session) -> None:
            await self._delete(session, groups)
            await self._finish(session, last.cursor)

        await database.write(finish, tenant=tenant)

    async def _add_groups(self, groups: _RootChanges) -> None:
        """Insert missing article groups, since articles refer to them. Other changes to groups come later."""
        at = self._context.clock()
        found = await self._context.database.read(
            partial(find_changes, root=groups.root, wanted=groups.aggregates, coming={}), tenant=self._tenant
        )
        new = Changes(groups.root, inserts=found.inserts, parked=found.parked)
        await self._context.database.write(partial(write_changes, changes=new, at=at), tenant=self._tenant)

    async def _write_articles(self, numbers: Sequence[int]) -> set[str]:
        """Write the articles of each page in a separate unit; return the IDs of those to be deleted."""
        database, tenant, at = self._context.database, self._tenant, self._context.clock()
        named: set[str] = set()
        deleted: set[str] = set()
        for number in numbers:
            page = _RootChanges(_root(ARTICLES))
            await asyncio.to_thread(_collect, [page], await self._page(number))
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
        """Complete the download. The next one asks for later changes, or for everything if a delta was incomplete.

        Rows left out of a full download, because they refer to missing rows, wait for the change that corrects them.
        """
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

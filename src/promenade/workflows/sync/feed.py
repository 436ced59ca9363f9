"""What stores are told: everything that pricing needs, or what has changed of it since a cursor.

A download is a walk in pages. The first walk of a store goes through all rows in the order of `ROOTS` and IDs; it is
followed by walks through what has changed since it began, until a page ends at the version that the catalogue has
then. A page is one consistent state, and what changes between two pages is recorded with the change; so all pages of a
download together are the state of the last one, whatever was authored meanwhile, and no row is missed or left over.

Later walks tell of what has changed only, as long as that is known (`changes`); otherwise the store begins anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from promenade.errors import Forbidden
from promenade.model.sync_sets import ROOTS, Root
from promenade.store.access.tenants import tenant_is_known
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import Version, read_version
from promenade.store.sync import deployments
from promenade.store.sync.feed import Aggregate, read_after, read_aggregates, read_changed, read_named
from promenade.workflows.context import Context
from promenade.workflows.sync.cursors import Cursor, Place, read_cursor, write_cursor
from promenade.workflows.sync.deployments import no_deployment, record_exchange

ROWS_MAX = 1000
"""Rows of roots on a page, those that are gone included."""
BYTES_MAX = 4 * 1024 * 1024
"""A page takes no further row beyond so many; one aggregate alone may be larger."""
_READ_AT_ONCE = 250
_FIRST_AGGREGATES = 32  # first batch size for rows with parts; adjusted to their size afterwards


@dataclass(slots=True)
class Page:
    """A page of a download: rows as JSON by entity set, and deleted IDs by root."""

    cursor: str = ""
    full: bool = False
    has_more: bool = False
    upserts: dict[str, list[bytes]] = field(default_factory=dict)
    deletes: dict[str, list[str]] = field(default_factory=dict)
    rows: int = 0
    size: int = 0
    named: set[tuple[str, str]] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        """Return whether the page is full."""
        return self.rows >= ROWS_MAX or self.size >= BYTES_MAX

    @property
    def promotions(self) -> int:
        """Return how many promotions the page contains."""
        return sum(len(of.get("Promotions", ())) for of in (self.upserts, self.deletes))

    def add(self, root: Root, aggregate: Aggregate) -> None:
        self.named.add((root.set_name, aggregate.id))
        for set_name, rows in aggregate.rows.items():
            self.upserts.setdefault(set_name, []).extend(rows)
        self.rows += 1
        self.size += aggregate.size

    def drop(self, root: Root, row_id: str) -> None:
        self.named.add((root.set_name, row_id))
        self.deletes.setdefault(root.set_name, []).append(row_id)
        self.rows += 1
        self.size += len(row_id) + 3


def latest_cursor(version: Version, tenant_id: str) -> str:
    """Return the cursor of a store that has everything up to ``version``."""
    return write_cursor(Cursor(version), tenant_id)


async def nothing_new(context: Context, tenant_id: str, deployment_id: str, cursor: str | None) -> Page | None:
    """Return the answer for a store that has everything; None: there may be something to send.

    It costs two key look-ups and no write. Raises NotFound (DEPLOYMENT_NOT_FOUND).
    """
    look = context.database.look
    if not await deployments.is_deployment(look, tenant_id, deployment_id):
        raise no_deployment()
    known = read_cursor(cursor, tenant_id)
    if known is None or known.is_within:
        return None
    version = await read_version(look, tenant_id)
    return Page(cursor=latest_cursor(version, tenant_id)) if known.since == version else None


async def page_after(context: Context, tenant_id: str, deployment_id: str, cursor: str | None) -> Page:
    """Return the page that follows a cursor, and record it in SyncHistory.

    Raises NotFound (DEPLOYMENT_NOT_FOUND), and Forbidden (UNKNOWN_TENANT) while the tenant is being deleted.
    """
    started_at = context.clock()
    page = await nothing_new(context, tenant_id, deployment_id, cursor)
    if page is not None:
        return page
    known = read_cursor(cursor, tenant_id)
    page = await context.database.read(lambda session: _built(session, tenant_id, known), tenant=tenant_id)
    await _note(context, tenant_id, deployment_id, page, is_first=known is None or not known.is_within, at=started_at)
    return page


# --- walking ----------------------------------------------------------------------------------------------------------


async def _built(session: Session, tenant_id: str, cursor: Cursor | None) -> Page:
    if not await tenant_is_known(session, tenant_id):
        # INVARIANT: read in the same state as the rows: of a tenant that is being deleted, none may look deleted.
        raise Forbidden("UNKNOWN_TENANT", "The store's tenant is not known here.")
    now = await read_version(session.hot, tenant_id)
    walking = _Walking(session, now)
    page = await walking.walk(cursor if cursor is not None and _is_of(cursor, now) else None)
    page.cursor = write_cursor(walking.cursor, tenant_id)
    page.has_more = walking.cursor != Cursor(now)
    return page


def _is_of(cursor: Cursor, now: Version) -> bool:
    """Return whether the cursor can be from this database.

    After a restore from a backup, the database may be behind its stores.
    """
    for one in (cursor.since, cursor.until or cursor.since):
        if one.promotions > now.promotions or one.articles > now.articles:
            return False
        if (one.promotions, one.articles) == (now.promotions, now.articles) and one != now:
            return False
    return cursor.place.root < len(ROOTS)


class _Walking:
    """A page that is being built; ``cursor`` is the position reached."""

    def __init__(self, session: Session, now: Version) -> None:
        self._session = session
        self._now = now
        self._page = Page()
        self._aggregates = _FIRST_AGGREGATES
        self.cursor = Cursor(now)

    async def walk(self, cursor: Cursor | None) -> Page:
        """Continue from a cursor; None: from the beginning."""
        if cursor is None:
            self._begin_anew()
        else:
            self.cursor = cursor
        while not self._page.is_done and self.cursor != Cursor(self._now):
            if self.cursor.full:
                await self._everything()
            elif not await self._changes():
                self._begin_anew()
        return self._page

    def _begin_anew(self) -> None:
        self._page = Page(full=True)
        self.cursor = Cursor(self._now, full=True)

    async def _everything(self) -> None:
        """Send all rows; at the end, the cursor is set to send the changes made since the first of them was sent."""
        since, place = self.cursor.since, self.cursor.place
        for number, root in _from(place):
            after = place.id if number == place.root else ""
            while True:
                rows = await read_after(self._session, root, after, _READ_AT_ONCE)
                sent = await self._send(root, rows)
                if sent:
                    after = sent
                    self.cursor = Cursor(since, full=True, place=Place(number, after))
                if self._page.is_done:
                    return
                if len(rows) < _READ_AT_ONCE:
                    break
        self.cursor = Cursor(since)

    async def _changes(self) -> bool:
        """Send the changes; return False if they are no longer recorded or too many."""
        since, until, place = self.cursor.since, self.cursor.until or self._now, self.cursor.place
        changed = await read_changed(self._session, since, until)
        if changed is None:
            return False
        for number, root in _from(place):
            after = place.id if number == place.root else ""
            ids = sorted(one for one in changed.get(root.set_name, ()) if one > after)
            while ids:
                done = await self._send_named(root, ids[:_READ_AT_ONCE])
                ids = ids[len(done) :]
                self.cursor = Cursor(since, until=until, place=Place(number, done[-1]))
                if self._page.is_done:
                    return True
        self.cursor = Cursor(until)
        return True

    async def _send(self, root: Root, rows: Sequence[Any]) -> str:
        """Add root rows with their parts until the page is full; return the last ID."""
        last = ""
        while rows and not self._page.is_done:
            aggregates = await self._read_aggregates(root, rows)
            for one in aggregates:
                if self._page.is_done:
                    return last
                if (root.set_name, one.id) not in self._page.named:
                    self._page.add(root, one)
                last = one.id
            rows = rows[len(aggregates) :]
        return last

    async def _read_aggregates(self, root: Root, rows: Sequence[Any]) -> list[Aggregate]:
        """Read the first of ``rows`` with their parts; the batch size adapts to the size of the parts."""
        if not root.parts:
            return await read_aggregates(self._session, root, rows)
        few = rows[: self._aggregates]
        aggregates = await read_aggregates(self._session, root, few)
        self._aggregates = 2 * len(few) if len(aggregates) == len(few) else len(aggregates)
        return aggregates

    async def _send_named(self, root: Root, ids: Sequence[str]) -> Sequence[str]:
        """Do the same for IDs, where a missing row was deleted; return the leading part of ``ids`` that is done."""
        rows = await read_named(self._session, root, ids)
        there = {getattr(row, "id", ids[0]): row for row in rows}
        sent = await self._send(root, rows) if rows else ""
        done = []
        for one in ids:
            if one in there and root.set_name != "Tenants" and one > sent:
                break
            if one not in there and (root.set_name, one) not in self._page.named:
                self._page.drop(root, one)
            done.append(one)
        return done


def _from(place: Place) -> Iterator[tuple[int, Root]]:
    return ((number, root) for number, root in enumerate(ROOTS) if number >= place.root)


# --- SyncHistory ------------------------------------------------------------------------------------------------------


async def _note(
    context: Context, tenant_id: str, deployment_id: str, page: Page, *, is_first: bool, at: datetime
) -> None:
    """Record the page in SyncHistory: one row for all pages of a download."""
    if not page.rows and is_first:
        return

    async def work(session: Session) -> None:
        now = context.clock()
        since = now - deployments.RUNNING_HOURS
        running = await deployments.find_running(session, deployment_id, "DOWN", since)
        if running is not None and page.full:
            message = "The store has started the download again."
            await deployments.update_exchange(
                session, running, status="FAILED", at=now, completed_at=now, message=message
            )
            running = None
        status: Literal["RUNNING", "SUCCEEDED"] = "RUNNING" if page.has_more else "SUCCEEDED"
        completed = None if page.has_more else now
        if running is not None:
            await deployments.update_exchange(
                session, running, status=status, at=now, completed_at=completed, promotions=page.promotions
            )
        else:
            await record_exchange(
                session,
                deployment_id,
                "DOWN",
                new_id=context.new_id,
                started_at=at,
                completed_at=completed,
                promotions=page.promotions,
                status=status,
            )
        if not page.has_more:
            await deployments.note_sync(session, deployment_id, now)

    await context.database.write(work, tenant=tenant_id, durable=False)

"""The rows of a kind, page by page in bounded memory, each month to a sink of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Protocol

from promenade.store.archive.reading import Kind, Page, Place, columns_of, first_after, read_page, read_times
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.kept import AUDIT, REDEMPTIONS, SALES, kept_since
from promenade.workflows.archive.months import Month
from promenade.workflows.pace import Pacer

MONTHS_AT_ONCE = 12
"""Months that one pass over all rows serves; each holds some rows in memory."""

_MARKED = {"calculation_logs": SALES, "audit_logs": AUDIT, "redemption_logs": REDEMPTIONS}

Rows = Sequence[Sequence[Any]]


class Sink(Protocol):
    """Takes the rows of a month in their order."""

    def add(self, table: str, rows: Rows) -> None:
        """Take rows of one of the kind's tables."""


async def months_with_rows(database: Database, tenant_id: str, kind: Kind) -> list[Month]:
    """Return the months that the tenant has rows of, in their order.

    A till may say when it sold, so the first month may be any: the cost is that of the months with rows. Without an
    index the times of all rows are read.
    """
    return sorted(await (_by_index if kind.by_time else _by_id)(database, tenant_id, kind))


async def _by_index(database: Database, tenant_id: str, kind: Kind) -> set[Month]:
    found: set[Month] = set()
    since: datetime | None = None
    while True:

        async def work(session: Session, since: datetime | None = since) -> datetime | None:
            return await first_after(session, kind, since)

        moment = await database.read(work, tenant=tenant_id)
        if moment is None:
            return found
        found.add(Month.of(moment))
        if Month.of(moment).is_last:
            return found
        since = Month.of(moment).ends


async def _by_id(database: Database, tenant_id: str, kind: Kind) -> set[Month]:
    found: set[Month] = set()
    after: str | None = None
    while True:

        async def work(session: Session, after: str | None = after) -> tuple[Sequence[datetime], str | None]:
            return await read_times(session, kind, after)

        times, after = await database.read(work, tenant=tenant_id)
        found |= {Month.of(one) for one in times}
        if after is None:
            return found


async def dropped_before(database: Database, tenant_id: str, kind: Kind) -> datetime | None:
    """Return the time before which rows of a kind may have been deleted; None: all are there."""
    marked = _MARKED.get(kind.name)
    return None if marked is None else await database.read(partial(kept_since, kind=marked), tenant=tenant_id)


def passes(kind: Kind, months: Sequence[Month]) -> Iterator[list[Month]]:
    """Yield the months that are read together."""
    rest = iter(months)
    while some := list(islice(rest, 1 if kind.by_time else MONTHS_AT_ONCE)):
        yield some


async def stream(
    database: Database,
    tenant_id: str,
    kind: Kind,
    sinks: Mapping[Month, Sink],
    pacer: Pacer,
    since: datetime | None = None,
) -> None:
    """Read the rows of these months once and give them to the sinks, in short units of work that pause for tills.

    ``since``: only rows from this time on.
    """
    begins, ends = min(sinks).begins, max(sinks).ends
    begins = max(begins, since or begins)
    async for page in _pages(database, tenant_id, partial(read_page, kind=kind, begins=begins, ends=ends), pacer):
        for table, rows in page.rows.items():
            for month, own in _by_month(kind, table, rows):
                if month in sinks:
                    sinks[month].add(table, own)


async def _pages(database: Database, tenant_id: str, read: Callable[..., Any], pacer: Pacer) -> AsyncIterator[Page]:
    after: Place | None = None
    while True:
        began = pacer.now()

        async def work(session: Session, after: Place | None = after) -> Any:
            return await read(session, after=after)

        page: Page = await database.read(work, tenant=tenant_id)
        yield page
        after = page.following
        if after is None:
            return
        await pacer.rest_after(began)


def _by_month(kind: Kind, table: str, rows: Rows) -> Iterator[tuple[Month, Rows]]:
    place = [column.name for column in columns_of(table)].index(kind.moment)
    found: dict[Month, list[Sequence[Any]]] = {}
    for row in rows:
        found.setdefault(Month.of(row[place]), []).append(row)
    yield from found.items()

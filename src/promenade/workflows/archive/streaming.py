"""The rows of a kind, page by page in bounded memory, each month to a sink of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol

from promenade.store.archive.reading import Kind, Page, Place, columns_of, earliest, read_page
from promenade.store.driver.unit import Database, Session
from promenade.workflows.archive.months import Month
from promenade.workflows.pace import Pacer

MONTHS_AT_ONCE = 12
"""Months that one pass over all rows serves; each holds some rows in memory."""

Rows = Sequence[Sequence[Any]]


class Sink(Protocol):
    """Takes the rows of a month in their order."""

    def add(self, table: str, rows: Rows) -> None:
        """Take rows of one of the kind's tables."""


async def first_month(database: Database, tenant_id: str, kind: Kind) -> Month | None:
    """Return the month of the tenant's first row of a kind; None: there is none."""
    found: Month | None = None
    after: str | None = None
    while True:

        async def work(session: Session, after: str | None = after) -> Any:
            return await earliest(session, kind, after)

        moment, after = await database.read(work, tenant=tenant_id)
        if moment is not None and (found is None or Month.of(moment) < found):
            found = Month.of(moment)
        if after is None:
            return found


def passes(kind: Kind, months: Sequence[Month]) -> Iterator[list[Month]]:
    """Yield the months that are read together."""
    rest = iter(months)
    while some := list(islice(rest, 1 if kind.by_time else MONTHS_AT_ONCE)):
        yield some


async def stream(database: Database, tenant_id: str, kind: Kind, sinks: Mapping[Month, Sink], pacer: Pacer) -> None:
    """Read the rows of these months once and give them to the sinks, in short units of work that pause for tills."""
    begins, ends = min(sinks).begins, max(sinks).ends
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

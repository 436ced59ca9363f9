"""Compare an archive with the database: every row, the number of rows and the sums of amounts, file by file.

What the files hold is read back and compared with what the database returns now; the sums are added up on both sides by
different means.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from promenade.store.archive.reading import Kind
from promenade.store.clockwork.dropping import read_wish
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.kept import keep_check
from promenade.workflows.archive import manifests
from promenade.workflows.archive.manifests import Manifest
from promenade.workflows.archive.months import Month
from promenade.workflows.archive.places import Place, place_errors
from promenade.workflows.archive.streaming import Rows, dropped_before, months_with_rows, passes, stream
from promenade.workflows.archive.tables import Sums, add_sums, as_table, schema_of, sums_of_rows, sums_of_table
from promenade.workflows.pace import NO_REST, Pacer

_BATCH_ROWS = 20_000  # of a file in memory
_TIME = pa.timestamp("us", "UTC")
UNDER_WAY = timedelta(hours=1)
"""How long before a check a sale, or its cancellation, may have begun that the check did not see."""

Verdict = Literal["same", "dropped", "differs", "damaged"]
"""``dropped``: the database has no rows of it any more; ``differs``: from the database; ``damaged``: the files are not
those of the manifest, or there is none.
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found about a table's month; ``rows`` of the database, ``archived`` of the files."""

    table: str
    month: Month
    rows: int
    archived: int
    verdict: Verdict


@dataclass(slots=True)
class _Table:
    """The rows of the database beside those of the files."""

    name: str
    archived: _Reader
    rows: int = 0
    same: bool = True
    sums: Sums = field(default_factory=dict)

    def add(self, rows: Rows) -> None:
        self.rows += len(rows)
        add_sums(self.sums, sums_of_rows(self.name, rows))
        if self.same:  # the first difference is enough: the rest is only counted
            expected = as_table(self.name, rows).select(self.archived.columns)
            self.same = self.archived.take(len(rows)).equals(expected)


class _Reader:
    """The rows of a month's files, in their order.

    An older program may have written them, with fewer columns: those are compared.
    """

    def __init__(
        self, place: Place, table: str, folder: str, manifest: Manifest, moment: str, since: datetime | None
    ) -> None:
        self.sums: Sums = {}
        self._moment, self._since = moment, since
        self.rows = 0
        self._table = table
        names = [f"{folder}/{file.name}" for file in manifest.files]
        self._schema = _archived_schema(place, table, names)
        self._batches = self._read(place, names)
        self._rest = self._schema.empty_table()

    @property
    def columns(self) -> list[str]:
        """The columns that the files have."""
        names: list[str] = self._schema.names
        return names

    def take(self, count: int) -> pa.Table:
        """Return the next rows; fewer than ``count`` if there are no more."""
        while self._rest.num_rows < count and (batch := next(self._batches, None)) is not None:
            self._rest = pa.concat_tables([self._rest, batch])
        taken, self._rest = self._rest.slice(0, count), self._rest.slice(count)
        return taken

    def end(self) -> None:
        """Read what is left."""
        for _ in self._batches:
            pass

    def _read(self, place: Place, names: Sequence[str]) -> Iterator[pa.Table]:
        for name in names:
            with place.open(name) as opened, pq.ParquetFile(opened) as parquet:
                for batch in parquet.iter_batches(_BATCH_ROWS, columns=self.columns):
                    table = pa.Table.from_batches([batch]).select(self.columns).cast(self._schema)
                    if self._since is not None:
                        table = table.filter(pc.greater_equal(table[self._moment], pa.scalar(self._since, _TIME)))
                    self.rows += table.num_rows
                    add_sums(self.sums, sums_of_table(self._table, table))
                    yield table


def _archived_schema(place: Place, table: str, names: Sequence[str]) -> pa.Schema:
    schema = schema_of(table)
    if not names:
        return schema
    with place.open(names[0]) as opened, pq.ParquetFile(opened) as parquet:
        there = set(parquet.schema_arrow.names)
    return pa.schema([one for one in schema if one.name in there])


class _Month:
    def __init__(self, tables: dict[str, _Table]) -> None:
        self.tables = tables

    def add(self, table: str, rows: Rows) -> None:
        if table in self.tables:
            self.tables[table].add(rows)


async def check_archive(
    database: Database,
    place: Place,
    tenant_id: str,
    kinds: Sequence[Kind],
    *,
    at: datetime,
    since: Month | None = None,
    until: Month | None = None,
    tell: Callable[[Checked], None],
) -> None:
    """Compare the archived months of a tenant's kinds with the database at ``at``; ``tell`` gets each table's month.

    A check of all months of sales notes up to when the archive has them, if the tenant wants their logs to be deleted.
    Raises Unavailable (ARCHIVE_UNAVAILABLE).
    """
    with place_errors():
        for kind in kinds:
            there = {month for table in kind.tables for month in manifests.months_in(place, table, tenant_id)}
            wanted = [one for one in sorted(there) if (since or one) <= one <= (until or one)]
            dropped = await dropped_before(database, tenant_id, kind)
            differing: set[Month] = set()
            for some in passes(kind, wanted):
                async for found in _compared(database, place, tenant_id, kind, some, dropped):
                    if found.verdict in {"differs", "damaged"}:
                        differing.add(found.month)
                    tell(found)
            if kind.name == "calculation_logs" and since is None and until is None:
                rows = [one for one in await months_with_rows(database, tenant_id, kind) if _is_kept(one, dropped)]
                same = list(takewhile((there - differing).__contains__, rows))
                await _note(database, tenant_id, same[-1].ends if same else None, at)


def _is_kept(month: Month, dropped: datetime | None) -> bool:
    return dropped is None or month.is_last or dropped < month.ends


async def _note(database: Database, tenant_id: str, archived_before: datetime | None, at: datetime) -> None:
    """Note the check for the job that deletes logs; what was under way when it began may not be in it."""

    async def work(session: Session) -> None:
        wish = await read_wish(session)
        if wish is not None and not wish.is_unarchived:
            await keep_check(session, archived_before=archived_before, at=at - UNDER_WAY)

    await database.write(work, tenant=tenant_id)


async def _compared(
    database: Database, place: Place, tenant_id: str, kind: Kind, months: Sequence[Month], dropped: datetime | None
) -> AsyncIterator[Checked]:
    """Yield the results of these months; what is before ``dropped`` is taken from their manifests alone."""
    sinks, others = _opened(place, tenant_id, kind, months, dropped)
    for found in others:
        yield found
    if sinks:
        await stream(database, tenant_id, kind, sinks, Pacer(NO_REST), dropped)
    for month, sink in sinks.items():
        for table in sink.tables.values():
            yield _verdict(month, table)


def _opened(
    place: Place, tenant_id: str, kind: Kind, months: Sequence[Month], dropped: datetime | None
) -> tuple[dict[Month, _Month], list[Checked]]:
    """Return the months whose files are those of their manifests, and the tables of which they are not or that have
    been dropped.
    """
    sinks: dict[Month, _Month] = {}
    others = []
    for month in months:
        whole: dict[str, _Table] = {}
        for table in kind.tables:
            folder = manifests.folder_of(table, tenant_id, month)
            manifest = manifests.read_manifest(place, folder)
            if manifest is None or not _is_whole(place, folder, manifest):
                others.append(Checked(table, month, 0, 0, "damaged"))
            elif not _is_kept(month, dropped):
                others.append(Checked(table, month, 0, manifest.rows, "dropped"))
            else:
                since = dropped if dropped is not None and dropped > month.begins else None
                whole[table] = _Table(table, _Reader(place, table, folder, manifest, kind.moment, since))
        if whole:
            sinks[month] = _Month(whole)
    return sinks, others


def _is_whole(place: Place, folder: str, manifest: Manifest) -> bool:
    names = place.names(folder)
    is_complete = manifests.are_there(manifest, names)
    is_all = names.keys() == {manifests.NAME, *(file.name for file in manifest.files)}
    return (
        is_complete
        and is_all
        and all(manifests.digest_of(place, f"{folder}/{file.name}") == file.sha256 for file in manifest.files)
    )


def _verdict(month: Month, table: _Table) -> Checked:
    table.archived.end()
    archived = table.archived.rows
    columns = set(table.archived.columns)
    expected = {
        currency: {name: value for name, value in sums.items() if name in columns}
        for currency, sums in table.sums.items()
    }
    is_same = table.same and archived == table.rows and expected == table.archived.sums
    return Checked(table.name, month, table.rows, archived, "same" if is_same else "differs")

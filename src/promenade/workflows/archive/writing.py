"""Write finished months of logs and ledgers as Parquet files, each as one that is whole or not there.

The bytes of a file follow from its rows: the same rows in the same order, in groups of equal size. So a month that is
written again is compared, and replaced only if its rows have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from promenade.errors import Conflict
from promenade.store.archive.reading import Kind
from promenade.store.driver.unit import Database
from promenade.workflows.archive import manifests
from promenade.workflows.archive.manifests import File, Manifest
from promenade.workflows.archive.months import SETTLED_DAYS, Month, is_finished
from promenade.workflows.archive.places import Place, place_errors
from promenade.workflows.archive.streaming import Rows, dropped_before, months_with_rows, passes, stream
from promenade.workflows.archive.tables import Sums, add_sums, as_table, schema_of, sums_of_rows
from promenade.workflows.pace import NO_REST, Pacer

GROUP_ROWS = 20_000
"""Rows of a row group: what a table of a month holds in memory."""
PART_ROWS = 250 * GROUP_ROWS
"""Rows of a file at most."""

Result = Literal["written", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a table's month."""

    table: str
    month: Month
    rows: int
    result: Result


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows of a group and of a file; smaller ones are for tests."""

    group: int = GROUP_ROWS
    part: int = PART_ROWS


class _Bounds(NamedTuple):
    """What a row group holds: how many rows, and the first and the last time and ID."""

    rows: int
    time_from: datetime
    time_to: datetime
    id_from: str
    id_to: str

    @classmethod
    def of(cls, group: pa.Table, moment: str) -> _Bounds:
        times, ids = (pc.min_max(group[name]).as_py() for name in (moment, "id"))
        return cls(group.num_rows, times["min"], times["max"], ids["min"], ids["max"])


@dataclass(slots=True)
class _Files:
    """The files of a table's month while they are written aside."""

    table: str
    moment: str
    start: Path
    sizes: Sizes
    rows: int = 0
    sums: Sums = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    _waiting: list[pa.Table] = field(default_factory=list)
    _open: pq.ParquetWriter | None = None
    _groups: list[_Bounds] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        self.rows += len(rows)
        add_sums(self.sums, sums_of_rows(self.table, rows))
        self._waiting.append(as_table(self.table, rows))
        while sum(one.num_rows for one in self._waiting) >= self.sizes.group:
            whole = pa.concat_tables(self._waiting)
            self._waiting = [whole.slice(self.sizes.group)]
            self._write(whole.slice(0, self.sizes.group))

    def finish(self) -> None:
        rest = pa.concat_tables(self._waiting) if self._waiting else schema_of(self.table).empty_table()
        self._waiting = []
        if rest.num_rows:
            self._write(rest)
        self._end()

    def _write(self, group: pa.Table) -> None:
        if self._open is None:
            self.paths.append(self.start.with_name(f"{self.start.name}-{len(self.paths)}.parquet"))
            self._open = pq.ParquetWriter(
                self.paths[-1], schema_of(self.table), compression="zstd", store_decimal_as_integer=True
            )
        self._open.write_table(group.combine_chunks(), row_group_size=self.sizes.group)
        self._groups.append(_Bounds.of(group, self.moment))
        if sum(one.rows for one in self._groups) >= self.sizes.part:
            self._end()

    def _end(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        path, groups = self.paths[-1], self._groups
        self._groups = []
        file = File(
            name=f"part-{len(self.files)}.parquet",
            rows=sum(one.rows for one in groups),
            bytes=path.stat().st_size,
            sha256=manifests.digest(path),
            time_from=min(one.time_from for one in groups),
            time_to=max(one.time_to for one in groups),
            id_from=min(one.id_from for one in groups),
            id_to=max(one.id_to for one in groups),
        )
        self.files.append(file)


class _Month:
    """The tables of a kind's month."""

    def __init__(self, kind: Kind, month: Month, aside: Path, sizes: Sizes) -> None:
        self.tables = {name: _Files(name, kind.moment, aside / f"{name}-{month}", sizes) for name in kind.tables}

    def add(self, table: str, rows: Rows) -> None:
        self.tables[table].add(rows)


@dataclass(frozen=True, slots=True)
class _Run:
    place: Place
    aside: Path
    tenant_id: str
    at: datetime

    def publish(self, month: Month, new: _Files) -> Result:
        """Let the files of a table's month appear; the manifest is the last, and of a replaced month the first to go.

        Raises Conflict (ARCHIVE_HAS_MORE) if the database has fewer rows than the archive: they were deleted there.
        """
        place, folder = self.place, manifests.folder_of(new.table, self.tenant_id, month)
        before = manifests.read_manifest(place, folder)
        manifest = Manifest(
            manifests.FORMAT, new.table, self.tenant_id, str(month), new.rows, new.sums, new.files, self.at
        )
        there = place.names(folder)
        if before is not None and before.same_rows(manifest) and manifests.are_there(before, there):
            return "unchanged"
        if before is not None and before.rows > new.rows:
            text = (
                f"The archive has {before.rows} rows of {new.table} for {month}, and the database {new.rows}: some were"
                " deleted there, so the archive was left as it is."
            )
            raise Conflict("ARCHIVE_HAS_MORE", text)
        if manifests.NAME in there:
            place.remove(f"{folder}/{manifests.NAME}")
        for path, file in zip(new.paths, new.files, strict=True):
            place.publish(path, f"{folder}/{file.name}")
        for name in there.keys() - {file.name for file in new.files} - {manifests.NAME}:
            place.remove(f"{folder}/{name}")
        manifests.write_manifest(place, folder, manifest, self.aside)
        return "written" if before is None else "replaced"


async def write_archive(
    database: Database,
    place: Place,
    tenant_id: str,
    kinds: Sequence[Kind],
    *,
    at: datetime,
    since: Month | None = None,
    until: Month | None = None,
    again: bool = False,
    settled_days: int = SETTLED_DAYS,
    sizes: Sizes | None = None,
    tell: Callable[[Written], None] = lambda _: None,
) -> None:
    """Archive the finished months of a tenant's kinds, from ``since`` (None: the first row) to ``until``, inclusive.

    Months that are archived are passed over; with ``again`` they are read anew, and replaced if their rows have
    changed. Months whose rows were dropped are passed over, too. ``tell`` gets each table's month when its files are
    there. Raises Conflict (ARCHIVE_BUSY, ARCHIVE_HAS_MORE) and Unavailable (ARCHIVE_UNAVAILABLE).
    """
    with place_errors(), place.writing() as aside:
        run = _Run(place, aside, tenant_id, at)
        for kind in kinds:
            months = set(await months_with_rows(database, tenant_id, kind))
            if again:  # of which the database may have no row any more
                months |= {one for table in kind.tables for one in manifests.months_in(place, table, tenant_id)}
            dropped = await dropped_before(database, tenant_id, kind)
            wanted = [
                month
                for month in sorted(months)
                if (since or month) <= month <= (until or month)
                and is_finished(month, at, settled_days)
                and (dropped is None or dropped < month.ends)
                and (_may_be_replaced(month, again, dropped) or not _is_archived(place, tenant_id, kind, month))
            ]
            for some in passes(kind, wanted):
                sinks = {month: _Month(kind, month, aside, sizes or Sizes()) for month in some}
                await stream(database, tenant_id, kind, sinks, Pacer(NO_REST))
                for month, sink in sinks.items():
                    for told in _finish(run, month, sink):
                        tell(told)


def _finish(run: _Run, month: Month, sink: _Month) -> list[Written]:
    """Publish the tables of a month; of one without rows nothing is written, unless the archive has some."""
    found = []
    for new in sink.tables.values():
        new.finish()
    if not any(new.rows for new in sink.tables.values()) and not _has_manifest(run, month, sink):
        return []
    for new in sink.tables.values():
        result = run.publish(month, new)
        found.append(Written(new.table, month, new.rows, result))
        for path in new.paths:
            path.unlink(missing_ok=True)
    return found


def _has_manifest(run: _Run, month: Month, sink: _Month) -> bool:
    folders = (manifests.folder_of(table, run.tenant_id, month) for table in sink.tables)
    return any(manifests.read_manifest(run.place, folder) is not None for folder in folders)


def _may_be_replaced(month: Month, again: bool, dropped: datetime | None) -> bool:
    """Whether a month that is archived is read again: of one that rows were dropped from the archive has more."""
    return again and (dropped is None or dropped <= month.begins)


def _is_archived(place: Place, tenant_id: str, kind: Kind, month: Month) -> bool:
    for table in kind.tables:
        folder = manifests.folder_of(table, tenant_id, month)
        manifest = manifests.read_manifest(place, folder)
        if manifest is None or not manifests.are_there(manifest, place.names(folder)):
            return False
    return True

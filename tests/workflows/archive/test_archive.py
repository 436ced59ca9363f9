"""An archive holds exactly what the tables hold, a file is whole or not there, and a check finds every difference."""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from promenade.errors import Conflict, Invalid, Unavailable
from promenade.store.archive import reading
from promenade.store.archive.reading import KINDS, columns_of
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.workflows.archive import streaming
from promenade.workflows.archive.checking import Checked, check_archive
from promenade.workflows.archive.months import Month, is_finished
from promenade.workflows.archive.places import Directory, Place, open_place
from promenade.workflows.archive.writing import Sizes, Written, write_archive
from tests.kit.databases import Databases
from tests.kit.examples import examples
from tests.workflows.archive.filled import SETS, add_rows, held

LATER = datetime(2026, 6, 1, tzinfo=UTC)
MONTHS = [Month(2026, number) for number in (1, 2, 3, 4)]
SMALL = Sizes(group=3, part=6)
TENANTS = count()
TENANT = "tenant/a"  # no name of a folder


@pytest.fixture(scope="module", autouse=True)
def _short_pages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PAGE_ROWS", 4)
        patch.setattr(reading, "PAGE_LOGS", 2)
        yield


async def write(database: Database, place: Place, tenant: str = TENANT, **rest: Any) -> list[Written]:
    told: list[Written] = []
    kinds = rest.pop("kinds", None) or list(KINDS.values())
    await write_archive(database, place, tenant, kinds, **{"at": LATER, "sizes": SMALL, "tell": told.append, **rest})
    return told


async def check(database: Database, place: Place, tenant: str = TENANT, **rest: Any) -> list[Checked]:
    told: list[Checked] = []
    await check_archive(database, place, tenant, list(KINDS.values()), **{"at": LATER, "tell": told.append, **rest})
    return told


def bad(found: list[Checked]) -> list[tuple[str, str, str]]:
    return [(one.table, str(one.month), one.verdict) for one in found if one.verdict != "same"]


def files(root: Path) -> dict[str, str]:
    """Return the files that are to be seen, with their digests."""
    found = (one for one in sorted(root.rglob("*")) if one.is_file() and one.name != "_lock")
    return {str(one.relative_to(root)): hashlib.sha256(one.read_bytes()).hexdigest() for one in found}


def archived(root: Path, name: str, month: Month) -> list[tuple[Any, ...]]:
    """Return what DuckDB reads of a table's month."""
    if not list(root.glob(f"kind={name}/*/month={month}/part-*.parquet")):
        return []
    names = ", ".join(f'"{one.name}"' for one in columns_of(name))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    found = connection.execute(
        f"SELECT {names} FROM read_parquet('{root}/kind={name}/*/month={month}/*.parquet', hive_partitioning = true)"
        " WHERE month = ?",
        [str(month)],
    ).fetchall()
    connection.close()
    return sorted(
        (tuple(one.astimezone(UTC) if isinstance(one, datetime) else one for one in row) for row in found), key=repr
    )


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    database = await open_database(url)
    try:
        yield database
    finally:
        await database.close()


@settings(max_examples=examples(16))
@given(seed=st.integers(0, 2**32), number=st.sampled_from((1, 3, 14)))
def test_files_hold_exactly_what_the_tables_hold(
    archive_url: str, tmp_path_factory: pytest.TempPathFactory, seed: int, number: int
) -> None:
    chance = random.Random(seed)
    tenant = f"tenant-{next(TENANTS)}"

    async def run() -> None:
        async with opened(archive_url) as database:
            root = tmp_path_factory.mktemp("archive")
            await add_rows(database, tenant, chance, number)
            told = await write(database, Directory(root), tenant)
            rows = {(one.table, one.month): one.rows for one in told}
            for name in SETS:
                for month in MONTHS:
                    expected = await held(database, tenant, name, month.begins, month.ends)
                    assert archived(root, name, month) == expected
                    assert rows.get((name, month), 0) == len(expected)
            assert bad(await check(database, Directory(root), tenant)) == []
            before = files(root)
            assert {one.result for one in await write(database, Directory(root), tenant, again=True)} <= {"unchanged"}
            assert await write(database, Directory(root), tenant) == []
            assert files(root) == before

    asyncio.run(run())


@pytest.fixture(scope="module")
def archive_url(databases: Databases) -> Iterator[str]:
    url = databases.create("sqlite")
    yield url
    databases.drop(url)


async def fill(database: Database, seed: int) -> None:
    """Add some 60 rows of each kind to a tenant and to another: so many that no month has none."""
    chance = random.Random(seed)
    for tenant in (TENANT, "other"):
        for _ in range(4):
            await add_rows(database, tenant, chance, 20, least=10)


@pytest.fixture
async def filled(databases: Databases, seed: int) -> AsyncIterator[Database]:
    """On SQLite alone: files do not know where rows are from."""
    url = databases.create("sqlite")
    async with opened(url) as database:
        await fill(database, seed)
        yield database
    databases.drop(url)


async def test_pages_lose_and_repeat_no_row_on_both_databases(database: Database, tmp_path: Path, seed: int) -> None:
    await fill(database, seed)
    await write(database, Directory(tmp_path))
    for name in SETS:
        for month in MONTHS:
            assert archived(tmp_path, name, month) == await held(database, TENANT, name, month.begins, month.ends)
    assert bad(await check(database, Directory(tmp_path))) == []
    assert not [name for name in files(tmp_path) if "tenant=other" in name]


async def first_log(database: Database) -> str:
    logs = table("CalculationLogs")
    begins, ends = MONTHS[1].begins, MONTHS[1].ends
    statement = sa.select(sa.func.min(logs.c.id)).where(logs.c.confirmed_at >= begins, logs.c.confirmed_at < ends)

    async def work(session: Any) -> Any:
        return (await session.execute(statement))[0][0]

    found: str = await database.read(work, tenant=TENANT)
    return found


async def run_sql(database: Database, statement: Any) -> None:
    async def work(session: Any) -> None:
        await session.rowcount(statement)

    await database.write(work, tenant=TENANT)


async def test_a_month_that_changed_is_told_and_replaced_when_asked(filled: Database, tmp_path: Path) -> None:
    place, logs = Directory(tmp_path), table("CalculationLogs")
    await write(filled, place)
    log = await first_log(filled)
    await run_sql(filled, sa.update(logs).where(logs.c.id == log).values(status="undone"))
    # lines and promotions repeat the status of their log
    found = {(name, month) for name, month, _ in bad(await check(filled, place))}
    assert ("calculation_logs", "2026-02") in found
    assert {month for _, month in found} == {"2026-02"}
    assert await write(filled, place) == []
    replaced = await write(filled, place, again=True)
    assert {(one.table, str(one.month)) for one in replaced if one.result == "replaced"} == found
    assert bad(await check(filled, place)) == []


async def test_rows_that_the_database_has_lost_stay_in_the_archive(filled: Database, tmp_path: Path) -> None:
    place, logs = Directory(tmp_path), table("CalculationLogs")
    await write(filled, place)
    before = files(tmp_path)
    await run_sql(filled, sa.delete(logs).where(logs.c.id == await first_log(filled)))
    assert ("calculation_logs", "2026-02", "differs") in bad(await check(filled, place))
    with pytest.raises(Conflict, match="some were deleted there") as refused:
        await write(filled, place, again=True)
    assert refused.value.code == "ARCHIVE_HAS_MORE"
    assert files(tmp_path) == before


def assert_readable(root: Path) -> None:
    for part in root.glob("kind=*/**/*.parquet"):
        pq.ParquetFile(part).read()


class Killed(BaseException):
    """The process ends at this moment."""


class Dying(Directory):
    """A directory whose process is killed at some step: a row group, a file that appears, one that goes."""

    def __init__(self, root: Path, lives: int) -> None:
        super().__init__(root)
        self.lives = lives

    def step(self) -> None:
        if self.lives == 0:
            raise Killed
        self.lives -= 1

    def publish(self, file: Path, name: str) -> None:
        self.step()
        super().publish(file, name)

    def remove(self, name: str) -> None:
        self.step()
        super().remove(name)


@pytest.mark.parametrize("again", [False, True], ids=["written", "replaced"])
async def test_killed_at_any_step_leaves_whole_files_and_the_next_run_completes_them(
    filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    wanted: dict[str, Any] = {"kinds": [KINDS["calculation_logs"]], "since": MONTHS[1], "until": MONTHS[1]}
    wanted["sizes"] = Sizes(group=20, part=20)
    original, logs = pq.ParquetWriter.write_table, table("CalculationLogs")
    for lives in count():
        root = tmp_path / str(lives)
        if again:
            await write(filled, Directory(root), **wanted)
            await run_sql(filled, sa.update(logs).values(status=f"undone {lives}"))
        place = Dying(root, lives)

        def write_table(writer: Any, group: Any, place: Dying = place, **options: Any) -> None:
            original(writer, group, **options)
            place.step()

        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, "write_table", write_table)
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # who is killed does not clean up
            try:
                await write(filled, place, again=again, **wanted)
            except Killed:
                assert_readable(root)  # here, while the frames of the error still hold files that were not ended
                is_over = False
            else:
                is_over = True
        await write(filled, Directory(root), **wanted)
        assert "damaged" not in {verdict for _, _, verdict in bad(await check(filled, Directory(root)))}
        await write(filled, Directory(root), again=True, **wanted)
        assert bad(await check(filled, Directory(root))) == []
        assert_nothing_aside(root)
        if is_over:
            assert lives > 6
            return


def assert_nothing_aside(root: Path) -> None:
    assert not (root / "_writing").exists()


async def test_a_check_finds_whatever_happened_to_files(filled: Database, tmp_path: Path) -> None:
    place = Directory(tmp_path)
    await write(filled, place)
    folder = tmp_path / "kind=audit_logs/tenant=tenant%2Fa/month=2026-02"
    part = folder / "part-0.parquet"
    whole, manifest = part.read_bytes(), (folder / "_manifest.json").read_bytes()
    expected = [("audit_logs", "2026-02", "damaged")]

    def flip() -> None:
        part.write_bytes(bytes([whole[0]]) + bytes([whole[1] ^ 1]) + whole[2:])

    def repair() -> None:
        part.write_bytes(whole)
        (folder / "_manifest.json").write_bytes(manifest)
        (folder / "part-9.parquet").unlink(missing_ok=True)

    for harm in (
        flip,
        part.unlink,
        lambda: part.write_bytes(whole[:-1]),
        (folder / "_manifest.json").unlink,
        lambda: (folder / "_manifest.json").write_text("{"),
        lambda: (folder / "part-9.parquet").write_bytes(whole),
    ):
        harm()
        assert bad(await check(filled, place)) == expected
        repair()
    assert bad(await check(filled, place)) == []


async def test_only_one_process_writes_a_directory(filled: Database, tmp_path: Path) -> None:
    with Directory(tmp_path).writing(), pytest.raises(Conflict) as refused:
        await write(filled, Directory(tmp_path))
    assert refused.value.code == "ARCHIVE_BUSY"
    assert await write(filled, Directory(tmp_path))


async def test_a_disk_that_fails_is_an_error_in_one_line(filled: Database, tmp_path: Path) -> None:
    class Full(Directory):
        def publish(self, file: Path, name: str) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(Unavailable, match="No space left") as failed:
        await write(filled, Full(tmp_path))
    assert failed.value.code == "ARCHIVE_UNAVAILABLE"
    assert files(tmp_path) == {}


async def test_months_are_chosen(filled: Database, tmp_path: Path) -> None:
    place = Directory(tmp_path)
    told = await write(filled, place, since=Month(2026, 2), until=Month(2026, 2))
    assert {str(one.month) for one in told} == {"2026-02"}
    assert {str(one.month) for one in await write(filled, place, at=datetime(2026, 4, 8, tzinfo=UTC))} == {
        "2026-01", "2026-03",
    }  # fmt: skip
    assert {str(one.month) for one in await check(filled, place, since=Month(2026, 3))} == {"2026-03"}


def test_a_month_is_finished_when_it_is_over_and_stores_had_time_to_send() -> None:
    december, ended = Month(2026, 12), datetime(2027, 1, 1, tzinfo=UTC)
    assert is_finished(december, ended, 0)
    assert not is_finished(december, ended - timedelta(microseconds=1), 0)
    assert is_finished(december, ended + timedelta(days=7), 7)
    assert not is_finished(december, ended + timedelta(days=7, microseconds=-1), 7)
    assert not is_finished(Month(9999, 12), ended, 0)


async def test_a_till_whose_clock_was_wrong_by_centuries_costs_no_more(
    filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only months with rows are read: a sale may be of any time that its till says."""
    place = Directory(tmp_path)
    await write(filled, place)
    wrong = {"calculation_logs": datetime(1, 1, 1, tzinfo=UTC), "budget_consumptions": datetime(1970, 5, 1, tzinfo=UTC)}
    for name, at in wrong.items():
        rows = table(KINDS[name].set_name)
        first = sa.select(sa.func.min(rows.c.id)).scalar_subquery()
        await run_sql(filled, sa.update(rows).where(rows.c.id == first).values({KINDS[name].moment: at}))
    last, logs = datetime(9999, 12, 31, tzinfo=UTC), table("CalculationLogs")
    await run_sql(filled, sa.update(logs).where(logs.c.id == await first_log(filled)).values(confirmed_at=last))
    reads: list[str] = []
    original = reading.read_page

    async def counted(session: Any, kind: Any, *arguments: Any, **named: Any) -> Any:
        reads.append(kind.name)
        return await original(session, kind, *arguments, **named)

    monkeypatch.setattr(streaming, "read_page", counted)
    told = await write(filled, place)
    assert {(one.table, str(one.month)) for one in told if one.table in wrong} == {
        ("calculation_logs", "0001-01"), ("budget_consumptions", "1970-05"),
    }  # fmt: skip
    assert 0 < len(reads) < 60
    reads.clear()
    assert await write(filled, place) == []
    assert reads == []


@pytest.mark.parametrize("text", ["2026-13", "2026-1", "2026", "", "2026-10-01", "0000-01", "\u0662026-10"])
def test_what_is_no_month_is_refused_by_name(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        Month.parse(text, "since")
    assert (refused.value.code, refused.value.target) == ("BAD_MONTH", "since")


@pytest.mark.parametrize(
    "address",
    [
        "", " ", "a\0b", "ftp://bucket/x", "s3://", "s3:///x", "s3://key:secret@bucket/x", "s3://bucket/x#y",
        "s3://bucket/x?secret=1", "s3://bucket/x?endpoint=minio", "s3://bucket/x?endpoint=http://a:b@minio",
        "s3://bucket/x?endpoint=ftp://minio", "s3://bucket/x?endpoint=http://minio/path", "s3://bucket/x?endpoint",
        "gs://bucket/x", "s3://[bucket/x",
    ],
)  # fmt: skip
def test_what_is_no_archive_is_refused(address: str) -> None:
    with pytest.raises(Invalid) as refused:
        open_place(address)
    assert (refused.value.code, refused.value.target) == ("BAD_ARCHIVE", "archive")


async def test_files_of_an_older_program_are_compared_by_their_columns(filled: Database, tmp_path: Path) -> None:
    """A newer program has more columns; what is archived stays as it is."""
    place = Directory(tmp_path)
    await write(filled, place, sizes=Sizes())
    await asyncio.to_thread(_forget_a_column, tmp_path / "kind=audit_logs/tenant=tenant%2Fa/month=2026-02")
    assert bad(await check(filled, place)) == []


def _forget_a_column(folder: Path) -> None:
    part, manifest = folder / "part-0.parquet", folder / "_manifest.json"
    before = hashlib.sha256(part.read_bytes()).hexdigest(), part.stat().st_size
    pq.write_table(pq.ParquetFile(part).read().drop_columns(["agent"]), part)
    text = manifest.read_text().replace(before[0], hashlib.sha256(part.read_bytes()).hexdigest())
    manifest.write_text(text.replace(f'"bytes": {before[1]}', f'"bytes": {part.stat().st_size}'))


async def test_memory_is_bounded_by_groups_of_equal_size_whatever_the_pages_are(
    filled: Database, tmp_path: Path
) -> None:
    """So a month may have any number of rows, and those that come later do not change the groups before them."""
    await write(filled, Directory(tmp_path))
    for name in SETS:
        for month in MONTHS:
            groups = group_sizes(tmp_path, name, month)
            assert {size for part in groups for size in part[:-1]} <= {SMALL.group}
            assert {sum(part) for part in groups[:-1]} <= {SMALL.part}
            assert all(0 < sum(part) <= SMALL.part for part in groups)


def group_sizes(root: Path, name: str, month: Month) -> list[list[int]]:
    """Return the rows of each group of each part."""
    parts = sorted(root.glob(f"kind={name}/*/month={month}/part-*.parquet"), key=lambda one: int(one.stem[5:]))
    read = [pq.ParquetFile(part).metadata for part in parts]
    return [[one.row_group(number).num_rows for number in range(one.num_row_groups)] for one in read]

"""`promenade archive` from the command line: what it prints, its exit codes, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from promenade.cli import archive_commands, main
from promenade.store.archive.reading import KINDS
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from tests.kit.databases import Databases
from tests.kit.tenants import make_tenants
from tests.workflows.archive.filled import add_rows


@pytest.fixture(scope="module")
def database_url(databases: Databases) -> Iterator[str]:
    url = databases.create("sqlite")
    make_tenants(url, "acme")
    asyncio.run(fill(url))
    yield url
    databases.drop(url)


async def fill(url: str) -> None:
    database = await open_database(url)
    for seed in range(3):
        await add_rows(database, "acme", random.Random(seed), 20)
    await database.close()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["archive", *arguments])
    return int(ended.value.code or 0), *capsys.readouterr()


def test_months_are_written_and_checked(database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--tenant", "acme", "--archive", str(tmp_path), "--database-url", database_url)
    code, printed, _ = run(capsys, "write", *options, "--json")
    written = json.loads(printed)
    assert code == 0
    assert {(one["table"], one["result"]) for one in written} >= {(name, "written") for name in KINDS}
    assert {one["month"] for one in written} <= {"2026-01", "2026-02", "2026-03"}
    code, printed, _ = run(capsys, "check", *options, "--json")
    assert (code, {one["result"] for one in json.loads(printed)}) == (0, {"same"})
    assert run(capsys, "write", *options)[:2] == (0, "There are none.\n")
    asyncio.run(undo_a_sale(database_url))
    code, printed, _ = run(capsys, "check", *options, "--kind", "calculation_logs")
    assert code == 1
    assert "differs" in printed
    code, printed, _ = run(capsys, "write", *options, "--again", "--json")
    assert (code, {one["result"] for one in json.loads(printed)}) == (0, {"unchanged", "replaced"})
    assert run(capsys, "check", *options)[0] == 0


async def undo_a_sale(url: str) -> None:
    database, logs = await open_database(url), table("CalculationLogs")
    first = sa.select(sa.func.min(logs.c.id)).scalar_subquery()
    undone = sa.update(logs).where(logs.c.id == first).values(status="CANCELLED!")
    await database.write(lambda session: session.rowcount(undone), tenant="acme")
    await database.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tenant", "nobody"), "There is no tenant nobody."),
        (("--since", "2026-13"), "since must be a month such as 2026-10, not 2026-13."),
        (("--until", "soon"), "until must be a month such as 2026-10, not soon."),
        (("--archive", "ftp://x"), "The archive must be a directory, or s3://bucket/folder"),
        (("--kind", "iterations"), "'iterations' is not one of"),
    ],
)
def test_what_cannot_be_used_is_named(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    usual = ("--tenant", "acme", "--archive", str(tmp_path / "new"), "--database-url", database_url)
    code, printed, told = run(capsys, "write", *usual, *options)
    assert (code, printed) == (2, "")
    assert message in told
    assert list(tmp_path.glob("*/*")) == []


def test_without_pyarrow_it_says_how_to_install_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.startswith(("pyarrow", "promenade.workflows.archive"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, told = run(capsys, "check", "--tenant", "acme", "--archive", str(tmp_path))
    assert code == 1
    assert told == "promenade: The package pyarrow is missing: in a clone, pip install '.[archive]'.\n"


def test_the_kinds_to_choose_from_are_those_of_the_store() -> None:
    assert tuple(KINDS) == archive_commands.KINDS

"""Files of a SQLite database belong to their owner alone, whoever made them and whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from promenade.cli.console import prepare_database
from promenade.settings import Settings
from promenade.store.driver.session import open_database
from promenade.store.driver.sqlite.sole import sole_process


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A process that would let everybody read and write what it makes."""
    usual = os.umask(0)
    yield
    os.umask(usual)


def modes(directory: Path) -> dict[str, int]:
    """The permissions of a directory and of all in it."""
    return {one.name: stat.S_IMODE(one.stat().st_mode) for one in (directory, *directory.iterdir())}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("is_there", [False, True])
async def test_only_the_owner_reads_a_database(tmp_path: Path, is_there: bool) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    name = settings.database_url.rpartition("/")[2]
    if is_there:
        settings.data_dir.mkdir(mode=0o755)
        for suffix in ("", ".lock", "-wal"):
            (settings.data_dir / f"{name}{suffix}").touch(mode=0o644)

    prepare_database(settings)
    with sole_process(settings.database_url):
        database = await open_database(settings.database_url)
        try:
            found = modes(settings.data_dir)
        finally:
            await database.close()

    assert {f"{name}{suffix}" for suffix in ("", ".lock", "-wal", "-shm")} < set(found)
    assert found.pop("data") == 0o700
    assert set(found.values()) == {0o600}


def test_a_directory_that_others_use_is_left_to_them(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / "else.txt").touch(mode=0o644)

    prepare_database(settings)

    found = modes(tmp_path)
    assert found.pop(settings.database_url.rpartition("/")[2]) == 0o600
    assert {found[tmp_path.name], found["else.txt"]} == {0o755, 0o644}

"""What an operator asks of a database first: its clock, and whether it is damaged. It is neither made nor upgraded."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime

import sqlalchemy as sa

from promenade.store.driver.migrations import in_transaction
from promenade.store.driver.sqlite.files import file_of

_CLOCK = sa.text("SELECT clock_timestamp()")


def clock_of(url: str, *, patience: float) -> datetime | None:
    """Return the time on the database's server, or when a SQLite file was last written; None: it is not there.

    ``patience`` in seconds. Raises the driver's errors.
    """
    if url.startswith("sqlite"):
        file = file_of(url)
        files = [] if file is None else [file, file.with_name(file.name + "-wal")]
        written = [one.stat().st_mtime for one in files if one.exists()]
        return datetime.fromtimestamp(max(written), UTC) if written else None
    told: datetime = in_transaction(url, lambda connection: connection.execute(_CLOCK).scalar_one(), patience=patience)
    return told.astimezone(UTC)


def damage_of(url: str) -> Sequence[str]:
    """Return what SQLite finds wrong with its file, at most a few things; PostgreSQL has checksums of its own."""
    if not url.startswith("sqlite"):
        return []
    with closing(sqlite3.connect(str(file_of(url)))) as connection:  # it reads, so whoever sells may write meanwhile
        try:
            found = connection.execute("PRAGMA integrity_check(5)").fetchall()
        except sqlite3.OperationalError:
            raise  # it cannot be read now, which says nothing about what is in it
        except sqlite3.DatabaseError as error:
            return [str(error)]
    return [str(one) for (one,) in found if one != "ok"]

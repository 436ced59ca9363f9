"""The file of a queue: commands in order, each of its steps one durable transaction of SQLite.

A command waits, or is set aside with the error that refused it, or is gone because it was delivered. Nothing is kept in
memory between steps, so a process may die between any two of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

_FORMAT = 1
_BUSY_SECONDS = 30.0  # how long a step waits for one of another process
_MADE = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    body BLOB NOT NULL,
    put_at TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    refusal TEXT
);
CREATE INDEX IF NOT EXISTS waiting ON commands (attempts, id) WHERE refusal IS NULL;
CREATE INDEX IF NOT EXISTS in_order ON commands (transaction_id, id) WHERE refusal IS NULL;
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
# The first of each transaction, those that were tried least before the others: one that fails every time comes last.
_NEXT = """
SELECT * FROM commands AS one
WHERE refusal IS NULL AND (?1 IS NULL OR transaction_id = ?1) AND NOT EXISTS (
    SELECT 1 FROM commands AS other
    WHERE other.refusal IS NULL AND other.transaction_id = one.transaction_id AND other.id < one.id)
ORDER BY attempts, id
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that waits in a queue."""

    id: int
    kind: str
    transaction_id: str
    body: bytes
    put_at: datetime
    attempts: int
    last_error: str | None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A command that was refused for good, and why."""

    id: int
    kind: str
    transaction_id: str
    body: bytes
    put_at: datetime
    code: str
    message: str
    field: str | None
    status: int | None


class Store:
    """The commands of one file. Any number of threads and processes may use it."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._turn_path = self._path.with_name(f"{self._path.name}-turn")
        with self._open() as database:
            (found,) = database.execute("PRAGMA user_version").fetchone()
            if found > _FORMAT:
                raise ValueError(f"{path} was written by a later version of promenade-client")
            database.executescript(_MADE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA synchronous = EXTRA")  # on the disk when a step ends, its journal's end too
            yield database

    def put(self, kind: str, transaction_id: str, body: bytes, at: datetime) -> int:
        """Keep a command; return its number."""
        with self._open() as database:
            row = (kind, transaction_id, body, at.isoformat())
            insert = "INSERT INTO commands (kind, transaction_id, body, put_at) VALUES (?, ?, ?, ?)"
            number = database.execute(insert, row).lastrowid
        return number or 0

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Hold the right to send; False if another thread or process holds it. It ends with the process, however."""
        connection = sqlite3.connect(self._turn_path, timeout=0, isolation_level=None, check_same_thread=False)
        with closing(connection) as holder:
            try:
                holder.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                yield False
            else:
                yield True

    def next(self, tried: Collection[str], transaction_id: str | None) -> Command | None:
        """Return the command to send next: of no transaction that was tried, or of the given one."""
        with self._open() as database:
            for row in database.execute(_NEXT, (transaction_id,)):
                if row["transaction_id"] not in tried:
                    return Command(**_common(row), attempts=row["attempts"], last_error=row["last_error"])
        return None

    def delivered(self, number: int) -> None:
        """Forget a command that was carried out."""
        with self._open() as database:
            database.execute("DELETE FROM commands WHERE id = ?", (number,))

    def failed(self, number: int, error: str) -> None:
        """Note that a command could not be delivered."""
        with self._open() as database:
            statement = "UPDATE commands SET attempts = attempts + 1, last_error = ? WHERE id = ?"
            database.execute(statement, (error, number))

    def set_aside(self, aside: SetAside) -> None:
        """Set a command aside with what refused it."""
        refusal = {name: getattr(aside, name) for name in ("code", "message", "field", "status")}
        with self._open() as database:
            database.execute("UPDATE commands SET refusal = ? WHERE id = ?", (json.dumps(refusal), aside.id))

    def waiting(self) -> list[Command]:
        """Return the commands that wait, in the order in which they came."""
        with self._open() as database:
            rows = database.execute("SELECT * FROM commands WHERE refusal IS NULL ORDER BY id").fetchall()
        return [Command(**_common(row), attempts=row["attempts"], last_error=row["last_error"]) for row in rows]

    def count(self) -> int:
        """Return how many commands wait."""
        with self._open() as database:
            (count,) = database.execute("SELECT count(*) FROM commands WHERE refusal IS NULL").fetchone()
        return int(count)

    def refused(self) -> list[SetAside]:
        """Return the commands that were set aside, in the order in which they came."""
        with self._open() as database:
            rows = database.execute("SELECT * FROM commands WHERE refusal IS NOT NULL ORDER BY id").fetchall()
        return [SetAside(**_common(row), **json.loads(row["refusal"])) for row in rows]

    def again(self, number: int) -> None:
        """Let a command that was set aside wait again, at its old place. Raises LookupError."""
        self._settle("UPDATE commands SET refusal = NULL, attempts = 0 WHERE id = ? AND refusal IS NOT NULL", number)

    def forget(self, number: int) -> None:
        """Delete a command that was set aside. Raises LookupError."""
        self._settle("DELETE FROM commands WHERE id = ? AND refusal IS NOT NULL", number)

    def _settle(self, statement: str, number: int) -> None:
        with self._open() as database:
            if database.execute(statement, (number,)).rowcount != 1:
                raise LookupError(f"no command {number} was set aside")


def _common(row: sqlite3.Row) -> dict[str, Any]:
    named = {name: row[name] for name in ("id", "kind", "transaction_id", "body")}
    return {**named, "put_at": datetime.fromisoformat(row["put_at"])}

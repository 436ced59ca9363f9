"""Everything that a SQLite file holds, to look for what must not be there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def contents(url: str) -> str:
    """Return the names and the rows of all tables of a database. ``url``: ``sqlite:///`` and a path."""
    with closing(sqlite3.connect(Path(url.removeprefix("sqlite:///")))) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        # An index of texts is a virtual table, whose rows are in ordinary ones.
        names = [name for name, sql in made if not sql.startswith("CREATE VIRTUAL")]
        rows = (repr(row) for name in names for row in connection.execute(f'SELECT * FROM "{name}"'))
        return "\n".join([*names, *rows])

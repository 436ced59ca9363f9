"""A copy of a SQLite file beside it, taken while it is in use, to go back to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlalchemy.engine import make_url

from promenade.errors import Unavailable


def copy_beside(url: str, purpose: str, at: datetime) -> Path | None:
    """Copy the database to a file with its name, the purpose and the time; None: it is no SQLite file.

    The copy is readable by its owner only, and complete or not there. Raises Unavailable (COPY_FAILED).
    """
    name = make_url(url).database
    if not url.startswith("sqlite") or not name:
        return None
    copy = Path(f"{name}.{purpose}-{at:%Y%m%dT%H%M%SZ}")
    part = copy.with_name(copy.name + ".part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with closing(sqlite3.connect(name)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
        part.replace(copy)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        raise Unavailable("COPY_FAILED", f"The database cannot be copied to {copy}: {error}") from error
    return copy

"""The files of a SQLite database: which they are, that only their owner reads them, and copies to go back to."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from sqlalchemy.engine import make_url

from promenade.errors import Unavailable

_OTHERS = 0o077
_BESIDE = ("", "-wal", "-shm", ".lock")


def file_of(url: str) -> Path | None:
    """Return the file of a SQLite database; None: it is on a server, or in memory."""
    name = make_url(url).database
    return Path(name) if url.startswith("sqlite") and name and name != ":memory:" else None


def keep_private(url: str) -> None:
    """Make the file of a SQLite database if it is not there, and let only its owner read it, whoever made it.

    So also what SQLite writes beside it. Nothing is changed for a server's database, or for files of another owner.
    """
    file = file_of(url)
    if file is None or url.startswith("sqlite:///file:"):
        return
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for suffix in _BESIDE:
        take_from_others(file.with_name(file.name + suffix))


def take_from_others(path: Path) -> None:
    """Take from everybody but its owner what they may do with a file or directory; it may be missing, or not ours."""
    with suppress(FileNotFoundError, PermissionError):
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(mode & 0o7700)


def copy_beside(url: str, purpose: str, at: datetime | None = None) -> Path | None:
    """Copy the database to a file with its name, the purpose and, if given, the time; None: it is no SQLite file.

    The copy is readable by its owner only, and complete or not there. Raises Unavailable (COPY_FAILED).
    """
    name = make_url(url).database
    if not url.startswith("sqlite") or not name:
        return None
    copy = Path(f"{name}.{purpose}" + ("" if at is None else f"-{at:%Y%m%dT%H%M%SZ}"))
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

"""Allow only one process to serve a SQLite file: before 3.51.3 two checkpointing processes can corrupt it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import make_url

from promenade.errors import Unavailable
from promenade.store.driver.sqlite.files import keep_private


@contextmanager
def sole_process(url: str) -> Iterator[None]:
    """Hold the lock of the one process that serves the database of ``url``; PostgreSQL needs none.

    The lock is on a file beside the database's; the operating system releases it when the process ends in any way.
    Raises Unavailable (DATABASE_IN_USE).
    """
    name = make_url(url).database
    if not url.startswith("sqlite") or not name:
        yield
        return
    keep_private(url)
    handle = os.open(f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Unavailable(
                "DATABASE_IN_USE", f"Another promenade serves {name}: stop it first, or use PostgreSQL for several."
            ) from error
        yield
    finally:
        os.close(handle)

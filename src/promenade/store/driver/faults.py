"""The errors of database drivers, as one line that an operator understands."""

# ruff: noqa: PLC0415 -- drivers are loaded once they have failed

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from promenade.errors import Unavailable
from promenade.store.driver.migrations import SchemaAheadError


@contextmanager
def database_errors() -> Iterator[None]:
    """Convert what drivers raise to Unavailable with one line (SCHEMA_AHEAD, DATABASE_UNAVAILABLE)."""
    try:
        yield
    except SchemaAheadError as error:
        message = "The database belongs to a newer version of this program: install that one."
        raise Unavailable("SCHEMA_AHEAD", message) from error
    except Exception as error:
        if not _is_from_a_driver(error):
            raise
        cause = str(getattr(error, "orig", None) or error).partition("\n")[0]
        cause = cause or "it did not answer in time"  # what a TimeoutError says of itself
        raise Unavailable("DATABASE_UNAVAILABLE", f"The database cannot be used: {cause}") from error


def _is_from_a_driver(error: Exception) -> bool:
    import sqlite3

    from asyncpg import PostgresError
    from sqlalchemy.exc import SQLAlchemyError

    return isinstance(error, (OSError, sqlite3.Error, PostgresError, SQLAlchemyError))

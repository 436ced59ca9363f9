"""Counts the statements of units of work: a set-wise operation takes as many for a thousand rows as for two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import asyncpg
import pytest
from asyncpg.prepared_stmt import PreparedStatement

from promenade.store.driver.sqlite.database import SqliteDatabase
from promenade.store.driver.unit import Database, Session
from tests.kit.in_process import SERVICE_THREAD

__all__ = ["count_statements", "note_statements"]

_STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def count_statements(monkeypatch: pytest.MonkeyPatch, *more: str) -> Callable[[], int]:
    """Start counting the statements of all sessions; return a function that returns the count.

    ``more``: methods of sessions that are counted too. Those of a service that other tests keep in this process do not
    count: its worker asks now and then.
    """
    counted: list[str] = []

    def watch(name: str) -> None:
        original = getattr(Session, name)

        async def watched(self: Session, *arguments: Any, **named: Any) -> Any:
            if threading.current_thread().name != SERVICE_THREAD:
                counted.append(name)
            return await original(self, *arguments, **named)

        monkeypatch.setattr(Session, name, watched)

    for name in ("execute", "rowcount", "execute_many", *more):
        watch(name)
    return lambda: len(counted)


def note_statements(monkeypatch: pytest.MonkeyPatch, database: Database) -> list[str]:
    """Return a list to which every statement is added that a database carries out from now on, once for each time.

    A statement that the driver carries out for many sets of parameters is added for each of them; statements that only
    begin or end a transaction are left out, and so are those of other databases, which a service in this process asks.
    """
    noted: list[str] = []

    def note(text: str, times: int = 1) -> None:
        if text.lstrip().startswith(_STATEMENTS):
            noted.extend([text] * times)

    if isinstance(database, SqliteDatabase):
        for line in (database._writing, database._looking, *database._reading):
            line.raw.set_trace_callback(note)
        return noted

    def watch(owner: Any, name: str, of: Callable[..., tuple[str, int]]) -> None:
        original = getattr(owner, name)

        async def watched(self: Any, *arguments: Any, **named: Any) -> Any:
            if threading.current_thread().name != SERVICE_THREAD:
                note(*of(self, *arguments))
            return await original(self, *arguments, **named)

        monkeypatch.setattr(owner, name, watched)

    def once(_: Any, text: str, *values: Any) -> tuple[str, int]:
        return text, 1

    def for_each(_: Any, text: str, sets: Sequence[Any]) -> tuple[str, int]:
        return text, len(sets)

    watch(asyncpg.Connection, "fetch", once)
    watch(asyncpg.Connection, "execute", once)
    watch(asyncpg.Connection, "executemany", for_each)
    watch(PreparedStatement, "fetch", lambda self, *_: (self.get_query(), 1))
    return noted

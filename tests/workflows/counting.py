"""Counts the statements of a unit of work: a set-wise operation takes as many for a thousand rows as for two."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from promenade.store.driver.unit import Session
from tests.kit.in_process import SERVICE_THREAD

__all__ = ["count_statements"]


def count_statements(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Start counting the statements of all sessions; return a function that returns the count.

    Those of a service that other tests keep in this process do not count: its worker asks now and then.
    """
    counted: list[str] = []

    def watch(name: str) -> None:
        original = getattr(Session, name)

        async def watched(self: Session, *arguments: Any, **named: Any) -> Any:
            if threading.current_thread().name != SERVICE_THREAD:
                counted.append(name)
            return await original(self, *arguments, **named)

        monkeypatch.setattr(Session, name, watched)

    for name in ("execute", "rowcount", "execute_many"):
        watch(name)
    return lambda: len(counted)

"""How many statements a unit of work takes: what is done set-wise takes as many for a thousand rows as for two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from promenade.store.unit import Session

__all__ = ["count_statements"]


def count_statements(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """From now on count the statements of all sessions; the answer tells how many there were so far."""
    counted: list[str] = []

    def watch(name: str) -> None:
        original = getattr(Session, name)

        async def watched(self: Session, *arguments: Any, **named: Any) -> Any:
            counted.append(name)
            return await original(self, *arguments, **named)

        monkeypatch.setattr(Session, name, watched)

    for name in ("execute", "rowcount", "execute_many"):
        watch(name)
    return lambda: len(counted)

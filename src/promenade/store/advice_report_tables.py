"""Advice that was shown, and what came of it, added up by day."""

from __future__ import annotations

from collections.abc import Iterator

from promenade.store.system_columns import Definition

__all__ = ["advice_reports"]


def advice_reports() -> Iterator[Definition]:
    """All of them."""
    yield from ()

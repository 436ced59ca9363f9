"""What sales came to, added up for the reports about the use of promotions."""

from __future__ import annotations

from collections.abc import Iterator

from promenade.store.system_columns import Definition

__all__ = ["usage_reports"]


def usage_reports() -> Iterator[Definition]:
    """All of them."""
    yield from ()

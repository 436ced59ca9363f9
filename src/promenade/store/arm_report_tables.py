"""What the arms of pilots and experiments came to, added up."""

from __future__ import annotations

from collections.abc import Iterator

from promenade.store.system_columns import Definition

__all__ = ["arm_reports"]


def arm_reports() -> Iterator[Definition]:
    """All of them."""
    yield from ()

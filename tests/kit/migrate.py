"""The one place of the tests that knows how a database gets its schema."""

from __future__ import annotations

__all__ = ["migrate"]


def migrate(url: str) -> None:
    """Bring the database at ``url`` to the current schema, as `promenade db upgrade` does."""
    from promenade.store.migrations import upgrade

    upgrade(url)

"""The only place in the tests that knows how a database gets its schema."""

from __future__ import annotations

__all__ = ["grant", "migrate"]


def migrate(url: str) -> None:
    """Bring the database at ``url`` to the current schema, as `promenade db upgrade` does."""
    from promenade.store.driver.migrations import upgrade

    upgrade(url)


def grant(url: str, role: str) -> None:
    """Let ``role`` serve the database at ``url``, as `promenade db grant` does."""
    from promenade.store.driver.postgresql.roles import grant as grant_what_serving_needs

    grant_what_serving_needs(url, role)

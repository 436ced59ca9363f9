"""A receiver, and a shop with subscriptions to it, on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from promenade.store.driver.unit import Database
from tests.kit.receiver import Receiver
from tests.workflows.webhooks.post import Post, open_post


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver that accepts everything by default."""
    with Receiver() as running:
        yield running


@pytest.fixture
async def post(database: Database, receiver: Receiver) -> Post:
    """The webhooks of a shop that may call the receiver."""
    return await open_post(database, receiver)

"""A receiver, and a shop's post to it on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from promenade.store.unit import Database
from tests.kit.receiver import Receiver
from tests.workflows.webhooks.post import Post, open_post


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver that takes everything, until told otherwise."""
    with Receiver() as running:
        yield running


@pytest.fixture
async def post(database: Database, receiver: Receiver) -> Post:
    """The outgoing post of a shop that may call the receiver."""
    return await open_post(database, receiver)

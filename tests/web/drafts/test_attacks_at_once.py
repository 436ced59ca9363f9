"""One user's requests for a draft while another is working on it."""

from __future__ import annotations

import asyncio

import asyncpg
import httpx2
import pytest

from tests.kit.databases import past_the_wall
from tests.web.drafts.desk import BEN, Desk, fault

_SECONDS_MAX = 60  # the database would refuse a wait for the draft long before


def test_editing_a_row_that_has_a_draft_is_refused_without_waiting_for_its_lock(desk: Desk) -> None:
    """The draft's user may be waiting for the active entity, which is locked by whoever asks to edit it."""
    if desk.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time, who waits for nobody")
    entity_id = desk.promotion()
    desk.edit(entity_id)
    assert fault(asyncio.run(edit_while_held(desk, entity_id))) == (409, "DRAFT_ALREADY_EXISTS")


async def edit_while_held(desk: Desk, entity_id: str) -> httpx2.Response:
    """Return Ben's response while a transaction holds another user's draft."""
    connection = await asyncpg.connect(past_the_wall(desk.database_url))
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM drafts WHERE root_id = $1 FOR UPDATE", entity_id)
            asking = asyncio.to_thread(desk.edit, entity_id, preserve=False, user=BEN)
            return await asyncio.wait_for(asyncio.shield(asking), _SECONDS_MAX)
    finally:
        await connection.close()

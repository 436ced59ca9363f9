"""A store without a link waits for one and uses no processor time."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.unit import Database
from promenade.store.pricing.catalogue import Catalogues
from promenade.worker import uplink as worker
from promenade.workflows.access.local_admin import establish_store
from promenade.workflows.context import Context
from promenade.workflows.uplink import Uplink

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LOOK_SECONDS = 0.02
ROUNDS = 12


async def test_a_store_without_a_link_polls_at_the_configured_interval(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: NOW,
        new_id=lambda: str(uuid.uuid4()),
        source="local-store",
        instance_id="store",
        uplink=Uplink(),
    )
    await establish_store(database, "acme", instance_id="store", api_key="0" * 64, at=NOW)
    stop, looked = asyncio.Event(), 0

    async def count(*_: Any) -> int:
        nonlocal looked
        looked += 1
        if looked > ROUNDS:
            stop.set()
        return 0

    monkeypatch.setattr(worker, "count_pending", count)
    # Retry immediately without a connection, or this test would show nothing.
    monkeypatch.setattr(worker, "backoff", lambda *_: 0.0)
    begun = asyncio.get_running_loop().time()
    await worker.UplinkWorker(context, look_seconds=LOOK_SECONDS).run(stop)
    assert asyncio.get_running_loop().time() - begun >= (ROUNDS - 1) * LOOK_SECONDS

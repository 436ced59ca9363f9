"""A starting worker takes over the leases of its predecessor, and one failure does not stop everything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from promenade import worker
from promenade.store.clockwork import jobs as clock
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.jobs import claim as claim_jobs
from promenade.worker import run_worker
from promenade.workflows.context import Context
from promenade.workflows.webhooks.claiming import claim_messages
from promenade.workflows.webhooks.planning import plan_deliveries
from tests.kit.receiver import Receiver
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import Post, open_post


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver."""
    with Receiver() as running:
        yield running


@pytest.fixture
async def post(database: Database, receiver: Receiver) -> Post:
    """A shop with subscriptions to it."""
    return await open_post(database, receiver)


async def has_worked(post: Post, seconds: float) -> bool:
    """Return whether a new worker delivers the event and completes the job, on a clock that stands still."""
    stop = asyncio.Event()
    running = asyncio.create_task(run_worker(post.context, stop))
    try:
        async with asyncio.timeout(seconds):
            while (
                (await post.shop.rows("side_effect_jobs"))[0].status != "COMPLETED"
                or not post.receiver.requests()
                or await post.queued()
            ):
                await post.context.database.ping()
    except TimeoutError:
        return False
    finally:
        stop.set()
        await running
    return True


async def leave_behind(post: Post) -> None:
    """Create a sale's job, a delivery and a clock job, each leased by a worker that no longer exists."""
    shop, context = post.shop, post.context
    await post.subscribe("erp", "COUPON_EXPIRED")
    await post.emit("one")
    await shop.promotion("off")
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    at = context.clock()

    async def take(session: Session) -> None:
        assert await claim_jobs(session, lease_owner="dead", at=at, lease_seconds=60, limit=9)
        await clock.add_clock_rows(session, {"drafts.purge"}, at)
        (row,) = await clock.read_clock(session)
        assert await clock.claim(session, row, "dead", at + timedelta(seconds=60))

    await context.database.write(take, system=True)
    await plan_deliveries(context, 100)
    assert await claim_messages(context, {identity("erp"): 5}, ())


async def test_on_sqlite_a_new_worker_takes_over_leases_of_a_dead_process_at_once(post: Post) -> None:
    """On PostgreSQL another worker may still hold it: only the lease can tell."""
    await leave_behind(post)
    if post.context.database.dialect == "sqlite":
        assert await has_worked(post, 30)
        assert [one.path for one in post.receiver.requests()] == ["/erp"]
    else:
        assert not await has_worked(post, 2)
        assert not post.receiver.requests()


async def test_deliveries_that_cannot_begin_keep_no_sale_waiting(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as unreadable certificates; deliveries start when that is fixed."""
    began = iter([OSError("no certificates"), OSError("no certificates")])

    class Failing(worker.Delivery):
        def __init__(self, context: Context) -> None:
            if (error := next(began, None)) is not None:
                raise error
            super().__init__(context)

    monkeypatch.setattr(worker, "Delivery", Failing)
    monkeypatch.setattr(worker, "PAUSE_SECONDS", 0.05)
    shop = post.shop
    await post.subscribe("erp", "COUPON_EXPIRED")
    await post.emit("one")
    await shop.promotion("off")
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    assert await has_worked(post, 30)
    assert [one.path for one in post.receiver.requests()] == ["/erp"]

"""A customer of whom nothing was heard for as long as the tenant says is named nowhere any more, and all sums stay."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
import sqlalchemy as sa

from promenade.errors import Invalid
from promenade.store.access import customers
from promenade.store.driver import schema
from promenade.store.driver.unit import Database
from promenade.store.sync.erasures import count_erasures
from promenade.workflows.access.erasures import forget_erasure, list_erasures
from promenade.workflows.clockwork import clock_jobs, erasures, idling, paced
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.uplink import Uplink
from tests.workflows.clockwork.erasures.ledgers import (
    ERASED,
    OTHERS,
    Row,
    ask,
    books,
    branches,
    configure,
    live,
    naming,
    pseudonym_of,
    run,
    sell,
    settle,
    spend,
    stored,
)
from tests.workflows.clockwork.erasures.test_erasures import differences, differing
from tests.workflows.shop import Shop, identity

DAYS = 400
JOB = "customers.idle"


async def walk(shop: Shop) -> None:
    """Let the job look at everybody, and the other one end what was begun when the time of a run was over."""
    await run(shop, JOB)
    await run(shop, "customers.erase")


async def idle(shop: Shop) -> None:
    """Let the days go by, and the job run."""
    shop.later(days=DAYS, hours=1)
    await walk(shop)


@pytest.fixture
async def shop(database: Database) -> Shop:
    (opened,) = await branches(database, "tenant-a")
    await configure(opened, idleCustomerDays=DAYS, idlePointsLapse=True)
    return opened


async def names(shop: Shop, customer: str = ERASED) -> bool:
    """Whether anything stored names a customer."""
    return bool(naming(await stored(shop), customer))


async def remembered(shop: Shop) -> list[Row]:
    return (await stored(shop))["customer_erasures"]


async def test_who_was_idle_is_named_nowhere_and_all_sums_stay(database: Database, seed: int) -> None:
    here, there = await branches(database, "tenant-a", "tenant-b")
    await live([here, there], seed)
    for shop in (here, there):
        await shop.change("CouponCodes", "KEPT", status="EXPIRED")
    await configure(here, idleCustomerDays=DAYS, idlePointsLapse=True)
    here.later(days=DAYS, hours=1)
    for shop in (here, there):
        for other in OTHERS:
            await sell(shop, f"now-{other}", other)
    await settle(here)
    await walk(here)
    found = await stored(here)
    assert naming(found, ERASED) == []
    known = differing(books(found, (pseudonym_of(found), ERASED)), books(await stored(there)))
    assert known.keys() <= {"arm_trials"}  # a cache
    assert naming(await stored(there), ERASED)  # a tenant that has set nothing
    assert await differences(database) == []
    assert found["customer_erasures"] == []


async def test_with_the_next_sale_the_id_is_a_new_customers(shop: Shop) -> None:
    await sell(shop, "first", ERASED)
    await settle(shop)
    await idle(shop)
    assert not await names(shop)
    await sell(shop, "second", ERASED)
    await settle(shop)
    shop.later(hours=2)
    await run(shop, "customers.erase")
    await walk(shop)
    found = await stored(shop)
    assert {row["transaction_id"] for row in found["calculation_logs"] if row["customer_id"] == ERASED} == {"second"}
    points = {row["customer_id"]: row["points"] for row in found["loyalty_balances"]}
    assert points == {ERASED: 20, pseudonym_of(found): 20}
    uses = {row["customer_id"]: row["count"] for row in found["promotion_usage"] if row["customer_id"]}
    assert uses == {ERASED: 1, pseudonym_of(found): 1}


async def _sold(shop: Shop) -> None:
    await sell(shop, "again", ERASED)


async def _issued(shop: Shop) -> None:
    await shop.coupon("OLD", "gift", customer_id=ERASED, issued_at=shop.now[0], status="EXPIRED")


async def _spent(shop: Shop) -> None:
    await spend(shop, "spent", ERASED)


async def _written(shop: Shop) -> None:
    """A till whose clock is years behind."""
    shop.now[0] -= timedelta(days=3 * DAYS)
    await sell(shop, "wrong", ERASED)
    await settle(shop)
    shop.now[0] += timedelta(days=3 * DAYS)
    written = sa.update(schema.table("CalculationLogs")).values(created_at=shop.now[0])
    only = written.where(schema.table("CalculationLogs").c.transaction_id == "wrong")
    await shop.context.database.write(lambda session: session.rowcount(only), tenant=shop.tenant)


@pytest.mark.parametrize("heard", [_sold, _issued, _spent, _written])
async def test_who_was_heard_of_in_time_stays_for_as_long_again(shop: Shop, heard: Any) -> None:
    await sell(shop, "first", ERASED)
    await settle(shop)
    shop.later(days=100)
    await heard(shop)
    await settle(shop)
    shop.later(days=DAYS - 1)
    await walk(shop)
    assert await names(shop)
    shop.later(days=2)
    await walk(shop)
    assert not await names(shop)


async def test_points_and_coupons_that_can_be_redeemed_keep_their_customer(shop: Shop) -> None:
    await configure(shop, idlePointsLapse=False)
    await sell(shop, "first", ERASED)
    await sell(shop, "other", OTHERS[0])
    await shop.coupon("KEPT", "gift", customer_id=OTHERS[0], issued_at=shop.now[0])
    await settle(shop)
    await idle(shop)
    assert await names(shop)
    await configure(shop, idlePointsLapse=True)
    await walk(shop)
    assert not await names(shop)
    assert await names(shop, OTHERS[0])
    await shop.change("CouponCodes", "KEPT", status="EXPIRED")
    await walk(shop)
    assert not await names(shop, OTHERS[0])


async def test_a_sale_that_is_not_finished_keeps_its_customer_as_a_whole_and_nobody_else(shop: Shop) -> None:
    await sell(shop, "first", ERASED)
    await sell(shop, "other", OTHERS[0])
    await settle(shop)
    shop.later(minutes=5)  # events are known by their moment
    await sell(shop, "unfinished", ERASED)
    await idle(shop)
    found = await stored(shop)
    assert {row["transaction_id"] for row in found["calculation_logs"] if row["customer_id"] == ERASED} == {
        "first",
        "unfinished",
    }
    assert naming(found, OTHERS[0]) == []
    assert found["customer_erasures"] == []
    await settle(shop)  # with a booking of points, which counts from now on
    await idle(shop)
    assert not await names(shop)


async def test_nobody_is_forgotten_before_a_tenant_says_so_and_points_need_days(shop: Shop) -> None:
    (other,) = await branches(shop.context.database, "tenant-b")
    with pytest.raises(Invalid) as refused:
        await configure(other, idlePointsLapse=True)
    assert (refused.value.code, refused.value.target) == ("SET_TOGETHER", "idleCustomerDays")
    mine = Shop(shop.context, shop.now, other.tenant)
    await sell(mine, "first", ERASED)
    await settle(mine)
    await idle(shop)
    assert await names(mine)


# ---- while it goes on ------------------------------------------------------------------------------------------------


@pytest.fixture
async def halfway(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A shop whose program has died while it was about to forget a customer."""
    for number in range(4):
        await sell(shop, f"sale-{number}", ERASED)
    await settle(shop)
    shop.later(days=DAYS, hours=1)
    monkeypatch.setattr(erasures, "SALES", 1)
    monkeypatch.setattr(paced, "Pace", _few(5))
    cursor = None
    while not await remembered(shop):
        cursor = (await clock_jobs()[JOB].run(shop.context, cursor)).cursor
    assert await names(shop)
    return shop


def _few(portions: int) -> type[Pace]:
    """A pace of so many portions in a run."""

    class Few(Pace):
        def __init__(self) -> None:
            super().__init__()
            self._left = portions

        @property
        def is_over(self) -> bool:
            self._left -= 1
            return self._left < 0

    return Few


async def test_another_run_takes_over_from_one_that_died(halfway: Shop) -> None:
    await run(halfway, "customers.erase")
    assert not await names(halfway)
    assert await remembered(halfway) == []
    assert await differences(halfway.context.database) == []


async def test_who_comes_back_meanwhile_keeps_what_comes_then(halfway: Shop) -> None:
    await sell(halfway, "back", ERASED)
    await settle(halfway)
    halfway.later(hours=2)
    await walk(halfway)
    found = await stored(halfway)
    assert found["customer_erasures"] == []
    whose = {row["transaction_id"]: row["customer_id"] for row in found["calculation_logs"]}
    assert whose["back"] == ERASED
    assert set(whose.values()) != {ERASED}
    assert await differences(halfway.context.database) == []


async def test_nobody_is_told_of_it(halfway: Shop) -> None:
    database = halfway.context.database
    assert await list_erasures(database, halfway.tenant) == []
    assert await database.read(count_erasures, tenant=halfway.tenant) == 0


async def test_an_erasure_that_is_asked_for_meanwhile_is_one_like_any_other(halfway: Shop) -> None:
    begun = (await remembered(halfway))[0]["pseudonym"]
    halfway.later(minutes=1)
    assert (await ask(halfway)).pseudonym == begun
    await run(halfway, "customers.erase")
    (told,) = await list_erasures(halfway.context.database, halfway.tenant)
    assert (told.status, told.idle_since) == ("COMPLETED", None)
    assert pseudonym_of(await stored(halfway)) == begun
    await sell(halfway, "late", ERASED)
    await settle(halfway)
    halfway.later(hours=2)
    await run(halfway, "customers.erase")
    assert not await names(halfway)
    await forget_erasure(halfway.context.database, halfway.tenant, ERASED)


async def test_who_is_being_forgotten_stays_if_the_tenant_forgets_nobody_any_more(halfway: Shop) -> None:
    await configure(halfway, idlePointsLapse="false", idleCustomerDays="")
    await run(halfway, "customers.erase")
    assert await remembered(halfway) == []
    assert await names(halfway)
    assert await differences(halfway.context.database) == []


async def test_what_an_older_program_has_ended_as_an_erasure_is_none(halfway: Shop) -> None:
    ended = {"status": "COMPLETED", "customer_id": None, "pseudonym": None, "completed_at": halfway.now[0]}
    change = sa.update(schema.metadata.tables["customer_erasures"]).values(ended)
    await halfway.context.database.write(lambda session: session.rowcount(change), tenant=halfway.tenant)
    assert await list_erasures(halfway.context.database, halfway.tenant) == []
    await walk(halfway)
    assert not await names(halfway)
    assert await remembered(halfway) == []


async def test_a_walk_in_short_runs_comes_to_everybody(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = [f"Kd-{number}-y" for number in range(7)]
    for number, customer in enumerate(everybody):
        await sell(shop, f"sale-{number}", customer)
    await settle(shop)
    shop.later(days=DAYS, hours=1)
    stays = everybody[2]
    await sell(shop, "now", stays)
    await settle(shop)
    monkeypatch.setattr(idling, "LOOKED", 2)
    monkeypatch.setattr(customers, "ROWS_MAX", 3)  # one has more sales than a walk looks at together
    for number in range(5):
        await sell(shop, f"more-{number}", stays)
    await settle(shop)
    monkeypatch.setattr(paced, "Pace", _few(4))
    await walk(shop)
    assert [one for one in everybody if await names(shop, one)] == [stays]


@pytest.fixture
async def store(shop: Shop) -> Shop:
    """A store that has sold something to a customer long ago, which its cloud does not know."""
    uplink = Uplink(client=cast("Any", object()), deployment_id=identity("store"))
    made = Shop(replace(shop.context, source="local-store", uplink=uplink), shop.now, shop.tenant)
    await sell(made, "sale", ERASED)
    await settle(made)
    assert len((await stored(made))["sync_uploads"]) == 1
    made.later(days=DAYS, hours=1)
    uplink.last_sync_at = made.now[0]
    await walk(made)
    assert await names(made)
    return made


async def test_a_store_forgets_by_itself_what_its_cloud_has(store: Shop) -> None:
    """The cloud gets a sale under the ID of its customer, who may be there every day."""
    await uploads(store, sa.delete(UPLOADS))
    await walk(store)
    assert not await names(store)


async def test_a_store_keeps_whom_a_refused_sale_is_about(store: Shop) -> None:
    """Somebody may have it sent once more."""
    await uploads(store, sa.update(UPLOADS).values(rejected_at=store.now[0], reason="?"))
    before = (await stored(store))["sync_uploads"]
    await walk(store)
    assert await names(store)
    assert (await stored(store))["sync_uploads"] == before


async def test_a_store_whose_clock_may_be_wrong_forgets_nobody(store: Shop) -> None:
    await uploads(store, sa.delete(UPLOADS))
    assert store.context.uplink is not None
    store.context.uplink.last_sync_at = store.now[0] - timedelta(days=2)
    await walk(store)
    assert await names(store)


UPLOADS = schema.metadata.tables["sync_uploads"]


async def uploads(shop: Shop, statement: sa.Delete | sa.Update) -> None:
    await shop.context.database.write(lambda session: session.rowcount(statement), tenant=shop.tenant)

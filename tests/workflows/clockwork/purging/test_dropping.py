"""Logs of sales go after the days that a tenant has set; no sum shows it, and what needs a log says that it is gone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from promenade.errors import Conflict, Invalid
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.kept import keep_check
from promenade.store.verification.references import read_dangling
from promenade.store.verification.sums import read_differences
from promenade.workflows.clockwork.dropping import UNIT_ROWS, waiting_for_check
from promenade.workflows.context import Retention
from promenade.workflows.forecasts.asking import check_period, prepare_forecast, store_forecast
from promenade.workflows.reports.exports import ExportOrder, begin_export
from promenade.workflows.reports.rebuilding import begin_rebuild
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.workflows.clockwork.erasures.ledgers import (
    ERASED,
    OTHERS,
    books,
    branches,
    configure,
    erase,
    give_back,
    naming,
    run,
    sell,
    settle,
    spend,
    stored,
    take_back,
)
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import Shop, identity

DAYS = 30
DAY = timedelta(days=1)
DROPPED = {table("CalculationLogs").name, "arm_trials"}  # the latter is a cache


async def shops(database: Database, *tenants: str) -> list[Shop]:
    """Shops whose evaluations and jobs go after a day, so that logs alone keep sales."""
    found = await branches(database, *tenants)
    context = replace(found[0].context, retention=Retention(iterations=1, sales=1))
    return [replace(shop, context=context) for shop in found]


async def unarchived(shop: Shop) -> None:
    await configure(shop, salesLogDays=DAYS, salesLogsUnarchived="true")


async def clean(shop: Shop) -> None:
    """Purge what the operator's days are over of, and then logs."""
    for name in ("purge.jobs", "purge.iterations"):
        await run(shop, name)
    shop.later(minutes=10)
    await run(shop, "purge.iterations")
    await run(shop, "purge.logs")


async def mark(shop: Shop) -> datetime | None:
    rows = await shop.rows("retention_marks")
    return rows[0].purged_before if rows else None


async def live(shops: Sequence[Shop], choose: random.Random, name: str, steps: int) -> list[str]:
    """The same sales, returns, spent coupons and cancellations in all shops, days apart; return what was sold."""
    sold: list[str] = []
    for step in range(steps):
        customer = choose.choice([ERASED, *OTHERS, None])
        kind = choose.choice(["sale", "sale", "gift", "return", "cancel"]) if sold else "sale"
        of = sold.pop(choose.randrange(len(sold))) if kind == "cancel" else choose.choice([*sold, ""])
        shops[0].later(hours=choose.randint(1, 140))
        for shop in shops:
            if kind == "sale":
                await sell(shop, f"{name}-{step}", customer)
            elif kind == "gift":
                await spend(shop, f"{name}-{step}", customer or OTHERS[0])
            elif kind == "return":
                await give_back(shop, f"{name}-{step}", of or sold[0], customer)
            else:
                await take_back(shop, (of, 2))
        if kind == "sale":
            sold.append(f"{name}-{step}")
        if choose.random() < 0.5:
            await settle(shops[0])
    await settle(shops[0])
    return sold


def sums(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    """What was sold, spent and given back, and all figures, but for logs and for customers of no use any more."""
    told = books(found)
    sales = [
        {**row, "sale": replace(row["sale"], customer_id=row["sale"].customer_id if row["sale"].points else None)}
        for row in found["confirmations"]
    ]
    told |= {"confirmations": books({**found, "confirmations": sales})["confirmations"]}
    return {name: rows for name, rows in told.items() if name not in DROPPED}


async def test_no_sum_shows_that_logs_were_dropped(database: Database, seed: int) -> None:
    """Two tenants live the same life, and one of them drops its logs again and again."""
    choose = random.Random(seed)
    here, there = await shops(database, "tenant-a", "tenant-b")
    await unarchived(here)
    for round_ in range(3):
        sold = await live([here, there], choose, f"r{round_}", 9)
        await clean(here)
        at, since = here.now[0], await mark(here)
        before = {row.id: row for row in await there.rows("CalculationLogs")}
        kept = {(row.transaction_id, row.status) for row in await here.rows("CalculationLogs")}
        all_ = {(row.transaction_id, row.status): row.confirmed_at for row in before.values()}
        assert all(key in kept for key, moment in all_.items() if moment >= at - DAYS * DAY)
        if since is not None:
            assert since <= at - DAYS * DAY
            assert kept == {key for key, moment in all_.items() if moment >= since}
        parts = {row.log_id for row in await here.rows("calculation_log_parts")}
        assert parts == {row.id for row in await here.rows("CalculationLogs")}
        noted = {(row.promotion_id, row.block) for row in await here.rows("calculation_log_blocks")}
        blocks = {row.block for row in await here.rows("calculation_log_parts")}
        assert {block for _, block in noted} <= blocks
        assert sums(await stored(here)) == sums(await stored(there))
        again = await stored(here)
        await run(here, "purge.logs")  # a repeat does nothing
        assert await stored(here) == again
        for shop in (here, there) if sold else ():  # a sale of any age can be returned
            await give_back(shop, f"late-{round_}", sold[0], None)
        await settle(here)
        assert sums(await stored(here)) == sums(await stored(there))
    assert await mark(here) is not None
    assert await mark(there) is None
    _, found = await database.read(read_differences, system=True)
    assert [f"{one.check}: {one.examples}" for one in found] == []
    assert (await database.read(read_dangling, system=True))[1] == []


async def old_sale(database: Database, **settings: Any) -> Shop:
    """A shop with a sale of 2 March and one of 10 April, on 5 May."""
    (shop,) = await shops(database, "tenant-a")
    await sell(shop, "old", ERASED)
    await settle(shop)
    shop.later(days=39)
    await sell(shop, "new", ERASED)
    await settle(shop)
    shop.later(days=25)
    if settings:
        await configure(shop, **settings)
    return shop


async def names(shop: Shop) -> set[str]:
    return {row.transaction_id for row in await shop.rows("CalculationLogs")}


UNARCHIVED = {"salesLogDays": DAYS, "salesLogsUnarchived": "true"}


async def test_what_needs_a_dropped_log_says_so(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"new"}, datetime(2026, 3, 3, tzinfo=UTC))
    before = await stored(shop)
    with pytest.raises(Conflict) as caught:
        await cancel(shop.context, shop.tenant, CancelCommand("old", 2))
    assert (caught.value.code, caught.value.target) == ("SALE_NOT_KEPT", "transactionId")
    assert "2026-03-03" in caught.value.message
    with pytest.raises(Conflict) as caught:
        await begin_rebuild(database, shop.tenant)
    assert caught.value.code == "LOGS_NOT_KEPT"
    assert await stored(shop) == before
    await take_back(shop, ("new", 2))


@pytest.mark.parametrize("report", ["promotionPerformance", "abTestResults", "budgetUtilization", "stakeholderCost"])
async def test_an_export_names_the_end_that_is_not_kept(database: Database, report: str) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await clean(shop)
    day = datetime(2026, 3, 2, tzinfo=UTC)
    noon, following, later = day + DAY / 2, day + DAY, day + 1.5 * DAY

    async def exported(since: datetime, until: datetime) -> list[Any]:
        order = ExportOrder(report_type=report, date_from=since, date_to=until)
        return [one async for one in (await begin_export(shop.context, shop.tenant, order))[1]]

    assert await exported(day, later) == await exported(day, following)
    assert await exported(following, later) is not None
    for since, until, target in ((noon, later, "dateFrom"), (day, noon, "dateTo"), (noon, noon + DAY / 4, "dateFrom")):
        with pytest.raises(Invalid) as caught:
            await exported(since, until)
        assert (caught.value.code, caught.value.target) == ("PERIOD_NOT_KEPT", target)


async def test_a_promotion_that_was_deleted_is_still_exported(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await cancel(shop.context, shop.tenant, CancelCommand("new", 2))
    await settle(shop)
    shop.later(days=30)
    await clean(shop)
    assert await names(shop) == set()
    assert not await shop.rows("calculation_log_blocks")
    gone = sa.delete(table("Promotions")).where(table("Promotions").c.id == identity("off"))
    await database.write(lambda session: session.rowcount(gone), tenant=shop.tenant)
    day = datetime(2026, 3, 2, tzinfo=UTC)
    order = ExportOrder(
        report_type="promotionPerformance", date_from=day, date_to=day + DAY, promotion_id=identity("off")
    )
    _, rows = await begin_export(shop.context, shop.tenant, order)
    assert len([one async for one in rows]) == 1


async def test_a_forecast_says_since_when_it_has_sales(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await clean(shop)
    said = []
    for first in (2, 3):
        period = check_period(date(2026, 3, first), date(2026, 3, 20))
        forecast = await prepare_forecast(shop.context, shop.tenant, identity("off"), period)
        store = partial(store_forecast, forecast=forecast, user="tests", new_id=shop.context.new_id)
        made = await database.write(store, tenant=shop.tenant)
        said += [row.message for row in await shop.rows("PromotionForecasts", id=made)]
    since = "There is no sale of this period. Logs of sales are kept since 2026-03-03."
    assert said == [since, "No sale was confirmed in this period."]


async def test_without_a_setting_nothing_is_dropped(database: Database) -> None:
    shop = await old_sale(database)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)


async def test_the_operators_days_are_the_least(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    shop.context = replace(shop.context, retention=Retention(iterations=1, sales=90))
    await clean(shop)
    assert await names(shop) == {"old", "new"}


async def test_a_sale_whose_evaluation_or_job_is_kept_stays(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    context = shop.context
    for kept in (Retention(iterations=1, sales=90), Retention(iterations=90, sales=1)):
        shop.context = replace(context, retention=kept)
        for name in ("purge.jobs", "purge.iterations"):
            await run(shop, name)
    shop.context = context
    await run(shop, "purge.jobs")
    await run(shop, "purge.logs")  # its evaluation is there
    assert await names(shop) == {"old", "new"}
    await clean(shop)
    assert await names(shop) == {"new"}


async def test_nothing_is_dropped_that_reports_have_not_counted(database: Database) -> None:
    shop = await old_sale(database)
    await cancel(shop.context, shop.tenant, CancelCommand("old", 2))
    await unarchived(shop)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)
    await settle(shop)
    await begin_rebuild(database, shop.tenant)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)
    await settle(shop)
    await clean(shop)
    assert await names(shop) == {"new"}


async def test_a_log_below_the_mark_whose_cancellation_is_not_counted_stays(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    marked = {"kind": "sales", "purged_before": datetime(2026, 3, 3, tzinfo=UTC)}
    adding = sa.insert(table("retention_marks"))
    await database.write(lambda session: session.rowcount(adding, marked), tenant=shop.tenant)
    await take_back(shop, ("old", 2))
    await clean(shop)
    assert await names(shop) == {"old", "new"}
    await settle(shop)
    await clean(shop)
    assert await names(shop) == {"new"}


async def test_a_cancellation_and_a_purge_at_once_leave_one_of_both(database: Database) -> None:
    (shop,) = await shops(database, "tenant-a")
    sales = [f"sale-{place}" for place in range(8)]
    for name in sales:
        await sell(shop, name, OTHERS[0])
    await settle(shop)
    shop.later(days=40)
    await run(shop, "purge.jobs")
    await run(shop, "purge.iterations")
    shop.later(minutes=10)
    await run(shop, "purge.iterations")
    await unarchived(shop)
    tries = (cancel(shop.context, shop.tenant, CancelCommand(name, 2)) for name in sales)
    answers = await asyncio.gather(run(shop, "purge.logs"), *tries, return_exceptions=True)
    cancelled = {row.transaction_id for row in await shop.rows("cancellations")}
    for name, answer in zip(sales, answers[1:], strict=True):
        assert (name in cancelled) == isinstance(answer, bytes)
        assert isinstance(answer, bytes) or (isinstance(answer, Conflict) and answer.code == "SALE_NOT_KEPT")
    logs = {row.transaction_id: row.status for row in await shop.rows("CalculationLogs")}
    assert {name for name, status in logs.items() if status == "CANCELLED"} == cancelled
    await settle(shop)
    _, found = await database.read(read_differences, system=True)
    assert found == []


async def test_logs_that_a_running_pilot_counts_stay(database: Database) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await shop.put("Promotions", id=identity("trial"), code="trial", name="trial", status="PILOT")
    config = {"id": identity("pilot"), "promotion_id": identity("trial"), "auto_promote": True}
    ends = datetime(2026, 9, 1, tzinfo=UTC)
    await shop.put(
        "PromotionPilotConfigs", **config, pilot_start_at=datetime(2026, 3, 2, 9, tzinfo=UTC), pilot_end_at=ends
    )
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)
    await shop.change("PromotionPilotConfigs", "pilot", pilot_start_at=datetime(2026, 3, 3, tzinfo=UTC))
    await clean(shop)
    assert await names(shop) == {"new"}


async def test_a_month_goes_when_a_check_has_found_it_in_the_archive(database: Database) -> None:
    shop = await old_sale(database, salesLogDays=DAYS)

    async def checked(before: datetime | None, at: datetime) -> None:
        await database.write(lambda session: keep_check(session, archived_before=before, at=at), tenant=shop.tenant)

    april, now = datetime(2026, 4, 1, tzinfo=UTC), shop.now[0]
    await clean(shop)
    assert await names(shop) == {"old", "new"}  # no check
    await checked(None, now)
    await clean(shop)
    assert await names(shop) == {"old", "new"}  # it differed
    await checked(april - DAY, now)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)  # not the whole month
    await checked(april, shop.now[0])
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"new"}, april)


async def test_it_is_told_which_months_wait_for_a_check(database: Database) -> None:
    shop = await old_sale(database)
    march, april, may, june = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5, 6))

    async def told(retention: Retention = shop.context.retention) -> list[tuple[str, str, str, bool]]:
        return [
            (one.tenant_id, f"{one.first:%m}", f"{one.last:%m}", one.checked_at is not None)
            for one in await waiting_for_check(database, retention, shop.now[0])
        ]

    async def checked(before: datetime | None) -> None:
        at = shop.now[0]
        await database.write(lambda session: keep_check(session, archived_before=before, at=at), tenant=shop.tenant)

    assert await told() == []  # nobody wants them deleted
    await configure(shop, salesLogDays=DAYS)
    assert await told() == [("tenant-a", "03", "03", False)]  # April is not old enough as a whole
    assert await told(Retention(iterations=1, sales=90)) == []
    shop.later(days=30)
    assert await told() == [("tenant-a", "03", "04", False)]
    for before, left in ((None, ("03", "04")), (march, ("03", "04")), (april, ("04", "04"))):
        await checked(before)
        assert await told() == [("tenant-a", *left, True)]
    await clean(shop)
    assert (await names(shop), await told()) == ({"new"}, [("tenant-a", "04", "04", True)])
    await checked(None)  # what went needs no check any more
    assert await told() == [("tenant-a", "04", "04", True)]
    await checked(may)
    assert await told() == []
    await clean(shop)
    assert (await names(shop), await mark(shop)) == (set(), may)
    await sell(shop, "young", None)
    assert (await told(), shop.now[0] > june) == ([], True)


async def test_no_check_is_asked_for_what_stays_all_the_same(database: Database) -> None:
    shop = await old_sale(database, salesLogDays=DAYS)
    kept = shop.context.retention
    await shop.put("Promotions", id=identity("trial"), code="trial", name="trial", status="PILOT")
    starts, ends = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
    config = {"id": identity("pilot"), "promotion_id": identity("trial"), "auto_promote": True}
    await shop.put("PromotionPilotConfigs", **config, pilot_start_at=starts, pilot_end_at=ends)
    assert await waiting_for_check(database, kept, shop.now[0]) == []
    await shop.change("PromotionPilotConfigs", "pilot", pilot_start_at=datetime(2026, 4, 1, tzinfo=UTC))
    assert len(await waiting_for_check(database, kept, shop.now[0])) == 1
    await configure(shop, salesLogsUnarchived="true")
    assert await waiting_for_check(database, kept, shop.now[0]) == []


async def test_a_log_that_is_not_in_the_archive_as_it_is_stays_for_ever(database: Database) -> None:
    shop = await old_sale(database)
    checked_at = shop.now[0]
    shop.later(hours=1)
    await cancel(shop.context, shop.tenant, CancelCommand("old", 2))
    await settle(shop)
    shop.later(days=30)
    await configure(shop, salesLogDays=DAYS)
    may, june = (datetime(2026, month, 1, tzinfo=UTC) for month in (5, 6))
    await database.write(lambda session: keep_check(session, archived_before=may, at=checked_at), tenant=shop.tenant)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"old"}, may)
    assert identity("off") in {row.promotion_id for row in await shop.rows("calculation_log_blocks")}
    shop.later(days=200)  # a later check does not look at it again
    await database.write(lambda session: keep_check(session, archived_before=june, at=shop.now[0]), tenant=shop.tenant)
    await clean(shop)
    assert await names(shop) == {"old"}


async def test_a_sale_that_comes_when_its_month_was_dropped_stays(database: Database) -> None:
    shop = await old_sale(database, salesLogDays=DAYS)
    april, may = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    await database.write(lambda session: keep_check(session, archived_before=april, at=shop.now[0]), tenant=shop.tenant)
    await clean(shop)
    counter = await shop.price("late", PRICED)
    await shop.confirm("late", counter, "off", timestamp=datetime(2026, 3, 5, tzinfo=UTC))
    await settle(shop)
    shop.later(days=90)
    await database.write(lambda session: keep_check(session, archived_before=may, at=shop.now[0]), tenant=shop.tenant)
    await clean(shop)
    assert (await names(shop), await mark(shop)) == ({"late"}, may)


async def test_days_that_a_tenant_adds_hold_for_what_is_still_there(database: Database) -> None:
    shop = await old_sale(database)
    await database.write(
        lambda session: session.rowcount(
            sa.insert(table("retention_marks")), {"kind": "sales", "purged_before": shop.now[0] - DAY * 31}
        ),
        tenant=shop.tenant,
    )
    await configure(shop, salesLogDays=100, salesLogsUnarchived="true")
    await clean(shop)
    assert await names(shop) == {"old", "new"}


async def test_a_customer_is_erased_from_sales_whose_logs_were_dropped(database: Database) -> None:
    """Of a sale with points the booking leads to it; the others do not say any more whose they were."""
    shop = await old_sale(database, **UNARCHIVED)
    await clean(shop)
    assert "confirmations.sale" in naming(await stored(shop), ERASED)
    await erase(shop)
    assert naming(await stored(shop), ERASED) == []


async def test_many_logs_go_in_portions(database: Database) -> None:
    (shop,) = await shops(database, "tenant-a")
    for place in range(UNIT_ROWS + 3):
        await sell(shop, f"sale-{place}", None)
    await settle(shop)
    shop.later(days=40)
    await unarchived(shop)
    await clean(shop)
    assert await names(shop) == set()
    for name in ("calculation_log_parts", "calculation_log_blocks"):
        assert not await shop.rows(name)


async def test_a_portion_that_fails_leaves_logs_and_mark(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = await old_sale(database, **UNARCHIVED)
    await run(shop, "purge.jobs")
    await run(shop, "purge.iterations")
    shop.later(minutes=10)
    await run(shop, "purge.iterations")

    async def fail(session: Session, records: Any) -> None:
        raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr("promenade.store.clockwork.dropping.write_records", fail)
        with pytest.raises(RuntimeError):
            await run(shop, "purge.logs")
    assert (await names(shop), await mark(shop)) == ({"old", "new"}, None)
    await run(shop, "purge.logs")
    assert await names(shop) == {"new"}

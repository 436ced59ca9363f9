"""The results of advice: shown once per evaluation, converted once per sale that reached it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from promenade.engine.outcome import Gap, GrantedItem, Nudge, Outcome, Recommendation
from promenade.workflows.clockwork.jobs import clock_jobs
from promenade.workflows.reports.advice import count_shown
from promenade.workflows.reports.aggregating import Run, aggregate_all
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import NOON, Shop, identity

TODAY = NOON.date()
ZERO = Decimal("0.000")


def basket(pieces: int, *, with_offer: bool = False, advised: tuple[str, ...] = ()) -> Outcome:
    """Return pieces at 10.00; the promotion off takes 2.00 off the first, or does not apply yet."""
    taken = (discount("off", ((1, 200),)),) if with_offer else ()
    lines = (line("1", pieces * 1000, pieces * 1000, *taken),)
    priced = outcome(lines, (applied("off", 200),) if with_offer else ())
    off = identity("off")
    return replace(
        priced,
        gaps=(Gap(off, "off", "RECEIPT_AMOUNT", 1000, 3000, 2000, 200),) if "GAP" in advised else (),
        nudges=(Nudge("Buy more.", "INCREASE_AMOUNT", 200, off, "off", "RECEIPT_AMOUNT"),)
        if "NUDGE" in advised
        else (),
        recommendations=(
            (Recommendation("NEAR_MISS", "CONDITION_NOT_MET", (), "Almost.", off, "off", 60),)
            if "NEAR_MISS" in advised
            else ()
        ),
    )


async def figures(shop: Shop) -> dict[tuple[str, date], tuple[int, int, Decimal, Decimal]]:
    """Return by kind and day: shown, converted, extra revenue, total discount."""
    shop.later(seconds=30)  # after this everything earlier has been stored
    while (await count_shown(shop.context))[1]:
        pass
    await aggregate_all(shop.context, shop.tenant)
    shown = {(row.kind, row.day): row.shown for row in await shop.rows("advice_shown", promotion_id=identity("off"))}
    came = {
        (row.kind, row.day): (row.converted, row.extra_revenue, row.total_discount)
        for row in await shop.rows("advice_converted", promotion_id=identity("off"))
    }
    return {key: (shown.get(key, 0), *came.get(key, (0, ZERO, ZERO))) for key in shown.keys() | came.keys()}


async def test_a_basket_that_grows_to_the_threshold_converts_its_advice_once(shop: Shop) -> None:
    await shop.price("T-1", basket(1, advised=("GAP", "NUDGE", "NEAR_MISS")))
    await shop.price("T-1", basket(2, advised=("GAP", "NUDGE", "NEAR_MISS")))
    counter = await shop.price("T-1", basket(3, with_offer=True))
    await shop.confirm("T-1", counter, "off")
    grown = (1, Decimal("18.000"), Decimal("2.000"))  # 28.00 instead of the first basket's 10.00
    assert await figures(shop) == {
        ("GAP", TODAY): (2, *grown),
        ("NUDGE", TODAY): (2, *grown),
        ("NEAR_MISS", TODAY): (2, *grown),
        ("SAVING", TODAY): (1, 1, ZERO, Decimal("2.000")),
    }
    assert await figures(shop) == await figures(shop)


async def test_advice_that_the_confirmed_basket_still_needs_is_not_converted(shop: Shop) -> None:
    counter = await shop.price("T-1", basket(1, with_offer=True, advised=("GAP",)))
    await shop.confirm("T-1", counter, "off")
    await shop.price("T-2", basket(1, advised=("GAP",)))
    assert (await figures(shop))["GAP", TODAY] == (2, 0, ZERO, ZERO)


async def test_advice_after_the_confirmed_evaluation_does_not_count(shop: Shop) -> None:
    counter = await shop.price("T-1", basket(1))
    await shop.price("T-1", basket(2, advised=("NUDGE",)))
    await shop.confirm("T-1", counter)
    assert (await figures(shop))["NUDGE", TODAY] == (1, 0, ZERO, ZERO)


@pytest.mark.parametrize(("days", "converted"), [(3, 1), (31, 0)])
async def test_advice_is_converted_if_the_customer_returns_within_a_month(
    shop: Shop, days: int, converted: int
) -> None:
    first = await shop.price("T-1", basket(1, advised=("GAP",)), customer_id="C-1")
    await shop.confirm("T-1", first, customer_id="C-1")
    await figures(shop)
    shop.later(days=days)
    for number, customer in ((2, "C-2"), (3, "C-1"), (4, "C-1")):
        counter = await shop.price(f"T-{number}", basket(4, with_offer=True), customer_id=customer)
        await shop.confirm(f"T-{number}", counter, "off", customer_id=customer)
    amounts = (Decimal("28.000"), Decimal("2.000")) if converted else (ZERO, ZERO)
    assert (await figures(shop))["GAP", TODAY] == (1, converted, *amounts)


async def test_free_items_count_where_they_were_confirmed(shop: Shop) -> None:
    gift = GrantedItem("GRANT-1", "A-9", None, 1, 500, "MASTER_DATA", 500, identity("off"), "off", False)
    given = replace(basket(1), granted=(gift,), applied=(applied("off", 0, give_away_minor=500),))
    counter = await shop.price("T-1", given)
    await shop.price("T-2", given)
    await shop.confirm("T-1", counter, "off")
    shown, converted, *_ = (await figures(shop))["FREE_ITEM", TODAY]
    assert (shown, converted) == (2, 1)


async def test_the_day_is_that_of_the_shops_clock(shop: Shop) -> None:
    await shop.change("PosGroups", "shop", time_zone="Pacific/Auckland")
    shop.later(hours=1)  # two in the morning there
    await shop.price("T-1", basket(1, advised=("GAP",)))
    assert await figures(shop) == {("GAP", date(2026, 3, 3)): (1, 0, ZERO, ZERO)}


async def test_a_cancelled_sale_has_not_followed_advice_and_leaves_none_open(shop: Shop) -> None:
    await shop.price("T-1", basket(1, advised=("GAP",)), customer_id="C-1")
    counter = await shop.price("T-1", basket(3, with_offer=True), customer_id="C-1")
    await shop.confirm("T-1", counter, "off", customer_id="C-1")
    left = await shop.price("T-2", basket(1, advised=("NUDGE",)), customer_id="C-2")
    await shop.confirm("T-2", left, customer_id="C-2")
    assert (await figures(shop))["GAP", TODAY][1] == 1
    assert [row.customer_id for row in await shop.rows("advice_open")] == ["C-2"]
    for name, number in (("T-1", counter), ("T-2", left)):
        await cancel(shop.context, shop.tenant, CancelCommand(name, number))
    assert (await figures(shop))["GAP", TODAY] == (1, 0, ZERO, ZERO)
    assert await shop.rows("advice_open") == []


async def purge(shop: Shop) -> None:
    for name, job in clock_jobs().items():
        if name.startswith("purge."):
            cursor = None
            while (ran := await job.run(shop.context, cursor)).more:
                cursor = ran.cursor


async def rebuild(shop: Shop) -> None:
    await begin_rebuild(shop.context.database, shop.tenant)
    while await rebuild_portion(shop.context, shop.tenant, Run(shop.context.new_id), 100) is not None:
        pass


async def test_what_is_purged_within_a_week_changes_neither_a_cancel_nor_a_rebuild(shop: Shop) -> None:
    """Advice is counted from all evaluations of a sale, so they stay as long as either may happen soon."""
    for name in ("T-1", "T-2"):
        await shop.price(name, basket(1))
        await shop.price(name, basket(2, advised=("GAP",)))
        await shop.price(name, basket(3))
        await shop.confirm(name, await shop.price(name, basket(4, with_offer=True)), "off")
    counted = await figures(shop)
    assert counted["GAP", TODAY] == (2, 2, Decimal("36.000"), Decimal("4.000"))
    shop.later(days=7)
    await purge(shop)
    await rebuild(shop)
    assert await figures(shop) == counted
    await cancel(shop.context, shop.tenant, CancelCommand("T-1", 4))
    assert (await figures(shop))["GAP", TODAY] == (2, 1, Decimal("18.000"), Decimal("2.000"))


async def test_after_a_month_a_cancel_or_a_rebuild_knows_the_confirmed_evaluation_alone(shop: Shop) -> None:
    """As the page on reports says: what only an earlier evaluation of the visit showed stays counted, or is lost."""
    for name in ("T-1", "T-2"):
        await shop.price(name, basket(1))  # the confirmed one is stored as changes to this one, so this stays, too
        await shop.price(name, basket(2, advised=("GAP",)))
        await shop.confirm(name, await shop.price(name, basket(4, with_offer=True)), "off")
    counted = await figures(shop)
    assert (counted["GAP", TODAY][1], counted["SAVING", TODAY][1]) == (2, 2)
    shop.later(days=31)
    await purge(shop)
    await cancel(shop.context, shop.tenant, CancelCommand("T-1", 3))
    cancelled = await figures(shop)
    assert (cancelled["GAP", TODAY][1], cancelled["SAVING", TODAY][1]) == (2, 1)
    await rebuild(shop)
    rebuilt = await figures(shop)
    assert (rebuilt["GAP", TODAY][1], rebuilt["SAVING", TODAY][1]) == (0, 1)

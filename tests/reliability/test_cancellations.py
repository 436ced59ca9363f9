"""A cancelled sale leaves no trace, in whatever order sales, returns and cancels come (reliability.md)."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from promenade.engine.outcome import Outcome
from promenade.store.driver.unit import Database
from promenade.workflows.reports.aggregating import Run, aggregate_all
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.reliability.counted import kept, shown
from tests.reliability.load import budget_state
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, open_shop

CURRENCIES = [("EUR", 2), ("JPY", 0), ("KWD", 3)]
PROMOTIONS = ("off", "deal", "stamps")
REPORTS = (
    "PromotionPerformance", "PromotionUsageByDay", "PromotionUsageByDayAndHour", "PromotionUsageByHour",
    "PromotionUsageByDayOfWeek",
    "PromotionHourOfDay", "PromotionDiscountDistribution", "promotion_utc_days", "promotion_utc_months",
    "promotion_pos_group_sums", "promotion_article_sums",
)  # fmt: skip


@dataclass
class Till:
    """A till that sells, takes goods back and cancels, in one currency."""

    shop: Shop
    currency: tuple[str, int]
    counters: dict[str, int] = field(default_factory=dict)

    async def open(self) -> None:
        for name in PROMOTIONS:
            await self.shop.promotion(name)
        await self.shop.budget("hot", "100000", currency=self.currency[0])

    async def sell(self, name: str, draw: random.Random) -> None:
        """Sell two lines, each of some pieces that have different discounts."""
        lines, granted = [], dict.fromkeys(PROMOTIONS[:2], 0)
        for reference in ("1", "2"):
            pieces = draw.randint(3, 5)
            shares = {one: tuple((1, draw.randint(0, 99)) for _ in range(pieces)) for one in granted}
            for one, units in shares.items():
                granted[one] += sum(amount for _, amount in units)
            parts = (discount(one, units) for one, units in shares.items())
            lines.append(line(reference, 1000 * pieces, 1000 * pieces, *parts))
        rewards = [
            applied(one, amount, points=draw.randint(0, 9), budget_ids=("hot",)) for one, amount in granted.items()
        ]
        await self._confirm(name, self._priced(lines, (*rewards, applied("stamps", points=7))), *PROMOTIONS[:2])

    async def give_back(self, name: str, sale: str, reference: str) -> None:
        back = line("9", -1000, -500)
        await self._confirm(name, self._priced([back], ()), sales={"9": (sale, reference)})

    def _priced(self, lines: list[Any], rewards: tuple[Any, ...]) -> Outcome:
        return outcome(tuple(lines), rewards, currency=self.currency[0], exponent=self.currency[1])

    async def _confirm(self, name: str, priced: Outcome, *promotions: str, **rest: Any) -> None:
        customer = f"C{sum(map(ord, name)) % 3}"
        self.counters[name] = await self.shop.price(name, priced, customer_id=customer, **rest)
        await self.shop.confirm(name, self.counters[name], *promotions)

    async def cancel(self, name: str) -> bytes:
        return await cancel(self.shop.context, self.shop.tenant, CancelCommand(name, self.counters[name]))


async def books(shop: Shop) -> dict[str, Any]:
    """Return what the shop's sales come to: money, points, and how often promotions were used."""
    state = await budget_state(shop, "hot")
    state.check()
    points = {row.customer_id: row.points for row in await shop.rows("loyalty_balances") if row.points}
    booked: dict[str, int] = {}
    for row in await shop.rows("LoyaltyTransactions"):
        booked[row.customer_id] = booked.get(row.customer_id, 0) + row.points
    assert {customer: total for customer, total in booked.items() if total} == points
    usage = {tuple(row)[1:3]: row._mapping["count"] for row in await shop.rows("promotion_usage")}
    return {
        "consumed": state.consumed,
        "reported": sum((row.consumed for row in await shop.rows("budget_totals")), Decimal(0)),
        "points": points,
        "usage": {key: count for key, count in usage.items() if count},
        "applications": {row.code: row.applications_count for row in await shop.rows("Promotions")},
    }


async def reports(shop: Shop) -> dict[str, Any]:
    found = await kept(shop)
    return {name: [row[1:] for row in found[name]] for name in REPORTS}  # without the tenant


async def all_sums(shop: Shop) -> dict[str, Any]:
    """Return everything that reports keep, without how often a row was written.

    Sums of squares are one number, however they are split; of budgets, the times of use are left out (decision 30).
    Analyses end on the day before they were made.
    """
    names = ("promotion_id", "promotion_from", "baseline_transactions", "promotion_transactions")
    analyses = {
        set_name: sorted(tuple(row._mapping[one] for one in (*names, *more)) for row in await shop.rows(set_name))
        for set_name, more in (
            ("PromotionUpliftAnalysis", ["first_applied_on"]),
            ("PromotionUpliftByCurrency", ["currency"]),
        )
    }
    totals = [(row.budget_id, row.consumed, row.transactions) for row in await shop.rows("budget_totals")]
    own = {"basket_days": (await shown(shop))["sales"], **analyses}
    return {**await kept(shop), **own, "budget_totals": sorted(totals)}


@pytest.mark.parametrize("currency", CURRENCIES, ids=lambda one: str(one[0]))
async def test_what_was_cancelled_is_as_if_it_had_never_been(
    database: Database, seed: int, currency: tuple[str, int]
) -> None:
    """A shop with cancels comes to the same as one in which the cancelled sales and returns were never made."""
    draw = random.Random(seed)
    shops = [await open_shop(database, tenant) for tenant in ("tenant-a", "tenant-b")]
    till, twin = (Till(shop, currency) for shop in shops)
    await till.open()
    await twin.open()
    sold = [f"T{number}" for number in range(5)]
    pieces = [(sale, reference) for sale in sold for reference in "12" for _ in range(3)]
    returned = {f"R{number}": one for number, one in enumerate(draw.sample(pieces, 8))}
    gone = {*draw.sample(sold, 2), *draw.sample(sorted(returned), 3)}
    cancels = sorted(gone)
    draw.shuffle(cancels)

    def tick() -> None:
        """Let hours pass in both shops, sometimes into another month."""
        till.shop.later(hours=draw.choice((1, 9, 200)))
        twin.shop.now[0] = till.shop.now[0]

    for name in sold:
        tick()
        numbers = draw.random()
        await till.sell(name, random.Random(numbers))
        if name not in gone:
            await twin.sell(name, random.Random(numbers))
    steps = [*returned, *cancels]
    draw.shuffle(steps)
    waiting: list[str] = []
    for name in steps:
        tick()
        if draw.random() < 0.5:
            await till.shop.work()
            await aggregate_all(till.shop.context, till.shop.tenant)
        if name in returned and name not in till.counters:
            await till.give_back(name, *returned[name])
            if name not in gone:
                await twin.give_back(name, *returned[name])
        elif name in till.counters:
            await till.cancel(name)
        else:
            waiting.append(name)
    for name in [*waiting, *cancels]:  # those that were not made yet; all the others for the second time
        await till.cancel(name)
    for shop in shops:
        await shop.work()
        await aggregate_all(shop.context, shop.tenant)
    assert await books(till.shop) == await books(twin.shop)
    assert await reports(till.shop) == await reports(twin.shop)
    before = await all_sums(till.shop)
    await begin_rebuild(database, till.shop.tenant)
    run = Run(till.shop.context.new_id)
    while await rebuild_portion(till.shop.context, till.shop.tenant, run, draw.randint(1, 5)) is not None:
        pass
    await aggregate_all(till.shop.context, till.shop.tenant)
    assert await all_sums(till.shop) == before
    for name in till.counters:  # in the end nothing is left of anything
        await till.cancel(name)
    await till.shop.work()
    await aggregate_all(till.shop.context, till.shop.tenant)
    nothing = dict.fromkeys(PROMOTIONS, 0)
    assert await books(till.shop) == {
        "consumed": 0, "reported": 0, "points": {}, "usage": {}, "applications": nothing,
    }  # fmt: skip
    assert not any((await reports(till.shop)).values())


@pytest.mark.parametrize("clients", [64])
async def test_confirms_returns_and_cancels_at_once_end_in_one_order(shop: Shop, seed: int, clients: int) -> None:
    """While a worker carries out side effects: whoever was first, in the end all of the sale has come back once."""
    draw = random.Random(seed)
    till = Till(shop, ("EUR", 2))
    for name in PROMOTIONS[1:]:
        await shop.promotion(name)
    await shop.budget("hot", "100000")
    for number in range(4):
        await till.sell(f"T{number}", draw)
    back = outcome((line("9", -1000, -500),), ())
    prices = {f"R{number}": f"T{number % 4}" for number in range(clients // 4)}
    counters = {
        name: await shop.price(name, back, sales={"9": (sale, draw.choice("12"))}) for name, sale in prices.items()
    }
    bodies: dict[str, set[bytes]] = {}

    async def one(number: int) -> None:
        sale = f"T{number % 4}"
        match draw.randint(0, 3):
            case 0:
                bodies.setdefault(sale, set()).add(await till.cancel(sale))
            case 1:
                name = draw.choice(sorted(counters))
                await shop.confirm(name, counters[name])
                till.counters[name] = counters[name]
            case 2:
                made = sorted(name for name in till.counters if name.startswith("R"))
                if made:
                    name = draw.choice(made)
                    bodies.setdefault(name, set()).add(await till.cancel(name))
            case _:
                await shop.work()

    await asyncio.gather(*(one(number) for number in range(clients)))
    assert all(len(each) == 1 for each in bodies.values())
    for number in range(4):
        await till.cancel(f"T{number}")
    await shop.work()
    found = await books(shop)
    assert (found["consumed"], found["points"], found["usage"]) == (0, {}, {})
    events = [row for row in await shop.rows("outbox_events") if row.kind == "TRANSACTION_CANCELLED"]
    assert len(events) == await shop.count("cancellations")

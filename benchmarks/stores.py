"""`python -m benchmarks.stores`: 10 000 stores that share budgets, simulated from a seed, without a database.

It compares ways to allot a budget to stores by what customers and operators notice: funded promotions that were
refused while money was left, money that lies unused at the end, and messages to the cloud. The way that the service
takes is the module `promenade.workflows.replica.allotting` itself. Decision 33 has the figures.
"""

from __future__ import annotations

import argparse
import heapq
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate
from random import Random

from benchmarks.measure import show
from promenade.workflows.replica.allotting import (
    Habit,
    allot,
    first_reserve,
    halvings,
    reserve,
    should_fill,
    should_give_back,
)

__all__ = ["POLICIES", "Result", "simulate"]

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
FIRST = date(2026, 11, 2)  # a Monday
SALES_A_DAY = 20  # of one store, of which the budget funds a discount
PRICES = (100, 250, 400, 400, 400, 800)  # cents of one discount, 3.92 in the mean
CURVE = (0, 0, 0, 0, 0, 0, 1, 3, 5, 6, 6, 7, 8, 7, 6, 6, 7, 9, 10, 8, 6, 3, 1, 0)  # sales by hour of the day
WEEK = (0.8, 0.8, 0.9, 1.0, 1.3, 1.7, 0.5)
DOWN_PART, DOWN_SECONDS = 0.01, 45 * MINUTE  # links are down for a hundredth of the time, this long in the mean
REGION, REGION_DAY = 20, 2  # one store in 20 has no link on the third day
LATE_SECONDS = 60.0  # a store hears within a minute that money has become scarce
POLICIES = ("equal parts", "cloud only", "reserve", "reserve, scarce", "reserve, scarce, first")
CHOSEN = POLICIES[-1]
BUDGETS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)  # discounts
HEADS = ["policy", "sales", "refused online", "refused offline", "held offline", "left", "messages", "CPU s"]


@dataclass(slots=True)
class Store:
    """One store: its size, what it holds, in cents, and what it knows."""

    number: int
    size: float
    is_up: bool = True
    holds: int = 0
    filled: int = 0
    asked_at: float = -DAY
    forecast: int = 0  # as the cloud knows it
    halvings: int = 0
    habit: Habit = field(default_factory=Habit)

    told: Decimal = Decimal(0)  # what a sale uses elsewhere

    @property
    def target(self) -> int:
        """What it may hold."""
        return int(reserve(self.habit.forecast, self.habit.piece or self.told, self.halvings))


@dataclass(frozen=True, slots=True)
class Result:
    """What happened, in numbers of sales; ``stranded`` in cents."""

    sales: Counter[str]
    stranded: int
    messages: int

    def __add__(self, other: Result) -> Result:
        return Result(self.sales + other.sales, self.stranded + other.stranded, self.messages + other.messages)

    @property
    def sold(self) -> int:
        """How many sales there were."""
        return self.sales["online"] + self.sales["offline"]

    @property
    def online(self) -> float:
        """Per cent of the sales with a link that were refused while the cloud or a store with a link had enough."""
        return 100 * self.sales["refused online"] / max(self.sales["online"], 1)

    @property
    def offline(self) -> float:
        """Per cent of the sales without a link that were refused while money was left anywhere."""
        return 100 * self.sales["refused offline"] / max(self.sales["offline"], 1)


class Market:
    """A budget, the cloud and its stores."""

    def __init__(self, policy: str, cents: int, stores: int, random: Random) -> None:
        self.policy, self.random = policy, random
        self.total, self.free, self.demand = cents, cents, 0
        self.stores = [Store(one, random.lognormvariate(-0.18, 0.6)) for one in range(stores)]
        self.sales: Counter[str] = Counter()
        self.messages = 0
        self.with_link = 0  # cents that stores with a link hold
        self.spent = 0
        self.halvings = 0
        self.piece = Decimal(0)
        self.recalled_at: float | None = None

    # ---- the cloud ----

    def grant(self, store: Store, lacking: int, now: float) -> None:
        """Answer a request of a store."""
        self.messages += 1
        store.asked_at = now
        if self.policy == "equal parts":
            given = min(self.free // 10, self.free // (len(self.stores) + 1)) or self.free
        elif self.policy == "cloud only":
            given = lacking if lacking <= self.free else 0
        else:
            if not store.habit.forecast and self.policy.endswith("first"):
                first = first_reserve(Decimal(self.free), len(self.stores))
                store.habit = replace(store.habit, day=store.habit.day or FIRST, first=first)
            forecast = int(store.habit.forecast)
            self.demand += forecast - store.forecast
            store.forecast = forecast
            if "scarce" in self.policy:
                self._note(halvings(Decimal(self.free), Decimal(self.demand)), store.habit.piece, now)
            store.halvings, store.told = self.halvings, self.piece
            given = int(allot(Decimal(self.free), Decimal(lacking), Decimal(store.holds), Decimal(store.target)))
        self._move(store, given)
        store.filled = store.holds

    def _note(self, times: int, piece: Decimal, now: float) -> None:
        is_first = bool(piece) and not self.piece
        if (times > self.halvings or is_first) and self.recalled_at is None:
            self.recalled_at = now
        self.halvings = times
        self.piece = self.piece or piece

    def _move(self, store: Store, cents: int) -> None:
        self.free -= cents
        store.holds += cents
        self.with_link += cents

    # ---- a store ----

    def keep(self, store: Store, now: float) -> None:
        """Do what a store does every minute: fill up, or give back what is scarce elsewhere."""
        if self.policy == "equal parts":
            if store.holds * 2 < store.filled or (store.holds <= 0 and now - store.asked_at >= 5 * MINUTE):
                self.grant(store, 0, now)
            return
        if self.policy == "cloud only":
            return
        if store.asked_at < 0:
            self.grant(store, 0, now)
        target = store.target
        if should_fill(Decimal(store.holds), Decimal(target), timedelta(seconds=now - store.asked_at)):
            self.grant(store, 0, now)
        elif should_give_back(Decimal(store.holds), Decimal(target), store.halvings):
            self.messages += 1
            self._move(store, target - store.holds)

    def hear(self, now: float) -> None:
        """Let the stores with a link hear that money has become scarce."""
        self.recalled_at = None
        for store in self.stores:
            if store.is_up and (store.halvings, store.told) != (self.halvings, self.piece):
                store.halvings, store.told = self.halvings, self.piece
                self.keep(store, now)

    def sell(self, store: Store, cents: int, now: float) -> None:
        """Sell something on which the budget gives a discount."""
        kind = "online" if store.is_up else "offline"
        self.sales[kind] += 1
        lacking = cents - store.holds
        if lacking > 0 and store.is_up and self.policy != "equal parts":
            store.habit = store.habit.lacking(Decimal(cents))
            self.grant(store, lacking, now)
        if store.holds < cents:
            left = self.free + self.with_link if store.is_up else self.total - self.spent
            if left >= cents:
                self.sales["refused " + kind] += 1
            elif self.total - self.spent >= cents:
                self.sales["only offline stores have it"] += 1
            else:
                self.sales["over"] += 1
        else:
            store.holds -= cents
            self.spent += cents
            if store.is_up:
                self.with_link -= cents
            self.sales["funded"] += 1
            store.habit = store.habit.after(Decimal(cents), FIRST + timedelta(days=int(now // DAY)))
        if store.is_up:
            self.keep(store, now)

    def switch(self, store: Store, is_up: bool, now: float) -> None:
        """Lose the link or get it back."""
        if store.is_up != is_up:
            store.is_up = is_up
            self.with_link += store.holds if is_up else -store.holds
            if is_up:
                store.halvings, store.told = self.halvings, self.piece
                self.keep(store, now)


def simulate(policy: str, discounts: int, *, stores: int, days: int, seed: int) -> Result:
    """Sell for some days, or until the budget is spent; ``discounts`` is about how many it pays for."""
    random = Random(seed)
    market = Market(policy, discounts * sum(PRICES) // len(PRICES), stores, random)
    sizes = list(accumulate(one.size for one in market.stores))
    links = [*_links(market, days, random)]
    heapq.heapify(links)
    for store in market.stores:
        market.keep(store, 0.0)
    for now in _times(stores, days, random):
        while links and links[0][0] <= now:
            at, number, is_up = heapq.heappop(links)
            market.switch(market.stores[number], is_up, at)
        if market.recalled_at is not None and now - market.recalled_at >= LATE_SECONDS:
            market.hear(now)
        store = market.stores[bisect(sizes, random.random() * sizes[-1])]
        market.sell(store, random.choice(PRICES), now)
        if market.total - market.spent < PRICES[0]:
            break
    return Result(market.sales, market.total - market.spent, market.messages)


def _times(stores: int, days: int, random: Random) -> Iterator[float]:
    for day in range(days):
        for hour, weight in enumerate(CURVE):
            number = int(stores * SALES_A_DAY * WEEK[day % 7] * weight / sum(CURVE))
            start = day * DAY + hour * HOUR
            yield from sorted(start + random.random() * HOUR for _ in range(number))


def _links(market: Market, days: int, random: Random) -> Iterator[tuple[float, int, bool]]:
    for store in market.stores:
        dark = (REGION_DAY * DAY, (REGION_DAY + 1) * DAY) if store.number % REGION == 0 else (0.0, 0.0)
        now = 0.0
        while (now := now + random.expovariate(DOWN_PART / DOWN_SECONDS)) < days * DAY:
            start, now = now, now + random.expovariate(1 / DOWN_SECONDS)
            if now < dark[0] or start >= dark[1]:
                yield start, store.number, False
                yield now, store.number, True
        if dark[1]:
            yield dark[0], store.number, False
            yield dark[1], store.number, True


def main() -> None:
    """Print one table for each size of budget, and one for all of them together."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores", description="Simulate stores and budgets.")
    parser.add_argument("--stores", type=int, default=10_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", choices=POLICIES, action="append")
    parser.add_argument("--microseconds", type=int, default=1500, help="CPU of the cloud for one message")
    given = parser.parse_args()
    policies = given.policy or list(POLICIES)
    together = {policy: Result(Counter(), 0, 0) for policy in policies}
    for discounts in BUDGETS:
        results = {
            policy: simulate(policy, discounts, stores=given.stores, days=given.days, seed=given.seed)
            for policy in policies
        }
        show(f"A budget of {discounts:,} discounts", HEADS, _rows(results, given.microseconds))
        together = {policy: together[policy] + result for policy, result in results.items()}
    show("All of them together", HEADS, _rows(together, given.microseconds))


def _rows(results: Mapping[str, Result], microseconds: int) -> list[list[str]]:
    return [
        [
            policy,
            f"{result.sold:,}",
            f"{result.online:.3f} %",
            f"{result.offline:.2f} %",
            f"{100 * result.sales['only offline stores have it'] / result.sold:.2f} %",
            f"{result.stranded / 100:,.2f}",
            f"{result.messages / result.sold:.3f}",
            f"{result.messages * microseconds / 1e6:,.1f}",
        ]
        for policy, result in results.items()
    ]


if __name__ == "__main__":
    main()

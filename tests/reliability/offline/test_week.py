"""A week without a connection to the cloud, in two stores that are killed at random points; then it is restored.

Every sale arrives once, to the cent. No budget is overspent, also not beyond a store's grant; no code is redeemed
twice, in whichever store it is presented; limits hold over both stores; points match the sales.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from promenade.store.pricing.iterations import CLOUD
from tests.kit.databases import Databases, Dialect
from tests.reliability.offline.books import Books, is_done, read_books
from tests.reliability.offline.market import BUDGET, CHARGED, LIMITED, Sale, rows, sales
from tests.reliability.offline.tills import Tills
from tests.web.replica.link.chain import Branch, Cloud, soon, start_branch, start_cloud
from tests.web.replica.link.line import Line
from tests.web.replica.link.shelf import identity

Charges = Mapping[tuple[str, int, str], tuple[Decimal, Decimal]]

SMALL = 160
LARGE = int(os.environ.get("PROMENADE_SOAK") or 10_000)
DAYS = 7
SENDING_SECONDS = 10.0
ONLINE_PART = 10  # one in this many sales is made before the connection is cut


@dataclass
class Week:
    """The cloud, its stores, their connections and tills.

    ``pool`` has the threads that start processes: a process ends with the thread that started it.
    """

    cloud: Cloud
    branches: Sequence[Branch]
    lines: Sequence[Line]
    tills: Sequence[Tills]
    pool: ThreadPoolExecutor

    def try_at_once(self) -> None:
        """Configure the links again, so that stores retry immediately."""
        for at, (branch, line) in enumerate(zip(self.branches, self.lines, strict=True)):
            branch.link(self.cloud, line, code=f"S{at}")

    def both(self, work: Callable[[int], object]) -> None:
        """Run work in both stores concurrently."""
        for one in [self.pool.submit(work, at) for at in range(2)]:
            one.result()


@pytest.fixture
def open_week(databases: Databases, dialect: Dialect, tmp_path: Path, logs: Path, seed: int) -> Iterator[OpenWeek]:
    """Open a week with this many sales."""
    url = databases.create(dialect)
    with ExitStack() as stack:
        yield OpenWeek(stack, url, tmp_path, logs, seed)
    databases.drop(url)


@dataclass
class OpenWeek:
    stack: ExitStack
    url: str
    directory: Path
    logs: Path
    seed: int

    def __call__(self, number: int) -> Week:
        clock_file = self.directory / "clock"
        stamp = time.monotonic_ns()

        def branch(name: str) -> Branch:
            return start_branch(self.directory / name, clock_file, self.logs / f"store-{name}-{stamp}.log")

        pool = self.stack.enter_context(ThreadPoolExecutor(3))
        first = pool.submit(start_cloud, self.url, clock_file, self.logs / f"cloud-{stamp}.log", rows(number))
        others = [pool.submit(branch, name) for name in ("one", "two")]
        cloud = first.result()
        self.stack.callback(cloud.close)
        branches = [one.result() for one in others]
        for one in branches:
            self.stack.callback(one.close)
        lines = [self.stack.enter_context(Line(cloud.service.port, seed=self.seed + at)) for at in range(2)]
        tills = [Tills(one, random.Random(self.seed + at)) for at, one in enumerate(branches)]
        week = Week(cloud, branches, lines, tills, pool)
        week.try_at_once()
        return week


def test_sales_of_a_week_offline_are_settled_exactly(open_week: OpenWeek, seed: int) -> None:
    live_through(open_week(SMALL), SMALL, seed, kills=1)


@pytest.mark.soak
@pytest.mark.timeout(24 * 3600)
def test_many_sales_of_a_week_offline_are_settled_exactly(open_week: OpenWeek, seed: int) -> None:
    began = time.monotonic()
    live_through(open_week(LARGE), LARGE, seed, kills=2 * DAYS)
    print(f"{LARGE} sales took {time.monotonic() - began:.0f} s")


def live_through(week: Week, number: int, seed: int, *, kills: int) -> None:
    """Run the whole week."""
    each = [list(sales(number // 2, at, random.Random(seed + 100 + at))) for at in range(2)]
    for branch in week.branches:
        soon(partial(is_provided, branch))
    online = number // 2 // ONLINE_PART
    week.both(lambda at: week.tills[at].sell(each[at][:online]))
    # Codes presented while there is a connection are leased to the store and can be redeemed offline.
    week.both(lambda at: show_codes(week.branches[at], each[at][online:], at))
    for line in week.lines:
        line.cut()
    started = time.monotonic()
    rest = [one[online:] for one in each]
    for day in range(DAYS):
        week.cloud.clock.move(days=1)
        week.both(partial(live_a_day, week, rest, day, kills))
    print(f"a week with {sum(map(len, rest))} sales: {time.monotonic() - started:.1f} s")
    before = read_books(week.cloud.database_url)
    assert sum(len(before.sales(one)) for one in origins(week)) <= 2 * online
    bring_back(week, number)
    check(week, read_books(week.cloud.database_url), [read_books(one.url) for one in week.branches])


def live_a_day(week: Week, sales: Sequence[Sequence[Sale]], day: int, kills: int, at: int) -> None:
    """Run the sales of one day in one store."""
    size = -(-len(sales[at]) // DAYS)
    today = kills // DAYS + (day < kills % DAYS)
    week.tills[at].sell(sales[at][day * size : (day + 1) * size], kills=today)


def is_provided(branch: Branch) -> bool:
    """Return whether the store has its pricing data and its grants."""
    budgets = branch.columns("SELECT total_amount FROM budgets")
    limits = branch.columns("SELECT max_applications_total FROM promotions WHERE max_applications_total > 0")
    return bool(budgets and budgets[0][0] > 0 and limits)


def show_codes(branch: Branch, coming: Sequence[Sale], at: int) -> None:
    """Validate every other code of the week in advance."""
    codes = [sale.coupon for sale in coming if sale.coupon is not None][at::2]
    for start in range(0, len(codes), 50):
        body = {"posGroupCode": "BERLIN", "items": [{"articleNumber": "A-2", "quantity": 1, "unitPrice": 10.0}],
                "coupons": [{"code": one} for one in codes[start : start + 50]]}  # fmt: skip
        assert branch.post("/pos/v2/simulate", {"request": body}).status_code == 200


def bring_back(week: Week, number: int) -> None:
    """Restore the connection, at first an unreliable one, and kill stores while they send."""
    started = time.monotonic()
    for line in week.lines:
        line.lost = 0.1
        line.mend()
    waiting = [pending(branch) for branch in week.branches]
    week.try_at_once()
    week.both(lambda at: kill_while_it_sends(week.tills[at], waiting[at]))
    for line in week.lines:
        line.lost = 0.0
    week.try_at_once()
    for branch in week.branches:
        soon(lambda branch=branch: not pending(branch), seconds=300 + number / 20)  # type: ignore[misc]
    for url in (week.cloud.database_url, *(one.url for one in week.branches)):
        soon(partial(is_done, url), seconds=300 + number / 20)
    print(f"sent within {time.monotonic() - started:.1f} s, {sum(one.answers_lost for one in week.lines)} answers lost")


def kill_while_it_sends(tills: Tills, waiting: int) -> None:
    """Kill the store once its first sales are sent, or once the connection is too bad for any to get through."""
    deadline = time.monotonic() + SENDING_SECONDS
    soon(lambda: pending(tills.branch) < waiting or time.monotonic() > deadline, seconds=2 * SENDING_SECONDS)
    tills.kill()


def pending(branch: Branch) -> int:
    ((count,),) = branch.columns("SELECT count(*) FROM sync_uploads WHERE rejected_at IS NULL")
    return int(count)


def origins(week: Week) -> list[str]:
    return [str(branch.columns("SELECT deployment_id FROM sync_link")[0][0]) for branch in week.branches]


# ---- what must be true -----------------------------------------------------------------------------------------------


def check(week: Week, cloud: Books, stores: Sequence[Books]) -> None:
    """Compare the cloud's books with those of the stores, and both with the answers to tills."""
    for tills, store, origin in zip(week.tills, stores, origins(week), strict=True):
        refused = week.branches[week.tills.index(tills)].shown()["rejectedUploads"]
        assert not refused, refused
        told = {(one.transaction_id, one.counter): one.total for one in tills.sold}
        assert len(told) == len(tills.sold)
        assert store.sales(CLOUD) == told
        assert cloud.sales(origin) == told
        check_charges(cloud.charges(origin), store.charges(CLOUD))
        assert cloud.points(origin) == store.points(CLOUD)
        own = store.one("Budgets", BUDGET)
        assert own.consumed_amount == store.spent(BUDGET) <= own.total_amount
    check_budget(cloud, stores)
    check_codes(week, cloud, stores)
    check_limit(cloud, stores)


def check_charges(above: Charges, below: Charges) -> None:
    """Both have the same charges; the cloud may cover more, from the budget that is left, than a store's grant did."""
    assert {key: charged for key, (charged, _) in above.items()} == {
        key: charged for key, (charged, _) in below.items()
    }
    assert all(above[key][1] >= covered for key, (_, covered) in below.items())


def check_budget(cloud: Books, stores: Sequence[Books]) -> None:
    budget = cloud.one("Budgets", BUDGET)
    outstanding = [one.outstanding for one in cloud.rows["store_shares"] if one.kind == "BUDGET"]
    assert budget.reserved_amount == sum(outstanding, Decimal(0))
    assert budget.consumed_amount == cloud.spent(BUDGET) >= sum(one.spent(BUDGET) for one in stores)
    assert budget.consumed_amount > 0
    assert budget.consumed_amount + budget.reserved_amount <= budget.total_amount


def check_codes(week: Week, cloud: Books, stores: Sequence[Books]) -> None:
    redeemed = cloud.redeemed()
    assert max(redeemed.values()) == 1
    by_stores = sum((one.redeemed() for one in stores), start=type(redeemed)())
    assert redeemed == by_stores
    codes = {one.id: one.code for one in cloud.rows["CouponCodes"]}
    told = [one.coupon for tills in week.tills for one in tills.sold if one.coupon is not None]
    assert sorted(told) == sorted(codes[one] for one in redeemed)
    assert {one.id for one in cloud.rows["CouponCodes"] if one.status == "REDEEMED"} == set(redeemed)
    refused = [reason for tills in week.tills for one in tills.sold for reason in one.invalid]
    assert any(reason.endswith("NEEDS_CLOUD") for reason in refused), "no code was shown where nobody could be asked"


def check_limit(cloud: Books, stores: Sequence[Books]) -> None:
    """All sales count in the cloud up to the limit, also those that were beyond the share of their store."""
    promotion_id = identity(0xB, LIMITED)
    limited = cloud.one("Promotions", promotion_id)
    applied = sum(one.one("Promotions", promotion_id).applications_count for one in stores)
    beyond = sum(one.beyond_limit(promotion_id) for one in stores)
    assert 0 < applied <= limited.applications_count <= limited.max_applications_total
    assert limited.applications_count + cloud.beyond_limit(promotion_id) == applied + beyond
    charged = cloud.one("Promotions", identity(0xB, CHARGED))
    assert charged.applications_count > 0

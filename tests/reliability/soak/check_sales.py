"""T1 to T5: sales, their counters, and their side effects."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from sqlalchemy import Row

from promenade.store.pricing.iterations import CLOUD
from promenade.workflows.settlement.effects import decode_effects
from tests.reliability.soak.books import Books, group
from tests.reliability.soak.history import History, Priced

__all__ = ["check_sales", "lost_by_crash"]

_UNSYNCED_SECONDS = 1.0  # PostgreSQL syncs evaluations within three times its wal_writer_delay of 0.2 s
_SALE = ("tenant_id", "origin", "transaction_id")


async def check_sales(books: Books) -> None:
    """Check all invariants of transactions."""
    await _acknowledged(books)
    await _counters(books)
    await _whole(books)
    await _effects(books)
    await _points(books)


async def _acknowledged(books: Books) -> None:
    """T1, T3: each acknowledged confirm is stored once, with the bytes of its answer."""
    confirmed = group(await books.rows("confirmations"), "tenant_id", "transaction_id")
    for key, rows in confirmed.items():
        books.expect("T1", len(rows) == 1, (key, rows))
    for key, told in books.history.confirmed.items():
        rows = confirmed.get(key, [])
        books.expect("T3", len(rows) == 1, f"an acknowledged confirm is lost: {key}")
        for row in rows:
            books.expect("T1", bytes(row.response) == told.body, (key, row.response, told.body))
            books.expect("T1", row.transaction_counter == told.priced.counter, (key, row.transaction_counter))
    for key, store in books.history.taken.items():
        origins = [row.origin for row in confirmed.get(key, [])]
        books.expect("T3", origins == [store], ("a sale that a store has handed over", key, store, origins))
    known = books.history.confirmed.keys() | books.history.unknown_confirms | books.history.uploaded
    for key in confirmed:
        books.expect("T1", key in known, f"nobody was told that this sale is confirmed: {key}")


async def _counters(books: Books) -> None:
    """T2: the counters of a transaction are 1, 2, 3 ... without gaps, each given once unless a crash lost it.

    Stores keep the counters of their own sales.
    """
    given: dict[Any, list[int]] = defaultdict(list)
    for row in await books.rows("iterations", *_SALE, "transaction_counter"):
        if row.origin == CLOUD:
            given[row.tenant_id, row.origin, row.transaction_id].append(abs(row.transaction_counter))
    last = {
        tuple(getattr(row, name) for name in _SALE): row.last_counter for row in await books.rows("iteration_counters")
    }
    for key, counters in given.items():
        books.expect("T2", sorted(counters) == list(range(1, last.get(key, 0) + 1)), (key, counters, last.get(key)))
    books.expect("T2", set(given) == set(last), set(given) ^ set(last))
    told: dict[Any, list[Priced]] = defaultdict(list)
    for one in books.history.priced:
        told[one.tenant, one.transaction_id, one.counter].append(one)
    for told_key, answers in told.items():
        once = all(lost_by_crash(books.history, *pair) for pair in pairwise(answers))
        books.expect("T2", once, f"a counter was given twice: {told_key}")


def lost_by_crash(history: History, earlier: Priced, later: Priced) -> bool:
    """Return whether a crash of the database may have lost an evaluation, so that its counter was free again."""
    return any(
        earlier.began < back and earlier.ended > crashed - _UNSYNCED_SECONDS and later.ended > crashed
        for crashed, back in history.database_crashes
    )


async def _whole(books: Books) -> None:
    """T4: a sale, its log, its job and its event are stored together; so is every row that refers to a sale."""
    sales = group(await books.rows("confirmations"), *_SALE)
    logs = [row for row in await books.rows("CalculationLogs") if row.status == "CALCULATED"]
    of_log = group(logs, *_SALE)
    of_job = group(await books.rows("side_effect_jobs"), *_SALE)
    events = Counter(
        (row.tenant_id, json.loads(row.payload)["data"]["transactionId"])
        for row in await books.rows("outbox_events")
        if row.kind == "TRANSACTION_CONFIRMED"
    )
    for key, (sale, *_) in sales.items():
        for name, found in (("log", of_log), ("job", of_job)):
            rows = found.get(key, [])
            is_one = len(rows) == 1 and rows[0].transaction_counter == sale.transaction_counter
            books.expect("T4", is_one, (f"the {name} of a sale", key, rows))
        books.expect("T4", events[key[0], key[2]] == 1, ("the event of a sale", key, events[key[0], key[2]]))
    books.expect("T4", set(of_log) <= set(sales), "a log without a sale")
    books.expect("T4", set(of_job) <= set(sales), "a job without a sale")
    books.expect("T4", sum(events.values()) == len(sales), "an event without a sale")
    for row in await books.rows("BudgetConsumptions"):
        _names_sale(books, row, sales)
    for row in await books.rows("coupon_claims"):
        if row.transaction_counter is not None:
            _names_sale(books, row, sales)


def _names_sale(books: Books, row: Row[Any], sales: dict[Any, list[Row[Any]]]) -> None:
    found = sales.get(tuple(getattr(row, name) for name in _SALE), [])
    books.expect("T4", [one.transaction_counter for one in found] == [row.transaction_counter], (row, found))


async def _effects(books: Books) -> None:
    """T5: every job has ended, and each of its effects was applied once."""
    issued = group(
        (row for row in await books.rows("CouponCodes") if row.issuing_transaction_id is not None),
        "tenant_id",
        "issuing_transaction_id",
    )
    for job in await books.rows("side_effect_jobs"):
        books.expect("T5", job.status in ("COMPLETED", "FAILED"), job)
        if job.status != "COMPLETED":
            continue
        wanted = Counter((one.promotion_id, one.coupon_type_id) for one in decode_effects(job.payload).coupons)
        codes = issued.get((job.tenant_id, job.transaction_id), [])
        done = Counter((one.issuing_promotion_id, one.coupon_type_id) for one in codes)
        books.expect("T5", done == wanted, ("coupons of a sale", job.transaction_id, done, wanted))
        kept = {one["couponId"] for one in job.post_purchase_coupons or ()}
        books.expect("T5", kept == {one.id for one in codes}, ("coupons of a sale", job.transaction_id, kept))


async def _points(books: Books) -> None:
    """T5 of points: each sale's points are booked once, and balances are the sums of bookings."""
    booked = group(await books.rows("LoyaltyTransactions"), *_SALE)
    jobs = {tuple(getattr(row, name) for name in _SALE): row for row in await books.rows("side_effect_jobs")}
    awarded = Counter(
        (row.tenant_id, json.loads(row.payload)["data"]["transactionId"])
        for row in await books.rows("outbox_events")
        if row.kind == "LOYALTY_POINTS_AWARDED"
    )
    for log in await books.rows("CalculationLogs"):
        key = tuple(getattr(log, name) for name in _SALE)
        if log.status != "CALCULATED" or jobs[key].status != "COMPLETED":
            continue
        effects = decode_effects(jobs[key].payload)
        rows = booked.get(key, [])
        wanted = Counter(one.points for one in effects.points) + Counter()
        got = Counter(row.points for row in rows if row.points > 0)
        books.expect("T5", got == Counter({n: c for n, c in wanted.items() if n > 0}), (key, got, wanted))
        back = sum(one.points for one in effects.points_back)
        books.expect("T5", -sum(row.points for row in rows if row.points < 0) == back, (key, rows, back))
        books.expect("T5", awarded[key[0], key[2]] == (log.loyalty_points > 0), (key, log.loyalty_points))
    sums: Counter[Any] = Counter()
    for row in await books.rows("LoyaltyTransactions"):
        sums[row.tenant_id, row.customer_id] += row.points
    for row in await books.rows("loyalty_balances"):
        key = (row.tenant_id, row.customer_id)
        books.expect("T5", sums.pop(key, 0) == row.points, (key, row.points))
    books.expect("T5", not any(sums.values()), ("points without a balance", sums))

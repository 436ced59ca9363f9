"""B1 to B5: budgets and the totals of sales."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

from promenade.store.budgets.charges import is_used_up
from promenade.store.verification.sums import read_differences
from tests.reliability.soak.books import Books, group

__all__ = ["check_money"]

_NOTHING = Decimal(0)


async def check_money(books: Books) -> None:
    """Check all money invariants."""
    await _budgets(books)
    await _transitions(books)
    await _lines(books)
    await _recharges(books)
    _, found = await books.database.read(read_differences, system=True)
    books.expect("B1", not found, found)  # as `promenade db check` sees it


async def _budgets(books: Books) -> None:
    """B1, B2: the consumed amount is the sum of the consumptions, the reserved amount that of the stores' shares."""
    booked: dict[Any, Decimal] = defaultdict(Decimal)
    seen: Counter[Any] = Counter()
    for one in await books.rows("BudgetConsumptions"):
        booked[one.tenant_id, one.budget_id] += one.amount
        seen[one.tenant_id, one.budget_id, one.origin, one.transaction_id, one.promotion_id] += 1
        books.expect("B1", one.uncovered_amount >= 0, one)
    for key, times in seen.items():
        books.expect("B2", times == 1, (key, times))
    granted: dict[Any, Decimal] = defaultdict(Decimal)
    for share in await books.rows("store_shares"):
        if share.kind == "BUDGET":
            granted[share.tenant_id, share.entity_id] += share.outstanding
    for row in await books.rows("Budgets"):
        key = (row.tenant_id, row.id)
        books.expect("B1", row.consumed_amount == booked[key], (row, booked[key]))
        books.expect("B1", row.reserved_amount == granted[key], (row, granted[key]))
        books.expect("B1", 0 <= row.consumed_amount + row.reserved_amount <= row.total_amount, row)
        left = row.total_amount - row.consumed_amount  # what stores hold of it can still be spent
        if row.status in ("ACTIVE", "EXHAUSTED"):
            books.expect("B3", (row.status == "EXHAUSTED") == is_used_up(left, row.currency), row)


async def _transitions(books: Books) -> None:
    """B3: one event for each time that a budget became EXHAUSTED according to the audit trail."""
    became: Counter[Any] = Counter()
    ended: Counter[Any] = Counter()
    for row in await books.rows("AuditLogs"):
        if row.entity_type == "Budgets" and row.note:
            became[row.tenant_id, row.entity_id] += row.note.count("-> EXHAUSTED")
            ended[row.tenant_id, row.entity_id] += row.note.count("EXHAUSTED ->")
    told = Counter(
        (row.tenant_id, json.loads(row.payload)["data"]["budgetId"])
        for row in await books.rows("outbox_events")
        if row.kind == "BUDGET_EXHAUSTED"
    )
    books.checked["budgets that ran out"] = sum(told.values())
    for budget in await books.rows("Budgets"):
        key = (budget.tenant_id, budget.id)
        books.expect("B3", told[key] == became[key], (key, told[key], became[key]))
        books.expect("B3", became[key] - ended[key] == (budget.status == "EXHAUSTED"), (budget, became, ended))


async def _lines(books: Books) -> None:
    """B5: a sale's lines add up to its discount and total, its promotions to its discount; nothing is negative."""
    items = group(await books.rows("CalculationLogItems"), "tenant_id", "log_id")
    promotions = group(await books.rows("CalculationLogPromotions"), "tenant_id", "log_id")
    for log in await books.rows("CalculationLogs"):
        if log.status != "CALCULATED":
            continue
        of_log = items.get((log.tenant_id, log.id), [])
        books.expect("B5", log.grand_total == log.subtotal - log.discount, log)
        books.expect("B5", sum((one.line_total for one in of_log), _NOTHING) == log.subtotal, log)
        books.expect("B5", sum((one.line_discount for one in of_log), _NOTHING) == log.discount, log)
        given = sum((one.total_discount for one in promotions.get((log.tenant_id, log.id), [])), _NOTHING)
        books.expect("B5", given == log.discount, (log, given))
        for one in of_log:
            books.expect("B5", one.line_net >= 0 and one.line_discount >= 0, one)
            if one.quantity > 0:
                books.expect("B5", one.line_net == one.line_total - one.line_discount, one)


async def _recharges(books: Books) -> None:
    """T3 of contributions: acknowledged ones are stored, and the total is the initial amount plus all contributions."""
    rows = await books.rows("RechargeContributions")
    known = {(row.tenant_id, row.id) for row in rows}
    for key in books.history.recharged:
        books.expect("T3", key in known, key)
    paid: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        paid[row.tenant_id, row.budget_id] += row.amount
    begun = {(row.tenant_id, row.code): row for row in await books.rows("Budgets")}
    others = {row.total_amount for (_, code), row in begun.items() if code == "wide"}
    books.expect("B1", others == {Decimal(1_000_000_000)}, others)
    first = {row.total_amount - paid[tenant, row.id] for (tenant, code), row in begun.items() if code == "small"}
    books.expect("B1", len(first) == 1, first)  # all tenants began with the same amount

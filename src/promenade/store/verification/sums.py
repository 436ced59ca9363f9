"""Stored sums against the rows that they are the sums of; see docs/reliability.md, B1, B5, C1, T2, T4 and T5.

Each comparison is one statement over all tenants, which reads the tables as a whole: it is for a copy of a database, or
for a quiet hour. Rows that an operator's retention has dropped are no longer compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, and_, func, or_, select, true
from sqlalchemy.sql.expression import FromClause

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import CLOUD
from promenade.store.sales.kept import MARKS, SALES
from promenade.store.sales.log_parts import part_rows

__all__ = ["Difference", "read_differences"]

EXAMPLES_MAX = 5

_BUDGETS = table("Budgets")
_CONSUMPTIONS = table("BudgetConsumptions")
_SHARES = table("store_shares")
_LOGS = table("CalculationLogs")
_POINTS = table("LoyaltyTransactions")
_BALANCES = table("loyalty_balances")
_CODES = table("CouponCodes")
_CLAIMS = table("coupon_claims")
_USAGE = table("coupon_usage")
_CONFIRMATIONS = table("confirmations")
_COUNTERS = table("iteration_counters")
_ITERATIONS = table("iterations")


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows that do not have what they should; ``examples`` name the first few as tenant and key."""

    check: str
    count: int
    examples: Sequence[str]


async def read_differences(session: Session, *, is_store: bool = False) -> tuple[Sequence[str], Sequence[Difference]]:
    """Return what was compared, and the differences found. The session must see all tenants.

    ``is_store``: the database is a store's, whose shares are parts of the cloud's budgets. Otherwise it also has sales
    of stores, whose counters the stores keep.
    """
    checks, found = [], []
    for check, wrong in _comparisons(is_store=is_store):
        checks.append(check)
        ((count,),) = await session.execute(select(func.count()).select_from(wrong.subquery()))
        if count:
            rows = await session.execute(wrong.limit(EXAMPLES_MAX))
            found.append(Difference(check, count, ["/".join(map(str, row)) for row in rows]))
    return checks, found


def _comparisons(*, is_store: bool) -> Iterator[tuple[str, Select[Any]]]:
    yield from _of_budgets(is_store=is_store)
    yield from _of_sales(is_store=is_store)
    yield from _of_coupons()
    yield (
        "points of customers",
        _unequal(
            (_BALANCES.c.tenant_id, _BALANCES.c.customer_id),
            _BALANCES.c.points,
            _total(_POINTS, _POINTS.c.points, "customer_id"),
        ),
    )


def _of_budgets(*, is_store: bool) -> Iterator[tuple[str, Select[Any]]]:
    key = (_BUDGETS.c.tenant_id, _BUDGETS.c.id)
    consumed = _total(_CONSUMPTIONS, _CONSUMPTIONS.c.amount, "budget_id")
    yield "consumed amounts of budgets", _unequal(key, _BUDGETS.c.consumed_amount, consumed)
    if is_store:
        return
    given = _total(_SHARES, _SHARES.c.outstanding, "entity_id", where=_SHARES.c.kind == "BUDGET")
    yield "shares of stores in budgets", _unequal(key, _BUDGETS.c.reserved_amount, given)


def _of_sales(*, is_store: bool) -> Iterator[tuple[str, Select[Any]]]:
    key = (_LOGS.c.tenant_id, _LOGS.c.id)
    is_sale = _LOGS.c.status == "CALCULATED"
    yield (
        "totals of sales",
        select(*key).where(is_sale, _LOGS.c.grand_total != _LOGS.c.subtotal - _LOGS.c.discount),
    )
    lines, applied = part_rows("CalculationLogItems"), part_rows("CalculationLogPromotions")
    for check, stored, parts, amount in (
        ("lines of sales", _LOGS.c.subtotal, lines, lines.c.line_total),
        ("discounts of lines", _LOGS.c.discount, lines, lines.c.line_discount),
        ("discounts of promotions", _LOGS.c.discount, applied, applied.c.total_discount),
    ):
        yield check, _unequal(key, stored, _total(parts, amount, "log_id"), where=is_sale)
    sale = ("origin", "transaction_id", "transaction_counter")
    logged = _CONFIRMATIONS.outerjoin(
        _LOGS, and_(*(_CONFIRMATIONS.c[one] == _LOGS.c[one] for one in ("tenant_id", *sale)))
    )
    named = (_CONFIRMATIONS.c.tenant_id, *(_CONFIRMATIONS.c[one] for one in sale))
    marked = logged.outerjoin(MARKS, and_(MARKS.c.tenant_id == _CONFIRMATIONS.c.tenant_id, MARKS.c.kind == SALES))
    kept = or_(MARKS.c.purged_before.is_(None), _CONFIRMATIONS.c.confirmed_at >= MARKS.c.purged_before)
    yield "logs of confirmed sales", select(*named).select_from(marked).where(_LOGS.c.id.is_(None), kept)
    last = (
        select(
            _ITERATIONS.c.tenant_id,
            _ITERATIONS.c.origin,
            _ITERATIONS.c.transaction_id,
            func.max(func.abs(_ITERATIONS.c.transaction_counter)).label("total"),
        )
        .where(true() if is_store else _ITERATIONS.c.origin == CLOUD)
        .group_by(_ITERATIONS.c.tenant_id, _ITERATIONS.c.origin, _ITERATIONS.c.transaction_id)
        .subquery()
    )
    counters = (_COUNTERS.c.tenant_id, _COUNTERS.c.origin, _COUNTERS.c.transaction_id)
    both = last.outerjoin(_COUNTERS, and_(*(one == last.c[one.name] for one in counters)))
    behind = or_(_COUNTERS.c.last_counter.is_(None), _COUNTERS.c.last_counter < last.c.total)
    yield (
        "counters of transactions",
        select(last.c.tenant_id, last.c.origin, last.c.transaction_id).select_from(both).where(behind),
    )


def _of_coupons() -> Iterator[tuple[str, Select[Any]]]:
    spent = _count(_CLAIMS, "coupon_code_id")
    key = (_CODES.c.tenant_id, _CODES.c.id)
    yield "redemptions of coupon codes", _unequal(key, _CODES.c.redemption_count, spent)
    used = _count(_CLAIMS, "coupon_type_id")
    key = (_USAGE.c.tenant_id, _USAGE.c.coupon_type_id)
    yield "uses of coupon types", _unequal(key, _USAGE.c["count"], used, where=_USAGE.c.customer_id == "")


def _total(
    parts: FromClause, amount: ColumnElement[Any], owner: str, where: ColumnElement[bool] | None = None
) -> Subquery:
    """The sums of an amount by tenant and owner."""
    sums = select(parts.c.tenant_id, parts.c[owner].label("owner"), func.sum(amount).label("total"))
    if where is not None:
        sums = sums.where(where)
    return sums.group_by(parts.c.tenant_id, parts.c[owner]).subquery()


def _count(parts: FromClause, owner: str) -> Subquery:
    """The numbers of rows by tenant and owner."""
    counts = select(parts.c.tenant_id, parts.c[owner].label("owner"), func.count().label("total"))
    return counts.group_by(parts.c.tenant_id, parts.c[owner]).subquery()


def _unequal(
    key: tuple[ColumnElement[Any], ColumnElement[Any]],
    stored: ColumnElement[Any],
    sums: Subquery,
    where: ColumnElement[bool] | None = None,
) -> Select[Any]:
    """The keys (tenant and owner) of the rows whose stored sum is another one than that of their parts."""
    belongs = and_(sums.c.tenant_id == key[0], sums.c.owner == key[1])
    joined = stored.table.outerjoin(sums, belongs)
    wrong = select(*key).select_from(joined).where(stored != func.coalesce(sums.c.total, 0))
    return wrong if where is None else wrong.where(where)

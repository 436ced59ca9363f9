"""What the arms of pilots and experiments came to: added up day by day, and read again for reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import Row, case, delete, func, select, text, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "DAYS",
    "UTC_DAYS",
    "ArmSums",
    "Baskets",
    "DaySums",
    "add_days",
    "by_promotions",
    "day_sums",
    "drop_comparisons",
    "keep_extra_revenue",
    "keep_results",
    "of_baskets",
    "read_sums",
    "stale_promotions",
    "take_stale_days",
    "to_baskets",
]

DAYS, UTC_DAYS = "arm_days", "arm_utc_days"
_LIMB = 40
_MASK = (1 << _LIMB) - 1


@dataclass(slots=True)
class Baskets:
    """Grand totals in thousandths, added up with their squares."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def add(self, thousandths: int) -> None:
        """One more."""
        self.count += 1
        self.total += thousandths
        self.squares += thousandths * thousandths

    def join(self, other: Baskets) -> None:
        """Take another's in."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares


@dataclass(slots=True)
class ArmSums:
    """What an arm came to; ``discount`` in thousandths."""

    baskets: Baskets = field(default_factory=Baskets)
    conversions: int = 0
    discount: int = 0

    def join(self, other: ArmSums) -> None:
        """Take another's in."""
        self.baskets.join(other.baskets)
        self.conversions += other.conversions
        self.discount += other.discount


@dataclass(slots=True)
class DaySums:
    """What both arms of a trial came to on a day, or in all, in one currency."""

    trial: str
    promotion_name: str | None = None
    treated: ArmSums = field(default_factory=ArmSums)
    control: ArmSums = field(default_factory=ArmSums)

    def join(self, other: DaySums) -> None:
        """Take another's in."""
        self.treated.join(other.treated)
        self.control.join(other.control)
        self.promotion_name = other.promotion_name or self.promotion_name


DayKey = tuple[str, date, str]
"""Promotion, day and currency."""


# --- Columns ---------------------------------------------------------------------------------------------------------


def of_baskets(prefix: str, baskets: Baskets) -> dict[str, Any]:
    """The columns that hold them. Squares go in three parts, each of which is added up for itself."""
    return {
        f"{prefix}transactions": baskets.count,
        f"{prefix}revenue": Decimal(baskets.total).scaleb(-3),
        f"{prefix}squares_0": baskets.squares & _MASK,
        f"{prefix}squares_1": (baskets.squares >> _LIMB) & _MASK,
        f"{prefix}squares_2": baskets.squares >> 2 * _LIMB,
    }


def to_baskets(prefix: str, row: Row[Any]) -> Baskets:
    """What the columns hold, or their sums."""
    count, revenue, *squares = (
        getattr(row, f"{prefix}{name}") for name in ("transactions", "revenue", "squares_0", "squares_1", "squares_2")
    )
    low, middle, high = (int(one) for one in squares)
    return Baskets(int(count), int(revenue.scaleb(3)), low + (middle << _LIMB) + (high << 2 * _LIMB))


def _columns(sums: DaySums) -> dict[str, Any]:
    return {
        **of_baskets("treated_", sums.treated.baskets),
        "treated_conversions": sums.treated.conversions,
        "treated_discount": Decimal(sums.treated.discount).scaleb(-3),
        **of_baskets("control_", sums.control.baskets),
        "control_conversions": sums.control.conversions,
    }


_IS_STALE = text("arm_days.is_stale")  # as the partial index says it, which SQLite would not use otherwise
_ADDED = tuple(_columns(DaySums("")))


def day_sums(row: Row[Any]) -> DaySums:
    """What a row holds."""
    discount = int(row.treated_discount.scaleb(3))
    return DaySums(
        row.trial,
        row.promotion_name,
        ArmSums(to_baskets("treated_", row), int(row.treated_conversions), discount),
        ArmSums(to_baskets("control_", row), int(row.control_conversions)),
    )


def by_promotions(rows: Iterable[Row[Any]]) -> dict[str, dict[str, DaySums]]:
    """What rows of several promotions hold, by promotion and currency."""
    found: dict[str, dict[str, DaySums]] = {}
    for row in rows:
        found.setdefault(row.promotion_id, {})[row.currency] = day_sums(row)
    return found


# --- Adding ----------------------------------------------------------------------------------------------------------


async def add_days(session: Session, name: str, days: Mapping[DayKey, DaySums]) -> int:
    """Add to the days of `DAYS` or `UTC_DAYS`; the answer is how many rows were written."""
    rows = [
        {
            "given_promotion_id": promotion_id,
            "given_day": day,
            "given_currency": currency,
            "given_trial": sums.trial,
            "given_promotion_name": sums.promotion_name,
            **{f"given_{column}": value for column, value in _columns(sums).items()},
        }
        for (promotion_id, day, currency), sums in sorted(days.items(), key=lambda item: item[0])
    ]
    await session.execute_many(_adding(session.dialect, name), rows)
    return len(rows)


@cache
def _adding(dialect: str, name: str) -> Kept:
    days = table(name)
    given = ("promotion_id", "day", "currency", "trial", "promotion_name", *_ADDED)
    values: dict[str, Any] = {column: parameter(f"given_{column}", days.c[column].type) for column in given}
    if name == DAYS:
        values["is_stale"] = True
    first = upsert(dialect, days).values(values)
    changed: dict[str, Any] = {column: days.c[column] + first.excluded[column] for column in _ADDED}
    changed["trial"] = first.excluded.trial
    changed["promotion_name"] = func.coalesce(first.excluded.promotion_name, days.c.promotion_name)
    if name == DAYS:
        changed["is_stale"] = first.excluded.is_stale
    return Kept(first.on_conflict_do_update(index_elements=["tenant_id", "promotion_id", "day", "currency"],
                                            set_=changed))  # fmt: skip


# --- Reading and refreshing ------------------------------------------------------------------------------------------


async def stale_promotions(session: Session, limit: int) -> list[str]:
    """Up to ``limit`` promotions of which reports do not know all days yet."""
    days = table(DAYS)
    statement = select(days.c.promotion_id).where(_IS_STALE).distinct().order_by(days.c.promotion_id)
    return [row.promotion_id for row in await session.execute(statement.limit(limit))]


async def take_stale_days(session: Session, promotion_ids: Sequence[str]) -> Sequence[Row[Any]]:
    """The days of these promotions that reports do not know yet, which they do from now on.

    To be done first: what is counted meanwhile waits for it, or is not known again.
    """
    days = table(DAYS)
    taking = update(days).where(days.c.promotion_id.in_(promotion_ids), _IS_STALE).values(is_stale=False)
    return await session.execute(taking.returning(*days.c))


async def read_sums(
    session: Session,
    name: str,
    promotion_ids: Sequence[str] | None,
    since: date | None = None,
    until: date | None = None,
) -> Sequence[Row[Any]]:
    """All days of promotions together, None: of all; from ``since`` to before ``until``; by promotion and currency.

    `day_sums` takes a row apart.
    """
    days = table(name)
    key = (days.c.promotion_id, days.c.currency)
    added = (func.sum(days.c[column]).label(column) for column in _ADDED)
    # An experiment it is, where it ever was one.
    named = (func.min(days.c.trial).label("trial"), func.max(days.c.promotion_name).label("promotion_name"))
    statement = select(*key, *named, *added).group_by(*key).order_by(*key)
    if promotion_ids is not None:
        statement = statement.where(days.c.promotion_id.in_(promotion_ids))
    if since is not None:
        statement = statement.where(days.c.day >= since)
    if until is not None:
        statement = statement.where(days.c.day < until)
    return await session.execute(statement)


async def keep_extra_revenue(session: Session, amounts: Iterable[tuple[DayKey, Decimal | None]]) -> None:
    """Store what treated arms took beyond their control arms."""
    rows = [
        {"key_promotion": promotion_id, "key_day": day, "key_currency": currency, "new_amount": amount}
        for (promotion_id, day, currency), amount in amounts
    ]
    await session.execute_many(_KEEPING, rows)


_ARM_DAYS = table(DAYS)
_KEEPING = Kept(
    update(_ARM_DAYS)
    .where(
        _ARM_DAYS.c.promotion_id == parameter("key_promotion", _ARM_DAYS.c.promotion_id.type),
        _ARM_DAYS.c.day == parameter("key_day", _ARM_DAYS.c.day.type),
        _ARM_DAYS.c.currency == parameter("key_currency", _ARM_DAYS.c.currency.type),
    )
    .values(extra_revenue=parameter("new_amount", _ARM_DAYS.c.extra_revenue.type))
)


async def drop_comparisons(session: Session, promotion_ids: Sequence[str]) -> None:
    """Delete what PromotionAbComparison has of promotions: one may have been a pilot, and be an experiment now."""
    arms = table("PromotionAbComparison")
    await session.rowcount(delete(arms).where(arms.c.promotion_id.in_(promotion_ids)))


async def keep_results(session: Session, set_name: str, rows: Sequence[Mapping[str, Any]], key: Sequence[str]) -> None:
    """Store the rows of ABTestResults or of PromotionAbComparison in place of those of the same key."""
    if not rows:
        return
    results = table(set_name)
    first = upsert(session.dialect, results)
    changed: dict[str, Any] = {column: first.excluded[column] for column in rows[0] if column not in key}
    changed["version"] = results.c.version + 1
    if "kept_name" in changed:
        changed["kept_name"] = case(
            (first.excluded.kept_name.is_(None), results.c.kept_name), else_=first.excluded.kept_name
        )
    statement = first.on_conflict_do_update(index_elements=["tenant_id", *key], set_=changed)
    await session.execute_many(statement, rows)

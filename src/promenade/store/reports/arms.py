"""Sums of the arms of pilots and experiments: added up day by day, and read for reports and exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from sqlalchemy import Row, and_, case, delete, func, or_, select, text, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.reports.sums import add_rows, set_columns, totals

DAYS, UTC_DAYS = "arm_days", "arm_utc_days"

_LOGS = table("CalculationLogs")
_PROMOTIONS = table("Promotions")
_BUDGETS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")
_LIMB = 40
_MASK = (1 << _LIMB) - 1


@dataclass(slots=True)
class Sample:
    """A sample of ``count`` integers, such as baskets in thousandths: their sum, and the sum of their squares."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def add(self, value: int) -> None:
        """Add a value."""
        self.count += 1
        self.total += value
        self.squares += value * value

    def join(self, other: Sample) -> None:
        """Add the values of ``other``."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    @property
    def mean(self) -> Fraction | None:
        """The mean; None without values."""
        return Fraction(self.total, self.count) if self.count else None

    @property
    def variance(self) -> Fraction | None:
        """The sample variance, with divisor ``count`` - 1; None for fewer than two values."""
        if self.count < 2:
            return None
        return Fraction(self.count * self.squares - self.total * self.total, self.count * (self.count - 1))


@dataclass(slots=True)
class ArmSums:
    """The sums of an arm; ``discount`` in thousandths."""

    baskets: Sample = field(default_factory=Sample)
    conversions: int = 0
    discount: int = 0

    def join(self, other: ArmSums) -> None:
        """Add the sums of ``other``."""
        self.baskets.join(other.baskets)
        self.conversions += other.conversions
        self.discount += other.discount


@dataclass(slots=True)
class DaySums:
    """The sums of both arms of a trial on a day, or in total, in one currency."""

    trial: str
    promotion_name: str | None = None
    treated: ArmSums = field(default_factory=ArmSums)
    control: ArmSums = field(default_factory=ArmSums)

    def join(self, other: DaySums) -> None:
        """Add the sums of ``other``."""
        self.treated.join(other.treated)
        self.control.join(other.control)
        self.promotion_name = other.promotion_name or self.promotion_name


_KEY = ("promotion_id", "day", "currency")
DayKey = tuple[str, date, str]
"""Promotion, day and currency."""


# --- Columns ---------------------------------------------------------------------------------------------------------


def of_baskets(prefix: str, baskets: Sample) -> dict[str, Any]:
    """Return the sums as columns; the sum of squares is split into three columns that are added up separately."""
    return {
        f"{prefix}transactions": baskets.count,
        f"{prefix}revenue": Decimal(baskets.total).scaleb(-3),
        f"{prefix}squares_0": baskets.squares & _MASK,
        f"{prefix}squares_1": (baskets.squares >> _LIMB) & _MASK,
        f"{prefix}squares_2": baskets.squares >> 2 * _LIMB,
    }


def signed(columns: Mapping[str, Any], sign: int) -> dict[str, Any]:
    """Return sums as columns that are added (1) or subtracted (-1)."""
    return {name: value * sign for name, value in columns.items()}


def to_baskets(prefix: str, row: Row[Any]) -> Sample:
    """Read the sums from the columns, or from sums of the columns."""
    count, revenue, *squares = (
        getattr(row, f"{prefix}{name}") for name in ("transactions", "revenue", "squares_0", "squares_1", "squares_2")
    )
    low, middle, high = (int(one) for one in squares)
    return Sample(int(count), int(revenue.scaleb(3)), low + (middle << _LIMB) + (high << 2 * _LIMB))


def _columns(sums: DaySums) -> dict[str, Any]:
    return {
        **of_baskets("treated_", sums.treated.baskets),
        "treated_conversions": sums.treated.conversions,
        "treated_discount": Decimal(sums.treated.discount).scaleb(-3),
        **of_baskets("control_", sums.control.baskets),
        "control_conversions": sums.control.conversions,
    }


_IS_STALE = text("arm_days.is_stale")  # written as in the partial index, which SQLite would not use otherwise


def day_sums(row: Row[Any]) -> DaySums:
    """Read the sums of a row."""
    discount = int(row.treated_discount.scaleb(3))
    return DaySums(
        row.trial,
        row.promotion_name,
        ArmSums(to_baskets("treated_", row), int(row.treated_conversions), discount),
        ArmSums(to_baskets("control_", row), int(row.control_conversions)),
    )


def by_promotions(rows: Iterable[Row[Any]]) -> dict[str, dict[str, DaySums]]:
    """Read the sums of rows of several promotions, by promotion and currency."""
    found: dict[str, dict[str, DaySums]] = {}
    for row in rows:
        found.setdefault(row.promotion_id, {})[row.currency] = day_sums(row)
    return found


# --- Adding ----------------------------------------------------------------------------------------------------------


async def add_days(session: Session, name: str, days: Mapping[DayKey, DaySums], sign: int) -> int:
    """Add sums to the days of `DAYS` or `UTC_DAYS`, or subtract them; return the number of rows written."""
    of_table = {"is_stale": True} if name == DAYS else {}
    rows = [
        {
            **dict(zip(_KEY, key, strict=True)),
            "trial": sums.trial,
            "promotion_name": sums.promotion_name,
            **signed(_columns(sums), sign),
            **of_table,
        }
        for key, sums in sorted(days.items(), key=lambda item: item[0])
    ]
    return await add_rows(session, name, rows)


# --- Reading and refreshing ------------------------------------------------------------------------------------------


async def stale_promotions(session: Session, limit: int) -> list[str]:
    """Return up to ``limit`` promotions with days whose changes are not in the reports yet."""
    days = table(DAYS)
    statement = select(days.c.promotion_id).where(_IS_STALE).distinct().order_by(days.c.promotion_id)
    return [row.promotion_id for row in await session.execute(statement.limit(limit))]


async def take_stale_days(session: Session, promotion_ids: Sequence[str]) -> Sequence[Row[Any]]:
    """Return the stale days of these promotions and mark them as not stale.

    Call this first: sums added concurrently wait for it, or make the day stale again.
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
    """Sum up the days of promotions (None: of all) from ``since`` to before ``until``, by promotion and currency.

    Read the rows with `day_sums`.
    """
    days = table(name)
    key = (days.c.promotion_id, days.c.currency)
    # If the trial was ever an experiment, it counts as one.
    named = (func.min(days.c.trial).label("trial"), func.max(days.c.promotion_name).label("promotion_name"))
    statement = select(*key, *named, *totals(name)).group_by(*key).order_by(*key)
    if promotion_ids is not None:
        statement = statement.where(days.c.promotion_id.in_(promotion_ids))
    if since is not None:
        statement = statement.where(days.c.day >= since)
    if until is not None:
        statement = statement.where(days.c.day < until)
    return await session.execute(statement)


async def keep_extra_revenue(session: Session, amounts: Iterable[tuple[DayKey, Decimal | None]]) -> None:
    """Store the extra revenue of treated arms over their control arms."""
    rows = [{**dict(zip(_KEY, key, strict=True)), "extra_revenue": amount} for key, amount in amounts]
    await set_columns(session, DAYS, rows, by=_KEY)


async def drop_results(session: Session, set_name: str, promotion_ids: Sequence[str]) -> None:
    """Delete the promotions' rows of a report, before `keep_results`: they may have other keys now."""
    results = table(set_name)
    await session.rowcount(delete(results).where(results.c.promotion_id.in_(promotion_ids)))


async def keep_results(session: Session, set_name: str, rows: Sequence[Mapping[str, Any]], key: Sequence[str]) -> None:
    """Insert rows of a report, replacing those with the same key."""
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


class TrialSize(NamedTuple):
    """How many baskets both arms of a trial have, and whether they are compared with their own past."""

    baskets: int
    has_past: bool


async def read_size(session: Session, promotion_id: str, currency: str) -> TrialSize | None:
    """Return the size of a trial in a currency; None: it has no sale."""
    results = table("ABTestResultsByCurrency")
    columns = (results.c.control_transactions, results.c.experiment_transactions, results.c.past_days)
    its = (results.c.promotion_id == promotion_id, results.c.currency == currency)
    rows = await session.execute(select(*columns).where(*its))
    if not rows:
        return None
    baskets = rows[0].control_transactions + rows[0].experiment_transactions
    return TrialSize(baskets, rows[0].past_days is not None)


# --- Edges of a period -----------------------------------------------------------------------------------------------


async def next_logs(
    session: Session, since: datetime, until: datetime, after: tuple[datetime, str] | None, limit: int
) -> list[tuple[datetime, str]]:
    """Return the confirmation times and log IDs of the next sales after ``after``; ``until`` is exclusive."""
    statement = select(_LOGS.c.confirmed_at, _LOGS.c.id).where(
        _LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status == "CALCULATED"
    )
    if after is not None:
        moment, log_id = after
        later = or_(_LOGS.c.confirmed_at > moment, and_(_LOGS.c.confirmed_at == moment, _LOGS.c.id > log_id))
        statement = statement.where(_LOGS.c.confirmed_at >= moment, later)
    rows = await session.execute(statement.order_by(_LOGS.c.confirmed_at, _LOGS.c.id).limit(limit))
    return [(row.confirmed_at, row.id) for row in rows]


async def promotions_of(session: Session, stakeholder_id: str) -> set[str]:
    """Return the promotions that a stakeholder pays for: those of the budgets that it has a share in."""
    shares: Any = select(_SHARES.c.budget_id).where(_SHARES.c.stakeholder_id == stakeholder_id)
    rows = await session.execute(select(_BUDGETS.c.promotion_id).where(_BUDGETS.c.budget_id.in_(shares)))
    return {row.promotion_id for row in rows}


async def names_of(session: Session, promotion_ids: Sequence[str]) -> dict[str, str]:
    """Return the names of the promotions that still exist."""
    statement = select(_PROMOTIONS.c.id, _PROMOTIONS.c.name).where(_PROMOTIONS.c.id.in_(promotion_ids))
    return {row.id: row.name for row in await session.execute(statement)}

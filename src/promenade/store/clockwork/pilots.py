"""Pilots that may go live automatically: their arms, and the sales of each arm, added up in stretches.

A sale is in the arm that its log records. A sale of a treated POS group is in the pilot arm even if the promotion did
not apply to it: the control arm, too, contains sales that the promotion would not have applied to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from sqlalchemy import and_, case, delete, func, or_, select

from promenade.engine.definition import PilotRow
from promenade.store.access.tenants import SIGNIFICANCE_LEVEL
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.sales.log_parts import part_rows

_CONFIGS = table("PromotionPilotConfigs")
_PILOT_GROUPS = table("PilotPosGroups")
_PROMOTIONS = table("Promotions")
_TENANTS = table("Tenants")
_AUDIT = table("AuditLogs")
_LOGS = table("CalculationLogs")
_LOG_PROMOTIONS = part_rows("CalculationLogPromotions")
_TALLIES = table("pilot_tallies")

PILOT, CONTROL = "PILOT", "CONTROL"
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RunningPilot:
    """A PILOT promotion that may go live automatically. It became PILOT at ``started_at``.

    ``threshold`` in percent; ``significance_level`` is the tenant's.
    """

    tenant_id: str
    promotion_id: str
    currency: str | None
    row: PilotRow
    threshold: Decimal
    significance_level: Decimal
    started_at: datetime


@dataclass(frozen=True, slots=True)
class ArmSums:
    """The sums of an arm's confirmed transactions in one currency; returns alone are transactions but not sales.

    ``total`` is the sum of the grand totals in thousandths of the currency, ``squares`` that of their squares.
    """

    transactions: int = 0
    sales: int = 0
    total: int = 0
    squares: int = 0

    def plus(self, other: ArmSums) -> ArmSums:
        """Return the sum of both."""
        return ArmSums(
            self.transactions + other.transactions,
            self.sales + other.sales,
            self.total + other.total,
            self.squares + other.squares,
        )


Sums = dict[str, dict[str, ArmSums]]
"""By currency, then by arm."""

_SUMS = msgspec.json.Decoder(Sums)  # unlike MessagePack, it has integers of any size
_ENCODE = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Tally:
    """A pilot's sums of everything confirmed before ``counted_until``; ``basis`` identifies the arms and the window."""

    basis: str
    begun_at: datetime
    counted_until: datetime
    sums: Sums


async def read_pilots(session: Session, at: datetime) -> list[RunningPilot]:
    """Return the PILOT promotions of all tenants with autoPromote whose window has begun; needs a system session."""
    joined = _CONFIGS.join(
        _PROMOTIONS,
        and_(_PROMOTIONS.c.tenant_id == _CONFIGS.c.tenant_id, _PROMOTIONS.c.id == _CONFIGS.c.promotion_id),
    ).outerjoin(_TENANTS, _TENANTS.c.tenant_id == _CONFIGS.c.tenant_id)
    started = select(func.max(_AUDIT.c.timestamp)).where(
        _AUDIT.c.tenant_id == _CONFIGS.c.tenant_id,
        _AUDIT.c.entity_type == "Promotions",
        _AUDIT.c.entity_id == _CONFIGS.c.promotion_id,
        _AUDIT.c.action == "START_PILOT",
    )
    beside = (_PROMOTIONS.c.currency, _TENANTS.c.significance_level, started.scalar_subquery().label("started_at"))
    pilots = (
        select(_CONFIGS, *beside)
        .select_from(joined)
        .where(
            _CONFIGS.c.auto_promote,
            _CONFIGS.c.auto_promote_threshold.is_not(None),
            _CONFIGS.c.pilot_start_at <= at,
            _PROMOTIONS.c.status == "PILOT",
        )
        .order_by(_CONFIGS.c.tenant_id, _CONFIGS.c.promotion_id)
    )
    rows = await session.execute(pilots)
    groups = await _pilot_groups(session, [row.id for row in rows]) if rows else {}
    return [_running(row, groups.get((row.tenant_id, row.id), frozenset())) for row in rows]


def _running(row: Any, groups: frozenset[str]) -> RunningPilot:
    share = Decimal(1) if row.pilot_share is None else row.pilot_share
    return RunningPilot(
        row.tenant_id,
        row.promotion_id,
        row.currency,
        PilotRow(row.id, row.pilot_start_at, row.pilot_end_at, int(share * 100), 0, groups, frozenset()),
        row.auto_promote_threshold,
        SIGNIFICANCE_LEVEL if row.significance_level is None else row.significance_level,
        max(row.pilot_start_at, row.started_at or row.pilot_start_at),
    )


async def _pilot_groups(session: Session, config_ids: Sequence[str]) -> dict[tuple[str, str], frozenset[str]]:
    rows = await session.execute(
        select(_PILOT_GROUPS.c.tenant_id, _PILOT_GROUPS.c.config_id, _PILOT_GROUPS.c.pos_group_id).where(
            _PILOT_GROUPS.c.config_id.in_(config_ids)
        )
    )
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        found.setdefault((row.tenant_id, row.config_id), set()).add(row.pos_group_id)
    return {key: frozenset(groups) for key, groups in found.items()}


async def find_tallies(session: Session) -> dict[tuple[str, str], Tally]:
    """Return all tallies of all tenants, by tenant and promotion; needs a system session."""
    rows = await session.execute(select(_TALLIES))
    return {
        (row.tenant_id, row.promotion_id): Tally(row.basis, row.begun_at, row.counted_until, _SUMS.decode(row.sums))
        for row in rows
    }


async def store_tally(session: Session, promotion_id: str, tally: Tally) -> None:
    """Store the tally of a promotion."""
    values = {
        "basis": tally.basis,
        "begun_at": tally.begun_at,
        "counted_until": tally.counted_until,
        "sums": _ENCODE(tally.sums),
    }
    statement = upsert(session.dialect, _TALLIES).on_conflict_do_update(
        index_elements=["tenant_id", "promotion_id"], set_=values
    )
    await session.rowcount(statement, {"promotion_id": promotion_id, **values})


async def forget_tallies(session: Session, confirmed_at: datetime) -> None:
    """Let pilots whose tallies include a sale of this time, which was cancelled, be counted from the beginning."""
    await session.rowcount(delete(_TALLIES).where(_TALLIES.c.counted_until > confirmed_at))


async def end_of_portion(session: Session, since: datetime, until: datetime, limit: int) -> datetime:
    """Return the end of a stretch from ``since`` with about ``limit`` of the tenant's logs; at most ``until``."""
    after = select(_LOGS.c.confirmed_at).where(_LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until)
    rows = await session.execute(after.order_by(_LOGS.c.confirmed_at).offset(limit).limit(1))
    return max(rows[0].confirmed_at, since + _MICROSECOND) if rows else until


async def sum_sales(
    session: Session, pilot: RunningPilot, treated: frozenset[str], since: datetime, until: datetime
) -> Sums:
    """Add up the tenant's sales from ``since`` (inclusive) to ``until`` (exclusive) that are in an arm of the pilot.

    Squares would exceed the databases' integers, so the statement only counts equal totals.
    """
    recorded = _LOG_PROMOTIONS.c.pilot_arm
    # Sales of treated groups count from the start of the trial; those of control groups are recorded as such.
    left_alone = and_(_LOGS.c.pos_group_id.in_(sorted(treated)), _LOGS.c.confirmed_at >= pilot.started_at)
    arm = case((recorded.in_((PILOT, CONTROL)), recorded), else_=PILOT).label("arm")
    keys = (_LOGS.c.currency, arm, _LOGS.c.grand_total)
    statement = (
        select(*keys, func.count().label("times"))
        .select_from(
            _LOGS.outerjoin(
                _LOG_PROMOTIONS,
                and_(_LOG_PROMOTIONS.c.log_id == _LOGS.c.id, _LOG_PROMOTIONS.c.promotion_id == pilot.promotion_id),
            )
        )
        .where(
            _LOGS.c.confirmed_at >= since,
            _LOGS.c.confirmed_at < until,
            _LOGS.c.status == "CALCULATED",
            or_(recorded.in_((PILOT, CONTROL)), left_alone),
        )
        .group_by(*keys)
    )
    if pilot.currency is not None:
        statement = statement.where(_LOGS.c.currency == pilot.currency)
    sums: Sums = {}
    for row in await session.execute(statement):
        total, times = int(row.grand_total.scaleb(3)), int(row.times)
        equal = ArmSums(times, times if total >= 0 else 0, times * total, times * total * total)
        arms = sums.setdefault(row.currency, {})
        arms[row.arm] = arms.get(row.arm, ArmSums()).plus(equal)
    return sums

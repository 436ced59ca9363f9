"""Exports of reports: what is asked for is checked, and then given row by row (specification, CSV export)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

from promenade.errors import Detail, Invalid, NotFound
from promenade.store.report_subjects import knows_promotion, knows_stakeholder
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting.exports import Export, Period, Row, exports

__all__ = ["ExportOrder", "begin_export"]

# Nothing happened before or after; reports reckon with days around the ends of a period, which must exist.
_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """What a client wants exported; moments are aware, IDs as they came."""

    report_type: str
    date_from: datetime
    date_to: datetime
    promotion_id: str | None = None
    stakeholder_id: str | None = None


async def begin_export(context: Context, tenant_id: str, order: ExportOrder) -> tuple[Export, AsyncIterator[Row]]:
    """What an order exports, and its rows, of which none has been read yet.

    Raises Invalid (UNKNOWN_CODE for a report type that is none, PERIOD_EMPTY where the end is not after the
    beginning), and NotFound (NOT_FOUND) for a promotion or a stakeholder that the tenant has not.
    """
    wanted = exports().get(order.report_type)
    faults: list[Detail] = []
    if wanted is None:
        known = ", ".join(exports())
        faults.append(Detail("UNKNOWN_CODE", f"reportType must be one of {known}.", "reportType"))
    if order.date_to <= order.date_from:
        faults.append(Detail("PERIOD_EMPTY", "dateTo must be after dateFrom.", "dateTo"))
    if wanted is None or faults:
        first = faults[0]
        raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())
    period = Period(
        tenant_id=tenant_id,
        since=_within(order.date_from),
        until=_within(order.date_to),
        promotion_id=None if order.promotion_id is None else order.promotion_id.lower(),
        stakeholder_id=None if order.stakeholder_id is None else order.stakeholder_id.lower(),
    )
    await _require_subjects(context, period)
    return wanted, wanted.rows(context, period)


def _within(moment: datetime) -> datetime:
    return min(max(moment.astimezone(UTC), _FIRST), _LAST)


async def _require_subjects(context: Context, period: Period) -> None:
    async def work(session: Session) -> str | None:
        if period.promotion_id is not None and not await knows_promotion(session, period.promotion_id):
            return "promotion"
        if period.stakeholder_id is not None and not await knows_stakeholder(session, period.stakeholder_id):
            return "stakeholder"
        return None

    if period.promotion_id is None and period.stakeholder_id is None:
        return
    missing = await context.database.read(work, tenant=period.tenant_id)
    if missing is not None:
        raise NotFound("NOT_FOUND", f"There is no such {missing}.", f"{missing}Id")

"""Export of reports for a period: the rows of each report type (specification, CSV export).

The order is checked first; then rows are streamed as they are read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from types import MappingProxyType
from typing import Any

from promenade.errors import Detail, Invalid, NotFound
from promenade.model.reports.operations import export_columns, export_filename
from promenade.store.driver.unit import Session
from promenade.store.reports.periods import Stretch
from promenade.store.reports.subjects import knows_promotion, knows_stakeholder
from promenade.store.sales.kept import kept_since
from promenade.workflows.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The scope of an export: from ``since`` until before ``until``, both in UTC.

    ``promotion_id`` and ``stakeholder_id`` restrict it further; both are verified to belong to the tenant.
    """

    tenant_id: str
    since: datetime
    until: datetime
    promotion_id: str | None = None
    stakeholder_id: str | None = None


Row = Mapping[str, Any]
"""By names of fields or, as sent, of columns: texts, whole numbers, Decimals, booleans, moments, or None."""
Rows = Callable[[Context, Period], AsyncIterator[Row]]


@dataclass(frozen=True, slots=True)
class Export:
    """``columns`` are the fields of the entity in the specification's order; ``rows`` have a fixed order."""

    report_type: str
    filename: str
    columns: tuple[str, ...]
    rows: Rows


_REGISTRY: dict[str, Export] = {}


def export(report_type: str) -> Callable[[Rows], Rows]:
    """Register an async generator as what ``reportType`` exports.

    Its rows hold at least the fields of the entity that are exported, see `promenade.model.reports.operations`.
    """

    def register(rows: Rows) -> Rows:
        if report_type in _REGISTRY:
            raise ValueError(f"export {report_type} is defined twice")
        columns = export_columns(report_type)

        async def named(context: Context, period: Period) -> AsyncIterator[Row]:
            async for row in rows(context, period):
                yield {wire: row[name] for name, wire in columns.items()}

        _REGISTRY[report_type] = Export(report_type, export_filename(report_type), tuple(columns.values()), named)
        return rows

    return register


def exports() -> Mapping[str, Export]:
    """Return all exports by report type."""
    return MappingProxyType(_REGISTRY)


# ---- what a client orders -------------------------------------------------------------------------------------------

# No sale is outside of these; reports calculate with days around the ends of a period, which must be valid dates.
_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """A client's request for an export; datetimes are aware, IDs as received."""

    report_type: str
    date_from: datetime
    date_to: datetime
    promotion_id: str | None = None
    stakeholder_id: str | None = None


async def begin_export(context: Context, tenant_id: str, order: ExportOrder) -> tuple[Export, AsyncIterator[Row]]:
    """Return the requested export and its rows, none of which has been read yet.

    Raises Invalid (UNKNOWN_CODE for an unknown report type, PERIOD_EMPTY if the end is not after the beginning,
    PERIOD_NOT_KEPT as `require_kept`), and NotFound (NOT_FOUND) for a promotion or a stakeholder that the tenant does
    not have.
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
    await context.database.read(lambda session: require_kept(session, period), tenant=tenant_id)
    return wanted, wanted.rows(context, period)


def _within(moment: datetime) -> datetime:
    return min(max(moment.astimezone(UTC), _FIRST), _LAST)


async def require_kept(session: Session, period: Period) -> None:
    """Raise Invalid (PERIOD_NOT_KEPT) if an end of the period needs logs of sales that were dropped.

    Whole days of UTC are read from sums. Exports ask again in the session in which they read logs.
    """
    since = await kept_since(session)
    if since is None:
        return
    for begins, _ in Stretch.of(period.since, period.until).edges:
        if begins < since:
            is_first = begins == period.since and begins.time() != time()
            target, moment = ("dateFrom", period.since) if is_first else ("dateTo", period.until)
            message = f"Sales before {since:%Y-%m-%d} are kept by the day: {target} must be a midnight of UTC, and not"
            raise Invalid("PERIOD_NOT_KEPT", f"{message} {moment:%Y-%m-%dT%H:%M:%SZ}.", target)


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

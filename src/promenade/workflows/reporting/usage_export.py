"""promotionPerformance as it is exported: what each promotion came to within a period."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

from promenade.store import usage_report_periods as store
from promenade.store.unit import Session
from promenade.store.usage_report_periods import PromotionNames, PromotionSums
from promenade.workflows.context import Context
from promenade.workflows.reporting.exports import Period, export

__all__ = ["promotion_performance"]

NAMED_AT_ONCE = 500

_UNKNOWN = PromotionNames(None, None, None)
_THOUSANDTH = Decimal("0.001")


@export(
    "promotionPerformance",
    filename="promotion-performance.csv",
    columns=(
        "promotionId",
        "promotionName",
        "promotionStatus",
        "promotionType",
        "applicationsCount",
        "totalDiscountGiven",
        "avgDiscountPerTx",
        "firstAppliedAt",
        "lastAppliedAt",
    ),
)
async def promotion_performance(context: Context, period: Period) -> AsyncIterator[Mapping[str, Any]]:
    """The promotions that were applied within the period, those that gave most first."""

    async def look(session: Session) -> dict[str, PromotionSums]:
        sums = await store.sums_of(session, period.since, period.until, period.promotion_id)
        if period.stakeholder_id is None:
            return sums
        paid = await store.paid_by(session, period.stakeholder_id)
        return {promotion_id: one for promotion_id, one in sums.items() if promotion_id in paid}

    found = await context.database.read(look, tenant=period.tenant_id)
    ordered = sorted(found, key=lambda one: (-found[one].total_discount, one))
    for start in range(0, len(ordered), NAMED_AT_ONCE):
        some = ordered[start : start + NAMED_AT_ONCE]
        names = await context.database.read(partial(store.names_of, promotions=some), tenant=period.tenant_id)
        for promotion_id in some:
            yield _row(promotion_id, found[promotion_id], names.get(promotion_id, _UNKNOWN))


def _row(promotion_id: str, sums: PromotionSums, names: PromotionNames) -> dict[str, Any]:
    average = sums.total_discount / sums.applications
    return {
        "promotionId": promotion_id,
        "promotionName": names.name,
        "promotionStatus": names.status,
        "promotionType": names.type,
        "applicationsCount": sums.applications,
        "totalDiscountGiven": sums.total_discount,
        "avgDiscountPerTx": average.quantize(_THOUSANDTH, ROUND_HALF_UP),
        "firstAppliedAt": sums.first_applied_at,
        "lastAppliedAt": sums.last_applied_at,
    }

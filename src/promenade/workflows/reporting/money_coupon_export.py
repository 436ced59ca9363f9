"""What became of the coupons of a period, as it is exported (specification, Reporting Service, CSV export).

The coupons are those that were issued in the period, the states those that they are in now: so the rate is of the same
coupons above and below the line.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from promenade.store import money_report_cohorts as store
from promenade.store.money_report_coupons import Counts
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting.exports import Period, Row, export
from promenade.workflows.reporting.money_figures import percentage

__all__ = ["coupon_analytics"]

PORTION = 20  # types that are read together: each may have a million codes

_Types = tuple[Sequence[Any], Mapping[str, Counts]]


@export(
    "couponAnalytics",
    filename="coupon-analytics.csv",
    columns=(
        *("couponTypeId", "couponTypeName", "totalIssued", "totalActive", "totalReserved", "totalRedeemed"),
        *("totalExpired", "totalCancelled", "redemptionRate"),
    ),
)
async def coupon_analytics(context: Context, period: Period) -> AsyncIterator[Row]:
    """CouponAnalytics of the coupons of a period, in the order of the types' IDs."""
    after = ""

    async def work(session: Session) -> _Types:
        found = await store.types_after(
            session, after, PORTION, promotion_id=period.promotion_id, stakeholder_id=period.stakeholder_id
        )
        shared = [row.coupon_type_id for row in found if row.code_type == "GENERIC"]
        own = [row.coupon_type_id for row in found if row.code_type != "GENERIC"]
        external = [row.coupon_type_id for row in found if row.has_external and row.code_type != "GENERIC"]
        counts = await store.issued_between(session, own, external, period.since, period.until)
        return found, counts | await store.used_between(session, shared, period.since, period.until)

    while True:
        rows, counted = await context.database.read(work, tenant=period.tenant_id)
        if not rows:
            return
        for row in rows:
            counts = counted[row.coupon_type_id]
            yield {
                "couponTypeId": row.coupon_type_id,
                "couponTypeName": row.coupon_type_name,
                "totalIssued": counts.issued,
                "totalActive": counts.active,
                "totalReserved": counts.reserved,
                "totalRedeemed": counts.redeemed,
                "totalExpired": counts.expired,
                "totalCancelled": counts.cancelled,
                "redemptionRate": percentage(Decimal(counts.redeemed), Decimal(counts.issued)),
            }
        after = rows[-1].coupon_type_id

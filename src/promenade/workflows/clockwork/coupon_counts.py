"""Coupon codes are counted for their report, for about a second in every run."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.access.tenants import read_tenants
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.reports.coupons import count_coupons


@clock_job("reports.coupons", every=timedelta(seconds=15))
async def count(context: Context, cursor: str | None) -> JobResult:
    """Count codes tenant by tenant, type by type; the next run continues where this one stopped.

    The next run starts after the usual interval even if there is more to count: tills have priority, however many codes
    there are.
    """
    tenants = [row.tenant_id for row in await context.database.read(read_tenants, system=True)]
    begun, _, place = (cursor or "").partition("\n")
    pace = Pace()
    for tenant_id in tenants:
        if tenant_id < begun:
            continue
        after = place if tenant_id == begun else ""

        async def portion(tenant_id: str = tenant_id) -> tuple[int, bool]:
            nonlocal after
            counted = await count_coupons(context, tenant_id, after)
            after = counted.last or after
            return counted.changed, counted.last is not None

        if not await pace.while_more(portion):
            return JobResult(pace.done, cursor=f"{tenant_id}\n{after}")
    return JobResult(pace.done)

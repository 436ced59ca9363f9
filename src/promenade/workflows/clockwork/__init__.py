"""What only the clock does: validities that end, windows that open, pools that are filled, what is old and goes."""

from __future__ import annotations

from promenade.workflows.clockwork import (
    advice,
    budgets,
    campaigns,
    coupon_counts,
    coupons,
    deployments,
    drafts,
    imports,
    pilots,
    promotions,
    purges,
    reports,
    shares,
)
from promenade.workflows.clockwork.jobs import ClockJob, Ran, clock_jobs

__all__ = ["ClockJob", "Ran", "clock_jobs"]

_JOBS = (
    advice,
    budgets,
    campaigns,
    coupon_counts,
    coupons,
    deployments,
    drafts,
    imports,
    pilots,
    promotions,
    purges,
    reports,
    shares,
)
"""The modules that register jobs."""

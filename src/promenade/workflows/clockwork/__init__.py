"""Scheduled work: validities that end, windows that open, pools that are refilled, old data that is purged."""

from __future__ import annotations

from promenade.workflows.clockwork import (
    advice,
    coupon_counts,
    coupons,
    deployments,
    dictionaries,
    drafts,
    dropping,
    erasures,
    idling,
    imports,
    passages,
    pilots,
    purges,
    redemptions,
    reports,
    shares,
    trimming,
)
from promenade.workflows.clockwork.jobs import ClockJob, JobResult, clock_jobs

__all__ = ["ClockJob", "JobResult", "clock_jobs"]

_JOBS = (
    advice,
    coupon_counts,
    coupons,
    deployments,
    dictionaries,
    drafts,
    dropping,
    erasures,
    idling,
    imports,
    passages,
    pilots,
    purges,
    redemptions,
    reports,
    shares,
    trimming,
)
"""The modules that register jobs."""

"""Shared by all coupon transitions: the unit of work that is retried after a concurrent change, and the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from promenade.errors import Unavailable
from promenade.store.coupons import claims
from promenade.store.driver.unit import Session
from promenade.workflows.context import Context

ATTEMPTS_MAX = 8

T = TypeVar("T")


class CodeChanged(Exception):
    """The code has changed since it was read: roll back and retry."""


class Refused(Exception):
    """A business refusal after something was counted: roll back."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def run_with_retries(context: Context, tenant_id: str, work: Callable[[Session], Awaitable[T]]) -> T:
    """Run ``work`` as one durable unit, retrying while it raises `CodeChanged`. Raises `Refused` and Unavailable."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await context.database.write(work, tenant=tenant_id)
        except CodeChanged:
            continue
    raise Unavailable("COUPON_BUSY", "Others are changing this coupon at the moment; try again.")


async def write_log(
    session: Session,
    log_id: str,
    *,
    coupon_id: str | None,
    coupon_type_id: str,
    action: str,
    at: datetime,
    transaction_id: str | None = None,
    customer_id: str | None = None,
) -> None:
    """Log a transition of a code in RedemptionLogs."""
    await claims.insert_redemption_log(
        session,
        log_id=log_id,
        coupon_code_id=coupon_id,
        coupon_type_id=coupon_type_id,
        promotion_id=None,
        action=action,
        transaction_id=transaction_id,
        customer_id=customer_id,
        at=at,
    )

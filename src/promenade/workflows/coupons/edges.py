"""What all edges of a coupon share: a unit that is begun anew when somebody else was quicker, and its log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from promenade.errors import Unavailable
from promenade.store import coupon_claims as claims
from promenade.store.unit import Session
from promenade.workflows.context import Context

__all__ = ["Overtaken", "Refused", "carry_out", "write_log"]

ATTEMPTS_MAX = 8

T = TypeVar("T")


class Overtaken(Exception):
    """The code is no longer as it was read: everything is undone, and looked at again."""


class Refused(Exception):
    """A business "no" after something was counted: everything is undone."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def carry_out(context: Context, tenant_id: str, work: Callable[[Session], Awaitable[T]]) -> T:
    """Run ``work`` as one durable unit, anew as long as it raises `Overtaken`. Raises `Refused` and Unavailable."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await context.database.write(work, tenant=tenant_id)
        except Overtaken:
            continue
    raise Unavailable("COUPON_BUSY", "Others are changing this coupon at the same moment; try again.")


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
    """Write down an edge of a code in RedemptionLogs."""
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

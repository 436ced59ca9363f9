"""Coupons issued: out of the pool while it lasts, else made for the purpose; by tills, after purchases and by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from promenade.errors import Conflict
from promenade.events import CouponIssued
from promenade.store import coupon_pool
from promenade.store.authored import insert_rows
from promenade.store.coupon_pool import Issue, IssuingType
from promenade.store.outbox import emit_all
from promenade.store.unit import Session
from promenade.workflows.coupon_codes import Draw, make_codes

__all__ = ["ENDS_AT_LAST", "IssuedCoupon", "Order", "check_issuable", "issue_coupons"]

ENDS_AT_LAST = datetime(9000, 1, 1, tzinfo=UTC)  # beyond this neither dates nor time zones can be reckoned with
_DAYS_MAX = timedelta.max.days


@dataclass(frozen=True, slots=True)
class Order:
    """For whom and for what coupons are issued; ``channel`` is an issuanceChannel, ``user`` who issues them."""

    channel: str
    customer_id: str | None = None
    promotion_id: str | None = None
    transaction_id: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class IssuedCoupon:
    """A coupon as whoever asked for it is told; ``id`` is None for the shared code of a GENERIC type."""

    id: str | None
    code: str | None
    coupon_type_id: str
    customer_id: str | None
    valid_until: datetime | None


def check_issuable(kind: IssuingType, at: datetime) -> None:
    """Raises Conflict for a type whose codes nobody could spend (COUPON_TYPE_INACTIVE, _ENDED, NO_GENERIC_CODE)."""
    if kind.status != "ACTIVE":
        message = f"The coupon type {kind.code} is {kind.status}; activate it before its codes are issued."
        raise Conflict("COUPON_TYPE_INACTIVE", message)
    if kind.valid_to is not None and kind.valid_to <= at:
        raise Conflict("COUPON_TYPE_ENDED", f"The validity of the coupon type {kind.code} is over.")
    if kind.is_generic and kind.generic_code is None:
        raise Conflict("NO_GENERIC_CODE", f"The GENERIC coupon type {kind.code} has no genericCode to give out.")


async def issue_coupons(
    session: Session,
    kind: IssuingType,
    quantity: int,
    order: Order,
    *,
    at: datetime,
    new_id: Callable[[], str],
    draw: Draw,
) -> list[IssuedCoupon]:
    """Issue coupons of a type, with their log rows and events; a number of statements that hardly depends on how many.

    For one transaction and promotion a type's coupon is issued once: it is the same when asked for again. Codes
    from outside (EXTERNAL) are never issued. Raises Conflict (CODES_EXHAUSTED).
    """
    issue = _issue(kind, order, at)
    if kind.is_generic:
        coupons = [IssuedCoupon(None, kind.generic_code, kind.id, order.customer_id, issue.valid_until)] * quantity
    else:
        found = await _codes(session, kind, quantity, issue, new_id, draw)
        coupons = [
            IssuedCoupon(one.id, one.code, kind.id, order.customer_id, one.valid_until or kind.valid_to)
            for one in found
        ]
    await _tell(session, issue, coupons, new_id)
    return coupons


async def _codes(
    session: Session, kind: IssuingType, quantity: int, issue: Issue, new_id: Callable[[], str], draw: Draw
) -> list[coupon_pool.IssuedCode]:
    if issue.transaction_id is not None and issue.promotion_id is not None:
        known = await coupon_pool.issued_for(session, issue.transaction_id, issue.promotion_id, kind.id)
        if known is not None:
            return [known]
    found = await coupon_pool.take_from_pool(session, issue, quantity)
    if len(found) < quantity:
        columns = {"coupon_type_id": kind.id, "created_at": issue.issued_at, "created_by": issue.user, **issue.columns}
        made = await make_codes(session, kind, quantity - len(found), columns, new_id=new_id, draw=draw)
        found += [coupon_pool.IssuedCode(code_id, code, issue.valid_until) for code_id, code in made]
    return found


def _issue(kind: IssuingType, order: Order, at: datetime) -> Issue:
    """A code is good for the type's validityDays from now, and never longer than its type."""
    ends = [] if kind.valid_to is None else [kind.valid_to]
    if kind.validity_days is not None:
        ends.append(at + min(timedelta(days=min(kind.validity_days, _DAYS_MAX)), ENDS_AT_LAST - at))
    return Issue(
        coupon_type_id=kind.id,
        promotion_id=order.promotion_id,
        transaction_id=order.transaction_id,
        customer_id=order.customer_id,
        channel=order.channel,
        status="CREATED" if kind.requires_activation else "ACTIVE",
        issued_at=at,
        valid_until=min(ends, default=None),
        user=order.user,
    )


async def _tell(session: Session, issue: Issue, coupons: list[IssuedCoupon], new_id: Callable[[], str]) -> None:
    at = issue.issued_at
    logs = [
        {
            "id": new_id(),
            "coupon_code_id": one.id,
            "coupon_type_id": issue.coupon_type_id,
            "promotion_id": issue.promotion_id,
            "action": "ISSUED",
            "transaction_id": issue.transaction_id,
            "customer_id": issue.customer_id,
            "occurred_at": at,
            "created_at": at,
            "created_by": issue.user,
            "modified_at": at,
            "modified_by": issue.user,
        }
        for one in coupons
    ]
    await insert_rows(session, "RedemptionLogs", logs)
    news = [
        CouponIssued(
            coupon_id=one.id,
            coupon_type_id=issue.coupon_type_id,
            issuance_channel=issue.channel,
            promotion_id=issue.promotion_id,
            transaction_id=issue.transaction_id,
            customer_id=issue.customer_id,
            valid_until=one.valid_until,
        )
        for one in coupons
    ]
    await emit_all(session, news, new_id=new_id, at=at)

"""Coupons issued: out of the pool while it lasts, else made for the purpose; by tills, after purchases and by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from promenade.errors import Conflict
from promenade.events import CouponIssued
from promenade.store import coupon_issues, coupon_pool
from promenade.store.coupon_issues import Told
from promenade.store.coupon_pool import Issue, IssuedCode, IssuingType
from promenade.store.outbox import outbox_row
from promenade.store.unit import Session
from promenade.workflows.coupon_codes import Draw, exhausted, generate_codes, make_codes

__all__ = [
    "ENDS_AT_LAST",
    "IssuedCoupon",
    "Order",
    "check_issuable",
    "issue_coupons",
    "issue_of",
    "issue_one",
    "issued_event",
    "issued_under",
    "tell_of",
]

ENDS_AT_LAST = datetime(9000, 1, 1, tzinfo=UTC)  # beyond this neither dates nor time zones can be reckoned with
_DAYS_MAX = timedelta.max.days
_CLOUD = "cloud"
_KEY_LENGTH, _NAME_LENGTH = 50, 33


def issued_under(origin: str, transaction_id: str) -> str:
    """What the coupons of a sale are kept under: two stores may give the same transaction ID."""
    if origin == _CLOUD:
        return transaction_id
    digest = hashlib.sha256(f"{origin}:{transaction_id}".encode()).hexdigest()
    return f"{transaction_id[:_NAME_LENGTH]}@{digest}"[:_KEY_LENGTH]


@dataclass(frozen=True, slots=True)
class Order:
    """For whom and for what coupons of a type are issued, one to each of ``customer_ids``; None: to its bearer.

    ``channel`` is an issuanceChannel, ``user`` who issues them. For one transaction and promotion there is one coupon;
    ``issued_under`` names the transaction where its ID alone does not.
    """

    channel: str
    customer_ids: tuple[str | None, ...] = (None,)
    promotion_id: str | None = None
    transaction_id: str | None = None
    user: str | None = None
    reason: str | None = None
    metadata: str | None = None  # JSON
    issued_under: str | None = None


@dataclass(frozen=True, slots=True)
class IssuedCoupon:
    """A coupon as whoever asked for it is told; ``id`` is None for the shared code of a GENERIC type.

    ``log_id`` is the row of RedemptionLogs that was written now; None: it had been issued before.
    """

    id: str | None
    code: str | None
    coupon_type_id: str
    customer_id: str | None
    valid_until: datetime | None
    log_id: str | None = field(default=None, compare=False)


def check_issuable(kind: IssuingType, at: datetime) -> None:
    """Raises Conflict for a type whose codes nobody could spend (COUPON_TYPE_INACTIVE, _ENDED, NO_GENERIC_CODE)."""
    if kind.status != "ACTIVE":
        message = f"The coupon type {kind.code} is {kind.status}; activate it before its codes are issued."
        raise Conflict("COUPON_TYPE_INACTIVE", message)
    if kind.valid_to is not None and kind.valid_to <= at:
        raise Conflict("COUPON_TYPE_ENDED", f"The validity of the coupon type {kind.code} is over.")
    _check_code(kind)


def _check_code(kind: IssuingType) -> None:
    if kind.is_generic and kind.generic_code is None:
        raise Conflict("NO_GENERIC_CODE", f"The GENERIC coupon type {kind.code} has no genericCode to give out.")


async def issue_one(
    session: Session, kind: IssuingType, order: Order, *, at: datetime, new_id: Callable[[], str], draw: Draw | None
) -> IssuedCoupon:
    """`issue_coupons` for one customer. Raises Conflict (CODES_EXHAUSTED, NO_GENERIC_CODE) when there is no code."""
    _check_code(kind)
    (coupon,) = await issue_coupons(session, kind, order, at=at, new_id=new_id, draw=draw)
    if coupon is None:
        raise exhausted(kind)
    return coupon


async def issue_coupons(
    session: Session, kind: IssuingType, order: Order, *, at: datetime, new_id: Callable[[], str], draw: Draw | None
) -> list[IssuedCoupon | None]:
    """Issue coupons of a type, with their log rows and events; a number of statements that hardly depends on how many.

    The answer has one for each customer, in their order; None: the codes have run out. For one transaction and
    promotion a type's coupon is issued once: it is the same when asked for again. Codes from outside (EXTERNAL) are
    never issued. Without ``draw`` none is made: a store issues what it was given.
    """
    issue = issue_of(kind, order, at)
    customers = order.customer_ids
    if kind.is_generic:
        shared: list[IssuedCoupon | None] = [
            IssuedCoupon(None, kind.generic_code, kind.id, customer, issue.valid_until) for customer in customers
        ]
        return await tell_of(session, issue, shared, new_id)
    if issue.key is not None and issue.promotion_id is not None:
        known = await coupon_pool.issued_for(session, issue.key, issue.promotion_id, kind.id)
        if known is not None:
            return [_coupon(kind, known, customers[0])]
    found = await _codes(session, kind, issue, customers, new_id, draw)
    coupons = [
        None if one is None else _coupon(kind, one, customer) for one, customer in zip(found, customers, strict=True)
    ]
    return await tell_of(session, issue, coupons, new_id)


def _coupon(kind: IssuingType, code: IssuedCode, customer_id: str | None) -> IssuedCoupon:
    return IssuedCoupon(code.id, code.code, kind.id, customer_id, code.valid_until or kind.valid_to)


async def _codes(
    session: Session,
    kind: IssuingType,
    issue: Issue,
    customers: Sequence[str | None],
    new_id: Callable[[], str],
    draw: Draw | None,
) -> list[IssuedCode | None]:
    """A code for each customer, out of the pool and then new; None where there is none."""
    # One code is one statement, unless the new one is taken; with its key a transaction could not try again.
    if (
        draw is not None
        and len(customers) == 1
        and issue.transaction_id is None
        and (kind.shape is None or kind.shape.alphabet)
    ):
        (code,) = generate_codes(kind.shape, 1, draw)
        one = await coupon_issues.take_or_make(session, issue, customers[0], code_id=new_id(), code=code)
        if one is not None:
            return [one]
    pooled = await coupon_pool.take_from_pool(session, issue, customers)
    rest = customers[len(pooled) :]
    if not rest:
        return [*pooled]
    if draw is None:
        return [*pooled, *[None for _ in rest]]
    shared = {"coupon_type_id": kind.id, "created_at": issue.issued_at, "created_by": issue.user, **issue.columns}
    wanted = [{**shared, "customer_id": customer} for customer in rest]
    made = await make_codes(session, kind, wanted, new_id=new_id, draw=draw)
    new = [IssuedCode(*made[place], issue.valid_until) if place in made else None for place in range(len(rest))]
    return [*pooled, *new]


def issue_of(kind: IssuingType, order: Order, at: datetime) -> Issue:
    """What codes are issued for, and until when they are good.

    That is for the type's validityDays from now, and never longer than the type.
    """
    ends = [] if kind.valid_to is None else [kind.valid_to]
    if kind.validity_days is not None:
        ends.append(at + min(timedelta(days=min(kind.validity_days, _DAYS_MAX)), ENDS_AT_LAST - at))
    return Issue(
        coupon_type_id=kind.id,
        promotion_id=order.promotion_id,
        transaction_id=order.transaction_id,
        channel=order.channel,
        status="CREATED" if kind.requires_activation else "ACTIVE",
        issued_at=at,
        valid_until=min(ends, default=None),
        user=order.user,
        reason=order.reason,
        metadata=order.metadata,
        issued_under=order.issued_under,
    )


def issued_event(issue: Issue, coupon: IssuedCoupon) -> CouponIssued:
    """What is told of an issued coupon."""
    return CouponIssued(
        coupon_id=coupon.id,
        coupon_type_id=issue.coupon_type_id,
        issuance_channel=issue.channel,
        promotion_id=issue.promotion_id,
        transaction_id=issue.transaction_id,
        customer_id=coupon.customer_id,
        valid_until=coupon.valid_until,
    )


async def tell_of(
    session: Session,
    issue: Issue,
    coupons: Sequence[IssuedCoupon | None],
    new_id: Callable[[], str],
) -> list[IssuedCoupon | None]:
    """Write the log rows and events of issued coupons; the answer has them with their logs."""
    tenant_id = session.tenant or ""
    told: list[Told] = []
    named: list[IssuedCoupon | None] = []
    for one in coupons:
        if one is None:
            named.append(None)
            continue
        row = outbox_row(tenant_id, issued_event(issue, one), event_id=new_id(), at=issue.issued_at)
        told.append(Told(new_id(), one.id, one.customer_id, row))
        named.append(replace(one, log_id=told[-1].log_id))
    await coupon_issues.tell(session, issue, told)
    return named

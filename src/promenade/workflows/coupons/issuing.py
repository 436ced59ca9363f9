"""Issue coupons from the pool, or newly made when it is empty; for tills, after purchases and by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from promenade.errors import Conflict
from promenade.events import CouponIssued
from promenade.store.access.erasures import notice
from promenade.store.coupons import issues as coupon_issues
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.issues import IssueRecord
from promenade.store.coupons.pool import Issue, IssuedCode, IssuingType
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import CLOUD
from promenade.store.webhooks.outbox import outbox_row
from promenade.workflows.coupons.codes import Draw, exhausted, generate_codes, make_codes

VALID_UNTIL_MAX = datetime(9000, 1, 1, tzinfo=UTC)  # later dates overflow date and time zone arithmetic
_DAYS_MAX = timedelta.max.days
_KEY_LENGTH, _NAME_LENGTH = 50, 33


def issued_under(origin: str, transaction_id: str) -> str:
    """The key of a sale's issued coupons: two stores may use the same transaction ID."""
    if origin == CLOUD:
        return transaction_id
    digest = hashlib.sha256(f"{origin}:{transaction_id}".encode()).hexdigest()
    return f"{transaction_id[:_NAME_LENGTH]}@{digest}"[:_KEY_LENGTH]


@dataclass(frozen=True, slots=True)
class Order:
    """An order to issue coupons of a type, one to each of ``customer_ids``; None: to the bearer.

    ``channel`` is an issuanceChannel, ``user`` who issues them. One coupon is issued per transaction and promotion;
    ``issued_under`` identifies the transaction if its ID alone does not.
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
    """A coupon as returned to the caller; ``id`` is None for the shared code of a GENERIC type.

    ``log_id`` is the row of RedemptionLogs written now; None: the coupon had been issued before.
    """

    id: str | None
    code: str | None
    coupon_type_id: str
    customer_id: str | None
    valid_until: datetime | None
    log_id: str | None = field(default=None, compare=False)


def check_issuable(kind: IssuingType, at: datetime) -> None:
    """Raise Conflict if codes of the type could not be spent (COUPON_TYPE_INACTIVE, _ENDED, NO_GENERIC_CODE)."""
    if kind.status != "ACTIVE":
        message = f"The coupon type {kind.code} is {kind.status}; activate it before its codes are issued."
        raise Conflict("COUPON_TYPE_INACTIVE", message)
    _check_spendable(kind, at)


def _check_spendable(kind: IssuingType, at: datetime) -> None:
    if kind.valid_to is not None and kind.valid_to <= at:
        raise Conflict("COUPON_TYPE_ENDED", f"The validity of the coupon type {kind.code} has ended.")
    if kind.is_generic and kind.generic_code is None:
        raise Conflict("NO_GENERIC_CODE", f"The GENERIC coupon type {kind.code} has no genericCode to give out.")


async def issue_one(
    session: Session, kind: IssuingType, order: Order, *, at: datetime, new_id: Callable[[], str], draw: Draw | None
) -> IssuedCoupon:
    """`issue_coupons` for one customer.

    Raises Conflict if there is no code (CODES_EXHAUSTED, NO_GENERIC_CODE) or it could never be spent
    (COUPON_TYPE_ENDED). The type may be INACTIVE.
    """
    _check_spendable(kind, at)
    (coupon,) = await issue_coupons(session, kind, order, at=at, new_id=new_id, draw=draw)
    if coupon is None:
        raise exhausted(kind)
    return coupon


async def issue_coupons(
    session: Session, kind: IssuingType, order: Order, *, at: datetime, new_id: Callable[[], str], draw: Draw | None
) -> list[IssuedCoupon | None]:
    """Issue coupons of a type, with log rows and events, in a nearly constant number of statements.

    Returns one coupon per customer, in their order; None: the codes have run out. For one transaction and promotion a
    type's coupon is issued once; asking again returns the same one. Codes from outside (EXTERNAL) are never issued.
    Without ``draw`` none is made: a store issues only the codes it was allotted.
    """
    issue = issue_of(kind, order, at)
    customers = order.customer_ids
    if kind.is_generic:
        shared: list[IssuedCoupon | None] = [
            IssuedCoupon(None, kind.generic_code, kind.id, customer, issue.valid_until) for customer in customers
        ]
        return await record_issued(session, issue, shared, new_id)
    if issue.key is not None and issue.promotion_id is not None:
        known = await coupon_pool.issued_for(session, issue.key, issue.promotion_id, kind.id)
        if known is not None:
            return [_coupon(kind, known, customers[0])]
    found = await _codes(session, kind, issue, customers, new_id, draw)
    coupons = [
        None if one is None else _coupon(kind, one, customer) for one, customer in zip(found, customers, strict=True)
    ]
    return await record_issued(session, issue, coupons, new_id)


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
    """Return a code for each customer, from the pool and then new; None if there is none."""
    # One code takes one statement, unless the new one is taken; with its key a transaction could not try again.
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
    """The purpose of the issued codes, and until when they are valid.

    They are valid for the type's validityDays from now, but never longer than the type.
    """
    ends = [] if kind.valid_to is None else [kind.valid_to]
    if kind.validity_days is not None:
        ends.append(at + min(timedelta(days=min(kind.validity_days, _DAYS_MAX)), VALID_UNTIL_MAX - at))
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
    """The event for an issued coupon."""
    return CouponIssued(
        coupon_id=coupon.id,
        coupon_type_id=issue.coupon_type_id,
        issuance_channel=issue.channel,
        promotion_id=issue.promotion_id,
        transaction_id=issue.transaction_id,
        customer_id=coupon.customer_id,
        valid_until=coupon.valid_until,
    )


async def record_issued(
    session: Session,
    issue: Issue,
    coupons: Sequence[IssuedCoupon | None],
    new_id: Callable[[], str],
) -> list[IssuedCoupon | None]:
    """Write the log rows and events of issued coupons; return the coupons with their log IDs."""
    tenant_id = session.tenant or ""
    told: list[IssueRecord] = []
    named: list[IssuedCoupon | None] = []
    for one in coupons:
        if one is None:
            named.append(None)
            continue
        row = outbox_row(tenant_id, issued_event(issue, one), event_id=new_id(), at=issue.issued_at)
        told.append(IssueRecord(new_id(), one.id, one.customer_id, row))
        named.append(replace(one, log_id=told[-1].log_id))
    await coupon_issues.record_issue(session, issue, told)
    await notice(session, {one.customer_id for one in told}, new_id=new_id, at=issue.issued_at)
    return named

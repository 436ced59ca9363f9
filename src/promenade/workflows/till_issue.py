"""Coupons that a till has issued, to one customer or to many: at most 1 000 in any minute (specification, Limits).

One call is one unit of work: the tenant's window, the coupons, their log rows and events are committed together, and a
call that does not fit into the window issues none.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakKeyDictionary, WeakValueDictionary

from promenade.errors import Conflict, Invalid, TooMany
from promenade.store import coupon_pool, issue_windows
from promenade.store.issue_windows import Issuances
from promenade.store.types import to_microseconds
from promenade.store.unit import Database, Session
from promenade.workflows.context import Context
from promenade.workflows.coupon_codes import Draw, exhausted
from promenade.workflows.coupon_issuing import IssuedCoupon, Order, check_issuable, issue_coupons

__all__ = ["ISSUED_MAX", "WINDOW", "IssueAnswer", "IssueFailure", "IssueOrder", "issue_at_till"]

ISSUED_MAX = 1000  # coupons of one tenant in any WINDOW
WINDOW = timedelta(seconds=60)  # an issue counts until it is this old, that moment not included
_WINDOW = WINDOW // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class IssueOrder:
    """Coupons of a type, named by its ID, its name or both, one for each of ``customer_ids`` (None: for its bearer).

    ``reason`` (at most 255 characters) and ``metadata`` (JSON text) are kept with each code; ``user`` is who asks.
    """

    coupon_type_id: str | None
    coupon_type_name: str | None
    customer_ids: tuple[str | None, ...]
    reason: str | None = None
    metadata: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class IssueFailure:
    """A customer who got no coupon, and why: a stable code and a sentence."""

    customer_id: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class IssueAnswer:
    """Who got what, in the order of the customers."""

    issued: tuple[IssuedCoupon, ...]
    failures: tuple[IssueFailure, ...]


async def issue_at_till(context: Context, tenant_id: str, order: IssueOrder, draw: Draw) -> IssueAnswer:
    """Issue a coupon to each customer of ``order``; ``draw`` picks the characters of new codes.

    A type whose codes nobody could spend (COUPON_TYPE_INACTIVE, COUPON_TYPE_ENDED, NO_GENERIC_CODE), and codes that
    have run out (CODES_EXHAUSTED), are failures of the customers concerned. Raises Invalid (COUPON_TYPE_NOT_FOUND,
    AMBIGUOUS_COUPON_TYPE) and TooMany (ISSUE_LIMIT_REACHED); then nothing is issued. Specification, POS Service.
    """
    if len(order.customer_ids) > ISSUED_MAX:
        raise _too_many(WINDOW)

    async def work(session: Session) -> IssueAnswer | timedelta:
        return await _issue(context, session, order, draw)

    async with _turn(context.database, tenant_id):
        answer = await context.database.write(work, tenant=tenant_id)
    if isinstance(answer, timedelta):
        raise _too_many(answer)
    return answer


_TURNS: WeakKeyDictionary[Database, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


def _turn(database: Database, tenant_id: str) -> AbstractAsyncContextManager[object]:
    """One at a time in this process, where whoever waits for the tenant's window holds a connection that others need.

    On SQLite there is nothing to wait for: units are carried out one after the other, and committed together.
    """
    if database.dialect == "sqlite":
        return nullcontext()
    turns = _TURNS.setdefault(database, WeakValueDictionary())
    turn = turns.get(tenant_id)
    if turn is None:
        turn = turns[tenant_id] = asyncio.Lock()
    return turn


async def _issue(context: Context, session: Session, order: IssueOrder, draw: Draw) -> IssueAnswer | timedelta:
    """The answer, or how long it will be until the order fits into the window."""
    coupon_type_id = await _find_type(session, order)
    kept = await issue_windows.hold(session)
    at = context.clock()  # read now that nobody else's issues can come between
    now = to_microseconds(at)
    window = _within(kept, now)
    wait = _wait(window, len(order.customer_ids), now)
    if wait is not None:
        if kept != window:  # what a clock set back has left ahead of now must not count for ever
            await issue_windows.keep(session, window)
        return wait
    kind = await coupon_pool.read_type(session, coupon_type_id, held=True)
    if kind is None:
        raise _no_type(order)
    try:
        check_issuable(kind, at)
    except Conflict as refused:
        return _none(order, refused)
    issuing = Order("MANUAL", order.customer_ids, user=order.user, reason=order.reason, metadata=order.metadata)
    coupons = await issue_coupons(session, kind, issuing, at=at, new_id=context.new_id, draw=draw)
    issued = tuple([one for one in coupons if one is not None])
    if issued:
        await issue_windows.keep(session, [*window, (now, len(issued))])
    without = [customer for customer, one in zip(order.customer_ids, coupons, strict=True) if one is None]
    ran_out = exhausted(kind)
    return IssueAnswer(issued, tuple([IssueFailure(one, ran_out.code, ran_out.message) for one in without]))


def _none(order: IssueOrder, refused: Conflict) -> IssueAnswer:
    return IssueAnswer((), tuple([IssueFailure(one, refused.code, refused.message) for one in order.customer_ids]))


async def _find_type(session: Session, order: IssueOrder) -> str:
    if order.coupon_type_id is not None and order.coupon_type_name is None:
        return order.coupon_type_id  # whether it is there is seen when it is read
    found = await coupon_pool.find_types(session, order.coupon_type_id, order.coupon_type_name)
    if not found:
        raise _no_type(order)
    if len(found) > 1:
        message = f"Several coupon types are called {order.coupon_type_name}; give couponTypeId."
        raise Invalid("AMBIGUOUS_COUPON_TYPE", message, "couponTypeName")
    return found[0]


def _no_type(order: IssueOrder) -> Invalid:
    target = "couponTypeName" if order.coupon_type_id is None else "couponTypeId"
    return Invalid("COUPON_TYPE_NOT_FOUND", f"`{target}` names no coupon type.", target)


# --- the window -------------------------------------------------------------------------------------------------------


def _within(kept: list[Issuances], now: int) -> list[Issuances]:
    """What counts now, oldest first; what was issued by a clock that was ahead counts as issued now."""
    window = kept[bisect_left(kept, (now - _WINDOW + 1, 0)) :]
    return window if not window or window[-1][0] <= now else [(min(at, now), number) for at, number in window]


def _wait(window: Sequence[Issuances], number: int, now: int) -> timedelta | None:
    """How long until ``number`` more fit in; None: they do now."""
    excess = sum([issued for _, issued in window]) + number - ISSUED_MAX
    if excess <= 0:
        return None
    for at, issued in window:
        excess -= issued
        if excess <= 0:
            return timedelta(microseconds=at + _WINDOW - now)
    return WINDOW


def _too_many(wait: timedelta) -> TooMany:
    seconds = -(-wait // timedelta(seconds=1))
    message = f"No more than {ISSUED_MAX} coupons are issued in a minute; nothing was issued. Ask again in {seconds} s."
    return TooMany("ISSUE_LIMIT_REACHED", message, seconds)

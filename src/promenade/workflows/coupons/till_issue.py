"""Coupons issued by a till to one customer or many: at most 1 000 in any minute (specification, Limits).

One call is one unit of work: the tenant's window, the coupons, their log rows and events are committed together, and a
call that does not fit into the window issues none.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from promenade.errors import Conflict, Invalid, TooMany, Unavailable
from promenade.store.coupons import issue_keys, issue_windows
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.issue_windows import Issuances
from promenade.store.coupons.pool import IssuingType
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Database, Session
from promenade.workflows.context import Context
from promenade.workflows.coupons.codes import Draw, exhausted
from promenade.workflows.coupons.issuing import IssuedCoupon, Order, check_issuable, issue_coupons
from promenade.workflows.coupons.repeated_issues import IssueAnswer, IssueFailure, IssueOrder, kept_answer, repeated
from promenade.workflows.replica.holding import NEEDS_CLOUD, stock_pool
from promenade.workflows.replica.queueing import QueuedCoupon, queue_coupons

__all__ = ["ISSUED_MAX", "WINDOW", "IssueAnswer", "IssueFailure", "IssueOrder", "issue_at_till"]

ISSUED_MAX = 1000  # coupons of one tenant in any WINDOW
WINDOW = timedelta(seconds=60)  # an issue counts while it is younger than this
GROUP_MAX = 32  # coupons of orders that share a unit of work; each order waits for all
_WINDOW = WINDOW // timedelta(microseconds=1)


async def issue_at_till(context: Context, tenant_id: str, order: IssueOrder, draw: Draw) -> IssueAnswer:
    """Issue a coupon to each customer of ``order``; ``draw`` picks the characters of new codes.

    If the codes of the type could not be redeemed (COUPON_TYPE_INACTIVE, COUPON_TYPE_ENDED, NO_GENERIC_CODE) or have
    run out (CODES_EXHAUSTED; NEEDS_CLOUD in a store whose cloud may have more), the customers concerned are reported as
    failures. A store requests the codes that it lacks from its cloud. An order whose key was used within 24 hours
    issues nothing and gets the first answer again. Raises Invalid (TOO_MANY_COUPONS, COUPON_TYPE_NOT_FOUND,
    COUPON_TYPE_MISMATCH, AMBIGUOUS_COUPON_TYPE), Conflict (KEY_REUSED) and TooMany (ISSUE_LIMIT_REACHED); then nothing
    is issued. Specification, POS Service.
    """
    if len(order.customer_ids) > ISSUED_MAX:
        message = f"`customerIds` can name at most {ISSUED_MAX} customers; send the others a minute later."
        raise Invalid("TOO_MANY_COUPONS", message, "customerIds")
    if order.key is not None:
        known = await context.database.read(lambda session: _known(session, context, [order]), tenant=tenant_id)
        if known[0] is not None:
            return _told(known[0])
    shortage = await _ensure_stock(context, tenant_id, order) if context.is_store else None
    answer = await _queue_order(context, tenant_id, order, draw)
    told = _told(answer)
    return told if shortage is None else _with_shortage(told, shortage)


async def _ensure_stock(context: Context, tenant_id: str, order: IssueOrder) -> Conflict | None:
    """Get the codes that the order needs into the store; return why there may be too few, or None if none are
    needed.
    """

    async def find_type(session: Session) -> IssuingType | None:
        try:
            kind = await coupon_pool.read_type(session, await _find_type(session, order))
            if kind is not None:
                check_issuable(kind, context.clock())
        except (Invalid, Conflict):  # raised again when the order is executed
            return None
        return kind

    kind: IssuingType | None = await context.database.read(find_type, tenant=tenant_id)
    if kind is None or kind.is_generic:
        return None
    reason = await stock_pool(context, tenant_id, kind.id, len(order.customer_ids))
    if reason == NEEDS_CLOUD:
        message = f"The store has no more codes of the coupon type {kind.code}, and cannot ask the cloud for some now."
        return Conflict("NEEDS_CLOUD", message)
    message = f"The store has no more codes of the coupon type {kind.code}, and the cloud has none left for it."
    return Conflict("CODES_EXHAUSTED", message)


def _with_shortage(answer: IssueAnswer, shortage: Conflict) -> IssueAnswer:
    failures = [
        replace(one, code=shortage.code, message=shortage.message) if one.code == "CODES_EXHAUSTED" else one
        for one in answer.failures
    ]
    return replace(answer, failures=tuple(failures))


_Answer = IssueAnswer | timedelta | Invalid | Conflict
"""What came of an order; a time: how long it will be until it fits into the window."""


def _told(answer: _Answer) -> IssueAnswer:
    if isinstance(answer, timedelta):
        raise _too_many(answer)
    if isinstance(answer, Invalid | Conflict):
        raise answer
    return answer


async def _known(
    session: Session, context: Context, orders: Sequence[IssueOrder]
) -> list[IssueAnswer | Conflict | None]:
    """Return the first answers to orders whose keys were used before; None: a new order."""
    keys = {order.key for order in orders if order.key is not None}
    kept = await issue_keys.find_answers(session, keys, at=context.clock()) if keys else {}
    return [await repeated(session, order, kept) for order in orders]


@dataclass(frozen=True, slots=True)
class _QueuedOrder:
    context: Context
    order: IssueOrder
    draw: Draw
    answer: asyncio.Future[_Answer]

    @property
    def kind(self) -> tuple[str | None, str | None]:
        return self.order.coupon_type_id, self.order.coupon_type_name


_LINES: WeakKeyDictionary[Database, dict[str, list[_QueuedOrder]]] = WeakKeyDictionary()
_SERVING: set[asyncio.Task[None]] = set()


async def _queue_order(context: Context, tenant_id: str, order: IssueOrder, draw: Draw) -> _Answer:
    """Execute an order; orders of a tenant that wait at the same time share a unit of work.

    The tenant's window is locked by one unit of work at a time, and each one that waits for it would hold a connection
    that others need. On SQLite orders are not grouped: units of work run one after the other and are committed
    together.
    """
    loop = asyncio.get_running_loop()
    one = _QueuedOrder(context, order, draw, loop.create_future())
    if context.database.dialect == "sqlite":
        await _carry_out(tenant_id, [one])
    else:
        lines = _LINES.setdefault(context.database, {})
        line = lines.get(tenant_id)
        if line is None:
            lines[tenant_id] = [one]
            serving = loop.create_task(_serve(lines, tenant_id))
            _SERVING.add(serving)
            serving.add_done_callback(_SERVING.discard)
        else:
            line.append(one)
    return await one.answer


async def _serve(lines: dict[str, list[_QueuedOrder]], tenant_id: str) -> None:
    """Execute a tenant's orders until none is waiting."""
    line, group = lines[tenant_id], list[_QueuedOrder]()
    try:
        while line:
            group, line[:] = _next_group(line)
            await _carry_out(tenant_id, group)
    finally:
        del lines[tenant_id]
        for one in (*group, *line):  # empty unless this task was cancelled with its event loop
            one.answer.cancel()


def _next_group(line: Sequence[_QueuedOrder]) -> tuple[list[_QueuedOrder], list[_QueuedOrder]]:
    """Return the orders to execute next and the others, without those already answered.

    Those to execute are of one type, for few coupons, with different keys.
    """
    group: list[_QueuedOrder] = []
    rest: list[_QueuedOrder] = []
    coupons = 0
    for one in line:
        if one.answer.done():
            continue
        number = len(one.order.customer_ids)
        is_repeat = one.order.key is not None and one.order.key in {other.order.key for other in group}
        if group and (one.kind != group[0].kind or coupons + number > GROUP_MAX or is_repeat):
            rest.append(one)
        else:
            group.append(one)
            coupons += number
    return group, rest


async def _carry_out(tenant_id: str, group: Sequence[_QueuedOrder]) -> None:
    """Answer each order of the group; if the group's unit of work fails, execute each order on its own."""
    if not group:
        return

    async def work(session: Session) -> list[_Answer]:
        return await _issue_all(session, group)

    try:
        answers = await group[0].context.database.write(work, tenant=tenant_id)
    except Exception as error:
        # The commit may have succeeded: do not retry.
        if len(group) == 1 or isinstance(error, Unavailable):
            for one in group:
                if not one.answer.done():
                    one.answer.set_exception(error)
            return
        for one in group:
            await _carry_out(tenant_id, [one])
        return
    for one, answer in zip(group, answers, strict=True):
        if not one.answer.done():  # else its caller is gone; the coupons stay issued
            one.answer.set_result(answer)


async def _issue_all(session: Session, group: Sequence[_QueuedOrder]) -> list[_Answer]:
    """Return the answers to orders of one type, in order; each must fit into the window together with those before
    it.
    """
    kept = await issue_windows.hold(session)
    window = kept
    known = await _known(session, group[0].context, [one.order for one in group])
    kind = await _read_type(session, group[0].order) if None in known else None
    answers: list[_Answer] = []
    for one, before in zip(group, known, strict=True):
        if before is not None:
            answers.append(before)
            continue
        if not isinstance(kind, IssuingType):
            answers.append(kind or _no_type(one.order))
            continue
        at = one.context.clock()  # read under the lock, so that no other issue can come between
        now = to_microseconds(at)
        window = _entries_in_window(window, now)
        wait = _wait(window, len(one.order.customer_ids), now)
        if wait is not None:
            answers.append(wait)
            continue
        answer = await _issue(session, kind, one, at)
        if answer.issued:
            window = [*window, (now, len(answer.issued))]
            if one.order.key is not None:
                await issue_keys.keep_answer(session, one.order.key, kept_answer(one.order, answer), at=at)
        answers.append(answer)
    if kept != window:  # also drops future entries left by a clock that was set back
        await issue_windows.keep(session, window)
    return answers


async def _read_type(session: Session, order: IssueOrder) -> IssuingType | Invalid | None:
    try:
        return await coupon_pool.read_type(session, await _find_type(session, order), held=True)
    except Invalid as invalid:
        return invalid


async def _issue(session: Session, kind: IssuingType, one: _QueuedOrder, at: datetime) -> IssueAnswer:
    order = one.order
    try:
        check_issuable(kind, at)
    except Conflict as refused:
        return _all_failed(order, refused)
    issuing = Order("MANUAL", order.customer_ids, user=order.user, reason=order.reason, metadata=order.metadata)
    draw = None if one.context.is_store else one.draw
    coupons = await issue_coupons(session, kind, issuing, at=at, new_id=one.context.new_id, draw=draw)
    issued = tuple([coupon for coupon in coupons if coupon is not None])
    await queue_coupons(one.context, session, [(coupon.log_id or "", _event(coupon, order, at)) for coupon in issued])
    without = [customer for customer, coupon in zip(order.customer_ids, coupons, strict=True) if coupon is None]
    ran_out = exhausted(kind)
    return IssueAnswer(issued, tuple([IssueFailure(customer, ran_out.code, ran_out.message) for customer in without]))


def _event(coupon: IssuedCoupon, order: IssueOrder, at: datetime) -> QueuedCoupon:
    return QueuedCoupon(
        "ISSUED",
        coupon.coupon_type_id,
        at,
        coupon.id,
        customer_id=coupon.customer_id,
        reason=order.reason,
        metadata=order.metadata,
    )


def _all_failed(order: IssueOrder, refused: Conflict) -> IssueAnswer:
    return IssueAnswer((), tuple([IssueFailure(one, refused.code, refused.message) for one in order.customer_ids]))


async def _find_type(session: Session, order: IssueOrder) -> str:
    if order.coupon_type_id is not None and order.coupon_type_name is None:
        return order.coupon_type_id  # its existence is checked when it is read
    found = await coupon_pool.find_types(session, order.coupon_type_id, order.coupon_type_name)
    if not found and order.coupon_type_id is not None:
        if not await coupon_pool.find_types(session, order.coupon_type_id, None):
            raise _no_type(order)
        message = "`couponTypeName` is not the name of the coupon type that `couponTypeId` names; give one of them."
        raise Invalid("COUPON_TYPE_MISMATCH", message, "couponTypeName")
    if not found:
        raise _no_type(order)
    if len(found) > 1:
        message = f"Several coupon types are called {order.coupon_type_name}; give couponTypeId."
        raise Invalid("AMBIGUOUS_COUPON_TYPE", message, "couponTypeName")
    return found[0]


def _no_type(order: IssueOrder) -> Invalid:
    target = "couponTypeName" if order.coupon_type_id is None else "couponTypeId"
    return Invalid("COUPON_TYPE_NOT_FOUND", f"`{target}` names a coupon type that does not exist.", target)


# --- the window -------------------------------------------------------------------------------------------------------


def _entries_in_window(kept: list[Issuances], now: int) -> list[Issuances]:
    """Return the entries that count now, oldest first; entries with a future time count as issued now."""
    window = kept[bisect_left(kept, (now - _WINDOW + 1, 0)) :]
    return window if not window or window[-1][0] <= now else [(min(at, now), number) for at, number in window]


def _wait(window: Sequence[Issuances], number: int, now: int) -> timedelta | None:
    """Return how long until ``number`` more fit into the window; None: they fit now."""
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
    message = f"At most {ISSUED_MAX} coupons can be issued in a minute; none was issued. Try again in {seconds} s."
    return TooMany("ISSUE_LIMIT_REACHED", message, seconds)

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
from promenade.store.coupons import issue_windows
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.issue_windows import Issuances
from promenade.store.coupons.pool import IssuingType
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Database, Session
from promenade.workflows.context import Context
from promenade.workflows.coupons.codes import Draw, exhausted
from promenade.workflows.coupons.issuing import IssuedCoupon, Order, check_issuable, issue_coupons
from promenade.workflows.replica.holding import NEEDS_CLOUD, stock_pool
from promenade.workflows.replica.queueing import QueuedCoupon, queue_coupons

ISSUED_MAX = 1000  # coupons of one tenant in any WINDOW
WINDOW = timedelta(seconds=60)  # an issue counts while it is younger than this
GROUP_MAX = 32  # coupons of orders that share a unit of work; each order waits for all
_WINDOW = WINDOW // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class IssueOrder:
    """An order for coupons of a type, one for each of ``customer_ids`` (None: a bearer coupon).

    The type is identified by its ID, its name or both. ``reason`` (at most 255 characters) and ``metadata`` (JSON text)
    are stored with each code; ``user`` is the caller.
    """

    coupon_type_id: str | None
    coupon_type_name: str | None
    customer_ids: tuple[str | None, ...]
    reason: str | None = None
    metadata: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class IssueFailure:
    """A customer who got no coupon, with a stable code and a message."""

    customer_id: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class IssueAnswer:
    """The coupons issued, in the order of the customers, and the failures."""

    issued: tuple[IssuedCoupon, ...]
    failures: tuple[IssueFailure, ...]


async def issue_at_till(context: Context, tenant_id: str, order: IssueOrder, draw: Draw) -> IssueAnswer:
    """Issue a coupon to each customer of ``order``; ``draw`` picks the characters of new codes.

    If the codes of the type could not be redeemed (COUPON_TYPE_INACTIVE, COUPON_TYPE_ENDED, NO_GENERIC_CODE) or have
    run out (CODES_EXHAUSTED; NEEDS_CLOUD in a store whose cloud may have more), the customers concerned are reported as
    failures. A store requests the codes that it lacks from its cloud. Raises Invalid (COUPON_TYPE_NOT_FOUND,
    AMBIGUOUS_COUPON_TYPE) and TooMany (ISSUE_LIMIT_REACHED); then nothing is issued. Specification, POS Service.
    """
    if len(order.customer_ids) > ISSUED_MAX:
        raise _too_many(WINDOW)
    shortage = await _ensure_stock(context, tenant_id, order) if context.is_store else None
    answer = await _queue_order(context, tenant_id, order, draw)
    if isinstance(answer, timedelta):
        raise _too_many(answer)
    if isinstance(answer, Invalid):
        raise answer
    return answer if shortage is None else _with_shortage(answer, shortage)


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


_Answer = IssueAnswer | timedelta | Invalid
"""What came of an order; a time: how long it will be until it fits into the window."""


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
    """Return the orders to execute next (of one type, few coupons) and the others, without those already answered."""
    group: list[_QueuedOrder] = []
    rest: list[_QueuedOrder] = []
    coupons = 0
    for one in line:
        if one.answer.done():
            continue
        number = len(one.order.customer_ids)
        if group and (one.kind != group[0].kind or coupons + number > GROUP_MAX):
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
    answers: list[_Answer] = []
    try:
        coupon_type_id = await _find_type(session, group[0].order)
    except Invalid as invalid:
        return [invalid for _ in group]
    kept = await issue_windows.hold(session)
    window, kind = kept, None
    for one in group:
        at = one.context.clock()  # read under the lock, so that no other issue can come between
        now = to_microseconds(at)
        window = _entries_in_window(window, now)
        wait = _wait(window, len(one.order.customer_ids), now)
        if wait is not None:
            answers.append(wait)
            continue
        kind = kind or await coupon_pool.read_type(session, coupon_type_id, held=True)
        answer = _no_type(one.order) if kind is None else await _issue(session, kind, one, at)
        if isinstance(answer, IssueAnswer) and answer.issued:
            window = [*window, (now, len(answer.issued))]
        answers.append(answer)
    if kept != window:  # also drops future entries left by a clock that was set back
        await issue_windows.keep(session, window)
    return answers


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

"""Scheduled work on coupons: ending validities and reservations, refilling pools (data model, Coupon code).

Nothing depends on these runs: every till refuses an expired code, whether or not it has been processed (reliability
C3). Each run works in short units and rests as long as it has worked, which leaves half of the database's time to
tills.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from promenade.errors import PromenadeError, Unavailable
from promenade.events import CouponExpired
from promenade.log import Logger
from promenade.model.declare import Service
from promenade.store.authoring.statements import insert_rows
from promenade.store.coupons import clock as store
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.clock import Due, ExpiredItem, Schedule, SharedReservations
from promenade.store.coupons.issue_keys import purge_issue_keys
from promenade.store.coupons.transitions import END_SHARED, EXPIRE, RELEASE
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit_all
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import HALF, Pace
from promenade.workflows.context import Context

PORTION = 100  # codes in one unit: some 10 ms, for which tills wait on SQLite
ROWS_EXAMINED = 500  # places with due work that a run starts with
TROUBLES_SHOWN = 5
SYSTEM = "system"

_log = Logger(__name__)

Portion = Callable[[], Awaitable[int]]
"""One unit of work; the answer is how many rows it has done, PORTION at most."""


@clock_job("coupons.expire", every=timedelta(seconds=5))
async def expire(context: Context, cursor: str | None) -> JobResult:
    """Make codes EXPIRED when their validity or their type's is over."""
    at = context.clock()
    dues = await context.database.read(lambda session: store.due_codes(session, at, ROWS_EXAMINED), system=True)
    return await _work([(due.tenant_id, _expiry(context, due, at)) for due in dues])


@clock_job("coupons.reservations", every=timedelta(seconds=5))
async def release(context: Context, cursor: str | None) -> JobResult:
    """Release codes of expired reservations; reservations of shared codes are deleted a day later."""
    at = context.clock()

    async def find_due(session: Session) -> tuple[list[str], list[SharedReservations]]:
        codes = await store.due_reservations(session, at, ROWS_EXAMINED)
        return codes, await store.due_shared(session, at, ROWS_EXAMINED)

    tenants, dues = await context.database.read(find_due, system=True)
    portions = [(tenant_id, _release(context, tenant_id, at)) for tenant_id in tenants]
    return await _work([*portions, *((due.tenant_id, _release_shared(context, due, at)) for due in dues)])


@clock_job("coupons.refill", every=timedelta(seconds=15))
async def refill(context: Context, cursor: str | None) -> JobResult:
    """Order codes for pools that have fewer than their schedules require."""
    at = context.clock()
    dues = await context.database.read(lambda session: store.due_schedules(session, at, ROWS_EXAMINED), system=True)
    return await _work([(schedule.tenant_id, _filling(context, schedule, at)) for schedule in dues])


@clock_job("purge.issue_keys", every=timedelta(hours=1))
async def old_issue_keys(context: Context, cursor: str | None) -> JobResult:
    """Delete the idempotency keys of issued coupons after 24 hours."""
    at = context.clock()

    async def portion() -> tuple[int, bool]:
        gone = await context.database.write(
            lambda session: purge_issue_keys(session, at=at, limit=PORTION), system=True, durable=False
        )
        return gone, gone == PORTION

    pace = Pace()
    finished = await pace.while_more(portion)
    return JobResult(pace.done, more=not finished)


async def _work(portions: Sequence[tuple[str, Portion]]) -> JobResult:
    """Process portions in turn, each with its tenant, until they are finished or the run's time is over.

    Failures are reported in the run's trouble and retried by the next run; they do not hold up the others.
    """
    pace, waiting = Pace(HALF), deque(portions)
    troubles: list[str] = []
    while waiting:
        began = pace.now()
        if pace.is_over:
            return JobResult(pace.done, more=pace.done > 0, trouble="; ".join(troubles[:TROUBLES_SHOWN]) or None)
        tenant_id, portion = waiting.popleft()
        try:
            count = await portion()
        except (LeaseLost, Unavailable):
            raise
        except Exception as error:
            _log.exception("coupon_clock.left", tenant=tenant_id)
            troubles.append(f"{tenant_id}: {type(error).__name__}")
            count = 0
        pace.done += count
        if count == PORTION:
            waiting.append((tenant_id, portion))
        await pace.rest_after(began)
    more = pace.done > 0 and len(portions) >= ROWS_EXAMINED
    return JobResult(pace.done, more=more, trouble="; ".join(troubles[:TROUBLES_SHOWN]) or None)


# --- validities -------------------------------------------------------------------------------------------------------


def _expiry(context: Context, due: Due, at: datetime) -> Portion:
    async def work(session: Session) -> int:
        ended = await store.end_codes(session, due, at, PORTION)
        # Codes in the pool and imported ones expire without events: nobody is known to hold them, and there may be a
        # million.
        held = [one for one in ended if one.is_held]
        await _log_ended(context, session, EXPIRE.log, held, at)
        news = [
            CouponExpired(one.coupon_id, one.coupon_type_id, one.valid_until, one.customer_id)
            for one in held
            if one.valid_until is not None
        ]
        await emit_all(session, news, new_id=context.new_id, at=at)
        return len(ended)

    return lambda: context.database.write(work, tenant=due.tenant_id)


# --- reservations -----------------------------------------------------------------------------------------------------


def _release(context: Context, tenant_id: str, at: datetime) -> Portion:
    async def work(session: Session) -> int:
        ended = await store.end_reservations(session, at, PORTION)
        await _log_ended(context, session, RELEASE.log, ended, at)
        return len(ended)

    return lambda: context.database.write(work, tenant=tenant_id)


def _release_shared(context: Context, due: SharedReservations, at: datetime) -> Portion:
    async def work(session: Session) -> int:
        ended = await store.end_shared(session, due, at, PORTION)
        if due.state == "HELD":
            await _log_ended(context, session, END_SHARED.log, ended, at)
        return len(ended)

    return lambda: context.database.write(work, tenant=due.tenant_id)


async def _log_ended(
    context: Context, session: Session, action: str, ended: Sequence[ExpiredItem], at: datetime
) -> None:
    logs: list[dict[str, Any]] = [
        {
            "id": context.new_id(),
            "coupon_code_id": one.coupon_id,
            "coupon_type_id": one.coupon_type_id,
            "action": action,
            "transaction_id": one.transaction_id,
            "customer_id": one.customer_id,
            "occurred_at": at,
            "created_at": at,
            "created_by": SYSTEM,
            "modified_at": at,
            "modified_by": SYSTEM,
        }
        for one in ended
    ]
    await insert_rows(session, "RedemptionLogs", logs)


# --- pools ------------------------------------------------------------------------------------------------------------


def _filling(context: Context, schedule: Schedule, at: datetime) -> Portion:
    """Return the portion that checks one pool: the count is a read, and only the order is a write."""

    async def fill() -> int:
        is_low = await context.database.read(
            lambda session: store.pool_is_low(session, schedule, at), tenant=schedule.tenant_id
        )
        await context.database.write(
            lambda session: _order(context, session, schedule, at, is_low=is_low), tenant=schedule.tenant_id
        )
        return 1

    return fill


async def _order(context: Context, session: Session, seen: Schedule, at: datetime, *, is_low: bool) -> None:
    """Order codes if needed and note the run of the schedule, unless another worker has done so already."""
    if await store.hold_schedule(session, seen.id, at) != seen:
        return
    await store.record_run(session, seen.id, at)
    if not is_low or await store.is_being_filled(session, seen.coupon_type_id):
        return
    kind = await coupon_pool.read_type(session, seen.coupon_type_id, held=True)
    if (
        kind is None
        or kind.is_generic
        or kind.status != "ACTIVE"
        or (kind.valid_to is not None and kind.valid_to <= at)
    ):
        return
    order = {"couponType_ID": kind.id, "name": "Refill", "quantity": seen.refill_quantity}
    try:
        async with session.savepoint():
            authoring = Authoring(session, user=SYSTEM, at=at, new_id=context.new_id, service=Service.ADMIN)
            await authoring.create("CouponCodeBatches", order)
            await authoring.finish()
    except Unavailable:
        raise
    except PromenadeError as refused:  # one schedule that cannot be followed must not hold up the others
        _log.warning("coupon_refill.refused", schedule=seen.id, reason=refused.message)

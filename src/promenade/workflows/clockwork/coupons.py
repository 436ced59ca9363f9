"""What time does to coupons: validities and reservations that end, pools that are filled up (data model, Coupon code).

Nothing waits for these runs: a code that is over is refused by every till, swept or not (reliability C3). Each works in
short units, and rests as long as it has worked, so that tills have the other half of the database.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog

from promenade.errors import PromenadeError, Unavailable
from promenade.events import CouponExpired
from promenade.model.declare import Service
from promenade.store import coupon_clock as store
from promenade.store import coupon_pool
from promenade.store.authored import insert_rows
from promenade.store.clockwork import LeaseLost
from promenade.store.coupon_clock import Due, Ended, Schedule, Shared
from promenade.store.outbox import emit_all
from promenade.store.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.context import Context

__all__ = ["expire", "fill_up", "release"]

PORTION = 100  # codes of one unit: some 10 ms, for which tills wait on SQLite
LOOKED_AT = 500  # places with something to do that a run begins with
RUN_SECONDS = 1.0
REST_SECONDS_MAX = 0.1
TROUBLES_SHOWN = 5
SYSTEM = "system"

_log = structlog.get_logger(__name__)

Portion = Callable[[], Awaitable[int]]
"""One unit of work; the answer is how many rows it has done, PORTION at most."""


@clock_job("coupons.expire", every=timedelta(seconds=5))
async def expire(context: Context, cursor: str | None) -> Ran:
    """Codes whose validity is over, or whose type's is, become EXPIRED."""
    at = context.clock()
    dues = await context.database.read(lambda session: store.due_codes(session, at, LOOKED_AT), system=True)
    return await _work([(due.tenant_id, _expiry(context, due, at)) for due in dues])


@clock_job("coupons.reservations", every=timedelta(seconds=5))
async def release(context: Context, cursor: str | None) -> Ran:
    """Reservations that have run out let go of their codes; those of shared codes are forgotten a day later."""
    at = context.clock()

    async def look(session: Session) -> tuple[list[str], list[Shared]]:
        codes = await store.due_reservations(session, at, LOOKED_AT)
        return codes, await store.due_shared(session, at, LOOKED_AT)

    tenants, dues = await context.database.read(look, system=True)
    portions = [(tenant_id, _release(context, tenant_id, at)) for tenant_id in tenants]
    return await _work([*portions, *((due.tenant_id, _release_shared(context, due, at)) for due in dues)])


@clock_job("coupons.refill", every=timedelta(seconds=15))
async def fill_up(context: Context, cursor: str | None) -> Ran:
    """Order codes for the pools that have fewer than their schedules want."""
    at = context.clock()
    dues = await context.database.read(lambda session: store.due_schedules(session, at, LOOKED_AT), system=True)
    return await _work([(schedule.tenant_id, _filling(context, schedule, at)) for schedule in dues])


async def _work(portions: Sequence[tuple[str, Portion]]) -> Ran:
    """Do a portion of each in turn, as long as there is one and a run may take; each with the tenant whose it is.

    What cannot be done is named in the trouble of the run and tried again by the next one: others do not wait for it.
    """
    now = asyncio.get_running_loop().time
    waiting, done, end = deque(portions), 0, now() + RUN_SECONDS
    troubles: list[str] = []
    while waiting:
        began = now()
        if began >= end:
            return Ran(done, more=done > 0, trouble="; ".join(troubles[:TROUBLES_SHOWN]) or None)
        tenant_id, portion = waiting.popleft()
        try:
            count = await portion()
        except (LeaseLost, Unavailable):
            raise
        except Exception as error:
            _log.exception("coupon_clock.left", tenant=tenant_id)
            troubles.append(f"{tenant_id}: {type(error).__name__}")
            count = 0
        done += count
        if count == PORTION:
            waiting.append((tenant_id, portion))
        await asyncio.sleep(min(now() - began, REST_SECONDS_MAX))
    more = done > 0 and len(portions) >= LOOKED_AT
    return Ran(done, more=more, trouble="; ".join(troubles[:TROUBLES_SHOWN]) or None)


# --- validities -------------------------------------------------------------------------------------------------------


def _expiry(context: Context, due: Due, at: datetime) -> Portion:
    async def work(session: Session) -> int:
        ended = await store.end_codes(session, due, at, PORTION)
        # Codes in the pool go silently: nobody holds them, and they may be a million.
        held = [one for one in ended if one.is_held]
        await _write_down(context, session, "EXPIRED", held, at)
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
        await _write_down(context, session, "CANCELLED", ended, at)
        return len(ended)

    return lambda: context.database.write(work, tenant=tenant_id)


def _release_shared(context: Context, due: Shared, at: datetime) -> Portion:
    async def work(session: Session) -> int:
        ended = await store.end_shared(session, due, at, PORTION)
        if due.state == "HELD":
            await _write_down(context, session, "CANCELLED", ended, at)
        return len(ended)

    return lambda: context.database.write(work, tenant=due.tenant_id)


async def _write_down(context: Context, session: Session, action: str, ended: Sequence[Ended], at: datetime) -> None:
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
    """Looks at one pool: it is counted beside the tills, and only the order is made where they write."""

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
    """Order codes if they are wanted, and note that the schedule was looked at, unless somebody was quicker."""
    if await store.hold_schedule(session, seen.id, at) != seen:
        return
    await store.note_run(session, seen.id, at)
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
    except PromenadeError as refused:  # one schedule that cannot be followed must not keep the others waiting
        _log.warning("coupon_refill.refused", schedule=seen.id, reason=refused.message)

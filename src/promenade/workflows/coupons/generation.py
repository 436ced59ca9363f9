"""Batches of coupon codes, ordered by hand: small ones are made at once, large ones by a worker in portions.

A portion, its count and its batch's status are written in one unit of work that locks the batch's row. So no code is
made twice or missed if a worker is killed, and two workers never work on the same batch (data model,
CouponCodeBatches).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from promenade.errors import Conflict, Invalid, NotFound, Unavailable
from promenade.events import CouponBatchCompleted, CouponBatchFailed
from promenade.log import Logger
from promenade.store.authoring.statements import read_rows
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.coupons import batches as coupon_batches
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.batches import Batch
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit
from promenade.workflows.authoring import Authoring
from promenade.workflows.context import Context
from promenade.workflows.coupons.codes import Draw, exhausted, make_codes, refuse_too_many
from promenade.workflows.coupons.issuing import IssuedCoupon, Order, check_issuable, issue_one

CODES_MAX = 1_000_000  # per order
IMMEDIATE_MAX = 1000  # made while the caller waits, about 0.1 seconds
# Codes per commit. On SQLite tills wait for that, some 3 ms; on PostgreSQL the round trip takes longer.
PORTIONS = {"sqlite": 100, "postgresql": 250}
BATCHES_EXAMINED = 16  # a worker takes the first of these batches that no other worker holds

_log = Logger(__name__)


# --- ordered by hand --------------------------------------------------------------------------------------------------


async def generate_codes(
    authoring: Authoring, session: Session, coupon_type_id: str, number: int | None, *, at: datetime, draw: Draw
) -> str:
    """Order codes for the pool of a coupon type; return the batch's ID.

    Up to 1 000 are made at once, unless the unit has already written much; then the batch is COMPLETED, or FAILED if
    the type's configuration allows too few codes. More are QUEUED for the worker. Raises Invalid (OUT_OF_RANGE with
    target ``numberOfCodes``, INDIVIDUAL_ONLY) and NotFound. Specification, Admin Service, Bound actions.
    """
    if number is None or not 1 <= number <= CODES_MAX:
        message = f"numberOfCodes must be from 1 to {CODES_MAX}."
        raise Invalid("OUT_OF_RANGE", message, "numberOfCodes")
    kinds = await read_rows(session, "CouponTypes", "id", (coupon_type_id,), lock="share")
    if not kinds:
        raise _no_type()
    batch_id = await authoring.create("CouponCodeBatches", {"couponType_ID": coupon_type_id, "quantity": number})
    authoring.record("CouponTypes", kinds[0], "generateCodes")
    if number <= IMMEDIATE_MAX and authoring.makes_room(number):
        await make_portion(session, batch_id, number, at=at, new_id=authoring.new_id, draw=draw)
    return batch_id


async def issue_coupon(
    authoring: Authoring, session: Session, coupon_type_id: str, customer_id: str | None, *, at: datetime, draw: Draw
) -> IssuedCoupon:
    """Issue one coupon of a type by hand, to a customer or to its bearer.

    Raises NotFound, Invalid (INVALID_CHARACTER, TOO_MANY_ROWS) and Conflict, see `check_issuable` and `issue_one`.
    """
    if customer_id is not None and not customer_id.isprintable():
        message = "customerId holds a character that cannot be stored."
        raise Invalid("INVALID_CHARACTER", message, "customerId")
    if not authoring.makes_room(3):
        raise Invalid("TOO_MANY_ROWS", "One change set cannot issue that many coupons.")
    kind = await coupon_pool.read_type(session, coupon_type_id, held=True)
    if kind is None:
        raise _no_type()
    check_issuable(kind, at)
    order = Order("MANUAL", (customer_id or None,), user=authoring.user)
    coupon = await issue_one(session, kind, order, at=at, new_id=authoring.new_id, draw=draw)
    (row,) = await read_rows(session, "CouponTypes", "id", (coupon_type_id,))
    authoring.record("CouponTypes", row, "issueCoupon")
    return coupon


def _no_type() -> NotFound:
    return NotFound("NOT_FOUND", "There is no such coupon type.")


# --- made -------------------------------------------------------------------------------------------------------------


async def process_batch(context: Context, draw: Draw) -> bool:
    """Make the next portion of a waiting batch of any tenant; False: none waits, or other workers hold all.

    A batch whose portion cannot be made, for whatever reason, ends FAILED. Raises Unavailable if the database is
    unreachable.
    """
    batches = await context.database.read(
        lambda session: coupon_batches.waiting(session, BATCHES_EXAMINED), system=True
    )
    for tenant_id, batch_id in batches:
        try:
            if await _process_next(context, tenant_id, batch_id, draw):
                return True
        except Unavailable:
            raise
        except Exception:
            _log.exception("coupon_batch.failed", batch=batch_id)
            await _fail_batch(
                context, tenant_id, batch_id, "The codes could not be generated; the service's log says why."
            )
            return True
    return False


async def _process_next(context: Context, tenant_id: str, batch_id: str, draw: Draw) -> bool:
    async def work(session: Session) -> bool:
        at = context.clock()
        size = PORTIONS[session.dialect]
        return await make_portion(session, batch_id, size, at=at, new_id=context.new_id, draw=draw)

    # Codes lost in a power failure are made again; issuing one of them waits for the disk.
    return await context.database.write(work, tenant=tenant_id, durable=False)


async def make_portion(
    session: Session, batch_id: str, size: int, *, at: datetime, new_id: Callable[[], str], draw: Draw
) -> bool:
    """Make up to ``size`` codes of a batch; False: it is finished or deleted, or another worker holds it."""
    batch = await coupon_batches.hold(session, batch_id)
    if batch is None:
        return False
    portion = min(size, batch.quantity - batch.made)
    try:
        async with session.savepoint():  # a portion that runs out of codes is rolled back, earlier portions stay
            await _add(session, batch, portion, at, new_id, draw)
    except Conflict as conflict:
        await _end_failed(session, batch, conflict.message, at, new_id)
        return True
    made = batch.made + portion
    is_done = made >= batch.quantity
    await coupon_batches.advance(session, batch, made=made, status="COMPLETED" if is_done else "RUNNING", at=at)
    if is_done:
        done = CouponBatchCompleted(batch.id, batch.coupon_type_id, batch.quantity, made)
        await emit(session, done, event_id=new_id(), at=at)
    return True


async def _add(
    session: Session, batch: Batch, portion: int, at: datetime, new_id: Callable[[], str], draw: Draw
) -> None:
    kind = await coupon_pool.read_type(session, batch.coupon_type_id)
    if kind is None or kind.is_generic:
        raise Conflict("INDIVIDUAL_ONLY", "Codes can no longer be generated for this coupon type.")
    refuse_too_many(kind, batch.quantity)
    columns = {
        "coupon_type_id": kind.id,
        "batch_id": batch.id,
        "status": "ACTIVE",
        "issuance_channel": "BATCH",
        "created_at": at,
        "created_by": batch.user,
        "modified_at": at,
        "modified_by": batch.user,
    }
    made = await make_codes(session, kind, [columns] * portion, new_id=new_id, draw=draw)
    if len(made) < portion:
        raise exhausted(kind)


async def _fail_batch(context: Context, tenant_id: str, batch_id: str, reason: str) -> None:
    async def work(session: Session) -> None:
        batch = await coupon_batches.hold(session, batch_id)
        if batch is not None:
            await _end_failed(session, batch, reason, context.clock(), context.new_id)

    await context.database.write(work, tenant=tenant_id)


async def _end_failed(session: Session, batch: Batch, reason: str, at: datetime, new_id: Callable[[], str]) -> None:
    """End the batch FAILED. It has no column for the reason, so the event and the audit trail carry it."""
    await coupon_batches.advance(session, batch, made=batch.made, status="FAILED", at=at)
    failed = CouponBatchFailed(batch.id, batch.coupon_type_id, batch.quantity, batch.made, reason)
    await emit(session, failed, event_id=new_id(), at=at)
    subject = Subject("CouponCodeBatches", batch.id, batch.name or batch.id)
    await write_trail(session, [trail_entry(new_id(), at, "system", "FAIL", subject, note=reason)])

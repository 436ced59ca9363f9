"""Put a pseudonym in the place of a customer's ID, in portions; see `workflows.clockwork.erasures`.

Rows are found by the customer's ID and so not found again once they are changed: a portion needs no place to go on
from. Every portion leaves sums as they were: points go with the bookings that they are the sum of, counts of use with
the sales that they count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, exists, false, or_, select, update

from promenade.store.access.customers import walked_tables
from promenade.store.driver import schema
from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

LOGS = table("CalculationLogs")
CLAIMS = table("coupon_claims")
POINTS = table("LoyaltyTransactions")
CODES = table("CouponCodes")
REDEMPTIONS = table("RedemptionLogs")
RESERVATIONS = table("coupon_reservations")
ADVICE = table("advice_open")
_BALANCES = table("loyalty_balances")
_PARTS = table("calculation_log_parts")
_JOBS = table("side_effect_jobs")
_ITERATIONS = table("iterations")
_EVENTS = table("outbox_events")
_DELIVERIES = table("NotificationLogs")
_QUEUE = table("webhook_queue")
_AUDIT = table("AuditLogs")
_UPLOADS = table("sync_uploads")
_FORECASTS = table("forecast_jobs")

PROMOTION_USES = table("promotion_usage").c["count"]
COUPON_USES = table("coupon_usage").c["count"]
FORECAST_SALES = table("forecast_customers").c["sales"]


# ---- rows that name the customer -------------------------------------------------------------------------------------


async def pick(
    session: Session, rows: Table, customer_id: str, limit: int, *conditions: ColumnElement[bool]
) -> Sequence[Any]:
    """Return up to ``limit`` rows of the customer that meet the conditions, in any order: an order by the key would
    lead the planner to the key, and past everybody's rows.
    """
    return await session.execute(select(rows).where(rows.c.customer_id == customer_id, *conditions).limit(limit))


async def rename(session: Session, rows: Table, picked: Sequence[Any], new: str, **values: Any) -> int:
    """Write the pseudonym into these rows, and ``values``."""
    if not picked:
        return 0
    key = _key(rows)
    keys = [tuple(row._mapping[column.name] for column in key) for row in picked]
    return await session.rowcount(update(rows).where(one_of(key, keys)).values(customer_id=new, **values))


def _key(rows: Table) -> list[Any]:
    return [column for column in rows.primary_key.columns if column.name != "tenant_id"]


def delivered(rows: Table, *moments: str) -> ColumnElement[bool]:
    """Return the condition that no event of these moments of a row waits to be delivered: retries send the same."""
    sent = exists().where(
        _DELIVERIES.c.tenant_id == _EVENTS.c.tenant_id,
        _DELIVERIES.c.event_id == _EVENTS.c.id,
        _QUEUE.c.tenant_id == _DELIVERIES.c.tenant_id,
        _QUEUE.c.delivery_id == _DELIVERIES.c.id,
    )
    published = exists().where(_QUEUE.c.tenant_id == _EVENTS.c.tenant_id, _QUEUE.c.delivery_id == _EVENTS.c.id)
    waits = or_(_EVENTS.c.dispatched_at.is_(None), sent, published)
    of_tenant = _EVENTS.c.tenant_id == rows.c.tenant_id
    # One of them each: for a list of columns SQLite would look at all events.
    return and_(*(~exists().where(of_tenant, _EVENTS.c.created_at == rows.c[name], waits) for name in moments))


def settled(before: datetime) -> ColumnElement[bool]:
    """Return the condition that nobody works on a sale any more: tills, the worker, reports."""
    sale = ("tenant_id", "origin", "transaction_id")
    job = [_JOBS.c[name] == LOGS.c[name] for name in (*sale, "transaction_counter")]
    open_ = or_(_JOBS.c.status.in_(("PENDING", "RUNNING")), _JOBS.c.reported == false())
    priced = [_ITERATIONS.c[name] == LOGS.c[name] for name in sale]
    return ~or_(
        exists().where(*job, open_),
        exists().where(*priced, _ITERATIONS.c.created_at >= before, _ITERATIONS.c.transaction_counter > 0),
    )


async def remains(session: Session, customer_id: str) -> bool:
    """Return whether a row still names the customer, but for forecasts, which end soon."""
    for name in walked_tables():
        rows = schema.metadata.tables[name]
        if await session.execute(select(rows.c.customer_id).where(rows.c.customer_id == customer_id).limit(1)):
            return True
    return False


# ---- sums ------------------------------------------------------------------------------------------------------------


async def read_applied(session: Session, log_ids: Sequence[str]) -> Sequence[Any]:
    """Return ID, status and packed promotions of logs."""
    joined = LOGS.join(_PARTS, (_PARTS.c.tenant_id == LOGS.c.tenant_id) & (_PARTS.c.log_id == LOGS.c.id))
    columns = select(LOGS.c.id, LOGS.c.status, _PARTS.c.promotions).select_from(joined)
    return await session.execute(columns.where(LOGS.c.id.in_(list(log_ids))))


async def move_uses(
    session: Session, counted: ColumnElement[Any], uses: Mapping[str, int] | None, old: str, new: str, limit: int = 0
) -> int:
    """Move counts from one customer to another: as many of each key as ``uses`` says, and no more than there are.

    None: all of up to ``limit`` keys, whose rows are then deleted. Returns how many rows the old customer had.
    """
    rows: Table = counted.table
    (owner,) = (column for column in _key(rows) if column.name != "customer_id")
    chosen = select(owner.label("owner"), counted.label("held")).where(rows.c.customer_id == old)
    chosen = chosen.limit(limit) if uses is None else chosen.where(owner.in_(list(uses)))
    held = await session.execute(chosen.order_by(owner).with_for_update())
    moved = [(row.owner, row.held if uses is None else min(row.held, uses[row.owner])) for row in held]
    if not moved:
        return 0
    taking = update(rows).where(owner == bindparam("of_owner"), rows.c.customer_id == old)
    await session.execute_many(
        taking.values({counted: counted - bindparam("by", type_=counted.type)}),
        [{"of_owner": key, "by": by} for key, by in moved],
    )
    giving = upsert(session.dialect, rows)
    added = {counted.name: counted + giving.excluded[counted.name]}
    giving = giving.on_conflict_do_update(index_elements=[rows.c.tenant_id, *_key(rows)], set_=added)
    given = [{owner.name: key, "customer_id": new, counted.name: by} for key, by in moved]
    await session.execute_many(giving, given)
    if uses is None:
        emptied = owner.in_([key for key, _ in moved]), rows.c.customer_id == old, counted == 0
        await session.rowcount(delete(rows).where(*emptied))
    return len(moved)


async def running_forecasts(session: Session) -> list[str]:
    """Return the forecasts that have not ended, which are few."""
    return [row.forecast_id for row in await session.execute(select(_FORECASTS.c.forecast_id))]


async def drop_forecast_customers(session: Session, forecast_ids: Sequence[str], customer_id: str) -> None:
    """Delete the emptied rows of a customer in forecasts."""
    rows = FORECAST_SALES.table
    own = rows.c.forecast_id.in_(list(forecast_ids)), rows.c.customer_id == customer_id
    await session.rowcount(delete(rows).where(*own, FORECAST_SALES == 0))


async def move_points(session: Session, points: int | None, old: str, new: str) -> int:
    """Move points from one customer's balance to another's; None: all that there are, and delete the old balance.

    Returns how many balances the old customer had.
    """
    found = await session.execute(select(_BALANCES).where(_BALANCES.c.customer_id == old).with_for_update())
    if not found:
        return 0
    held = found[0]
    moved = held.points if points is None else points
    if points is None:
        await session.rowcount(delete(_BALANCES).where(_BALANCES.c.customer_id == old))
    else:
        taking = update(_BALANCES).where(_BALANCES.c.customer_id == old)
        await session.rowcount(taking.values(points=_BALANCES.c.points - moved))
    giving = upsert(session.dialect, _BALANCES)
    giving = giving.on_conflict_do_update(
        index_elements=[_BALANCES.c.tenant_id, _BALANCES.c.customer_id],
        set_={"points": _BALANCES.c.points + giving.excluded.points},
    )
    await session.rowcount(giving, {"customer_id": new, "points": moved, "updated_at": held.updated_at})
    return 1


# ---- documents that hold the ID --------------------------------------------------------------------------------------


async def read_jobs(session: Session, keys: Collection[tuple[str, str, int]]) -> Sequence[Any]:
    """Return the side effects of iterations (origin, transaction, counter), locked."""
    key = (_JOBS.c.origin, _JOBS.c.transaction_id, _JOBS.c.transaction_counter)
    columns = select(_JOBS.c.id, _JOBS.c.status, _JOBS.c.payload, _JOBS.c.post_purchase_coupons)
    return await session.execute(columns.where(one_of(key, sorted(keys))).order_by(*key).with_for_update())


async def write_job(session: Session, job_id: str, payload: bytes, coupons: Any) -> None:
    """Store what a job has done under another customer."""
    changed = update(_JOBS).where(_JOBS.c.id == job_id)
    await session.rowcount(changed.values(payload=payload, post_purchase_coupons=coupons))


async def read_uploads(session: Session, kind: str, subject_ids: Sequence[str]) -> Sequence[Any]:
    """Return what waits in a store to be sent about these logs, locked."""
    wanted = _UPLOADS.c.kind == kind, _UPLOADS.c.subject_id.in_(list(subject_ids)), _UPLOADS.c.payload.is_not(None)
    columns = select(_UPLOADS.c.number, _UPLOADS.c.payload).where(*wanted)
    return await session.execute(columns.order_by(_UPLOADS.c.number).with_for_update())


async def write_upload(session: Session, number: int, payload: bytes) -> None:
    """Store what will be sent."""
    await session.rowcount(update(_UPLOADS).where(_UPLOADS.c.number == number).values(payload=payload))


async def rename_in_events(session: Session, moments: Collection[datetime], old: str, new: str) -> int:
    """Replace the customer in events of these moments. All else stays as it is, to the byte.

    What their receivers have answered may repeat the ID, and goes.
    """
    if not moments:
        return 0
    columns = select(_EVENTS.c.id, _EVENTS.c.payload)
    found = await session.execute(columns.where(_EVENTS.c.created_at.in_(sorted(moments))))
    before, after = (b'"customerId":' + msgspec.json.encode(one) for one in (old, new))
    changed = [
        {"of_id": row.id, "new_payload": bytes(row.payload).replace(before, after)}
        for row in found
        if before in bytes(row.payload)
    ]
    if changed:
        replacing = update(_EVENTS).where(_EVENTS.c.id == bindparam("of_id"))
        await session.execute_many(replacing.values(payload=bindparam("new_payload")), changed)
        answered = _DELIVERIES.c.event_id.in_([one["of_id"] for one in changed])
        await session.rowcount(update(_DELIVERIES).where(answered).values(response_body=None))
    return len(changed)


async def rename_in_trail(session: Session, code_ids: Sequence[str], old: str, new: str) -> int:
    """Replace the customer in what the audit trail tells of coupon codes, and drop what their issuers have added.

    Codes are secret, so an entry may name one by its customer.
    """
    if not code_ids:
        return 0
    columns = select(_AUDIT.c.id, _AUDIT.c.entity_name, _AUDIT.c.owner_name, _AUDIT.c.changes)
    of_codes = _AUDIT.c.entity_type == "CouponCodes", _AUDIT.c.entity_id.in_(list(code_ids))
    found = await session.execute(columns.where(*of_codes))
    changed: list[dict[str, Any]] = []
    for row in found:
        names = [_named_anew(name, old, new) for name in (row.entity_name, row.owner_name)]
        told = (*names, _told_anew(row.changes, old, new))
        if told != (row.entity_name, row.owner_name, row.changes):
            changed.append({"of_id": row.id, "new_name": told[0], "new_owner": told[1], "new_changes": told[2]})
    if changed:
        replacing = update(_AUDIT).where(_AUDIT.c.id == bindparam("of_id"))
        given: dict[str, Any] = {
            "entity_name": bindparam("new_name"),
            "owner_name": bindparam("new_owner"),
            "changes": bindparam("new_changes"),
        }
        await session.execute_many(replacing.values(given), changed)
    return len(changed)


def _named_anew(name: str, old: str, new: str) -> str:
    """Return the name of a coupon code, which is what it refers to, joined by commas."""
    return f", {name}, ".replace(f", {old}, ", f", {new}, ")[2:-2]


def _told_anew(changes: str | None, old: str, new: str) -> str | None:
    """Return the changes of a coupon code with another customer, and without what its issuer has added."""
    if changes is None:
        return None
    told = msgspec.json.decode(changes)
    for one in told:
        for side in ("from", "to"):
            if one.get("property") == "customerId" and one.get(side) == old:
                one[side] = new
            elif one.get("property") == "issueMetadata" and side in one:
                one[side] = None
    return msgspec.json.encode(told).decode()

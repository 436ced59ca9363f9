"""The cloud's record of stores that price locally: LocalDeployments, and SyncHistory of their synchronizations."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import and_, case, delete, func, insert, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Look, Session
from promenade.store.driver.upsert import upsert

_DEPLOYMENTS = table("LocalDeployments")
_HISTORY = table("SyncHistory")
_POS_GROUPS = table("PosGroups")

RUNNING_HOURS = timedelta(hours=6)
"""No exchange goes on for longer than that."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A store as the cloud knows it. ``id`` is the origin of its sales."""

    id: str
    store_code: str
    name: str | None
    status: str
    instance_id: str | None
    pos_group_id: str | None
    program_version: str | None
    last_heartbeat_at: datetime | None
    last_sync_at: datetime | None
    pending_transactions: int


@dataclass(frozen=True, slots=True)
class Registration:
    """The data a store sends when it registers; ``pos_group_id`` is the cloud's ID."""

    store_code: str
    name: str | None
    pos_group_id: str | None
    program_version: str


@cache
def _found() -> Kept:
    c = _DEPLOYMENTS.c
    columns = (
        c.id,
        c.store_code,
        c.name,
        c.status,
        c.instance_id,
        c.pos_group_id,
        c.program_version,
        c.last_heartbeat_at,
        c.last_sync_at,
        c.pending_transactions,
    )
    return Kept(select(*columns).where(c.id == parameter("key", c.id.type)))


async def find_deployment(session: Session, deployment_id: str) -> Deployment | None:
    """Return the tenant's store with this ID, or None."""
    rows = await session.execute(_found(), {"key": deployment_id})
    return Deployment(*tuple(rows[0])) if rows else None


@hot_statement(
    "deployment", postgresql="SELECT id FROM local_deployments WHERE tenant_id = $1::varchar AND id = $2::varchar"
)
def _deployment(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT id FROM local_deployments WHERE tenant_id = ? AND id = ?", params).fetchall()


async def is_deployment(look: Look, tenant_id: str, deployment_id: str) -> bool:
    """Return whether the tenant has this store, by one key lookup."""
    return bool(await look("deployment", (tenant_id, deployment_id)))


async def has_pos_group(session: Session) -> bool:
    """Return whether the tenant has any active POS group."""
    return bool(await session.execute(select(_POS_GROUPS.c.id).where(_POS_GROUPS.c.is_active.is_(True)).limit(1)))


async def find_pos_group(session: Session, code: str) -> str | None:
    """Return the ID of the tenant's POS group with this code, or None."""
    rows = await session.execute(select(_POS_GROUPS.c.id).where(_POS_GROUPS.c.code == code))
    return str(rows[0].id) if rows else None


async def register(
    session: Session, store: Registration, *, deployment_id: str, instance_id: str, at: datetime, by: str
) -> tuple[str, str]:
    """Insert a store, or update it if its code is known; return its IDs.

    The IDs passed in are for a new store. Two concurrent registrations of one code get the same IDs.
    """
    columns = {
        "name": store.name,
        "pos_group_id": store.pos_group_id,
        "program_version": store.program_version,
        "status": "ONLINE",
        "last_heartbeat_at": at,
        "modified_at": at,
        "modified_by": by,
    }
    row = {
        "id": deployment_id,
        "store_code": store.store_code,
        "instance_id": instance_id,
        "pending_transactions": 0,
        "created_at": at,
        "created_by": by,
        **columns,
    }
    known = {**columns, "version": _DEPLOYMENTS.c.version + 1}
    known["instance_id"] = func.coalesce(_DEPLOYMENTS.c.instance_id, instance_id)
    adding = upsert(session.dialect, _DEPLOYMENTS).on_conflict_do_update(
        index_elements=[_DEPLOYMENTS.c.tenant_id, _DEPLOYMENTS.c.store_code], set_=known
    )
    await session.rowcount(adding, row)
    c = _DEPLOYMENTS.c
    rows = await session.execute(select(c.id, c.instance_id).where(c.store_code == store.store_code))
    return str(rows[0].id), str(rows[0].instance_id)


async def note_heartbeat(session: Session, deployment_id: str, version: str, pending: int, at: datetime) -> bool:
    """Record a heartbeat of a store; return whether the tenant has the store."""
    values = {"program_version": version, "pending_transactions": pending, "status": "ONLINE", "last_heartbeat_at": at}
    return await _changed(session, deployment_id, at, **values)


@dataclass(frozen=True, slots=True)
class Spoken:
    """Who has spoken for a store: the runs as text, how often some were fenced off, and when last."""

    runs: str | None = None
    epoch: int = 0
    cloned_at: datetime | None = None


async def read_spoken(session: Session, deployment_id: str, *, lock: bool = False) -> Spoken:
    """Return who has spoken for the store; ``lock``: until the end of the unit of work nobody else does."""
    c = _DEPLOYMENTS.c
    statement = select(c.runs, c.epoch, c.cloned_at).where(c.id == deployment_id)
    rows = await session.execute(statement.with_for_update() if lock and session.dialect == "postgresql" else statement)
    return Spoken(*tuple(rows[0])) if rows else Spoken()


async def write_spoken(session: Session, deployment_id: str, spoken: Spoken) -> None:
    """Record who has spoken for the store."""
    values = {"runs": spoken.runs, "epoch": spoken.epoch, "cloned_at": spoken.cloned_at}
    await session.rowcount(update(_DEPLOYMENTS).where(_DEPLOYMENTS.c.id == deployment_id).values(**values))


async def note_uploaded(session: Session, deployment_id: str, count: int, at: datetime) -> None:
    """Record at once that the store has ``count`` sales less to upload; its next heartbeat tells the exact number."""
    left = _DEPLOYMENTS.c.pending_transactions - count
    await _changed(session, deployment_id, at, pending_transactions=case((left < 0, 0), else_=left))


async def note_sync(session: Session, deployment_id: str, at: datetime) -> bool:
    """Record that a store is fully synchronized; return whether the tenant has the store."""
    return await _changed(session, deployment_id, at, last_sync_at=at)


async def _changed(session: Session, deployment_id: str, at: datetime, **values: Any) -> bool:
    changing = update(_DEPLOYMENTS).where(_DEPLOYMENTS.c.id == deployment_id)
    changing = changing.values(**values, modified_at=at, version=_DEPLOYMENTS.c.version + 1)
    return bool(await session.rowcount(changing))


async def count_stores(session: Session) -> int:
    """Count the tenant's registered stores."""
    ((count,),) = await session.execute(select(func.count()).select_from(_DEPLOYMENTS))
    return int(count)


async def mark_offline(session: Session, *, since: datetime, ahead: datetime, at: datetime) -> int:
    """Set stores without a heartbeat since ``since`` to OFFLINE and return how many; needs a system session.

    A heartbeat later than ``ahead`` comes from a clock that has been set back since; it is ignored.
    """
    heard = _DEPLOYMENTS.c.last_heartbeat_at
    silent = or_(heard.is_(None), heard < since, heard > ahead)
    going = update(_DEPLOYMENTS).where(_DEPLOYMENTS.c.status == "ONLINE", silent)
    return await session.rowcount(going.values(status="OFFLINE", modified_at=at, version=_DEPLOYMENTS.c.version + 1))


# --- SyncHistory ------------------------------------------------------------------------------------------------------


async def add_exchange(session: Session, row: dict[str, Any]) -> None:
    """Insert a row of SyncHistory."""
    await session.rowcount(insert(_HISTORY), row)


async def find_running(session: Session, deployment_id: str, direction: str, since: datetime) -> str | None:
    """Return the ID of a store's exchange that began after ``since`` and has not ended, or None."""
    c = _HISTORY.c
    running = and_(c.deployment_id == deployment_id, c.started_at >= since)
    running = and_(running, c.direction == direction, c.status == "RUNNING")
    rows = await session.execute(select(c.id).where(running).order_by(c.started_at.desc()).limit(1))
    return str(rows[0].id) if rows else None


async def update_exchange(
    session: Session,
    exchange_id: str,
    *,
    status: str,
    at: datetime,
    completed_at: datetime | None,
    promotions: int = 0,
    message: str | None = None,
) -> None:
    """Update or end an exchange; ``promotions`` is added to the number transferred so far."""
    c = _HISTORY.c
    changing = update(_HISTORY).where(c.id == exchange_id)
    values: dict[str, Any] = {"status": status, "completed_at": completed_at, "message": message, "modified_at": at}
    await session.rowcount(changing.values(**values, promotions=c.promotions + promotions, version=c.version + 1))


async def deployment_ids(session: Session) -> list[str]:
    """Return the IDs of all stores of the tenant."""
    return [row.id for row in await session.execute(select(_DEPLOYMENTS.c.id).order_by(_DEPLOYMENTS.c.id))]


async def fail_stale_exchanges(session: Session, stores: Sequence[str], *, since: datetime, at: datetime) -> None:
    """Set running exchanges of stores that have not been updated since ``since`` to FAILED.

    Only those of the last hours are checked: there are thousands a day.
    """
    c = _HISTORY.c
    recent = and_(c.deployment_id.in_(stores), c.started_at >= since - RUNNING_HOURS)
    left = update(_HISTORY).where(recent, c.status == "RUNNING", c.modified_at < since)
    message = "The store did not continue the exchange."
    await session.rowcount(left.values(status="FAILED", completed_at=at, message=message, version=c.version + 1))


async def purge_history(session: Session, stores: Sequence[str], *, before: datetime, limit: int) -> int:
    """Delete up to ``limit`` of the stores' exchanges that began before ``before``; return how many."""
    c = _HISTORY.c
    old = select(c.id).where(c.deployment_id.in_(stores), c.started_at < before).limit(limit)
    ids = [row.id for row in await session.execute(old)]
    if ids:
        await session.rowcount(delete(_HISTORY).where(c.id.in_(ids)))
    return len(ids)

"""The cloud's record of stores that price on their own: LocalDeployments, and SyncHistory of what was exchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import and_, delete, func, insert, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.hot import hot_statement
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Look, Session
from promenade.store.upsert import upsert

__all__ = [
    "RUNNING_HOURS",
    "Deployment",
    "Registration",
    "add_exchange",
    "count_online",
    "deployment_ids",
    "find_deployment",
    "find_pos_group",
    "find_running",
    "give_up_exchanges",
    "is_deployment",
    "let_go_offline",
    "note_heartbeat",
    "note_sync",
    "purge_history",
    "register",
    "update_exchange",
]

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
    """What a store says of itself when it registers; ``pos_group_id`` as the cloud has it."""

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
    """The tenant's store of this ID; None: it has none."""
    rows = await session.execute(_found(), {"key": deployment_id})
    return Deployment(*tuple(rows[0])) if rows else None


@hot_statement(
    "deployment", postgresql="SELECT id FROM local_deployments WHERE tenant_id = $1::varchar AND id = $2::varchar"
)
def _deployment(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT id FROM local_deployments WHERE tenant_id = ? AND id = ?", params).fetchall()


async def is_deployment(look: Look, tenant_id: str, deployment_id: str) -> bool:
    """Whether a tenant has such a store: one look into the key."""
    return bool(await look("deployment", (tenant_id, deployment_id)))


async def find_pos_group(session: Session, code: str) -> str | None:
    """The ID of the tenant's POS group of this code; None: there is none."""
    rows = await session.execute(select(_POS_GROUPS.c.id).where(_POS_GROUPS.c.code == code))
    return str(rows[0].id) if rows else None


async def register(
    session: Session, store: Registration, *, deployment_id: str, instance_id: str, at: datetime, by: str
) -> tuple[str, str]:
    """Add a store, or bring it up to date if its code is known; the IDs that it has from now on.

    Those given are for a new store. Two that register one code at once get the same.
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
    """A store was heard of; whether the tenant has it."""
    values = {"program_version": version, "pending_transactions": pending, "status": "ONLINE", "last_heartbeat_at": at}
    return await _changed(session, deployment_id, at, **values)


async def note_sync(session: Session, deployment_id: str, at: datetime) -> bool:
    """A store has been told all there was; whether the tenant has it."""
    return await _changed(session, deployment_id, at, last_sync_at=at)


async def _changed(session: Session, deployment_id: str, at: datetime, **values: Any) -> bool:
    changing = update(_DEPLOYMENTS).where(_DEPLOYMENTS.c.id == deployment_id)
    changing = changing.values(**values, modified_at=at, version=_DEPLOYMENTS.c.version + 1)
    return bool(await session.rowcount(changing))


async def count_online(session: Session) -> int:
    """How many of the tenant's stores are heard of."""
    ((count,),) = await session.execute(
        select(func.count()).select_from(_DEPLOYMENTS).where(_DEPLOYMENTS.c.status == "ONLINE")
    )
    return int(count)


async def let_go_offline(session: Session, *, since: datetime, ahead: datetime, at: datetime) -> int:
    """Stores not heard of ``since`` then are OFFLINE; how many. Needs a system session.

    One heard of later than ``ahead`` was so by a clock that has been set back: that says nothing.
    """
    heard = _DEPLOYMENTS.c.last_heartbeat_at
    silent = or_(heard.is_(None), heard < since, heard > ahead)
    going = update(_DEPLOYMENTS).where(_DEPLOYMENTS.c.status == "ONLINE", silent)
    return await session.rowcount(going.values(status="OFFLINE", modified_at=at, version=_DEPLOYMENTS.c.version + 1))


# --- SyncHistory ------------------------------------------------------------------------------------------------------


async def add_exchange(session: Session, row: dict[str, Any]) -> None:
    """Write a row of SyncHistory."""
    await session.rowcount(insert(_HISTORY), row)


async def find_running(session: Session, deployment_id: str, direction: str, since: datetime) -> str | None:
    """The exchange of a store that has begun ``since`` then and not ended; None: there is none."""
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
    """Go on with an exchange, or end it; ``promotions`` are added to what it has moved so far."""
    c = _HISTORY.c
    changing = update(_HISTORY).where(c.id == exchange_id)
    values: dict[str, Any] = {"status": status, "completed_at": completed_at, "message": message, "modified_at": at}
    await session.rowcount(changing.values(**values, promotions=c.promotions + promotions, version=c.version + 1))


async def deployment_ids(session: Session) -> list[str]:
    """All stores of the tenant."""
    return [row.id for row in await session.execute(select(_DEPLOYMENTS.c.id).order_by(_DEPLOYMENTS.c.id))]


async def give_up_exchanges(session: Session, stores: Sequence[str], *, since: datetime, at: datetime) -> None:
    """Exchanges of stores that have not ended, and that nobody has gone on with ``since`` then, have FAILED.

    Of the last hours: there are thousands a day.
    """
    c = _HISTORY.c
    recent = and_(c.deployment_id.in_(stores), c.started_at >= since - RUNNING_HOURS)
    left = update(_HISTORY).where(recent, c.status == "RUNNING", c.modified_at < since)
    message = "The store did not go on with it."
    await session.rowcount(left.values(status="FAILED", completed_at=at, message=message, version=c.version + 1))


async def purge_history(session: Session, stores: Sequence[str], *, before: datetime, limit: int) -> int:
    """Delete up to ``limit`` of the stores' exchanges that began ``before`` a moment; how many."""
    c = _HISTORY.c
    old = select(c.id).where(c.deployment_id.in_(stores), c.started_at < before).limit(limit)
    ids = [row.id for row in await session.execute(old)]
    if ids:
        await session.rowcount(delete(_HISTORY).where(c.id.in_(ids)))
    return len(ids)

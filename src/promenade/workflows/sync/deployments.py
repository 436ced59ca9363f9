"""Registration and heartbeats of stores (interface decisions, Sync)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from promenade.errors import Conflict, Invalid, NotFound
from promenade.events import StoreCloned
from promenade.log import Logger
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import Version, read_version
from promenade.store.sync import deployments as store
from promenade.store.sync.deployments import Deployment, Registration, find_deployment
from promenade.store.sync.shares import Demand, read_reserves
from promenade.store.webhooks.outbox import emit
from promenade.workflows.context import Context
from promenade.workflows.sync.runs import Standing, read_runs, write_runs

_log = Logger("promenade.sync")
HEARTBEAT_SECONDS = 60
"""How often a store lets itself be heard of."""
OFFLINE_AFTER = 3
"""So many heartbeats missed, and a store counts as OFFLINE."""
OVERLAP = timedelta(minutes=1)
"""A change may become visible so long after its time stamp: what changed shortly before is told again."""
RESERVES_MAX = 1000
_EVER = datetime(2000, 1, 1, tzinfo=UTC)
_USER_MAX = 255


@dataclass(frozen=True, slots=True)
class StoreCard:
    """A store's description of itself; without a POS group it serves all groups."""

    store_code: str
    name: str | None
    pos_group_code: str | None
    version: str


@dataclass(frozen=True, slots=True)
class Registered:
    """The IDs that a store has from now on."""

    deployment_id: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class HeartbeatReceipt:
    """The answer to a heartbeat: the cloud's time, the current version of the catalogue, and what became scarce."""

    at: datetime
    version: Version
    reserves: Sequence[Demand] = ()
    epoch: int = 0


def no_deployment() -> NotFound:
    """Return the error for a store that the tenant does not have; the store must register again."""
    return NotFound("DEPLOYMENT_NOT_FOUND", "There is no such deployment: register the store.", "deploymentId")


async def require_deployment(session: Session, deployment_id: str) -> Deployment:
    """Return the tenant's store with this ID. Raises NotFound (DEPLOYMENT_NOT_FOUND)."""
    found = await find_deployment(session, deployment_id)
    if found is None:
        raise no_deployment()
    return found


async def register(context: Context, tenant_id: str, card: StoreCard, *, user: str) -> Registered:
    """Register a store by its code; a registered store keeps its IDs. Raises Invalid (UNKNOWN_POS_GROUP)."""
    at = context.clock()
    ids = context.new_id(), context.new_id()

    async def work(session: Session) -> Registered:
        group = None
        if card.pos_group_code is not None:
            group = await store.find_pos_group(session, card.pos_group_code)
            if group is None:
                message = f"There is no POS group {card.pos_group_code}."
                raise Invalid("UNKNOWN_POS_GROUP", message, "posGroupCode")
        row = Registration(card.store_code, card.name, group, card.version)
        found = await store.register(session, row, deployment_id=ids[0], instance_id=ids[1], at=at, by=user[:_USER_MAX])
        return Registered(*found)

    return await context.database.write(work, tenant=tenant_id)


def fenced_off() -> Conflict:
    """The error for a machine that says it is a store which another machine is."""
    message = (
        "Another machine runs with this store's identity, so this one gets no more shares of budgets. Stop the other"
        " and restart this one, or give this one a code of its own: `promenade sync-link set --store-code`."
    )
    return Conflict("DEPLOYMENT_CLONED", message)


async def _tell_of_clone(context: Context, session: Session, deployment_id: str, at: datetime) -> None:
    found = await find_deployment(session, deployment_id)
    if found is not None:
        _log.warning("store.cloned", deployment=found.id, store=found.store_code)
        told = StoreCloned(found.id, found.store_code, found.name)
        await emit(session, told, event_id=context.new_id(), at=at)


async def require_not_fenced(session: Session, deployment_id: str, run_id: str | None, at: datetime) -> None:
    """Raise Conflict (DEPLOYMENT_CLONED) if another machine speaks for the store, or may do so."""
    if run_id is None:
        return
    spoken = await store.read_spoken(session, deployment_id)
    if not read_runs(spoken.runs).may_have_shares(run_id, at):
        raise fenced_off()


async def _hear(context: Context, session: Session, deployment_id: str, run_id: str, at: datetime) -> int:
    """Hear a run of the store's program, and return the store's epoch. Raises Conflict (DEPLOYMENT_CLONED)."""
    spoken = await store.read_spoken(session, deployment_id, lock=True)
    runs = read_runs(spoken.runs)
    standing = runs.speak(run_id, at, spoken.cloned_at)
    if standing is Standing.FENCED:
        raise fenced_off()
    now = replace(spoken, runs=write_runs(runs))
    if standing is Standing.CLONED:
        now = replace(now, epoch=spoken.epoch + 1, cloned_at=at)
        await _tell_of_clone(context, session, deployment_id, at)
    if now != spoken:
        await store.write_spoken(session, deployment_id, now)
    return now.epoch


async def record_heartbeat(
    context: Context,
    tenant_id: str,
    deployment_id: str,
    *,
    version: str,
    pending: int,
    since: datetime | None = None,
    run_id: str | None = None,
) -> HeartbeatReceipt:
    """Record a heartbeat of a store; ``since``: when it last heard of reserves, None: it does not understand them.

    ``run_id``: the run of the store's program; older stores send none. Raises NotFound (DEPLOYMENT_NOT_FOUND), and
    Conflict (DEPLOYMENT_CLONED) if another machine speaks for the store.
    """
    at = context.clock()

    async def work(session: Session) -> HeartbeatReceipt:
        epoch = 0 if run_id is None else await _hear(context, session, deployment_id, run_id, at)
        if not await store.note_heartbeat(session, deployment_id, version, pending, at):
            raise no_deployment()
        reserves = () if since is None else await read_reserves(session, max(since, _EVER) - OVERLAP, RESERVES_MAX)
        return HeartbeatReceipt(at, await read_version(session.hot, tenant_id), reserves, epoch)

    return await context.database.write(work, tenant=tenant_id, durable=False)


async def record_exchange(
    session: Session,
    deployment_id: str,
    direction: Literal["UP", "DOWN"],
    *,
    new_id: Callable[[], str],
    started_at: datetime,
    completed_at: datetime | None,
    promotions: int = 0,
    transactions: int = 0,
    status: Literal["RUNNING", "SUCCEEDED", "FAILED"] = "SUCCEEDED",
    message: str | None = None,
) -> str:
    """Record an exchange that transferred something in SyncHistory, in the same unit of work; return its ID.

    Uploaded sales are no longer pending in LocalDeployments.
    """
    at = completed_at or started_at
    exchange_id = new_id()
    row = {
        "id": exchange_id,
        "deployment_id": deployment_id,
        "direction": direction,
        "started_at": started_at,
        "completed_at": completed_at,
        "promotions": promotions,
        "transactions": transactions,
        "status": status,
        "message": None if message is None else message[:1000],
        "created_at": at,
        "created_by": "system",
        "modified_at": at,
        "modified_by": "system",
    }
    if transactions and direction == "UP":
        await store.note_uploaded(session, deployment_id, transactions, at)
    await store.add_exchange(session, row)
    return exchange_id

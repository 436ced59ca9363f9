"""All that reports count is counted anew from the logs, a portion at a time; see `store.reports.rebuild`."""

from __future__ import annotations

from promenade.errors import Conflict
from promenade.store.driver.unit import Database, Session
from promenade.store.reports import rebuild as store
from promenade.store.reports.queue import State, hold_state, read_logs, read_state
from promenade.store.reports.rebuild import Walked
from promenade.store.sales.kept import kept_since
from promenade.workflows.context import Context
from promenade.workflows.reports.aggregating import Portion, Run, Stopwatch, add_up, write_sums
from promenade.workflows.reports.folds import folds
from promenade.workflows.reports.sales import LoggedSale, sales_of

EMPTIED_FOR_EACH = 10  # rows deleted in place of counting one sale


async def begin_rebuild(database: Database, tenant_id: str) -> None:
    """Start a rebuild of the tenant's sales reports by the worker. The reports are incomplete until it is done.

    Raises Conflict (LOGS_NOT_KEPT) if logs were dropped: figures of their sales could not be counted again.
    """

    async def work(session: Session) -> None:
        await store.begin(session)  # first: from now on no log is dropped
        since = await kept_since(session)
        if since is not None:
            message = f"Logs of sales before {since:%Y-%m-%d} are not kept: their figures would be lost."
            raise Conflict("LOGS_NOT_KEPT", message, "tenantId")

    await database.write(work, tenant=tenant_id)


async def rebuild_portion(context: Context, tenant_id: str, run: Run, limit: int) -> Portion | None:
    """Run one portion of a rebuild; None: no rebuild is in progress."""
    state = await context.database.read(read_state, tenant=tenant_id)
    if state.rebuild == store.EMPTYING:
        return await _empty(context, tenant_id, limit * EMPTIED_FOR_EACH)
    if state.rebuild == store.COUNTING:
        return await _count(context, tenant_id, run, state, limit)
    return None


async def _empty(context: Context, tenant_id: str, limit: int) -> Portion:
    seconds = 0.0

    async def work(session: Session) -> int:
        nonlocal seconds
        watch = Stopwatch(session)
        if (await hold_state(session)).rebuild != store.EMPTYING:
            return 0
        gone = await store.empty(session, [name for one in folds().values() for name in one.tables], limit)
        if not gone:
            await store.advance(session)
        seconds = watch.seconds
        return gone

    gone = await context.database.write(work, tenant=tenant_id, durable=False)
    return Portion(limit, gone // EMPTIED_FOR_EACH, seconds)


async def _count(context: Context, tenant_id: str, run: Run, seen: State, limit: int) -> Portion:
    async def look(session: Session) -> tuple[list[Walked], dict[str, LoggedSale]]:
        found = await store.walk(session, seen, limit)
        return found, sales_of(await read_logs(session, [one.log_id for one in found if one.is_due]))

    found, sales = await context.database.read(look, tenant=tenant_id)
    seconds = 0.0

    async def work(session: Session) -> int:
        nonlocal seconds
        watch = Stopwatch(session)
        counted = [one for one in found if one.log_id in sales]
        added = await add_up(context, session, run, [sales[one.log_id] for one in counted])
        gone = await add_up(context, session, run, [sales[one.log_id] for one in counted if one.is_taken], -1)
        state = await watch.aside(hold_state(session))
        if (state.rebuild, state.cursor_id) != (seen.rebuild, seen.cursor_id):
            return 0  # another worker did it first
        if not found:
            await store.end(session)
            return 0
        await write_sums(context, session, run, added)
        await write_sums(context, session, run, gone)
        await store.advance(session, found[-1])
        seconds = watch.seconds
        return len(found)

    counted = await context.database.write(work, tenant=tenant_id, durable=False)
    return Portion(max(len(found), 1), counted, seconds)

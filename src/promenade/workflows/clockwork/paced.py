"""The pace of scheduled jobs: small portions with rests for tills, tenant by tenant, a second at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Protocol

from promenade.store.access.tenants import read_tenants
from promenade.store.clockwork.dropping import read_wishing
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer, Rest

RUN_SECONDS = 1.0  # then other scheduled jobs have their turn
THIRD = Rest(times=2.0, seconds_max=0.2)
"""Work takes a third of the time: tills have the rest."""
HALF = Rest(seconds_max=0.1)
"""Work takes half of the time."""


class Pace(Pacer):
    """The pace of one run of a job."""

    def __init__(self, rest: Rest = THIRD) -> None:
        super().__init__(rest, run_seconds=RUN_SECONDS)


async def tenant_by_tenant(
    context: Context, cursor: str | None, of_tenant: Callable[[str, Pace], Awaitable[bool]]
) -> JobResult:
    """Process each tenant after the one in ``cursor``, until the time is over."""
    tenants = [row.tenant_id for row in await context.database.read(read_tenants, system=True)]
    pace = Pace()
    done_until = cursor
    for tenant_id in tenants:
        if cursor is None or tenant_id > cursor:
            if not await of_tenant(tenant_id, pace):
                return JobResult(pace.done, more=True, cursor=done_until)
            done_until = tenant_id
    return JobResult(pace.done)


async def in_portions(
    context: Context,
    cursor: str | None,
    wanted: Collection[str],
    portion: Callable[[str], Awaitable[tuple[int, bool]]],
) -> JobResult:
    """Do the same of the tenants that are ``wanted``, in portions.

    ``portion(tenant_id)`` returns how many rows it was about, and whether there is more.
    """

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        return tenant_id not in wanted or await pace.while_more(lambda: portion(tenant_id))

    return await tenant_by_tenant(context, cursor, of_tenant)


class Walk(Protocol):
    """A walk over rows of a tenant."""

    @property
    def place(self) -> str:
        """Where it goes on, as text."""

    async def portion(self) -> tuple[int, bool]:
        """Go on; return how many rows were changed, and whether there is more to do."""


async def walking(context: Context, cursor: str | None, setting: str, walk_of: Callable[[str, str], Walk]) -> JobResult:
    """Go on with the walks of the tenants that have set ``setting``, a column of days, one after the other.

    ``walk_of(tenant_id, place)`` begins one at a place, the empty text being its beginning.
    """
    reached, _, place = (cursor or "").partition("\n")
    pace = Pace()
    for tenant_id in await context.database.read(partial(read_wishing, setting=setting), system=True):
        if tenant_id < reached:
            continue
        walk = walk_of(tenant_id, place if tenant_id == reached else "")
        if not await pace.while_more(walk.portion):
            return JobResult(pace.done, more=True, cursor=f"{tenant_id}\n{walk.place}")
    return JobResult(pace.done)

"""A demo that is kept in a directory, so that it starts again as it was left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from promenade.demo.seeding import DemoTenant
from promenade.errors import Conflict
from promenade.workflows.access.tenants import list_tenants
from promenade.workflows.context import Context

_FILE = "demo.json"


async def seed_once(context: Context, directory: Path, make: Callable[[], Awaitable[DemoTenant]]) -> DemoTenant:
    """Seed the database of ``directory`` by ``make`` if it is empty, else return the demo that was seeded there.

    The credentials are kept beside the database, which has only digests of them, in a file for its owner alone. Raises
    Conflict (NOT_A_DEMO) if the database has other contents, or a demo that was not seeded to its end.
    """
    kept = directory / _FILE
    if not await list_tenants(context.database):
        kept.unlink(missing_ok=True)  # of a database that was deleted
        made = await make()
        kept.touch(mode=0o600)
        kept.write_bytes(msgspec.json.encode(made))
        return made
    if not kept.exists():
        message = (
            f"{directory} has a database that is no demo, or one that was not seeded to its end: name another one."
        )
        raise Conflict("NOT_A_DEMO", message)
    return msgspec.json.decode(kept.read_bytes(), type=DemoTenant)

"""What others refer to cannot be deleted: 409 IN_USE, with the sets that refer to it."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict
from promenade.store.authored import read_referred
from promenade.workflows.authoring.shapes import referrers
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__ = ["check_unused"]


async def check_unused(unit: Unit, writes: Sequence[Write]) -> None:
    """Add IN_USE for deleted rows that others refer to; one statement for every set that could."""
    gone: dict[str, set[str]] = {}
    for write in writes:
        if write.act is Act.DELETE:
            gone.setdefault(write.set_name, set()).add(write.id)
    for set_name, ids in gone.items():
        users = [
            one.set_name
            for one in referrers(set_name)
            if await read_referred(unit.session, one.set_name, one.column, ids)
        ]
        if users:
            names = ", ".join(sorted(set(users)))
            unit.faults.add(Conflict("IN_USE", f"This cannot be deleted: {names} refer to it."))

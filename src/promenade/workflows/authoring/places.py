"""Rules for POS groups, articles and article groups: no cycles, valid time zones, matching sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from zoneinfo import available_timezones

from promenade.errors import Detail
from promenade.store.authoring.statements import hold, read_ancestors
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

_LEVELS_MAX = 100


async def _check_tree(unit: Unit, writes: Sequence[Write]) -> None:
    """Add CYCLE where following ``parent`` from a row leads back to it.

    All writes of the call are considered; in an import only those before it.
    """
    moved = [one for one in writes if one.act is not Act.DELETE and one.differs("parent_id")]
    parents = {one.after["parent_id"] for one in moved if one.after["parent_id"]}
    if not parents:
        return
    if any(write.act is Act.UPDATE for write in moved):
        # Prevents two concurrent units from each creating half of a cycle.
        await hold(unit.session, f"tree of {moved[0].set_name}")
    above = await read_ancestors(unit.session, moved[0].set_name, parents)
    there = set(above)
    in_turn = unit.faults.in_turn
    faulty = unit.faults.faulty if in_turn else set()
    if not in_turn:
        above |= {write.id: write.after["parent_id"] for write in writes if write.act is not Act.DELETE}
    for write in writes:
        if write.act is Act.DELETE:
            continue
        parent = write.after["parent_id"]
        fault = _tree_fault(write, above) if write.differs("parent_id") else None
        if fault is not None:
            unit.faults.add(fault)
        elif not in_turn or (write.place not in faulty and (parent is None or parent in there)):
            # A row that is faulty, or names a later row as its parent, is not stored and moves nothing.
            above[write.id] = parent
            there.add(write.id)


def _tree_fault(write: Write, above: Mapping[str, str | None]) -> Detail | None:
    target = write.target("parent_id")
    seen: set[str] = set()
    one: str | None = write.after["parent_id"]
    while one is not None and one != write.id and one not in seen:
        seen.add(one)
        one = above.get(one)
        if len(seen) > _LEVELS_MAX:
            message = f"{target} would put the group more than {_LEVELS_MAX} levels deep."
            return Detail("TOO_DEEP", message, target)
    if one is not None and one == write.id:
        return Detail("CYCLE", f"{target} would put the group below itself.", target)
    return None


def _check_source(unit: Unit, write: Write) -> None:
    if write.act is not Act.DELETE and write.after["source"] == "EXTERNAL" and write.differs("source"):
        message = f"{write.target('source')} must be MANUAL or IMPORTED; EXTERNAL is for coupon codes."
        unit.faults.add(Detail("UNKNOWN_CODE", message, write.target("source")))


@cache
def _time_zones() -> frozenset[str]:
    return frozenset(available_timezones())


@rules("PosGroups")
class _PosGroups(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            zone = write.after.get("time_zone")
            if zone is not None and write.differs("time_zone") and zone not in _time_zones():
                message = f"{write.target('time_zone')} must be an IANA time zone such as Europe/Berlin."
                unit.faults.add(Detail("UNKNOWN_TIME_ZONE", message, write.target("time_zone")))
        await _check_tree(unit, writes)
        return []


def _imported(unit: Unit, writes: Sequence[Write]) -> None:
    """Set the source of rows that an import creates, unless the row contains it."""
    for write in writes if unit.importing else ():
        if write.act is Act.CREATE and "source" not in write.given:
            write.after["source"] = "IMPORTED"


@rules("ArticleGroups")
class _ArticleGroups(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        _imported(unit, writes)

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            _check_source(unit, write)
        await _check_tree(unit, writes)
        return []


@rules("Articles")
class _Articles(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        _imported(unit, writes)

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            _check_source(unit, write)
        return []

"""Campaign locks: a locked campaign freezes itself, its promotions and their parts (specification, Campaigns)."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict
from promenade.store.authoring.statements import Columns, read_rows
from promenade.workflows.authoring.owners import Owners
from promenade.workflows.authoring.unit import Unit, Write

LOCKING = frozenset({"lock", "unlock"})
"""The verbs that a locked campaign does not refuse."""


async def check_locks(unit: Unit, writes: Sequence[Write], owners: Owners) -> None:
    """Add LOCKED for every write that changes a locked campaign, or a promotion that is, was or becomes part of one.

    Two statements regardless of the number of writes; the campaigns are locked in the database until the unit ends, so
    that none gets locked meanwhile. A campaign lock stops authors, not changes caused by time.
    """
    if unit.by_clock:
        return
    subjects = {write: owners.subjects(write) for write in writes if write.verb not in LOCKING}
    campaign_of = await _campaigns(unit, writes, owners, {one for each in subjects.values() for one in each})
    named: dict[str, list[Write]] = {}
    for write, each in subjects.items():
        for set_name, key in each:
            for campaign_id in {key} if set_name == "Campaigns" else campaign_of.get(key, ()):
                named.setdefault(campaign_id, []).append(write)
    if not named:
        return
    for campaign in await read_rows(unit.session, "Campaigns", "id", named, lock="share"):
        if campaign["locked"]:
            # One locked campaign is one fault, however many rows it affects; in an import one for each row.
            rows = {write.place: write for write in reversed(named[campaign["id"]]) if write.place}
            for write in rows.values() if unit.faults.in_turn else named[campaign["id"]][:1]:
                own = f"{write.place}/" if unit.faults.in_turn else None
                unit.faults.add(locked(campaign, write.target("campaign_id") if "campaign_id" in write.given else own))


def locked(campaign: Columns, target: str | None = None) -> Conflict:
    """Return the fault of a change to a locked campaign."""
    message = f"The campaign {campaign['code']} is locked; it and its promotions cannot be changed."
    return Conflict("LOCKED", message, target)


async def _campaigns(
    unit: Unit, writes: Sequence[Write], owners: Owners, subjects: set[tuple[str, str]]
) -> dict[str, set[str]]:
    """Return the campaigns of promotions, before and after the change."""
    found: dict[str, set[str]] = {}
    promotions = {key for set_name, key in subjects if set_name == "Promotions"}
    for write in writes:
        if write.set_name == "Promotions" and write.id in promotions:
            rows = [row for row in (write.before, write.after) if row]
            found[write.id] = {row["campaign_id"] for row in rows if row["campaign_id"]}
    rest = promotions - found.keys()
    known = [row for row in (owners.row("Promotions", key) for key in rest) if row is not None]
    rest -= {row["id"] for row in known}
    if rest:
        known += await read_rows(unit.session, "Promotions", "id", rest, lock="share")
    return found | {row["id"]: {row["campaign_id"]} for row in known if row["campaign_id"]}

"""Rules for requests for a budget: how many may be open, who answers when, and what becomes of them.

A budget may be granted to a promotion that exists only in the draft of who plans it. The draft is left alone: the
promotion is charged to the budget as soon as it is saved, by `charged`, in the same unit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from promenade.errors import Conflict
from promenade.store.authoring.budget_requests import count_open
from promenade.store.authoring.statements import Columns, hold, read_ids, read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write
from promenade.workflows.authoring.writing import Authoring

SET = "BudgetRequests"
OPEN_MAX = 500
"""Requests of a tenant that may wait for an answer at the same time; of a promotion it is one."""


@rules(SET)
class _Requests(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is Act.CREATE:
                write.after |= {"asked_at": unit.at, "asked_by": unit.user}
            elif write.verb is not None:
                write.after |= _stamped(unit)
                write.note = write.after["answer"]

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is Act.CREATE:
                await _check_room(unit, write)
        return []


async def _check_room(unit: Unit, write: Write) -> None:
    """Refuse what would have too much wait at a time, though two users may ask at once."""
    await hold(unit.session, "budget requests")
    if await _read(unit.session, [write.after["promotion_id"]], "OPEN"):
        message = "A budget was already asked for, and the answer is still to come: withdraw that request first."
        unit.faults.add(Conflict("ALREADY_ASKED", message))
    elif await count_open(unit.session) >= OPEN_MAX:
        message = f"{OPEN_MAX} requests wait for an answer already: ask again when some have got one."
        unit.faults.add(Conflict("TOO_MANY_REQUESTS", message))


async def withdrawn(unit: Unit, promotion_ids: Collection[str]) -> list[Write]:
    """Return the writes that withdraw the open requests for promotions which the unit deletes."""
    if not promotion_ids:
        return []
    shape = shape_of(SET)
    writes = []
    for row in await _read(unit.session, promotion_ids, "OPEN", is_held=True):
        write = Write(shape, Act.UPDATE, row["id"], "", row, row | {"status": "WITHDRAWN"} | _stamped(unit))
        write.is_named, write.verb = True, "withdraw"
        writes.append(write)
    return writes


async def charged(unit: Unit, promotion_ids: Collection[str]) -> list[Write]:
    """Return the writes that charge new promotions to the budgets which were granted while they were drafts."""
    if not promotion_ids:
        return []
    granted = [row for row in await _read(unit.session, promotion_ids, "GRANTED") if row["budget_id"]]
    there = await read_ids(unit.session, "Budgets", {row["budget_id"] for row in granted}) if granted else set()
    pairs = {(row["promotion_id"], row["budget_id"]) for row in granted if row["budget_id"] in there}
    shape = shape_of("BudgetPromotions")
    writes = []
    for promotion_id, budget_id in sorted(pairs):
        row = unit.row_of(shape, unit.new_id()) | {"promotion_id": promotion_id, "budget_id": budget_id}
        writes.append(Write(shape, Act.CREATE, row["id"], "", None, row, is_named=True))
    return writes


async def withdraw_left(authoring: Authoring, session: Session, set_name: str, entity_id: str) -> None:
    """Withdraw the open requests for a promotion that existed only in a draft, which was discarded."""
    if set_name == "Promotions" and not await read_ids(session, set_name, (entity_id,)):
        left = [row["id"] for row in await _read(session, [entity_id], "OPEN")]
        await authoring.transition_many(SET, left, "withdraw", if_=lambda _: True)


def _stamped(unit: Unit) -> Columns:
    return {"answered_at": unit.at, "answered_by": unit.user}


async def _read(
    session: Session, promotion_ids: Collection[str], status: str, *, is_held: bool = False
) -> list[Columns]:
    rows = await read_rows(session, SET, "promotion_id", promotion_ids, lock="update" if is_held else None)
    return [row for row in rows if row["status"] == status]

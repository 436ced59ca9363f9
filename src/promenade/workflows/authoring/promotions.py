"""Rules for promotions: a live one must be able to run; events for subscribers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from promenade.engine.definition import PromotionDefinition
from promenade.errors import Conflict, Detail
from promenade.events import (
    Event,
    PromotionActivated,
    PromotionApproved,
    PromotionArchived,
    PromotionDeactivated,
    PromotionExpired,
    PromotionRejected,
    PromotionSubmitted,
    PromotionUpdated,
)
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.pricing.definitions import read_promotions
from promenade.store.pricing.surroundings import load_places
from promenade.store.webhooks.outbox import emit_all
from promenade.workflows.authoring.approvals import LIVE, settle_approvals
from promenade.workflows.authoring.budget_requests import charged, withdrawn
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.runnable import broken_parts, missing
from promenade.workflows.authoring.unit import Act, Unit, Write

_EVENTS = {
    "PENDING_APPROVAL": PromotionSubmitted,
    "APPROVED": PromotionApproved,
    "REJECTED": PromotionRejected,
    "ACTIVE": PromotionActivated,
    "INACTIVE": PromotionDeactivated,
    "EXPIRED": PromotionExpired,
    "ARCHIVED": PromotionArchived,
}
_PART = re.compile(r"(Conditions|DiscountActions|LoyaltyActions)\((\d+)\)/?(.*)")


@rules("Promotions")
class _Promotions(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            _check_experiment(unit, write)
        gone = [write.id for write in writes if write.act is Act.DELETE]
        out_of_drafts = [write.id for write in writes if write.act is Act.CREATE and write.has_own_id]
        return [*await withdrawn(unit, gone), *await charged(unit, out_of_drafts)]

    async def finish(self, unit: Unit) -> None:
        await settle_approvals(unit)
        ids = unit.ids_of("Promotions")
        if not ids:
            unit.faults.raise_any()
            return
        rows = await _rows(unit, ids)
        _check_conditions(unit, rows)
        live = [key for key, row in rows.items() if row["status"] in LIVE]
        if live:
            await _check_live(unit, live)
        unit.faults.raise_any()
        news = [one for key, row in rows.items() for one in _news(unit, row, unit.subjects["Promotions", key])]
        await emit_all(unit.session, news, new_id=unit.new_id, at=unit.at)


def _check_experiment(unit: Unit, write: Write) -> None:
    """Refuse an experiment that compares a POS group with itself."""
    control = write.after.get("control_group_id")
    if control is None or control != write.after["experiment_group_id"]:
        return
    if write.differs("control_group_id", "experiment_group_id"):
        target = write.target("control_group_id")
        message = "An experiment cannot compare a POS group with itself: choose another control group."
        unit.faults.add(Detail("POS_GROUP_IN_BOTH_ARMS", message, target))


async def _rows(unit: Unit, ids: Sequence[str]) -> dict[str, Columns]:
    """Return the promotions as the unit leaves them, without deleted ones; only those not written are read."""
    written = {write.id: write.after for write in unit.written if write.set_name == "Promotions"}
    rest = [key for key in ids if key not in written]
    read = {row["id"]: row for row in await read_rows(unit.session, "Promotions", "id", rest)} if rest else {}
    known = {key: written[key] for key in ids if written.get(key)}
    return dict(sorted((known | read).items()))


def _check_conditions(unit: Unit, rows: Mapping[str, Columns]) -> None:
    """Refuse to remove a condition of an ACTIVE promotion, which could open it to all, unless another is added."""
    lost: dict[str, Write] = {}
    gained: set[str] = set()
    for write in unit.written:
        if write.set_name == "Conditions":
            before = write.before["promotion_id"] if write.before else None
            after = write.after["promotion_id"] if write.after else None
            if before is not None and before != after:
                lost[before] = write
            if after is not None and before != after:
                gained.add(after)
    for key, write in lost.items():
        if key not in gained and key in rows and rows[key]["status"] == "ACTIVE":
            message = "A condition of an ACTIVE promotion cannot be removed unless the same change set adds another."
            target = write.target("promotion_id") if write.act is Act.UPDATE else None
            unit.faults.add(Conflict("PROMOTION_ACTIVE", message, target))


async def _check_live(unit: Unit, ids: Sequence[str]) -> None:
    """Check that live promotions touched by the unit compile, and that newly live ones can run."""
    read = await read_promotions(unit.session, ids)
    definitions = read.definitions(await load_places(unit.session))
    budgets = {key for one in definitions.values() for key in one.budget_ids}
    currencies = {row["id"]: row["currency"] for row in await read_rows(unit.session, "Budgets", "id", budgets)}
    for key, definition in definitions.items():
        writes = unit.subjects["Promotions", key]
        _check_runs(unit, definition, writes)
        _check_pilot(unit, definition, writes)
        foreign = {currencies[one] for one in definition.budget_ids} - {definition.currency}
        if definition.currency is not None and foreign:
            target = _path(definition, writes) + "currency"
            message = "The promotion and a budget that it is charged to have different currencies."
            unit.faults.add(Detail("BUDGET_CURRENCY", message, target))
        for error in broken_parts(definition):
            unit.faults.add(Detail(error.code, error.message, _target(definition, error.target, writes)))


def _moves(writes: Sequence[Write]) -> list[Write]:
    return [one for one in writes if one.set_name == "Promotions" and one.act is Act.UPDATE and one.differs("status")]


def _check_runs(unit: Unit, definition: PromotionDefinition, writes: Sequence[Write]) -> None:
    """Report what a promotion lacks when its status changes; one created as ACTIVE may get its actions later."""
    moves = _moves(writes)
    if moves:
        for fault in missing(definition, unit.at, moves[-1].path):
            unit.faults.add(fault)


def _check_pilot(unit: Unit, definition: PromotionDefinition, writes: Sequence[Write]) -> None:
    """Check that a pilot keeps its configuration while running, and starts before its window ends."""
    if definition.status != "PILOT":
        return
    if definition.pilot is not None:
        if _moves(writes) and definition.pilot.ends_at <= unit.at:
            unit.faults.add(Detail("PILOT_OVER", "The pilot's window has ended.", "PromotionPilotConfigs/pilotEndAt"))
    elif any(write.set_name == "PromotionPilotConfigs" for write in writes):
        message = "The configuration of a running pilot cannot be removed; end the pilot first."
        unit.faults.add(Conflict("PILOT_RUNNING", message))
    else:
        message = "A pilot needs a pilot configuration."
        unit.faults.add(Detail("PILOT_CONFIG_MISSING", message, "PromotionPilotConfigs"))


def _path(definition: PromotionDefinition, writes: Sequence[Write]) -> str:
    return next((one.path for one in reversed(writes) if one.id == definition.id), "")


def _target(definition: PromotionDefinition, target: str, writes: Sequence[Write]) -> str:
    """Translate the engine's target (a numbered part) into the path of that part in the request."""
    found = _PART.fullmatch(target)
    if found is None:
        return _path(definition, writes) + target
    parts = {
        "Conditions": [one.id for one in definition.conditions],
        "DiscountActions": [one.id for one in definition.actions],
        "LoyaltyActions": [one.id for one in definition.loyalty_actions],
    }[found[1]]
    place = int(found[2]) - 1
    named = [write for write in writes if write.is_named]
    for write in named:
        if write.set_name == found[1] and write.id == parts[place]:
            # A change set is refused at its end, during the last request: the target must identify the row.
            is_alone = bool(write.path) or len({one.id for one in named if not one.path}) == 1
            return write.path + found[3] if is_alone else f"/{found[1]}({write.id})/{found[3]}"
    return target


def _news(unit: Unit, row: Columns, writes: Sequence[Write]) -> Iterator[Event]:
    """Yield the events of a promotion: its new status, and PROMOTION_UPDATED once for all other changes."""
    own = [write for write in writes if write.set_name == "Promotions" and write.id == row["id"]]
    is_new = any(write.act is Act.CREATE for write in own)
    facts = (row["id"], row["name"], row["code"], row["status"], unit.user)
    has_moved = any(write.act is Act.UPDATE and write.differs("status") for write in own)
    kind = _EVENTS.get(row["status"])
    if kind is not None and (has_moved or (is_new and row["status"] == "ACTIVE")):
        yield kind(*facts)
    changed = {write.shape.wires[name] for write in own for name in write.changed} - ({"status"} if kind else set())
    changed |= {write.set_name for write in writes if write not in own}
    changed |= {set_name for write in writes for set_name, _ in write.emptied}
    if changed and not is_new:
        yield PromotionUpdated(*facts, tuple(sorted(changed)))


# --- conditions -------------------------------------------------------------------------------------------------------

# Conditions may be incomplete while their promotion is a draft; what is said must still make sense.

_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@rules("Conditions", "TemplateConditions")
class _Conditions(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            days = write.after.get("weekdays")
            if days and write.differs("weekdays"):
                names = days.split(",")
                if not set(names) <= set(_WEEKDAYS) or len(set(names)) < len(names):
                    message = f"{write.target('weekdays')} must list weekdays once each, such as MON,TUE."
                    unit.faults.add(Detail("UNKNOWN_WEEKDAY", message, write.target("weekdays")))
        return []

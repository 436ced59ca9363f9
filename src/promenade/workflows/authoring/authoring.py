"""Everything that writes authored rows goes through here: the public API, administration, imports, templates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from promenade.errors import Conflict, Invalid, NotFound
from promenade.model.declare import Service
from promenade.store.authored import find_keys, hold
from promenade.store.authored_faults import BrokenConstraint, Constraint, guarded
from promenade.store.unit import Session
from promenade.workflows.authoring.checks import check_references, check_values, is_plain
from promenade.workflows.authoring.flushing import flush
from promenade.workflows.authoring.keys import already_exists, check_keys
from promenade.workflows.authoring.locks import check_locks
from promenade.workflows.authoring.machines import MACHINES, invalid_initial, invalid_transition
from promenade.workflows.authoring.modes import admit_create, admit_remove, admit_update
from promenade.workflows.authoring.owners import Owners, hold_upwards
from promenade.workflows.authoring.planning import UNIT_ROWS_MAX, Plan
from promenade.workflows.authoring.records import write_audit, write_changes
from promenade.workflows.authoring.removal import check_unused
from promenade.workflows.authoring.rules import Rules, registered
from promenade.workflows.authoring.shapes import Shape, codes, shape_of
from promenade.workflows.authoring.unit import Act, Row, Unit, Write

__all__ = ["Authoring", "Upserted"]


@dataclass(frozen=True, slots=True)
class Upserted:
    """What became of a row: its ID, and whether it is new."""

    id: str
    is_new: bool


class Authoring:
    """One per unit of work; `finish` comes last and once.

    ``importing`` admits what bulk import may create although nobody may directly; ``http_hosts`` are the hosts
    (``host``, ``host:port``, addresses or networks) that callback URLs may name by plain http. ``by_clock``: nobody
    acts but time, which a locked campaign does not stop.
    All methods raise Invalid, Conflict, NotFound, NotAllowed or Forbidden; then nothing of the call was stored.
    """

    def __init__(
        self,
        session: Session,
        *,
        user: str,
        at: datetime,
        new_id: Callable[[], str],
        service: Service = Service.PUBLIC,
        importing: bool = False,
        http_hosts: Collection[str] = (),
        by_clock: bool = False,
    ) -> None:
        self._unit = Unit(session, user[:255], at, new_id, service, importing, frozenset(http_hosts), by_clock)

    @property
    def shown_once(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """What the server made up and shows in this answer only: by entity set and ID, properties by wire name."""
        return self._unit.shown_once

    @property
    def user(self) -> str:
        """Who acts."""
        return self._unit.user

    @property
    def new_id(self) -> Callable[[], str]:
        """Where the unit has its IDs from, for workflows that write beside it."""
        return self._unit.new_id

    def makes_room(self, rows: int) -> bool:
        """Count ``rows`` that a workflow is going to write beside it; False: they are too many for one unit."""
        if self._unit.planned + rows > UNIT_ROWS_MAX:
            return False
        self._unit.planned += rows
        return True

    async def begin(self, *, alone: bool) -> None:
        """Begin the unit; it comes before everything else. ``alone``: nobody else who began writes for the tenant.

        Requests touch rows in any order, and two at once may come to wait for each other. The database then undoes
        one; when that is repeated it has to be alone, or it could be undone again. Units that take long, such as
        imports, do without.
        """
        await hold(self._unit.session, "authoring", shared=not alone)

    async def create(self, set_name: str, row: Row) -> str:
        """Create a row with all that it owns; the answer is its ID."""
        return (await self._create(set_name, [row], [""]))[0]

    async def create_many(self, set_name: str, rows: Sequence[Row]) -> list[str]:
        """Create many rows in a number of statements that does not depend on how many; targets start with the index.

        Either all are created or none. An import's rows are judged in turn, see `workflows.authoring.keys`.
        """
        with self._telling_all():
            return await self._create(set_name, rows, _indices(rows))

    async def upsert_many(self, set_name: str, rows: Sequence[Row]) -> list[Upserted]:
        """Create rows, or change those whose natural key is there already, like `create_many` in every other way.

        For the sets that imports upsert. A key that stands twice among ``rows`` is ALREADY_EXISTS, and so is the key
        of a row with another ID than the given.
        """
        shape = shape_of(set_name)
        column = shape.entity.natural_key[0]
        wire = shape.wires[column]
        keys = {(row[wire],) for row in rows if row.get(wire) and is_plain(row[wire])}
        found = await find_keys(self._unit.session, set_name, (column,), keys) if keys else []
        held = {row["id"]: row for row in await self._held_many(shape, [key for key, _ in found])}
        by_key = {key[0]: held[row_id] for row_id, key in found if row_id in held}
        plan = Plan(self._unit)
        writes: list[Write] = []
        for row, path in zip(rows, _indices(rows), strict=True):
            before = by_key.pop(row.get(wire), None)
            if before is None:
                admit_create(self._unit, shape, row)
                writes.append(plan.create(shape, row, path))
            else:
                writes.append(plan.update(shape, before, admit_update(self._unit, shape, row), path))
                if row.get("ID") and str(row["ID"]).lower() != before["id"]:
                    self._unit.faults.add(already_exists(writes[-1], ("id",)))
            writes[-1].is_named = True
        with self._telling_all():
            await self._carry_out(plan)
        return [Upserted(write.id, write.act is Act.CREATE) for write in writes]

    async def update(self, set_name: str, entity_id: str, changes: Row, *, replace: bool = False) -> None:
        """Change a row; ``replace`` puts what ``changes`` leaves out to its default."""
        shape = shape_of(set_name)
        changes = admit_update(self._unit, shape, changes)
        plan = Plan(self._unit)
        before = await self._held(shape, entity_id)
        row = plan.replace(shape, changes) if replace and not shape.entity.patchable else changes
        plan.update(shape, before, row, "").is_named = True
        await self._carry_out(plan)

    async def update_many(self, set_name: str, changes: Mapping[str, Row]) -> None:
        """Change many rows, by their IDs, in a number of statements that does not depend on how many.

        Targets start with the place of the row. Raises NotFound when one is not there; then none is changed.
        """
        shape = shape_of(set_name)
        plan = Plan(self._unit)
        held = {row["id"]: row for row in await self._held_many(shape, changes)}
        for place, (entity_id, row) in enumerate(changes.items()):
            if entity_id not in held:
                raise _not_found(shape)
            write = plan.update(shape, held[entity_id], admit_update(self._unit, shape, row), f"{place}/")
            write.is_named = True
        with self._unit.faults.telling_all():
            await self._carry_out(plan)

    async def remove(self, set_name: str, entity_id: str) -> None:
        """Delete a row with all that it owns. Raises Conflict (IN_USE) while others refer to it."""
        shape = shape_of(set_name)
        admit_remove(self._unit, shape)
        plan = Plan(self._unit)
        plan.delete(shape, await self._held(shape, entity_id), "").is_named = True
        await self._carry_out(plan)

    async def transition(self, set_name: str, entity_id: str, verb: str) -> None:
        """Move a row by a verb of its state machine: ``activate``, ``lock``, ``startPilot`` ...

        The service's mode does not matter: verbs are actions of their own. Raises Conflict (INVALID_TRANSITION).
        """
        shape = shape_of(set_name)
        moves = MACHINES[set_name].by_verb(verb)
        plan = Plan(self._unit)
        before = await self._held(shape, entity_id)
        move = next((one for one in moves if one.starts_at(before[one.column])), None)
        if move is None:
            raise invalid_transition(set_name, before["status"], moves[0].target, None)
        write = plan.update(shape, before, {}, "")
        write.after[move.column] = move.target
        write.is_named, write.verb = True, verb
        await self._carry_out(plan)

    async def transition_many(
        self, set_name: str, ids: Collection[str], verb: str, *, if_: Callable[[Mapping[str, Any]], bool]
    ) -> list[str]:
        """Move those of ``ids`` by a verb that it may start from and that are as ``if_`` wants them (by columns).

        They are looked at once they are held, and whatever is otherwise by then is left as it is. The answer is the
        IDs of those that moved; the number of statements does not depend on how many.
        """
        shape = shape_of(set_name)
        moves = MACHINES[set_name].by_verb(verb)
        plan = Plan(self._unit)
        for before in await self._held_many(shape, ids):
            move = next((one for one in moves if one.starts_at(before[one.column])), None)
            if move is not None and if_(before):
                write = plan.update(shape, before, {}, "")
                write.after[move.column] = move.target
                write.is_named, write.verb = True, verb
        moved = [write.id for write in plan.writes]
        if moved:
            with self._unit.faults.telling_all():
                await self._carry_out(plan)
        return moved

    def record(self, set_name: str, row: Mapping[str, Any], verb: str) -> None:
        """Put into the audit trail that ``verb`` was done with ``row`` (its columns), which itself stays as it was."""
        same = dict(row)
        self._unit.written.append(
            Write(shape_of(set_name), Act.UPDATE, same["id"], "", same, same, is_named=True, verb=verb)
        )

    async def hold(self, set_name: str, entity_id: str) -> int:
        """The version of a row, which stays as it is until the unit ends: for If-Match. Raises NotFound."""
        return int((await self._held(shape_of(set_name), entity_id))["version"])

    async def finish(self, *, audited: bool = True) -> None:
        """Check what only the whole unit can tell, then write audit rows, events and word of what changed.

        Without ``audited`` the audit trail is somebody else's to write.
        """
        unit = self._unit
        with self._telling_all() if unit.importing else nullcontext():
            for rule in _distinct(registered().values()):
                await rule.finish(unit)
            unit.faults.raise_any()
        if audited:
            await write_audit(unit)
        await write_changes(unit)

    def _telling_all(self) -> AbstractContextManager[None]:
        return self._unit.faults.telling_all(in_turn=self._unit.importing)

    async def _held_many(self, shape: Shape, ids: Collection[str]) -> list[dict[str, Any]]:
        held = await hold_upwards(self._unit, {shape.set_name: set(ids)}) if ids else {}
        return [row for (set_name, _), row in held.items() if set_name == shape.set_name]

    async def _held(self, shape: Shape, entity_id: str) -> dict[str, Any]:
        rows = await self._held_many(shape, (entity_id,))
        if not rows:
            raise _not_found(shape)
        return rows[0]

    async def _create(self, set_name: str, rows: Sequence[Row], paths: Sequence[str]) -> list[str]:
        shape = shape_of(set_name)
        plan = Plan(self._unit)
        named: list[Write] = []
        for row, path in zip(rows, paths, strict=True):
            admit_create(self._unit, shape, row)
            write = plan.create(shape, row, path)
            write.is_named = True
            named.append(write)
        await self._carry_out(plan)
        return [write.id for write in named]

    async def _carry_out(self, plan: Plan) -> None:
        try:
            await self._write(plan)
        except BaseException:
            self._unit.faults.forget()  # whoever goes on after a savepoint starts anew
            raise

    async def _write(self, plan: Plan) -> None:
        unit = self._unit
        await plan.expand()
        for rule, writes in _by_rule(plan.writes):
            await rule.complete(unit, writes)
        for write in plan.writes:
            if write.act is not Act.DELETE:
                check_values(unit, write)
        unit.faults.raise_unsafe()
        owners = Owners(unit, plan.writes)
        touched = await owners.climb()
        writes = [write for write in (*plan.writes, *touched) if write.is_effective]
        await check_references(unit, writes, owners)
        for write in writes:
            _check_move(unit, write)
        for rule, each in _by_rule(writes):
            writes += await rule.check(unit, each)
        if not unit.faults.in_turn:
            await check_keys(unit, writes)
        await check_locks(unit, writes, owners)
        await check_unused(unit, writes)
        if unit.faults.in_turn:  # last: a row that is faulty for whatever other reason keeps no key from the next
            await check_keys(unit, writes)
        unit.faults.raise_any()
        await self._store(writes, owners)
        unit.written += writes
        for write in writes:
            for subject in owners.subjects(write):
                unit.subjects.setdefault(subject, []).append(write)

    async def _store(self, writes: Sequence[Write], owners: Owners) -> None:
        unit = self._unit
        try:
            async with guarded(unit.session):
                await flush(unit, writes)
                for rule, each in _by_rule(writes):
                    await rule.store(unit, each)
        except BrokenConstraint as broken:
            await self._explain(broken, writes, owners)

    async def _explain(self, broken: BrokenConstraint, writes: Sequence[Write], owners: Owners) -> None:
        """Another unit was quicker: check again, now that its rows can be seen, and say what is wrong."""
        unit = self._unit
        await check_keys(unit, writes)
        await check_references(unit, writes, owners)
        await check_unused(unit, writes)
        unit.faults.raise_any()
        if broken.kind is Constraint.UNIQUE:
            wires = [shape_of(broken.set_name).wires[one] for one in broken.columns] if broken.set_name else []
            message = f"Another row has this {' and '.join(wires) or 'key'}."
            raise Conflict("ALREADY_EXISTS", message, wires[-1] if wires else None) from broken
        if broken.kind is Constraint.REFERENCE:
            if any(write.act is Act.DELETE for write in writes):
                raise Conflict("IN_USE", "Other rows refer to this one; it cannot be deleted.") from broken
            raise Invalid("UNKNOWN_REFERENCE", "A row that the request refers to does not exist.") from broken
        raise Conflict("CHANGED_MEANWHILE", "The state of things does not admit this any more.") from broken


def _not_found(shape: Shape) -> NotFound:
    return NotFound("NOT_FOUND", f"There is no row of {shape.set_name} with this ID.")


def _indices(rows: Sequence[Row]) -> list[str]:
    return [f"{index}/" for index in range(len(rows))]


def _check_move(unit: Unit, write: Write) -> None:
    """A status that a client writes obeys the machine of its entity set."""
    machine = MACHINES.get(write.set_name)
    if machine is None or write.act is Act.DELETE or write.verb is not None:
        return
    wanted = write.after["status"]
    if wanted not in codes(write.shape.fields["status"].code_list or ""):
        return  # which is a fault already
    if write.before is None:
        if wanted not in machine.initial:
            unit.faults.add(invalid_initial(machine, wanted, write.target("status")))
    elif wanted != write.before["status"]:
        move = machine.patched(write.before["status"], wanted)
        if move is None:
            unit.faults.add(invalid_transition(write.set_name, write.before["status"], wanted, write.target("status")))
        else:
            write.verb = move.verb


def _by_rule(writes: Sequence[Write]) -> list[tuple[Rules, list[Write]]]:
    """The writes of each entity set that has rules of its own."""
    found: dict[str, list[Write]] = {}
    for write in writes:
        found.setdefault(write.set_name, []).append(write)
    known = registered()
    return [(known[set_name], each) for set_name, each in found.items() if set_name in known]


def _distinct(rules: Collection[Rules]) -> list[Rules]:
    return list(dict.fromkeys(rules))

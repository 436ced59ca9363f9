"""The single path for writing authored rows: for the public API, administration, imports and templates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from promenade.errors import Conflict, Detail, Invalid, NotAllowed, NotFound
from promenade.model.access.groups import Outside
from promenade.model.declare import NONE, RO, RW_RESTRICTED, Service
from promenade.store.authoring.faults import BrokenConstraint, Constraint, guarded
from promenade.store.authoring.statements import Columns, delete_rows, find_keys, hold, insert_rows, update_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.authoring.agents import refuse_agents
from promenade.workflows.authoring.checks import check_references, check_unused, is_plain, value_faults
from promenade.workflows.authoring.keys import already_exists, check_keys
from promenade.workflows.authoring.locks import check_locks
from promenade.workflows.authoring.machines import MACHINES, invalid_initial, invalid_transition
from promenade.workflows.authoring.owners import Owners, hold_upwards
from promenade.workflows.authoring.planning import UNIT_ROWS_MAX, Plan
from promenade.workflows.authoring.rules import Rules, registered
from promenade.workflows.authoring.settings import SETTINGS, change_settings
from promenade.workflows.authoring.shapes import Shape, codes, shape_of
from promenade.workflows.authoring.trail import write_audit
from promenade.workflows.authoring.unit import Act, Decision, Row, Unit, Verb, Write


@dataclass(frozen=True, slots=True)
class Upserted:
    """The result for a row: its ID, and whether it is new."""

    id: str
    is_new: bool


class Authoring:
    """The authoring of one unit of work; `finish` is called once, at the end.

    ``importing`` permits what only bulk import may create; ``http_hosts`` are the hosts (``host``, ``host:port``,
    addresses or networks) that callback URLs may use with plain http. ``by_clock``: a change caused by time alone,
    which a locked campaign does not prevent. ``outside``: what the token of an outside issuer says of the user.

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
        outside: Outside | None = None,
    ) -> None:
        hosts = frozenset(http_hosts)
        self._unit = Unit(session, user[:255], at, new_id, service, importing, hosts, by_clock, outside)

    @property
    def shown_once(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """Server-generated values returned only in this response: by entity set and ID, properties by OData name."""
        return self._unit.shown_once

    @property
    def user(self) -> str:
        """The acting user."""
        return self._unit.user

    @property
    def new_id(self) -> Callable[[], str]:
        """The unit's source of new IDs, for workflows that also write on their own."""
        return self._unit.new_id

    def makes_room(self, rows: int) -> bool:
        """Count ``rows`` that a workflow will write on its own; False: too many for one unit."""
        if self._unit.planned + rows > UNIT_ROWS_MAX:
            return False
        self._unit.planned += rows
        return True

    async def begin(self, *, alone: bool) -> None:
        """Begin the unit, before anything else. ``alone``: exclude all other authoring units of the tenant.

        Requests lock rows in any order, so two concurrent ones may deadlock. The database then rolls one back; its
        retry must run alone, or it could fail again. Long units, such as imports, do not call this.
        """
        await hold(self._unit.session, "authoring", shared=not alone)

    async def create(self, set_name: str, row: Row, *, path: str = "") -> str:
        """Create a row with everything it owns; return its ID. Error targets start with ``path``."""
        return (await self._create(set_name, [row], [path]))[0]

    async def create_by(self, verb: Verb, set_name: str, row: Row, *, also: Columns) -> str:
        """Create a row by an action, whatever the service lets its callers create directly; return its ID.

        ``also``: columns that no caller gives.
        """
        plan = Plan(self._unit)
        write = plan.create(shape_of(set_name), row, "")
        write.after |= also
        write.is_named, write.verb = True, verb
        await self._carry_out(plan)
        return write.id

    async def create_many(self, set_name: str, rows: Sequence[Row], *, paths: Sequence[str] | None = None) -> list[str]:
        """Create many rows with a constant number of statements; error targets start with the index, or with ``paths``.

        Either all are created or none. An import's rows are checked in order, see `workflows.authoring.keys`.
        """
        with self._telling_all():
            return await self._create(set_name, rows, _indices(rows) if paths is None else paths)

    async def upsert_many(self, set_name: str, rows: Sequence[Row]) -> list[Upserted]:
        """Create rows, or change those whose natural key exists; otherwise like `create_many`.

        For the sets that imports upsert. A key that occurs twice among ``rows`` is ALREADY_EXISTS, and so is the key of
        a row with an ID other than the given one.
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
        """Change a row; ``replace`` resets what ``changes`` omits to its default."""
        shape = shape_of(set_name)
        changes = admit_update(self._unit, shape, changes)
        if set_name == SETTINGS:
            await self.configure(changes, by_operator=False)
            return
        plan = Plan(self._unit)
        before = await self._held(shape, entity_id)
        row = plan.replace(shape, changes) if replace and not shape.entity.patchable else changes
        plan.update(shape, before, row, "").is_named = True
        await self._carry_out(plan)

    async def configure(self, changes: Row, *, by_operator: bool = True) -> None:
        """Change settings of the tenant; see `change_settings`."""
        try:
            await change_settings(self._unit, changes, by_operator=by_operator)
        except BaseException:
            self._unit.faults.forget()
            raise

    async def update_many(
        self, set_name: str, changes: Mapping[str, Row], *, paths: Sequence[str] | None = None
    ) -> None:
        """Change many rows, by ID, with a constant number of statements.

        Error targets start with the position of the row, or with ``paths``. Raises NotFound if one does not exist; then
        none is changed.
        """
        shape = shape_of(set_name)
        plan = Plan(self._unit)
        held = {row["id"]: row for row in await self._held_many(shape, changes)}
        for path, (entity_id, row) in zip(paths or _indices(changes), changes.items(), strict=True):
            if entity_id not in held:
                raise _not_found(shape)
            write = plan.update(shape, held[entity_id], admit_update(self._unit, shape, row), path)
            write.is_named = True
        with self._unit.faults.telling_all():
            await self._carry_out(plan)

    async def remove(self, set_name: str, entity_id: str) -> None:
        """Delete a row with everything it owns. Raises Conflict (IN_USE) while others refer to it."""
        shape = shape_of(set_name)
        admit_remove(self._unit, shape)
        plan = Plan(self._unit)
        plan.delete(shape, await self._held(shape, entity_id), "").is_named = True
        await self._carry_out(plan)

    async def transition(
        self,
        set_name: str,
        entity_id: str,
        verb: str,
        *,
        binding: bool = False,
        decision: Decision | None = None,
        also: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Change a row's status by a verb of its state machine: ``activate``, ``lock``, ``startPilot`` ...

        The service's mode does not matter: verbs are separate actions. ``binding``: approval is binding, which allows
        some transitions more; ``decision``: of a user who may decide; ``also``: columns that the verb sets besides.
        Raises Conflict (INVALID_TRANSITION).
        """
        shape = shape_of(set_name)
        moves = MACHINES[set_name].by_verb(verb)
        plan = Plan(self._unit)
        before = await self._held(shape, entity_id)
        move = next((one for one in moves if one.starts_at(before[one.column], binding=binding)), None)
        if move is None:
            raise invalid_transition(set_name, before["status"], moves[0].target, None)
        write = plan.update(shape, before, {}, "")
        write.after |= {**also, move.column: move.target}
        write.is_named, write.verb = True, move.verb
        if decision is not None:
            self._unit.decisions[entity_id] = decision
            write.note = decision.reason
        await self._carry_out(plan)

    async def perform(self, set_name: str, entity_id: str, verb: Verb) -> None:
        """Change a row by a verb that is no transition; the rules of its set carry it out (`Rules.complete`)."""
        plan = Plan(self._unit)
        shape = shape_of(set_name)
        write = plan.update(shape, await self._held(shape, entity_id), {}, "")
        write.is_named, write.verb = True, verb
        await self._carry_out(plan)

    async def perform_many(self, set_name: str, ids: Collection[str], verb: Verb) -> None:
        """Change many rows as `perform` does, in a constant number of statements."""
        plan = Plan(self._unit)
        shape = shape_of(set_name)
        for before in await self._held_many(shape, ids):
            write = plan.update(shape, before, {}, "")
            write.is_named, write.verb = True, verb
        with self._unit.faults.telling_all():
            await self._carry_out(plan)

    async def transition_many(
        self, set_name: str, ids: Collection[str], verb: str, *, if_: Callable[[Mapping[str, Any]], bool]
    ) -> list[str]:
        """Apply a verb to those of ``ids`` whose status allows it and whose columns satisfy ``if_``.

        Both are checked once the rows are locked; other rows remain unchanged. Returns the IDs of the changed rows; the
        number of statements is constant.
        """
        shape = shape_of(set_name)
        moves = MACHINES[set_name].by_verb(verb)
        plan = Plan(self._unit)
        for before in await self._held_many(shape, ids):
            move = next((one for one in moves if one.starts_at(before[one.column])), None)
            if move is not None and if_(before):
                write = plan.update(shape, before, {}, "")
                write.after[move.column] = move.target
                write.is_named, write.verb = True, move.verb
        moved = [write.id for write in plan.writes]
        if moved:
            with self._unit.faults.telling_all():
                await self._carry_out(plan)
        return moved

    def record(self, set_name: str, row: Mapping[str, Any], verb: Verb, note: str | None = None) -> None:
        """Add ``verb`` on ``row`` (its columns) to the audit trail, without changing the row."""
        same = dict(row)
        self._unit.written.append(
            Write(shape_of(set_name), Act.UPDATE, same["id"], "", same, same, is_named=True, verb=verb, note=note)
        )

    async def hold(self, set_name: str, entity_id: str) -> int:
        """Lock a row and return its version, for If-Match. Raises NotFound."""
        return int((await self._held(shape_of(set_name), entity_id))["version"])

    async def finish(self, *, audited: bool = True) -> None:
        """Run the checks that need the whole unit, then write audit rows, events and change records.

        Without ``audited`` the caller writes the audit trail.
        """
        unit = self._unit
        await refuse_agents(unit)
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
            self._unit.faults.forget()  # a caller that continues after a savepoint starts without faults
            raise

    async def _write(self, plan: Plan) -> None:
        unit = self._unit
        await plan.expand()
        for rule, writes in _by_rule(plan.writes):
            await rule.complete(unit, writes)
        for write in plan.writes:
            if write.act is not Act.DELETE:
                unit.faults.extend(value_faults(write))
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
        if unit.faults.in_turn:  # last: a row with any other fault does not block its key for later rows
            await check_keys(unit, writes)
        unit.faults.raise_any()
        await self._store(writes, owners)
        unit.written += writes
        for write in writes:
            write.top = owners.top(write)
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
        """Check again after a concurrent write, whose rows are now visible, and raise the precise error."""
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
        raise Conflict("CHANGED_MEANWHILE", "The data has changed, and no longer allows this.") from broken


def _not_found(shape: Shape) -> NotFound:
    return NotFound("NOT_FOUND", f"There is no row of {shape.set_name} with this ID.")


def _indices(rows: Collection[Any]) -> list[str]:
    return [f"{index}/" for index in range(len(rows))]


def _check_move(unit: Unit, write: Write) -> None:
    """Check a status written by a client against the state machine of its entity set."""
    machine = MACHINES.get(write.set_name)
    if machine is None or write.act is Act.DELETE or write.verb is not None:
        return
    wanted = write.after["status"]
    if wanted not in codes(write.shape.fields["status"].code_list or ""):
        return  # already reported as a fault
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
    """Group the writes by entity set, for the sets with rules of their own."""
    found: dict[str, list[Write]] = {}
    for write in writes:
        found.setdefault(write.set_name, []).append(write)
    known = registered()
    return [(known[set_name], each) for set_name, each in found.items() if set_name in known]


def _distinct(rules: Collection[Rules]) -> list[Rules]:
    return list(dict.fromkeys(rules))


# --- what a service lets its callers do with an entity set ------------------------------------------------------------

_HARMLESS = frozenset({"ID", "tenantId", "minorVersion"})


def admit_create(unit: Unit, shape: Shape, row: Row) -> None:
    """Raise NotAllowed if the service does not allow creating rows."""
    if unit.importing and shape.entity.import_service is unit.service:
        _admit_by_rule(unit, shape, row, is_new=True)
        return
    _refuse_read_only(unit, shape)
    if shape.entity.mode(unit.service) is RW_RESTRICTED:
        message = f"{shape.set_name} cannot be created directly."
        raise NotAllowed("NOT_INSERTABLE", message, ("GET",))
    _admit_by_rule(unit, shape, row, is_new=True)


def admit_update(unit: Unit, shape: Shape, changes: Row) -> Row:
    """Return the changes if the service accepts them.

    Raises NotAllowed if it accepts none, and Invalid (NOT_CHANGEABLE) for properties that a restricted set does not
    allow to change.
    """
    _refuse_read_only(unit, shape)
    _admit_by_rule(unit, shape, changes, is_new=False)
    entity = shape.entity
    if entity.mode(unit.service) is RW_RESTRICTED:
        allowed = {shape.wires[name] for name in entity.patchable}
        names = [wire for wire in changes if wire not in allowed and wire not in _HARMLESS and "@" not in wire]
        faults = [
            Detail("NOT_CHANGEABLE", f"Of {entity.set_name} only {', '.join(sorted(allowed))} can be changed.", wire)
            for wire in names
        ]
        if faults:
            first = faults[0]
            raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())
    return changes


def admit_remove(unit: Unit, shape: Shape) -> None:
    """Raise NotAllowed if the service does not allow deleting rows."""
    _refuse_read_only(unit, shape)
    if not shape.entity.deletable:
        raise NotAllowed("NOT_DELETABLE", f"{shape.set_name} cannot be deleted directly.", ("GET", "PATCH"))


def _refuse_read_only(unit: Unit, shape: Shape) -> None:
    if shape.entity.mode(unit.service) in (NONE, RO):
        raise NotAllowed("READ_ONLY", f"{shape.set_name} can only be read.", ("GET",))


def _admit_by_rule(unit: Unit, shape: Shape, row: Row, *, is_new: bool) -> None:
    rule = registered().get(shape.set_name)
    if rule is not None:
        rule.admit(unit, row, is_new=is_new)


# --- writes reach the database in an order that its constraints admit -------------------------------------------------


async def flush(unit: Unit, writes: Sequence[Write]) -> None:
    """Write deletions first, so that their keys become free, and owners before what they own."""
    by_set: dict[str, dict[Act, list[Write]]] = {}
    emptied: dict[tuple[str, str], list[str]] = {}
    for write in writes:
        by_set.setdefault(write.set_name, {act: [] for act in Act})[write.act].append(write)
        for part in write.emptied:
            emptied.setdefault(part, []).append(write.id)
    for (set_name, column), owners in emptied.items():
        await delete_rows(unit.session, set_name, owners, column=column)
    for set_name, acts in reversed(by_set.items()):
        if acts[Act.DELETE]:
            await delete_rows(unit.session, set_name, [write.id for write in acts[Act.DELETE]])
    # Rows of an import do not trade keys, and an existing row may come to refer to a new one.
    for act in (Act.CREATE, Act.UPDATE) if unit.faults.in_turn else (Act.UPDATE, Act.CREATE):
        for set_name, acts in by_set.items():
            if acts[act] and act is Act.UPDATE:
                await update_rows(unit.session, set_name, [(one.id, _new_values(unit, one)) for one in acts[act]])
            elif acts[act]:
                await insert_rows(unit.session, set_name, [one.after for one in _referred_first(acts[act])])


def _new_values(unit: Unit, write: Write) -> dict[str, Any]:
    return {name: write.after[name] for name in write.changed} | unit.stamps(write.shape)


def _referred_first(writes: Sequence[Write]) -> list[Write]:
    """Order new rows of one set so that each follows those it refers to: a group follows its parent."""
    columns = [one.column for one in writes[0].shape.entity.links if one.target == writes[0].set_name]
    if not columns:
        return list(writes)
    rest = {write.id: write for write in writes}
    ordered: list[Write] = []
    for write in writes:
        chain: list[Write] = []
        one: Write | None = write
        while one is not None and rest.pop(one.id, None) is not None:
            chain.append(one)
            one = next((rest[key] for key in (one.after[column] for column in columns) if key in rest), None)
        ordered += reversed(chain)
    return ordered


# --- word of what decides prices --------------------------------------------------------------------------------------


async def write_changes(unit: Unit) -> None:
    """Record the changes that affect prices for all processes, once per kind."""
    for kind in sorted({kind for kind, _ in unit.subjects}):
        await record_change(unit.session, kind, *unit.ids_of(kind), at=unit.at)

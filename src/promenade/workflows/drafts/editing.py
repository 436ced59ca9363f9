"""Begin, change, activate and discard edit drafts; only the owner may do so.

All units of work lock a draft before active rows, so that they cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replaced
from datetime import datetime, timedelta
from typing import Any

from promenade import model
from promenade.errors import Conflict, Detail, Forbidden, Invalid, NotFound, PromenadeError, Unavailable
from promenade.model.declare import DRAFT, DRAFT_NODE, Service
from promenade.store.authoring.faults import BrokenConstraint, guarded
from promenade.store.authoring.statements import Columns, read_ids, read_rows
from promenade.store.drafts import rows as draft_rows
from promenade.store.drafts.ownership import (
    PURGED_MAX,
    Draft,
    begin_draft,
    delete_draft,
    find_draft,
    find_draft_of_part,
    purge_drafts,
    touch_draft,
)
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.budget_requests import withdraw_left
from promenade.workflows.authoring.locks import check_locks
from promenade.workflows.authoring.owners import Owners
from promenade.workflows.authoring.planning import ROWS_MAX
from promenade.workflows.authoring.shapes import Shape, shape_of
from promenade.workflows.authoring.unit import Act, Row, Unit, Write
from promenade.workflows.drafts.merging import located, read_draft
from promenade.workflows.drafts.planning import DraftPlan, check_new_ids, check_storable

__all__ = ["LOCK", "PURGED_MAX", "Drafts", "purge_left"]

LOCK = timedelta(minutes=15)
"""How long after its last change a draft keeps others from replacing it."""

_USER_MAX = 255


class Drafts:
    """The edit drafts of one user in one unit of work; the `Authoring` activates them.

    All methods raise Invalid, Conflict, NotFound or Forbidden; then the call has stored nothing.
    """

    def __init__(
        self, session: Session, authoring: Authoring, *, user: str, at: datetime, new_id: Callable[[], str]
    ) -> None:
        self._session = session
        self._authoring = authoring
        self._user = user[:_USER_MAX]
        self._at = at
        self._new_id = new_id
        self._unit = Unit(session, self._user, at, new_id, Service.ADMIN)

    async def create(self, set_name: str, row: Row) -> str:
        """Begin the draft of a new root, or add a part to its owner's draft; return its ID.

        The row may be incomplete; an ID in it is kept. Raises Conflict (ALREADY_EXISTS) for a taken ID.
        """
        shape = shape_of(set_name)
        owner = shape.owner
        if owner is not None:
            return await self._add(shape, row, str(row.get(owner.property_wire) or "").lower())
        await purge_left(self._session, self._at)
        root_id = str(row["ID"]).lower() if row.get("ID") else self._new_id()
        draft = Draft(self._new_id(), set_name, root_id, self._user, self._at)
        plan = DraftPlan(self._unit, draft)
        plan.create(shape, {**row, "ID": root_id}, "").has_own_id = bool(row.get("ID"))
        await self._carry_out(draft, plan, is_begun=True)
        return root_id

    async def change(self, set_name: str, entity_id: str, changes: Row, *, replace: bool = False) -> None:
        """Change a row of an own draft; ``replace`` resets properties missing in ``changes`` to their defaults.

        A list replaces the contents of a composition, a Delta changes some of it. Every change restarts the draft's
        lock period, even one that changes nothing.
        """
        shape = shape_of(set_name)
        draft, before = await self._held(shape, entity_id)
        await self._refuse_locked(draft)
        plan = DraftPlan(self._unit, draft)
        owner = shape.owner
        plan.update(
            shape,
            before,
            plan.replace(shape, changes) if replace else changes,
            "",
            None if owner is None else (owner.column, before[owner.column]),
        )
        await self._carry_out(draft, plan)

    async def remove(self, set_name: str, entity_id: str) -> None:
        """Discard an own draft, or remove a part of it with everything that the part owns."""
        shape = shape_of(set_name)
        draft, _ = await self._held(shape, entity_id)
        if shape.owner is None:
            await delete_draft(self._session, draft)
            await withdraw_left(self._authoring, self._session, set_name, entity_id)
            return
        await self._refuse_locked(draft)
        await draft_rows.remove_rows(self._session, draft, {set_name: {entity_id}})
        await touch_draft(self._session, draft, self._at)

    async def edit(self, set_name: str, entity_id: str, *, preserve: bool) -> None:
        """Begin a draft of an active row, with copies of it and of everything it owns.

        Raises Conflict (DRAFT_ALREADY_EXISTS) if any user has a draft of it that is still locked or is to be preserved;
        a draft whose lock has expired is replaced otherwise.
        """
        await purge_left(self._session, self._at)
        if not await read_ids(self._session, set_name, (entity_id,)):
            raise NotFound("NOT_FOUND", f"There is no row of {set_name} with this ID.")
        draft = Draft(self._new_id(), set_name, entity_id, self._user, self._at)
        try:
            async with guarded(self._session):
                await self._replace_left(draft, preserve=preserve)
                await begin_draft(self._session, draft)
                await self._authoring.hold(set_name, entity_id)
                await self._refuse_locked(draft)
                await self._copy(draft)
        except BrokenConstraint as broken:
            if broken.set_name == "drafts":
                raise _draft_already_exists() from broken
            raise Conflict("ALREADY_EXISTS", f"Another draft has a row of {broken.set_name} with this ID.") from broken

    async def activate(self, set_name: str, entity_id: str) -> bool:
        """Make an own draft the active row and delete the draft; return whether the row is new.

        On an existing active row only the draft's changes are written. Raises what `Authoring` raises.
        """
        draft = await self._own(shape_of(set_name), entity_id)
        is_new = await self._activate(draft, self._authoring)
        await delete_draft(self._session, draft)
        return is_new

    async def prepare(self, set_name: str, entity_id: str) -> Sequence[Detail]:
        """Return the errors that activating an own draft would raise now; nothing is stored."""
        draft = await self._own(shape_of(set_name), entity_id)
        trial = Authoring(self._session, user=self._user, at=self._at, new_id=self._new_id, service=Service.ADMIN)
        try:
            async with self._session.savepoint():
                await self._activate(draft, trial, is_tried=True)
                raise _Undone
        except _Undone:
            return ()
        except Unavailable:
            raise
        except PromenadeError as error:
            return error.details or (Detail(error.code, error.message, error.target),)

    async def refuse_foreign(self, set_name: str, entity_id: str) -> None:
        """Raise Forbidden (DRAFT_LOCKED_BY_ANOTHER_USER) for a row that is part of another user's draft."""
        draft = await self._find(shape_of(set_name), entity_id, hold=False)
        if draft is not None and draft.user != self._user:
            raise _locked_by_another()

    async def admit_active_write(self, set_name: str, entity_id: str, *, removing: bool) -> None:
        """Raise Conflict or Forbidden for a direct write of an active row that has a draft or is part of a root."""
        mode = model.entity(set_name).admin
        if mode is DRAFT_NODE:
            message = f"Change rows of {set_name} through the draft of the row that they belong to."
            raise Forbidden("ONLY_THROUGH_DRAFT", message)
        draft = await find_draft(self._session, set_name, entity_id) if mode is DRAFT else None
        if draft is None:
            return
        if not removing:
            raise _draft_already_exists()
        if draft.user != self._user:
            raise _locked_by_another()
        raise Forbidden(
            "DRAFT_EXISTS", "This row has a draft; activate or discard the draft before you delete the row."
        )

    async def hold(self, set_name: str, entity_id: str) -> int:
        """Lock a row of an own draft until the unit ends and return its version, for If-Match."""
        return int((await self.read(set_name, entity_id))["version"])

    async def read(self, set_name: str, entity_id: str) -> Columns:
        """Return a row of an own draft, locked until the unit ends."""
        return (await self._held(shape_of(set_name), entity_id))[1]

    # ---- finding ------------------------------------------------------------------------------------------------

    async def _find(self, shape: Shape, entity_id: str, *, hold: bool) -> Draft | None:
        find = find_draft if shape.owner is None else find_draft_of_part
        return await find(self._session, shape.set_name, entity_id, hold=hold)

    async def _own(self, shape: Shape, entity_id: str) -> Draft:
        draft = await self._find(shape, entity_id, hold=True)
        if draft is None:
            raise _not_found(shape)
        if draft.user != self._user:
            raise _locked_by_another()
        return draft

    async def _held(self, shape: Shape, entity_id: str) -> tuple[Draft, Columns]:
        draft = await self._own(shape, entity_id)
        row = await draft_rows.read_row(self._session, draft, shape.set_name, entity_id)
        if row is None:
            raise _not_found(shape)
        return draft, row

    async def _refuse_locked(self, draft: Draft) -> None:
        """Raise Conflict (LOCKED) for a draft of an object that a locked campaign freezes."""
        rows = await read_rows(self._session, draft.set_name, "id", (draft.root_id,))
        unit = Unit(self._session, self._user, self._at, self._new_id, Service.ADMIN)
        shape = shape_of(draft.set_name)
        writes = [Write(shape, Act.UPDATE, draft.root_id, "", row, row) for row in rows]
        await check_locks(unit, writes, Owners(unit, writes))
        unit.faults.raise_any()

    # ---- writing ------------------------------------------------------------------------------------------------

    async def _add(self, shape: Shape, row: Row, owner_id: str) -> str:
        owner = shape.owner
        assert owner is not None  # noqa: S101 - the caller has looked
        if not owner_id:
            raise Invalid("REQUIRED", f"{owner.property_wire} is required.", owner.property_wire)
        above = shape_of(owner.target)
        try:
            draft, _ = await self._held(above, owner_id)
        except NotFound:
            message = f"{owner.property_wire} does not name a row of a draft."
            raise Invalid("UNKNOWN_REFERENCE", message, owner.property_wire) from None
        await self._refuse_locked(draft)
        plan = DraftPlan(self._unit, draft)
        write = plan.create(shape, row, "", (owner.column, owner_id))
        part = next(one for one in draft_rows.parts_of(above.set_name) if one.set_name == shape.set_name)
        if not part.composition.many:
            below = await draft_rows.read_below(self._session, draft, shape.set_name, owner.column, (owner_id,))
            if not all(one["removed"] for one in below):
                message = f"There is already a row of {shape.set_name}, and only one is allowed."
                raise Conflict("ALREADY_EXISTS", message, owner.property_wire)
        await self._carry_out(draft, plan)
        return write.id

    async def _carry_out(self, draft: Draft, plan: DraftPlan, *, is_begun: bool = False) -> None:
        unit = self._unit
        try:
            await plan.expand()
            check_storable(unit, plan.writes)
            unit.faults.raise_unsafe()
            await check_new_ids(unit, plan.writes)
            unit.faults.raise_any()
            async with guarded(self._session):
                if is_begun:
                    await begin_draft(self._session, draft)
                else:
                    await touch_draft(self._session, draft, self._at)
                await self._store(draft, plan.writes)
                if not is_begun:
                    await self._bound(draft, plan.writes)
        except BrokenConstraint as broken:
            unit.faults.forget()
            raise Conflict("ALREADY_EXISTS", "Another draft has a row with this ID.", "ID") from broken
        except BaseException:
            unit.faults.forget()  # a caller that continues after a savepoint must start afresh
            raise

    async def _bound(self, draft: Draft, writes: Sequence[Write]) -> None:
        """Limit a draft's rows to what one request may write, since one request activates it.

        Checked last: parts that the draft itself added and removed again are deleted, and make room.
        """
        is_more = any(write.act is Act.CREATE for write in writes)
        if is_more and await draft_rows.count_rows(self._session, draft) > ROWS_MAX:
            raise _too_many_rows()

    async def _store(self, draft: Draft, writes: Sequence[Write]) -> None:
        for set_name in dict.fromkeys(write.set_name for write in writes):
            each = [write for write in writes if write.set_name == set_name]
            changed = [write for write in each if write.act is Act.UPDATE and write.changed]
            changes = [(write.id, self._new_values(write)) for write in changed]
            await draft_rows.update_rows(self._session, set_name, changes)
            new = [{**write.after, "version": 1} for write in each if write.act is Act.CREATE]
            await draft_rows.insert_rows(self._session, draft, set_name, new)
        gone: dict[str, set[str]] = {}
        for write in writes:
            if write.act is Act.DELETE:
                gone.setdefault(write.set_name, set()).add(write.id)
        if gone:
            await draft_rows.remove_rows(self._session, draft, gone)

    def _new_values(self, write: Write) -> Mapping[str, Any]:
        values = {name: write.after[name] for name in write.changed} | self._unit.stamps(write.shape)
        noted = (write.before or {})["changed"]
        if noted is not None:
            # The database driver returns column names as a str subclass.
            values["changed"] = sorted({*noted, *map(str, write.changed)} - {"removed"})
        return values

    async def _replace_left(self, draft: Draft, *, preserve: bool) -> None:
        left = await find_draft(self._session, draft.set_name, draft.root_id)
        if left is None:
            return
        # Checked before waiting for its lock: the holder may be waiting for the active row, which this unit has locked.
        self._refuse_to_replace(left, preserve)
        left = await find_draft(self._session, draft.set_name, draft.root_id, hold=True)
        if left is not None:
            self._refuse_to_replace(left, preserve)
            await delete_draft(self._session, left)

    def _refuse_to_replace(self, left: Draft, preserve: bool) -> None:
        if preserve or self._at - left.changed_at < LOCK:
            raise _draft_already_exists()

    async def _copy(self, draft: Draft) -> None:
        left = ROWS_MAX
        for part in (None, *draft_rows.parts_of(draft.set_name)):
            left -= await draft_rows.copy_rows(self._session, draft, part, left + 1)
            if left < 0:
                raise _too_many_rows()

    async def _activate(self, draft: Draft, authoring: Authoring, *, is_tried: bool = False) -> bool:
        tree = await read_draft(self._session, draft)
        is_there = not tree.is_new and await self._holds_active(draft, authoring)
        if is_there:
            await self._refuse_locked(draft)
        row: Row = {}
        try:
            if not is_there:
                row = tree.whole()
                await authoring.create(draft.set_name, row)
            elif tree.is_touched:
                row = await tree.changes(self._session)
                await authoring.update(draft.set_name, draft.root_id, row)
            if is_tried:
                await authoring.finish()
        except PromenadeError as error:
            error.target = located(row, error.target)
            error.details = tuple([replaced(one, target=located(row, one.target)) for one in error.details])
            raise
        return not is_there

    async def _holds_active(self, draft: Draft, authoring: Authoring) -> bool:
        try:
            await authoring.hold(draft.set_name, draft.root_id)
        except NotFound:
            return False
        return True


class _Undone(Exception):
    """Rolls back the part of a unit that was only a trial."""


def _not_found(shape: Shape) -> NotFound:
    return NotFound("NOT_FOUND", f"There is no draft of {shape.set_name} with this ID.")


def _draft_already_exists() -> Conflict:
    return Conflict("DRAFT_ALREADY_EXISTS", "This row already has a draft; activate or discard that first.")


def _locked_by_another() -> Forbidden:
    return Forbidden("DRAFT_LOCKED_BY_ANOTHER_USER", "Another user is editing this row.")


def _too_many_rows() -> Invalid:
    return Invalid("TOO_MANY_ROWS", f"A draft can have at most {ROWS_MAX} rows, parts of rows included.")


# --- drafts that nobody touches go after a month ----------------------------------------------------------------------

KEPT = timedelta(days=30)


async def purge_left(session: Session, at: datetime) -> int:
    """Delete the oldest abandoned drafts, at most `PURGED_MAX`; return how many there were.

    Covers the session's tenant, or all tenants in a system session.
    """
    return await purge_drafts(session, at - KEPT)

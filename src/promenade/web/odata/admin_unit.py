"""The data of administration: active entities are written through `Authoring`, edit drafts through `Drafts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from odata_server.draft import ACTIVATE, EDIT, IS_ACTIVE, PREPARE
from odata_server.edm import Action, DraftRole, DraftWay, EntitySet
from odata_server.errors import not_implemented
from odata_server.source import ByKey, Key, OperationCall, Payload, Query, Result, Unit
from promenade.errors import Conflict, Forbidden, NotFound, PromenadeError
from promenade.model.declare import Service
from promenade.store.driver.unit import Session
from promenade.web.access.auth import Caller
from promenade.web.odata.draft_faults import place_at_binding
from promenade.web.odata.preparing import Prepared, prepared_first
from promenade.web.odata.source import AuthoredSource, AuthoredUnit
from promenade.workflows.authoring import Authoring
from promenade.workflows.context import Context
from promenade.workflows.drafts import Drafts

T = TypeVar("T")

_OF_DRAFTS = frozenset({ACTIVATE, EDIT, PREPARE, "askForBudget"})


class AdminUnit(AuthoredUnit):
    """A transaction of a user of administration."""

    def __init__(
        self,
        session: Session,
        authoring: Authoring,
        drafts: Drafts,
        actions: AdminOperations,
        examined: Examined,
        at: datetime,
        caller: Caller,
    ) -> None:
        super().__init__(session, Service.ADMIN, authoring, {}, at)
        self.caller = caller
        self.drafts = drafts
        self.has_activated = False
        """Whether what it writes comes out of a draft."""
        self.prepared: Prepared = {}
        self._actions = actions
        self._examined = examined

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        """Create a root as a draft unless it is declared active; add a part to its owner's draft."""
        role = self._type_of(entity_set).draft
        if role is None:
            return await super().create(entity_set, payload)
        if self._is_active(entity_set, payload):
            if role is DraftRole.NODE:
                raise _only_through_draft(entity_set)
            if "ID" in payload.values:  # it may be the ID of a draft, whose place the row would take
                await self.drafts.admit_active_write(entity_set.name, payload.values["ID"], removing=False)
            return {**await super().create(entity_set, payload), IS_ACTIVE: True}
        self._has_written = True
        return {"ID": await self.drafts.create(entity_set.name, self._row(entity_set, payload)), IS_ACTIVE: False}

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        if key.get(IS_ACTIVE) is False:
            self._has_written = True
            row = self._row(entity_set, payload)
            await self.drafts.change(entity_set.name, key["ID"], row, replace=replace)
            return
        if self._type_of(entity_set).draft is not None:
            await self.drafts.admit_active_write(entity_set.name, key["ID"], removing=False)
        await super().update(entity_set, key, payload, replace=replace)

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        if key.get(IS_ACTIVE) is False:
            self._has_written = True
            await self.drafts.remove(entity_set.name, key["ID"])
            return
        if self._type_of(entity_set).draft is not None:
            await self.drafts.admit_active_write(entity_set.name, key["ID"], removing=True)
        await super().delete(entity_set, key)

    async def invoke(self, call: OperationCall) -> Result:
        action = self._actions.get(call.operation.name)
        if action is None:
            raise not_implemented(call.operation.name)
        if call.operation.name not in _OF_DRAFTS and (call.binding or {}).get(IS_ACTIVE) is False:
            message = f"A draft cannot {call.operation.name}: activate it (draftActivate), then call the active entity."
            raise Conflict("IS_A_DRAFT", message)
        self._has_written = self._has_written or isinstance(call.operation, Action)
        return await action(self, call)

    async def finish(self) -> None:
        try:
            await super().finish()
        except PromenadeError as error:
            if self.has_activated:
                place_at_binding(error)
            raise

    async def _hold(self, query: Query) -> None:
        """Lock a draft by its row; another user's draft is treated like a missing one."""
        first = query.target.steps[0] if query.target.steps else None
        if isinstance(first, ByKey) and first.key.get(IS_ACTIVE) is False:
            with suppress(NotFound):  # the read that follows reports it
                await self.drafts.hold(query.target.root.name, first.key["ID"])
            return
        await super()._hold(query)

    def _row(self, entity_set: EntitySet, payload: Payload) -> dict[str, Any]:
        row = super()._row(entity_set, payload)
        if entity_set.name in self._examined:
            self._examined[entity_set.name](row)
        return row

    def _is_active(self, entity_set: EntitySet, payload: Payload) -> bool:
        """Return whether the body declares the row active, or links it to an active owner."""
        said = payload.values.get(IS_ACTIVE)
        navigations = self._type_of(entity_set).navigation_by_name
        for name, keys in payload.links.items():
            if navigations[name].draft_way is DraftWay.SAME and len(keys) == 1 and said is None:
                said = keys[0].get(IS_ACTIVE)
        return said is True


def _only_through_draft(entity_set: EntitySet) -> Forbidden:
    message = f"Add rows of {entity_set.name} through the draft of the row that they belong to."
    return Forbidden("ONLY_THROUGH_DRAFT", message)


AdminOperations = Mapping[str, Callable[[AdminUnit, OperationCall], Awaitable[Result]]]
"""What carries out the actions of administration, by their names."""


Examined = Mapping[str, Callable[[Mapping[str, Any]], None]]
"""By entity set, what checks a written row as the other services of the web would; it raises Invalid."""


class AdminSource(AuthoredSource):
    """The data of administration for the tenant and the user of each caller."""

    def __init__(self, context: Context, operations: AdminOperations, examined: Examined) -> None:
        super().__init__(context, Service.ADMIN, {})
        self._actions = operations
        self._examined = examined

    async def transact(self, caller: Caller, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        """Run a transaction like `AuthoredSource.transact`, after the preparations that its actions need."""
        once = super().transact

        async def run(prepared: Prepared) -> T:
            async def with_prepared(unit: Unit) -> T:
                if isinstance(unit, AdminUnit):
                    unit.prepared = prepared
                return await work(unit)

            return await once(caller, with_prepared, writes=writes)

        return await prepared_first(self._context, run)

    def _unit(self, session: Session, caller: Caller, at: datetime) -> AdminUnit:
        authoring = self._authoring(session, caller, at)
        drafts = Drafts(session, authoring, user=caller.user, at=at, new_id=self._context.new_id)
        return AdminUnit(session, authoring, drafts, self._actions, self._examined, at, caller)

"""Where administration has its data: what is active is written through `Authoring`, edit drafts through `Drafts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from odata_server.draft import IS_ACTIVE
from odata_server.draft_roles import DraftRole
from odata_server.edm import EntitySet
from odata_server.errors import not_implemented
from odata_server.source import Key, OperationCall, Payload, Result
from promenade.model.declare import Service
from promenade.store.unit import Session
from promenade.web.auth import Caller
from promenade.web.odata import AuthoredSource, AuthoredUnit
from promenade.workflows.authoring import Authoring
from promenade.workflows.context import Context

__all__ = ["AdminOperations", "AdminSource", "AdminUnit"]


class AdminUnit(AuthoredUnit):
    """One transaction of one user of administration."""

    def __init__(self, session: Session, authoring: Authoring, actions: AdminOperations, at: datetime) -> None:
        super().__init__(session, Service.ADMIN, authoring, {}, at)
        self._actions = actions

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        entity_type = self._type_of(entity_set)
        if entity_type.draft is None:
            return await super().create(entity_set, payload)
        if payload.values.get(IS_ACTIVE) is not True or entity_type.draft is DraftRole.NODE:
            raise not_implemented("A draft")
        return {**await super().create(entity_set, payload), IS_ACTIVE: True}

    async def invoke(self, call: OperationCall) -> Result:
        self._has_written = True
        action = self._actions.get(call.operation.name)
        if action is None:
            raise not_implemented(call.operation.name)
        return await action(self, call)


AdminOperations = Mapping[str, Callable[[AdminUnit, OperationCall], Awaitable[Result]]]
"""What carries out the actions of administration, by their names."""


class AdminSource(AuthoredSource):
    """The data of administration, for the tenant and the user of each caller."""

    def __init__(self, context: Context, operations: AdminOperations) -> None:
        super().__init__(context, Service.ADMIN, {})
        self._actions = operations

    def _unit(self, session: Session, caller: Caller, at: datetime) -> AdminUnit:
        return AdminUnit(session, self._authoring(session, caller, at), self._actions, at)

"""The data of this product's OData services: rows are read by the model and written through `Authoring`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from odata_server.edm import Action, Edm, EntitySet, EntityType
from odata_server.errors import bad_request
from odata_server.source import ByKey, Key, OperationCall, Payload, Query, Result, Rows, Unit
from promenade.errors import NotFound
from promenade.model.declare import Service, declared
from promenade.model.edm import edm_for
from promenade.store.authoring.statements import hold
from promenade.store.driver.unit import Session
from promenade.store.odata.payloads import row_of
from promenade.store.odata.services import reader_for
from promenade.web.access.auth import Caller
from promenade.workflows.authoring import Authoring
from promenade.workflows.context import Context

ENTITIES_MAX = 50_000
"""Entities in one answer, expanded ones counted wherever they are written."""

QUERY_SECONDS = 3.0
"""How long a query that a client made up may take; then it is refused (400 QUERY_TOO_EXPENSIVE)."""

USER_LENGTH_MAX = 255
"""Of a user's name as much is kept."""

TURNS = timedelta(seconds=10)
"""How long the authors of a tenant take turns after two of them had to be kept from waiting for each other."""

T = TypeVar("T")


class AuthoredUnit:
    """A transaction of a caller, implementing `odata_server.source.Unit`; ``at`` is its time."""

    def __init__(
        self,
        session: Session,
        service: Service,
        authoring: Authoring,
        operations: Operations,
        at: datetime,
    ) -> None:
        self.session = session
        self.authoring = authoring
        self.at = at
        self._reader = reader_for(service)
        self._edm = edm_for(service)
        self._operations = operations
        self._has_written = False

    async def read(self, query: Query) -> Rows:
        if query.lock:
            await self._hold(query)
        rows = await self._reader.read(self.session, query)
        if query.options.expand:
            _Weighing(self._edm).weigh(query.target.entity_type, rows.items)
        if self.authoring.shown_once:
            self._add_what_is_shown_once(query, rows)
        return rows

    async def _hold(self, query: Query) -> None:
        """Lock the owners of the target row first: holding a row while waiting for its owner would block others.

        A row addressed by another key than its ID need not exist: the key itself is locked, so that of several writers
        that find no row one creates it, and the others change it.
        """
        steps = query.target.steps
        if not steps or not isinstance(steps[0], ByKey):
            return
        key = steps[0].key
        if "ID" not in key:
            await hold(self.session, f"{query.target.root.name} {sorted(key.items())}")
        elif _has_owner(query.target.root.name):
            with suppress(NotFound):  # the read that follows reports it
                await self.authoring.hold(query.target.root.name, key["ID"])

    async def count(self, query: Query) -> int:
        return await self._reader.count(self.session, query)

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        self._has_written = True
        return {"ID": await self.authoring.create(entity_set.name, self._row(entity_set, payload))}

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        self._has_written = True
        await self.authoring.update(entity_set.name, key["ID"], self._row(entity_set, payload), replace=replace)

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        self._has_written = True
        await self.authoring.remove(entity_set.name, key["ID"])

    async def invoke(self, call: OperationCall) -> Result:
        self._has_written = self._has_written or isinstance(call.operation, Action)
        return await self._operations[call.operation.name](self, call)

    async def finish(self) -> None:
        """Run the checks that need the whole unit of work, before it is committed."""
        if self._has_written:
            await self.authoring.finish()

    def tells_once(self, entity_set: EntitySet, key: Key) -> bool:
        """Return whether the unit generated a value of this row that only the answer to its creation shows."""
        return key.get("ID") in self.authoring.shown_once.get(entity_set.name, {})

    def _type_of(self, entity_set: EntitySet) -> EntityType:
        found: EntityType = self._edm.entity_types[entity_set.entity_type]
        return found

    def _row(self, entity_set: EntitySet, payload: Payload) -> dict[str, Any]:
        return row_of(self._edm, self._type_of(entity_set), payload)

    def _add_what_is_shown_once(self, query: Query, rows: Rows) -> None:
        """Add generated secrets to the answer to their creation, the only place where they are shown."""
        made = self.authoring.shown_once.get(query.target.root.name, {})
        for step in query.target.steps:
            if isinstance(step, ByKey) and len(query.target.steps) == 1 and rows.items:
                rows.items[0].update(made.get(str(step.key.get("ID")), {}))


def _has_owner(set_name: str) -> bool:
    """Return whether rows of the set are locked after another; parts of a packed row are never changed."""
    entity = declared().get(set_name)
    return entity is not None and entity.owner is not None and not entity.packed


class _Weighing:
    """Counts the entities of an answer, expanded ones at every place where they are written.

    A row may be written many times: every promotion of a campaign contains the campaign, which contains them again.
    Reading it once is cheap; written out, a few hundred rows make gigabytes.
    """

    def __init__(self, edm: Edm) -> None:
        self._edm = edm
        self._known: dict[int, int] = {}

    def weigh(self, entity_type: EntityType, rows: Sequence[Mapping[str, Any]]) -> int:
        """Return how many entities these rows are when written. Raises ODataError 400 (EXPAND_TOO_LARGE)."""
        total = 0
        for row in rows:
            found = self._known.get(id(row))
            if found is None:
                found = self._known[id(row)] = 1 + self._inside(entity_type, row)
            total += found
            if total > ENTITIES_MAX:
                message = (
                    f"The answer would hold more than {ENTITIES_MAX} entities: expand less, or ask for smaller pages."
                )
                raise bad_request("EXPAND_TOO_LARGE", message, "$expand")
        return total

    def _inside(self, entity_type: EntityType, row: Mapping[str, Any]) -> int:
        total = 0
        for name, navigation in entity_type.navigation_by_name.items():
            value = row.get(name)
            if value:
                inside = value if isinstance(value, list) else (value,)
                total += self.weigh(self._edm.entity_types[navigation.target], inside)
        return total


Operations = Mapping[str, Callable[[AuthoredUnit, OperationCall], Awaitable[Result]]]
"""What carries out the operations of a service, by their names."""


class AuthoredSource:
    """The data of one service, for the tenant of each caller."""

    def __init__(self, context: Context, service: Service, operations: Operations) -> None:
        self._context = context
        self._service = service
        self._operations = operations
        self._take_turns: dict[str, datetime] = {}  # by tenant, until when: its authors' transactions conflicted

    async def transact(self, caller: Caller, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        """Run ``work`` in one transaction that sees only the caller's tenant."""
        at = self._context.clock()
        attempts = 0

        async def in_session(session: Session) -> T:
            nonlocal attempts
            attempts += 1
            if not writes:
                session.limit(QUERY_SECONDS)
            if writes and attempts > 1:
                self._take_turns[caller.tenant_id] = at + TURNS
            unit = self._unit(session, caller, at)
            if writes:
                await unit.authoring.begin(alone=at < self._take_turns.get(caller.tenant_id, at))
            result = await work(unit)
            await unit.finish()
            return result

        database = self._context.database
        begin = database.write if writes else database.read
        return await begin(
            in_session, tenant=caller.tenant_id, user=caller.user[:USER_LENGTH_MAX], at=at, agent=caller.agent
        )

    def _unit(self, session: Session, caller: Caller, at: datetime) -> AuthoredUnit:
        """Return the unit that carries out a transaction of ``caller``."""
        authoring = self._authoring(session, caller, at)
        return AuthoredUnit(session, self._service, authoring, self._operations, at)

    def _authoring(self, session: Session, caller: Caller, at: datetime) -> Authoring:
        return Authoring(
            session,
            user=caller.user,
            at=at,
            new_id=self._context.new_id,
            service=self._service,
            http_hosts=self._context.webhook_allow,
            outside=caller.outside,
        )

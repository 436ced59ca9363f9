"""Between a service and its data: what is asked for, what comes back, and the protocol of who carries it out.

`odata_server.sql` implements reading over SQLAlchemy tables, `odata_server.sql_source` all of it for plain tables; a
host with rules of its own implements `Unit` around the reader.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from odata_server.edm import EntitySet, EntityType, NavigationProperty, Operation
from odata_server.expressions import Expression
from odata_server.syntax import QueryOptions

__all__ = [
    "ByFilter",
    "ByKey",
    "ByNavigation",
    "Key",
    "Nested",
    "OperationCall",
    "Payload",
    "Query",
    "Result",
    "Rows",
    "Source",
    "Step",
    "Target",
    "Unit",
]

T = TypeVar("T")

Key = Mapping[str, Any]
"""The key properties of an entity and their values, complete."""

# ---- reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ByKey:
    """The one entity with this key."""

    key: Key


@dataclass(frozen=True, slots=True)
class ByNavigation:
    """The entities that a navigation property of the current ones leads to."""

    navigation: NavigationProperty
    entity_type: EntityType  # that it leads to


@dataclass(frozen=True, slots=True)
class ByFilter:
    """Those that a ``/$filter(...)`` segment leaves."""

    expression: Expression


Step = ByKey | ByNavigation | ByFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The entities that a path leads to: ``root``, then ``steps`` in order.

    ``entity_type`` is theirs, ``entity_set`` the set they live in (None: in none), ``single`` whether the path allows
    one at most.
    """

    root: EntitySet
    entity_type: EntityType
    entity_set: EntitySet | None
    steps: tuple[Step, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Entities to read, and how.

    At most ``page_size`` rows of the outermost collection (and of each expanded one) come back; more are told by
    `Rows.next_token`, which comes back here in ``options.skiptoken``. ``prefix`` begins the names of annotations
    inside rows, ``@`` or ``@odata.``; ``quoted_numbers``: Int64 and Decimal as strings (IEEE754Compatible); ``etags``:
    whether rows carry ``<prefix>etag``. ``lock``: rows read may not be changed by others before this unit ends.
    """

    target: Target
    options: QueryOptions = field(default_factory=QueryOptions)
    page_size: int = 1000
    now: datetime
    prefix: str = "@"
    quoted_numbers: bool = False
    etags: bool = True
    lock: bool = False


@dataclass(slots=True)
class Rows:
    """A page of entities.

    Each is a dict in the order of the model (or of ``$select``): property -> value as `odata_server.edm` says,
    ``<prefix>etag`` first, expanded navigation -> dict, list or None with its ``<nav><prefix>count`` and
    ``<nav><prefix>nextLink`` (relative to the service root) before it. ``count`` is of all, not of the page.
    """

    items: list[dict[str, Any]]
    count: int | None = None
    next_token: str | None = None


# ---- writing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nested:
    """What a body says about a navigation property: the whole new set, or (``delta``) changes to it.

    Items with a known key are changed, others created. A navigation to one entity has one item, or none for null.
    """

    items: tuple[Payload, ...]
    removed: tuple[Key, ...] = ()
    delta: bool = False


@dataclass(frozen=True, slots=True)
class Payload:
    """A decoded body: property -> Python value, checked for type and facets, computed ones left out.

    A bound to-one navigation has become values of the properties it is joined on. ``links`` are bound to-many ones.
    """

    values: Mapping[str, Any]
    nested: Mapping[str, Nested] = field(default_factory=lambda: MappingProxyType({}))
    links: Mapping[str, tuple[Key, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCall:
    """A call: ``binding`` is the key of the entity it is called on, known to exist; ``entity_set`` where that lives."""

    operation: Operation
    parameters: Mapping[str, Any]
    entity_set: EntitySet | None = None
    binding: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an operation came to: ``value``, or the ``key`` of the entity (in ``entity_set``) that is to be answered."""

    value: Any = None
    key: Key | None = None
    entity_set: EntitySet | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Unit(Protocol):
    """One transaction of one caller; every method may raise `ODataError` or the host's own errors."""

    async def read(self, query: Query) -> Rows:
        """A page of entities; none if there are none."""
        ...

    async def count(self, query: Query) -> int:
        """How many there are, heeding ``$filter`` and ``$search`` only."""
        ...

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        """Make an entity, with all that is nested in it."""
        ...

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        """Change an entity that exists; ``replace``: what the body leaves out gets its default (PUT)."""
        ...

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        """Delete an entity that exists."""
        ...

    async def invoke(self, call: OperationCall) -> Result:
        """Carry out an operation."""
        ...


class Source(Protocol):
    """Where the data is."""

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        """Run ``work`` in one transaction for ``caller``: committed when it returns, rolled back when it raises.

        ``work`` awaits nothing but methods of its unit, and may be run again from its start when the commit failed.
        """
        ...

"""The interface between a service and its data: queries, results, and the protocol of the implementation.

`odata_server.sql` implements reading from SQLAlchemy tables, `odata_server.sql_source` the whole protocol for plain
tables; a host with its own rules implements `Unit` around the reader.
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
    """The entity with this key."""

    key: Key


@dataclass(frozen=True, slots=True)
class ByNavigation:
    """The entities that a navigation property of the current entities leads to."""

    navigation: NavigationProperty
    entity_type: EntityType  # of the target


@dataclass(frozen=True, slots=True)
class ByFilter:
    """The entities that match a ``/$filter(...)`` segment."""

    expression: Expression


Step = ByKey | ByNavigation | ByFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The entities that a path addresses: ``root``, then ``steps`` in order.

    ``entity_type`` is their type, ``entity_set`` the set that holds them (None: no set), ``single`` whether the path
    allows at most one.
    """

    root: EntitySet
    entity_type: EntityType
    entity_set: EntitySet | None
    steps: tuple[Step, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query for entities.

    It returns at most ``page_size`` rows of the outermost collection (and of each expanded one); if there are more,
    `Rows.next_token` is set and is passed back in ``options.skiptoken``. ``prefix`` starts the names of annotations
    inside rows, ``@`` or ``@odata.``; ``quoted_numbers``: Int64 and Decimal as strings (IEEE754Compatible); ``etags``:
    whether rows contain ``<prefix>etag``. ``lock``: other transactions must not change the rows before this unit ends,
    nor create the one that an alternate key names, if it can be helped.
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

    Each is a dict in the order of the model (or of ``$select``): property -> value as described in `odata_server.edm`,
    ``<prefix>etag`` first, expanded navigation -> dict, list or None, preceded by its ``<nav><prefix>count`` and
    ``<nav><prefix>nextLink`` (relative to the service root). ``count`` is the total number, not that of the page.
    """

    items: list[dict[str, Any]]
    count: int | None = None
    next_token: str | None = None


# ---- writing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nested:
    """The content of a navigation property in a body: the whole new set, or (``delta``) changes to it.

    Items with a known key are updated, others created. A navigation to one entity has one item, or none for null.
    """

    items: tuple[Payload, ...]
    removed: tuple[Key, ...] = ()
    delta: bool = False


@dataclass(frozen=True, slots=True)
class Payload:
    """A decoded body: property -> Python value, checked for type and facets, without computed properties.

    A bound single-valued navigation becomes values of its join properties. ``links`` are bound collection-valued ones.
    """

    values: Mapping[str, Any]
    nested: Mapping[str, Nested] = field(default_factory=lambda: MappingProxyType({}))
    links: Mapping[str, tuple[Key, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCall:
    """A call of an operation.

    ``binding`` is the key of the entity it is called on, which exists; ``entity_set`` is the set of that entity.
    """

    operation: Operation
    parameters: Mapping[str, Any]
    entity_set: EntitySet | None = None
    binding: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of an operation: ``value``, or the ``key`` of the entity (in ``entity_set``) to return."""

    value: Any = None
    key: Key | None = None
    entity_set: EntitySet | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Unit(Protocol):
    """One transaction of one caller; every method may raise `ODataError` or the host's own errors."""

    async def read(self, query: Query) -> Rows:
        """Return a page of entities; it is empty if there are none."""
        ...

    async def count(self, query: Query) -> int:
        """Return the number of entities, considering only ``$filter`` and ``$search``."""
        ...

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        """Create an entity with everything nested in it."""
        ...

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        """Update an existing entity; ``replace``: properties missing in the body get their default (PUT)."""
        ...

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        """Delete an existing entity."""
        ...

    async def invoke(self, call: OperationCall) -> Result:
        """Execute an operation."""
        ...


class Source(Protocol):
    """A data source."""

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        """Run ``work`` in one transaction for ``caller``: committed when it returns, rolled back when it raises.

        ``work`` may only await methods of its unit, and may be restarted from the beginning if the commit failed.
        """
        ...

"""Where names lead: entities in the FROM of a statement, the entities joined to them, and collections.

`Weights` tell how large an expression is once it is written out as SQL. Where SQL has no function of the kind, one of
OData's is made of several that all read its argument; two dozen inside each other would come to a million lines. What
is shared in memory is measured once, so measuring is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, False_, FromClause, Text, True_, and_, case, not_, type_coerce
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import SelectBase
from sqlalchemy.sql.visitors import ExternallyTraversible

from odata_server.draft import ADMINISTRATIVE_DATA, HAS_ACTIVE, HAS_DRAFT, IS_ACTIVE
from odata_server.edm import ComplexType, EntityType, NavigationProperty, Property
from odata_server.errors import bad_request
from odata_server.sql.drafts import Which, pairs, reached
from odata_server.sql.limits import COMPUTED_NODES_MAX, NODES_MAX, SQL_DEPTH_MAX, SQL_NODES_MAX
from odata_server.sql.model import Place, SqlModel
from odata_server.sql.terms.typed import Context, Term, column_term
from odata_server.sql.terms.values import part_of

__all__ = ["Entity", "Many", "Named", "Scope", "Structure", "Uses", "joined"]

_FLAGS = frozenset({IS_ACTIVE, HAS_ACTIVE, HAS_DRAFT})


class Uses:
    """The tables that one statement has used so far: each use gets its own alias.

    ``nodes`` is the size of its expressions. A computed name may be used twice in another one, which is used twice
    in a third, and so on: twenty short lines can expand to a million nodes.
    """

    def __init__(self, model: SqlModel, context: Context) -> None:
        self.model = model
        self.context = context
        self.nodes = 0
        self.weights = Weights()
        self._computed_nodes = 0
        self._numbers: dict[str, int] = {}

    @property
    def weight(self) -> int:
        """The number of all nodes, with those of computed values counted again for each use."""
        return self.nodes + self._computed_nodes

    def spend(self, *, computed: int = 0) -> None:
        """Count a node, and the nodes of a computed value for each further use. Raise 400."""
        self.nodes += 1
        self._computed_nodes += computed
        if self.nodes > NODES_MAX or self._computed_nodes > COMPUTED_NODES_MAX:
            what = "Computed values are" if self._computed_nodes > COMPUTED_NODES_MAX else "The expressions are"
            raise bad_request(
                "EXPRESSION_TOO_LARGE", f"{what} too large after all names and aliases have been replaced."
            )

    def place(self, type_name: str, which: Which = Which.ACTIVE) -> Place:
        """Return a new use of an entity type's table, for this kind of rows."""
        number = self._numbers.get(type_name, 0)
        self._numbers[type_name] = number + 1
        return self.model.place(self.model.edm.entity_types[type_name], number, which)

    def follow(self, navigation: NavigationProperty, own: Place) -> Place:
        """Return a use of the target table of a navigation, for the rows that it reaches from ``own``."""
        target = self.model.edm.entity_types[navigation.target]
        return self.place(navigation.target, reached(own.which, navigation, target))


class Scope:
    """One SELECT: entities of a type, and the entities joined to them by single-valued navigations.

    A single-valued navigation is expected to lead to at most one row.
    """

    def __init__(self, uses: Uses, place: Place) -> None:
        self.uses = uses
        self.place = place
        self.joins: dict[tuple[str, ...], tuple[Place, ColumnElement[bool]]] = {}

    @property
    def entity(self) -> Entity:
        return Entity(self, self.place)

    @property
    def source(self) -> FromClause:
        """The FROM with all joins so far."""
        found = self.place.table
        for place, condition in self.joins.values():
            found = found.outerjoin(place.table, condition)
        return found

    @property
    def tables(self) -> list[FromClause]:
        """The tables of this SELECT; all other tables in it belong to an enclosing SELECT."""
        return [self.place.table, *(place.table for place, _ in self.joins.values())]


def joined(navigation: NavigationProperty, own: Place, other: Place) -> ColumnElement[bool]:
    """Return the join condition of a navigation."""
    on = pairs(navigation, other.entity_type, other.which)
    return and_(*(other.column(there) == own.column(here) for here, there in on))


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a scope: its own, or one at a ``path`` of single-valued navigations (it may be missing)."""

    scope: Scope
    place: Place
    path: tuple[str, ...] = ()

    @property
    def entity_type(self) -> EntityType:
        return self.place.entity_type

    def member(self, name: str) -> Term | Entity | Many | Structure:
        """Resolve a name. Raise 400 UNKNOWN_PROPERTY."""
        found = self.place.readable(name)
        if found is not None:
            return self._property(found)
        navigation = self.entity_type.navigation_by_name.get(name)
        if navigation is None:
            shown = "/".join((*self.path, name))
            raise bad_request("UNKNOWN_PROPERTY", f"{self.entity_type.name} has no property {name}.", shown)
        return Many(self, navigation) if navigation.collection else self._one(navigation)

    def _property(self, found: Property) -> Term | Structure:
        name = found.name
        shown = "/".join((*self.path, name))
        if not found.filterable:
            message = f"{shown} is computed from the answer: it cannot be used to filter, sort or compute."
            raise bad_request("NOT_FILTERABLE", message, shown)
        if isinstance(found.type, ComplexType) and not found.collection:
            return Structure(self, name, found.type)
        dialect = self.scope.uses.context.dialect
        nullable = bool(self.path) or (found.nullable and name not in self.entity_type.key)
        finder = None if self.path else self.place.finder(name)
        indexed = not self.path and finder is None and name in self.place.indexed
        column = self.place.column(name)
        if self.entity_type.draft is not None and name in _FLAGS:
            if self.path:  # null if the entity is missing, like its other properties
                present = self.place.column(self.entity_type.key[0])
                found_there = case((present.is_not(None), column))
                term = column_term(found_there, found, shown, dialect, nullable=True)
                return replace(term, presence=present)
            if isinstance(column, True_ | False_):
                return Term(found.type, column, nullable=False, name=shown)
        term = column_term(column, found, shown, dialect, nullable=nullable, indexed=indexed)
        return term if finder is None else replace(term, finder=finder)

    def _one(self, navigation: NavigationProperty) -> Entity:
        path = (*self.path, navigation.name)
        known = self.scope.joins.get(path)
        if known is None:
            place = self.scope.uses.follow(navigation, self.place)
            known = self.scope.joins[path] = place, joined(navigation, self.place, place)
        return Entity(self.scope, known[0], path)

    def is_there(self) -> ColumnElement[bool]:
        """Return whether the navigation leads to an entity."""
        before = self.scope.joins[self.path[:-1]][0] if len(self.path) > 1 else self.scope.place
        if self.path[-1:] == (ADMINISTRATIVE_DATA,) and before.which is Which.ACTIVE and before.entity_type.draft:
            return before.column(HAS_DRAFT)  # databases evaluate this before the join
        return not_(self.is_missing())

    def is_missing(self) -> ColumnElement[bool]:
        """Return whether the navigation leads to no entity."""
        return self.place.column(self.entity_type.key[0]).is_(None)


@dataclass(frozen=True, slots=True)
class Structure:
    """A complex value; its parts are separate columns, or members of a JSON object."""

    entity: Entity
    name: str
    complex_type: ComplexType

    def member(self, name: str) -> Term:
        """Return a part. Raise 400 UNKNOWN_PROPERTY."""
        found = self.complex_type.property_by_name.get(name)
        shown = "/".join((*self.entity.path, self.name, name))
        if found is None:
            raise bad_request("UNKNOWN_PROPERTY", f"{self.complex_type.name} has no property {name}.", shown)
        place, context = self.entity.place, self.entity.scope.uses.context
        path = f"{self.name}/{name}"
        if path not in place.mapped.columns:
            return part_of(place.column(self.name), name, found.type, shown, context)
        return column_term(place.column(path), found, shown, context.dialect, nullable=True)

    def is_missing(self) -> ColumnElement[bool]:
        """Return whether the value is null: its column, or the columns of all its parts."""
        place = self.entity.place
        if self.name in place.mapped.columns:
            return type_coerce(place.column(self.name), Text()).is_(None)
        return and_(*(place.column(f"{self.name}/{part.name}").is_(None) for part in self.complex_type.properties))


@dataclass(frozen=True, slots=True)
class Many:
    """The targets of a collection-valued navigation of an entity."""

    entity: Entity
    navigation: NavigationProperty

    @property
    def name(self) -> str:
        return "/".join((*self.entity.path, self.navigation.name))

    def inside(self) -> tuple[Scope, ColumnElement[bool]]:
        """Return a scope for a nested SELECT of these entities, and its join condition."""
        uses = self.entity.scope.uses
        scope = Scope(uses, uses.follow(self.navigation, self.entity.place))
        return scope, joined(self.navigation, self.entity.place, scope.place)


@dataclass(frozen=True, slots=True)
class Named:
    """Named values by path (``author/name``); ``prefix`` is the current path.

    ``nodes`` are the sizes of the computed values.
    """

    terms: Mapping[str, Term]
    prefix: str = ""
    nodes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        return self.prefix.rstrip("/")

    def member(self, name: str) -> Term | Named:
        """Return a value, or the values below a path. Raise 400 UNKNOWN_PROPERTY."""
        path = f"{self.prefix}{name}"
        found = self.terms.get(path)
        if found is not None:
            return found
        if any(one.startswith(f"{path}/") for one in self.terms):
            return Named(self.terms, f"{path}/", self.nodes)
        raise bad_request("UNKNOWN_PROPERTY", f"The result of $apply has no {path}.", path)


_LEAVES = (FromClause, SelectBase, BindParameter)  # the content of a SELECT was measured when it was created


class Weights:
    """The measured elements of one statement; references them, so that their ids are not reused."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[ExternallyTraversible, int, int]] = {}

    def check(self, element: ColumnElement[Any]) -> None:
        """Raise 400 EXPRESSION_TOO_LARGE for an expression whose SQL is too large or too deeply nested."""
        nodes, depth = self._measure(element)
        if nodes > SQL_NODES_MAX or depth > SQL_DEPTH_MAX:
            raise bad_request("EXPRESSION_TOO_LARGE", "Functions and operators are nested too deep in an expression.")

    def _measure(self, element: ExternallyTraversible) -> tuple[int, int]:
        known = self._known.get(id(element))
        if known is not None:
            return known[1], known[2]
        nodes, depth = 1, 0
        if isinstance(element, FunctionElement) or not isinstance(element, _LEAVES):  # a function is also a FROM clause
            for child in element.get_children():
                inner_nodes, inner_depth = self._measure(child)
                nodes += inner_nodes
                depth = max(depth, inner_depth)
        self._known[id(element)] = (element, nodes, depth + 1)
        return nodes, depth + 1

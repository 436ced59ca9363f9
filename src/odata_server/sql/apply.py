"""``$apply``: entities filtered, grouped and aggregated, step by step (Data Aggregation 4.0)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Boolean, ColumnElement, False_, True_, cast

from odata_server.edm import ComplexType
from odata_server.errors import bad_request, not_implemented
from odata_server.expressions import Expression, Literal, Member
from odata_server.sql.aggregates import aggregated
from odata_server.sql.derived import Derived, stacked
from odata_server.sql.order import clauses_of
from odata_server.sql.scopes import Named, Scope
from odata_server.sql.search import search_condition
from odata_server.sql.selection import Selection
from odata_server.sql.terms import Term, materialised
from odata_server.sql.translate import Translator
from odata_server.syntax import (
    Aggregate,
    Apply,
    ApplySearch,
    Compute,
    Concat,
    Filter,
    GroupBy,
    Identity,
    OrderTransformation,
    QueryOptions,
    Skip,
    Top,
    TopOf,
    Transformation,
)

__all__ = ["applied"]

_STEPS_MAX = 20


def applied(selection: Selection) -> Derived:
    """What ``$apply`` of a selection comes to, and the other options after it. Raises 400 and 501."""
    options = selection.options
    if options.expand or options.search is not None:
        raise not_implemented("$expand or $search beside $apply")
    steps = _Steps(selection.translator, selection.scope, list(selection.conditions))
    steps.carry_out(options.apply)
    if options.compute:
        steps.step(Compute(options.compute))
    if options.filter is not None:
        steps.step(Filter(options.filter))
    if options.orderby:
        steps.step(OrderTransformation(options.orderby))
    found = steps.result()
    return _selected(found, options)


def _selected(found: Derived, options: QueryOptions) -> Derived:
    names = {"/".join(item.path) for item in options.select if item.path != ("*",)}
    if not names or any(item.path == ("*",) for item in options.select):
        return found
    for name in names:
        if name not in found.terms and not any(one.startswith(f"{name}/") for one in found.terms):
            raise bad_request("UNKNOWN_PROPERTY", f"There is no {name} in what $apply has come to.", name)
    kept = {
        name: term
        for name, term in found.terms.items()
        if any(name == one or name.startswith(f"{one}/") for one in names)
    }
    return replace(found, terms=kept)


@dataclass(slots=True)
class _Steps:
    """The rows as they are after the steps so far: entities of ``scope``, later on (``derived``) named values."""

    translator: Translator
    scope: Scope
    conditions: list[Any]
    derived: Derived | None = None
    computed: dict[str, Expression] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)  # what computed values came to; the next may use one twice
    count: int = 0

    def carry_out(self, apply: Apply) -> None:
        for one in apply:
            self.step(one)

    def step(self, one: Transformation) -> None:
        self.count += 1
        if self.count > _STEPS_MAX:
            raise bad_request("EXPRESSION_TOO_LARGE", f"$apply takes {_STEPS_MAX} steps at most.", "$apply")
        match one:
            case Identity():
                pass
            case Filter():
                self._filter(one.expression)
            case ApplySearch():
                if self.derived is not None:
                    raise not_implemented("search after rows were grouped or cut")
                self.conditions.append(search_condition(one.expression, self.scope.place, self.translator.context))
            case Compute():
                self._compute(one)
            case Aggregate():
                self._group((), (one,))
            case GroupBy():
                if one.rollups:
                    raise not_implemented("rollup")
                self._group(one.paths, one.apply)
            case Concat():
                self.derived = stacked([self._branch(part) for part in one.parts])
            case _:
                self._ordered(one)

    def _ordered(self, one: Transformation) -> None:
        match one:
            case OrderTransformation():
                found = self._values(cut=True)
                found.order = clauses_of(one.items, self._reader(found))
            case Top():
                found = self._values()
                found.limit = one.count if found.limit is None else min(found.limit, one.count)
            case Skip():
                found = self._values()
                if found.limit is not None:
                    found = self.derived = found.wrapped()
                found.offset += one.count
            case TopOf(name="topcount" | "bottomcount") if isinstance(one.count, Literal):
                self._most(one)
            case _:
                raise not_implemented(f"The transformation {getattr(one, 'name', type(one).__name__)}")

    def _most(self, one: TopOf) -> None:
        count = one.count.value if isinstance(one.count, Literal) else None
        if not isinstance(count, int) or count < 1:
            raise bad_request("TYPE_MISMATCH", f"{one.name} takes a number from 1.", "$apply")
        found = self._values(cut=True)
        term = materialised(self._reader(found).term(one.expression), self.translator.context)
        found.order = [term.element.desc() if one.name == "topcount" else term.element.asc()]
        found.limit = count

    # ---- rows ----

    def _values(self, *, cut: bool = False) -> Derived:
        """The rows as named values; ``cut``: as they are after what limits them."""
        if self.derived is None:
            terms = self._all()
            self.derived = Derived(self.scope.source, terms, self.conditions)
            self.derived = self.derived.wrapped()
        elif cut and (self.derived.limit is not None or self.derived.offset):
            self.derived = self.derived.wrapped()
        return self.derived

    def _all(self) -> dict[str, Term]:
        """All properties of the entities that are single values, and what was computed."""
        entity = self.scope.entity
        found: dict[str, Term] = {}
        for one in entity.entity_type.properties:
            if one.write_only or one.collection or not one.filterable:
                continue
            if not isinstance(one.type, ComplexType):
                term = entity.member(one.name)
                if isinstance(term, Term):
                    found[one.name] = term
        reader = self._reader(None)
        return found | {name: materialised(reader.term(one), reader.context) for name, one in self.computed.items()}

    def _reader(self, derived: Derived | None) -> Translator:
        """What reads expressions about the rows as they are."""
        named = None if derived is None else Named(derived.terms, nodes=self.nodes)
        return self.translator.about(named, {} if derived is not None else self.computed)

    def result(self) -> Derived:
        """The rows after all steps."""
        return self._values()

    def _branch(self, part: Apply) -> Derived:
        copy = None if self.derived is None else replace(self.derived)
        conditions, computed, nodes = list(self.conditions), dict(self.computed), dict(self.nodes)
        branch = _Steps(self.translator, self.scope, conditions, copy, computed, nodes, self.count)
        if copy is not None:
            branch.derived = copy.wrapped()
        branch.carry_out(part)
        self.count = branch.count
        return branch.result()

    # ---- steps ----

    def _filter(self, condition: Expression) -> None:
        if self.derived is None:
            self.conditions.append(self._reader(None).condition(condition))
            return
        found = self._values(cut=True)
        found.conditions.append(self._reader(found).condition(condition))

    def _compute(self, one: Compute) -> None:
        found = None if self.derived is None else self._values(cut=True)
        for item in one.items:
            if found is None:
                self.computed[item.alias] = item.expression
            else:
                before = self.scope.uses.weight
                term = materialised(self._reader(found).term(item.expression), self.translator.context)
                found.terms = {**found.terms, item.alias: term}
                self.nodes[item.alias] = self.scope.uses.weight - before

    def _group(self, paths: tuple[tuple[str, ...], ...], apply: Apply) -> None:
        if self.derived is not None and (self.derived.order or self.derived.limit is not None or self.derived.offset):
            self.derived = self.derived.wrapped()
        for one in apply[:-1]:
            if not isinstance(one, Filter):
                raise not_implemented("Other steps than filter before aggregate inside of groupby")
            self._filter(one.expression)
        last = apply[-1] if apply else Aggregate(())
        if not isinstance(last, Aggregate):
            raise not_implemented("groupby with anything but aggregate")
        reader = self._reader(self.derived)
        terms = {"/".join(path): reader.term(_member(path)) for path in paths}
        groups = [_grouping(materialised(term, reader.context).element) for term in terms.values()]
        for item in last.items:
            name = item.alias or "$count"
            if name in terms:
                raise bad_request("QUERY_SYNTAX", f"{name} is there twice.", "$apply")
            before = self.scope.uses.weight
            terms[name] = aggregated(item, reader)
            self.nodes[name] = self.scope.uses.weight - before
        if self.derived is None:
            grouped = Derived(self.scope.source, terms, self.conditions, groups)
        else:
            grouped = Derived(self.derived.source, terms, self.derived.conditions, groups)
        self.derived = grouped.wrapped()


def _grouping(element: ColumnElement[Any]) -> ColumnElement[Any]:
    """For GROUP BY, where a bare constant is an error or a column's place."""
    return cast(element, Boolean()) if isinstance(element, True_ | False_) else element


def _member(path: tuple[str, ...]) -> Expression:
    found: Expression = Member(path[0])
    for name in path[1:]:
        found = Member(name, found)
    return found

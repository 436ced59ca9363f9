"""``$apply``: entities filtered, grouped and aggregated, step by step (Data Aggregation 4.0).

A step gives the next one rows that are no entities: values by name. Sums and averages stay exact; those of amounts in
different currencies are null.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, product
from math import prod
from typing import Any, NoReturn

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Double,
    False_,
    FromClause,
    Numeric,
    Select,
    True_,
    cast,
    func,
    null,
    select,
    type_coerce,
    union_all,
)

from odata_server.edm import METHODS, SAME, ComplexType, EnumType, Primitive
from odata_server.errors import bad_request, not_implemented
from odata_server.expressions import Binary, CountOf, Expression, Literal, Member
from odata_server.sql.order import clauses_of
from odata_server.sql.projection import Convert, Record, Shape, computed_column
from odata_server.sql.scopes import Named, Scope
from odata_server.sql.search import search_condition
from odata_server.sql.selection import Selection
from odata_server.sql.terms.arithmetic import DIVISION_SCALE, scale_of
from odata_server.sql.terms.storage import ScaledInteger
from odata_server.sql.terms.typed import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    Context,
    Term,
    materialised,
    mismatch,
    type_name,
    whole,
)
from odata_server.sql.translate import Translator
from odata_server.sql.units import HIDDEN, in_one, member, the_one, units_of, units_of_named
from odata_server.syntax import (
    Aggregate,
    AggregateExpression,
    Apply,
    ApplySearch,
    Compute,
    Concat,
    CustomTransformation,
    Filter,
    GroupBy,
    Identity,
    OrderItem,
    OrderTransformation,
    QueryOptions,
    Skip,
    Top,
    TopOf,
    Transformation,
)

__all__ = ["aggregated", "applied", "stacked"]


@dataclass(slots=True)
class Derived:
    """A SELECT of named values under construction."""

    source: FromClause
    terms: dict[str, Term]
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    groups: list[ColumnElement[Any]] = field(default_factory=list)
    order: list[ColumnElement[Any]] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0
    parts: tuple[tuple[str, ...], ...] = ()  # of a concatenation: what each part's rows have, by the value of _PART

    def statement(self) -> Select[Any]:
        """Return the SELECT of all values, in the order of their names."""
        columns = [term.element.label(f"v{at}") for at, term in enumerate(self.terms.values())]
        found = select(*columns).select_from(self.source).where(*self.conditions)
        found = found.group_by(*self.groups).order_by(*self.order)
        if self.limit is not None:
            found = found.limit(self.limit)
        return found.offset(self.offset) if self.offset else found

    def wrapped(self) -> Derived:
        """Return the same values in the same order over a sub-query, so that further steps apply to its result."""
        terms = {**self.terms, _ROW: self.numbered()} if self.order else self.terms
        inner = replace(self, terms=terms).statement().subquery()
        found = _over(inner, terms)
        made = Derived(inner, found, parts=self.parts)
        if self.order:
            made.order = [found.pop(_ROW).element.asc()]
        return made

    def numbered(self) -> Term:
        """Return the position of each row in the order, of rows without one in that of their values."""
        shown = [term.element.asc() for name, term in self.terms.items() if not name.startswith(HIDDEN)]
        order = [*self.order, *shown]
        return Term(Primitive.INT64, func.row_number().over(order_by=order), nullable=False)

    def with_value(self, name: str, term: Term) -> None:
        """Add a value to all rows."""
        self.terms = {**self.terms, name: term}
        self.parts = tuple((*one, name) for one in self.parts)

    def records(self, rows: Sequence[Sequence[Any]], shape: Shape) -> list[Record]:
        """Convert the rows of this SELECT to values of the model, with paths as nested dicts."""
        columns = {
            name: (at, tuple(name.split("/")), computed_column(term, shape)[1])
            for at, (name, term) in enumerate(self.terms.items())
        }
        if not self.parts:
            every = list(columns.values())
            return [_record(row, every) for row in rows]
        number = list(columns).index(_PART)
        shapes = [[columns[name] for name in one if name in columns] for one in self.parts]
        return [_record(row, shapes[row[number]]) for row in rows]


def _over(inner: FromClause, terms: Mapping[str, Term]) -> dict[str, Term]:
    return {
        name: replace(
            term, sql=type_coerce(inner.c[f"v{at}"], term.element.type), name=name, indexed=False, finder=None
        )
        for at, (name, term) in enumerate(terms.items())
    }


def _record(row: Sequence[Any], columns: Sequence[tuple[int, tuple[str, ...], Convert | None]]) -> Record:
    record: Record = {}
    for position, path, convert in columns:
        value, at = row[position], record
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = convert(value) if convert is not None and value is not None else value
    return record


# Of a concatenation: which part a row is of, and its position there.
_PART = f"{HIDDEN}part"
_ROW = f"{HIDDEN}row"


def stacked(parts: Sequence[Derived]) -> Derived:
    """Concatenate the rows of all parts, each in its own order; a row has the values of its part alone.

    For later steps, a value that a part lacks is null. Raise 501 if parts hold values of one name in different forms.
    """
    terms: dict[str, Term] = {}
    shapes: list[tuple[str, ...]] = []
    numbered = []
    for part in parts:
        before = whole(len(shapes))
        number = part.terms[_PART].element + before if part.parts else before
        shapes += part.parts or [tuple(part.terms)]
        place = Term(Primitive.INT64, type_coerce(number, BigInteger()), nullable=False)
        numbered.append(replace(part, terms={**part.terms, _PART: place, _ROW: part.numbered()}))
        for name, term in numbered[-1].terms.items():
            known = terms.setdefault(name, term)
            if (known.type, known.storage) != (term.type, term.storage):
                raise not_implemented(f"To concat values of different types as {name}")
    union = union_all(*(_with_all(part, terms) for part in numbered)).subquery()
    found = _over(union, {name: replace(term, nullable=True) for name, term in terms.items()})
    made = Derived(union, found, parts=tuple(shapes))
    made.order = [found[_PART].element.asc(), found.pop(_ROW).element.asc()]
    return made


def _with_all(part: Derived, terms: Mapping[str, Term]) -> Select[Any]:
    """Return a SELECT of these values, of which a part may lack some."""
    inner = part.statement().subquery()
    own = _over(inner, part.terms)
    return select(
        *(
            (own[name].element if name in own else type_coerce(null(), term.element.type)).label(f"v{at}")
            for at, (name, term) in enumerate(terms.items())
        )
    )


_STEPS_MAX = 20
_OF_AMOUNTS = frozenset({"sum", "average", "min", "max"})


def applied(selection: Selection) -> Derived:
    """Return the result of ``$apply`` of a selection, and of the other options after it. Raise 400 and 501."""
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
            raise bad_request("UNKNOWN_PROPERTY", f"The result of $apply has no {name}.", name)
    kept = {
        name: term
        for name, term in found.terms.items()
        if name == _PART or any(name == one or name.startswith(f"{one}/") for one in names)
    }
    return replace(found, terms=kept)


@dataclass(slots=True)
class _Steps:
    """The rows after the steps so far: entities of ``scope``, or later named values (``derived``)."""

    translator: Translator
    scope: Scope
    conditions: list[Any]
    derived: Derived | None = None
    computed: dict[str, Expression] = field(default_factory=dict)
    # nodes of each computed value; the next value may use one twice
    nodes: dict[str, int] = field(default_factory=dict)
    units: dict[str, tuple[Expression, ...]] = field(default_factory=dict)  # the currencies of derived amounts
    count: int = 0
    grouped: bool = False  # the rows are sums of entities, of which there are no custom aggregates

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
            case GroupBy(rollups=()):
                self._group(one.paths, one.apply)
            case GroupBy():
                self.step(_rolled_up(one))
            case Concat():
                branches = [self._branch(part) for part in one.parts]
                amounts = sorted({name for one in branches for name, units in one._named_units().items() if units})
                self.derived = stacked([branch._with_currencies(amounts) for branch in branches])
                self.units = {name: (Member(f"{HIDDEN}concat {name}"),) for name in amounts}
                self.grouped = any(branch.grouped for branch in branches)
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
            case TopOf(name="topcount" | "bottomcount"):
                self._most(one)
            case TopOf():
                self._sharing(one)
            case CustomTransformation():
                self._refuse(one.name, "transformation")

    def _refuse(self, name: str, kind: str) -> NoReturn:
        """Raise 501 for what OData or the model defines, 400 for a name that nobody does."""
        edm = self.scope.uses.model.edm
        own = name.removeprefix(f"{edm.namespace}.")
        if "." in name and (own == name or own not in edm.operations):
            raise bad_request("QUERY_SYNTAX", f"There is no {kind} {name}.", "$apply")
        raise not_implemented(f"The {kind} {name}")

    def _most(self, one: TopOf) -> Derived:
        """Order the rows by an expression, and keep so many."""
        count = one.count.value if isinstance(one.count, Literal) else None
        is_count = one.name.endswith("count")
        if type(count) is not int and (is_count or not isinstance(count, Decimal)):
            raise bad_request("TYPE_MISMATCH", f"{one.name} takes a {'whole ' if is_count else ''}number.", "$apply")
        if is_count and count < 1:
            raise bad_request("TYPE_MISMATCH", f"{one.name} takes a number of at least 1.", "$apply")
        if one.name.endswith("percent") and not 0 < count <= 100:
            raise bad_request("TYPE_MISMATCH", f"{one.name} takes a number above 0 and up to 100.", "$apply")
        found = self._values(cut=True)
        found.order = clauses_of((OrderItem(one.expression, one.name.startswith("top")),), self._reader(found))
        found.limit = count if isinstance(count, int) and is_count else None
        return found

    def _sharing(self, one: TopOf) -> None:
        """Keep as few rows as have the wanted sum, or the wanted percentage of the sum of all, the greatest first."""
        found = self.derived = self._most(one).wrapped()
        reader = self._reader(found)
        amount = materialised(reader.term(one.expression), reader.context)
        if amount.collection or amount.type not in NUMBERS:
            raise mismatch(f"{amount.name or 'An expression'} ({type_name(amount)}) has no sum.", amount)
        before, total = Member(f"{HIDDEN}before"), Member(f"{HIDDEN}total")
        found.terms = {
            **found.terms,
            before.name: _sum(amount, reader.context, {"order_by": found.order, "rows": (None, -1)}),
            total.name: _sum(amount, reader.context, {}),
        }
        reached: Expression = before
        wanted: Expression = one.count
        if one.name.endswith("percent"):
            reached = Binary("mul", before, Literal(100, Primitive.INT32))
            wanted = Binary("mul", total, wanted)
        nothing = Binary("eq", before, Literal(None))  # before the first row
        positive = Binary("gt", one.count, Literal(0, Primitive.INT32))
        found = self.derived = found.wrapped()
        self._filter(Binary("and", positive, Binary("or", nothing, Binary("lt", reached, wanted))))

    # ---- rows ----

    def _values(self, *, cut: bool = False) -> Derived:
        """Return the rows as named values; ``cut``: after the limit and offset are applied."""
        if self.derived is None:
            terms = self._all()
            for name in list(terms):
                self.units[name] = tuple(self._carried(one, terms) for one in self._units(Member(name)))
            self.derived = Derived(self.scope.source, terms, self.conditions)
            self.derived = self.derived.wrapped()
        elif cut and (self.derived.limit is not None or self.derived.offset):
            self.derived = self.derived.wrapped()
        return self.derived

    def _named_units(self) -> dict[str, tuple[Expression, ...]]:
        """Return the currencies of the rows' amounts by their names."""
        self._values()
        return self.units

    def _with_currencies(self, amounts: Sequence[str]) -> Derived:
        """Return the rows with the currency of each of these amounts; null where it is not known."""
        found = self._values(cut=True)
        reader, terms = self._reader(found), dict(found.terms)
        for name in amounts:
            units = self.units.get(name, ())
            if len(units) == 1:  # of several, as in a product of amounts, it is not known
                terms[f"{HIDDEN}concat {name}"] = materialised(reader.term(units[0]), reader.context)
        found.terms = terms
        return found

    def _all(self) -> dict[str, Term]:
        """Return all single-valued properties of the entities, and the computed values."""
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
        """Return a translator for expressions about the current rows."""
        named = None if derived is None else Named(derived.terms, nodes=self.nodes)
        return self.translator.about(named, {} if derived is not None else self.computed)

    def _carried(self, unit: Expression, terms: dict[str, Term]) -> Expression:
        """Return where a currency is among the values of the rows; one at a path becomes a hidden value."""
        if isinstance(unit, Member) and unit.source is None and unit.name in terms:
            return unit
        hidden = f"{HIDDEN}{unit}"
        if hidden not in terms:
            reader = self._reader(None)
            terms[hidden] = materialised(reader.term(unit), reader.context)
        return Member(hidden)

    def _units(self, expression: Expression) -> list[Expression]:
        """Return where the currencies of the amounts in an expression are."""
        if self.derived is not None:
            return units_of_named(expression, self.units)
        return units_of(expression, self.scope.uses.model.edm, self.scope.entity.entity_type, self.computed)

    def result(self) -> Derived:
        """Return the rows after all steps."""
        found = self._values()
        shown = {name: term for name, term in found.terms.items() if name == _PART or not name.startswith(HIDDEN)}
        return replace(found, terms=shown)

    def _branch(self, part: Apply) -> _Steps:
        copy = None if self.derived is None else replace(self.derived)
        conditions, computed, nodes = list(self.conditions), dict(self.computed), dict(self.nodes)
        branch = _Steps(
            self.translator,
            self.scope,
            conditions,
            copy,
            computed,
            nodes,
            dict(self.units),
            self.count,
            self.grouped,
        )
        if copy is not None:
            branch.derived = copy.wrapped()
        branch.carry_out(part)
        self.count = branch.count
        return branch

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
                found.with_value(item.alias, term)
                self.units[item.alias] = tuple(self._units(item.expression))
                self.nodes[item.alias] = self.scope.uses.weight - before

    def _group(self, paths: tuple[tuple[str, ...], ...], apply: Apply) -> None:
        if self.derived is not None and (self.derived.limit is not None or self.derived.offset):
            self.derived = self.derived.wrapped()
        for one in apply[:-1]:
            if not isinstance(one, Filter):
                raise not_implemented("Other steps than filter before aggregate inside of groupby")
            self._filter(one.expression)
        last = apply[-1] if apply else Aggregate(())
        if not isinstance(last, Aggregate):
            raise not_implemented("groupby with anything but aggregate")
        reader = self._reader(self.derived)
        terms = {"/".join(path): reader.term(member(path)) for path in paths}
        groups = [_grouping(materialised(term, reader.context).element) for term in terms.values()]
        units: dict[str, tuple[Expression, ...]] = {}
        keys = {member(path) for path in paths}
        for path in paths:
            self._keep_currencies("/".join(path), self._units(member(path)), keys, terms, units)
        for item in map(self._defined, last.items):
            name = item.alias or "$count"
            if name in terms:
                raise bad_request("QUERY_SYNTAX", f"{name} occurs twice.", "$apply")
            before = self.scope.uses.weight
            units[name] = ()
            if item.method is None:
                terms[name] = _counted(item, reader)
            else:
                amount = materialised(reader.term(item.expression), reader.context)
                terms[name] = self._aggregate(item, item.method, amount)
                if item.method in _OF_AMOUNTS:
                    self._keep_currencies(name, self._units(item.expression), keys, terms, units, amount)
            self.nodes[name] = self.scope.uses.weight - before
        if self.derived is None:
            grouped = Derived(self.scope.source, terms, self.conditions, groups)
        else:
            grouped = Derived(self.derived.source, terms, self.derived.conditions, groups)
        self.derived, self.units, self.grouped = grouped.wrapped(), units, True

    def _aggregate(self, item: AggregateExpression, method: str, amount: Term) -> Term:
        if method == SAME:
            return the_one(amount)
        if method not in METHODS:
            self._refuse(method, "aggregation method")
        return aggregated(item, amount, self.translator.context)

    def _defined(self, item: AggregateExpression) -> AggregateExpression:
        """Return a custom aggregate of the model as the aggregate that it stands for."""
        named = item.expression
        if item.method is not None or item.from_ or not isinstance(named, Member) or named.source is not None:
            return item
        prop = self.scope.entity.entity_type.property_by_name.get(named.name)
        if prop is None or prop.aggregate is None or named.name in self.computed:
            return item
        if self.grouped:
            raise not_implemented("A custom aggregate of rows that are grouped already")
        return replace(item, method=prop.aggregate, alias=item.alias or named.name)

    def _keep_currencies(
        self,
        name: str,
        found: Sequence[Expression],
        keys: Collection[Expression],
        terms: dict[str, Term],
        units: dict[str, tuple[Expression, ...]],
        amount: Term | None = None,
    ) -> None:
        """Keep the currency that a value of the groups has, unless they are grouped by it.

        An aggregate of ``amount`` is null for several currencies; None: the value is one that they are grouped by.
        """
        reader, kept = self._reader(self.derived), [one for one in found if one in keys]
        others = [materialised(reader.term(one), reader.context) for one in found if one not in keys]
        if others and amount is not None:
            terms[name] = in_one(terms[name], others, amount)
        for at, one in enumerate(others):
            hidden = f"{HIDDEN}{at} {name}"
            terms[hidden] = the_one(one)
            kept.append(Member(hidden))
        units[name] = tuple(kept)


def _rolled_up(one: GroupBy) -> Concat:
    """Return the same groups level by level: those by all properties of each rollup first, by its first one last."""
    if any(len(rollup) == 1 for rollup in one.rollups):
        raise not_implemented("rollup of a named hierarchy")
    if prod(map(len, one.rollups)) > _STEPS_MAX:
        raise bad_request("EXPRESSION_TOO_LARGE", f"$apply takes {_STEPS_MAX} levels of groups at most.", "$apply")
    levels = ([rollup[:count] for count in range(len(rollup), 0, -1)] for rollup in one.rollups)
    return Concat(
        tuple((GroupBy((*one.paths, *chain.from_iterable(chosen)), one.apply),) for chosen in product(*levels))
    )


def _grouping(element: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return an element for GROUP BY, where a bare constant is an error or means the position of a column."""
    return cast(element, Boolean()) if isinstance(element, True_ | False_) else element


def _counted(item: AggregateExpression, reader: Translator) -> Term:
    """Return the number of rows of a group, or of entities at the end of a path. Raise 400 for a custom aggregate."""
    if item.from_:
        raise not_implemented("aggregate with from")
    if not isinstance(item.expression, CountOf):
        name = getattr(item.expression, "name", "an expression")
        raise bad_request(
            "QUERY_SYNTAX", f"There is no custom aggregate {name}; say how to: 'with sum as total'.", "$apply"
        )
    if item.expression.source is None:
        return Term(Primitive.INT64, func.count(), nullable=False)
    total = _sum(materialised(reader.term(item.expression), reader.context), reader.context)
    return replace(total, sql=func.coalesce(total.element, whole(0)), nullable=False)


def aggregated(item: AggregateExpression, term: Term, context: Context) -> Term:
    """Return the value of an aggregate of ``term`` over the rows of a group. Raise 400."""
    if item.from_:
        raise not_implemented("aggregate with from")
    if item.alias is None:
        raise bad_request("QUERY_SYNTAX", "An aggregate needs a name: 'with sum as total'.", "$apply")
    if term.collection or (item.method in {"sum", "average"} and term.type not in NUMBERS):
        raise mismatch(f"{term.name or 'An expression'} ({type_name(term)}) has no {item.method}.", term)
    if item.method == "countdistinct":
        return Term(Primitive.INT64, func.count(term.element.distinct()), nullable=False)
    if item.method in {"min", "max"}:
        return _least_or_most(item.method, term)
    if item.method == "sum":
        return _sum(term, context)
    return _average(term, context)


def _least_or_most(method: str, term: Term) -> Term:
    if term.type in {Primitive.BOOLEAN, Primitive.BINARY} or isinstance(term.type, EnumType):
        raise mismatch(f"{term.name or 'An expression'} ({type_name(term)}) has no {method}.", term)
    found: Any = func.min(term.element) if method == "min" else func.max(term.element)
    return Term(term.type, type_coerce(found, term.element.type), term.storage)


def _sum(term: Term, context: Context, window: Mapping[str, Any] | None = None) -> Term:
    """Return the sum over the rows of a group, or over those of a window around each row."""
    total: ColumnElement[Any] = func.sum(term.element)
    if window is not None:
        total = func.sum(term.element).over(**window)
    if term.type in INTEGERS:
        return Term(Primitive.INT64, type_coerce(total, BigInteger() if context.sqlite else Numeric()))
    return Term(term.type, type_coerce(total, term.element.type), term.storage)


def _average(term: Term, context: Context) -> Term:
    scale = scale_of(term) if context.sqlite else None
    if term.type in FLOATS or (context.sqlite and scale is None):
        return Term(Primitive.DOUBLE, type_coerce(func.avg(term.element), Double()))
    if scale is None:
        return Term(Primitive.DECIMAL, type_coerce(func.trunc(func.avg(term.element), DIVISION_SCALE), Numeric()))
    wanted = max(DIVISION_SCALE, scale)
    total = type_coerce(func.sum(term.element), BigInteger()) * whole(10 ** (wanted - scale))
    mean = type_coerce(total, BigInteger()) // type_coerce(func.count(term.element), BigInteger())
    return Term(Primitive.DECIMAL, type_coerce(mean, BigInteger()), ScaledInteger(wanted))

"""Translate expressions of a URL to SQL, resolved against the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    exists,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
)

from odata_server.edm import Primitive
from odata_server.errors import bad_request, not_implemented
from odata_server.expressions import (
    AllOf,
    AnyOf,
    Binary,
    Call,
    Case,
    Cast,
    CountOf,
    EnumLiteral,
    Expression,
    In,
    IsOf,
    It,
    JsonLiteral,
    ListExpression,
    Literal,
    Member,
    ParameterAlias,
    TypeCast,
    Unary,
)
from odata_server.sql.drafts import administrative_in
from odata_server.sql.limits import DEPTH_MAX, LAMBDA_DEPTH_MAX, LIST_MAX
from odata_server.sql.operands import chain_of, has_flags, json_term, members_term
from odata_server.sql.scopes import Entity, Many, Named, Scope, Structure
from odata_server.sql.search import search_condition
from odata_server.sql.terms import date_functions, number_functions, text_functions
from odata_server.sql.terms.arithmetic import calculate, negated
from odata_server.sql.terms.casts import cast_term, is_of
from odata_server.sql.terms.comparison import compare, is_in
from odata_server.sql.terms.functions import call
from odata_server.sql.terms.typed import NULL, Context, Term, bind, literal_term, mismatch, type_name
from odata_server.sql.terms.values import elements

__all__ = ["Translator"]

_COMPARISONS = frozenset({"eq", "ne", "gt", "ge", "lt", "le"})
_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "divby", "mod"})
_REGISTERED = (date_functions, number_functions, text_functions)
Found = Term | Entity | Many | Structure | Named


class Translator:
    """Translates expressions about the entities of ``scope``.

    ``aliases`` are the values of ``@name``, ``computed`` the expressions of ``$compute``. ``variables`` are those of
    the enclosing lambdas; ``current`` is the owner of a name without a variable, ``root`` the meaning of ``$it``.
    """

    def __init__(
        self,
        scope: Scope,
        aliases: Mapping[str, Expression],
        *,
        computed: Mapping[str, Expression] | None = None,
        variables: Mapping[str, Entity | Term] | None = None,
        current: Entity | Named | None = None,
        root: Entity | Named | None = None,
        lambdas: int = 0,
    ) -> None:
        self.scope = scope
        self.context: Context = scope.uses.context
        self._aliases = aliases
        self._computed = computed or {}
        self._variables = variables or {}
        self._current = current or scope.entity
        self._root = root or self._current
        self._lambdas = lambdas
        self._depth = 0
        self._edm = scope.uses.model.edm

    def about(self, names: Named | None, computed: Mapping[str, Expression]) -> Translator:
        """Return a translator for other rows: those with these names, or with None the same entities."""
        return Translator(self.scope, self._aliases, computed=computed, current=names)

    # ---- conditions ----

    def condition(self, expression: Expression, *, exact: bool = False) -> ColumnElement[bool]:
        """Translate a Boolean expression.

        Unless ``exact``, SQL's null may stand for false; this is enough where only true counts.
        """
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise bad_request("EXPRESSION_TOO_DEEP", f"An expression is nested more than {DEPTH_MAX} deep.")
        try:
            found = self._condition(expression, exact)
            self.scope.uses.weights.check(found)
            return found
        finally:
            self._depth -= 1

    def _condition(self, expression: Expression, exact: bool) -> ColumnElement[bool]:
        match expression:
            case Binary(operator="and" | "or" as name):
                parts = [self.condition(one, exact=exact) for one in chain_of(name, expression)]
                return and_(*parts) if name == "and" else or_(*parts)
            case Unary(operator="not"):
                return not_(self.condition(expression.operand, exact=True))
            case Binary(operator=name) if name in _COMPARISONS:
                return self._comparison(name, expression.left, expression.right, exact)
            case Binary(operator="has"):
                return has_flags(self.term(expression.left), self.term(expression.right), self.context, exact=exact)
            case In():
                return self._in(expression, exact)
            case AnyOf() | AllOf():
                return self._lambda(expression)
            case Call(name="hassubset", arguments=(whole, part)):
                return self._has_subset(whole, part)
        return self._true_value(expression, exact)

    def _true_value(self, expression: Expression, exact: bool) -> ColumnElement[bool]:
        term = self.term(expression)
        if term.is_null:
            return false() if not exact else compare("eq", NULL, NULL, self.context, exact=True)
        if term.type is not Primitive.BOOLEAN or term.collection:
            raise mismatch(f"{term.name or 'An expression'} is {type_name(term)}, not a condition.", term)
        if term.is_literal:
            return true() if term.value else false()
        return term.element

    def _comparison(self, name: str, left: Expression, right: Expression, exact: bool) -> ColumnElement[bool]:
        found = self._compared(name, left, right, exact)
        entities = [self.resolve(way) for way in administrative_in(self._behind(left), self._behind(right))]
        present = [one.is_there() for one in entities if isinstance(one, Entity)]
        return and_(found, *present) if present else found

    def _compared(self, name: str, left: Expression, right: Expression, exact: bool) -> ColumnElement[bool]:
        one, other = self.resolve(left), self.resolve(right)
        for entity, against in ((one, other), (other, one)):
            if (
                isinstance(entity, Entity | Structure)
                and isinstance(against, Term)
                and against.is_null
                and name in {"eq", "ne"}
            ):
                missing = entity.is_missing()
                return missing if name == "eq" else not_(missing)
        terms = self._as_term(one), self._as_term(other)
        found = compare(name, *terms, self.context, exact=exact)
        if exact or name in {"eq", "ne"} or not self.context.sqlite:
            return found
        # SQLite assumes that a range matches a quarter of the table, and would rather scan all of it in the requested
        # order.
        indexed = any(term.indexed and against.is_literal for term, against in (terms, terms[::-1]))
        return func.likelihood(found, literal_column("0.001")) if indexed else found

    def _in(self, expression: In, exact: bool) -> ColumnElement[bool]:
        left = self.term(expression.left)
        items = self._listed(expression.right, left)
        if items is None:
            return self._in_collection(left, self.resolve(expression.right))
        return is_in(left, items, self.context, exact=exact)

    def _listed(self, expression: Any, left: Term) -> list[Term] | None:
        """Return the values of a list, possibly behind an alias; None if it is not a list."""
        expression = self._behind(expression)
        if isinstance(expression, ListExpression):
            items = [self.term(one) for one in expression.items]
        elif isinstance(expression, JsonLiteral) and isinstance(expression.value, list):
            items = [json_term(one, left) for one in expression.value]
        else:
            return None
        if len(items) > LIST_MAX:
            raise bad_request("EXPRESSION_TOO_LARGE", f"A list has more than {LIST_MAX} values.")
        return items

    def _behind(self, expression: Expression) -> Expression:
        """Return what an alias stands for."""
        for _ in range(DEPTH_MAX):
            if not isinstance(expression, ParameterAlias):
                break
            expression = self._aliases.get(expression.name, Literal(None))
        return expression

    def _has_subset(self, whole: Expression, part: Expression) -> ColumnElement[bool]:
        """Return whether a collection contains every value of a list."""
        collection = self.resolve(whole)
        items = self._listed(part, collection if isinstance(collection, Term) else NULL)
        if items is None:
            raise not_implemented("hassubset with anything but a list")
        return and_(true(), *(self._in_collection(item, collection) for item in items))

    # ---- values ----

    def term(self, expression: Expression) -> Term:
        """Return the value of an expression. Raise 400 for entities and collections where a value is needed."""
        return self._as_term(self.resolve(expression))

    def _as_term(self, found: Found) -> Term:
        if isinstance(found, Term):
            return found
        if isinstance(found, Entity):
            raise mismatch(f"{'/'.join(found.path) or '$it'} is an entity, not a value.")
        if isinstance(found, Structure | Named):
            raise mismatch(f"{found.name} is a complex value; name a part of it.")
        raise mismatch(f"{found.name} is a collection; use any, all or $count.")

    def resolve(self, expression: Expression) -> Found:
        """Resolve an expression to a value, an entity, or a collection of entities."""
        self.scope.uses.spend()
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise bad_request("EXPRESSION_TOO_DEEP", f"An expression is nested more than {DEPTH_MAX} deep.")
        try:
            found = self._resolve(expression)
            if isinstance(found, Term) and not found.is_literal:
                self.scope.uses.weights.check(found.element)
            return found
        finally:
            self._depth -= 1

    def _resolve(self, expression: Expression) -> Found:
        match expression:
            case Literal():
                return literal_term(expression.value, expression.type)
            case Member():
                return self._member(expression)
            case It():
                return self._current if expression.this else self._root
            case ParameterAlias():
                return self.resolve(self._aliases.get(expression.name, Literal(None)))
            case EnumLiteral():
                return self._enum(expression)
            case CountOf():
                return self._count(expression)
            case TypeCast():
                return self._type_cast(expression)
        return self._calculated(expression)

    def _calculated(self, expression: Expression) -> Found:
        match expression:
            case Call(name="hassubset"):
                return Term(Primitive.BOOLEAN, self.condition(expression, exact=True))
            case Call():
                return call(expression.name, [self.term(one) for one in expression.arguments], self.context)
            case Unary(operator="-"):
                return negated(self.term(expression.operand), self.context)
            case Binary(operator=name) if name in _ARITHMETIC:
                return calculate(name, self.term(expression.left), self.term(expression.right), self.context)
            case Unary() | Binary() | In() | AnyOf() | AllOf():
                return Term(Primitive.BOOLEAN, self.condition(expression, exact=True))
        return self._rare(expression)

    def _rare(self, expression: Expression) -> Found:
        match expression:
            case JsonLiteral():
                if isinstance(expression.value, str | bool | int | float | None):
                    return literal_term(expression.value, None)
                raise mismatch("A JSON array or object stands where a value is needed.")
            case ListExpression():
                raise mismatch("A list stands where a value is needed.")
            case Case():
                return self._case(expression)
            case Cast():
                return cast_term(self._subject(expression), expression.type_name, self._edm, self.context)
            case IsOf():
                return self._is_of(expression)
        raise not_implemented("An expression of this kind")

    def _subject(self, expression: Cast | IsOf) -> Term:
        return self._as_term(self._current if expression.source is None else self.resolve(expression.source))

    def _is_of(self, expression: IsOf) -> Term:
        source = self._current if expression.source is None else self.resolve(expression.source)
        if not isinstance(source, Entity):
            return is_of(self._as_term(source), expression.type_name, self._edm)
        if expression.type_name not in {self._edm.qualified(name) for name in self._edm.entity_types}:
            raise mismatch(f"There is no entity type {expression.type_name}.")
        right = self._edm.qualified(source.entity_type.name) == expression.type_name
        return Term(Primitive.BOOLEAN, not_(source.is_missing()) if right else false(), nullable=False)

    def _member(self, expression: Member) -> Found:
        if expression.source is None:
            variable = self._variables.get(expression.name)
            if variable is not None:
                return variable
            if expression.name in self._computed:
                return self._written_out(self._computed[expression.name])
            if isinstance(self._current, Named):
                self.scope.uses.spend(computed=self._current.nodes.get(expression.name, 0))
            return self._current.member(expression.name)
        source = self.resolve(expression.source)
        if isinstance(source, Entity | Structure | Named):
            return source.member(expression.name)
        name = source.name or "A value"
        raise bad_request("UNKNOWN_PROPERTY", f"{name} has no property {expression.name}.", expression.name)

    def _written_out(self, computed: Expression) -> Found:
        """Expand a computed value and count its nodes."""
        uses = self.scope.uses
        before = uses.nodes
        found = self.resolve(computed)
        uses.spend(computed=uses.nodes - before)
        return found

    def _type_cast(self, expression: TypeCast) -> Found:
        source = self._current if expression.source is None else self.resolve(expression.source)
        of = source.entity_type if isinstance(source, Entity) else None
        if isinstance(source, Many):
            of = self._edm.entity_types[source.navigation.target]
        if of is None or self._edm.qualified(of.name) != expression.type_name:
            raise mismatch(f"This is not of type {expression.type_name}.")
        return source

    def _enum(self, expression: EnumLiteral) -> Term:
        edm = self._edm
        for name, found in edm.enum_types.items():
            if expression.type_name in {name, edm.qualified(name)}:
                return members_term(expression, found)
        raise mismatch(f"There is no enumeration {expression.type_name}.")

    def _case(self, expression: Case) -> Term:
        terms = [(self.condition(when), self.term(then)) for when, then in expression.branches]
        first = next((then for _, then in terms if not then.is_null), NULL)
        if first.is_null:
            return NULL
        if any(not then.is_null and then.type != first.type for _, then in terms):
            raise mismatch("The values of case are of different types.")
        if any(then.storage != first.storage for _, then in terms if not then.is_literal):
            raise not_implemented("case over values that are stored differently")
        chosen = case(*((when, None if then.is_null else bind(then, first, self.context)) for when, then in terms))
        return Term(first.type, chosen, first.storage)

    # ---- collections ----

    def _inside(self, scope: Scope, current: Entity | Named, variables: Mapping[str, Entity | Term]) -> Translator:
        if self._lambdas >= LAMBDA_DEPTH_MAX:
            raise bad_request("EXPRESSION_TOO_DEEP", f"any, all and $count nest {LAMBDA_DEPTH_MAX} deep at most.")
        return Translator(
            scope,
            self._aliases,
            computed=self._computed if current is self._current else None,
            variables=variables,
            current=current,
            root=self._root,
            lambdas=self._lambdas + 1,
        )

    def _lambda(self, expression: AnyOf | AllOf) -> ColumnElement[bool]:
        source = self.resolve(expression.source)
        variables = dict(self._variables)
        if isinstance(source, Many):
            scope, belongs = source.inside()
            element: Entity | Term = scope.entity
        elif isinstance(source, Term) and source.collection:
            scope, belongs = self.scope, true()
            table, element = elements(source, self.context)
        else:
            raise mismatch("any and all need a collection.")
        if expression.variable is not None:
            variables[expression.variable] = element
        inside = self._inside(scope, self._current, variables)
        wanted: ColumnElement[bool] = true()
        if expression.predicate is not None:
            wanted = inside.condition(expression.predicate)
        if isinstance(expression, AllOf):
            wanted = not_(func.coalesce(wanted, false()))
        tables = scope.tables if isinstance(source, Many) else [table]
        query = select(1).select_from(scope.source if isinstance(source, Many) else table)
        query = query.where(belongs, wanted).correlate_except(*tables)
        return not_(exists(query)) if isinstance(expression, AllOf) else exists(query)

    def _count(self, expression: CountOf) -> Term:
        if expression.source is None:
            raise not_implemented("$count of the current collection")
        source = self.resolve(expression.source)
        if isinstance(source, Term) and source.collection and expression.filter is None and expression.search is None:
            table, _ = elements(source, self.context)
            counted = select(func.count()).select_from(table).correlate_except(table)
            return Term(Primitive.INT64, counted.scalar_subquery(), nullable=False)
        if not isinstance(source, Many):
            raise mismatch("$count needs a collection.")
        scope, belongs = source.inside()
        conditions = [belongs]
        if expression.filter is not None:
            conditions.append(self._inside(scope, scope.entity, self._variables).condition(expression.filter))
        if expression.search is not None:
            conditions.append(search_condition(expression.search, scope.place, self.context))
        query = select(func.count()).select_from(scope.source).where(*conditions).correlate_except(*scope.tables)
        return Term(Primitive.INT64, query.scalar_subquery(), nullable=False)

    def _in_collection(self, left: Term, right: Found) -> ColumnElement[bool]:
        if not isinstance(right, Term) or not right.collection:
            raise mismatch("in needs a list or a collection of values.", left)
        table, element = elements(right, self.context)
        equal = compare("eq", element, left, self.context, exact=False)
        return exists(select(1).select_from(table).where(equal).correlate_except(table))

"""``$orderby``: how rows are sorted. Null sorts lowest on both databases; adding the key makes every order total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, False_, Null, True_

from odata_server.edm import ComplexType, EnumType, Primitive
from odata_server.errors import bad_request
from odata_server.expressions import Binary, Expression, Literal, Member
from odata_server.sql.limits import ORDER_MAX
from odata_server.sql.narrowing import unindexed
from odata_server.sql.operands import chain_of
from odata_server.sql.terms.enumerations import numbered
from odata_server.sql.terms.typed import FLOATS, Context, Term, materialised, mismatch, type_name
from odata_server.sql.translate import Translator
from odata_server.syntax import OrderItem

__all__ = ["Ordered", "clauses_of", "in_order", "order_of", "present"]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A sort term; ``resumable``: its value in the last row of a page determines where the next page begins."""

    term: Term
    descending: bool
    resumable: bool

    def clauses(self, context: Context) -> list[ColumnElement[Any]]:
        """Return the clauses for ORDER BY."""
        finder = self.term.finder
        columns = () if finder is None else finder.order(context.dialect, self.descending)
        if columns:
            return [element.desc() if self.descending else element.asc() for element in columns]
        element = self.term.element
        clause = element.desc() if self.descending else element.asc()
        if context.sqlite or not self.term.nullable:
            return [clause]
        return [clause.nulls_last() if self.descending else clause.nulls_first()]


def order_of(
    items: Sequence[OrderItem],
    translator: Translator,
    not_null: frozenset[str] = frozenset(),
    *,
    narrowed: bool = False,
) -> list[Ordered]:
    """Return the items followed by the key; ``not_null`` are properties that are never null, whatever the model says.

    PostgreSQL sorts null highest in an index, OData lowest: if a term is not nullable, the index can provide the order.
    ``narrowed``: an index finds the few matching rows, and SQLite must not prefer an index for the order instead. Raise
    400 for a type without an order.
    """
    found, named = _ordered(items, translator)
    found = [
        replace(one, term=replace(one.term, nullable=False)) if one.term.name in not_null else one for one in found
    ]
    entity = translator.scope.entity
    for name in entity.entity_type.key:
        if name not in named and not entity.place.is_constant(name):
            key = entity.member(name)
            if isinstance(key, Term):
                found.append(Ordered(materialised(key, translator.context), False, key.type not in FLOATS))
    if narrowed and translator.context.sqlite:
        found = [replace(one, term=_unindexed(one.term)) for one in found]
    return found


def _unindexed(term: Term) -> Term:
    return replace(term, sql=unindexed(term.element), finder=None)


def present(condition: Expression | None) -> frozenset[str]:
    """Return the properties that cannot be null where a condition is true, judging by its outermost comparisons."""
    found = set()
    for one in () if condition is None else chain_of("and", condition):
        if not isinstance(one, Binary) or one.operator not in {"eq", "ne", "gt", "ge", "lt", "le"}:
            continue
        for side, other in ((one.left, one.right), (one.right, one.left)):
            if isinstance(side, Member) and side.source is None and isinstance(other, Literal):
                is_null = other.value is None
                if is_null == (one.operator == "ne"):
                    found.add(side.name)
    return frozenset(found)


def clauses_of(items: Sequence[OrderItem], translator: Translator) -> list[ColumnElement[Any]]:
    """Return the ORDER BY clauses for rows that have no key."""
    return in_order(_ordered(items, translator)[0], translator.context)


def in_order(order: Sequence[Ordered], context: Context) -> list[ColumnElement[Any]]:
    """Return the ORDER BY clauses of an order."""
    return [clause for one in order for clause in one.clauses(context)]


def _ordered(items: Sequence[OrderItem], translator: Translator) -> tuple[list[Ordered], set[str]]:
    if len(items) > ORDER_MAX:
        raise bad_request("EXPRESSION_TOO_LARGE", f"$orderby takes {ORDER_MAX} items at most.", "$orderby")
    found: list[Ordered] = []
    named: set[str] = set()
    for item in items:
        term = translator.term(item.expression)
        if term.is_literal or isinstance(term.element, True_ | False_ | Null):  # the same for all rows
            continue
        if term.collection or isinstance(term.type, ComplexType) or term.type is Primitive.BINARY:
            raise mismatch(f"{term.name or 'An expression'} ({type_name(term)}) has no order.", term)
        is_path = _is_path(item.expression) and bool(term.name)
        if is_path and term.name in named:
            continue
        named.add(term.name)
        if isinstance(term.type, EnumType):
            found.append(Ordered(numbered(term, term.type, translator.context), item.descending, resumable=False))
            continue
        found.append(Ordered(term, item.descending, is_path and term.type not in FLOATS))
    return found, named


def _is_path(expression: Expression) -> bool:
    return isinstance(expression, Member)

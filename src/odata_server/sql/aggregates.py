"""The methods of ``aggregate``: sums and averages stay exact."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, Numeric, func, type_coerce

from odata_server.edm import Primitive
from odata_server.errors import bad_request, not_implemented
from odata_server.expressions import CountOf
from odata_server.sql.arithmetic import DIVISION_SCALE, scale_of
from odata_server.sql.storage import ScaledInteger
from odata_server.sql.terms import FLOATS, INTEGERS, NUMBERS, Context, Term, materialised, mismatch, type_name, whole
from odata_server.sql.translate import Translator
from odata_server.syntax import AggregateExpression

__all__ = ["aggregated"]


def aggregated(item: AggregateExpression, translator: Translator) -> Term:
    """The value of an aggregate over the rows of a group. Raises 400, and 501 for methods of a service's own."""
    if item.from_:
        raise not_implemented("aggregate with from")
    if item.method is None:
        if isinstance(item.expression, CountOf) and item.expression.source is None:
            return Term(Primitive.INT64, func.count(), nullable=False)
        raise not_implemented("A custom aggregate")
    if item.alias is None:
        raise bad_request("QUERY_SYNTAX", "An aggregate needs a name: 'with sum as total'.", "$apply")
    context = translator.context
    term = materialised(translator.term(item.expression), context)
    if term.collection or (item.method in {"sum", "average"} and term.type not in NUMBERS):
        raise mismatch(f"{term.name or 'An expression'} ({type_name(term)}) has no {item.method}.", term)
    if item.method == "countdistinct":
        return Term(Primitive.INT64, func.count(term.element.distinct()), nullable=False)
    if item.method in {"min", "max"}:
        return _least_or_most(item.method, term)
    if item.method == "sum":
        return _sum(term, context)
    if item.method == "average":
        return _average(term, context)
    raise not_implemented(f"The aggregation method {item.method}")


def _least_or_most(method: str, term: Term) -> Term:
    if term.type is Primitive.BOOLEAN or term.type is Primitive.BINARY:
        raise mismatch(f"{term.name or 'An expression'} ({type_name(term)}) has no {method}.", term)
    found: Any = func.min(term.element) if method == "min" else func.max(term.element)
    return Term(term.type, type_coerce(found, term.element.type), term.storage)


def _sum(term: Term, context: Context) -> Term:
    total: ColumnElement[Any] = func.sum(term.element)
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

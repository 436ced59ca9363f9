"""Comparisons with OData semantics (URL Conventions 4.01, 5.1.1.1): null equals null, and is not more or less.

With ``exact`` False the caller keeps rows where the result is true, so SQL's null may stand for false, and plain
comparisons that can use an index are enough. With ``exact`` True the result is true or false and never null.

NaN is neither equal to, more nor less than any number, itself included; the infinities are more and less than all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import inf, isinf, isnan, nan, nextafter
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    False_,
    Numeric,
    True_,
    and_,
    bindparam,
    false,
    func,
    literal,
    or_,
    true,
)

from odata_server.edm import ComplexType, EnumType, Primitive
from odata_server.sql.terms.arithmetic import aligned
from odata_server.sql.terms.enumerations import numbered
from odata_server.sql.terms.storage import NATIVE, ScaledInteger
from odata_server.sql.terms.typed import (
    FLOATS,
    NUMBERS,
    Context,
    Term,
    bind,
    mismatch,
    scaled,
    type_name,
    whole,
)

__all__ = ["compare", "converted", "is_in"]

Boolean = ColumnElement[bool]

_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_FLIPPED = {"eq": "eq", "ne": "ne", "gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}


def compare(name: str, left: Term, right: Term, context: Context, *, exact: bool) -> Boolean:
    """Return ``left name right`` where ``name`` is eq, ne, gt, ge, lt or le. Raise 400 TYPE_MISMATCH."""
    if left.is_null or right.is_null:
        return _with_null(name, left, right)
    left, right = _known(converted(left, right)), _known(converted(right, left))
    _check(name, left, right)
    if isinstance(left.type, EnumType) and name not in {"eq", "ne"}:
        return _by_number(name, left, right, left.type, context, exact=exact)
    if left.is_literal and right.is_literal:
        return true() if _holds(name, left.value, right.value) else false()
    return _with_column(name, left, right, context, exact)


def _with_column(name: str, left: Term, right: Term, context: Context, exact: bool) -> Boolean:
    if left.is_literal:
        name, left, right = _FLIPPED[name], right, left
    if left.finder is not None and right.is_literal and left.type not in NUMBERS:
        value = bind(right, left, context)
        found = _compared(name, left.element, value, left.nullable, right.nullable, exact)
        return left.finder.narrowed(found, name, [value])
    if left.type not in NUMBERS:
        sql, other = bind(left, right, context), bind(right, left, context)
    elif right.is_literal:
        if _is_beyond(name, left, right.value, context):
            return left.element.is_not(None)
        number = _number(name, left, right.value, context)
        if number is None:
            return true() if name == "ne" else false()
        name, other = number
        sql = bind(left, right, context)
        if name in {"gt", "ge"} and left.type in FLOATS and not context.sqlite:
            return _without_nan(name, sql, float(right.value), exact and left.nullable)
    else:
        sql, other = aligned(left, right, context)
    found = _compared(name, sql, other, left.nullable, right.nullable, exact)
    if context.sqlite or right.is_literal:
        return found
    return _unless_nan(name, found, [one.element for one in (left, right) if one.type in FLOATS])


def _by_number(name: str, left: Term, right: Term, of: EnumType, context: Context, *, exact: bool) -> Boolean:
    """Compare values of an enumeration. With a literal it is a list of members, which an index finds."""
    if left.is_literal:
        name, left, right = _FLIPPED[name], right, left
    if of.is_flags or left.is_literal or not right.is_literal:
        return compare(name, numbered(left, of, context), numbered(right, of, context), context, exact=exact)
    least = of.number_of(right.value)
    among = [Term(of, value=one.name, nullable=False) for one in of.members if _holds(name, one.value, least)]
    return _among(left, among, context, exact) if among else false()


def _holds(name: str, left: Any, right: Any) -> bool:
    """Compare two literals."""
    if _is_nan(left) or _is_nan(right):
        return name == "ne"
    return bool(_PYTHON[name](left, right))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def _known(term: Term) -> Term:
    """Convert a constant to a literal."""
    if isinstance(term.sql, True_ | False_):
        return Term(term.type, value=isinstance(term.sql, True_), nullable=False, name=term.name)
    return term


def _with_null(name: str, left: Term, right: Term) -> Boolean:
    if name in {"gt", "lt"}:
        return false()
    term = right if left.is_null else left
    wanted = name != "ne"
    if term.is_literal:
        return true() if term.is_null == wanted else false()
    element = term.element if term.presence is None else term.presence
    return element.is_(None) if wanted else element.is_not(None)


def _compared(
    name: str, left: ColumnElement[Any], right: ColumnElement[Any], left_null: bool, right_null: bool, exact: bool
) -> Boolean:
    either, both = left_null or right_null, left_null and right_null
    if name == "ne":
        return left.is_distinct_from(right) if either else left != right
    if name == "eq":
        return left.is_not_distinct_from(right) if both or (either and exact) else left == right
    result: Boolean = _PYTHON[name](left, right)
    if both and name in {"ge", "le"}:
        result = or_(result, and_(left.is_(None), right.is_(None)))
    return func.coalesce(result, false()) if either and exact else result


# PostgreSQL takes NaN for equal to itself and for more than all other numbers; SQLite has no NaN.


def _without_nan(name: str, element: ColumnElement[Any], value: float, exact: bool) -> Boolean:
    """Return whether a floating-point number is more than (or equal to) a value, for PostgreSQL."""
    if name == "gt" and value == inf:
        return false()
    least = value if name == "ge" else nextafter(value, inf)
    found = element.between(literal(least, Double()), literal(inf, Double()))
    return func.coalesce(found, false()) if exact else found


def _unless_nan(name: str, found: Boolean, floats: Sequence[ColumnElement[Any]]) -> Boolean:
    """Correct a comparison of two numbers for PostgreSQL, some of which are floating-point ``floats``."""
    if name != "ne":
        return and_(found, *(one.is_distinct_from(literal(nan, Double())) for one in floats))
    both = [one.is_not_distinct_from(literal(nan, Double())) for one in floats]
    return or_(found, and_(*both)) if len(both) == 2 else found


def _is_double(term: Term, context: Context) -> bool:
    return term.type in FLOATS or (term.storage is NATIVE and context.sqlite and term.type is Primitive.DECIMAL)


def _is_beyond(name: str, left: Term, value: int | Decimal | float, context: Context) -> bool:
    """Return whether every number that is exact is less than ``value``, or more: it is one of the infinities."""
    if not isinstance(value, float) or not isinf(value) or _is_double(left, context):
        return False
    return name in ({"lt", "le"} if value > 0 else {"gt", "ge"})


def _number(
    name: str, left: Term, value: int | Decimal | float, context: Context
) -> tuple[str, ColumnElement[Any]] | None:
    """Return the operator, possibly adjusted, and the bound value; None if nothing but ``ne`` holds."""
    if _is_nan(value):
        return None
    if _is_double(left, context):
        return name, literal(float(value), Double())
    if value in (inf, -inf):
        return None
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if left.type is Primitive.DECIMAL and left.storage is NATIVE:
        return name, literal(number, Numeric())
    floor, exactly = scaled(number, left.storage.scale if isinstance(left.storage, ScaledInteger) else 0)
    if exactly:
        return name, whole(floor)
    # For integers, more than 1.5 is more than 1, and less than 1.5 is at most 1.
    if name in {"eq", "ne"}:
        return None
    return ("gt" if name in {"gt", "ge"} else "le"), whole(floor)


def converted(term: Term, other: Term) -> Term:
    """Convert a literal to the type of the other operand.

    It handles a quoted GUID, members of an enumeration, and a date as midnight. Raise 400 TYPE_MISMATCH for a
    text that is not a GUID or not the name of a member.
    """
    if not term.is_literal or term.is_null or other.collection:
        return term
    value, wanted = term.value, other.type
    if wanted is Primitive.GUID and isinstance(value, str):
        return Term(Primitive.GUID, value=_guid(value, other), nullable=False)
    if isinstance(wanted, EnumType) and term.type != wanted and _is_member(value, wanted):
        member = wanted.value_of(value)
        if member is None:
            raise mismatch(f"{wanted.name} has no member {value!r}.", other)
        return Term(wanted, value=member, nullable=False)
    if wanted is Primitive.DATE_TIME_OFFSET and type(value) is date:
        return Term(wanted, value=datetime.combine(value, time(), UTC), nullable=False)
    return term


def _is_member(value: Any, of: EnumType) -> bool:
    return isinstance(value, str) or (of.numbers and isinstance(value, int) and not isinstance(value, bool))


def _guid(text: str, other: Term) -> str:
    try:
        found = str(UUID(text))
    except ValueError:
        found = ""
    if found != text.lower():
        raise mismatch(f"{other.name or 'A GUID'} is compared with {text[:40]!r}, which is not a GUID.", other)
    return found


def _check(name: str, left: Term, right: Term) -> None:
    fits = left.type == right.type or (left.type in NUMBERS and right.type in NUMBERS)
    if not fits or left.collection or right.collection or isinstance(left.type, ComplexType):
        raise mismatch(
            f"{left.name or 'A value'} ({type_name(left)}) cannot be compared with "
            f"{right.name or 'a value'} ({type_name(right)}).",
            left,
            right,
        )
    if left.type is Primitive.BINARY and name not in {"eq", "ne"}:
        raise mismatch(f"{left.name or 'A binary value'} has no order.", left, right)


def is_in(left: Term, items: Sequence[Term], context: Context, *, exact: bool) -> Boolean:
    """Return ``left in (items)``: whether it equals one of them."""
    if left.is_null:
        return or_(false(), *(compare("eq", left, item, context, exact=exact) for item in items))
    values = [converted(item, left) for item in items if not item.is_null]
    for value in values:
        _check("eq", left, value)
    literals = [value for value in values if value.is_literal]
    parts = [compare("eq", left, value, context, exact=exact) for value in values if not value.is_literal]
    if len(values) < len(items):
        parts.append(compare("eq", left, Term(None), context, exact=exact))
    if literals and not left.is_literal:
        parts.append(_among(left, literals, context, exact))
    elif literals:
        parts += [compare("eq", left, value, context, exact=exact) for value in literals]
    return or_(false(), *parts)


def _among(left: Term, literals: Sequence[Term], context: Context, exact: bool) -> Boolean:
    if left.type in NUMBERS:
        bound = [_number("eq", left, value.value, context) for value in literals]
        elements: list[Any] = [one[1] for one in bound if one is not None]
        type_ = elements[0].type if elements else BigInteger()
        values = [one.value for one in elements]
    else:
        elements = [bind(value, left, context) for value in literals]
        type_ = elements[0].type
        values = [one.value for one in elements]
    found: Boolean = left.element.in_(_expanding(values, type_))
    if left.finder is not None:
        found = left.finder.narrowed(found, "eq", elements)
    return func.coalesce(found, false()) if exact and left.nullable else found


def _expanding(values: list[Any], type_: Any) -> Any:
    return bindparam(None, values, type_=type_, expanding=True, unique=True)

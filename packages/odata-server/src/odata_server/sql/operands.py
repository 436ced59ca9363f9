"""Operands of expressions: chains, members of enumerations, JSON values."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, String, and_, false, func, literal, or_

from odata_server.edm import EnumType
from odata_server.expressions import Binary, EnumLiteral, Expression
from odata_server.sql.terms.comparison import compare, converted
from odata_server.sql.terms.typed import Context, Term, literal_term, mismatch

__all__ = ["chain_of", "has_flags", "json_term", "members_term"]


def chain_of(name: str, expression: Expression) -> list[Expression]:
    """Return the operands of a chain of ``and`` or of ``or`` of any length, without recursion."""
    found: list[Expression] = []
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Binary) and one.operator == name:
            waiting += [one.right, one.left]
        else:
            found.append(one)
    return found


def members_term(expression: EnumLiteral, of: EnumType) -> Term:
    """Return the term of an enumeration literal. Raise 400 TYPE_MISMATCH if a member does not exist."""
    written = ",".join(expression.members)
    value = of.value_of(written)
    if value is None:
        raise mismatch(f"{of.name} has no member {written}.")
    return Term(of, value=value, nullable=False)


def json_term(value: Any, left: Term) -> Term:
    """Return the term of a JSON value. Raise 400 TYPE_MISMATCH for an array or an object."""
    if isinstance(value, list | dict):
        raise mismatch("A list may hold only values.", left)
    return literal_term(value, None)


def has_flags(left: Term, right: Term, context: Context, *, exact: bool) -> ColumnElement[bool]:
    """Return whether flags are set; a value of an enumeration without flags only has itself."""
    if left.is_null or right.is_null:
        return false()
    right = converted(right, left)
    if not isinstance(left.type, EnumType) or left.type != right.type or not right.is_literal:
        raise mismatch(
            "The operator has needs a property of an enumeration and members of that enumeration.", left, right
        )
    if not left.type.is_flags or left.is_literal:
        return compare("eq", left, right, context, exact=exact)
    values = {one.name: one.value for one in left.type.members}
    number = 0
    for name in right.value.split(","):
        number |= values[name]
    listed = literal(",", String()).concat(left.element).concat(literal(",", String()))
    position = func.instr if context.sqlite else func.strpos
    found: list[ColumnElement[bool]] = [left.element.is_not(None)]
    for bit in (1 << at for at in range(number.bit_length()) if number >> at & 1):
        having = [name for name, value in values.items() if value & bit]
        found.append(or_(*(position(listed, literal(f",{name},", String())) > 0 for name in having)))
    return func.coalesce(and_(*found), false())

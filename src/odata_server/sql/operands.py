"""Operands of expressions: chains, members of enumerations, JSON values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, String, and_, false, func, literal

from odata_server.edm import EnumType, Primitive
from odata_server.expressions import Binary, EnumLiteral, Expression
from odata_server.sql.terms.comparison import compare
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
    names = {member.name: member.name for member in of.members}
    names |= {str(member.value): member.name for member in of.members}
    unknown = [one for one in expression.members if one not in names]
    if unknown or (len(expression.members) > 1 and not of.is_flags):
        raise mismatch(f"{of.name} has no member {','.join(unknown or expression.members)}.")
    return Term(of, value=",".join(names[one] for one in expression.members), nullable=False)


def json_term(value: Any, left: Term) -> Term:
    """Return the term of a JSON value. Raise 400 TYPE_MISMATCH for an array or an object."""
    if isinstance(value, list | dict):
        raise mismatch("A list may hold only values.", left)
    return literal_term(value, None)


def has_flags(left: Term, right: Term, context: Context, *, exact: bool) -> ColumnElement[bool]:
    """Return whether flags are set; a value of an enumeration without flags only has itself."""
    if left.is_null or right.is_null:
        return false()
    if isinstance(left.type, EnumType) and right.type is Primitive.STRING and right.is_literal:
        right = _members(right, left.type)
    if not isinstance(left.type, EnumType) or left.type != right.type or not right.is_literal:
        raise mismatch(
            "The operator has needs a property of an enumeration and members of that enumeration.", left, right
        )
    if not left.type.is_flags or left.is_literal:
        return compare("eq", left, right, context, exact=exact)
    listed = literal(",", String()).concat(left.element).concat(literal(",", String()))
    position = func.instr if context.sqlite else func.strpos
    found = and_(*(position(listed, literal(f",{one},", String())) > 0 for one in right.value.split(",")))
    return func.coalesce(found, false())


def _members(text: Term, of: EnumType) -> Term:
    """Parse members written without the name of their type, as 4.01 allows. Raise 400 TYPE_MISMATCH."""
    names = [one.strip() for one in text.value.split(",")]
    known = {one.name for one in of.members}
    unknown = next((one for one in names if one not in known), None)
    if unknown is not None or (len(names) > 1 and not of.is_flags):
        raise mismatch(f"{of.name} has no member {unknown or text.value!r}.", text)
    return replace(text, type=of, value=",".join(names))

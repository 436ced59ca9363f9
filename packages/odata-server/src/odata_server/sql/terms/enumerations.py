"""Values of enumerations as numbers: they are compared and sorted by these, not by their names (CSDL 4.01, 10.2)."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import BigInteger, Integer, String, case, func, literal, type_coerce

from odata_server.edm import EnumType, Primitive
from odata_server.sql.terms.storage import NATIVE
from odata_server.sql.terms.typed import Context, Term

__all__ = ["numbered"]


def numbered(term: Term, of: EnumType, context: Context) -> Term:
    """Return the number of a value of an enumeration, null for null.

    The parts of a combination of flags have no bit in common, so its number is their sum.
    """
    if term.is_literal:
        return Term(Primitive.INT64, value=of.number_of(term.value), nullable=False, name=term.name)
    names = term.element
    if of.is_flags:
        listed = literal(",", String()).concat(names).concat(literal(",", String()))
        position = func.instr if context.sqlite else func.strpos
        parts = [
            case((position(listed, literal(f",{one.name},", String())) > 0, literal(one.value, BigInteger())), else_=0)
            for one in of.members
            if one.value
        ]
        total = sum(parts, literal(0, Integer()))
        number = case((names.is_not(None), total))
    else:
        number = case(*((names == one.name, literal(one.value, BigInteger())) for one in of.members))
    return replace(
        term, type=Primitive.INT64, sql=type_coerce(number, BigInteger()), storage=NATIVE, indexed=False, finder=None
    )

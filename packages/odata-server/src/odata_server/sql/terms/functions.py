"""The functions of OData as a table: name, types of the parameters, and the SQL for each database.

::

    @function("contains", TEXT, TEXT)
    def contains(context: Context, text: Term, part: Term) -> Term: ...

A function of the literal null is null. Arguments that are literals are passed as literals; `sql` binds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement

from odata_server.edm import Primitive
from odata_server.errors import ODataError, bad_request
from odata_server.sql.terms.typed import NULL, NUMBERS, Context, Term, materialised, mismatch, type_name

__all__ = [
    "ANY",
    "CALENDAR",
    "CLOCK",
    "DURATION",
    "MOMENT",
    "NUMBER",
    "TEXT",
    "WHOLE",
    "Function",
    "call",
    "function",
    "sql",
]

Kind = frozenset[Any]
TEXT: Kind = frozenset({Primitive.STRING})
NUMBER: Kind = frozenset(NUMBERS)
WHOLE: Kind = frozenset({one for one in NUMBERS if one not in {Primitive.DECIMAL, Primitive.DOUBLE, Primitive.SINGLE}})
MOMENT: Kind = frozenset({Primitive.DATE_TIME_OFFSET})
CALENDAR: Kind = frozenset({Primitive.DATE_TIME_OFFSET, Primitive.DATE})
CLOCK: Kind = frozenset({Primitive.DATE_TIME_OFFSET, Primitive.TIME_OF_DAY})
DURATION: Kind = frozenset({Primitive.DURATION})
ANY: Kind = frozenset()

Body = Callable[..., Term]


@dataclass(frozen=True, slots=True)
class Function:
    """An entry of the table: a function with these parameters. Entries of the same name differ in their parameters."""

    name: str
    kinds: tuple[Kind, ...]
    body: Body


_FUNCTIONS: dict[str, list[Function]] = {}


def function(name: str, *kinds: Kind) -> Callable[[Body], Body]:
    """Register a function. Raise ValueError if the name is already registered with this number of parameters."""

    def register(body: Body) -> Body:
        rows = _FUNCTIONS.setdefault(name, [])
        if any(len(one.kinds) == len(kinds) for one in rows):
            raise ValueError(f"{name} with {len(kinds)} parameters is there already")
        rows.append(Function(name, kinds, body))
        return body

    return register


def call(name: str, arguments: Sequence[Term], context: Context) -> Term:
    """Call a function. Raise 400 for wrong arguments, 501 for an unsupported function."""
    rows = _FUNCTIONS.get(name)
    if rows is None:
        raise ODataError(501, "NOT_IMPLEMENTED", f"The function {name} is not supported by this service.")
    for row in rows:
        if len(row.kinds) == len(arguments):
            return _called(row, arguments, context)
    wanted = " or ".join(str(len(row.kinds)) for row in rows)
    raise bad_request("TYPE_MISMATCH", f"{name} takes {wanted} parameters, not {len(arguments)}.", name)


def _called(row: Function, arguments: Sequence[Term], context: Context) -> Term:
    for kind, argument in zip(row.kinds, arguments, strict=True):
        if kind and not argument.is_null and (argument.type not in kind or argument.collection):
            raise mismatch(f"{row.name} does not take {argument.name or 'a value'} ({type_name(argument)}).", argument)
    if any(argument.is_null for argument in arguments):
        return NULL
    return row.body(context, *arguments)


def sql(term: Term, context: Context) -> ColumnElement[Any]:
    """Return an argument as SQL; a literal is bound on its own."""
    return materialised(term, context).element

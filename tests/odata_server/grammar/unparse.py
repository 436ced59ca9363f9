"""Converts a tree back to text, with no more parentheses than precedence requires (URL Conventions 5.1.1.16)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import singledispatch
from typing import Any

from odata_server.edm import Primitive
from odata_server.expressions import (
    AllOf,
    AnyOf,
    Binary,
    BoundCall,
    Call,
    Case,
    Cast,
    CountOf,
    EnumLiteral,
    Expression,
    In,
    IsOf,
    It,
    ListExpression,
    Literal,
    Member,
    ParameterAlias,
    TypeCast,
    Unary,
)

__all__ = ["unparse"]

LEVELS = (("or",), ("and",), ("eq", "ne"), ("lt", "le", "gt", "ge"), ("add", "sub"), ("mul", "div", "divby", "mod"))
UNARY, TIGHT, ATOM = len(LEVELS), len(LEVELS) + 1, len(LEVELS) + 2


def level(expression: Expression) -> int:
    """Return the precedence of an expression."""
    if isinstance(expression, Binary):
        if expression.operator == "has":
            return TIGHT
        return next(number for number, operators in enumerate(LEVELS) if expression.operator in operators)
    return TIGHT if isinstance(expression, In) else UNARY if isinstance(expression, Unary) else ATOM


def inside(expression: Expression, least: int) -> str:
    text = unparse(expression)
    return text if level(expression) >= least else f"({text})"


def path(source: Expression | None, step: str) -> str:
    return step if source is None else f"{unparse(source)}/{step}"


@singledispatch
def unparse(expression: Any) -> str:
    """Return the text of an expression."""
    raise TypeError(f"{type(expression).__name__} is no expression")


@unparse.register
def _(it: Literal) -> str:
    value: Any = it.value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        text = repr(value)
        return {"inf": "INF", "-inf": "-INF"}.get(text, text if "e" in text else f"{text}e0")
    if isinstance(value, datetime):
        return str(value.isoformat()).replace("+00:00", "Z")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        micros = abs(value) // timedelta(microseconds=1)
        sign = "-" if value < timedelta() else ""
        return f"duration'{sign}PT{micros // 1_000_000}.{micros % 1_000_000:06}S'"
    if it.type is Primitive.STRING:
        return "'" + str(value).replace("'", "''") + "'"
    return str(value)


@unparse.register
def _(it: EnumLiteral) -> str:
    return f"{it.type_name}'{','.join(it.members)}'"


@unparse.register
def _(it: ParameterAlias) -> str:
    return f"@{it.name}"


@unparse.register
def _(it: It) -> str:
    return "$this" if it.this else "$it"


@unparse.register
def _(it: Member) -> str:
    return path(it.source, it.name)


@unparse.register
def _(it: TypeCast) -> str:
    return path(it.source, it.type_name)


@unparse.register
def _(it: CountOf) -> str:
    given = [] if it.filter is None else [f"$filter={unparse(it.filter)}"]
    return path(it.source, "$count") + (f"({';'.join(given)})" if given else "")


@unparse.register
def _(it: AnyOf) -> str:
    if it.variable is None or it.predicate is None:
        return path(it.source, "any()")
    return path(it.source, f"any({it.variable}:{unparse(it.predicate)})")


@unparse.register
def _(it: AllOf) -> str:
    return path(it.source, f"all({it.variable}:{unparse(it.predicate)})")


@unparse.register
def _(it: Call) -> str:
    return f"{it.name}({','.join(map(unparse, it.arguments))})"


@unparse.register
def _(it: BoundCall) -> str:
    return path(it.source, f"{it.name}({','.join(f'{name}={unparse(value)}' for name, value in it.parameters)})")


@unparse.register
def _(it: Unary) -> str:
    return f"{it.operator} {inside(it.operand, UNARY)}"


@unparse.register
def _(it: Binary) -> str:
    own = level(it)
    right = ATOM if it.operator == "has" else own + 1
    return f"{inside(it.left, own)} {it.operator} {inside(it.right, right)}"


@unparse.register
def _(it: In) -> str:
    return f"{inside(it.left, TIGHT)} in {inside(it.right, ATOM)}"


@unparse.register
def _(it: ListExpression) -> str:
    return f"({','.join(map(unparse, it.items))})"


@unparse.register
def _(it: Cast) -> str:
    return f"cast({'' if it.source is None else unparse(it.source) + ','}{it.type_name})"


@unparse.register
def _(it: IsOf) -> str:
    return f"isof({'' if it.source is None else unparse(it.source) + ','}{it.type_name})"


@unparse.register
def _(it: Case) -> str:
    return f"case({','.join(f'{unparse(condition)} : {unparse(value)}' for condition, value in it.branches)})"

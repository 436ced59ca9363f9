"""Percentages that a query computes, exact on both databases."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from promenade.store.types import ExactDecimal

__all__ = ["Percentage"]


class Percentage(FunctionElement[Any]):
    """What percentage of the second amount the first is, rounded half up to two decimals; of nothing it is 0.

    At most 999.99, which more than ten times the amount is as well. Neither is below zero.
    """

    inherit_cache = True
    type = ExactDecimal(5, 2)


@compiles(Percentage)
def _of_whole_numbers(element: Percentage, compiler: SQLCompiler, **kw: Any) -> str:
    """In two steps, of which none is too large for 64 bits: whole percent, and hundredths of what is left of them."""
    part, whole = (compiler.process(one, **kw) for one in element.clauses)
    rest = f"(({part}) * 100 % ({whole}))"
    return (
        f"CASE WHEN ({whole}) > 0 AND ({part}) >= ({whole}) * 10 THEN 99999 WHEN ({whole}) > 0 THEN"
        f" ({part}) * 100 / ({whole}) * 100 + {rest} * 100 / ({whole})"
        f" + ({rest} * 100 % ({whole}) * 2 >= ({whole})) ELSE 0 END"
    )


@compiles(Percentage, "postgresql")
def _of_numerics(element: Percentage, compiler: SQLCompiler, **kw: Any) -> str:
    part, whole = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    return f"(CASE WHEN {whole} > 0 THEN least(round({part} * 100 / {whole}, 2), 999.99) ELSE 0.00 END)::numeric(5, 2)"

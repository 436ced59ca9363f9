"""Parts of amounts, and when amounts run out, reckoned by a query: to the same result on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from promenade.engine.money import minor_digits
from promenade.model.currencies import CURRENCY_NAMES
from promenade.store.types import ExactDecimal, Timestamp

__all__ = ["Projection", "Share"]

_ODD = {
    digits: sorted(code for code in CURRENCY_NAMES if minor_digits(code) == digits)
    for digits in sorted({minor_digits(code) for code in CURRENCY_NAMES} - {2})
}
"""The currencies whose minor unit does not have two decimals, by how many it has."""
_DECIMALS = 3  # of amounts
_DAYS_MAX = 1_000_000  # some 2700 years: what lasts longer is said to last as long


class Share(FunctionElement[Any]):
    """So many percent of an amount in a currency, rounded half up (away from zero) to its minor unit.

    ``Share(amount, percentage, currency)``; the amount has three decimals, the percentage two.
    """

    inherit_cache = True
    type = ExactDecimal(18, 3)


@compiles(Share)
def _of_whole_numbers(element: Share, compiler: SQLCompiler, **kw: Any) -> str:
    """In two steps, of which none is too large for 64 bits: the part of whole units, and of what is left of them."""
    amount, percentage, currency = (f"({compiler.process(one, **kw)})" for one in element.clauses)

    def of_magnitude(digits: int) -> str:
        unit = 10 ** max(_DECIMALS - digits, 0)
        whole = 10_000 * unit
        rest = f"(abs({amount}) % {whole} * {percentage})"
        return f"(abs({amount}) / {whole} * {percentage} + ({rest} + {whole // 2}) / {whole}) * {unit}"

    return f"((CASE WHEN {amount} < 0 THEN -1 ELSE 1 END) * {_by_currency(currency, of_magnitude)})"


@compiles(Share, "postgresql")
def _of_numerics(element: Share, compiler: SQLCompiler, **kw: Any) -> str:
    amount, percentage, currency = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    digits = _by_currency(currency, lambda digits: min(digits, _DECIMALS))
    return f"round({amount} * {percentage} / 100, {digits})::numeric(18, 3)"


def _by_currency(currency: str, value: Callable[[int], object]) -> str:
    """``value`` of the currency's decimals, as an expression that looks at the currency once."""
    odd = " ".join(
        f"WHEN {currency} IN ({', '.join(repr(code) for code in codes)}) THEN {value(digits)}"
        for digits, codes in _ODD.items()
    )
    return f"(CASE {odd} ELSE {value(2)} END)"


class Projection(FunctionElement[Any]):
    """When an amount is gone that loses so much a day: ``Projection(from_when, amount, per_day)``, both above zero.

    An estimate, to the second; at most some thousand years from then.
    """

    inherit_cache = True
    type = Timestamp()


@compiles(Projection)
def _in_microseconds(element: Projection, compiler: SQLCompiler, **kw: Any) -> str:
    since, amount, per_day = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    days = f"min(CAST({amount} AS REAL) / {per_day}, {_DAYS_MAX})"
    return f"({since} + CAST({days} * 86400 AS INTEGER) * 1000000)"


@compiles(Projection, "postgresql")
def _in_intervals(element: Projection, compiler: SQLCompiler, **kw: Any) -> str:
    since, amount, per_day = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    days = f"least({amount} / {per_day}, {_DAYS_MAX})"
    return f"({since} + floor({days} * 86400)::float8 * interval '1 second')"

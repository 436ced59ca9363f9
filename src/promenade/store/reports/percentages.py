"""Percentages, parts of amounts and when amounts run out, reckoned by a query: to the same result on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from promenade.engine.money import minor_digits
from promenade.model.currencies import CURRENCY_NAMES
from promenade.store.driver.types import ExactDecimal, Timestamp


class Percentage(FunctionElement[Any]):
    """The first amount as a percentage of the second, rounded half up to two decimals; 0 if the second is zero.

    At most 999.99, even if it is more. Neither amount may be negative.
    """

    inherit_cache = True
    type = ExactDecimal(5, 2)


@compiles(Percentage)
def _of_whole_numbers(element: Percentage, compiler: SQLCompiler, **kw: Any) -> str:
    """Compute whole percents and hundredths of the remainder separately, so that no result exceeds 64 bits."""
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


# ---- parts of amounts, and when amounts run out ---------------------------------------------------------------------


_ODD = {
    digits: sorted(code for code in CURRENCY_NAMES if minor_digits(code) == digits)
    for digits in sorted({minor_digits(code) for code in CURRENCY_NAMES} - {2})
}
"""The currencies whose minor unit does not have two decimals, by how many it has."""
_DECIMALS = 3  # decimal places of amounts
_DAYS_MAX = 1_000_000  # some 2700 years: the maximum of a projection


class Share(FunctionElement[Any]):
    """A percentage of an amount in a currency, rounded half up (away from zero) to its minor unit.

    ``Share(amount, percentage, currency)``; the amount has three decimals, the percentage two.
    """

    inherit_cache = True
    type = ExactDecimal(18, 3)


@compiles(Share)
def _share_of_whole_numbers(element: Share, compiler: SQLCompiler, **kw: Any) -> str:
    """In two steps, of which none is too large for 64 bits: the part of whole units, and of what is left of them."""
    amount, percentage, currency = (f"({compiler.process(one, **kw)})" for one in element.clauses)

    def of_magnitude(digits: int) -> str:
        unit = 10 ** max(_DECIMALS - digits, 0)
        whole = 10_000 * unit
        rest = f"(abs({amount}) % {whole} * {percentage})"
        return f"(abs({amount}) / {whole} * {percentage} + ({rest} + {whole // 2}) / {whole}) * {unit}"

    return f"((CASE WHEN {amount} < 0 THEN -1 ELSE 1 END) * {_by_currency(currency, of_magnitude)})"


@compiles(Share, "postgresql")
def _share_of_numerics(element: Share, compiler: SQLCompiler, **kw: Any) -> str:
    amount, percentage, currency = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    digits = _by_currency(currency, lambda digits: min(digits, _DECIMALS))
    return f"round({amount} * {percentage} / 100, {digits})::numeric(18, 3)"


def _by_currency(currency: str, value: Callable[[int], object]) -> str:
    """Return ``value`` of the currency's number of decimals, as an expression that evaluates the currency once."""
    odd = " ".join(
        f"WHEN {currency} IN ({', '.join(repr(code) for code in codes)}) THEN {value(digits)}"
        for digits, codes in _ODD.items()
    )
    return f"(CASE {odd} ELSE {value(2)} END)"


class Projection(FunctionElement[Any]):
    """The time when an amount runs out: ``Projection(from_when, amount, per_day)``, both numbers above zero.

    An estimate, to the second; at most a few thousand years ahead.
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

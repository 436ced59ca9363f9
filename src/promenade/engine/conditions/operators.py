"""Comparison operators on text and on numbers (pricing semantics, section 3).

Two texts compare as numbers where both are numbers, else as text. ``10`` and ``10.0`` are the same number; a text
with a leading zero (``007``) is an identifier, not a number. Numbers are integers scaled by `SCALE`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.money import decimal_text
from promenade.engine.verdict import Met, Missed, Trigger, Verdict

OPERATORS = ("EQUALS", "CONTAINS", "STARTS_WITH", "GREATER_THAN", "LESS_THAN", "BETWEEN", "GTE", "LTE")

SCALE_DIGITS = 9
SCALE = 10**SCALE_DIGITS

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]{0,19})(?:\.([0-9]{1,9}))?", re.ASCII)


def number(text: str) -> int | None:
    """The text's value scaled by `SCALE`, or None when it is not a plain decimal number."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, whole, decimals = found.group(1), found.group(2), found.group(3)
    value: int = int(whole) * SCALE + (int(decimals.ljust(SCALE_DIGITS, "0")) if decimals else 0)
    return -value if sign else value


def texts_of(row: ConditionRow) -> tuple[str, ...]:
    """``value`` and the value list, in order: an operator holds when it holds for any of them."""
    texts = [] if row.value is None or row.value == "" else [row.value]
    texts.extend([text for text in row.values if text != ""])
    return tuple(texts)


@dataclass(frozen=True, slots=True)
class TextTest:
    """An operator with its operands, compiled.

    ``folded``: ignore case. ``identifier``: the text identifies something (a customer, a card type), so that EQUALS
    means the same text and never the same number.
    """

    operator: str
    texts: tuple[str, ...]
    high: str | None = None
    folded: bool = False
    exact: frozenset[str] = frozenset()
    numbers: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, row: ConditionRow, *, identifier: bool = False, folded: bool = False) -> TextTest:
        """Read operator, value, valueTo and the value list; raises DefinitionError when an operand is missing."""
        operator = row.operator or "EQUALS"
        if operator not in OPERATORS:
            raise DefinitionError("operator", "UNKNOWN_OPERATOR", f"There is no operator {operator}.")
        texts = texts_of(row)
        high = row.value_to
        if operator == "BETWEEN":
            if not row.value or not high:
                raise DefinitionError("valueTo", "VALUE_REQUIRED", "BETWEEN needs value and valueTo.")
            texts = (row.value,)
        if not texts:
            raise DefinitionError("value", "VALUE_REQUIRED", f"A {row.condition_type} condition needs a value.")
        if folded:
            texts = tuple([text.casefold() for text in texts])
            high = high.casefold() if high else None
        if operator != "EQUALS":
            return cls(operator, texts, high, folded)
        return cls.equal_to(texts, identifier=identifier, folded=folded)

    @classmethod
    def equal_to(cls, texts: tuple[str, ...], *, identifier: bool = False, folded: bool = False) -> TextTest:
        """EQUALS with these operands."""
        numbers = [] if identifier else [value for value in map(number, texts) if value is not None]
        return cls("EQUALS", texts, None, folded, frozenset(texts), frozenset(numbers))

    def holds(self, text: str) -> bool:
        """Whether ``text`` passes for any operand."""
        if self.folded:
            text = text.casefold()
        if self.operator == "EQUALS":
            if text in self.exact:
                return True
            return bool(self.numbers) and number(text) in self.numbers
        if self.operator == "BETWEEN":
            return compare(text, self.texts[0]) >= 0 and compare(text, self.high or "") <= 0
        return any(_holds(self.operator, text, operand) for operand in self.texts)

    def keys(self, kind: str) -> tuple[tuple[str, str], ...] | None:
        """Index keys of an identifier's EQUALS; None where other texts may pass too."""
        if self.operator != "EQUALS" or self.numbers:
            return None
        return tuple([(kind, text) for text in self.texts])

    def phrase(self) -> str:
        """The test in words: ``above 5``."""
        if self.operator == "BETWEEN":
            return f"between {self.texts[0]} and {self.high}"
        shown = " or ".join(self.texts[:5]) + (" ..." if len(self.texts) > 5 else "")
        return PHRASES[self.operator] + shown


def compare(left: str, right: str) -> int:
    """Negative, zero or positive: compared as numbers where both are, else as text."""
    left_number, right_number = number(left), number(right)
    if left_number is not None and right_number is not None:
        return (left_number > right_number) - (left_number < right_number)
    return (left > right) - (left < right)


def _holds(operator: str, text: str, operand: str) -> bool:
    if operator == "CONTAINS":
        return operand in text
    if operator == "STARTS_WITH":
        return text.startswith(operand)
    order = compare(text, operand)
    if operator == "GREATER_THAN":
        return order > 0
    if operator == "LESS_THAN":
        return order < 0
    return order >= 0 if operator == "GTE" else order <= 0


PHRASES = {
    "EQUALS": "",
    "CONTAINS": "containing ",
    "STARTS_WITH": "starting with ",
    "GREATER_THAN": "above ",
    "LESS_THAN": "below ",
    "GTE": "at least ",
    "LTE": "at most ",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of whole units, both ends included; None = open.

    ``threshold`` counts how often a condition is met: the operand itself, or 0 when the operator sets only an upper
    limit or there is nothing to divide by.
    """

    low: int | None
    high: int | None
    threshold: int


def bounds(operator: str, value: int, value_to: int | None, digits: int) -> Bounds:
    """An operator on whole units of 10^-digits as a range, exactly: above 49.50 yen is from 50 yen on.

    ``value`` and ``value_to`` are scaled by `SCALE`.
    """
    unit = 10**digits
    floor, ceiling = value * unit // SCALE, -(-value * unit // SCALE)
    threshold = max(0, ceiling)
    if operator == "GTE":
        return Bounds(ceiling, None, threshold)
    if operator == "GREATER_THAN":
        return Bounds(floor + 1, None, threshold)
    if operator == "LTE":
        return Bounds(None, floor, 0)
    if operator == "LESS_THAN":
        return Bounds(None, ceiling - 1, 0)
    if operator == "BETWEEN" and value_to is not None:
        return Bounds(ceiling, value_to * unit // SCALE, threshold)
    return Bounds(ceiling, floor, threshold)


def reached(ranges: tuple[Bounds, ...], units: int) -> Bounds | None:
    """The first of the ranges that ``units`` lies in."""
    for one in ranges:
        if (one.low is None or units >= one.low) and (one.high is None or units <= one.high):
            return one
    return None


def lowest(ranges: tuple[Bounds, ...]) -> int | None:
    """The number above 0 from which on all numbers lie in one of the ranges and below which none does, if any."""
    lows = [one.low for one in ranges if one.low is not None and one.high is None]
    return min(lows) if len(lows) == len(ranges) and min(lows, default=0) > 0 else None


@dataclass(frozen=True, slots=True)
class NumberTest:
    """An operator on a number: the operands scaled by `SCALE`, and the upper end of BETWEEN."""

    operator: str
    operands: tuple[int, ...]
    high: int | None
    shown: tuple[str, ...]

    @classmethod
    def parse(cls, row: ConditionRow, fallback: int | None = None) -> NumberTest:
        """Read operator (GTE when absent) and operands; ``fallback`` (scaled) stands in for a missing value."""
        operator = row.operator or "GTE"
        if operator not in OPERATORS:
            raise DefinitionError("operator", "UNKNOWN_OPERATOR", f"There is no operator {operator}.")
        if operator in ("CONTAINS", "STARTS_WITH"):
            raise DefinitionError("operator", "OPERATOR_NOT_NUMERIC", f"{operator} does not work on numbers.")
        texts = texts_of(row)
        operands = [_operand("value", text) for text in texts]
        if not operands and fallback is not None:
            operands, texts = [fallback], (decimal_text(fallback, SCALE_DIGITS, trim=True),)
        if not operands:
            raise DefinitionError("value", "VALUE_REQUIRED", f"A {row.condition_type} condition needs a value.")
        if operator != "BETWEEN":
            return cls(operator, tuple(operands), None, texts)
        if not row.value_to:
            raise DefinitionError("valueTo", "VALUE_REQUIRED", "BETWEEN needs value and valueTo.")
        return cls(operator, (operands[0],), _operand("valueTo", row.value_to), (texts[0], row.value_to))

    def ranges(self, digits: int) -> tuple[Bounds, ...]:
        """The test on whole units of 10^-digits."""
        return tuple([bounds(self.operator, operand, self.high, digits) for operand in self.operands])

    def phrase(self) -> str:
        """The test in words: ``at least 50``."""
        if self.operator == "BETWEEN":
            return f"between {self.shown[0]} and {self.shown[1]}"
        return (PHRASES[self.operator] or "exactly ") + " or ".join(self.shown)


def _operand(target: str, text: str) -> int:
    value = number(text.strip())
    if value is None:
        raise DefinitionError(target, "NOT_A_NUMBER", f"{text!r} is not a number.")
    return value


def measure(
    ranges: tuple[Bounds, ...],
    units: int,
    lines: tuple[int, ...],
    matched: tuple[int, ...] | None,
    what: Measure,
    is_remaining: bool = False,
) -> Verdict:
    """The verdict on a measured number: ``lines`` are those that counted, ``matched`` those the condition names."""
    met = reached(ranges, units)
    if met is not None:
        if met.threshold <= 0:
            return Met()
        return Met(None, (Trigger(lines, what.is_quantity, met.threshold, units, is_remaining),))
    above = [one.low for one in ranges if one.low is not None and units < one.low]
    if not above:
        return what.too_high
    return Missed(what.too_low, (), "", what.gap_type, units, min(above), what.is_quantity, matched or ())


@dataclass(frozen=True, slots=True)
class Measure:
    """How verdicts describe a measured number."""

    gap_type: str
    is_quantity: bool
    too_low: str
    too_high: Missed

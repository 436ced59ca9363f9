"""Whether one text can pass several tests at once, by the comparisons of `conditions.operators`.

A text is compared as a number where both sides are numbers, else as text, so both readings are followed: ``5x`` is
above ``100`` and below ``50``. Whatever is uncertain counts as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import product

from promenade.engine.conditions.operators import TextTest, number

WAYS_MAX = 64  # combinations of operands considered; beyond that, it counts as possible

_COMPLEMENTS = {"GTE": "LESS_THAN", "LESS_THAN": "GTE", "LTE": "GREATER_THAN", "GREATER_THAN": "LTE"}
_COMPARING = frozenset(_COMPLEMENTS)

Simple = tuple[str, str]
"""An operator and its one operand."""


class Outlook(IntEnum):
    """Whether something can hold: NO means certainly not, UNLIKELY only for nonsensical values."""

    NO = 0
    UNLIKELY = 1
    POSSIBLE = 2


def text_outlook(positive: Sequence[TextTest], negative: Sequence[TextTest]) -> Outlook:
    """Whether a text can pass every test of ``positive`` and none of ``negative``.

    Without a positive test there need not be a text at all.
    """
    if not positive:
        return Outlook.POSSIBLE
    exact = [test for test in positive if test.operator == "EQUALS"]
    if exact:
        return _among(min(exact, key=lambda test: len(test.texts)), positive, negative)
    if ways_of(positive, negative) > WAYS_MAX:
        return Outlook.POSSIBLE
    ways = [_ways(test) for test in positive] + [_ways_out(test) for test in negative]
    best = Outlook.NO
    for way in product(*ways):
        best = max(best, _simple_outlook([one for part in way for one in part], negative))
        if best is Outlook.POSSIBLE:
            break
    return best


def ways_of(positive: Sequence[TextTest], negative: Sequence[TextTest]) -> int:
    """The number of combinations of operands, counted up to one more than are considered."""
    if any(test.operator == "EQUALS" for test in positive):
        return 1
    count = 1
    for test in positive:
        count *= 1 if test.operator == "BETWEEN" else len(test.texts)
        if count > WAYS_MAX:
            return WAYS_MAX + 1
    for test in negative:
        count *= 2 if test.operator == "BETWEEN" else 1
        if count > WAYS_MAX:
            return WAYS_MAX + 1
    return count


def _among(exact: TextTest, positive: Sequence[TextTest], negative: Sequence[TextTest]) -> Outlook:
    """One of finitely many texts, or of numbers in any spelling."""
    for text in exact.texts:
        if all(test.holds(text) for test in positive) and not any(test.holds(text) for test in negative):
            return Outlook.POSSIBLE
    for value in exact.numbers:
        if all(_of_number(test, value) is not False for test in positive) and not any(
            _of_number(test, value) is True for test in negative
        ):
            return Outlook.POSSIBLE
    return Outlook.NO


def _of_number(test: TextTest, value: int) -> bool | None:
    """Whether a number passes in any spelling; None: that depends on the spelling."""
    if test.operator == "EQUALS":
        if value in test.numbers:
            return True
        return False if all(number(text) != value for text in test.texts) else None
    if test.operator == "BETWEEN":
        low, high = number(test.texts[0]), number(test.high or "")
        return None if low is None or high is None else low <= value <= high
    if test.operator not in _COMPARING:
        return None
    operands = [number(text) for text in test.texts]
    known = [_number_passes(test.operator, value, one) for one in operands if one is not None]
    return True if any(known) else None if None in operands else False


def _number_passes(operator: str, value: int, operand: int) -> bool:
    if operator == "GREATER_THAN":
        return value > operand
    if operator == "LESS_THAN":
        return value < operand
    return value >= operand if operator == "GTE" else value <= operand


def _ways(test: TextTest) -> list[list[Simple]]:
    """The ways to pass a test that is not EQUALS, each a conjunction of simple tests."""
    if test.operator == "BETWEEN":
        return [[("GTE", test.texts[0]), ("LTE", test.high or "")]]
    return [[(test.operator, text)] for text in test.texts]


def _ways_out(test: TextTest) -> list[list[Simple]]:
    """The ways to fail a test, as far as they are comparisons; EQUALS rules out only single texts."""
    if test.operator == "BETWEEN":
        return [[("LESS_THAN", test.texts[0])], [("GREATER_THAN", test.high or "")]]
    if test.operator in _COMPARING:
        return [[(_COMPLEMENTS[test.operator], text) for text in test.texts]]
    return [[]]


def _simple_outlook(tests: list[Simple], negative: Sequence[TextTest]) -> Outlook:
    starts = [text for operator, text in tests if operator == "STARTS_WITH"]
    longest = max(starts, key=len, default="")
    if any(not longest.startswith(start) for start in starts) or _is_ruled_out(tests, longest, negative):
        return Outlook.NO
    bounds = [(operator, text) for operator, text in tests if operator in _COMPARING]
    numeric = sum(number(text) is not None for _, text in bounds)
    if numeric and numeric < len(bounds):
        return Outlook.POSSIBLE  # read as number or as text depending on the value
    as_text = _has_text(bounds, longest, is_one_enough=not numeric)
    if not numeric:
        return Outlook.POSSIBLE if as_text else Outlook.NO
    if _has_number(bounds):
        return Outlook.POSSIBLE
    # A test that compares only with numbers is meant for numbers.
    return Outlook.UNLIKELY if as_text else Outlook.NO


def _is_ruled_out(tests: list[Simple], longest: str, negative: Sequence[TextTest]) -> bool:
    """Whether the required start or content is one that is forbidden."""
    held = [text for operator, text in tests if operator in ("CONTAINS", "STARTS_WITH")]
    for test in negative:
        for text in test.texts:
            if test.operator == "STARTS_WITH" and longest.startswith(text):
                return True
            if test.operator == "CONTAINS" and any(text in one for one in held):
                return True
    return False


def _has_number(bounds: list[Simple]) -> bool:
    """Whether a number may lie within bounds that are numbers."""
    low: int | None = None
    high: int | None = None
    for operator, text in bounds:
        value = number(text) or 0
        if operator in ("GTE", "GREATER_THAN"):
            value += operator == "GREATER_THAN"
            low = value if low is None else max(low, value)
        else:
            value -= operator == "LESS_THAN"
            high = value if high is None else min(high, value)
    return low is None or high is None or low <= high


def _has_text(bounds: list[Simple], start: str, *, is_one_enough: bool) -> bool:
    """Whether a text that begins with ``start`` may lie within the bounds, all compared as text.

    ``is_one_enough``: also where they leave a single one, which must not be a number where bounds are numbers.
    """
    low = max([text for operator, text in bounds if operator in ("GTE", "GREATER_THAN")], default=None)
    high = min([text for operator, text in bounds if operator in ("LTE", "LESS_THAN")], default=None)
    if low is not None and start and low > start and not low.startswith(start):
        return False
    if high is not None and start and high < start:
        return False
    if low is None or high is None or low < high:
        return True
    is_strict = any(text == low and operator in ("GREATER_THAN", "LESS_THAN") for operator, text in bounds)
    return is_one_enough and low == high and not is_strict

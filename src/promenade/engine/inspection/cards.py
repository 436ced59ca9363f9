"""Whether one card number can begin as several conditions ask.

Only numbers of the full 8 digits are followed: a shorter one passes nothing that no longer one passes.
"""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.conditions.payment import BIN_DIGITS_MAX, CreditCardBin
from promenade.engine.inspection.spans import Spans, both, spans_of
from promenade.engine.inspection.texts import Outlook

__all__ = ["cards_outlook"]

HIGHEST_CARD = 10**BIN_DIGITS_MAX - 1


def cards_outlook(positive: Sequence[CreditCardBin], negative: Sequence[CreditCardBin]) -> Outlook:
    """Whether a card passes every positive condition and none of ``negative`` (which count where alike)."""
    allowed: Spans = ((0, HIGHEST_CARD),)
    for one in positive:
        if one in negative:
            return Outlook.NO
        allowed = both(allowed, _numbers(one))
    return Outlook.POSSIBLE if allowed else Outlook.NO


def _numbers(condition: CreditCardBin) -> Spans:
    """The numbers of 8 digits that pass; all of them where the operator says nothing about how they begin."""
    if condition.operator == "BETWEEN":
        low, high = condition.prefixes
        return both(spans_of([_range("GTE", low)]), spans_of([_range("LTE", high)]))
    return spans_of([_range(condition.operator, prefix) for prefix in condition.prefixes])


def _range(operator: str, prefix: str) -> tuple[int, int]:
    if operator == "CONTAINS":
        return 0, HIGHEST_CARD
    rest = 10 ** (BIN_DIGITS_MAX - len(prefix))
    first = int(prefix) * rest
    last = first + rest - 1
    return {
        "GREATER_THAN": (last + 1, HIGHEST_CARD),
        "GTE": (first, HIGHEST_CARD),
        "LESS_THAN": (0, first - 1),
        "LTE": (0, last),
    }.get(operator, (first, last))

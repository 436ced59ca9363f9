"""Discounts computed once on a total and then distributed over lines (section 7)."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.benefits.choice import Chosen
from promenade.engine.benefits.per_unit import pieces_of, unit_caps
from promenade.engine.benefits.registry import Terms
from promenade.engine.ledger import Ledger
from promenade.engine.money import divide, limit_minor, rounding_step, split
from promenade.engine.turn import Shown, Turn


def bases_of(ledger: Ledger, chosen: list[Chosen], additive: bool) -> list[int]:
    """Each line's amount that the discount is based on, scaled: original in ADDITIVE mode, else what remains."""
    scale = ledger.scale
    states = ledger.states
    totals = ledger.totals
    bases: list[int] = []
    for position, segments in chosen:
        if segments is None:
            total = totals[position] if additive else totals[position] - states[position][0]
            bases.append(total * scale)
        elif additive:
            bases.append(ledger.unit_worths[position] * sum([segment[1] for segment in segments]))
        else:
            worth = ledger.unit_worths[position]
            bases.append(sum([count * max(0, worth - taken * scale) for _, count, taken in segments]))
    return bases


def rounded_total(ledger: Ledger, terms: Terms, numerator: int, denominator: int) -> int:
    """An exact total (scaled minor units / denominator) rounded once by the promotion's calculation terms."""
    step = 1 if terms.precision is None else rounding_step(terms.precision, ledger.view.exponent)
    return divide(numerator, denominator * ledger.scale * step, terms.rounding) * step


def total_off(ledger: Ledger, terms: Terms, shown: Shown, bases: Sequence[int]) -> int:
    """PERCENTAGE of the bases' sum, or the ABSOLUTE amount, in minor units."""
    kind, value = shown
    if kind == "PERCENTAGE":
        return rounded_total(ledger, terms, sum(bases) * value, 10_000)
    return rounded_total(ledger, terms, value * ledger.factor, 1)


def capped(ledger: Ledger, total: int, maximum: int | None) -> int:
    """The total limited by maxDiscountAmount (hundredths of face value)."""
    if maximum is None:
        return total
    return min(total, limit_minor(maximum, ledger.view.exponent))


def spread(
    turn: Turn, chosen: list[Chosen], bases: Sequence[int], total: int, mode: str | None, shown: Shown, additive: bool
) -> None:
    """Distribute ``total`` over the chosen lines; no line gives more than it has left, the others take the rest."""
    ledger = turn.ledger
    totals = ledger.totals
    states = ledger.states
    caps: list[int] = []
    for position, segments in chosen:
        left = totals[position] - states[position][0]
        if segments is not None:
            unit_left = unit_caps(ledger, position, segments)
            left = min(left, sum([s[1] * cap for s, cap in zip(segments, unit_left, strict=True)]))
        caps.append(left if left > 0 else 0)
    prices = [ledger.unit_worths[position] for position, _ in chosen] if mode == "HIGHEST_FIRST" else bases
    parts = split(mode, total, bases, caps, prices)
    if all(segments is None for _, segments in chosen):
        turn.take_lines(zip([position for position, _ in chosen], parts, strict=True), shown)
        return
    scale = ledger.scale
    for (position, segments), part in zip(chosen, parts, strict=True):
        if part <= 0:
            continue
        if segments is None:
            turn.take_line(position, part, shown)
            continue
        worth = ledger.unit_worths[position]
        weights = [worth if additive else max(0, worth - taken * scale) for _, _, taken in segments]
        pieces = pieces_of(part, segments, weights, unit_caps(ledger, position, segments))
        turn.take_pieces(position, part, pieces, shown)

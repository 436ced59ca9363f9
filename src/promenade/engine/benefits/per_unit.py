"""Per-unit discounts: PERCENTAGE, ABSOLUTE and UNIT_PRICE on chosen units (section 6).

Each line's discount is computed exactly and rounded once, never more than what is left of its units (section 7). Where
a calculation precision is coarser than the currency, whole steps of it are taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.benefits.choice import Chosen
from promenade.engine.benefits.registry import Terms
from promenade.engine.benefits.targets import Exclusions
from promenade.engine.ledger import SHARED, Ledger, Pieces, Segment, State, merged
from promenade.engine.money import divide, limit_minor, rounding_step, split_proportional
from promenade.engine.turn import Shown, Turn


class PerUnit:
    """One discount type and value under a promotion's terms."""

    __slots__ = ("additive", "is_plain", "kind", "precision", "rounding", "shown", "value")

    def __init__(self, kind: str, value: int, terms: Terms) -> None:
        self.kind = kind
        self.value = value  # hundredths of a percent, or of face value
        self.additive = terms.additive
        self.rounding = terms.rounding
        self.precision = terms.precision
        self.shown: Shown = (kind, value)
        self.is_plain = terms.precision is None and terms.rounding == "ROUND_HALF_UP"

    def even_amount(self, ledger: Ledger, position: int) -> int:
        """The discount on all units of an evenly treated line, in minor units."""
        taken = ledger.states[position][0]
        left = ledger.totals[position] - taken
        if left <= 0:
            return 0
        units = ledger.units[position]
        worth = ledger.unit_worths[position]
        scale = ledger.scale
        kind = self.kind
        if kind == "PERCENTAGE":
            want, unit = worth * self.value, 10_000
        else:
            want, unit = self.value * ledger.factor, 1
        if kind == "PERCENTAGE" and not self.additive:
            exact = want * units - taken * scale * self.value
        elif kind == "UNIT_PRICE" or (
            # The lowest unit, of which most is taken, has less left than a unit is to get.
            (taken or unit == 1) and want > (worth - (taken // units + 1 if taken else 0) * scale) * unit
        ):
            return self._evenly(ledger, position, taken, left)
        else:
            exact = want * units
        unit *= scale
        amount = (2 * exact + unit) // (2 * unit) if self.is_plain else self.rounded(ledger, exact, unit)
        return amount if amount < left else left

    def _evenly(self, ledger: Ledger, position: int, taken: int, left: int) -> int:
        """The discount on all units, of which the lowest ones have lost a minor unit more than the others."""
        units = ledger.units[position]
        share, odd = divmod(taken, units)
        return self._amount(ledger, position, [(0, odd, share + 1), (odd, units - odd, share)], left)

    def amount(self, ledger: Ledger, position: int, segments: list[Segment]) -> int:
        """The discount on some units of a line, in minor units."""
        left = ledger.totals[position] - ledger.states[position][0]
        return self._amount(ledger, position, segments, left) if left > 0 else 0

    def _amount(self, ledger: Ledger, position: int, segments: Sequence[Segment], left: int) -> int:
        wants = self.wants(ledger, position, segments)
        exact = sum([segment[1] * want for segment, want in zip(segments, wants, strict=True)])
        scale = ledger.scale
        if self.kind == "PERCENTAGE":
            scale *= 10_000
        elif self.kind == "UNIT_PRICE":
            scale *= 1000
        cap = sum([s[1] * c for s, c in zip(segments, unit_caps(ledger, position, segments), strict=True)])
        return min(self.rounded(ledger, exact, scale), left, cap)

    def wants(self, ledger: Ledger, position: int, segments: Sequence[Segment]) -> list[int]:
        """The exact discount of one unit of each segment, limited to what is left of it.

        Times 10 000 for PERCENTAGE, times 1000 for UNIT_PRICE, whose price may be per measure.
        """
        worth = ledger.unit_worths[position]
        scale = ledger.scale
        value = self.value
        if self.kind == "PERCENTAGE":
            if self.additive:
                full = worth * value
                return [max(0, min(full, (worth - taken * scale) * 10_000)) for _, _, taken in segments]
            return [max(0, worth - taken * scale) * value for _, _, taken in segments]
        amount = value * ledger.factor
        if self.kind == "ABSOLUTE":
            return [max(0, min(amount, worth - taken * scale)) for _, _, taken in segments]
        line = ledger.view.lines[position]
        amount *= line.quantity_thousandths if line.weighed else 1000
        return [max(0, (worth - taken * scale) * 1000 - amount) for _, _, taken in segments]

    def rounded(self, ledger: Ledger, numerator: int, denominator: int) -> int:
        """An exact amount in minor units, rounded by the promotion's calculation terms."""
        step = 1 if self.precision is None else rounding_step(self.precision, ledger.view.exponent)
        return divide(numerator, denominator * step, self.rounding) * step

    def book_all(self, turn: Turn, positions: tuple[int, ...]) -> None:
        """Discount every open unit of these lines: the common case, without a choice or a maximum."""
        ledger, takes, own = turn.ledger, turn.takes, turn.own
        states, totals, units = ledger.states, ledger.totals, ledger.units
        shared = 0 if turn.exclusive else SHARED
        sum_taken = 0
        for position in positions:
            before = states[position]
            taken, mark, runs = before
            if taken >= totals[position]:
                continue
            # As `open_units`, without a call where all units of a line are untouched or have something left.
            if runs is not None or (mark and (mark & shared != mark or taken > totals[position] - units[position])):
                segments = turn.open_units(position)
                if segments is not None:
                    if segments:
                        self.book(turn, [(position, segments)], None)
                    continue
            amount = self.even_amount(ledger, position)
            if amount > 0:  # as `Turn.take_line`, with one sum for all lines
                after: State = (taken + amount, merged(mark, own) if mark else own, None)
                states[position] = after
                takes.append((position, self.shown, amount, None, before, after))
                sum_taken += amount
        ledger.taken_minor += sum_taken
        turn.discount_minor += sum_taken

    def book(self, turn: Turn, chosen: list[Chosen], maximum: int | None) -> None:
        """Discount the chosen units; ``maximum`` (hundredths of face value) caps the sum, cut in proportion."""
        offers: list[tuple[PerUnit, Chosen]] = [(self, one) for one in chosen]
        book_offers(turn, offers, maximum)


class UnlessReduced(PerUnit):
    """Of goods that the till has reduced it takes off what it would take off the regular price, less the reduction.

    So the customer gets the better of both. A UNIT_PRICE is what goods cost, reduced or not.
    """

    __slots__ = ()

    def even_amount(self, ledger: Ledger, position: int) -> int:
        """As `PerUnit.even_amount`."""
        if not ledger.reduction(position):
            return super().even_amount(ledger, position)
        taken = ledger.states[position][0]
        left = ledger.totals[position] - taken
        if left <= 0:
            return 0
        return self._evenly(ledger, position, taken, left)

    def wants(self, ledger: Ledger, position: int, segments: Sequence[Segment]) -> list[int]:
        """As `PerUnit.wants`."""
        reduction = ledger.reduction(position)
        if not reduction or self.kind == "UNIT_PRICE":
            return super().wants(ledger, position, segments)
        worth, scale, value = ledger.unit_worths[position], ledger.scale, self.value
        found: list[int] = []
        for _, _, taken in segments:
            left = worth - taken * scale
            if self.kind == "PERCENTAGE":
                regular = (worth if self.additive else left) + reduction
                found.append(max(0, min(regular * value - reduction * 10_000, left * 10_000)))
            else:
                found.append(max(0, min(value * ledger.factor - reduction, left)))
        return found


def discount_unless(kind: str, value: int, terms: Terms, exclusions: Exclusions | None) -> PerUnit:
    """The discount that heeds what its action excludes of the goods that the till has reduced."""
    is_compared = exclusions is not None and exclusions.better_reduced
    return UnlessReduced(kind, value, terms) if is_compared else PerUnit(kind, value, terms)


def book_offers(turn: Turn, offers: list[tuple[PerUnit, Chosen]], maximum: int | None) -> None:
    """Book a discount of its own on each chosen line (list items may end at prices of their own)."""
    ledger = turn.ledger
    amounts: list[int] = []
    for discount, (position, segments) in offers:
        if segments is None:
            amounts.append(discount.even_amount(ledger, position))
        else:
            amounts.append(discount.amount(ledger, position, segments))
    if maximum is not None:
        limit = limit_minor(maximum, ledger.view.exponent)
        if sum(amounts) > limit:
            amounts = split_proportional(limit, amounts, amounts)
    for (discount, (position, segments)), amount in zip(offers, amounts, strict=True):
        if amount <= 0:
            continue
        if segments is None:
            turn.take_line(position, amount, discount.shown)
        else:
            wants = discount.wants(ledger, position, segments)
            caps = unit_caps(ledger, position, segments)
            turn.take_pieces(position, amount, pieces_of(amount, segments, wants, caps), discount.shown)


def unit_caps(ledger: Ledger, position: int, segments: Sequence[Segment]) -> list[int]:
    """What is left of one unit of each segment, in minor units; a fraction of a minor unit counts as one."""
    worth = ledger.unit_worths[position]
    scale = ledger.scale
    if scale == 1:
        return [worth - taken if worth > taken else 0 for _, _, taken in segments]
    return [max(0, -((taken * scale - worth) // scale)) for _, _, taken in segments]


def pieces_of(amount: int, segments: Sequence[Segment], weights: Sequence[int], caps: Sequence[int]) -> Pieces:
    """Spread a line's discount over its chosen units in proportion to their weights, odd minor units lowest first.

    A unit with a weight counts as discounted even where no whole minor unit falls on it, as when a whole line is taken.
    """
    runs = _alike(segments, weights, caps)
    if len(runs) == 1:
        parts = [amount]
    else:
        parts = split_proportional(
            amount,
            [count * weight for _, count, weight, _ in runs],
            [count * cap for _, count, _, cap in runs],
        )
    pieces: Pieces = []
    for (start, count, weight, _), part in zip(runs, parts, strict=True):
        if part == 0 and weight <= 0:
            continue
        share, odd = divmod(part, count)
        if odd:
            pieces.append((start, odd, share + 1))
        pieces.append((start + odd, count - odd, share))
    return pieces


def _alike(segments: Sequence[Segment], weights: Sequence[int], caps: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """(first unit, count, weight, cap): equal neighbours merged, whatever made them separate segments before."""
    runs: list[tuple[int, int, int, int]] = []
    for (start, count, _), weight, cap in zip(segments, weights, caps, strict=True):
        if runs:
            first, length, last_weight, last_cap = runs[-1]
            if first + length == start and last_weight == weight and last_cap == cap:
                runs[-1] = (first, length + count, weight, cap)
                continue
        if count:
            runs.append((start, count, weight, cap))
    return runs

"""What is left of every line, per unit: the only mutable state of an evaluation.

A line's state is an immutable tuple, so undoing a discount means restoring the old tuple, and a snapshot is a
list copy. Equal neighbouring units form one run: a line of 10 000 pieces that only whole-line discounts touched stays a
single number.

Units: ``*_minor`` and ``taken`` are whole minor units. ``worth`` is the exact price before discounts, in minor units
times ``scale``; ``scale`` is 1 unless the currency has fewer than 2 decimals (JPY 10.50 is worth 1050 at scale 100).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promenade.engine.basket import FIRST_RULES, ArticleFact
from promenade.engine.money import POWERS_OF_TEN, line_total_minor
from promenade.engine.outcome import UnitShare
from promenade.engine.view import BasketView

# A mark says who has touched units: 0 = nobody, else the promotion's ordinal (from 1) shifted left, with two flags.
UNTOUCHED = 0
FREE = 1  # given away by a FREE_ITEM
EXCLUSIVE = 2  # owned by a promotion of exclusivity PROMOTION
SHARED = ~(FREE | EXCLUSIVE)  # a mark within it: units that anybody may take but those who want untouched ones
MANY = 1 << 40  # the ordinal that means more than one promotion
LEFT = MANY << 2 | EXCLUSIVE  # while a promotion is booked: a unit that it leaves to others

Run = tuple[int, int, int]
"""(count of units, taken from each, mark)"""

State = tuple[int, int, tuple[Run, ...] | None]
"""(taken from the line, mark, runs). Runs None: every unit was treated alike, so the mark is that of all units and
what was taken is spread evenly, odd minor units on the lowest ones."""

Segment = tuple[int, int, int]
"""(first unit, count of units, taken from each): units that a promotion may take"""

Pieces = list[tuple[int, int, int]]
"""(first unit, count of units, amount for each), ascending, not overlapping"""

FRESH: State = (0, UNTOUCHED, None)
"""The state of a line that no promotion has touched."""

CLOSED: State = (0, FREE, None)
"""The state of a line that is never discounted: nobody may take its units; they may be bought units of a bundle."""

_NEVER = 1 << 62  # more than any unit costs


def owner_of(mark: int) -> int:
    """The ordinal of the promotion that touched the units; MANY when several did, 0 when none."""
    return mark >> 2


class Ledger:
    """The state of all lines of one basket. ``states`` is replaced entry by entry; nothing else changes."""

    __slots__ = (
        "_by_first_rules",
        "articles",
        "factor",
        "scale",
        "states",
        "taken_minor",
        "totals",
        "unit_worths",
        "units",
        "view",
    )

    def __init__(self, view: BasketView, articles: Mapping[str, ArticleFact]) -> None:
        exponent = view.exponent
        self.view = view
        self.articles = articles  # master data, including articles that are not in the basket
        factor = POWERS_OF_TEN[exponent - 2] if exponent >= 2 else 1
        scale = 1 if exponent >= 2 else POWERS_OF_TEN[2 - exponent]
        self.factor = factor  # hundredths of a face value -> scaled minor units
        self.scale = scale
        lines = view.lines
        self.units = [line.units for line in lines]
        self.totals = [line.total_minor if line.is_sale else 0 for line in lines]  # 0 on return lines
        self.unit_worths = [
            0 if not line.is_sale else line.total_minor * scale if line.weighed else line.unit_price_hundredths * factor
            for line in lines
        ]
        self.states: list[State] = [FRESH] * len(lines)
        for position in view.barred:
            self.states[position] = CLOSED
        self.taken_minor = 0  # from all lines
        self._by_first_rules = view.settings.rules == FIRST_RULES

    def reduction(self, position: int) -> int:
        """By how much the till has reduced a unit of the line already; scaled, as ``unit_worths``."""
        line = self.view.lines[position]
        by = line.reduction_hundredths
        if not by or not line.weighed:
            return by * self.factor
        regular = line_total_minor(line.unit_price_hundredths + by, line.quantity_thousandths, self.view.exponent)
        return (regular - line.total_minor) * self.scale

    def remaining_sale_minor(self, view: BasketView | None = None) -> int:
        """The sale amount minus everything taken so far; of the lines alone that count in ``view``, if given."""
        if view is None or view is self.view:
            return self.view.sale_total_minor - self.taken_minor
        return sum([self.totals[position] - self.states[position][0] for position in view.sale])

    def snapshot(self) -> tuple[list[State], int]:
        """The whole state, to `restore` later; costs a list copy."""
        return self.states.copy(), self.taken_minor

    def restore(self, snapshot: tuple[list[State], int]) -> None:
        """Return to a `snapshot`, which stays usable."""
        self.states = snapshot[0].copy()
        self.taken_minor = snapshot[1]

    def runs(self, position: int, state: State | None = None) -> Sequence[Run]:
        """The line's units as runs, however the state is stored; of ``state`` instead of the current one if given."""
        taken, mark, runs = self.states[position] if state is None else state
        if runs is not None:
            return runs
        count = self.units[position]
        share, odd = divmod(taken, count)
        if odd:
            return ((odd, share + 1, mark), (count - odd, share, mark))
        return ((count, share, mark),)

    def free_from(self, position: int) -> int:
        """How much must be taken from a unit of the line for it to be free: nothing is left of its price (section 6).

        By the first rules, only a FREE_ITEM made units free.
        """
        if self._by_first_rules:
            return _NEVER
        if self.states[position][0] >= self.totals[position]:
            return 0  # all units: where prices are no whole minor units, rounding may leave a fraction on some
        return -(-self.unit_worths[position] // self.scale)

    def open_units(self, position: int, ordinal: int, exclusive: bool) -> list[Segment] | None:
        """The units of a line that promotion ``ordinal`` may take; None = all of an evenly treated line."""
        taken, mark, runs = self.states[position]
        if runs is None:
            if not may_take(mark, ordinal, exclusive):
                return []
            units = self.units[position]
            if taken <= self.totals[position] - units:
                return None  # every unit has a whole minor unit left
            free_from = self.free_from(position)
            if -(-taken // units) < free_from:  # the lowest unit carries the most
                return None
            if free_from == 0:
                return []
        return self.open_segments(position, ordinal, exclusive)

    def open_segments(self, position: int, ordinal: int, exclusive: bool) -> list[Segment]:
        """The units that promotion ``ordinal`` may take: not free, not owned by another, untouched if it is
        exclusive.
        """
        if self.states[position] is FRESH and self.totals[position] > 0:
            return [(0, self.units[position], 0)]
        free_from = self.free_from(position)
        segments: list[Segment] = []
        start = 0
        for count, taken, mark in self.runs(position):
            if taken < free_from and may_take(mark, ordinal, exclusive):
                segments.append((start, count, taken))
            start += count
        return segments

    def free_segments(self, position: int, ordinal: int, exclusive: bool) -> list[Segment]:
        """The free units that promotion ``ordinal`` may count as bought, though not take."""
        segments: list[Segment] = []
        if self.states[position] is FRESH and self.totals[position] > 0:
            return segments
        free_from = self.free_from(position)
        if free_from == _NEVER:
            return segments
        start = 0
        for count, taken, mark in self.runs(position):
            if (mark & FREE or taken >= free_from) and may_take(mark & ~FREE, ordinal, exclusive):
                segments.append((start, count, taken))
            start += count
        return segments

    def left_segments(self, position: int) -> list[Segment]:
        """The units that the promotion being booked leaves to others."""
        segments: list[Segment] = []
        start = 0
        for count, taken, mark in self.runs(position):
            if mark == LEFT:
                segments.append((start, count, taken))
            start += count
        return segments

    def after_pieces(self, position: int, amount: int, pieces: Pieces, own: int, flag: int) -> State:
        """The line's state after taking ``pieces`` (adding up to ``amount``) under the mark ``own`` | ``flag``."""
        taken_before, mark_before, _ = self.states[position]
        runs: list[Run] = []
        queue = list(reversed(pieces))
        start = 0
        for count, taken, mark in self.runs(position):
            end = start + count
            while queue and queue[-1][0] < end:
                first, length, each = queue.pop()
                if first > start:
                    _append(runs, first - start, taken, mark)
                    start = first
                here = min(length, end - start)
                _append(runs, here, taken + each, merged(mark, own) | flag)
                start += here
                if here < length:
                    queue.append((start, length - here, each))
            if start < end:
                _append(runs, end - start, taken, mark)
                start = end
        return taken_before + amount, mark_before, tuple(runs)


def may_take(mark: int, ordinal: int, exclusive: bool) -> bool:
    """Whether units with this mark are open to promotion ``ordinal`` (section 5, PROMOTION; section 6, free units)."""
    if mark == 0:
        return True
    if mark & FREE:
        return False
    return not (exclusive or mark & EXCLUSIVE) or mark >> 2 == ordinal


def merged(mark: int, own: int) -> int:
    """The mark after promotion ``own`` took units that carried ``mark``."""
    if mark == 0 or mark >> 2 == own >> 2:
        return own
    return MANY << 2


def _append(runs: list[Run], count: int, taken: int, mark: int) -> None:
    if runs:
        last_count, last_taken, last_mark = runs[-1]
        if last_taken == taken and last_mark == mark:
            runs[-1] = (last_count + count, taken, mark)
            return
    runs.append((count, taken, mark))


def shares_of(units: int, taken_before: int, taken_after: int) -> tuple[UnitShare, ...]:
    """The unit shares of a whole-line discount: the even spread after it minus the even spread before it.

    INVARIANT: every share is >= 0 and they add up to ``taken_after - taken_before``.
    """
    if units == 1:
        return (UnitShare(1, taken_after - taken_before),)
    odd, new_odd = taken_before % units, taken_after % units
    low = taken_after // units - taken_before // units
    if odd == new_odd:
        return (UnitShare(units, low),)
    # Between the two borders the units are odd in only one of the two spreads.
    if new_odd > odd:
        first, last, middle = odd, new_odd, low + 1
    else:
        first, last, middle = new_odd, odd, low - 1
    if first:
        return UnitShare(first, low), UnitShare(last - first, middle), UnitShare(units - last, low)
    return UnitShare(last, middle), UnitShare(units - last, low)

"""Units that a bundle or an exclusive offer leaves to others: so the best deal chooses what it takes (section 5).

While the promotion is booked, they carry the mark `LEFT` and are open to nobody; a bundle may still count them as buy
units. Afterwards they are what they were before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promenade.engine.benefits.registry import Benefit
from promenade.engine.ledger import LEFT, Ledger, Run, State, may_take
from promenade.engine.turn import Turn

Units = Mapping[int, Sequence[tuple[int, int]]]
"""Units by the position of their line: (first unit, count), ascending, not overlapping"""


def book_leaving(benefits: Sequence[Benefit], turn: Turn, left: Units) -> None:
    """Book the benefits without the units ``left``; those that are not open to the turn anyway make no difference."""
    ledger = turn.ledger
    before = {position: ledger.states[position] for position in left}
    for position, units in left.items():
        ledger.states[position] = _set_aside(turn, position, units)
    turn.leaves = True
    for benefit in benefits:
        benefit.book(turn)
    turn.leaves = False
    for position, state in before.items():
        places = [place for place, take in enumerate(turn.takes) if take[0] == position]
        if not places:
            ledger.states[position] = state
            continue
        after = _put_back(ledger, position, state)
        ledger.states[position] = after
        # Undoing ends with the first take's state before, redoing with the last one's state after.
        first, last = places[0], places[-1]
        turn.takes[first] = (*turn.takes[first][:4], state, turn.takes[first][5])
        turn.takes[last] = (*turn.takes[last][:5], after)


def _set_aside(turn: Turn, position: int, units: Sequence[tuple[int, int]]) -> State:
    ledger = turn.ledger
    taken, mark, _ = ledger.states[position]
    runs: list[Run] = []
    start = 0
    for count, each, own in ledger.runs(position):
        end = start + count
        if may_take(own, turn.ordinal, turn.exclusive):
            for first, length in units:
                low, high = max(start, first), min(end, first + length)
                if low < high:
                    runs += [(low - start, each, own), (high - low, each, LEFT)]
                    start = high
        runs.append((end - start, each, own))
        start = end
    return taken, mark, tuple([run for run in runs if run[0]])


def _put_back(ledger: Ledger, position: int, before: State) -> State:
    """The line's present state, but units that were left aside have their mark from ``before``."""
    taken, mark, _ = ledger.states[position]
    marks: list[tuple[int, int]] = []  # (end, mark) of the runs before
    end = 0
    for count, _, own in ledger.runs(position, before):
        end += count
        marks.append((end, own))
    runs: list[Run] = []
    start = place = 0
    for count, each, own in ledger.runs(position):
        rest = count
        while rest:
            while marks[place][0] <= start:
                place += 1
            here = min(rest, marks[place][0] - start) if own == LEFT else rest
            runs.append((here, each, marks[place][1] if own == LEFT else own))
            start += here
            rest -= here
    return taken, mark, tuple(runs)

"""Which units of the targets are discounted: selectionType picks lines, applicationQuantityMode units (section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from promenade.engine.benefits.fields import whole_units
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.ledger import FRESH, SHARED, Segment
from promenade.engine.turn import Turn

Chosen = tuple[int, list[Segment] | None]
"""(position, segments); None = all units of an evenly treated line"""

_SELECTIONS = frozenset(("ALL", "CHEAPEST", "MOST_EXPENSIVE", "RANDOM"))
_MODES = frozenset(("ALL", "LIMITED", "CHEAPEST", "MOST_EXPENSIVE"))


@dataclass(frozen=True, slots=True)
class Choice:
    """``selection`` and ``mode`` are the code-list values, ``limit`` whole units for every mode but ALL."""

    selection: str
    mode: str
    limit: int

    @property
    def is_all(self) -> bool:
        """Every open unit of every target."""
        return self.selection == "ALL" and self.mode == "ALL"

    def choose(self, turn: Turn, positions: tuple[int, ...]) -> list[Chosen]:
        """Choose the open units on these target lines, in basket order of the lines.

        Ties are broken by basket order; units count from the lowest of a line.
        """
        if self.mode == "ALL" and self.selection == "ALL":
            return _everything(turn, positions)
        lines: tuple[int, ...] | list[int] = positions
        if self.selection != "ALL":
            lines = self._select(turn, positions)
        chosen: list[Chosen] = []
        for position in lines:
            segments = turn.open_units(position)
            if segments is None or segments:
                chosen.append((position, segments))
        if self.mode == "ALL":
            return chosen
        return self._limit(turn, chosen)

    def _select(self, turn: Turn, positions: tuple[int, ...]) -> list[int]:
        candidates = [position for position in positions if turn.open_units(position) != []]
        if not candidates:
            return []
        worths = turn.ledger.unit_worths
        if self.selection == "CHEAPEST":
            return [min(candidates, key=lambda position: (worths[position], position))]
        if self.selection == "MOST_EXPENSIVE":
            return [min(candidates, key=lambda position: (-worths[position], position))]
        return [min(candidates, key=lambda position: _lot(turn, position))]

    def _limit(self, turn: Turn, chosen: list[Chosen]) -> list[Chosen]:
        worths = turn.ledger.unit_worths
        order = chosen
        if self.mode == "CHEAPEST":
            order = sorted(chosen, key=lambda one: worths[one[0]])
        elif self.mode == "MOST_EXPENSIVE":
            order = sorted(chosen, key=lambda one: -worths[one[0]])
        wanted = self.limit
        limited: list[Chosen] = []
        for position, segments in order:
            if wanted == 0:
                break
            if segments is None:
                units = turn.ledger.units[position]
                if units <= wanted:
                    limited.append((position, None))
                    wanted -= units
                    continue
                segments = turn.ledger.open_segments(position, turn.ordinal, turn.exclusive)  # noqa: PLW2901
            first: list[Segment] = []
            for start, count, taken in segments:
                here = min(count, wanted)
                if here == 0:
                    break
                first.append((start, here, taken))
                wanted -= here
            limited.append((position, first))
        limited.sort(key=lambda one: one[0])
        return limited


def _everything(turn: Turn, positions: tuple[int, ...]) -> list[Chosen]:
    """All open units: the fast path for what most actions choose."""
    ledger = turn.ledger
    states, totals, units = ledger.states, ledger.totals, ledger.units
    ordinal, exclusive = turn.ordinal, turn.exclusive
    shared = 0 if exclusive else SHARED
    chosen: list[Chosen] = []
    for position in positions:
        taken, mark, runs = state = states[position]
        # As `open_units`, without a call where all units are untouched (those that cost nothing add nothing) or shared
        # and have something left.
        if state is FRESH or (runs is None and mark & shared == mark and taken <= totals[position] - units[position]):
            chosen.append((position, None))
            continue
        segments = ledger.open_units(position, ordinal, exclusive)
        if segments is None or segments:
            chosen.append((position, segments))
    return chosen


def _lot(turn: Turn, position: int) -> bytes:
    """A pseudo-random draw for RANDOM that is the same in every replay (section 6)."""
    reference = turn.view.lines[position].reference
    text = f"{turn.view.basket.transaction_id}\x00{turn.promotion_id}\x00{reference}"
    return blake2b(text.encode(), digest_size=16).digest()


def choice_of(row: ActionRow) -> Choice:
    """Read the choice of an action; raises DefinitionError naming the wire field."""
    selection = row.selection_type or "ALL"
    mode = row.application_quantity_mode or "ALL"
    if selection not in _SELECTIONS:
        raise DefinitionError("selectionType", "UNKNOWN_CODE", f"There is no selection type {selection}.")
    if mode not in _MODES:
        raise DefinitionError("applicationQuantityMode", "UNKNOWN_CODE", f"There is no quantity mode {mode}.")
    limit = 0
    if mode != "ALL":
        limit = whole_units("applicationQuantity", row.application_quantity_thousandths, default=1)
    return Choice(selection, mode, limit)

"""A pass that can go back: the best deal tries what one more promotion gives, and then another instead (section 5)."""

from __future__ import annotations

from collections.abc import Mapping

from promenade.engine.leaving import Units
from promenade.engine.ledger import State
from promenade.engine.stacking import Candidate, Decision, Pass, World
from promenade.engine.turn import Turn
from promenade.engine.verdict import Met

Saved = tuple[
    list[State],
    int,
    list[Decision],
    list[Decision | None],
    dict[str, int],
    Candidate | None,
    dict[str, Candidate],
    dict[str, Candidate],
    int,
]


def quiet(world: World) -> World:
    """The same world for trials, which need no explanations."""
    made = World(world.view, world.candidates, world.articles, world.budgets, world.usage)
    made.mets = world.mets
    made.diagnose = made.tiers = False
    return made


class Trial(Pass):
    """A pass whose state can be saved and restored; it does not explain why something gives nothing."""

    __slots__ = ("given_away_minor",)

    def __init__(self, world: World, left: Mapping[int, Units] | None = None) -> None:
        super().__init__(world, left)
        self.given_away_minor = 0

    @property
    def worth(self) -> int:
        """What the customer has got so far: discounts and the value of gifts, in minor units."""
        return self.ledger.taken_minor + self.given_away_minor

    def save(self) -> Saved:
        """The present state, for `restore`; costs a copy of the list of lines."""
        states, taken = self.ledger.snapshot()
        return (
            states,
            taken,
            self.applied.copy(),
            self.decisions.copy(),
            self._charged.copy(),
            self._global,
            self._group_first.copy(),
            self._group_exclusive.copy(),
            self.given_away_minor,
        )

    def restore(self, saved: Saved) -> None:
        """Make a saved state the present one."""
        states, taken, applied, decisions, charged, alone, first, exclusive, given = saved
        self.ledger.restore((states, taken))
        self.applied = applied.copy()
        self.decisions = decisions.copy()
        self._charged, self._group_first, self._group_exclusive = charged.copy(), first.copy(), exclusive.copy()
        self._global = alone
        self.given_away_minor = given

    def coupling(self) -> tuple[object, ...]:
        """What later decisions depend on besides the lines: charged budgets and what excludes others."""
        return tuple(self._charged.items()), self._global, tuple(self._group_first), tuple(self._group_exclusive)

    def _apply(self, decision: Decision) -> None:
        super()._apply(decision)
        if decision.turn is not None:
            self.given_away_minor += decision.turn.give_away_minor

    def _nothing(self, candidate: Candidate, met: Met, turn: Turn) -> Decision:
        return Decision(candidate, "NOTHING_LEFT_TO_DISCOUNT")

"""The search for the best deal of promotions that depend on each other (section 5).

A `Plan` says which promotions take part, in which order, and which units they leave to others; a `Trial` prices it by
the rules of every pass. The search starts with the sequential plan, proves the best one by branch and bound where that
takes few enough steps, and else improves the best plan found by exchanging single decisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from promenade.engine.best_deal.ceilings import FINE
from promenade.engine.best_deal.contenders import Contender, must_precede
from promenade.engine.best_deal.receipt_shares import Share, open_worth
from promenade.engine.best_deal.start import Start, bound_by_units, start_of
from promenade.engine.best_deal.trial import Saved, Trial
from promenade.engine.leaving import Units
from promenade.engine.ledger import EXCLUSIVE, FREE, Ledger, State
from promenade.engine.stacking import LIMITED_BY_AMOUNT, Candidate, Decision, World
from promenade.engine.turn import Turn

_ASSIGNED_MAX = 3_000  # lines of all members times lines: up to here units are assigned to offers
_FEW = 12  # members of which branch and bound may try again with the steps that improving leaves
_FIRST_SHARE = 8  # branch and bound first gets one in so many of the steps; the rest if improving leaves some


class Plan:
    """Candidates in their order, and the units that they leave to others, by ordinal."""

    __slots__ = ("left", "order")

    def __init__(self, order: tuple[Candidate, ...], left: Mapping[int, Units]) -> None:
        self.order = order
        self.left = left


class Steps:
    """How many promotions may still be priced, and how many combinations were.

    ``at_most``: the search is given up with `GivenUp` rather than price more, whatever it has found by then.
    """

    __slots__ = ("_first", "_least", "left", "nodes")

    def __init__(self, left: int, at_most: int | None = None) -> None:
        self._first = left
        self._least = 0 if at_most is None else left - at_most
        self.left = left
        self.nodes = 0

    @property
    def spent(self) -> int:
        """How many promotions were priced."""
        return self._first - self.left

    def spend(self, promotions: int) -> None:
        """Price so many for one more combination."""
        if self.left - promotions < self._least:
            raise GivenUp
        self.left -= promotions
        self.nodes += 1


class GivenUp(Exception):
    """The search would have cost more than it was allowed."""


_Units = tuple[tuple[int, int], ...]
"""(position of the line, unit), ascending"""

_Path = tuple["_Path", tuple[Candidate, ...], int, Units | None] | None
_Node = tuple[int, Saved, _Path]
"""(bits of the members that may still come, the state, how it was reached)"""


class _OutOfSteps(Exception):
    """The search may price no more."""


class Search:
    """The best plan for ``members``, in their order of section 4.

    ``shares``: what receipt-level promotions that are solved later take from the lines; a plan is the better, the more
    it gives together with them. Scores are in minor units times FINE.
    """

    def __init__(self, world: World, members: Sequence[Contender], shares: Mapping[int, Share], steps: Steps) -> None:
        self._world = world
        self._members = members
        self._shares = shares
        self._steps = steps
        self._floor = 0
        self._trial = Trial(world)
        self._lines = sorted({line for member in members for line in member.lines})
        places = range(len(members))
        candidates = [member.candidate for member in members]
        self._before = [
            sum([1 << one for one in places if must_precede(candidates[one], candidates[other])]) for other in places
        ]
        self._after = [
            sum([1 << one for one in places if must_precede(candidates[other], candidates[one])]) for other in places
        ]
        self._groups: dict[str, int] = {}
        for place, candidate in enumerate(candidates):
            if candidate.exclusion_id is not None:
                self._groups[candidate.exclusion_id] = self._groups.get(candidate.exclusion_id, 0) | 1 << place
        self._place_of = {candidate.ordinal: place for place, candidate in enumerate(candidates)}
        self._twins = _twins_of(members)
        self.best_score = -1
        self.best = Plan((), {})
        self.complete = False
        self.bound = 0

    def run(self, steps: int, start: Plan | None = None) -> None:
        """Search within so many steps, from a plan if one is known.

        Afterwards ``best``, ``best_score``, ``bound`` and ``complete`` hold the result.
        """
        self._floor = max(0, self._steps.left - steps)
        everything = (1 << len(self._members)) - 1
        self.bound = self._bound(everything) + self._later()
        members = tuple([member.candidate for member in self._members])
        self._offer(Plan(members, {}))
        if start is not None:
            self._offer(start)
        if self.best_score < self.bound:
            self._offer(Plan((), {}))  # receipt-level promotions may take more than all of these
            self._search(everything, steps)
        if self.best_score >= self.bound:
            self.complete = True
        if self.complete:
            self.bound = self.best_score

    def _search(self, everything: int, steps: int) -> None:
        """Prove the best plan if that takes few steps; else improve the best known one, and try again."""
        first = self._steps.left - steps // _FIRST_SHARE
        self.complete = self._branch(everything, max(self._floor, first))
        if self.complete:
            return
        if sum([len(member.lines) for member in self._members]) * len(self._lines) <= _ASSIGNED_MAX:
            self._start()
        if self.best_score < self.bound:
            self._improve()
            if self.best_score < self.bound and len(self._members) <= _FEW:
                self.complete = self._branch(everything, self._floor)

    def _start(self) -> None:
        """Start from the best assignment of units to exclusive offers, which also tells what cannot be exceeded."""
        ledger = Ledger(self._world.view, self._world.articles)
        later = sum([share.of(ledger, line) for line, share in self._shares.items() if line in self._lines])
        self.bound = min(self.bound, bound_by_units(ledger, self._members) + later)
        start = start_of(ledger, self._members)
        if start is not None:
            self._offer(self._starting(start))

    def _starting(self, start: Start) -> Plan:
        """Exclusive offers with units assigned to them, and all others as late as possible."""
        left = start.left
        order = [one.candidate for one in self._members if one.ordinal in left]
        for member in self._members:
            takes_part = member.ordinal not in left and member.ordinal not in start.rivals
            if takes_part and not member.candidate.promotion.is_unit_exclusive:
                order = self._placed(order, member.candidate, early=False)
        choosing = {one.ordinal for one in self._members if one.chooses_units}
        return Plan(tuple(order), {ordinal: units for ordinal, units in left.items() if ordinal in choosing})

    # Scores and bounds

    def _later(self) -> int:
        """The most that the receipt-level promotions take from the lines as they are now."""
        if not self._shares:
            return 0
        ledger = self._trial.ledger
        shares = self._shares
        return sum([shares[line].of(ledger, line) for line in self._lines if line in shares])

    def _bound(self, rest: int) -> int:
        """An upper bound of what the members among ``rest`` can still give, in the present state."""
        sum_of_ceilings = gifts = 0
        groups: dict[str, int] = {}
        lines: set[int] = set()
        rates: dict[int, tuple[int, int]] = {}  # line: (the highest of an exclusive member, the sum of the others)
        unlimited = 0  # what members without a rate per unit can give
        for place, member in enumerate(self._members):
            if not rest >> place & 1:
                continue
            ceiling = member.ceiling
            group = member.candidate.exclusion_id
            if group is None:
                sum_of_ceilings += member.most
            else:
                groups[group] = max(groups.get(group, 0), member.most)
            lines |= member.lines
            if member.candidate.promotion.gives_items:
                gifts += member.most
            if ceiling.rates is None:
                unlimited += member.most
                continue
            exclusive = member.candidate.promotion.is_unit_exclusive
            for line, rate in ceiling.rates.items():
                highest, together = rates.get(line, (0, 0))
                rates[line] = (max(highest, rate), together) if exclusive else (highest, together + rate)
        sum_of_ceilings += sum(groups.values())
        ledger = self._trial.ledger
        room = by_rate = 0
        for line in lines:
            left, originals = open_worth(ledger, line)
            left_minor = -(-left // ledger.scale)
            room += left_minor
            if originals and line in rates:
                units = -(-originals // max(1, ledger.unit_worths[line]))
                by_rate += min(left_minor * FINE, units * max(rates[line]))
        return min((min(sum_of_ceilings, room + gifts)) * FINE, by_rate + unlimited * FINE)

    def _score(self, trial: Trial) -> int:
        return trial.worth * FINE + self._later()

    def _offer(self, plan: Plan) -> bool:
        """Price a whole plan; whether it is the best one so far."""
        self._pay(len(plan.order))
        trial = self._trial = Trial(self._world, plan.left)
        trial.run(plan.order)
        score = self._score(trial)
        if score > self.best_score:
            self.best_score, self.best = score, plan
            return True
        return False

    def _pay(self, promotions: int) -> None:
        steps = self._steps
        if self.best_score >= 0 and steps.left - promotions < self._floor:
            raise _OutOfSteps
        steps.spend(promotions)

    # Branch and bound

    def _branch(self, everything: int, floor: int) -> bool:
        """Depth-first, the most promising first; whether nothing better can exist outside what was seen."""
        was, self._floor = self._floor, floor
        self._trial = Trial(self._world)
        stack: list[_Node] = [(everything, self._trial.save(), None)]
        seen: dict[object, int] = {}
        try:
            while stack:
                rest, saved, path = stack.pop()
                trial = self._trial
                trial.restore(saved)
                score = self._score(trial)
                if score + self._bound(rest) <= self.best_score:
                    continue
                key = (rest, tuple([_kind_of(state) for state in trial.ledger.states]), trial.coupling())
                if seen.get(key, -1) >= trial.worth:
                    continue
                seen[key] = trial.worth
                children = sorted(self._children(rest, saved, path), key=_first)
                stack += [child for _, child in children]
        except _OutOfSteps:
            return False
        finally:
            self._floor = was
        return True

    def _children(self, rest: int, saved: Saved, path: _Path) -> Iterator[tuple[int, _Node]]:
        """Everything that may come next, with its score: a member, and the units that it leaves."""
        before = self._score(self._trial)
        for place, member in enumerate(self._members):
            if not rest >> place & 1 or self._twins[place] & rest:
                continue
            remaining = self._without_skipped(rest, place)
            if remaining is None:
                continue
            for rivals in self._rivals(rest, place):
                yield from self._alternatives(member, rivals, remaining, saved, path, before)

    def _without_skipped(self, rest: int, place: int) -> int | None:
        """The members that may still come after this one; None when it cannot come because its group is left out."""
        skipped = rest & self._before[place]
        remaining = rest & ~skipped & ~(1 << place)
        for group in self._groups.values():
            # Of a group that gives the lowest discount, all take part or none.
            if skipped & group and self._is_lowest(group):
                if group >> place & 1:
                    return None
                remaining &= ~group
        return remaining

    def _is_lowest(self, group: int) -> bool:
        return self._members[group.bit_length() - 1].is_lowest

    def _rivals(self, rest: int, place: int) -> Iterator[tuple[int, ...]]:
        """The members of its exclusion group that may take part with it: one that wins, or all of them."""
        group = self._members[place].candidate.exclusion_id
        if group is None:
            yield ()
            return
        others = self._groups[group] & rest & ~(1 << place)
        if self._members[place].is_lowest:
            yield tuple(_bits(others & ~self._before[place]))
            return
        yield ()
        for other in _bits(others & ~self._before[place]):
            yield (other,)

    def _alternatives(
        self, member: Contender, rivals: tuple[int, ...], remaining: int, saved: Saved, path: _Path, before: int
    ) -> Iterator[tuple[int, _Node]]:
        """What follows from one member with its rivals: as the rules say, and with units left to others."""
        taking_part = (member.candidate, *[self._members[rival].candidate for rival in rivals])
        group = self._groups.get(member.candidate.exclusion_id or "", 0)
        winner: Contender | None = None
        waiting: list[_Units] = [()]
        known: set[_Units] = {()}
        while waiting:
            units = waiting.pop()
            decision = self._try(saved, taking_part, member if winner is None else winner, units)
            won = member if decision is None else self._members[self._place_of[decision.candidate.ordinal]]
            if winner is None:
                winner = won
                if rivals and winner is member and not member.is_lowest:
                    return  # the rival makes no difference
                if winner.idle_units:
                    waiting.append(winner.idle_units)
            if won is not winner:
                continue
            onward = remaining & ~group if decision is not None else remaining
            score = self._score(self._trial)
            if score > before or (decision is None and member.is_lowest):
                came = taking_part if decision is not None else taking_part[:1]
                step: _Path = (path, came, won.ordinal, _as_units(units) if units else None)
                if score > self.best_score:
                    self.best_score, self.best = score, _plan_of(step)
                if onward:
                    yield score, (onward, self._trial.save(), step)
            if not won.chooses_units or not self._may_give_with_fewer(member, decision):
                continue
            self._trial.restore(saved)
            if before + won.most * FINE + self._bound(onward) <= self.best_score:
                return
            more = [tuple(sorted((*units, one))) for one in self._leavable(won, decision, units, onward)]
            waiting += [one for one in more if one not in known]
            known.update(more)

    def _try(
        self, saved: Saved, taking_part: tuple[Candidate, ...], leaving: Contender, units: _Units
    ) -> Decision | None:
        """Decide the first of some candidates in a saved state; what applied, if anything did."""
        trial = self._trial
        trial.restore(saved)
        self._pay(1)
        applied = len(trial.applied)
        first = taking_part[0]
        trial.left = {leaving.ordinal: _as_units(units)} if units else {}
        trial.decide(first, {} if first.exclusion_id is None else {first.exclusion_id: taking_part})
        trial.left = {}
        return trial.applied[-1] if len(trial.applied) > applied else None

    def _may_give_with_fewer(self, member: Contender, decision: Decision | None) -> bool:
        """Whether it has units to leave: it takes some, or a budget does not cover all that it would take."""
        refused = self._trial.decisions[member.ordinal - 1]
        return decision is not None or (refused is not None and refused.reason in LIMITED_BY_AMOUNT)

    def _leavable(
        self, member: Contender, decision: Decision | None, units: _Units, onward: int
    ) -> list[tuple[int, int]]:
        """One more unit that it takes and another may want, for each kind of unit; in the state before it.

        If a budget does not cover what it takes, any of its units but those that it leaves already.
        """
        ledger = self._trial.ledger
        others = [self._members[place] for place in _bits(onward)]
        turn = None if decision is None else decision.turn
        if turn is None:
            taken = {line: set(range(ledger.units[line])) for line in sorted(member.lines)}
        else:
            wanted = (
                member.lines if member.prefers_units else set(self._shares).union(*[other.lines for other in others])
            )
            taken = _units_taken(turn, wanted)
        found: list[tuple[int, int]] = []
        for line, numbers in taken.items():
            # Equal units of a line make no difference, unless others take the first of them on top.
            all_differ = any(line in other.lines for other in others if other.stacks_on_some)
            start = 0
            for count, _, _ in ledger.runs(line):
                here = [unit for unit in range(start, start + count) if unit in numbers and (line, unit) not in units]
                found += [(line, unit) for unit in (here if all_differ else here[-1:])]
                start += count
        return found

    # Improving a plan by single decisions

    def _improve(self) -> None:
        """Change one decision, or two where that helps no more, for as long as it gives more and there are steps."""
        try:
            while self.best_score < self.bound and (self._improve_by_one() or self._improve_by_two()):
                pass
        except _OutOfSteps:
            return

    def _improve_by_one(self) -> bool:
        """Change single decisions until none gives more; whether any did."""
        improved = False
        unchanged = place = 0
        while unchanged < len(self._members) and self.best_score < self.bound:
            found = any(self._offer(plan) for plan in self._neighbours(self._members[place]))
            improved = improved or found
            unchanged = 0 if found else unchanged + 1
            place = (place + 1) % len(self._members)
        return improved

    def _improve_by_two(self) -> bool:
        """Put one member first in place of another; whether that gave more."""
        return any(self._offer(plan) for plan in self._exchanges())

    def _exchanges(self) -> Iterator[Plan]:
        plan = self.best
        taking_part = [one for one in self._members if one.candidate in plan.order and not one.is_lowest]
        for member in self._members:
            for other in taking_part:
                if other is member or member.is_lowest or other.lines.isdisjoint(member.lines):
                    continue
                order = [one for one in plan.order if one is not other.candidate and one is not member.candidate]
                gone = (member.ordinal, other.ordinal)
                left = {ordinal: units for ordinal, units in plan.left.items() if ordinal not in gone}
                yield Plan(tuple(self._placed(order, member.candidate, early=True)), left)

    def _neighbours(self, member: Contender) -> Iterator[Plan]:
        """The best plan with another decision about one member."""
        plan = self.best
        candidate = member.candidate
        together = [candidate]
        if member.is_lowest:
            together = [one.candidate for one in self._members if one.candidate.exclusion_id == candidate.exclusion_id]
        others = [one for one in plan.order if one not in together]
        left = {ordinal: units for ordinal, units in plan.left.items() if ordinal != candidate.ordinal}
        if candidate in plan.order:
            yield Plan(tuple(others), left)
        places = []
        for early in (True, False):
            order = others
            for one in together:
                order = self._placed(order, one, early)
            if order not in places:
                places.append(order)
        for order in places:
            yield Plan(tuple(order), left)
        if member.chooses_units and candidate in plan.order:
            yield from self._fewer_units(plan, member)

    def _placed(self, order: list[Candidate], candidate: Candidate, early: bool) -> list[Candidate]:
        """The order with the candidate in the first, or the last, place where it may be."""
        place = self._place_of[candidate.ordinal]
        before, after = self._before[place], self._after[place]
        places = [self._place_of[one.ordinal] for one in order]
        if early:
            at = max([number + 1 for number, other in enumerate(places) if before >> other & 1], default=0)
        else:
            at = min([number for number, other in enumerate(places) if after >> other & 1], default=len(order))
        return [*order[:at], candidate, *order[at:]]

    def _fewer_units(self, plan: Plan, member: Contender) -> Iterator[Plan]:
        """Plans in which the member leaves one more unit that it takes now, or one less."""
        trial = Trial(self._world, plan.left)
        self._pay(len(plan.order))
        trial.run(plan.order)
        decision = trial.decisions[member.ordinal - 1]
        if decision is None or decision.turn is None:
            return
        known = plan.left.get(member.ordinal, {})
        units = tuple([(line, first) for line, runs in known.items() for first, _ in runs])
        self._trial = trial
        decision.turn.undo()
        others = (1 << len(self._members)) - 1 & ~(1 << self._place_of[member.ordinal])
        for one in self._leavable(member, decision, units, others):
            yield Plan(plan.order, {**plan.left, member.ordinal: _as_units(tuple(sorted((*units, one))))})
        for one in units:
            fewer = tuple([other for other in units if other != one])
            yield Plan(plan.order, {**plan.left, member.ordinal: _as_units(fewer)})


def _units_taken(turn: Turn, lines: Collection[int]) -> dict[int, set[int]]:
    """The units that a turn has taken of these lines."""
    found: dict[int, set[int]] = {}
    for line, _, _, pieces, _, _ in turn.takes:
        if line in lines:
            runs = [(0, turn.ledger.units[line], 0)] if pieces is None else pieces
            for first, count, _ in runs:
                found.setdefault(line, set()).update(range(first, first + count))
    return found


def _first(child: tuple[int, _Node]) -> int:
    return child[0]


def _bits(places: int) -> list[int]:
    return [place for place in range(places.bit_length()) if places >> place & 1]


def _plan_of(path: _Path) -> Plan:
    order: list[Candidate] = []
    left: dict[int, Units] = {}
    while path is not None:
        path, taking_part, ordinal, units = path
        order[:0] = taking_part
        if units is not None:
            left[ordinal] = units
    return Plan(tuple(order), left)


def _as_units(units: _Units) -> Units:
    found: dict[int, list[tuple[int, int]]] = {}
    for line, unit in units:
        found.setdefault(line, []).append((unit, 1))
    return found


def _kind_of(state: State) -> object:
    """The state without who exactly has taken units: later promotions only ask whether somebody has, or owns them."""
    taken, mark, runs = state
    if runs is None:
        return taken, _kind_of_mark(mark)
    kinds: list[tuple[int, int, int]] = []
    for count, each, own in runs:
        kind = _kind_of_mark(own)
        if kinds and kinds[-1][1:] == (each, kind):
            kinds[-1] = (kinds[-1][0] + count, each, kind)
        else:
            kinds.append((count, each, kind))
    return tuple(kinds)


def _kind_of_mark(mark: int) -> int:
    return mark and 4 | mark & (EXCLUSIVE | FREE)


def _twins_of(members: Sequence[Contender]) -> list[int]:
    """For every member the bits of those before it that differ from it only in who they are: they come first."""
    twins: list[int] = []
    alike: dict[object, int] = {}
    for place, member in enumerate(members):
        definition = member.candidate.promotion.definition
        if any(row.selection_type == "RANDOM" for row in definition.actions):
            twins.append(0)
            continue
        actions = tuple([replace(row, id="") for row in definition.actions])
        key = (replace(definition, id="", name="", actions=actions), member.candidate.coupon is None)
        twins.append(alike.get(key, 0))
        alike[key] = twins[-1] | 1 << place
    return twins

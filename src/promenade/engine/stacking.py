"""Which promotions apply together: the total order, exclusivity, exclusion groups, limits and budgets (4, 5, 8).

One `Pass` runs the candidates through a ledger in order. Every candidate leaves a `Decision`: applied, or why not;
advice reads the decisions and decides nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter

from promenade.engine.basket import FIRST_RULES, ArticleFact, BudgetFact, UsageFact
from promenade.engine.benefits.registry import REWARDS_ONLY
from promenade.engine.leaving import Units, book_leaving
from promenade.engine.ledger import EXCLUSIVE, FREE, FRESH, MANY, Ledger, State, owner_of
from promenade.engine.promotion import NO_COUPON, CompiledPromotion, Order, Unmet
from promenade.engine.turn import Turn
from promenade.engine.verdict import Met, Missed
from promenade.engine.view import BasketView

SHARE_NOT_AVAILABLE = "SHARE_NOT_AVAILABLE"
LIMITED_BY_AMOUNT = frozenset(("BUDGET_INSUFFICIENT", SHARE_NOT_AVAILABLE))
"""A smaller discount might be covered."""
_UNUSED = UsageFact()


class Candidate:
    """A promotion in its place in the order; ``ordinal`` counts from 1 and marks the units it takes."""

    __slots__ = ("coupon", "coupon_position", "exclusion_id", "group_id", "is_dynamic", "order", "ordinal", "promotion")

    def __init__(
        self, promotion: CompiledPromotion, coupon_position: int = NO_COUPON, coupon: str | None = None
    ) -> None:
        self.promotion = promotion
        self.coupon_position = coupon_position
        self.coupon = coupon  # the code that triggers it
        self.order = promotion.order if coupon is None else promotion.order_with(coupon_position)
        self.ordinal = 0
        self.group_id = promotion.group_id
        self.exclusion_id = promotion.exclusion_id
        self.is_dynamic = promotion.is_dynamic


BY_ORDER: Callable[[Candidate | CompiledPromotion], Order] = attrgetter("order")
"""The place in the order of section 4, to be compared."""

Triggers = Mapping[str, tuple[int, str]]
"""By coupon type its first valid code: position among those presented, and the code."""


def in_order(promotions: Iterable[CompiledPromotion], triggers: Triggers) -> list[Candidate]:
    """The promotions as candidates, in the order of section 4."""
    candidates: list[Candidate] = []
    for promotion in promotions:
        types = promotion.definition.coupon_type_ids if triggers else None
        if types:
            position, code = min([triggers[type_id] for type_id in types if type_id in triggers])
            candidates.append(Candidate(promotion, position, code))
        else:
            candidates.append(Candidate(promotion))
    candidates.sort(key=BY_ORDER)
    return numbered(candidates)


def numbered(candidates: list[Candidate]) -> list[Candidate]:
    """The same candidates, with their ordinals in this order."""
    for ordinal, candidate in enumerate(candidates, start=1):
        candidate.ordinal = ordinal
    return candidates


class Decision:
    """What happened to a candidate; ``reason`` is a code of section 10, None = applied.

    ``blocked_by`` is the winner, or with NOTHING_LEFT_TO_DISCOUNT the one that took most of its targets. ``own_minor``:
    under `FIRST_RULES` what this one would have given in the winner's place (None: unknown).
    """

    __slots__ = ("blocked_by", "candidate", "gaps", "own_minor", "reason", "turn", "unmet")

    def __init__(
        self,
        candidate: Candidate,
        reason: str | None,
        turn: Turn | None = None,
        unmet: Unmet | None = None,
        blocked_by: Candidate | None = None,
    ) -> None:
        self.candidate = candidate
        self.reason = reason
        self.turn = turn
        self.unmet = unmet
        self.blocked_by = blocked_by
        self.own_minor: int | None = None
        self.gaps: tuple[Missed, ...] = ()


class World:
    """What a pass prices against: the view of the basket, the candidates in order, and the facts that limit them."""

    __slots__ = (
        "aim",
        "articles",
        "budgets",
        "candidates",
        "diagnose",
        "exclusions",
        "has_barred",
        "is_first",
        "mets",
        "tiers",
        "usage",
        "view",
    )

    def __init__(
        self,
        view: BasketView,
        candidates: Sequence[Candidate],
        articles: Mapping[str, ArticleFact],
        budgets: Mapping[str, BudgetFact],
        usage: Mapping[str, UsageFact],
    ) -> None:
        self.view = view
        self.candidates = candidates
        self.articles = articles
        self.budgets = budgets
        self.usage = usage
        self.has_barred = bool(view.barred)
        self.is_first = view.settings.rules == FIRST_RULES
        self.diagnose = self.is_first and view.settings.include_missed  # price blocked promotions too
        self.tiers = view.settings.nudges  # record the next tier of applied promotions too
        self.aim: CompiledPromotion | None = None  # or only of this one
        self.mets: list[Met | Unmet | None] = [None] * (len(candidates) + 1)
        exclusions: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            if candidate.exclusion_id is not None:
                exclusions.setdefault(candidate.exclusion_id, []).append(candidate)
        self.exclusions = exclusions

    def qualify(self, candidate: Candidate, ledger: Ledger) -> Met | Unmet:
        """Section 3; cached where the state of the ledger does not matter."""
        promotion = candidate.promotion
        if candidate.is_dynamic:
            view = promotion.view_of(self.view)
            return promotion.qualify(view, ledger.remaining_sale_minor(view))
        known = self.mets[candidate.ordinal]
        if known is None:
            view = promotion.view_of(self.view) if self.has_barred or promotion.common_exclusions else self.view
            known = promotion.qualify(view, view.sale_total_minor)
            self.mets[candidate.ordinal] = known
        return known

    def used_up(self, promotion: CompiledPromotion) -> bool:
        """Whether a usage limit leaves no further application (section 5)."""
        definition = promotion.definition
        if definition.max_applications_per_transaction == 0:
            return True
        if not promotion.is_use_limited:
            return False
        per_customer = definition.max_applications_per_customer
        fact = self.usage.get(promotion.id, _UNUSED)
        if per_customer is not None and fact.by_customer >= per_customer:
            return True
        return self._reaches_total(promotion) and not fact.is_share

    def lacks_share(self, promotion: CompiledPromotion) -> bool:
        """Whether a store has no part left of a limit that may not be reached yet (section 8)."""
        return self._reaches_total(promotion) and self.usage.get(promotion.id, _UNUSED).is_share

    def _reaches_total(self, promotion: CompiledPromotion) -> bool:
        total = promotion.definition.max_applications_total
        return total is not None and self.usage.get(promotion.id, _UNUSED).total >= total


class Pass:
    """One run of the candidates through a fresh ledger.

    The best deal leaves candidates out, which then have no decision, changes the order of equals, and says in ``left``
    which units a candidate leaves to others, by its ordinal.
    """

    __slots__ = (
        "_before",
        "_charged",
        "_global",
        "_group_exclusive",
        "_group_first",
        "applied",
        "decisions",
        "ledger",
        "left",
        "taken",
        "world",
    )

    def __init__(self, world: World, left: Mapping[int, Units] | None = None) -> None:
        self.world = world
        self.left: Mapping[int, Units] = {} if left is None else left
        self.ledger = Ledger(world.view, world.articles)
        self.taken: list[int] | None = None  # a list: what was taken before each candidate, which `run` adds
        self.applied: list[Decision] = []
        self.decisions: list[Decision | None] = [None] * len(world.candidates)
        self._charged: dict[str, int] = {}
        self._global: Candidate | None = None
        self._group_first: dict[str, Candidate] = {}
        self._group_exclusive: dict[str, Candidate] = {}
        self._before: dict[int, tuple[list[State], int]] = {}  # the ledger before each application, for diagnosis

    @property
    def discount_minor(self) -> int:
        return self.ledger.taken_minor

    def run(self, order: Sequence[Candidate] | None = None) -> Pass:
        """Decide the candidates one after the other: those of ``order``, else all in the order of section 4."""
        exclusions = self.world.exclusions
        if order is None:
            order = self.world.candidates
        elif exclusions:
            exclusions = {}
            for candidate in order:
                if candidate.exclusion_id is not None:
                    exclusions.setdefault(candidate.exclusion_id, []).append(candidate)
        taken, decisions = self.taken, self.decisions
        for candidate in order:
            if taken is not None:
                taken.append(self.ledger.taken_minor)
            if decisions[candidate.ordinal - 1] is None:
                self.decide(candidate, exclusions)
        return self

    def decide(self, candidate: Candidate, exclusions: Mapping[str, Sequence[Candidate]]) -> None:
        """Decide the next candidate; ``exclusions`` has the members of every exclusion group that take part."""
        met = self.world.qualify(candidate, self.ledger)
        if isinstance(met, Unmet):
            self.decisions[candidate.ordinal - 1] = self._unmet(candidate, met)
            return
        decision = self._attempt(candidate, met)
        self.decisions[candidate.ordinal - 1] = decision
        if decision.reason is None:
            if candidate.exclusion_id is None:
                self._apply(decision)
            else:
                self._resolve(decision, exclusions[candidate.exclusion_id])

    def _attempt(self, candidate: Candidate, met: Met) -> Decision:
        """Book a qualifying candidate if everything allows it; else leave the ledger unchanged and return the
        obstacle.
        """
        promotion = candidate.promotion
        is_restricted = promotion.is_restricted
        if is_restricted and self.world.used_up(promotion):
            return Decision(candidate, "USAGE_LIMIT_REACHED")
        blocked_by = self._blocked_by(candidate) if is_restricted else self._global
        if blocked_by is not None:
            return self._blocked(candidate, met, blocked_by)
        turn = self._turn(candidate, met)
        gaps = _gaps(promotion, turn) if self.world.tiers or promotion is self.world.aim else ()
        left = self.left.get(candidate.ordinal) if self.left else None
        if left is None:
            for benefit in promotion.benefits:
                benefit.book(turn)
        else:
            book_leaving(promotion.benefits, turn, left)
        if turn.discount_minor <= 0 and not turn.has_effect:
            return self._nothing(candidate, met, turn)
        refused = self._refused(candidate, met, turn) if is_restricted else None
        if refused is not None:
            return refused
        decision = Decision(candidate, None, turn)
        decision.gaps = gaps
        return decision

    def _refused(self, candidate: Candidate, met: Met, turn: Turn) -> Decision | None:
        """Why a booked promotion does not apply after all, because of its group or a budget; then it is undone."""
        promotion = candidate.promotion
        if promotion.is_group_exclusive and turn.gives:
            first = self._group_first.get(candidate.group_id or "")
            if first is not None:
                turn.undo()
                return self._blocked(candidate, met, first)
        reason = SHARE_NOT_AVAILABLE if promotion.is_use_limited and self.world.lacks_share(promotion) else None
        if reason is None and promotion.definition.budget_ids:
            reason = self._over_budget(promotion, turn.discount_minor)
        if reason is None:
            return None
        turn.undo()
        refused = Decision(candidate, reason)
        refused.own_minor = turn.discount_minor + turn.give_away_minor
        return refused

    def _turn(self, candidate: Candidate, met: Met, ledger: Ledger | None = None) -> Turn:
        promotion = candidate.promotion
        world = self.world
        view = promotion.view_of(world.view) if world.has_barred or promotion.common_exclusions else world.view
        lines = met.lines
        return Turn(
            self.ledger if ledger is None else ledger,
            promotion.id,
            candidate.ordinal,
            promotion.is_unit_exclusive,
            view.sale if lines is None else lines,
            met.triggers,
            promotion.definition.max_applications_per_transaction,
            view,
        )

    def targets(self, candidate: Candidate, met: Met) -> frozenset[int]:
        """The lines that a qualifying candidate is about, whatever is left of them."""
        return _targets(candidate.promotion, self._turn(candidate, met))

    def _blocked_by(self, candidate: Candidate) -> Candidate | None:
        """The winner whose exclusion already applies to this candidate before anything is priced (section 5)."""
        if self._global is not None:
            return self._global
        if candidate.promotion.is_global and self.applied:
            return self.applied[0].candidate
        if candidate.group_id is not None:
            return self._group_exclusive.get(candidate.group_id)
        return None

    def _apply(self, decision: Decision) -> None:
        candidate, turn = decision.candidate, decision.turn
        if turn is None:
            return
        promotion = candidate.promotion
        if self.world.diagnose:
            turn.undo()
            self._before[candidate.ordinal] = self.ledger.snapshot()
            turn.redo()
        self.applied.append(decision)
        if not promotion.is_restricted:
            return
        for budget_id in promotion.definition.budget_ids:
            self._charged[budget_id] = self._charged.get(budget_id, 0) + turn.discount_minor
        if candidate.group_id is not None:
            self._group_first.setdefault(candidate.group_id, candidate)
        # An exclusion takes effect only once its owner has given something.
        if turn.gives:
            if promotion.is_global:
                self._global = candidate
            elif promotion.is_group_exclusive and candidate.group_id is not None:
                self._group_exclusive[candidate.group_id] = candidate

    def _over_budget(self, promotion: CompiledPromotion, discount_minor: int) -> str | None:
        """Section 8: why a linked budget does not cover the discount, None when all do."""
        currency = self.world.view.currency
        for budget_id in promotion.definition.budget_ids:
            fact = self.world.budgets.get(budget_id)
            if fact is None or fact.currency != currency:
                return "BUDGET_NOT_ACTIVE"
            if fact.status == "SHARE":
                if discount_minor > fact.remaining_minor - self._charged.get(budget_id, 0):
                    return SHARE_NOT_AVAILABLE
                continue
            if fact.status == "EXHAUSTED" or (fact.status == "ACTIVE" and fact.remaining_minor <= 0):
                return "BUDGET_EXHAUSTED"
            if fact.status != "ACTIVE":
                return "BUDGET_NOT_ACTIVE"
            if discount_minor > fact.remaining_minor - self._charged.get(budget_id, 0):
                return "BUDGET_INSUFFICIENT"
        return None

    def _resolve(self, first: Decision, members: Sequence[Candidate]) -> None:
        """Price all members of an exclusion group against the current state and apply one (section 5).

        ``first``, the member just reached, is the first to have an effect: a member that gives nothing at its turn does
        not call the others up, so it makes no difference whether the index found it at all.
        """
        if first.turn is not None:
            first.turn.undo()
        offers = [first]
        without: list[Decision] = []
        for member in members:
            if self.decisions[member.ordinal - 1] is not None:
                continue
            met = self.world.qualify(member, self.ledger)
            if isinstance(met, Unmet):
                without.append(self._unmet(member, met))
                continue
            decision = self._attempt(member, met)
            if decision.turn is None:
                without.append(decision)
            else:
                decision.turn.undo()
                offers.append(decision)
        winner = offers[0]
        for offer in offers[1:]:
            if _is_better(offer, winner):
                winner = offer
        turn = winner.turn
        if turn is not None:
            turn.redo()
        for decision in without + offers:
            self.decisions[decision.candidate.ordinal - 1] = decision
            if decision is not winner and decision.turn is not None:
                decision.own_minor = _value(decision.turn)
                decision.reason, decision.turn = "BLOCKED_BY_EXCLUSION_GROUP", None
                decision.blocked_by = winner.candidate
        self._apply(winner)

    def _blocked(self, candidate: Candidate, met: Met, winner: Candidate) -> Decision:
        decision = Decision(candidate, "BLOCKED_BY_EXCLUSIVITY", None, None, winner)
        before = self._before.get(winner.ordinal)
        if self.world.diagnose and before is not None:
            now = self.ledger.snapshot()
            self.ledger.restore(before)
            turn = self._turn(candidate, met)
            for benefit in candidate.promotion.benefits:
                benefit.book(turn)
            decision.own_minor = _value(turn)
            self.ledger.restore(now)
        return decision

    def leave_out(self, candidate: Candidate, met: Met) -> None:
        """Record that the best deal left out a qualifying candidate in favour of those it applied.

        If what it applied leaves no room for the candidate, the reason is that of any other candidate.
        """
        decided = None if self.world.is_first else self._without_room(candidate, met)
        if decided is not None:
            self.decisions[candidate.ordinal - 1] = decided
            return
        targets = self.targets(candidate, met)
        winner: Candidate | None = None
        for decision in self.applied:
            turn = decision.turn
            if turn is not None and (winner is None or any(take[0] in targets for take in turn.takes)):
                winner = decision.candidate
                if any(take[0] in targets for take in turn.takes):
                    break
        decided = (
            Decision(candidate, "BLOCKED_BY_EXCLUSIVITY") if winner is None else self._blocked(candidate, met, winner)
        )
        self.decisions[candidate.ordinal - 1] = decided

    def _without_room(self, candidate: Candidate, met: Met) -> Decision | None:
        """Why a candidate could not apply after all the others; None if it could."""
        if candidate.exclusion_id is not None:
            for one in self.applied:
                if one.candidate.exclusion_id == candidate.exclusion_id:
                    return Decision(candidate, "BLOCKED_BY_EXCLUSION_GROUP", blocked_by=one.candidate)
        decided = self._attempt(candidate, met)
        if decided.turn is None:
            return decided
        decided.turn.undo()
        return None

    def _unmet(self, candidate: Candidate, unmet: Unmet) -> Decision:
        """Why a promotion does not qualify: what is missing, unless that would be bought in vain."""
        if self.world.has_barred and candidate.promotion.is_barred(self.world.view):
            return Decision(candidate, "NEVER_DISCOUNTED")
        return Decision(candidate, "CONDITION_NOT_MET", None, unmet)

    def _nothing(self, candidate: Candidate, met: Met, turn: Turn) -> Decision:
        """Why a promotion that qualifies and is not blocked gives nothing."""
        promotion = candidate.promotion
        targets = _targets(promotion, turn)
        whole = self.world.view
        lines = whole.sale if met.lines is None or met.lines == turn.view.sale else met.lines
        if promotion.is_barred(whole, lines):
            return Decision(candidate, "NEVER_DISCOUNTED")
        if not targets:
            return Decision(candidate, "ALREADY_REDUCED" if promotion.is_spared(whole, lines) else "NO_TARGET_LINES")
        for position in sorted(targets):
            winner = self._owner(position, turn)
            if winner is not None:
                return self._blocked(candidate, met, winner)
        gaps = tuple([gap for gap in _gaps(promotion, turn) if gap.code != "NEXT_BUNDLE"])
        if gaps:
            decision = Decision(candidate, "CONDITION_NOT_MET")
            decision.gaps = gaps
            return decision
        is_bundle = any(benefit.code == "BUNDLE" for benefit in promotion.benefits)
        if is_bundle and self._lacks_bundle(candidate, met, targets):
            return Decision(candidate, "NO_TARGET_LINES")
        taker = self._taker(targets)
        if taker is None and promotion.is_outdone(whole, targets):
            return Decision(candidate, "ALREADY_REDUCED")
        return Decision(candidate, "NOTHING_LEFT_TO_DISCOUNT", blocked_by=taker)

    def _taker(self, targets: Collection[int]) -> Candidate | None:
        """The promotion that took most of these lines; of equals the first in order."""
        if self.world.is_first or not self.world.view.settings.include_missed:
            return None
        most, taker = 0, None
        for decision in self.applied:
            turn = decision.turn
            taken = 0 if turn is None else sum([take[2] for take in turn.takes if take[0] in targets])
            if taken > most:
                most, taker = taken, decision.candidate
        return taker

    def _lacks_bundle(self, candidate: Candidate, met: Met, targets: Collection[int]) -> bool:
        """Whether its bundles would be incomplete too if no promotion had come before it."""
        settings = self.world.view.settings
        if settings.rules == FIRST_RULES:  # they looked only for anything left of its lines
            totals, states = self.ledger.totals, self.ledger.states
            return any(totals[position] > states[position][0] for position in targets)
        if not settings.include_missed:
            return False  # nobody is told
        turn = self._turn(candidate, met, Ledger(self.world.view, self.world.articles))
        for benefit in candidate.promotion.benefits:
            benefit.book(turn)
        return not turn.gives

    def _owner(self, position: int, turn: Turn) -> Candidate | None:
        """The promotion whose exclusivity PROMOTION, its own or this one's, keeps this turn from units of the line."""
        if self.ledger.states[position] is FRESH:
            return None
        for _, _, mark in self.ledger.runs(position):
            if mark == 0 or mark & FREE or not (turn.exclusive or mark & EXCLUSIVE):
                continue
            ordinal = owner_of(mark)
            if ordinal not in (MANY, turn.ordinal):
                return self.world.candidates[ordinal - 1]
            for decision in self.applied:
                taken = decision.turn
                if taken is not None and any(take[0] == position for take in taken.takes):
                    return decision.candidate
        return None


def _targets(promotion: CompiledPromotion, turn: Turn) -> frozenset[int]:
    return frozenset([position for benefit in promotion.benefits for position in benefit.targets(turn)])


def _gaps(promotion: CompiledPromotion, turn: Turn) -> tuple[Missed, ...]:
    if promotion.stage == REWARDS_ONLY:
        return ()
    found = [benefit.gap(turn) for benefit in promotion.benefits]
    return tuple([gap for gap in found if gap is not None])


def _value(turn: Turn) -> int:
    return turn.discount_minor + turn.give_away_minor


def _is_better(offer: Decision, winner: Decision) -> bool:
    """Strictly better by the group's strategy: on a tie the first in order wins."""
    if offer.turn is None or winner.turn is None:
        return False
    group = winner.candidate.promotion.definition.exclusion_group
    if group is not None and group.resolution_strategy == "LOWEST_DISCOUNT":
        return _value(offer.turn) < _value(winner.turn)
    return _value(offer.turn) > _value(winner.turn)

"""What the best deal chooses from: promotions that may give something, and which of them depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.benefits.article import ArticleDiscount
from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.choice import Choice
from promenade.engine.benefits.receipt import ReceiptDiscount
from promenade.engine.benefits.registry import RECEIPT_LEVEL, REWARDS_ONLY, Benefit
from promenade.engine.best_deal.ceilings import Ceiling, ceiling_of
from promenade.engine.ledger import Ledger
from promenade.engine.promotion import Unmet
from promenade.engine.stacking import Candidate, World
from promenade.engine.turn import Turn

_UNBOUNDED = 1 << 50


class Contender:
    """A candidate that may give something.

    ``lines``: all that it may discount. ``most``: what it can give at most, in minor units. ``alone``: what it takes
    when nothing else applies. ``chooses_units``: whether it may leave units that it could take. ``prefers_units``:
    whether that can be to its own advantage. ``stacks_on_some``: whether it may take units that others have discounted,
    the first of a line before the others.
    """

    __slots__ = (
        "_ceiling",
        "_turn",
        "alone",
        "candidate",
        "chooses_units",
        "lines",
        "most",
        "ordinal",
        "prefers_units",
        "stacks_on_some",
    )

    def __init__(self, candidate: Candidate, lines: frozenset[int], turn: Turn, alone: Turn | None) -> None:
        promotion = candidate.promotion
        self.candidate = candidate
        self.ordinal = candidate.ordinal
        self.lines = lines
        self.alone = alone
        self._turn = turn  # at a fresh ledger, with all lines that it may qualify by
        self._ceiling: Ceiling | None = None
        if alone is not None and not candidate.is_dynamic and _is_monotone(promotion.benefits):
            self.most = alone.discount_minor
        else:
            self.most = self.ceiling.total
        discounts = [benefit for benefit in promotion.benefits if benefit.stage != REWARDS_ONLY]
        bundles = any(isinstance(benefit, BundleDiscount) for benefit in discounts)
        self.chooses_units = (
            (promotion.is_unit_exclusive or bundles)
            and not self.is_lowest  # choosing could make another member the lowest
            and all(map(_is_free_to_choose, discounts))
        )
        self.stacks_on_some = not promotion.is_unit_exclusive and not all(map(_takes_all, discounts))
        self.prefers_units = self.chooses_units and (bundles or any(map(_is_limited, discounts)))

    @property
    def ceiling(self) -> Ceiling:
        """Upper bounds by line; ``most`` is the better one in all."""
        found = self._ceiling
        if found is None:
            promotion = self.candidate.promotion
            found = ceiling_of(promotion.benefits, self._turn)
            if self.alone is None and promotion.gives_items:
                found.total = _UNBOUNDED  # its triggers are not known
            self._ceiling = found
        return found

    @property
    def idle_units(self) -> tuple[tuple[int, int], ...]:
        """Units (line, number) that it may take in vain although others of its lines give something."""
        rates = self.ceiling.rates
        if not self.prefers_units or rates is None or self.alone is None:
            return ()
        units = self.alone.ledger.units
        return tuple([(line, unit) for line in sorted(rates) if rates[line] == 0 for unit in range(units[line])])

    @property
    def is_lowest(self) -> bool:
        """Whether it belongs to an exclusion group of which the lowest discount is to be given."""
        group = self.candidate.promotion.definition.exclusion_group
        return group is not None and group.resolution_strategy == "LOWEST_DISCOUNT"


def _is_free_to_choose(benefit: Benefit) -> bool:
    """Whether its action leaves open which units it takes: CHEAPEST, MOST_EXPENSIVE, RANDOM and FREE_ITEM do not."""
    choice = getattr(benefit, "choice", None)
    if not isinstance(choice, Choice):
        return False
    return choice.selection == "ALL" and (isinstance(benefit, BundleDiscount) or choice.mode in ("ALL", "LIMITED"))


def _takes_all(benefit: Benefit) -> bool:
    choice = getattr(benefit, "choice", None)
    return isinstance(choice, Choice) and choice.is_all and not isinstance(benefit, BundleDiscount)


def _is_limited(benefit: Benefit) -> bool:
    choice = getattr(benefit, "choice", None)
    return isinstance(choice, Choice) and choice.mode == "LIMITED"


def contenders_of(world: World) -> list[Contender]:
    """The candidates that may give something, in their order."""
    found: list[Contender] = []
    for candidate in world.candidates:
        ledger = Ledger(world.view, world.articles)
        met = world.qualify(candidate, ledger)
        promotion = candidate.promotion
        unmet = isinstance(met, Unmet)
        is_out_of_uses = world.used_up(promotion) or world.lacks_share(promotion)
        if is_out_of_uses or (unmet and not candidate.is_dynamic):
            continue
        # A dynamic one may qualify by other lines once less is left of the sale.
        lines = None if isinstance(met, Unmet) or candidate.is_dynamic else met.lines
        view = promotion.view_of(world.view)
        turn = Turn(
            ledger,
            promotion.id,
            candidate.ordinal,
            promotion.is_unit_exclusive,
            view.sale if lines is None else lines,
            () if isinstance(met, Unmet) else met.triggers,
            promotion.definition.max_applications_per_transaction,
            view,
        )
        reached = frozenset([place for benefit in promotion.benefits for place in benefit.targets(turn)])
        alone: Turn | None = None
        if not unmet:
            for benefit in promotion.benefits:
                benefit.book(turn)
            turn.undo()  # what it takes stays readable, for the ledger as it was before
            alone = turn
        contender = Contender(candidate, reached, turn, alone)
        if contender.most > 0 or (alone is not None and alone.gives):
            found.append(contender)
    return found


def _is_monotone(benefits: Sequence[Benefit]) -> bool:
    """Whether others can only lower what it gives: one plain discount on everything that it targets.

    Rounding does not change that, however coarse: a smaller base never rounds to a larger discount.
    """
    discounts = [benefit for benefit in benefits if benefit.stage != REWARDS_ONLY]
    return len(discounts) == 1 and all(
        isinstance(one, ArticleDiscount | ReceiptDiscount) and one.choice.is_all for one in discounts
    )


def must_precede(one: Candidate, other: Candidate) -> bool:
    """Whether the first comes before the second in every order that the best deal may choose (section 5).

    Where priority group, GLOBAL and stage are equal, sequence and priority decide; where those are equal too, and
    between promotions with coupons, the order is free: neither IDs nor the positions of coupons decide about money.
    """
    first, second = one.promotion, other.promotion
    if first.order_before != second.order_before:
        return first.order_before < second.order_before
    return one.coupon is None and first.order_after[:2] < second.order_after[:2]


def components_of(contenders: Sequence[Contender]) -> list[list[Contender]]:
    """Contenders that share lines, exclusion groups, budgets or a priority group of which one excludes the others.

    One that reads what others leave of the receipt depends on all of them.
    """
    if any(one.candidate.is_dynamic for one in contenders):
        return [list(contenders)]
    parents = list(range(len(contenders)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    excluding = {one.candidate.group_id for one in contenders if one.candidate.promotion.is_group_exclusive}
    first_with: dict[object, int] = {}
    for place, contender in enumerate(contenders):
        candidate = contender.candidate
        shared: list[object] = list(contender.lines)
        shared += [("budget", budget_id) for budget_id in candidate.promotion.definition.budget_ids]
        if candidate.exclusion_id is not None:
            shared.append(("exclusion", candidate.exclusion_id))
        if candidate.group_id in excluding:
            shared.append(("group", candidate.group_id))
        for key in shared:
            parents[root(place)] = root(first_with.setdefault(key, place))
    components: dict[int, list[Contender]] = {}
    for place, contender in enumerate(contenders):
        components.setdefault(root(place), []).append(contender)
    return list(components.values())


def wide_of(contenders: Sequence[Contender]) -> list[Contender]:
    """The receipt-level contenders after all others that only follow what those leave, and couple them by nothing else.

    The rest can be solved as if these were not there, but for what they take per line.
    """
    excluding = {one.candidate.group_id for one in contenders if one.candidate.promotion.is_group_exclusive}
    wide = [one for one in contenders if _is_wide(one) and one.candidate.group_id not in excluding]
    rest = [one for one in contenders if one not in wide]
    return [one for one in wide if all(must_precede(other.candidate, one.candidate) for other in rest)]


def _is_wide(contender: Contender) -> bool:
    candidate = contender.candidate
    promotion = candidate.promotion
    definition = promotion.definition
    return (
        promotion.stage == RECEIPT_LEVEL
        and definition.exclusivity == "NONE"
        and not (candidate.is_dynamic or definition.budget_ids or candidate.exclusion_id)
    )

"""QUANTITY_TIER: a better discount for more pieces (section 6)."""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.choice import Choice, choice_of
from promenade.engine.benefits.fields import discount_of, distribution_of, maximum_of
from promenade.engine.benefits.per_unit import PerUnit, discount_unless
from promenade.engine.benefits.registry import ARTICLE_LEVEL, IndexKey, Terms, benefit
from promenade.engine.benefits.spread import bases_of, capped, spread, total_off
from promenade.engine.benefits.targets import Targets, targets_of_action
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import ALL_KINDS_OF_DISCOUNT, Form
from promenade.engine.turn import Turn
from promenade.engine.verdict import Missed


@benefit(
    QUANTITY_TIER=Form(
        family="articles",
        icon="measuring-point",
        discount_types=ALL_KINDS_OF_DISCOUNT,
        fields=("quantityTiers",),
        more=(
            "targetArticleNumber",
            "targetArticleGroupId",
            "includeSubGroups",
            "selectionType",
            "applicationQuantityMode",
            "applicationQuantity",
            "distributionMode",
            "maxDiscountAmount",
            "articleListItems",
            "exclusions",
        ),
        also=("targetArticleList",),
        needs=(("quantityTiers",),),
    )
)
class QuantityTierDiscount:
    """The highest tier that the targets' summed quantity reaches, for all chosen units.

    PERCENTAGE and UNIT_PRICE are per unit; ABSOLUTE is once for all of them, distributed.
    """

    __slots__ = ("choice", "maximum", "mode", "target", "terms", "tiers")
    code: ClassVar[str] = "QUANTITY_TIER"
    stage: ClassVar[int] = ARTICLE_LEVEL

    def __init__(self, row: ActionRow, terms: Terms) -> None:
        is_by_unit = all(tier.discount_type != "ABSOLUTE" for tier in row.quantity_tiers)
        self.target: Targets = targets_of_action(row, is_by_unit=is_by_unit)
        self.choice: Choice = choice_of(row)
        self.mode = distribution_of(row.distribution_mode)
        self.maximum = maximum_of(row.max_discount_hundredths)
        self.terms = terms
        if not row.quantity_tiers:
            raise DefinitionError("quantityTiers", "NO_TIERS", "A quantity discount needs tiers.")
        tiers: list[tuple[int, PerUnit]] = []
        for number, tier in enumerate(sorted(row.quantity_tiers, key=lambda tier: tier.sequence), start=1):
            if tier.min_quantity_thousandths is None or tier.min_quantity_thousandths < 0:
                raise DefinitionError(
                    f"quantityTiers({number})/minQuantity", "REQUIRED", "A tier needs a quantity of at least 0."
                )
            try:
                kind, value = discount_of(tier.discount_type, tier.discount_value_hundredths, ALL_KINDS_OF_DISCOUNT)
            except DefinitionError as error:
                raise DefinitionError(f"quantityTiers({number})/{error.target}", error.code, error.message) from error
            tiers.append((tier.min_quantity_thousandths, discount_unless(kind, value, terms, self.target.exclusions)))
        tiers.sort(key=lambda tier: tier[0])
        self.tiers = tuple(tiers)  # (quantity in thousandths, discount), ascending

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without tiers, or for a tier without quantity or discount."""
        return cls(row, terms)

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.target.keys()

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return self.target.resolve(turn.view, turn.lines)

    def quantity_thousandths(self, turn: Turn, positions: tuple[int, ...]) -> int:
        """The targets' summed quantity, open units only."""
        lines = turn.view.lines
        quantity = 0
        for position in positions:
            segments = turn.open_units(position)
            if segments is None:
                quantity += lines[position].quantity_thousandths
            elif segments:
                line = lines[position]
                open_count = sum([segment[1] for segment in segments])
                quantity += line.quantity_thousandths if line.weighed else open_count * 1000
        return quantity

    def gap(self, turn: Turn) -> Missed | None:
        positions = self.targets(turn)
        reached = self.quantity_thousandths(turn, positions)
        for needed, _ in self.tiers:
            if needed > reached and positions:
                return Missed(
                    "TIER_NOT_REACHED", (), "", "ITEM_QUANTITY", reached, needed, is_quantity=True, lines=positions
                )
        return None

    def book(self, turn: Turn) -> None:
        positions = self.target.resolve(turn.view, turn.lines)
        if not positions:
            return
        reached = self.quantity_thousandths(turn, positions)
        best: PerUnit | None = None
        for needed, discount in self.tiers:
            if needed <= reached:
                best = discount
        if best is not None:
            self._take_off(turn, positions, best)

    def _take_off(self, turn: Turn, positions: tuple[int, ...], discount: PerUnit) -> None:
        chosen = self.choice.choose(turn, positions)
        if discount.kind != "ABSOLUTE":
            discount.book(turn, chosen, self.maximum)
            return
        ledger = turn.ledger
        bases = bases_of(ledger, chosen, self.terms.additive)
        total = capped(ledger, total_off(ledger, self.terms, discount.shown, bases), self.maximum)
        if total > 0:
            spread(turn, chosen, bases, total, self.mode, discount.shown, self.terms.additive)

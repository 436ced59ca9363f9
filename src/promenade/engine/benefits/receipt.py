"""RECEIPT and SCALED_RECEIPT: a discount on the sum of the targets (section 6)."""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.choice import Choice, Chosen, choice_of
from promenade.engine.benefits.fields import discount_of, distribution_of, maximum_of
from promenade.engine.benefits.registry import RECEIPT_LEVEL, IndexKey, Terms, benefit
from promenade.engine.benefits.spread import bases_of, capped, spread, total_off
from promenade.engine.benefits.targets import Targets, targets_of_action
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.turn import Shown, Turn
from promenade.engine.verdict import Missed

_ALL = Choice("ALL", "ALL", 0)
_KINDS = ("PERCENTAGE", "ABSOLUTE")
_MORE = (
    "targetArticleNumber",
    "targetArticleGroupId",
    "includeSubGroups",
    "selectionType",
    "applicationQuantityMode",
    "applicationQuantity",
    "distributionMode",
    "articleListItems",
    "exclusions",
)


class _OnTheSum:
    """Base of both: targets, choice and distribution."""

    __slots__ = ("choice", "maximum", "mode", "target", "terms")
    stage: ClassVar[int] = RECEIPT_LEVEL

    def __init__(self, row: ActionRow, terms: Terms) -> None:
        self.target: Targets = targets_of_action(row)
        self.target.is_of_the_sum = True
        self.choice = choice_of(row)
        self.mode = distribution_of(row.distribution_mode)
        self.maximum = maximum_of(row.max_discount_hundredths)
        self.terms = terms

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.target.keys()

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return self.target.resolve(turn.view, turn.lines)

    def take_off(self, turn: Turn, chosen: list[Chosen], shown: Shown) -> None:
        """Compute the discount on the chosen units' sum and distribute it."""
        ledger = turn.ledger
        bases = bases_of(ledger, chosen, self.terms.additive)
        total = capped(ledger, total_off(ledger, self.terms, shown, bases), self.maximum)
        if total > 0:
            spread(turn, chosen, bases, total, self.mode, shown, self.terms.additive)


@benefit(
    RECEIPT=Form(
        family="receipt",
        icon="receipt",
        discount_types=_KINDS,
        fields=("discountType", "discountValue", "maxDiscountAmount"),
        more=_MORE,
        also=("targetArticleList",),
        needs=(("discountType",), ("discountValue",)),
    )
)
class ReceiptDiscount(_OnTheSum):
    """PERCENTAGE or ABSOLUTE off the sum of the targets."""

    __slots__ = ("shown",)
    code: ClassVar[str] = "RECEIPT"

    def __init__(self, row: ActionRow, terms: Terms) -> None:
        super().__init__(row, terms)
        self.shown: Shown = discount_of(row.discount_type, row.discount_value_hundredths, _KINDS)

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without a PERCENTAGE or ABSOLUTE discount."""
        return cls(row, terms)

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def book(self, turn: Turn) -> None:
        chosen = self.choice.choose(turn, self.target.resolve(turn.view, turn.lines))
        self.take_off(turn, chosen, self.shown)


@benefit(
    SCALED_RECEIPT=Form(
        family="receipt",
        icon="trend-up",
        discount_types=_KINDS,
        fields=("scaledTiers", "maxDiscountAmount"),
        more=_MORE,
        also=("targetArticleList",),
        needs=(("scaledTiers",),),
    )
)
class ScaledReceiptDiscount(_OnTheSum):
    """The highest tier whose threshold the targets' sum reaches, then as RECEIPT."""

    __slots__ = ("tiers",)
    code: ClassVar[str] = "SCALED_RECEIPT"

    def __init__(self, row: ActionRow, terms: Terms) -> None:
        super().__init__(row, terms)
        if not row.scaled_tiers:
            raise DefinitionError("scaledTiers", "NO_TIERS", "A scaled discount needs tiers.")
        tiers: list[tuple[int, Shown]] = []
        for number, tier in enumerate(sorted(row.scaled_tiers, key=lambda tier: tier.sequence), start=1):
            if tier.threshold_hundredths is None or tier.threshold_hundredths < 0:
                raise DefinitionError(
                    f"scaledTiers({number})/thresholdAmount", "REQUIRED", "A tier needs a threshold of at least 0."
                )
            try:
                shown = discount_of(tier.discount_type, tier.discount_value_hundredths, _KINDS)
            except DefinitionError as error:
                raise DefinitionError(f"scaledTiers({number})/{error.target}", error.code, error.message) from error
            tiers.append((tier.threshold_hundredths, shown))
        tiers.sort(key=lambda tier: tier[0])
        self.tiers = tuple(tiers)  # (threshold in hundredths of face value, discount), ascending

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without tiers, or for a tier without threshold or discount."""
        return cls(row, terms)

    def gap(self, turn: Turn) -> Missed | None:
        ledger = turn.ledger
        positions = self.targets(turn)
        reached = sum(bases_of(ledger, _ALL.choose(turn, positions), self.terms.additive))
        for threshold, _ in self.tiers:
            wanted = threshold * ledger.factor
            if wanted > reached and positions:
                minor = -(-wanted // ledger.scale)
                reached_minor = reached // ledger.scale
                return Missed(
                    "TIER_NOT_REACHED",
                    (),
                    "",
                    "SCALED_RECEIPT",
                    reached_minor,
                    minor,
                    is_quantity=False,
                    lines=positions,
                )
        return None

    def book(self, turn: Turn) -> None:
        factor = turn.ledger.factor
        positions = self.target.resolve(turn.view, turn.lines)
        chosen = _ALL.choose(turn, positions)
        reached = sum(bases_of(turn.ledger, chosen, self.terms.additive))
        best: Shown | None = None
        for threshold, shown in self.tiers:
            if threshold * factor <= reached:
                best = shown
        if best is not None:
            self.take_off(turn, chosen if self.choice.is_all else self.choice.choose(turn, positions), best)

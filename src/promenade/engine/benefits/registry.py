"""What a benefit is, and the one list of them: the registry is the code list ActionTypes.

A benefit is one class under ``@benefit("CODE")``. It is parsed once, when its promotion is compiled, and then books
onto the ledger whenever its promotion comes up (pricing semantics, section 6). Bad configuration raises
`DefinitionError` in ``parse``, with the wire field as its target; pricing itself never raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, TypeVar

from promenade.engine.definition import ActionRow, DefinitionError, LoyaltyRow, PromotionDefinition
from promenade.engine.turn import Turn
from promenade.engine.verdict import Missed

__all__ = [
    "ARTICLE_LEVEL",
    "RECEIPT_LEVEL",
    "REWARDS_ONLY",
    "Benefit",
    "IndexKey",
    "Terms",
    "benefit",
    "benefit_codes",
    "compile_benefits",
    "loyalty_benefit",
    "loyalty_codes",
]

ARTICLE_LEVEL = 0
RECEIPT_LEVEL = 1
REWARDS_ONLY = 2

IndexKey = tuple[str, str]
"""("article", number), ("ean", ean), ("group", id) exactly, ("tree", id) with sub groups."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a promotion's calculationConfig says about every one of its benefits."""

    additive: bool
    rounding: str
    precision: int | None


class Benefit(Protocol):
    """What the catalogue and the stacking ask of a benefit."""

    code: ClassVar[str]
    stage: ClassVar[int]

    def keys(self) -> tuple[IndexKey, ...] | None:
        """The index keys one of which a basket must hold for this to do anything; None = the qualifying lines."""
        ...

    def book(self, turn: Turn) -> None:
        """Take the discount from the turn's ledger, or note the reward on the turn."""
        ...

    def targets(self, turn: Turn) -> tuple[int, ...]:
        """Positions of the sale lines it looks at, whatever is left of them; () for rewards."""
        ...

    def gap(self, turn: Turn) -> Missed | None:
        """The next tier not reached, None when it has none; asked before `book`."""
        ...


class ActionBenefit(Benefit, Protocol):
    """A benefit that a DiscountAction says."""

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field, relative to the action."""
        ...


_REGISTRY: dict[str, type[ActionBenefit]] = {}

B = TypeVar("B", bound=ActionBenefit)


def benefit(*codes: str) -> Callable[[type[B]], type[B]]:
    """Register a class as the action types ``codes``; a code taken twice is a programming error."""

    def register(cls: type[B]) -> type[B]:
        for code in codes:
            if code in _REGISTRY:
                raise ValueError(f"action type {code} is defined twice")
            _REGISTRY[code] = cls
        cls.code = codes[0]
        return cls

    return register


class LoyaltyBenefit(Benefit, Protocol):
    """A benefit that a LoyaltyAction says."""

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field, relative to the action."""
        ...


_LOYALTY: dict[str, type[LoyaltyBenefit]] = {}

L = TypeVar("L", bound=LoyaltyBenefit)


def loyalty_benefit(code: str) -> Callable[[type[L]], type[L]]:
    """Register a class as the loyalty action type ``code``."""

    def register(cls: type[L]) -> type[L]:
        if code in _LOYALTY:
            raise ValueError(f"loyalty action type {code} is defined twice")
        _LOYALTY[code] = cls
        cls.code = code
        return cls

    return register


def benefit_codes() -> tuple[str, ...]:
    """The code list ActionTypes, in the order the families define them."""
    return tuple(_REGISTRY)


def loyalty_codes() -> tuple[str, ...]:
    """The code list LoyaltyActionTypes."""
    return tuple(_LOYALTY)


def compile_benefits(definition: PromotionDefinition) -> tuple[Benefit, ...]:
    """Every benefit of a promotion in the order it runs: DiscountActions by sequence, then ID; LoyaltyActions by ID.

    Raises DefinitionError with a target such as ``DiscountActions(2)/discountValue``, counting from 1 in that order.
    """
    terms = Terms(
        definition.calculation_mode != "MULTIPLICATIVE",
        definition.rounding,
        None if definition.rounding == "NONE" else definition.precision,  # exact, then half up at the minor unit
    )
    benefits: list[Benefit] = []
    for number, row in enumerate(sorted(definition.actions, key=lambda row: (row.sequence, row.id)), start=1):
        path = f"DiscountActions({number})"
        if row.action_type not in _REGISTRY:
            raise DefinitionError(
                f"{path}/actionType", "UNKNOWN_ACTION_TYPE", f"There is no action type {row.action_type}."
            )
        if row.action_type == "LOYALTY" and not definition.loyalty_actions:
            raise DefinitionError(f"{path}/actionType", "NO_LOYALTY_ACTION", "LOYALTY needs a loyalty action.")
        try:
            benefits.append(_REGISTRY[row.action_type].parse(row, terms))
        except DefinitionError as error:
            raise DefinitionError(f"{path}/{error.target}", error.code, error.message) from error
    for number, loyalty in enumerate(sorted(definition.loyalty_actions, key=lambda row: row.id), start=1):
        path = f"LoyaltyActions({number})"
        if loyalty.action_type not in _LOYALTY:
            raise DefinitionError(
                f"{path}/actionType", "UNKNOWN_ACTION_TYPE", f"There is no loyalty action type {loyalty.action_type}."
            )
        try:
            benefits.append(_LOYALTY[loyalty.action_type].parse(loyalty))
        except DefinitionError as error:
            raise DefinitionError(f"{path}/{error.target}", error.code, error.message) from error
    return tuple(benefits)

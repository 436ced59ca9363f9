"""What a benefit is, and the one list of them: the registry is the code list ActionTypes.

A benefit is one class under ``@benefit(CODE=Form(...))``; its words are in `model.texts.benefits`. It is parsed once,
when its promotion is compiled, and then books onto the ledger whenever its promotion comes up (pricing semantics,
section 6). Bad configuration raises `DefinitionError` in ``parse``, with the wire field as its target; pricing itself
never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol, Self, TypeVar

from promenade.engine.definition import ActionRow, DefinitionError, LoyaltyRow, PromotionDefinition
from promenade.engine.forms import Form
from promenade.engine.turn import Turn
from promenade.engine.verdict import Missed

ARTICLE_LEVEL = 0
RECEIPT_LEVEL = 1
REWARDS_ONLY = 2

IndexKey = tuple[str, str]
"""("article", number), ("ean", ean), ("group", id) exactly, ("tree", id) with sub groups."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The parts of a promotion's calculationConfig that apply to every one of its benefits."""

    additive: bool
    rounding: str
    precision: int | None


class Benefit(Protocol):
    """What the catalogue and the stacking need from a benefit."""

    code: ClassVar[str]
    stage: ClassVar[int]

    def keys(self) -> tuple[IndexKey, ...] | None:
        """Index keys of which a basket must hold at least one for this to have an effect; None = the qualifying
        lines.
        """
        ...

    def book(self, turn: Turn) -> None:
        """Take the discount from the turn's ledger, or record the reward on the turn."""
        ...

    def targets(self, turn: Turn) -> tuple[int, ...]:
        """Positions of the sale lines it applies to, whatever is left of them; () for rewards."""
        ...

    def gap(self, turn: Turn) -> Missed | None:
        """The next tier not reached, None when there is none; called before `book`."""
        ...


class ActionBenefit(Benefit, Protocol):
    """A benefit made from a DiscountAction."""

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field, relative to the action."""
        ...


_REGISTRY: dict[str, type[ActionBenefit]] = {}
_FORMS: dict[str, Form] = {}

B = TypeVar("B", bound=ActionBenefit)


def benefit(**forms: Form) -> Callable[[type[B]], type[B]]:
    """Register a class as action types, each with how it is entered. Raises ValueError for a known code."""

    def register(cls: type[B]) -> type[B]:
        for code, form in forms.items():
            if code in _REGISTRY:
                raise ValueError(f"action type {code} is defined twice")
            _REGISTRY[code] = cls
            _FORMS[code] = form
        cls.code = next(iter(forms))
        return cls

    return register


class LoyaltyBenefit(Benefit, Protocol):
    """A benefit made from a LoyaltyAction."""

    @classmethod
    def parse(cls, row: LoyaltyRow) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field, relative to the action."""
        ...


_LOYALTY: dict[str, type[LoyaltyBenefit]] = {}
_LOYALTY_FORMS: dict[str, Form] = {}

L = TypeVar("L", bound=LoyaltyBenefit)


def loyalty_benefit(code: str, form: Form) -> Callable[[type[L]], type[L]]:
    """Register a class as the loyalty action type ``code``, entered as ``form`` says."""

    def register(cls: type[L]) -> type[L]:
        if code in _LOYALTY:
            raise ValueError(f"loyalty action type {code} is defined twice")
        _LOYALTY[code] = cls
        _LOYALTY_FORMS[code] = form
        cls.code = code
        return cls

    return register


def benefit_codes() -> tuple[str, ...]:
    """The code list ActionTypes, in the order the families define them."""
    return tuple(_REGISTRY)


def loyalty_codes() -> tuple[str, ...]:
    """The code list LoyaltyActionTypes."""
    return tuple(_LOYALTY)


def benefit_types() -> Mapping[str, type[ActionBenefit]]:
    """Every action type by its code."""
    return MappingProxyType(_REGISTRY)


def benefit_forms() -> Mapping[str, Form]:
    """How each action type is entered."""
    return MappingProxyType(_FORMS)


def loyalty_types() -> Mapping[str, type[LoyaltyBenefit]]:
    """Every loyalty action type by its code."""
    return MappingProxyType(_LOYALTY)


def loyalty_forms() -> Mapping[str, Form]:
    """How each loyalty action type is entered."""
    return MappingProxyType(_LOYALTY_FORMS)


def compile_benefits(definition: PromotionDefinition) -> tuple[Benefit, ...]:
    """Every benefit of a promotion in the order it runs: DiscountActions by sequence, then ID; LoyaltyActions by ID.

    Raises DefinitionError with a target such as ``DiscountActions(2)/discountValue``, counting from 1 in that order.
    """
    terms = Terms(
        definition.calculation_mode != "MULTIPLICATIVE",
        definition.rounding,
        # computed exactly, then rounded half up to the minor unit
        None if definition.rounding == "NONE" else definition.precision,
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

"""Code lists: the closed vocabularies of the service, the same for every tenant.

Each value has a code, a name, a description and its place in the list. The values are the interface's. Those of rule
types are made from their words (`model.texts`); a test holds them against the engine's registries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from promenade.model.currencies import CURRENCY_NAMES
from promenade.model.texts.benefits import ACTIONS, LOYALTY_ACTIONS
from promenade.model.texts.conditions import CONDITIONS
from promenade.model.texts.rules import RuleWords


@dataclass(frozen=True, slots=True)
class Code:
    """One value of a code list."""

    code: str
    name: str
    description: str
    sequence: int


@dataclass(frozen=True, slots=True)
class CodeList:
    """A read-only entity set with key ``code``."""

    set_name: str
    doc: str
    values: tuple[Code, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(value.code for value in self.values)


_LISTS: dict[str, CodeList] = {}


def code_lists() -> Mapping[str, CodeList]:
    """Return all code lists by entity set name."""
    return MappingProxyType(_LISTS)


def code_list(set_name: str) -> CodeList:
    """Return the code list served as ``set_name``. Raises KeyError."""
    return _LISTS[set_name]


def _declare(set_name: str, doc: str, values: Mapping[str, str], *, names: Mapping[str, str] | None = None) -> None:
    """Declare a code list.

    ``values`` maps codes to descriptions, in order; a name is derived from the code unless ``names`` has one.
    """
    if set_name in _LISTS:
        raise ValueError(f"code list {set_name} is declared twice")
    own = names or {}
    _LISTS[set_name] = CodeList(
        set_name,
        doc,
        tuple(
            Code(code, own.get(code, code.replace("_", " ").capitalize()), description, place * 10)
            for place, (code, description) in enumerate(values.items(), start=1)
        ),
    )


def _declare_rules(set_name: str, doc: str, words: Mapping[str, RuleWords]) -> None:
    """Declare the code list of a kind of rule types from their texts."""
    names = {code: one.code for code, one in words.items() if one.code}
    _declare(set_name, doc, {code: one.description for code, one in words.items()}, names=names)


_declare("PromotionStatuses", "Where a promotion stands in its life.", {
    "DRAFT": "Being written; not running.",
    "ACTIVE": "Running within its validity.",
    "INACTIVE": "Switched off for the time being.",
    "EXPIRED": "Its validity is over.",
    "ARCHIVED": "Put away for good.",
    "PENDING_APPROVAL": "Submitted, waiting for a decision.",
    "APPROVED": "Accepted, ready to be activated.",
    "REJECTED": "Turned down; can be submitted again.",
    "PILOT": "Running in the pilot's POS groups only.",
})  # fmt: skip

_declare("PromotionTypes", "What a promotion is chiefly about.", {
    "ARTICLE": "Discounts articles.",
    "RECEIPT": "Discounts the receipt.",
    "LOYALTY": "Rewards with points.",
    "BUNDLE": "Discounts articles bought together.",
    "COUPON": "Works with coupons.",
})  # fmt: skip

_declare("ExclusivityLevels", "What a promotion tolerates beside itself.", {
    "NONE": "Stacks with everything that allows it.",
    "PROMOTION": "The units it discounts are its own: no other promotion touches them.",
    "GROUP": "Only one promotion of its priority group applies.",
    "GLOBAL": "Applies alone.",
})  # fmt: skip

_declare("DiscountTypes", "How a discount value is meant.", {
    "PERCENTAGE": "A percentage off.",
    "ABSOLUTE": "An amount off.",
    "UNIT_PRICE": "The price to end at.",
})  # fmt: skip

_declare("ApplicationQuantityModes", "Which units of the chosen lines are discounted.", {
    "ALL": "All of them.",
    "LIMITED": "The first ones in basket order.",
    "CHEAPEST": "The cheapest ones.",
    "MOST_EXPENSIVE": "The dearest ones.",
})  # fmt: skip

_declare("CalculationModes", "What percentages and thresholds are taken of.", {
    "ADDITIVE": "The original price: 10 % and 20 % make 30 %.",
    "MULTIPLICATIVE": "What earlier promotions left: 10 % and 20 % make 28 %.",
})  # fmt: skip

_declare("RoundingModes", "How a discount becomes whole minor units.", {
    "ROUND_HALF_UP": "To the nearest, halves up.",
    "ROUND_DOWN": "Downwards.",
    "ROUND_UP": "Upwards.",
    "NONE": "Exact as long as possible, then half up at the minor unit.",
})  # fmt: skip

_declare("SelectionTypes", "Which lines among the targets are discounted.", {
    "ALL": "All of them.",
    "CHEAPEST": "The cheapest line.",
    "MOST_EXPENSIVE": "The dearest line.",
    "RANDOM": "One line by lot, the same in every replay.",
})  # fmt: skip

_declare("ArticleSources", "Where a row came from.", {
    "MANUAL": "Entered by hand.",
    "IMPORTED": "Imported.",
    "EXTERNAL": "A coupon code from an external pool, by bulk import.",
})  # fmt: skip

_declare("GroupTypes", "What an article group stands for.", {
    "BRAND": "A brand.",
    "CATEGORY": "A merchandise category.",
    "CUSTOM": "A group of the retailer's own making.",
})  # fmt: skip

_declare("LogicalConnectors", "How a condition joins the ones before it.", {
    "AND": "Joins the running group.",
    "OR": "Opens a new group.",
    "NOT": "Joins the running group, negated.",
})  # fmt: skip

_declare("ComparisonOperators", "How a condition compares.", {
    "EQUALS": "The same.",
    "CONTAINS": "Contains the value.",
    "STARTS_WITH": "Starts with the value.",
    "GREATER_THAN": "Greater than the value.",
    "LESS_THAN": "Less than the value.",
    "BETWEEN": "From value to valueTo, both included.",
    "GTE": "Greater than or equal to the value.",
    "LTE": "Less than or equal to the value.",
}, names={"GTE": "Greater than or equal", "LTE": "Less than or equal"})  # fmt: skip

_declare_rules("ConditionTypes", "What a condition is about.", CONDITIONS)

_declare("ConditionValueCategories", "What the value of a condition names.", {
    "ARTICLE_NUMBER": "An article number.",
    "ARTICLE_GROUP_ID": "The groupId of an article group.",
    "CUSTOMER_GROUP_ID": "A customer group.",
    "CARD_TYPE": "A kind of card.",
    "BIN_PREFIX": "The first digits of a card number.",
    "LOYALTY_TIER": "A loyalty tier.",
    "REASON_CODE": "The reason of a manual discount.",
    "PAYMENT_MEANS": "A means of payment.",
    "CUSTOMER_ID": "A customer.",
    "MANUFACTURER_ID": "A manufacturer.",
    "CHANNEL": "A channel.",
}, names={"ARTICLE_GROUP_ID": "Article group", "CUSTOMER_GROUP_ID": "Customer group", "BIN_PREFIX": "BIN prefix",
          "CUSTOMER_ID": "Customer", "MANUFACTURER_ID": "Manufacturer"})  # fmt: skip

_declare_rules("ActionTypes", "What an action gives.", ACTIONS)

_declare("DistributionModes", "How a discount on several lines is spread over them.", {
    "PROPORTIONAL": "In proportion to their amounts.",
    "EQUAL": "In equal parts.",
    "HIGHEST_FIRST": "The dearest line first.",
})  # fmt: skip

_declare("ExclusionTypes", "What an action leaves out.", {
    "ARTICLE": "An article.",
    "ARTICLE_GROUP": "An article group.",
    "ARTICLE_LIST": "A list of articles.",
    "MANUFACTURER": "A manufacturer.",
})  # fmt: skip

_declare("ResolutionStrategies", "Which promotion of a mutual exclusion group applies.", {
    "HIGHEST_DISCOUNT": "The one that gives most.",
    "LOWEST_DISCOUNT": "The one that gives least.",
})  # fmt: skip

_declare("BudgetStatuses", "Where a budget stands.", {
    "DRAFT": "Being written.",
    "SCHEDULED": "Waits for its validity to begin.",
    "ACTIVE": "Can be consumed.",
    "EXHAUSTED": "Nothing is left.",
    "EXPIRED": "Its validity is over.",
})  # fmt: skip

_declare("CouponCodeTypes", "Whether the codes of a coupon type are shared.", {
    "GENERIC": "One code for everybody.",
    "INDIVIDUAL": "A code of its own for each coupon.",
})  # fmt: skip

_declare("CouponStatuses", "Whether coupons of a type are accepted.", {
    "ACTIVE": "Accepted.",
    "INACTIVE": "Not accepted.",
})  # fmt: skip

_declare("CouponCodeStatuses", "Where a coupon code stands in its life.", {
    "CREATED": "Issued, waiting for its customer to activate it.",
    "ACTIVE": "In the pool, or issued and usable.",
    "RESERVED": "Held for a transaction.",
    "REDEEMED": "Spent.",
    "EXPIRED": "Its validity is over.",
    "CANCELLED": "Withdrawn.",
})  # fmt: skip

_declare("StakeholderTypes", "Who shares the cost of promotions.", {
    "SUPPLIER": "A supplier.",
    "BRAND": "A brand.",
    "INTERNAL": "A part of the retailer's own house.",
    "EXTERNAL_SUPPLIER": "A supplier from outside the usual ones.",
})  # fmt: skip

_declare("CalculationLogStatuses", "How a calculation ended.", {
    "CALCULATED": "Confirmed.",
    "FAILED": "Its confirm was refused.",
})  # fmt: skip

_declare_rules("LoyaltyActionTypes", "How points are given or taken.", LOYALTY_ACTIONS)

_declare("LoyaltyTargetScopes", "What points are given for.", {
    "ARTICLE": "An article.",
    "ARTICLE_GROUP": "An article group.",
    "ARTICLE_LIST": "A list of articles.",
    "ALL_ITEMS": "Everything in the basket.",
})  # fmt: skip

_declare("CampaignStatuses", "Where a campaign stands.", {
    "DRAFT": "Being written.",
    "SCHEDULED": "Waits for its window to open.",
    "ACTIVE": "Its window is open.",
    "COMPLETED": "Its window is over.",
    "CANCELLED": "Called off; its promotions do not run.",
})  # fmt: skip

_declare("UseCases", "What a promotion template is good for.", {
    "SEASONAL": "A season or a holiday.",
    "CLEARANCE": "Selling off stock.",
    "NEW_CUSTOMER": "Winning new customers.",
    "LOYALTY": "Rewarding regular customers.",
    "CROSS_SELL": "Selling things that go together.",
    "COUPON": "Coupons.",
    "OTHER": "Something else.",
})  # fmt: skip

_declare(
    "Currencies",
    "ISO 4217 currencies in use.",
    {code: f"ISO 4217 currency {code}." for code in CURRENCY_NAMES},
    names=CURRENCY_NAMES,
)

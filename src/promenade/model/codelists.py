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


_declare("PromotionStatuses", "Statuses of promotions.", {
    "DRAFT": "In preparation; not running.",
    "ACTIVE": "Active; runs within its validity.",
    "INACTIVE": "Temporarily deactivated.",
    "EXPIRED": "Its validity has ended.",
    "ARCHIVED": "Archived permanently.",
    "PENDING_APPROVAL": "Submitted and waiting for approval.",
    "APPROVED": "Approved and ready to be activated.",
    "REJECTED": "Rejected; can be submitted again.",
    "PILOT": "Running in the pilot's POS groups only.",
})  # fmt: skip

_declare("PromotionTypes", "Main types of promotions.", {
    "ARTICLE": "Discounts articles.",
    "RECEIPT": "Discounts the receipt.",
    "LOYALTY": "Rewards with points.",
    "BUNDLE": "Discounts articles bought together.",
    "COUPON": "Uses coupons.",
})  # fmt: skip

_declare("ExclusivityLevels", "Which other promotions a promotion can be combined with.", {
    "NONE": "Can be combined with every promotion that allows it.",
    "PROMOTION": "No other promotion applies to the units it discounts.",
    "GROUP": "Only one promotion of its priority group applies.",
    "GLOBAL": "Applies alone.",
})  # fmt: skip

_declare("ReturnPolicies", "What a return of discounted goods refunds.", {
    "KEEP_SHARES": "What was paid for the unit.",
    "REPRICE": "What was paid for the sale, less the price of what the customer keeps.",
})  # fmt: skip

_declare("NeverDiscountedReasons", "Why no promotion may take anything off goods.", {
    "FIXED_PRICE": "The law or the publisher fixes the price: books, newspapers.",
    "TOBACCO": "Tobacco and what is sold in its place.",
    "ALCOHOL": "Alcoholic drinks.",
    "MEDICINE": "Medicines.",
    "INFANT_FORMULA": "Infant formula, which must not be promoted.",
    "LOTTERY": "Lottery tickets and stakes of games.",
    "DEPOSIT": "Deposits, which are paid back.",
    "GIFT_CARD": "Gift cards, vouchers and top-ups: a means of payment.",
    "SERVICE": "Services, fees and donations.",
    "OTHER": "Another reason.",
}, names={"OTHER": "Another reason"})  # fmt: skip

_declare("DiscountTypes", "Meanings of a discount value.", {
    "PERCENTAGE": "A percentage off.",
    "ABSOLUTE": "An amount off.",
    "UNIT_PRICE": "The price after the discount.",
})  # fmt: skip

_declare("ApplicationQuantityModes", "Which units of the selected lines are discounted.", {
    "ALL": "All of them.",
    "LIMITED": "The first units in basket order.",
    "CHEAPEST": "The cheapest units.",
    "MOST_EXPENSIVE": "The most expensive units.",
})  # fmt: skip

_declare("CalculationModes", "The base of percentages and thresholds.", {
    "ADDITIVE": "The original price: 10 % and 20 % make 30 %.",
    "MULTIPLICATIVE": "The price after earlier promotions: 10 % and 20 % make 28 %.",
})  # fmt: skip

_declare("RoundingModes", "How a discount is rounded to minor units.", {
    "ROUND_HALF_UP": "To the nearest unit; halves are rounded up.",
    "ROUND_DOWN": "Rounded down.",
    "ROUND_UP": "Rounded up.",
    "NONE": "Not rounded until the final amount, which is rounded half up to the minor unit.",
})  # fmt: skip

_declare("SelectionTypes", "Which of the target lines are discounted.", {
    "ALL": "All of them.",
    "CHEAPEST": "The cheapest line.",
    "MOST_EXPENSIVE": "The most expensive line.",
    "RANDOM": "One line at random, the same in every replay.",
})  # fmt: skip

_declare("ArticleSources", "Origins of rows.", {
    "MANUAL": "Entered by hand.",
    "IMPORTED": "Imported.",
    "EXTERNAL": "A coupon code from an external pool, imported in bulk.",
})  # fmt: skip

_declare("GroupTypes", "Kinds of article groups.", {
    "BRAND": "A brand.",
    "CATEGORY": "A merchandise category.",
    "CUSTOM": "A group defined by the retailer.",
})  # fmt: skip

_declare("LogicalConnectors", "How a condition is combined with the ones before it.", {
    "AND": "Joins the current group.",
    "OR": "Starts a new group.",
    "NOT": "Joins the current group, negated.",
})  # fmt: skip

_declare("ComparisonOperators", "Comparison operators of conditions.", {
    "EQUALS": "Equal to the value.",
    "CONTAINS": "Contains the value.",
    "STARTS_WITH": "Starts with the value.",
    "GREATER_THAN": "Greater than the value.",
    "LESS_THAN": "Less than the value.",
    "BETWEEN": "From value to valueTo, both inclusive.",
    "GTE": "Greater than or equal to the value.",
    "LTE": "Less than or equal to the value.",
}, names={"GTE": "Greater than or equal", "LTE": "Less than or equal"})  # fmt: skip

_declare_rules("ConditionTypes", "Types of conditions.", CONDITIONS)

_declare("ConditionValueCategories", "Kinds of condition values.", {
    "ARTICLE_NUMBER": "An article number.",
    "ARTICLE_GROUP_ID": "The groupId of an article group.",
    "CUSTOMER_GROUP_ID": "A customer group.",
    "CARD_TYPE": "A card type.",
    "BIN_PREFIX": "The first digits of a card number.",
    "LOYALTY_TIER": "A loyalty tier.",
    "REASON_CODE": "The reason code of a manual discount.",
    "PAYMENT_MEANS": "A means of payment.",
    "CUSTOMER_ID": "A customer.",
    "MANUFACTURER_ID": "A manufacturer.",
    "CHANNEL": "A channel.",
}, names={"ARTICLE_GROUP_ID": "Article group", "CUSTOMER_GROUP_ID": "Customer group", "BIN_PREFIX": "BIN prefix",
          "CUSTOMER_ID": "Customer", "MANUFACTURER_ID": "Manufacturer"})  # fmt: skip

_declare_rules("ActionTypes", "Types of actions.", ACTIONS)

_declare("DistributionModes", "How a discount on several lines is allocated to them.", {
    "PROPORTIONAL": "In proportion to their amounts.",
    "EQUAL": "In equal parts.",
    "HIGHEST_FIRST": "To the most expensive line first.",
})  # fmt: skip

_declare("ExclusionTypes", "Types of exclusions.", {
    "ARTICLE": "An article.",
    "ARTICLE_GROUP": "An article group.",
    "ARTICLE_LIST": "A list of articles.",
    "MANUFACTURER": "A manufacturer.",
    "ADDITIONAL_FIELD": "Lines with an additional field that the till sends, with any value or a certain one.",
    "REDUCED": "Goods that the till has reduced already: their `regularUnitPrice` is above their `unitPrice`.",
    "BETTER_REDUCED": "Goods that the till has reduced by no less than the action would; off others it takes the rest.",
})  # fmt: skip

_declare("ResolutionStrategies", "Which promotion of a mutual exclusion group applies.", {
    "HIGHEST_DISCOUNT": "The promotion with the highest discount.",
    "LOWEST_DISCOUNT": "The promotion with the lowest discount.",
})  # fmt: skip

_declare("BudgetStatuses", "Statuses of budgets.", {
    "DRAFT": "In preparation.",
    "SCHEDULED": "Its validity has not started yet.",
    "ACTIVE": "Can be consumed.",
    "EXHAUSTED": "No money is left.",
    "EXPIRED": "Its validity has ended.",
})  # fmt: skip

_declare("CouponCodeTypes", "Whether each coupon of a type has its own code or all share one.", {
    "GENERIC": "One code shared by all customers.",
    "INDIVIDUAL": "Each coupon has its own code.",
})  # fmt: skip

_declare("CouponStatuses", "Whether coupons of a type are accepted.", {
    "ACTIVE": "Accepted.",
    "INACTIVE": "Not accepted.",
})  # fmt: skip

_declare("CouponCodeStatuses", "Statuses of coupon codes.", {
    "CREATED": "Issued; the customer must activate it before use.",
    "ACTIVE": "In the pool, or issued and usable.",
    "RESERVED": "Reserved for a transaction.",
    "REDEEMED": "Redeemed.",
    "EXPIRED": "Its validity has ended.",
    "CANCELLED": "Cancelled.",
})  # fmt: skip

_declare("CouponReturnPolicies", "What becomes of a redeemed code when its sale is returned as a whole or cancelled.", {
    "KEEP_REDEEMED": "It stays redeemed.",
    "REACTIVATE": "It is valid again, unless it has ended.",
})  # fmt: skip

_declare("EarnedCouponPolicies", "What becomes of an earned code when its sale is returned as a whole.", {
    "KEEP": "Its customer keeps it.",
    "CANCEL": "It is cancelled, unless it is spent.",
})  # fmt: skip

_declare("StakeholderTypes", "Kinds of stakeholders that share the cost of promotions.", {
    "SUPPLIER": "A supplier.",
    "BRAND": "A brand.",
    "INTERNAL": "A department of the retailer.",
    "EXTERNAL_SUPPLIER": "A supplier other than the regular ones.",
})  # fmt: skip

_declare("CalculationLogStatuses", "Results of calculations.", {
    "CALCULATED": "Confirmed.",
    "CANCELLED": "Confirmed, and cancelled later.",
    "FAILED": "The confirm was refused.",
})  # fmt: skip

_declare_rules("LoyaltyActionTypes", "How points are granted or deducted.", LOYALTY_ACTIONS)

_declare("LoyaltyTargetScopes", "The articles that earn points.", {
    "ARTICLE": "An article.",
    "ARTICLE_GROUP": "An article group.",
    "ARTICLE_LIST": "A list of articles.",
    "ALL_ITEMS": "Everything in the basket.",
})  # fmt: skip

_declare("CampaignStatuses", "Statuses of campaigns.", {
    "DRAFT": "In preparation.",
    "SCHEDULED": "Its window has not opened yet.",
    "ACTIVE": "Its window is open.",
    "COMPLETED": "Its window has closed.",
    "CANCELLED": "Cancelled; its promotions do not run.",
})  # fmt: skip

_declare("BasketTestStatuses", "Results of tests of prices.", {
    "NEVER_RUN": "Not run since the test was last changed.",
    "PASSED": "Total and promotions are as expected.",
    "FAILED": "Total or promotions are not as expected, or the basket cannot be priced.",
})  # fmt: skip

_declare("UseCases", "Uses of promotion templates.", {
    "SEASONAL": "A season or a holiday.",
    "CLEARANCE": "Clearing stock.",
    "NEW_CUSTOMER": "Winning new customers.",
    "LOYALTY": "Rewarding regular customers.",
    "CROSS_SELL": "Selling related articles.",
    "COUPON": "Coupons.",
    "OTHER": "Something else.",
})  # fmt: skip

_declare(
    "Currencies",
    "ISO 4217 currencies in use.",
    {code: f"ISO 4217 currency {code}." for code in CURRENCY_NAMES},
    names=CURRENCY_NAMES,
)

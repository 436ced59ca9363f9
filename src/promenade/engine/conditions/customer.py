"""Conditions on who buys: the customer, their group, their loyalty account (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from promenade.engine.conditions.operators import Bounds, NumberTest, TextTest, number, reached
from promenade.engine.conditions.registry import Condition, IndexKey, condition
from promenade.engine.definition import ConditionRow
from promenade.engine.forms import TESTED, VALUES_NEEDED, Form
from promenade.engine.verdict import Met, Missed, Verdict
from promenade.engine.view import BasketView

NO_CUSTOMER = Missed("CUSTOMER_UNKNOWN")
OTHER_CUSTOMER = Missed("CUSTOMER_DIFFERS")
NO_GROUP = Missed("CUSTOMER_GROUP_UNKNOWN")
OTHER_GROUP = Missed("CUSTOMER_GROUP_DIFFERS")
NO_TIER = Missed("LOYALTY_TIER_UNKNOWN")
OTHER_TIER = Missed("LOYALTY_TIER_DIFFERS")
NO_POINTS = Missed("LOYALTY_POINTS_UNKNOWN")
OTHER_POINTS = Missed("LOYALTY_POINTS_OUT_OF_RANGE")
MET = Met()


@condition(
    "CUSTOMER",
    Form(family="customer", icon="person-placeholder", fields=TESTED, needs=VALUES_NEEDED, category="CUSTOMER_ID"),
)
@dataclass(frozen=True, slots=True)
class CustomerIs(Condition):
    """The customer's id is one of these."""

    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row, identifier=True))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        customer = view.basket.customer
        if customer is None or customer.customer_id is None:
            return NO_CUSTOMER
        return MET if self.test.holds(customer.customer_id) else OTHER_CUSTOMER

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.test.keys("customer")

    def needs(self) -> str:
        return f"customer {self.test.phrase()}"


@condition(
    "CUSTOMER_GROUP",
    Form(family="customer", icon="group", fields=TESTED, needs=VALUES_NEEDED, category="CUSTOMER_GROUP_ID", place=40),
)
@dataclass(frozen=True, slots=True)
class CustomerGroup(Condition):
    """The customer belongs to one of these groups."""

    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row, identifier=True))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        customer = view.basket.customer
        if customer is None or customer.customer_group is None:
            return NO_GROUP
        return MET if self.test.holds(customer.customer_group) else OTHER_GROUP

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.test.keys("customer_group")

    def needs(self) -> str:
        return f"customer group {self.test.phrase()}"


@condition(
    "LOYALTY_ACCOUNT",
    Form(
        family="customer",
        icon="badge",
        fields=("fieldName", *TESTED),
        also=("valueCategory",),
        needs=VALUES_NEEDED,
        begin=(("fieldName", "tier"),),
    ),
)
@dataclass(frozen=True, slots=True)
class LoyaltyAccount(Condition):
    """The loyalty account has one of these tiers, or as many points as the operator asks.

    It compares points when fieldName says ``points``, when the operator compares sizes, or when a number stands
    alone without an operator (then GTE); valueCategory LOYALTY_TIER or fieldName ``tier`` makes it compare tiers.
    """

    tier: TextTest | None
    points: NumberTest | None
    ranges: tuple[Bounds, ...]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        if not _is_about_points(row):
            return cls(TextTest.parse(row, identifier=True), None, ())
        points = NumberTest.parse(row)
        return cls(None, points, points.ranges(0))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        customer = view.basket.customer
        if self.tier is not None:
            if customer is None or customer.loyalty_tier is None:
                return NO_TIER
            return MET if self.tier.holds(customer.loyalty_tier) else OTHER_TIER
        if customer is None or customer.loyalty_points is None:
            return NO_POINTS
        return OTHER_POINTS if reached(self.ranges, customer.loyalty_points) is None else MET

    def keys(self) -> tuple[IndexKey, ...] | None:
        return None if self.tier is None else self.tier.keys("tier")

    def needs(self) -> str:
        if self.points is not None:
            return f"{self.points.phrase()} loyalty points"
        return f"loyalty tier {self.tier.phrase() if self.tier is not None else ''}"


def _is_about_points(row: ConditionRow) -> bool:
    field = (row.field_name or "").casefold()
    if field == "points":
        return True
    if field == "tier" or row.value_category == "LOYALTY_TIER":
        return False
    if row.operator in ("GTE", "LTE", "GREATER_THAN", "LESS_THAN", "BETWEEN"):
        return True
    return row.operator is None and not row.values and row.value is not None and number(row.value) is not None

"""Conditions on the whole sale: its amount, its number of pieces, a manual discount (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from promenade.engine.conditions.operators import SCALE, Bounds, Measure, NumberTest, TextTest, lowest, measure
from promenade.engine.conditions.registry import Condition, condition
from promenade.engine.definition import ConditionRow
from promenade.engine.forms import TESTED, Form, Values
from promenade.engine.thresholds import FINEST, Least, in_one_kind
from promenade.engine.verdict import Met, Missed, Verdict
from promenade.engine.view import BasketView

AMOUNT = Measure("RECEIPT_AMOUNT", False, "RECEIPT_AMOUNT_TOO_LOW", Missed("RECEIPT_AMOUNT_TOO_HIGH"))
QUANTITY = Measure("ITEM_QUANTITY", True, "QUANTITY_TOO_LOW", Missed("QUANTITY_TOO_HIGH"))

_EXPONENTS = range(FINEST + 1)  # ISO 4217 knows minor units of 0 to 4 decimals


@condition(
    "RECEIPT_AMOUNT",
    Form(
        family="basket",
        icon="receipt",
        fields=TESTED,
        also=("minAmount",),
        needs=(("values", "minAmount"),),
        values=Values.AMOUNT,
    ),
)
@dataclass(frozen=True, slots=True)
class ReceiptAmount(Condition):
    """The sale amount compares with ``value`` (else minAmount) by the operator; GTE when none is set."""

    test: NumberTest
    ranges: tuple[tuple[Bounds, ...], ...]  # by the currency's decimals

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        minimum = row.min_amount_hundredths
        test = NumberTest.parse(row, None if minimum is None else minimum * (SCALE // 100))
        return cls(test, tuple([test.ranges(exponent) for exponent in _EXPONENTS]))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        is_remaining = sale_minor != view.sale_total_minor
        return measure(self.ranges[view.exponent], sale_minor, view.sale, None, AMOUNT, is_remaining)

    def least(self, beside: tuple[Condition, ...]) -> Least | None:
        amount = lowest(self.ranges[FINEST])
        return None if amount is None or beside else Least(0, amount)

    def needs(self) -> str:
        return f"a purchase of {self.test.phrase()}"


@condition(
    "ITEM_QUANTITY",
    Form(
        family="basket",
        icon="number-sign",
        fields=TESTED,
        also=("minQuantity",),
        needs=(("values", "minQuantity"),),
        values=Values.COUNT,
    ),
)
@dataclass(frozen=True, slots=True)
class ItemQuantity(Condition):
    """The summed quantity of the sale lines compares by the operator.

    ``named``: the article-like conditions of its AND group; then only lines that one of them names count.
    """

    test: NumberTest
    ranges: tuple[Bounds, ...]
    named: tuple[Condition, ...] = ()

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        minimum = row.min_quantity_thousandths
        test = NumberTest.parse(row, None if minimum is None else minimum * (SCALE // 1000))
        return cls(test, test.ranges(3))

    def within(self, named: tuple[Condition, ...]) -> ItemQuantity:
        return ItemQuantity(self.test, self.ranges, named)

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        named = self.named
        if not named:
            return measure(self.ranges, view.sale_quantity_thousandths, view.sale, None, QUANTITY)
        lines = named[0].matching(view)
        if len(named) > 1:
            lines = tuple(sorted({place for one in named for place in one.matching(view)}))
        quantity = sum([view.lines[place].quantity_thousandths for place in lines])
        return measure(self.ranges, quantity, lines, lines, QUANTITY)

    def least(self, beside: tuple[Condition, ...]) -> Least | None:
        quantity = lowest(self.ranges)
        if quantity is None or beside != self.named or len(beside) > 1:
            return None
        if not beside:
            return Least(quantity, 0)
        lines = in_one_kind(beside[0].keys())
        # Lines with a minimum of their own are a second threshold.
        return Least(quantity, 0, *lines) if lines is not None and beside[0].least(()) is None else None

    def needs(self) -> str:
        what = f" of {' or '.join([one.needs() for one in self.named])}" if self.named else ""
        return f"{self.test.phrase()} pieces{what}"


@condition(
    "MANUAL_DISCOUNT",
    Form(family="payment", icon="sales-order", fields=TESTED, category="REASON_CODE"),
)
@dataclass(frozen=True, slots=True)
class ManualDiscount(Condition):
    """The cashier gave a manual discount; where values are set, with one of these reason codes."""

    reasons: TextTest | None

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row) if row.value or row.values else None)

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        if not view.basket.manual_discount:
            return Missed("NO_MANUAL_DISCOUNT")
        if self.reasons is None:
            return Met()
        reason = view.basket.manual_discount_reason
        if reason is None:
            return Missed("MANUAL_DISCOUNT_REASON_MISSING")
        return Met() if self.reasons.holds(reason) else Missed("MANUAL_DISCOUNT_REASON_DIFFERS")

    def needs(self) -> str:
        return "a manual discount" + (f" with reason {self.reasons.phrase()}" if self.reasons is not None else "")

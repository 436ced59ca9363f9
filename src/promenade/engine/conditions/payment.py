"""Conditions on how the sale is paid: means, card type, the first digits of the card (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from promenade.engine.conditions.operators import OPERATORS, PHRASES, TextTest, texts_of
from promenade.engine.conditions.registry import Condition, IndexKey, condition
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import TESTED, VALUES_NEEDED, Form, Values
from promenade.engine.verdict import Met, Missed, Verdict
from promenade.engine.view import BasketView

BIN_DIGITS_MAX = 8  # no more digits of a card number are ever read

NO_MEANS = Missed("PAYMENT_MEANS_UNKNOWN")
OTHER_MEANS = Missed("PAYMENT_MEANS_DIFFERS")
NO_CARD_TYPE = Missed("CARD_TYPE_UNKNOWN")
OTHER_CARD_TYPE = Missed("CARD_TYPE_DIFFERS")
NO_CARD = Missed("CARD_NUMBER_UNKNOWN")
OTHER_CARD = Missed("CARD_NUMBER_DIFFERS")
MET = Met()


@condition(
    "PAYMENT_MEANS",
    Form(family="payment", icon="wallet", fields=TESTED, needs=VALUES_NEEDED, category="PAYMENT_MEANS"),
)
@dataclass(frozen=True, slots=True)
class PaymentMeans(Condition):
    """The means of payment is one of these."""

    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row, identifier=True))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        payment = view.basket.payment
        if payment is None or payment.payment_means is None:
            return NO_MEANS
        return MET if self.test.holds(payment.payment_means) else OTHER_MEANS

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.test.keys("payment_means")

    def needs(self) -> str:
        return f"payment by {self.test.phrase()}"


@condition(
    "PAYMENT_CARD",
    Form(family="payment", icon="credit-card", fields=TESTED, needs=VALUES_NEEDED, category="CARD_TYPE"),
)
@dataclass(frozen=True, slots=True)
class PaymentCard(Condition):
    """The card is of one of these types."""

    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row, identifier=True))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        payment = view.basket.payment
        if payment is None or payment.card_type is None:
            return NO_CARD_TYPE
        return MET if self.test.holds(payment.card_type) else OTHER_CARD_TYPE

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.test.keys("card_type")

    def needs(self) -> str:
        return f"card type {self.test.phrase()}"


@condition(
    "CREDIT_CARD_BIN",
    Form(
        family="payment",
        icon="credit-card",
        fields=TESTED,
        needs=VALUES_NEEDED,
        category="BIN_PREFIX",
        values=Values.DIGITS,
    ),
)
@dataclass(frozen=True, slots=True)
class CreditCardBin(Condition):
    """The card number starts with one of these digits; a comparing operator compares as many digits."""

    operator: str
    prefixes: tuple[str, ...]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        operator = row.operator or "EQUALS"
        if operator not in OPERATORS:
            raise DefinitionError("operator", "UNKNOWN_OPERATOR", f"There is no operator {operator}.")
        texts = texts_of(row)
        if operator == "BETWEEN":
            if not row.value or not row.value_to:
                raise DefinitionError("valueTo", "VALUE_REQUIRED", "BETWEEN needs value and valueTo.")
            texts = (row.value, row.value_to)
        if not texts:
            raise DefinitionError("value", "VALUE_REQUIRED", "A CREDIT_CARD_BIN condition needs a value.")
        return cls(operator, tuple([_digits(text) for text in texts]))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        payment = view.basket.payment
        card = None if payment is None else payment.card_prefix
        if not card:
            return NO_CARD
        card = card[:BIN_DIGITS_MAX]
        if self.operator == "BETWEEN":
            low, high = self.prefixes
            return MET if _compares("GTE", card, low) and _compares("LTE", card, high) else OTHER_CARD
        for prefix in self.prefixes:
            if _compares(self.operator, card, prefix):
                return MET
        return OTHER_CARD

    def needs(self) -> str:
        if self.operator == "BETWEEN":
            return f"a card between {self.prefixes[0]} and {self.prefixes[1]}"
        return f"a card {PHRASES[self.operator] or 'starting with '}{' or '.join(self.prefixes[:5])}"


def _compares(operator: str, card: str, prefix: str) -> bool:
    if operator in ("EQUALS", "STARTS_WITH"):
        return card.startswith(prefix)
    if operator == "CONTAINS":
        return prefix in card
    start = card[: len(prefix)]
    if len(start) < len(prefix):
        return False  # digits that were not sent cannot be compared
    if operator == "GREATER_THAN":
        return start > prefix
    if operator == "LESS_THAN":
        return start < prefix
    return start >= prefix if operator == "GTE" else start <= prefix


def _digits(text: str) -> str:
    digits = text.replace(" ", "")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > BIN_DIGITS_MAX:
        message = f"The beginning of a card number must have 1 to {BIN_DIGITS_MAX} digits."
        raise DefinitionError("value", "NOT_A_CARD_PREFIX", message)
    return digits

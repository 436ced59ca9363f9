"""Conditions on the request: amount, customer, payment, channel, fields, manual discount (section 3)."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.engine.basket import Customer, Payment
from promenade.engine.conditions import condition_codes, parse_conditions
from promenade.engine.conditions.registry import Condition, condition
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.verdict import Met, Missed, Trigger
from tests.engine.given import check, holds, line, row, view

CODES = """ARTICLE ARTICLE_GROUP ARTICLE_LIST CUSTOMER_GROUP RECEIPT_AMOUNT ITEM_QUANTITY PAYMENT_MEANS PAYMENT_CARD
    CUSTOMER MANUFACTURER ADDITIONAL_FIELD CREDIT_CARD_BIN USER_DEFINED LOYALTY_ACCOUNT MANUAL_DISCOUNT CHANNEL
    TIME_WINDOW TIME_PERIOD"""


def test_every_condition_type_of_the_specification_is_registered() -> None:
    assert set(CODES.split()) <= set(condition_codes())


def test_each_code_is_defined_only_once() -> None:
    with pytest.raises(ValueError, match="CHANNEL is defined twice"):

        @condition("CHANNEL", Form(family="other", icon="multi-select"))
        class Second(Condition):
            __slots__ = ()


def test_an_unknown_type_or_connector_does_not_compile() -> None:
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((row("CHANNEL", "ONLINE", sequence=7), row("WEATHER", "sunny", sequence=9)))
    assert (refused.value.target, refused.value.code) == ("Conditions(2)/conditionType", "UNKNOWN_CONDITION_TYPE")
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((row("CHANNEL", "ONLINE", connector="XOR"),))
    assert refused.value.target == "Conditions(1)/logicalConnector"


@pytest.mark.parametrize(
    ("operator", "value", "value_to", "amount", "expected"),
    [
        (None, "50", None, "50", True),
        (None, "50", None, "49.99", False),
        ("GTE", "50.00", None, "50", True),
        ("GREATER_THAN", "50", None, "50", False),
        ("GREATER_THAN", "50", None, "50.01", True),
        ("LESS_THAN", "50", None, "49.99", True),
        ("LESS_THAN", "50", None, "50", False),
        ("LTE", "50", None, "50", True),
        ("LTE", "50", None, "50.01", False),
        ("EQUALS", "50", None, "50", True),
        ("EQUALS", "50", None, "50.01", False),
        ("BETWEEN", "50", "60", "50", True),
        ("BETWEEN", "50", "60", "60", True),
        ("BETWEEN", "50", "60", "60.01", False),
    ],
)
def test_receipt_amount_is_compared_with_the_sum_of_the_sale_lines(
    operator: str | None, value: str, value_to: str | None, amount: str, expected: bool
) -> None:
    condition = row("RECEIPT_AMOUNT", value, operator=operator, value_to=value_to)
    assert holds(condition, view(line("A", "1", amount), line("B", "-1", "30"))) is expected


def test_a_missed_receipt_amount_reports_the_current_sum_and_the_threshold() -> None:
    missed = check(row("RECEIPT_AMOUNT", "50"), view(line("A", "2", "20")))
    assert missed == Missed("RECEIPT_AMOUNT_TOO_LOW", gap_type="RECEIPT_AMOUNT", current=4000, threshold=5000)
    assert check(row("RECEIPT_AMOUNT", "50"), view(line("A", "2", "60"))) == Met(
        None, (Trigger((0,), False, 5000, 12000),)
    )
    assert check(row("RECEIPT_AMOUNT", "50", operator="LTE"), view(line("A"))) == Met()


def test_a_receipt_amount_is_compared_in_the_currency_of_the_till() -> None:
    assert holds(row("RECEIPT_AMOUNT", "49.50"), view(line("A", "1", "50"), currency="JPY"))
    assert not holds(row("RECEIPT_AMOUNT", "49.50"), view(line("A", "1", "49"), currency="JPY"))
    assert holds(row("RECEIPT_AMOUNT", "1.005"), view(line("A", "0.5", "2.01"), currency="KWD"))
    assert not holds(row("RECEIPT_AMOUNT", "1.005"), view(line("A", "0.5", "2.00"), currency="KWD"))


def test_a_receipt_amount_may_be_stored_in_min_amount() -> None:
    assert holds(row("RECEIPT_AMOUNT", min_amount_hundredths=5000), view(line("A", "1", "50")))
    assert not holds(row("RECEIPT_AMOUNT", min_amount_hundredths=5000), view(line("A", "1", "49.99")))


ANNA = Customer(customer_id="anna", customer_group="GOLD", loyalty_tier="PLATINUM", loyalty_points=500)
CARD = Payment(payment_means="CARD", card_type="VISA", card_prefix="41111122")

REQUESTS: list[tuple[ConditionRow, dict[str, Any], bool]] = [
    (row("CUSTOMER", "anna"), {"customer": ANNA}, True),
    (row("CUSTOMER", "ann"), {"customer": ANNA}, False),
    (row("CUSTOMER", values=("bob", "anna")), {"customer": ANNA}, True),
    (row("CUSTOMER", "an", operator="STARTS_WITH"), {"customer": ANNA}, True),
    (row("CUSTOMER", "10"), {"customer": Customer(customer_id="10.0")}, False),  # identifiers are text
    (row("CUSTOMER_GROUP", "GOLD"), {"customer": ANNA}, True),
    (row("CUSTOMER_GROUP", values=("SILVER", "BRONZE")), {"customer": ANNA}, False),
    (row("LOYALTY_ACCOUNT", "PLATINUM"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", values=("GOLD", "PLATINUM"), operator="EQUALS"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", "GOLD"), {"customer": ANNA}, False),
    (row("LOYALTY_ACCOUNT", "500"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", "501"), {"customer": ANNA}, False),
    (row("LOYALTY_ACCOUNT", "500", operator="LTE"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", "500", operator="LESS_THAN"), {"customer": ANNA}, False),
    (row("LOYALTY_ACCOUNT", "400", operator="BETWEEN", value_to="500"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", "500", field_name="points", operator="EQUALS"), {"customer": ANNA}, True),
    (row("LOYALTY_ACCOUNT", "3", value_category="LOYALTY_TIER"), {"customer": Customer(loyalty_tier="3")}, True),
    (row("PAYMENT_MEANS", "CARD"), {"payment": CARD}, True),
    (row("PAYMENT_MEANS", "CASH"), {"payment": CARD}, False),
    (row("PAYMENT_CARD", values=("VISA", "AMEX")), {"payment": CARD}, True),
    (row("PAYMENT_CARD", "AMEX"), {"payment": CARD}, False),
    (row("CREDIT_CARD_BIN", "4111"), {"payment": CARD}, True),
    (row("CREDIT_CARD_BIN", "4111 1122"), {"payment": CARD}, True),
    (row("CREDIT_CARD_BIN", "4112"), {"payment": CARD}, False),
    (row("CREDIT_CARD_BIN", "111"), {"payment": CARD}, False),
    (row("CREDIT_CARD_BIN", values=("55", "41")), {"payment": CARD}, True),
    (row("CREDIT_CARD_BIN", "400000", operator="BETWEEN", value_to="411111"), {"payment": CARD}, True),
    (row("CREDIT_CARD_BIN", "400000", operator="BETWEEN", value_to="411110"), {"payment": CARD}, False),
    (row("CREDIT_CARD_BIN", "41111122"), {"payment": Payment(card_prefix="411111")}, False),
    (row("CREDIT_CARD_BIN", "41111122", operator="LTE"), {"payment": Payment(card_prefix="411111")}, False),
    (row("CHANNEL", "online"), {"channel": "ONLINE"}, True),
    (row("CHANNEL", values=("Mobile", "OnLine")), {"channel": "online"}, True),
    (row("CHANNEL", "ONLINE"), {"channel": "IN_STORE"}, False),
    (row("USER_DEFINED", "yes", field_name="staff"), {"fields": (("staff", "yes"),)}, True),
    (row("USER_DEFINED", "yes", field_name="staff"), {"fields": (("staff", "no"), ("staff", "yes"))}, True),
    (row("USER_DEFINED", "yes", field_name="staff"), {"fields": (("other", "yes"),)}, False),
    (row("MANUAL_DISCOUNT"), {"manual": True}, True),
    (row("MANUAL_DISCOUNT"), {"manual": False, "reason": "DAMAGED"}, False),
    (row("MANUAL_DISCOUNT", "DAMAGED"), {"manual": True, "reason": "DAMAGED"}, True),
    (row("MANUAL_DISCOUNT", values=("DAMAGED", "OLD")), {"manual": True, "reason": "GOODWILL"}, False),
    (row("MANUAL_DISCOUNT", "DAMAGED"), {"manual": True}, False),
]


@pytest.mark.parametrize(("condition", "request_", "expected"), REQUESTS)
def test_conditions_on_the_customer_and_other_request_data_hold_as_specified(
    condition: ConditionRow, request_: dict[str, Any], expected: bool
) -> None:
    assert holds(condition, view(line(), **request_)) is expected


SILENT = view(line())
EMPTY = view(line(), customer=Customer(), payment=Payment())


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (row("CUSTOMER", "anna"), "CUSTOMER_UNKNOWN"),
        (row("CUSTOMER_GROUP", "GOLD"), "CUSTOMER_GROUP_UNKNOWN"),
        (row("LOYALTY_ACCOUNT", "GOLD"), "LOYALTY_TIER_UNKNOWN"),
        (row("LOYALTY_ACCOUNT", "5"), "LOYALTY_POINTS_UNKNOWN"),
        (row("PAYMENT_MEANS", "CASH"), "PAYMENT_MEANS_UNKNOWN"),
        (row("PAYMENT_CARD", "VISA"), "CARD_TYPE_UNKNOWN"),
        (row("CREDIT_CARD_BIN", "4"), "CARD_NUMBER_UNKNOWN"),
        (row("CHANNEL", "ONLINE"), "CHANNEL_UNKNOWN"),
        (row("USER_DEFINED", "x", field_name="f"), "FIELD_MISSING"),
        (row("MANUAL_DISCOUNT"), "NO_MANUAL_DISCOUNT"),
    ],
)
def test_missing_data_is_reported_as_a_reason_and_never_raises(condition: ConditionRow, code: str) -> None:
    for seen in (SILENT, EMPTY):
        missed = check(condition, seen)
        assert isinstance(missed, Missed)
        assert missed.code == code


@pytest.mark.parametrize("value", ["411111111", "4111x", "٤١١١", "-411"])
def test_a_card_prefix_is_at_most_eight_digits(value: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((row("CREDIT_CARD_BIN", value),))
    assert (refused.value.target, refused.value.code) == ("Conditions(1)/value", "NOT_A_CARD_PREFIX")


def test_only_the_first_eight_digits_of_a_card_are_read() -> None:
    seen = view(line(), payment=Payment(card_prefix="4111111155556666"))
    assert holds(row("CREDIT_CARD_BIN", "41111111"), seen)
    assert not holds(row("CREDIT_CARD_BIN", "5555", operator="CONTAINS"), seen)
    (group,) = parse_conditions((row("CREDIT_CARD_BIN", "55"),))
    verdict = check(row("CREDIT_CARD_BIN", "55"), seen)
    assert isinstance(verdict, Missed)
    assert "4111" not in str(group[0][1].explain(verdict, seen))

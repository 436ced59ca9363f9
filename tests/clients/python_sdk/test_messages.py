"""The messages of the SDK are those that the service publishes, and numbers stay exactly what they are."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promenade.web.services.pos_openapi import render_pos_openapi
from promenade_client import Article, answers, confirmation, operations, requests, wire
from promenade_client.requests import BasketItem
from tests.clients.python_sdk.conftest import Counter, basket
from tests.kit.examples import examples

PUBLISHED = json.loads(render_pos_openapi())
SCHEMAS = PUBLISHED["components"]["schemas"]
LEFT_OUT = {  # what a till must not send, and what the service ignores
    ("EvaluateHeader", "transactionCounter"),
    ("BasketItem", "articleGroup"),
    ("ConfirmBasketItem", "articleGroup"),
    ("ConfirmHeader", "headerReference"),
}
MESSAGES = [
    kind
    for module in (requests, answers)
    for _, kind in inspect.getmembers(module, dataclasses.is_dataclass)
    if kind.__module__ == module.__name__
]


def camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def published(name: str) -> tuple[str, dict[str, Any]]:
    found = f"{name}V2" if f"{name}V2" in SCHEMAS else name
    return found, SCHEMAS[found]


def python_type(schema: dict[str, Any], is_request: bool) -> str:
    """Return the type that the SDK has for a schema, as it is written, without `| None`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return python_type(SCHEMAS[name], is_request) if "oneOf" in SCHEMAS[name] else str(name.removesuffix("V2"))
    options = [one for one in schema.get("anyOf", schema.get("oneOf", [schema])) if one.get("type") != "null"]
    if any(one.get("type") == "number" for one in options):
        return "Decimal | int" if is_request else "Decimal"
    if "anyOf" in schema:
        return python_type({"format": schema.get("format"), **options[0]}, is_request)
    if schema["type"] == "array":
        return f"{'Sequence' if is_request else 'list'}[{python_type(schema['items'], is_request)}]"
    if schema.get("format") == "date-time":
        return "datetime"
    return {"string": "str", "integer": "int", "boolean": "bool", "object": "Mapping[str, object]"}[schema["type"]]


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_a_message_has_the_published_fields_with_their_types(kind: Any) -> None:
    name, schema = published(kind.__name__)
    is_request = kind.__module__ == requests.__name__
    expected = {}
    for field, described in schema["properties"].items():
        if (name, field) not in LEFT_OUT:
            may_be_none = field not in schema["required"] or {"type": "null"} in described.get("anyOf", [])
            expected[field] = python_type(described, is_request) + (" | None" if may_be_none else "")
    assert {camel(field.name): field.type for field in dataclasses.fields(kind)} == expected
    required = {camel(field.name) for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING}
    assert required == {field for field in schema["required"] if (name, field) not in LEFT_OUT}


def test_an_article_has_the_published_fields() -> None:
    assert set(get_type_hints(Article)) == set(SCHEMAS["Article"]["properties"])


def test_the_sdk_offers_what_the_service_offers_to_tills() -> None:
    """All but what is for operators, and batches of articles, which are not a till's work."""
    sent = re.findall(r'"/pos(/[^"]+)"', inspect.getsource(operations))
    offered = {re.sub(r"\{\w+\}", "{}", path) for path in PUBLISHED["paths"]}
    assert {re.sub(r"\{[^}]+\}", "{}", path) for path in sent} == offered - {
        "/v2/transactions/{}/{}/side-effects/requeue",
        "/articles/import-batch",
    }


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12)


@given(NUMBERS)
@settings(max_examples=examples(100))
def test_a_number_is_sent_and_read_as_it_is(number: Decimal) -> None:
    text = wire.encode({"value": number}).decode()
    assert text == f'{{"value":{number:f}}}'
    assert str(wire.parse(text.encode())["value"]) == str(number)  # type: ignore[index]
    assert wire.read(Decimal, wire.parse(f"{number:f}".encode())) == number


@pytest.mark.parametrize("wrong", [0.1, float("nan"), {"unit": 1.5}, [2.0]])
def test_a_float_is_not_sent(wrong: object) -> None:
    with pytest.raises(TypeError, match="use Decimal"):
        wire.encode({"value": wrong})


def test_what_no_json_number_can_say_is_not_sent() -> None:
    for wrong in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match="no amount"):
            wire.encode(Decimal(wrong))


def test_times_are_sent_in_utc_and_need_a_zone() -> None:
    moment = datetime(2026, 5, 4, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    assert wire.encode(moment) == b'"2026-05-04T10:30:00Z"'
    assert wire.read(datetime, "2026-05-04T10:30:00.000Z") == moment.astimezone(UTC)
    with pytest.raises(ValueError, match="no time zone"):
        wire.encode(moment.replace(tzinfo=None))


def test_what_is_none_is_left_out_and_what_is_new_is_ignored() -> None:
    assert wire.encode(requests.CustomerInfo(customer_id="C")) == b'{"customerId":"C"}'
    money = wire.read(answers.Money, {"value": 5, "currency": "JPY", "since": "a later version"})
    assert money == answers.Money(Decimal(5), "JPY")
    with pytest.raises(wire.NotOfThisInterface):
        wire.read(answers.Money, {"value": 5})
    with pytest.raises(wire.NotOfThisInterface):
        wire.read(answers.Money, {"value": True, "currency": "JPY"})


CENTS = st.integers(min_value=0, max_value=10**9)


@given(st.lists(st.tuples(CENTS, st.integers(min_value=1, max_value=99)), min_size=1, max_size=5))
@settings(max_examples=examples(40))
def test_amounts_are_exact_to_the_cent(counter: Counter, lines: list[tuple[int, int]]) -> None:
    items = [
        BasketItem(article_number="B-1", quantity=quantity, unit_price=Decimal(cents).scaleb(-2))
        for cents, quantity in lines
    ]
    with counter.till() as till:
        priced = till.simulate(basket(items=items))
    totals = [line.line_total for line in priced.line_items]
    assert [money.value for money in totals] == [Decimal(cents * quantity).scaleb(-2) for cents, quantity in lines]
    assert all(money.value.as_tuple().exponent == -2 for money in totals)
    assert priced.totals.grand_total.value == sum(money.value for money in totals)


def test_a_confirmation_names_what_was_granted(counter: Counter) -> None:
    with counter.till() as till:
        priced = till.evaluate(basket())
        simulated = till.simulate(basket())
    (discount,) = priced.line_items[0].discounts
    assert (discount.total_discount.value, discount.discount_value) == (Decimal("1.00"), Decimal(10))
    request = confirmation(priced, receipt_id="R-1")
    assert request.header.transaction_counter == 1
    assert request.header.receipt_id == "R-1"
    assert [one.promotion_id for one in request.applied_promotions] == [discount.promotion_id]
    assert confirmation(priced, withdrawn=[discount.promotion_id]).applied_promotions == []
    with pytest.raises(ValueError, match="simulation"):
        confirmation(simulated)

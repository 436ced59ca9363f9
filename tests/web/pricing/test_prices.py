"""`POST /pos/v2/prices` as its callers see it: the answer, byte by byte, and everything that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import Shop, basket, fault, faults


def asked(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return basket(items=list(items), **fields)


BEER: dict[str, Any] = {"articleNumber": "A-1", "unitPrice": "5.00"}


def test_the_answer_has_a_price_for_each_article_in_order(shop: Shop) -> None:
    for address in ("/pos/v2/prices", "/pos/prices", "/pos/PosService.prices"):
        answer = shop.call(address, asked(BEER, {"articleNumber": "NO-SUCH"}, BEER | {"regularUnitPrice": 6}))
        assert answer.status_code == 200, answer.text
        assert answer.headers["odata-version"] == "4.0"
        found = answer.json()
        assert (found["posGroupCode"], found["currency"], found["minorVersion"]) == ("BERLIN", "EUR", 8)
        first, second, third = found["prices"]
        assert (first["articleNumber"], first["status"], first["unit"]) == ("A-1", "PRICED", "PCE")
        assert first["unitPrice"] == {"value": 5.0, "currency": "EUR"}
        assert second == {"articleNumber": "NO-SUCH", "status": "UNKNOWN_ARTICLE"}
        assert third["strikePrice"] == {"value": 6.0, "currency": "EUR"}
        off = sum(one["discount"]["value"] for one in first["promotions"])
        assert first["price"]["value"] == pytest.approx(5 - off)


def test_numbers_are_text_on_request(shop: Shop) -> None:
    accept = {"accept": "application/json;IEEE754Compatible=true"}
    found = shop.call("/pos/v2/prices", asked(BEER), **accept).json()
    assert found["prices"][0]["unitPrice"] == {"value": "5.00", "currency": "EUR"}


@pytest.mark.parametrize(
    ("body", "code", "target"),
    [
        (asked(), "EMPTY", "items"),
        (asked(*[BEER] * 1_001), "TOO_LONG", "items"),
        (asked({}), "REQUIRED", "items[0].articleNumber"),
        (asked(BEER, {"articleNumber": ""}), "EMPTY", "items[1].articleNumber"),
        (asked(BEER | {"unitPrice": -1}), "NEGATIVE", "items[0].unitPrice"),
        (asked(BEER | {"unitPrice": "sNaN"}), "NOT_A_NUMBER", "items[0].unitPrice"),
        (asked(BEER | {"regularUnitPrice": 1.005}), "TOO_MANY_DECIMALS", "items[0].regularUnitPrice"),
        (asked(BEER, posGroupCode=None), "POS_GROUP_REQUIRED", "posGroupId"),
        (asked(BEER, timestamp="1950-01-01T00:00:00Z"), "OUT_OF_RANGE", "timestamp"),
        (asked(BEER, customer={"loyalty": {"points": -1}}), "OUT_OF_RANGE", "customer.loyalty.points"),
    ],
)
def test_what_cannot_be_priced_is_refused_at_its_field(
    shop: Shop, body: dict[str, Any], code: str, target: str
) -> None:
    answer = shop.call("/pos/v2/prices", body)
    assert answer.status_code == 400
    assert faults(answer) == {(code, target)}


def test_an_unknown_pos_group_and_unknown_fields_are_refused(shop: Shop) -> None:
    answer = shop.call("/pos/v2/prices", asked(BEER, posGroupCode="NOWHERE"))
    assert fault(answer) == (400, "POS_GROUP_NOT_FOUND", "posGroupCode")
    odd = asked(BEER | {"unitprice": 3}, postGroupCode="X")
    assert shop.call("/pos/v2/prices", odd).status_code == 200
    strict = shop.call("/pos/v2/prices?strict=true", odd)
    assert strict.status_code == 400
    assert {target for _, target in faults(strict)} == {"items[0].unitprice", "postGroupCode"}


def test_a_client_without_the_scope_gets_no_prices(shop: Shop) -> None:
    assert shop.call("/pos/v2/prices", asked(BEER), client="planner").status_code == 403

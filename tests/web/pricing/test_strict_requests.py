"""`?strict=true` on evaluate and simulate: unknown fields are refused by name; without it they are ignored."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.errors import Invalid
from promenade.web.pricing.decode import decode_evaluate
from tests.web.conftest import Shop, basket, faults, item

TYPOS: list[tuple[dict[str, Any], str, str]] = [
    (basket(cupons=[]), "cupons", "coupons"),
    (basket(items=[item(), item(articlegroupid="x")]), "items[1].articlegroupid", "articleGroupId"),
    (basket(customer={"customerID": "C1"}), "customer.customerID", "customerId"),
    (basket(customer={"loyalty": {"point": 1}}), "customer.loyalty.point", "points"),
    (basket(coupons=[{"code": "X", "kode": "X"}]), "coupons[0].kode", "code"),
    (basket(items=[item(additionalFields=[{"key": "a", "value": "b", "valeu": "c"}])]),
     "items[0].additionalFields[0].valeu", "value"),
    (basket() | {"coupons": []}, "coupons", "request"),
]  # fmt: skip


@pytest.mark.parametrize("operation", ["evaluate", "simulate"])
@pytest.mark.parametrize(("body", "target", "nearest"), TYPOS)
def test_an_unknown_field_is_refused_with_the_nearest_known_one(
    shop: Shop, operation: str, body: dict[str, Any], target: str, nearest: str
) -> None:
    address = f"/pos/v2/{operation}"
    answer = shop.call(f"{address}?strict=true", body)
    assert answer.status_code == 400
    assert faults(answer) == {("UNKNOWN_FIELD", target)}
    assert answer.json()["error"]["message"] == f"`{target}` is not a field; the nearest one is `{nearest}`."
    for tolerant in (address, f"{address}?strict=false"):
        assert shop.call(tolerant, body).status_code == 200


def test_a_mistyped_required_field_is_told_with_the_missing_one(shop: Shop) -> None:
    line = {"articelNumber": "A-1", "quantity": 1, "unitPrice": 1}
    found = faults(shop.call("/pos/v2/simulate?strict=true", basket(items=[line])))
    assert found == {("REQUIRED", "items[0].articleNumber"), ("UNKNOWN_FIELD", "items[0].articelNumber")}


def test_a_request_without_typos_is_priced_strictly(shop: Shop) -> None:
    body = basket(**{"@odata.type": "#x"}, userDefinedFields=[{"key": "anything", "value": "x"}])
    assert shop.call("/pos/v2/evaluate?strict=true&other=1", body).status_code == 200
    refused = shop.call("/pos/v2/evaluate?strict=yes", body)
    assert (refused.status_code, refused.json()["error"]["target"]) == (400, "strict")


def test_many_long_unknown_names_are_cheap_and_few_are_told() -> None:
    long = ", ".join(f'"{"x" * 1000}{number}": 1' for number in range(2000))
    body = f'{{"request": {{"posGroupCode": "B", {long}, "items": [{{}}]}}}}'.encode()
    with pytest.raises(Invalid) as caught:
        decode_evaluate(body, is_simulation=True, is_strict=True)
    assert len(caught.value.details) == 50
    assert max(len(one.message) for one in caught.value.details) < 300

"""Cancel over HTTP: its addresses, its answer, and what it refuses (specification, POS)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from promenade.workflows.sales.cancel import CancelResponse
from tests.web.conftest import Shop, basket, fault, faults


def sold(shop: Shop, transaction: str, **changes: Any) -> dict[str, Any]:
    """Price and confirm; return the body of a cancel."""
    priced = shop.call("/pos/v2/evaluate", basket(header={"transactionId": transaction}, **changes)).json()
    granted = [{"promotionId": one["promotionId"]} for one in priced["totals"]["savingsSummary"]["promotionBreakdown"]]
    header = priced["meta"]["header"]
    request = {"header": header, "transactionId": transaction, "appliedPromotions": granted}
    assert shop.call("/pos/v2/confirm", {"request": request}).status_code == 200
    return {"transactionId": transaction, "transactionCounter": header["transactionCounter"]}


@pytest.mark.parametrize("address", ["/pos/v2/cancel", "/pos/cancel", "/pos/PosService.cancel"])
def test_a_sale_is_cancelled_at_each_address_once(shop: Shop, address: str) -> None:
    body = sold(shop, f"C{address.replace('/', '-')}")
    first = shop.call(address, {**body, "reason": "void"})
    assert first.status_code == 200, first.text
    assert first.headers["odata-version"] == "4.0"
    assert first.json()["cancelled"] is True
    assert set(first.json()) == {one.encode_name for one in msgspec.structs.fields(CancelResponse)}
    assert shop.call("/pos/v2/cancel", body).content == first.content
    logs = shop.call(
        f"/admin/CalculationLogs?$filter=transactionId eq '{body['transactionId']}'", client="administrator"
    ).json()["value"]
    assert [(one["status"], one["message"]) for one in logs] == [("CANCELLED", "void")]
    effects = shop.call(f"/pos/v2/transactions/{body['transactionId']}/1/side-effects").json()
    assert effects["status"] == "CANCELLED"


@pytest.mark.parametrize(
    ("name", "body", "code", "target"),
    [
        ("no transaction", {"transactionCounter": 1}, "REQUIRED", "transactionId"),
        ("empty transaction", {"transactionId": "", "transactionCounter": 1}, "EMPTY", "transactionId"),
        ("no counter", {"transactionId": "T"}, "REQUIRED", "transactionCounter"),
        ("counter zero", {"transactionId": "T", "transactionCounter": 0}, "OUT_OF_RANGE", "transactionCounter"),
        ("counter as text", {"transactionId": "T", "transactionCounter": "1"}, "WRONG_TYPE", "transactionCounter"),
        ("long reason", {"transactionId": "T", "transactionCounter": 1, "reason": "x" * 256}, "TOO_LONG", "reason"),
        ("no object", [], None, None),
        ("an envelope", {"request": {"transactionId": "T", "transactionCounter": 1}}, "REQUIRED", "transactionId"),
    ],
)
def test_a_wrong_body_is_refused_by_the_name_of_the_field(
    shop: Shop, name: str, body: object, code: str | None, target: str | None
) -> None:
    answer = shop.call("/pos/v2/cancel", json.dumps(body).encode())
    assert answer.status_code == 400, (name, answer.text)
    told = fault(answer)
    assert told[1:] == (code, target) or (code, target) in faults(answer) or told[1:] == ("VALIDATION_FAILED", None)


def test_only_tills_may_cancel(shop: Shop) -> None:
    body = {"transactionId": "T", "transactionCounter": 1}
    assert shop.call("/pos/v2/cancel", body, client="planner").status_code == 403
    assert fault(shop.call("/pos/v2/cancel", body)) == (404, "ITERATION_NOT_FOUND", "transactionCounter")

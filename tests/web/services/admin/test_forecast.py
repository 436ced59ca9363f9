"""The forecast of a promotion over HTTP: requested, read and refused."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from tests.web.services.admin.conftest import NOBODY, Admin, draft, fault

TODAY = datetime.now(UTC).date()
PERIOD = {"dateFrom": str(TODAY - timedelta(days=1)), "dateTo": str(TODAY + timedelta(days=1))}
WHOLE = "$expand=amounts,budgets,displacements"
PATIENCE_SECONDS = 200


def a_shop(admin: Admin) -> tuple[str, str]:
    """Create a POS group for the test; return its ID and code."""
    code = admin.unique("F")
    made = admin.make("PosGroups", code=code, name="Forecast", currency="EUR", IsActiveEntity=True)
    return str(made["ID"]), code


def a_plan(admin: Admin, shop_id: str) -> str:
    """Create a promotion that is not active: 25 % off wine in that shop."""
    promotion_id = str(admin.promotion(name="Wine week", posGroups=[{"posGroup_ID": shop_id}])["ID"])
    action: dict[str, Any] = {"actionType": "ARTICLE", "targetArticleNumber": "wine", "discountValue": 25}
    admin.make("DiscountActions", promotion_ID=promotion_id, discountType="PERCENTAGE", **action)
    return promotion_id


def sell(admin: Admin, code: str, quantity: int) -> None:
    """Sell ``quantity`` bottles of wine at 8.00."""
    items = [{"articleNumber": "wine", "quantity": quantity, "unitPrice": 8.00}]
    asked = admin.post("/pos/v2/evaluate", {"request": {"posGroupCode": code, "items": items}}, client="till")
    assert asked.status_code == 200, asked.text
    header = asked.json()["meta"]["header"]
    confirm = {"header": header, "transactionId": header["transactionId"], "appliedPromotions": []}
    confirmed = admin.post("/pos/v2/confirm", {"request": confirm}, client="till")
    assert confirmed.status_code == 200, confirmed.text


def forecast(admin: Admin, promotion: str, body: Any = None, **how: Any) -> httpx2.Response:
    return admin.post(f"{promotion}/AdminService.forecast", PERIOD if body is None else body, **how)


def test_a_short_forecast_is_returned_at_once(admin: Admin) -> None:
    shop_id, code = a_shop(admin)
    promotion_id = a_plan(admin, shop_id)
    for quantity in (1, 3):
        sell(admin, code, quantity)
    answer = forecast(admin, f"Promotions({promotion_id})")
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (told["status"], told["progress"], told["basketsAffected"]) == ("COMPLETED", 100, 2)
    assert told["basketsReplayed"] == told["basketsTotal"] >= 2
    assert told["promotion_ID"] == promotion_id
    assert told["message"].startswith("The promotion would have applied to 2 of ")
    assert answer.headers["location"].endswith(f"/admin/PromotionForecasts({told['ID']})")
    whole = admin.read(f"PromotionForecasts({told['ID']})?{WHOLE}")
    (amounts,) = whole["amounts"]
    assert (amounts["currency"], amounts["discount"], amounts["discountChange"]) == ("EUR", 8.00, 8.00)
    assert (whole["budgets"], whole["displacements"]) == ([], [])
    assert admin.get(f"PromotionForecasts({told['ID']})", client="stranger").status_code == 404
    assert admin.get(f"PromotionForecasts({told['ID']})", client="treasurer").status_code == 200


def test_the_second_forecast_of_a_change_set_runs_in_the_background_and_agrees(admin: Admin) -> None:
    shop_id, code = a_shop(admin)
    promotion_id = a_plan(admin, shop_id)
    sell(admin, code, 2)
    other = {**PERIOD, "dateFrom": str(TODAY - timedelta(days=2))}
    requests = [
        {
            "id": str(number),
            "atomicityGroup": "both",
            "method": "POST",
            "url": f"Promotions({promotion_id})/AdminService.forecast",
            "headers": {"content-type": "application/json"},
            "body": body,
        }
        for number, body in enumerate((PERIOD, other))
    ]
    answers = admin.post("$batch", {"requests": requests}).json()["responses"]
    assert [one["status"] for one in answers] == [201, 201], answers
    first, second = (one["body"] for one in answers)
    assert (first["status"], second["status"]) == ("COMPLETED", "QUEUED")
    ends = time.monotonic() + PATIENCE_SECONDS
    while second["status"] in {"QUEUED", "RUNNING"} and time.monotonic() < ends:
        second = admin.read(f"PromotionForecasts({second['ID']})")
    assert (second["status"], second["basketsAffected"]) == ("COMPLETED", 1), second
    first, second = (admin.read(f"PromotionForecasts({one['ID']})?{WHOLE}") for one in (first, second))
    shown = [{name: value for name, value in one["amounts"][0].items() if "ID" not in name} for one in (first, second)]
    assert {**shown[0], "modifiedAt": ""}["discount"] == shown[1]["discount"] == 4.00
    assert second["startedAt"] <= second["completedAt"]


def test_an_invalid_period_is_refused(admin: Admin) -> None:
    promotion_id = a_plan(admin, a_shop(admin)[0])
    address = f"Promotions({promotion_id})"
    for body, code, target in (
        ({"dateFrom": "2026-02-02", "dateTo": "2026-02-01"}, "PERIOD_EMPTY", "dateTo"),
        ({"dateFrom": "2025-01-01", "dateTo": "2026-01-02"}, "PERIOD_TOO_LONG", "dateTo"),
        ({"dateFrom": "0001-01-01", "dateTo": "0001-01-01"}, "OUT_OF_RANGE", "dateFrom"),
        ({"dateFrom": "9999-12-31", "dateTo": "9999-12-31"}, "OUT_OF_RANGE", "dateFrom"),
    ):
        assert fault(forecast(admin, address, body)) == (400, code, target)
    assert fault(forecast(admin, address, {"dateFrom": "2026-02-02"}))[0] == 400
    assert fault(forecast(admin, address, {"dateFrom": "2026-02-30", "dateTo": "2026-03-01"}))[0] == 400
    leap = forecast(admin, address, {"dateFrom": "2024-01-01", "dateTo": "2024-12-31"})
    assert leap.status_code == 201, leap.text
    assert leap.json()["message"] == "No sale was confirmed in this period."


def test_a_draft_or_a_missing_promotion_has_no_forecast(admin: Admin) -> None:
    made = admin.make("Promotions", name="Not yet")
    assert fault(forecast(admin, draft("Promotions", made)))[0] == 409
    assert fault(forecast(admin, f"Promotions({NOBODY})"))[0] == 404
    promotion_id = a_plan(admin, a_shop(admin)[0])
    assert forecast(admin, f"Promotions({promotion_id})", client="stranger").status_code == 404
    assert forecast(admin, f"Promotions({promotion_id})", client="treasurer").status_code == 403
    assert forecast(admin, f"Promotions({promotion_id})", client="promoter").status_code == 201


def test_forecasts_cannot_be_written_directly(admin: Admin) -> None:
    promotion_id = a_plan(admin, a_shop(admin)[0])
    made = forecast(admin, f"Promotions({promotion_id})").json()
    assert admin.post("PromotionForecasts", {"promotion_ID": promotion_id}).status_code == 405
    assert admin.patch(f"PromotionForecasts({made['ID']})", {"progress": 1}).status_code == 405
    assert admin.get(f"/api/v1/PromotionForecasts({made['ID']})", client="integrator").status_code == 404
    listed = admin.read(f"PromotionForecasts?$filter=promotion_ID eq {promotion_id}&$orderby=createdAt desc")["value"]
    assert [one["ID"] for one in listed] == [made["ID"]]

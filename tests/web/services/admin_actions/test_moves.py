"""Actions on promotions, campaigns, coupon types and budgets, and their effect on the next evaluation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.web.services.admin.conftest import NOBODY, Admin, active, draft, fault


def act(admin: Admin, set_name: str, row: Any, verb: str, body: Any = None, **how: Any) -> Any:
    """Call an action on a row and return the row."""
    answer = admin.post(f"{active(set_name, row)}/AdminService.{verb}", body, **how)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(admin: Admin, set_name: str, row: Any, verb: str, body: Any = None, **how: Any) -> Any:
    return fault(admin.post(f"{active(set_name, row)}/AdminService.{verb}", body, **how))


def ten_off(admin: Admin, article: str, **values: Any) -> dict[str, Any]:
    """Create a promotion in status DRAFT that gives 10 % off an article."""
    made = admin.promotion(currency="EUR", **values)
    api = {"client": "integrator"}
    condition = {"promotion_ID": made["ID"], "conditionType": "ARTICLE", "articleNumber": article}
    action = {
        "promotion_ID": made["ID"], "actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10,
        "targetArticleNumber": article,
    }  # fmt: skip
    assert admin.post("/api/v1/Conditions", condition, **api).status_code == 201
    answer = admin.post("/api/v1/DiscountActions", action, **api)
    assert answer.status_code == 201, answer.text
    return made


def discount(admin: Admin, group: str, article: str) -> float:
    """Return the discount on two of an article at 5.00."""
    items = [{"articleNumber": article, "quantity": 2, "unitPrice": 5.00}]
    body = {"request": {"posGroupId": group, "items": items}}
    answer = admin.post("/pos/v2/evaluate", body, client="till")
    assert answer.status_code == 200, answer.text
    return float(answer.json()["totals"]["discount"]["value"])


def test_a_status_change_affects_the_next_evaluation(admin: Admin) -> None:
    article, group = admin.unique("A"), admin.pos_group()
    promotion = ten_off(admin, article)
    assert discount(admin, group, article) == 0
    assert act(admin, "Promotions", promotion, "activate")["status"] == "ACTIVE"
    assert discount(admin, group, article) == 1
    assert act(admin, "Promotions", promotion, "deactivate")["status"] == "INACTIVE"
    assert discount(admin, group, article) == 0


def test_a_promotion_is_approved_before_it_runs(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"))
    moves = {
        "submit": "PENDING_APPROVAL",
        "approve": "APPROVED",
        "activate": "ACTIVE",
        "deactivate": "INACTIVE",
        "archive": "ARCHIVED",
    }
    for verb, status in moves.items():
        moved = act(admin, "Promotions", promotion, verb, client="promoter")
        assert (moved["status"], moved["IsActiveEntity"]) == (status, True)
    assert refused(admin, "Promotions", promotion, "approve")[:2] == (409, "INVALID_TRANSITION")
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{promotion['ID']}'&$orderby=timestamp")["value"]
    said = [row["action"] for row in trail]
    assert said == ["CREATE", "SUBMIT", "APPROVE", "ACTIVATE", "DEACTIVATE", "ARCHIVE"]


def test_all_reasons_against_activation_are_reported_at_once(admin: Admin) -> None:
    promotion = admin.promotion(validTo="2026-01-01T00:00:00Z")
    for value in ("much", "more"):
        condition = {"promotion_ID": promotion["ID"], "conditionType": "RECEIPT_AMOUNT", "value": value}
        assert admin.post("/api/v1/Conditions", condition, client="integrator").status_code == 201
    answer = admin.post(f"{active('Promotions', promotion)}/AdminService.activate")
    assert answer.status_code == 400, answer.text
    details = {(one["code"], one["target"]) for one in answer.json()["error"]["details"]}
    assert {target for _, target in details} == {
        "in/DiscountActions",
        "in/validTo",
        "in/Conditions(1)/value",
        "in/Conditions(2)/value",
    }
    assert {"ACTION_MISSING", "VALIDITY_OVER"} <= {code for code, _ in details}
    assert admin.read(active("Promotions", promotion))["status"] == "DRAFT"


def test_a_promotion_activated_too_early_gets_the_missing_parts(admin: Admin) -> None:
    promotion = admin.promotion(status="ACTIVE")
    assert refused(admin, "Promotions", promotion, "activate") == (400, "ACTION_MISSING", "in/DiscountActions")


def test_a_pilot_needs_a_configuration(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"))
    assert refused(admin, "Promotions", promotion, "startPilot")[:2] == (400, "PILOT_CONFIG_MISSING")
    now = datetime.now(UTC)
    window: dict[str, Any] = {
        "pilotStartAt": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "pilotEndAt": (now + timedelta(days=3)).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    admin.make("PromotionPilotConfigs", promotion_ID=promotion["ID"], IsActiveEntity=True, **window)
    assert act(admin, "Promotions", promotion, "startPilot")["status"] == "PILOT"
    assert refused(admin, "Promotions", promotion, "startPilot")[:2] == (409, "INVALID_TRANSITION")
    assert act(admin, "Promotions", promotion, "endPilot")["status"] == "INACTIVE"
    act(admin, "Promotions", promotion, "startPilot")
    assert act(admin, "Promotions", promotion, "promoteToActive")["status"] == "ACTIVE"


def test_a_locked_campaign_refuses_everything_but_being_unlocked(admin: Admin) -> None:
    campaign = admin.campaign()
    promotion, other = ten_off(admin, admin.unique("A")), admin.promotion()
    act(admin, "Campaigns", campaign, "addPromotions", {"promotionIds": [promotion["ID"]]})
    assert admin.read(active("Promotions", promotion))["campaign_ID"] == campaign["ID"]
    for _ in range(2):
        assert act(admin, "Campaigns", campaign, "lock")["locked"] is True
    assert refused(admin, "Campaigns", campaign, "addPromotions", {"promotionIds": [other["ID"]]})[:2] == (
        409,
        "LOCKED",
    )
    gone = {"promotionId": promotion["ID"]}
    assert refused(admin, "Campaigns", campaign, "removePromotion", gone)[:2] == (409, "LOCKED")
    for verb in ("activate", "deactivate", "submit", "archive", "startPilot", "copy"):
        assert refused(admin, "Promotions", promotion, verb)[:2] == (409, "LOCKED"), verb
    assert admin.patch(active("Campaigns", campaign), {"name": "Autumn"}).status_code == 409
    assert act(admin, "Campaigns", campaign, "unlock")["locked"] is False
    assert act(admin, "Promotions", promotion, "activate")["status"] == "ACTIVE"
    act(admin, "Campaigns", campaign, "removePromotion", gone)
    assert admin.read(active("Promotions", promotion))["campaign_ID"] is None


def test_a_budget_that_begins_later_is_scheduled(admin: Admin) -> None:
    def budget(**values: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"code": admin.unique(), "name": "Spring", "totalAmount": 100, "currency": "EUR"}
        return admin.make("Budgets", IsActiveEntity=True, **given, **values)

    assert act(admin, "Budgets", budget(validFrom="2099-01-01T00:00:00Z"), "activate")["status"] == "SCHEDULED"
    opened = budget()
    assert act(admin, "Budgets", opened, "activate", client="treasurer")["status"] == "ACTIVE"
    assert refused(admin, "Budgets", opened, "activate")[:2] == (409, "INVALID_TRANSITION")
    over = budget(validTo="2026-01-01T00:00:00Z")
    assert refused(admin, "Budgets", over, "activate") == (400, "VALIDITY_OVER", "in/validTo")


def test_a_coupon_type_is_switched_on_and_off(admin: Admin) -> None:
    kind = admin.make("CouponTypes", code=admin.unique(), name="Thanks", IsActiveEntity=True)
    for verb, status in (("activate", "ACTIVE"), ("activate", "ACTIVE"), ("deactivate", "INACTIVE")):
        assert act(admin, "CouponTypes", kind, verb)["status"] == status
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{kind['ID']}'&$orderby=timestamp")["value"]
    assert [row["action"] for row in trail] == ["CREATE", "ACTIVATE", "DEACTIVATE"]


def test_actions_work_on_the_active_row_and_not_on_its_draft(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"), status="ACTIVE")
    assert admin.edit("Promotions", promotion["ID"]).status_code in (200, 201)
    for verb in ("activate", "deactivate", "copy"):
        answer = admin.post(f"{draft('Promotions', promotion)}/AdminService.{verb}")
        assert fault(answer)[:2] == (409, "IS_A_DRAFT")
    assert act(admin, "Promotions", promotion, "deactivate")["status"] == "INACTIVE"


def test_an_action_heeds_if_match(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"))
    before = admin.read(active("Promotions", promotion))["@odata.etag"]
    act(admin, "Promotions", promotion, "submit", If_Match=before)
    assert refused(admin, "Promotions", promotion, "approve", If_Match=before)[0] == 412
    assert admin.read(active("Promotions", promotion))["status"] == "PENDING_APPROVAL"


@pytest.mark.parametrize("client", ["treasurer", "till", "integrator"])
def test_actions_on_promotions_need_the_right_to_change_promotions(admin: Admin, client: str) -> None:
    promotion = ten_off(admin, admin.unique("A"))
    assert refused(admin, "Promotions", promotion, "activate", client=client)[0] == 403


def test_concurrent_actions_on_one_promotion_are_all_answered(admin: Admin) -> None:
    """One request moves it; the others find it moved, and none gets an internal error."""
    promotion = ten_off(admin, admin.unique("A"))
    address = active("Promotions", promotion)
    with ThreadPoolExecutor(8) as pool:
        activated = list(pool.map(lambda _: admin.post(f"{address}/AdminService.activate"), range(16)))
        submitted = list(pool.map(lambda _: fault(admin.post(f"{address}/AdminService.submit"))[:2], range(16)))
    assert {(answer.status_code, answer.json()["status"]) for answer in activated} == {(200, "ACTIVE")}
    assert set(submitted) == {(409, "INVALID_TRANSITION")}
    trail = admin.read(f"AuditLogs?$filter=entityId eq '{promotion['ID']}'")["value"]
    assert sorted(row["action"] for row in trail) == ["ACTIVATE", "CREATE"]


def test_an_action_in_a_change_set_is_undone_with_the_rest_of_it(admin: Admin) -> None:
    promotion, poor = ten_off(admin, admin.unique("A")), admin.promotion()
    body = {
        "requests": [
            {
                "id": str(number),
                "atomicityGroup": "g",
                "method": "POST",
                "url": f"{active('Promotions', row)}/AdminService.activate",
                "headers": {"content-type": "application/json"},
                "body": {},
            }
            for number, row in enumerate((promotion, poor))
        ]
    }
    answer = admin.post("$batch", body)
    assert answer.status_code == 200, answer.text
    assert 400 in {one["status"] for one in answer.json()["responses"]}
    assert admin.read(active("Promotions", promotion))["status"] == "DRAFT"


def test_a_foreign_promotion_is_not_there(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"))
    for verb in ("activate", "copy"):
        assert refused(admin, "Promotions", promotion, verb, client="stranger")[0] == 404
        assert refused(admin, "Promotions", NOBODY, verb)[0] == 404


def test_a_promotion_does_not_apply_before_its_budget_opens(admin: Admin) -> None:
    article, group = admin.unique("A"), admin.pos_group()
    promotion = ten_off(admin, article, status="ACTIVE")
    given: dict[str, Any] = {"code": admin.unique(), "name": "Spring", "totalAmount": 100, "currency": "EUR"}
    budget = admin.make("Budgets", IsActiveEntity=True, **given)
    admin.make("BudgetPromotions", budget_ID=budget["ID"], promotion_ID=promotion["ID"])
    assert discount(admin, group, article) == 0
    act(admin, "Budgets", budget, "activate")
    assert discount(admin, group, article) == 1

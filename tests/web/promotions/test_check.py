"""`check` over HTTP: the properties of findings, for every role, on active promotions only."""

from __future__ import annotations

from typing import Any

from tests.web.services.admin.conftest import NOBODY, Admin, active, admin, draft

__all__ = ["admin"]

CHECK = "AdminService.check"


def promotion(admin: Admin, **values: Any) -> dict[str, Any]:
    """Create a promotion of two conditions that contradict each other."""
    made = admin.promotion(**values)
    for sequence, operator, value in ((1, "GTE", "100"), (2, "LESS_THAN", "50")):
        row: dict[str, Any] = {
            "conditionType": "RECEIPT_AMOUNT",
            "sequence": sequence,
            "operator": operator,
            "value": value,
        }
        admin.make("Conditions", promotion_ID=made["ID"], **row)
    action: dict[str, Any] = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
    admin.make("DiscountActions", promotion_ID=made["ID"], **action)
    return made


def check(admin: Admin, row: dict[str, Any], **how: Any) -> list[dict[str, Any]]:
    answer = admin.post(f"{active('Promotions', row)}/{CHECK}", **how)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["value"]
    return found


def test_findings_come_errors_first_with_what_they_are_about(admin: Admin) -> None:
    made = promotion(admin)
    conditions = admin.read(f"Conditions?$filter=promotion_ID eq {made['ID']}&$orderby=sequence")["value"]
    found = check(admin, made)
    assert set(found[0]) == {"code", "severity", "message", "target", "entity_ID", "promotion_ID"}
    clash = next(one for one in found if one["code"] == "CONDITIONS_CONTRADICT")
    assert (clash["severity"], clash["target"]) == ("ERROR", "Conditions/value")
    assert (clash["entity_ID"], clash["promotion_ID"]) == (conditions[1]["ID"], None)
    assert "NOT_RUNNING" in {one["code"] for one in found}
    severities = [one["severity"] for one in found]
    assert severities == sorted(severities, key=("ERROR", "WARNING", "INFO").index)


def test_every_role_may_check_and_nothing_changes(admin: Admin) -> None:
    made = promotion(admin)
    before = admin.read(active("Promotions", made))
    findings = [check(admin, made, client=client) for client in ("admin", "promoter", "treasurer")]
    assert findings[0] == findings[1] == findings[2]
    assert admin.read(active("Promotions", made)) == before


def test_a_draft_is_not_checked_before_it_is_activated(admin: Admin) -> None:
    made = promotion(admin)
    assert admin.edit("Promotions", made["ID"]).status_code == 201
    answer = admin.post(f"{draft('Promotions', made)}/{CHECK}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "IS_A_DRAFT")
    # An open draft does not prevent a check of the active promotion.
    assert check(admin, made, client="treasurer")


def test_a_check_reveals_nothing_about_other_tenants(admin: Admin) -> None:
    made = promotion(admin)
    for row, client in ((made, "stranger"), ({"ID": NOBODY}, "admin")):
        answer = admin.post(f"{active('Promotions', row)}/{CHECK}", client=client)
        assert answer.status_code == 404, answer.text


def test_it_is_answered_inside_a_batch(admin: Admin) -> None:
    made = promotion(admin)
    requests = [{"id": "1", "method": "POST", "url": f"{active('Promotions', made)}/{CHECK}", "body": {}}]
    answer = admin.post("$batch", {"requests": requests})
    assert answer.status_code == 200, answer.text
    (part,) = answer.json()["responses"]
    assert part["status"] == 200
    assert "CONDITIONS_CONTRADICT" in {one["code"] for one in part["body"]["value"]}

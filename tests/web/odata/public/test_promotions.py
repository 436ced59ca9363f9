"""From a promotion written over the public API to a price at the till."""

from __future__ import annotations

from typing import Any

from tests.web.odata.public.conftest import ODATA, Api, problem


def shop(api: Api) -> dict[str, Any]:
    return api.make("PosGroups", code=api.unique("p"), name="Berlin", currency="EUR", timeZone="Europe/Berlin")


def half_off(api: Api, article: str, **values: Any) -> str:
    """Create a promotion that is not active yet: 50 % off an article."""
    promotion = str(api.promotion(name="Half off", **values)["ID"])
    api.make("Conditions", promotion_ID=promotion, conditionType="ARTICLE", articleNumber=article)
    api.make(
        "DiscountActions", promotion_ID=promotion, actionType="ARTICLE", discountType="PERCENTAGE", discountValue=50
    )
    return promotion


def price(api: Api, group: dict[str, Any], article: str) -> float:
    """Return the till's price of one piece of an article that costs 10.00."""
    item = {"articleNumber": article, "quantity": 1, "unitPrice": 10.00}
    body = {"request": {"posGroupCode": group["code"], "items": [item]}}
    answer = api.post("/pos/v2/evaluate", body, client="till")
    assert answer.status_code == 200, answer.text
    total = answer.json()["totals"]["grandTotal"]
    return float(total["value"] if isinstance(total, dict) else total)


def test_an_activated_promotion_is_priced_by_the_very_next_evaluate(api: Api) -> None:
    group, article = shop(api), api.unique("A")
    promotion = half_off(api, article, posGroups=[{"posGroup_ID": group["ID"]}])
    assert price(api, group, article) == 10
    for status, expected in (("ACTIVE", 5), ("INACTIVE", 10), ("ACTIVE", 5)):
        answer = api.patch(f"Promotions({promotion})", {"status": status})
        assert answer.status_code == 204, answer.text
        assert price(api, group, article) == expected
    action = api.read(f"DiscountActions?$filter=promotion_ID eq {promotion}")["value"][0]["ID"]
    assert api.patch(f"DiscountActions({action})", {"discountValue": 10}).status_code == 204
    assert price(api, group, article) == 9
    assert api.patch(f"Promotions({promotion})", {"status": "INACTIVE"}).status_code == 204
    assert api.delete(f"Promotions({promotion})").status_code == 204
    assert api.read(f"DiscountActions?$filter=promotion_ID eq {promotion}")["value"] == []


def test_activating_a_promotion_that_cannot_run_is_refused(api: Api) -> None:
    promotion = api.promotion()
    answer = api.patch(f"Promotions({promotion['ID']})", {"status": "ACTIVE"})
    assert problem(answer)[0] == 400
    assert api.read(f"Promotions({promotion['ID']})")["status"] == "DRAFT"


def test_a_status_moves_as_its_machine_says(api: Api) -> None:
    promotion = api.promotion()
    address = f"Promotions({promotion['ID']})"
    assert problem(api.patch(address, {"status": "PILOT"}))[:2] == (409, "INVALID_TRANSITION")
    for status in ("PENDING_APPROVAL", "REJECTED", "PENDING_APPROVAL", "APPROVED"):
        assert api.patch(address, {"status": status}).status_code == 204, status
    assert problem(api.patch(address, {"status": "ARCHIVED"}))[:2] == (409, "INVALID_TRANSITION")


def test_conditions_of_an_active_promotion_are_replaced_in_one_change_set_only(api: Api) -> None:
    group, article, other = shop(api), api.unique("A"), api.unique("A")
    promotion = half_off(api, article, posGroups=[{"posGroup_ID": group["ID"]}])
    assert api.patch(f"Promotions({promotion})", {"status": "ACTIVE"}).status_code == 204
    (condition,) = api.read(f"Conditions?$filter=promotion_ID eq {promotion}")["value"]
    assert problem(api.delete(f"Conditions({condition['ID']})"))[:2] == (409, "PROMOTION_ACTIVE")
    new = {"promotion_ID": promotion, "conditionType": "ARTICLE", "articleNumber": other}
    batch = {
        "requests": [
            {"id": "1", "atomicityGroup": "g", "method": "DELETE", "url": f"Conditions({condition['ID']})"},
            {
                "id": "2", "atomicityGroup": "g", "method": "POST", "url": "Conditions",
                "headers": {"content-type": "application/json"}, "body": new,
            },
        ]
    }  # fmt: skip
    answer = api.post("$batch", batch)
    assert [one["status"] for one in answer.json()["responses"]] == [204, 201], answer.text
    assert (price(api, group, article), price(api, group, other)) == (10, 5)


def test_a_change_set_that_breaks_a_rule_at_its_end_leaves_nothing(api: Api) -> None:
    """The rule is checked at the end of the change set; then every part of it is rolled back."""
    article = api.unique("A")
    promotion = half_off(api, article)
    assert api.patch(f"Promotions({promotion})", {"status": "ACTIVE"}).status_code == 204
    (condition,) = api.read(f"Conditions?$filter=promotion_ID eq {promotion}")["value"]
    code = api.unique()
    batch = {
        "requests": [
            {"id": "1", "atomicityGroup": "g", "method": "DELETE", "url": f"Conditions({condition['ID']})"},
            {
                "id": "2", "atomicityGroup": "g", "method": "POST", "url": "Campaigns",
                "headers": {"content-type": "application/json"}, "body": {"code": code, "name": "Spring"},
            },
        ]
    }  # fmt: skip
    answers = api.post("$batch", batch).json()["responses"]
    assert {one["status"] for one in answers} <= {409, 424}
    assert "PROMOTION_ACTIVE" in {one["body"]["error"]["code"] for one in answers if "body" in one}
    assert api.get(f"Conditions({condition['ID']})").status_code == 200
    assert api.read(f"Campaigns?$filter=code eq '{code}'")["value"] == []


def test_a_whole_promotion_is_read_as_it_was_written(api: Api) -> None:
    group = shop(api)
    written: dict[str, Any] = {
        "name": "Spring", "type": "BUNDLE", "validFrom": "2026-03-01T00:00:00Z", "validTo": "2026-03-31T22:00:00Z",
        "priority": 7, "exclusivityLevel": "GROUP", "currency": "EUR", "maxApplicationsTotal": 100,
        "isExperiment": False, "externalReference": "ERP-1",
    }  # fmt: skip
    made = api.promotion(
        **written,
        posGroups=[{"posGroup_ID": group["ID"]}],
        calculationConfig={"mode": "MULTIPLICATIVE", "rounding": "ROUND_DOWN", "precision": 1},
    )
    read = api.read(f"Promotions({made['ID']})")
    assert {name: read[name] for name in written} == written
    config = api.read(f"Promotions({made['ID']})/calculationConfig")
    assert (config["mode"], config["rounding"], config["precision"]) == ("MULTIPLICATIVE", "ROUND_DOWN", 1)
    calendar = api.read(f"PromotionsCalendar?$filter=promotion_ID eq {made['ID']}")["value"]
    assert [(one["startsAt"], one["posGroups"]) for one in calendar] == [("2026-03-01T00:00:00Z", [group["code"]])]


def test_a_discount_action_is_written_with_all_that_belongs_to_it(api: Api) -> None:
    promotion = api.promotion()["ID"]
    action = api.make(
        "DiscountActions",
        promotion_ID=promotion,
        actionType="ARTICLE_LIST",
        discountType="ABSOLUTE",
        discountValue=1.5,
        targetArticleList=True,
        articleListItems=[{"articleNumber": "A-1", "fixedPrice": 2.99}, {"ean": "4006381333931"}],
        exclusions=[{"exclusionType": "ARTICLE_LIST", "articleListItems": [{"articleNumber": "A-9"}]}],
    )
    items = api.read(f"DiscountActions({action['ID']})/articleListItems?$orderby=articleNumber")["value"]
    assert {(one["articleNumber"], one["ean"], one["fixedPrice"]) for one in items} == {
        ("A-1", None, 2.99),
        (None, "4006381333931", None),
    }
    assert api.read(f"ActionArticleListItems({items[0]['ID']})/action")["ID"] == action["ID"]
    (exclusion,) = api.read(f"ActionExclusions?$filter=action_ID eq {action['ID']}")["value"]
    assert len(api.read(f"ActionExclusions({exclusion['ID']})/articleListItems")["value"]) == 1
    assert api.delete(f"DiscountActions({action['ID']})").status_code == 204
    assert problem(api.get(f"ActionExclusions({exclusion['ID']})"))[0] == 404


def test_the_audit_log_records_the_changes_of_a_promotion(api: Api) -> None:
    campaign = api.campaign(name="Audited")
    api.patch(f"Campaigns({campaign['ID']})", {"name": "Audited twice"}, **ODATA)
    api.delete(f"Campaigns({campaign['ID']})")
    told = api.read(f"AuditLogs?$filter=entityId eq '{campaign['ID']}'&$orderby=timestamp")["value"]
    assert [(one["action"], one["entityType"], one["actor"]) for one in told] == [
        ("CREATE", "Campaigns", "integrator"),
        ("UPDATE", "Campaigns", "integrator"),
        ("DELETE", "Campaigns", "integrator"),
    ]

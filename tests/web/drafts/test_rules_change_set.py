"""A promotion's draft and its rules are saved in one change set: all or nothing, and no user's rules are lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft

ACTIVATE = "AdminService.draftActivate"
NEW_ID = "0192f0c1-7e00-7000-8000-0000000000{:02d}"

Request = tuple[str, str, Any] | tuple[str, str, Any, str]


def save(desk: Desk, *requests: Request, user: str = ANNA) -> list[Any]:
    """Return the responses to one atomicity group in JSON; the fourth item of a request is its If-Match ETag."""
    parts = []
    for number, (method, url, body, *etag) in enumerate(requests, 1):
        headers = {"content-type": "application/json;IEEE754Compatible=true"}
        if etag:
            headers["if-match"] = etag[0]
        part = {"id": str(number), "atomicityGroup": "all", "method": method, "url": url, "headers": headers}
        parts.append(part if body is None else part | {"body": body})
    answer = desk.post("$batch", {"requests": parts}, user=user, status=200)
    return sorted(answer.json()["responses"], key=lambda one: int(one["id"]))


def statuses(answers: list[Any]) -> list[int]:
    return [answer["status"] for answer in answers]


def activation(entity_id: str) -> Request:
    return ("POST", f"{draft(entity_id)}/{ACTIVATE}", {})


def rule_of(desk: Desk, set_name: str, **values: Any) -> dict[str, Any]:
    """Return a stored rule."""
    made: dict[str, Any] = desk.post(set_name, values, status=201).json()
    return made


def rules(desk: Desk, set_name: str, entity_id: str, expand: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.read(
        f"{set_name}?$filter=promotion_ID eq {entity_id}&$orderby=sequence&$expand={expand}"
    )["value"]
    return found


def test_a_new_promotion_is_saved_with_its_rules_and_their_lists(desk: Desk) -> None:
    entity_id = desk.promotion(active=False)
    answers = save(
        desk,
        activation(entity_id),
        ("POST", "Conditions", {
            "promotion_ID": entity_id, "conditionType": "ARTICLE_LIST", "sequence": 10,
            "articleListItems": [{"articleNumber": "A1"}, {"ean": "4000000000017"}],
        }),
        ("POST", "DiscountActions", {
            "promotion_ID": entity_id, "actionType": "BUNDLE", "sequence": 10, "discountType": "UNIT_PRICE",
            "discountValue": "9.99", "bundleComponents": [{"sequence": 10, "articleNumber": "A1", "quantity": "3"}],
            "exclusions": [{"exclusionType": "ARTICLE_LIST", "articleListItems": [{"articleNumber": "B1"}]}],
        }),
        ("POST", "LoyaltyActions", {
            "promotion_ID": entity_id, "actionType": "ADD_FIXED", "points": "5", "targetScope": "ARTICLE_LIST",
            "articleListItems": [{"articleNumber": "C1"}],
        }),
    )  # fmt: skip
    assert statuses(answers) == [201, 201, 201, 201]
    assert desk.get(draft(entity_id)).status_code == 404
    (condition,) = rules(desk, "Conditions", entity_id, "articleListItems")
    assert {(one["articleNumber"], one["ean"]) for one in condition["articleListItems"]} == {
        ("A1", None), (None, "4000000000017"),
    }  # fmt: skip
    (action,) = rules(desk, "DiscountActions", entity_id, "bundleComponents,exclusions($expand=articleListItems)")
    assert [one["articleNumber"] for one in action["exclusions"][0]["articleListItems"]] == ["B1"]


@pytest.mark.parametrize("faulty", [
    ("POST", "DiscountActions", {"actionType": "NO_SUCH"}),
    ("POST", "Conditions", {"conditionType": "ARTICLE", "minQuantity": "many"}),
    ("DELETE", f"Conditions({NEW_ID.format(0)})", None),
])  # fmt: skip
@pytest.mark.parametrize("place", [1, 2], ids=["in the middle", "at the end"])
def test_one_rule_that_is_refused_saves_neither_promotion_nor_rules(desk: Desk, faulty: Request, place: int) -> None:
    entity_id = desk.promotion(active=False, name="New")
    good = ("POST", "Conditions", {"promotion_ID": entity_id, "conditionType": "CUSTOMER", "value": "1"})
    method, url, body, *_ = faulty
    bad: Request = (method, url, body and {"promotion_ID": entity_id, **body})
    requests: list[Request] = [activation(entity_id), good]
    requests.insert(place, bad)
    answers = save(desk, *requests)
    assert answers[place]["status"] in {400, 404}
    assert {one["status"] for at, one in enumerate(answers) if at != place} == {424}
    assert desk.read(draft(entity_id))["name"] == "New"
    assert desk.get(active(entity_id)).status_code == 404
    assert desk.read(f"Conditions?$filter=promotion_ID eq {entity_id}")["value"] == []


def test_rules_of_a_stored_promotion_are_changed_added_and_removed_with_its_draft(desk: Desk) -> None:
    entity_id = desk.promotion(name="Before")
    kept = rule_of(desk,
        "Conditions", promotion_ID=entity_id, conditionType="ARTICLE_LIST", sequence=10,
        articleListItems=[{"articleNumber": "A1"}, {"articleNumber": "A2"}],
    )  # fmt: skip
    gone = rule_of(desk, "Conditions", promotion_ID=entity_id, conditionType="CUSTOMER", value="1", sequence=20)
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "After"}, status=200)
    items = {one["articleNumber"]: one["ID"] for one in kept["articleListItems"]}
    answers = save(
        desk,
        activation(entity_id),
        ("DELETE", f"Conditions({gone['ID']})", None, gone["@odata.etag"]),
        ("PATCH", f"Conditions({kept['ID']})", {
            "minQuantity": "2",
            "articleListItems": [{"ID": items["A2"], "ean": "4000000000017"}, {"articleNumber": "A3"}],
        }, kept["@odata.etag"]),
        ("POST", "Conditions", {
            "promotion_ID": entity_id, "conditionType": "CHANNEL", "value": "ONLINE", "sequence": 30,
        }),
    )  # fmt: skip
    assert statuses(answers) == [200, 204, 200, 201]
    first, second = rules(desk, "Conditions", entity_id, "articleListItems")
    assert (first["ID"], first["minQuantity"], second["conditionType"]) == (kept["ID"], 2, "CHANNEL")
    found = {one["articleNumber"]: (one["ID"] in items.values(), one["ean"]) for one in first["articleListItems"]}
    assert found == {"A2": (True, "4000000000017"), "A3": (False, None)}
    assert desk.read(active(entity_id))["name"] == "After"


def test_the_second_of_two_planners_gets_an_error_and_overwrites_nothing(desk: Desk) -> None:
    entity_id = desk.promotion(name="Before")
    rule = rule_of(desk, "Conditions", promotion_ID=entity_id, conditionType="CUSTOMER", value="1")
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Mine"}, status=200)
    desk.patch(f"Conditions({rule['ID']})", {"value": "2"}, status=200, user=BEN)
    for request in (("PATCH", {"value": "3"}), ("DELETE", None)):
        method, body = request
        answers = save(
            desk, activation(entity_id), (method, f"Conditions({rule['ID']})", body, rule["@odata.etag"])
        )  # fmt: skip
        assert statuses(answers) == [424, 412]
    assert desk.read(draft(entity_id))["name"] == "Mine"
    assert desk.read(active(entity_id))["name"] == "Before"
    assert desk.read(f"Conditions({rule['ID']})")["value"] == "2"


@pytest.mark.parametrize("change", ["added", "changed", "removed"])
def test_a_change_in_a_list_of_a_rule_changes_the_etag_of_the_rule(desk: Desk, change: str) -> None:
    entity_id = desk.promotion()
    rule = rule_of(desk, "DiscountActions", promotion_ID=entity_id, actionType="ARTICLE_LIST", exclusions=[
        {"exclusionType": "ARTICLE_LIST", "articleListItems": [{"articleNumber": "A1"}]},
    ])  # fmt: skip
    exclusion = rule["exclusions"][0]
    item = f"ActionExclusionArticleListItems({exclusion['articleListItems'][0]['ID']})"
    if change == "added":
        desk.post(f"ActionExclusions({exclusion['ID']})/articleListItems", {"articleNumber": "A2"}, status=201)
    elif change == "changed":
        desk.patch(item, {"articleNumber": "A3"}, status=200)
    else:
        desk.delete(item, status=204)
    stale = desk.patch(f"DiscountActions({rule['ID']})", {"sequence": 20}, if_match=rule["@odata.etag"])
    assert stale.status_code == 412


def test_of_a_live_promotion_every_rule_at_fault_is_named_by_its_id(desk: Desk) -> None:
    entity_id = desk.promotion()
    rule_of(
        desk,
        "DiscountActions",
        promotion_ID=entity_id,
        actionType="RECEIPT",
        discountType="PERCENTAGE",
        discountValue=5,
    )
    desk.post(f"{active(entity_id)}/AdminService.activate", {}, status=200)
    desk.edit(entity_id)
    first, second, third = (NEW_ID.format(int(desk.unique("9")[-2:])) for _ in range(3))
    answers = save(
        desk,
        activation(entity_id),
        (
            "POST",
            "Conditions",
            {"ID": first, "promotion_ID": entity_id, "conditionType": "TIME_WINDOW", "sequence": 10},
        ),
        ("POST", "DiscountActions", {"ID": second, "promotion_ID": entity_id, "actionType": "BUNDLE", "sequence": 20}),
        ("POST", "Conditions", {"ID": third, "promotion_ID": entity_id, "conditionType": "CUSTOMER", "value": "1"}),
    )
    assert statuses(answers) == [424, 424, 424, 400]
    told = answers[-1]["body"]["error"]
    assert [one["target"] for one in told["details"]] == [
        f"/Conditions({first})/timeFrom", f"/DiscountActions({second})/bundleComponents",
    ]  # fmt: skip
    assert desk.read(f"Conditions?$filter=promotion_ID eq {entity_id}")["value"] == []


def test_of_a_rule_that_is_saved_alone_the_target_is_its_property(desk: Desk) -> None:
    entity_id = desk.promotion()
    rule_of(
        desk,
        "DiscountActions",
        promotion_ID=entity_id,
        actionType="RECEIPT",
        discountType="PERCENTAGE",
        discountValue=5,
    )
    desk.post(f"{active(entity_id)}/AdminService.activate", {}, status=200)
    refused = desk.post("Conditions", {"promotion_ID": entity_id, "conditionType": "TIME_WINDOW"})
    assert (refused.status_code, refused.json()["error"]["target"]) == (400, "timeFrom")

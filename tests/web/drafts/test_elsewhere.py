"""Drafts are invisible elsewhere: tills price without them, the public API has none, tenants are isolated."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from tests.web.drafts.desk import ANNA, BEN, ZOE, Desk, active, draft, one

PUBLIC = "/api/v1/Promotions"
PATIENCE_SECONDS = 300  # after thirty days, all scheduled work is due at once


def test_the_public_api_does_not_show_drafts(desk: Desk) -> None:
    mark = desk.unique("V")
    taken = desk.promotion(name=f"{mark} active", posGroups=[{"posGroup_ID": desk.pos_group()}])
    desk.edit(taken)
    desk.patch(draft(taken), {"name": f"{mark} draft", "posGroups": []}, status=200)
    new = desk.promotion(name=f"{mark} new", active=False)
    chosen = f"{PUBLIC}?$filter=startswith(name,'{mark}')&$count=true&$expand=posGroups"
    listed = desk.read(chosen, user="integrator")
    assert [(row["ID"], row["name"]) for row in listed["value"]] == [(taken, f"{mark} active")]
    assert (listed["@count"], len(listed["value"][0]["posGroups"])) == (1, 1)
    assert not {name for name in listed["value"][0] if "Draft" in name or "Active" in name}
    assert desk.get(f"{PUBLIC}({new})", user="integrator").status_code == 404
    assert desk.read(f"{PUBLIC}({taken})", user="integrator")["name"] == f"{mark} active"
    assert desk.get(f"{PUBLIC}(ID={taken},IsActiveEntity=false)", user="integrator").status_code in {400, 404}
    for entity_id, status in ((taken, 200), (new, 404)):
        path = f"{PUBLIC}({entity_id})/posGroups"
        assert desk.get(path, user="integrator").status_code == status
    assert desk.activate(new).status_code == 201
    assert desk.read(f"{PUBLIC}({new})", user="integrator")["name"] == f"{mark} new"


def test_a_change_by_the_public_api_meanwhile_is_kept_by_the_draft_that_did_not_touch_it(desk: Desk) -> None:
    entity_id = desk.promotion(name="Before", description="Before", priority=1)
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "By the draft"}, status=200)
    changed = desk.patch(f"{PUBLIC}({entity_id})", {"description": "By the API"}, user="integrator")
    assert changed.status_code in {200, 204}, changed.text
    assert desk.activate(entity_id).status_code == 200
    row = desk.read(active(entity_id))
    assert (row["name"], row["description"], row["priority"]) == ("By the draft", "By the API", 1)


@pytest.fixture
def priced(desk: Desk) -> tuple[str, str, str]:
    """Create a promotion of 10 % off one article in one place; return its ID, the article's number, the place's
    code.
    """
    number, code = desk.unique("A"), desk.unique("S")
    other = desk.pos_group()
    place = desk.make("PosGroups", code=code, name="Here", currency="EUR")["ID"]
    entity_id = desk.promotion(name="Off", type="ARTICLE", posGroups=[{"posGroup_ID": place}, {"posGroup_ID": other}])
    desk.post("Conditions", condition(entity_id, number), status=201)
    action = {"promotion_ID": entity_id, "actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}
    desk.post("DiscountActions", action, status=201)
    desk.post(f"{active(entity_id)}/AdminService.activate", status=200)
    return entity_id, number, code


def condition(promotion_id: str, number: str) -> dict[str, Any]:
    return {"promotion_ID": promotion_id, "sequence": 1, "conditionType": "ARTICLE", "articleNumber": number}


def total(desk: Desk, number: str, code: str) -> float:
    """Return the total for one piece at 10.00."""
    items = [{"articleNumber": number, "quantity": 1, "unitPrice": 10.00}]
    answer = desk.post("/pos/v2/evaluate", {"request": {"posGroupCode": code, "items": items}}, user="till", status=200)
    return float(answer.json()["totals"]["grandTotal"]["value"])


def test_a_draft_does_not_affect_prices_until_it_is_activated(
    desk: Desk, form: str, priced: tuple[str, str, str]
) -> None:
    entity_id, number, code = priced
    assert total(desk, number, code) == 9.00
    desk.edit(entity_id)
    assert total(desk, number, code) == 9.00
    (here,) = desk.read(f"{draft(entity_id)}/posGroups?$filter=posGroup/code%20eq%20'{code}'")["value"]
    assert one(desk, form, "DELETE", draft(here["ID"], "PromotionPosGroups")).status == 204
    assert total(desk, number, code) == 9.00
    assert one(desk, form, "POST", f"{draft(entity_id)}/AdminService.draftActivate", {}).status == 200
    assert total(desk, number, code) == 10.00


def test_a_promotion_can_be_stopped_while_somebody_has_a_draft_of_it(
    desk: Desk, form: str, priced: tuple[str, str, str]
) -> None:
    entity_id, number, code = priced
    desk.edit(entity_id)
    assert one(desk, form, "POST", f"{draft(entity_id)}/AdminService.deactivate", {}).status == 409
    stopped = one(desk, form, "POST", f"{active(entity_id)}/AdminService.deactivate", {}, user=BEN)
    assert (stopped.status, stopped.body["status"]) == (200, "INACTIVE")
    assert total(desk, number, code) == 10.00
    desk.patch(draft(entity_id), {"name": "Still mine"}, status=200)
    assert desk.activate(entity_id).status_code == 200
    row = desk.read(active(entity_id))
    assert (row["name"], row["status"]) == ("Still mine", "INACTIVE")


def test_a_discount_changed_while_there_is_a_draft_prices_at_once(desk: Desk, priced: tuple[str, str, str]) -> None:
    """Discounts belong to no draft: they are changed directly."""
    entity_id, number, code = priced
    desk.edit(entity_id)
    (discount,) = desk.read(f"DiscountActions?$filter=promotion_ID%20eq%20{entity_id}")["value"]
    desk.patch(f"DiscountActions({discount['ID']})", {"discountValue": 20}, status=200)
    assert total(desk, number, code) == 8.00


def test_drafts_are_isolated_between_tenants(desk: Desk, form: str) -> None:
    """The other tenant may even use the same ID for its own draft."""
    entity_id = desk.promotion(name="Ours", active=False)
    theirs = one(desk, form, "POST", "Promotions", {"ID": entity_id, "name": "Theirs"}, user=ZOE)
    assert theirs.status == 201
    assert one(desk, form, "GET", draft(entity_id)).body["name"] == "Ours"
    assert one(desk, form, "GET", draft(entity_id), user=ZOE).body["name"] == "Theirs"
    assert one(desk, form, "POST", f"{draft(entity_id)}/AdminService.draftActivate", {}, user=ZOE).status == 201
    assert one(desk, form, "GET", active(entity_id)).status == 404
    assert one(desk, form, "DELETE", draft(entity_id)).status == 204
    assert one(desk, form, "GET", active(entity_id), user=ZOE).body["name"] == "Theirs"


def test_a_draft_untouched_for_thirty_days_is_deleted(desk: Desk) -> None:
    old = desk.promotion(name="Old", active=False)
    taken = desk.promotion(name="Taken", posGroups=[{"posGroup_ID": desk.pos_group()}])
    touched = desk.promotion(name="Touched", active=False)
    desk.edit(taken)
    desk.later(minutes=int(timedelta(days=20) / timedelta(minutes=1)))
    desk.patch(draft(touched), {"name": "Touched again"}, status=200)
    desk.promotion(active=False)
    assert desk.get(draft(old)).status_code == desk.get(draft(taken)).status_code == 200
    desk.later(minutes=int(timedelta(days=10, hours=1) / timedelta(minutes=1)))
    desk.promotion(active=False, user=BEN)  # some abandoned drafts go with their tenant, the rest by the worker
    ends = time.monotonic() + PATIENCE_SECONDS
    while desk.get(draft(old)).status_code == 200 or desk.get(draft(taken)).status_code == 200:
        assert time.monotonic() < ends, "drafts of thirty days are still there"
    assert desk.get(draft(old)).status_code == desk.get(draft(taken)).status_code == 404
    assert desk.read(draft(touched))["name"] == "Touched again"
    row = desk.read(f"{active(taken)}?$expand=posGroups")
    assert (row["name"], row["HasDraftEntity"], len(row["posGroups"])) == ("Taken", False, 1)
    assert desk.edit(taken, user=ANNA).status_code == 201

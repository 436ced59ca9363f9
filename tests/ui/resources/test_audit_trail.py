"""The audit trail as people read it: on the page of what was changed, and as a list of everything."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk


def _changed(desk: Desk, code: str) -> dict[str, Any]:
    """Create a promotion, change it and its stores, and give it a rule; return it and the name of its store."""
    with desk.shop.http() as http:
        store = http.get("/admin/PosGroups?$top=1").json()["value"][0]
        made = http.post("/admin/Promotions", json={"IsActiveEntity": True, "code": code, "name": code}).json()
        own = f"/admin/Promotions(ID={made['ID']},IsActiveEntity=true)"
        changes = {"priority": 7, "posGroups": [{"posGroup_ID": store["ID"]}]}
        assert http.patch(own, json=changes).status_code == 200
        rule = {"promotion_ID": made["ID"], "conditionType": "CHANNEL", "value": "app"}
        assert http.post("/admin/Conditions", json=rule).status_code == 201
    return {"promotion": made, "store": store}


@pytest.mark.smoke
def test_a_promotions_page_says_what_was_changed_from_what_to_what(desk: Desk) -> None:
    given = _changed(desk, "TRAIL-1")
    page = desk.sit(address=f"/promotion/{given['promotion']['ID']}")
    history = page.get_by_role("grid", name="History")
    expect(history.get_by_text("Priority: 100 → 7")).to_be_visible()
    expect(history.get_by_text(f"Promotion POS group added: {given['store']['name']}")).to_be_visible()
    expect(history.get_by_text("Created · Condition “Channel: app”")).to_be_visible()


def test_the_page_of_an_entity_says_it_too_in_german_and_without_ids(desk: Desk) -> None:
    with desk.shop.http() as http:
        row = {"IsActiveEntity": True, "code": "TRAIL-2", "name": "Pfand", "currency": "EUR", "timeZone": "UTC"}
        made = http.post("/admin/PosGroups", json=row).json()
        others = f"IsActiveEntity eq true and ID ne {made['ID']}"
        above = http.get(f"/admin/PosGroups?$top=1&$filter={others}").json()["value"][0]
        own = f"/admin/PosGroups(ID={made['ID']},IsActiveEntity=true)"
        changes = {"isActive": False, "parent_ID": above["ID"], "currency": "CHF"}
        assert http.patch(own, json=changes).status_code == 200
    page = desk.sit(address=f"/object/PosGroups/{made['ID']}", language="de")
    history = page.get_by_role("grid", name="Verlauf")
    expect(history.get_by_text("Aktiv: Ja → Nein")).to_be_visible()
    expect(history.get_by_text("Währung: EUR → CHF")).to_be_visible()
    link = history.get_by_role("link", name=above["name"])
    expect(link).to_have_attribute("href", f"#/object/PosGroups/{above['ID']}")


def test_the_list_of_all_changes_says_them_in_words_and_is_filtered_by_kind(desk: Desk) -> None:
    given = _changed(desk, "TRAIL-3")
    asked = quote(json.dumps({"search": "TRAIL-3", "filters": {"ownerType": ["Promotions"]}}))
    page = desk.sit(address=f"/list/AuditLogs?q={asked}")
    table = page.get_by_role("grid")
    expect(table.get_by_text("Priority: 100 → 7")).to_be_visible()
    link = table.get_by_role("link", name="Promotion “TRAIL-3”").first
    expect(link).to_have_attribute("href", f"#/promotion/{given['promotion']['ID']}")
    asked = quote(json.dumps({"search": "TRAIL-3", "filters": {"ownerType": ["Budgets"]}}))
    page.goto(f"{page.url.split('#')[0]}#/list/AuditLogs?q={asked}")
    expect(page.get_by_text("Nothing found.")).to_be_visible()

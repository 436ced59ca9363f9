"""Tabs of one browser hear of each other: what one of them has written, the others read, and nothing typed is lost."""

from __future__ import annotations

import json
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop, wait_until
from tests.ui.rules.page import RulesPage, stored
from tests.ui.test_everywhere import judge

HERE = "#promenade---promotion--"
TOLD = "This was changed in another tab"
COUNT = (
    "() => sap.ui.require('sap/ui/core/Element').getElementById('promenade---imports--jobs--table')"
    "?.getBinding('items')?.getCount()"
)
LOAD = "Load it in place of what I typed"


def subscription(shop: Shop) -> tuple[str, str]:
    """Create a webhook subscription, which is edited in place; return its ID and its name."""
    name = f"Tab {uuid4().hex[:8]}"
    body = {"name": name, "callbackUrl": "http://127.0.0.1:1/", "eventTypes": ["COUPON_ISSUED"]}
    with shop.http() as http:
        made = http.post("/admin/WebhookSubscriptions", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["ID"]), name


def rename(page: Page, name: str) -> None:
    """Type another name into the form of a page that is edited."""
    field = page.get_by_role("textbox", name="Name", exact=True)
    field.fill(name)
    field.press("Tab")


@pytest.mark.smoke
def test_a_page_reads_again_what_another_tab_has_saved_and_keeps_what_was_typed(desk: Desk) -> None:
    key, name = subscription(desk.shop)
    one = desk.sit(address=f"object/WebhookSubscriptions/{key}")
    two = desk.tab(one, address=f"object/WebhookSubscriptions/{key}")
    query = quote(quote(json.dumps({"search": name}), safe=""), safe="")
    listed = desk.tab(one, address=f"list/WebhookSubscriptions?q={query}")
    for page in (one, two, listed):
        page.get_by_text(name, exact=True).first.wait_for()
    two.get_by_role("button", name="Edit", exact=True).click()
    rename(two, "Typed here")
    one.get_by_role("button", name="Edit", exact=True).click()
    rename(one, f"{name} A")
    one.get_by_role("button", name="Save", exact=True).click()
    listed.get_by_text(f"{name} A", exact=True).wait_for()
    two.get_by_text(TOLD).wait_for()
    expect(two.get_by_role("textbox", name="Name", exact=True)).to_have_value("Typed here")
    assert not judge(two)
    two.get_by_role("button", name=LOAD).click()
    two.get_by_role("heading", level=1, name=f"{name} A").wait_for()
    expect(two.get_by_text(TOLD)).to_have_count(0)

    two.get_by_role("button", name="Delete", exact=True).click()
    two.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    one.get_by_text("There is nothing here any more").wait_for()
    expect(listed.get_by_text(f"{name} A", exact=True)).to_have_count(0)
    desk.forgive("404 ")


def test_lists_and_jobs_hear_of_an_import_of_another_tab(desk: Desk) -> None:
    mark = f"TAB-{uuid4().hex[:8]}"
    sender = desk.sit(address="/imports?upload=Articles")
    jobs = desk.tab(sender, address="imports")
    wait_until(jobs, f"() => ({COUNT})() !== undefined")
    before = jobs.evaluate(COUNT)
    query = quote(quote(json.dumps({"search": mark}), safe=""), safe="")
    listed = desk.tab(sender, address=f"list/Articles?q={query}")
    listed.get_by_role("heading", level=1, name="Articles (0)").wait_for()
    content = f"articleNumber;name\n{mark};{mark}\n".encode()
    chosen = sender.locator("input[type=file]")
    chosen.set_input_files({"name": "one.csv", "mimeType": "text/csv", "buffer": content})
    sender.get_by_role("button", name="Import 1 Rows").click()
    sender.get_by_text("1 of 1 rows were imported.").first.wait_for()
    wait_until(jobs, f"before => ({COUNT})() === before + 1", before)
    listed.get_by_role("heading", level=1, name="Articles (1)").wait_for()

    job = sender.url.rpartition("=")[2]
    same = desk.tab(sender, address=f"imports?job={job}")
    same.get_by_text("1 of 1 rows were imported.").wait_for()
    with desk.shop.http() as http:
        assert http.delete(f"/api/v1/ImportJobs({job})").status_code == 204
    sender.evaluate(f"sap.ui.require('promenade/net/News').wrote('DELETE', '/admin/ImportJobs({job})')")
    same.get_by_text("This import no longer exists.").wait_for()
    desk.forgive("404 ")


def test_a_promotion_and_its_list_hear_of_a_move_and_of_a_saved_draft(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    one = desk.sit(address=f"promotion/{entity_id}")
    two = desk.tab(one, address=f"promotion/{entity_id}")
    two.locator(f"{HERE}edit").wait_for()
    listed = desk.tab(one, address="promotions?search=rules")
    first = listed.locator("#promenade---promotions--table tr").filter(has=listed.locator(f"a[href*='{entity_id}']"))
    expect(first).to_contain_text("Draft")
    one.locator(f"{HERE}submit").click()
    expect(two.locator(f"{HERE}statusNow")).to_contain_text("Pending approval")
    expect(first).to_contain_text("Pending approval")

    two.locator(f"{HERE}edit").click()
    two.wait_for_url("**,draft")
    one.get_by_text("You have a draft of this promotion").wait_for()
    expect(first).to_contain_text("Your draft")
    rules = RulesPage.__new__(RulesPage)
    rules.desk, rules.page, rules.entity_id = desk, two, entity_id
    rules.editor = two.locator(".promenadeRules")
    rules.add("Conditions", "Time of day and weekdays")
    one.locator(f"{HERE}approve").click()
    expect(one.locator(f"{HERE}statusNow")).to_contain_text("Approved")
    two.get_by_text(TOLD).wait_for()
    expect(rules.cards("Conditions")).to_have_count(1)
    two.get_by_role("button", name=LOAD).click()
    expect(two.get_by_text(TOLD)).to_have_count(0)
    expect(rules.cards("Conditions")).to_have_count(0)
    expect(two.locator(f"{HERE}save")).to_be_visible()

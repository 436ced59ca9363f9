"""Binding approval: the queue on the first page leads to the decision, and a rejection tells its author why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, Shop

HERE = "#promenade---promotion--"
QUEUE = ".promCard-queue"


def settle(shop: Shop, *settings: str) -> None:
    """Change settings of the shop's tenant on the command line."""
    with shop.http() as http:
        tenant = http.get("/ui/me").json()["tenantId"]
    command = [sys.executable, "-m", "promenade", "tenant", "set", tenant, *settings, "--data-dir", str(shop.data)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@pytest.fixture
def binding(shop: Shop) -> Iterator[Shop]:
    """The shop while approval is binding."""
    settle(shop, "approval=BINDING")
    yield shop
    settle(shop, "approval=OFF")


def submitted(shop: Shop, name: str) -> str:
    """Return a promotion that the planner has written and submitted."""
    with shop.http("planner") as http:
        made = http.post("/admin/Promotions", json={"name": name, "IsActiveEntity": True}).raise_for_status()
        entity_id = str(made.json()["ID"])
        http.post(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)/submit", json={}).raise_for_status()
    return entity_id


def test_the_queue_leads_to_an_approval_and_to_a_rejection_with_its_reason(desk: Desk, binding: Shop) -> None:
    good, bad = submitted(binding, "Queued and good"), submitted(binding, "Queued and bad")
    boss = desk.sit("administrator")
    entry = boss.locator(f"{QUEUE} li", has_text="Queued and good")
    expect(entry).to_contain_text("Submitted")
    expect(entry).to_contain_text("Cost unknown")
    expect(boss.locator(".promCard-attention")).not_to_contain_text("Waits for approval")
    entry.click()
    boss.wait_for_url(f"**/promotion/{good}")
    boss.locator(f"{HERE}approve").click()
    expect(boss.locator(f"{HERE}statusNow")).to_contain_text("Approved")

    boss = desk.sit("administrator")
    expect(boss.locator(f"{QUEUE} li", has_text="Queued and good")).to_have_count(0)
    boss.locator(f"{QUEUE} li", has_text="Queued and bad").click()
    boss.wait_for_url(f"**/promotion/{bad}")
    boss.locator(f"{HERE}reject").click()
    dialog = boss.get_by_role("dialog")
    dialog.get_by_role("button", name="Reject").click()
    reason = dialog.get_by_role("textbox")
    expect(reason).to_have_attribute("aria-invalid", "true")
    reason.fill("The margin is too small.")
    dialog.get_by_role("button", name="Reject").click()
    expect(boss.locator(f"{HERE}statusNow")).to_contain_text("Rejected")

    planner = desk.sit("planner", address=f"promotion/{bad}")
    expect(planner.locator(f"{HERE}rejection")).to_contain_text("The margin is too small.")
    expect(planner.locator(f"{HERE}approve")).to_have_count(0)
    planner.locator(f"{HERE}submit").click()
    expect(planner.locator(f"{HERE}rejection")).to_be_hidden()


def test_only_those_who_decide_have_a_queue(desk: Desk, binding: Shop) -> None:
    entity_id = submitted(binding, "Queued for another")
    planner = desk.sit("planner")
    expect(planner.locator(".promCard-attention")).to_be_visible()
    expect(planner.locator(QUEUE)).to_have_count(0)
    planner = desk.sit("planner", address=f"promotion/{entity_id}")
    expect(planner.locator(f"{HERE}statusNow")).to_contain_text("Pending approval")
    expect(planner.locator(f"{HERE}reject")).to_have_count(0)


def test_the_queue_is_there_in_german(desk: Desk, binding: Shop) -> None:
    submitted(binding, "Wartet")
    page = desk.sit("administrator", language="de")
    expect(page.locator(QUEUE)).to_contain_text("Was auf Ihre Genehmigung wartet")
    expect(page.locator(f"{QUEUE} li", has_text="Wartet").first).to_contain_text("Kosten unbekannt")


def test_without_it_there_is_no_queue(desk: Desk, shop: Shop) -> None:
    page = desk.sit("administrator")
    expect(page.locator(".promCard-attention")).to_be_visible()
    expect(page.locator(QUEUE)).to_have_count(0)

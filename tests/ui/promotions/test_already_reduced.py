"""What the till has reduced already, in the simulator: the better of both, why not, and a file that says the same."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.engine.scenario_kit import parse
from tests.engine.scenario_outcome import differences
from tests.engine.test_scenarios import price
from tests.ui.desk import Desk
from tests.ui.rules.page import RulesPage, stored
from tests.ui.simulator.test_page import PREFIX


def _reduce(page: Page, regular_price: str, *, is_valid: bool = True) -> None:
    page.get_by_role("button", name="Further fields of the line").first.click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Regular price")
    field.fill(regular_price)
    field.press("Tab")
    if not is_valid:
        expect(field).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_the_better_of_both_is_said_priced_and_kept(desk: Desk, tmp_path: Path) -> None:
    article = f"R{uuid4().hex[:8]}"
    off = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 20, "targetArticleNumber": article}
    with desk.shop.http() as http:
        row = {"articleNumber": article, "name": "A coat", "basePrice": 4, "currency": "EUR"}
        assert http.post("/admin/Articles", json={**row, "IsActiveEntity": True}).status_code == 201
    entity_id = stored(desk.shop, DiscountActions=[{**off, "exclusions": [{"exclusionType": "BETTER_REDUCED"}]}])
    with desk.shop.http() as http:
        address = f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)/activate"
        assert http.post(address, json={}).status_code == 200
    rules = RulesPage(desk, entity_id)
    assert "except what is reduced by as much already" in rules.sentences("DiscountActions")[0]

    page = desk.sit("planner", address=f"simulator?promotion={entity_id}")
    focus = page.locator(f"{PREFIX}focus")
    expect(focus).to_contain_text("It applied and took €0.80 off")
    _reduce(page, "4.50")
    expect(focus).to_contain_text("It applied and took €0.40 off")
    with page.expect_download() as download:
        page.locator(f"{PREFIX}file").get_by_role("button").first.click()
        page.get_by_role("menuitem", name="Save as scenario").click()
    path = tmp_path / "saved.yaml"
    download.value.save_as(path)
    scenario = parse(path.read_text("utf-8"), path)
    assert not differences(scenario, price(scenario))
    _reduce(page, "6")
    expect(focus).to_contain_text("What it would discount is reduced already")
    _reduce(page, "sixty", is_valid=False)

"""The settings of the tenant: explained, changed together, and refused at their fields."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from promenade import model
from promenade.model.access.tenants import SETTINGS_ID
from tests.ui.desk import Desk, choose, escape
from tests.ui.measuring import require_room
from tests.ui.test_everywhere import judge, require_headings
from tests.ui.test_texts import texts

ADDRESS = f"/object/TenantSettings/{SETTINGS_ID}"


def test_every_setting_and_every_choice_has_its_text() -> None:
    managed = {"ID", "tenantId", "createdAt", "createdBy", "modifiedAt", "modifiedBy"}
    wanted = set()
    for field in model.entity("TenantSettings").fields:
        if field.wire not in managed:
            wanted |= {field.wire, *(f"{field.wire}.{one}" for one in field.choices)}
    for language in ("en", "de"):
        assert {f"resources.setting.{one}" for one in wanted} <= texts("resources", language).keys()


@pytest.mark.smoke
def test_settings_are_explained_changed_together_and_refused_at_their_fields(desk: Desk) -> None:
    page = desk.sit(address="/")
    page.get_by_role("treeitem", name="Settings", exact=True).click()
    page.get_by_text("A change can change every price from the next basket on. Default: In their order.").wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    choose(page.get_by_role("combobox", name="Approval", exact=True), "Approval is binding")
    level, amount = (page.get_by_role("textbox", name=name) for name in ("Significance level", "Approval from amount"))
    level.fill("0.1")
    amount.fill("100")
    amount.press("Tab")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("dialog").get_by_text("are set, or cleared, together").wait_for()
    escape(page)
    currency = page.get_by_role("combobox", name="Approval currency")
    expect(currency).to_have_attribute("aria-invalid", "true")
    choose(currency, "Euro")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    expect(page.get_by_text("Approval is binding", exact=True).last).to_be_visible()
    with desk.shop.http() as http:
        stored = http.get(f"/admin/TenantSettings({SETTINGS_ID})").json()
        assert (stored["approval"], stored["significanceLevel"], stored["approvalCurrency"]) == ("BINDING", 0.1, "EUR")
        usual = {"approval": "OFF", "significanceLevel": 0.05, "approvalFromAmount": None, "approvalCurrency": None}
        assert http.patch(f"/admin/TenantSettings({SETTINGS_ID})", json=usual).status_code == 200


def test_who_is_no_administrator_reads_settings_only(desk: Desk) -> None:
    page = desk.sit("planner", address=ADDRESS)
    page.get_by_text("In their order", exact=True).first.wait_for()
    expect(page.get_by_role("heading", name="Rate limits and use")).to_have_count(1)
    expect(page.get_by_role("heading", name="Certificates and trust")).to_have_count(0)
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "de"])
def test_everybody_can_use_the_page_on_every_screen(desk: Desk, language: str) -> None:
    page = desk.sit(address=ADDRESS, language=language)
    assert not judge(page)
    page.get_by_role("button", name={"en": "Edit", "de": "Bearbeiten"}[language], exact=True).click()
    page.get_by_role("button", name={"en": "Save", "de": "Speichern"}[language], exact=True).wait_for()
    desk.settle(page)
    assert not judge(page)
    require_headings(page)
    require_room(desk, page)
    require_headings(page)


def test_limits_and_their_use_are_shown_and_read_again(desk: Desk) -> None:
    page = desk.sit(address=ADDRESS)
    row = page.get_by_role("row").filter(has_text="All together")
    expect(row).to_contain_text("120,000")
    with page.expect_response("**/AdminService.rateLimits()"):
        page.get_by_role("button", name="Read Again").click()
    expect(page.get_by_role("row").filter(has_text="60,000").first).to_be_visible()
    expect(page.get_by_role("button", name="Rate limits")).to_have_count(0)


def test_administrators_see_what_is_trusted_and_when_it_ends(desk: Desk) -> None:
    soon, over = "2026-12-24T10:00:00Z", "2026-01-24T10:00:00Z"
    listener = {"name": "CN=prices.example", "fingerprint": ":".join(["AB"] * 32), "since": "2025-01-24T10:00:00Z"}
    rows = [
        {**listener, "use": "SERVER_CERTIFICATE", "until": soon, "state": "EXPIRES_SOON"},
        {**listener, "use": "CLIENT_AUTHORITY", "until": over, "state": "EXPIRED"},
    ]
    page = desk.sit(address=ADDRESS)
    row = page.get_by_role("row").filter(has_text="Issuer of tokens: this service")
    expect(row).to_contain_text("No end")
    expect(page.get_by_role("row").filter(has_text="Key that signs tokens").first).to_be_visible()
    expect(page.get_by_text("shows no certificate of its own")).to_be_visible()
    expect(page.get_by_role("button", name="Certificates", exact=True)).to_have_count(0)
    page.route("**/AdminService.certificates()", lambda route: route.fulfill(json={"value": rows}))
    page.reload()
    for what, words, colour in (
        ("Certificate of this service", "expires soon", "Warning"),
        ("Authority of client certificates", "expired", "Error"),
    ):
        row = page.get_by_role("row").filter(has_text=what)
        expect(row).to_contain_text(listener["fingerprint"])
        expect(row.locator(f".sapMObjStatus{colour}")).to_contain_text(words)
    desk.settle(page)
    assert not judge(page)
    require_room(desk, page)

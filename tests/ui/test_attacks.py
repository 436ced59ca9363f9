"""Unusual situations: braces and markup in names, failing requests, expired sessions, double clicks."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.ui.desk import Desk, Shop, escape

BRACED = "{name} 50 % {i18n>x} {= alert(1)} \\{y\\}"
MARKUP = "<b>x</b><img src=x onerror=alert(1)> \"q\" 'a' {"
NAMED: dict[str, dict[str, Any]] = {
    "Budgets": {"totalAmount": 100, "currency": "EUR"},
    "Stakeholders": {},
    "CouponTypes": {"codeType": "INDIVIDUAL"},
    "Campaigns": {"startAt": "2026-01-01T00:00:00Z", "endAt": "2036-01-01T00:00:00Z"},
    "PosGroups": {"currency": "EUR"},
    "MutualExclusionGroups": {},
    "Promotions": {"validFrom": "2026-01-01T00:00:00Z"},
}


def make(shop: Shop, set_name: str, name: str, **more: Any) -> str:
    """Create an active entity with that name; return its ID."""
    with shop.http() as http:
        values = {"code": f"{{{uuid4().hex[:8]}}}", "name": name, **NAMED[set_name], **more}
        draft = http.post(f"/admin/{set_name}", json=values)
        assert draft.status_code == 201, draft.text
        key = draft.json()["ID"]
        if draft.json().get("IsActiveEntity") is False:
            made = http.post(f"/admin/{set_name}(ID={key},IsActiveEntity=false)/draftActivate", json={})
            assert made.status_code < 300, made.text
        return str(key)


def address_of(set_name: str, key: str) -> str:
    """Return the URL of an entity's page."""
    return f"promotion/{key}" if set_name == "Promotions" else f"object/{set_name}/{key}"


def go(page: Page, address: str) -> None:
    """Go to another page of the open application."""
    page.evaluate("address => { window.location.hash = address; }", address)


def show_no_dialog(dialog: Dialog) -> None:
    """Fail if a dialog opens: no name may be executed as a script."""
    dialog.dismiss()
    pytest.fail(f"a script ran: {dialog.message}")


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize("set_name", NAMED)
def test_a_name_with_markup_is_shown_literally(desk: Desk, set_name: str) -> None:
    addresses = {name: address_of(set_name, make(desk.shop, set_name, name)) for name in (BRACED, MARKUP)}
    page = desk.sit(address=addresses[BRACED])
    page.on("dialog", show_no_dialog)
    for name, address in addresses.items():
        go(page, address)
        expect(page.get_by_role("heading", level=1).filter(has_text=name)).to_be_visible()
        desk.settle(page)


def test_reports_of_budgets_name_them_as_they_are_called(desk: Desk) -> None:
    key = make(desk.shop, "Budgets", BRACED)
    page = desk.sit(address=f"reports/budgets?budget={key}")
    expect(page.get_by_role("heading").filter(has_text=BRACED).first).to_be_visible()


def list_address(set_name: str, state: Any) -> str:
    """Return a list's URL as in a shared link: OpenUI5 encodes what it writes there twice."""
    return f"list/{set_name}?q={quote(quote(json.dumps(state), safe=''), safe='')}"


@pytest.mark.parametrize("name", [BRACED, "{= Object.assign(Object.getPrototypeOf(JSON), ['ran'])}"])
def test_filter_names_from_a_link_are_shown_as_text_and_never_executed(desk: Desk, name: str) -> None:
    """The sender of a link chooses the filter names, and the page shows them."""
    chosen = [{"key": str(uuid4()), "text": name}]
    page = desk.sit(address=list_address("Articles", {"filters": {"articleGroup_ID": chosen}}))
    expect(page.locator(".sapMTokenText")).to_have_text(name)
    assert page.evaluate("({})[0]") is None


@pytest.mark.sampled(test=3, check=3)
@pytest.mark.parametrize(
    "state",
    [
        None, 1, "x", [], {"filters": "x"}, {"filters": [1]}, {"search": {"a": 1}}, {"sort": "x"},
        {"sort": {"path": "no"}}, {"status": {"a": 1}}, {"filters": {"articleGroup_ID": "x"}},
        {"filters": {"articleGroup_ID": [1, None]}}, {"filters": {"isActive": "x"}}, {"filters": {"source": {"a": 1}}},
        {"filters": {"nonsense": 1}}, {"filters": {"createdAt": {"from": "x"}}},
        {"filters": {"articleNumber": {"a": 1}}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_a_damaged_link_still_shows_the_list(desk: Desk, state: Any) -> None:
    page = desk.sit(address=list_address("Articles", state))
    expect(page.get_by_role("gridcell", name="100001").first).to_be_visible()


def fail(route: Route) -> None:
    """Answer as a proxy does when the service is down."""
    route.fulfill(status=503, content_type="text/plain", body="upstream")


@pytest.mark.parametrize("address", ["list/Budgets", "promotions", "reports/performance", ""])
def test_a_page_shows_a_message_if_the_service_does_not_answer(desk: Desk, address: str) -> None:
    page = desk.sit(address="reports", language="de")
    for part in ("admin", "reporting"):
        page.route(f"**/{part}/**", fail)
    go(page, address)
    expect(page.get_by_text("Der Dienst antwortet gerade nicht").first).to_be_visible()
    desk.forgive("503", "failed", "Failed")


@pytest.mark.parametrize("address", ["list/Budgets", "promotions", "reports/hours"])
def test_an_expired_session_asks_for_a_login_on_the_page(desk: Desk, address: str) -> None:
    page = desk.sit(address="reports")
    body = '{"error": {"code": "UNAUTHORIZED", "message": "The token has expired."}}'
    for part in ("admin", "reporting"):
        page.route(f"**/{part}/**", lambda route: route.fulfill(status=401, content_type="application/json", body=body))
    go(page, address)
    again = page.get_by_role("alertdialog").filter(has_text="sign").get_by_role("button").first
    expect(again).to_be_visible()
    # The dialog is modal: Escape does not close it.
    escape(page, closes=False)
    expect(again).to_be_visible()
    desk.forgive("401", "failed", "Failed")


@pytest.mark.smoke
def test_double_clicks_on_edit_and_save_act_once(desk: Desk) -> None:
    key = make(desk.shop, "Budgets", f"Budget {uuid4().hex[:8]}")
    page = desk.sit(address=f"object/Budgets/{key}")
    page.get_by_role("button", name="Edit").dblclick()
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_be_editable()
    name.fill("Saved once")
    page.get_by_role("button", name="Save", exact=True).dblclick()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    expect(page.get_by_role("heading", level=1).filter(has_text="Saved once")).to_be_visible()
    expect(page.get_by_role("alertdialog")).to_have_count(0)


@pytest.mark.parametrize("address", ["%", "list/Articles?q=%25", "promotion/%E4%"])
def test_a_truncated_link_leads_to_the_home_page(desk: Desk, address: str) -> None:
    page = desk.sit(address=address)
    expect(page.get_by_role("treeitem", name="Overview")).to_be_visible()
    page.wait_for_url(lambda url: url.rstrip("#/") == desk.shop.url)


@pytest.mark.parametrize("address", ["nowhere/at/all", "list/Nonsense", "reports/nonsense"])
def test_an_unknown_url_shows_a_message(desk: Desk, address: str) -> None:
    page = desk.sit(address=address)
    expect(page.get_by_text(re.compile("^There is (no|nothing)")).first).to_be_visible()
    desk.forgive("404 GET", "Failed to get contexts")

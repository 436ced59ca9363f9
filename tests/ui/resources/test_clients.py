"""Clients of the service: an administrator makes them, renews their secrets and switches them off."""

from __future__ import annotations

from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import Page, expect

from promenade.model.access.clients import SCOPES
from tests.ui.desk import Desk
from tests.ui.test_texts import APP, texts


def _grant(desk: Desk, client_id: str, secret: str) -> int:
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    return httpx2.post(f"{desk.shop.url}/oauth/token", data=form, timeout=30).status_code


def _shown(page: Page) -> tuple[str, str]:
    """Return the client's ID and secret from the dialog, and leave it."""
    dialog = page.get_by_role("dialog", name="The client's secret")
    boxes = [dialog.get_by_role("textbox", name=name) for name in ("Client ID", "Secret")]
    expect(boxes[1]).not_to_have_value("")
    found = boxes[0].input_value(), boxes[1].input_value()
    page.get_by_role("button", name="I Have Copied It").click()
    expect(dialog).to_have_count(0)
    return found


def test_every_scope_can_be_chosen_and_has_a_sentence() -> None:
    page = (APP / "resources" / "Clients.js").read_text("utf-8")
    assert all(f'"{scope}"' in page for scope in SCOPES)
    for language in ("en", "de"):
        assert {f"resources.scope.{scope}" for scope in SCOPES} <= texts("resources", language).keys()


@pytest.mark.smoke
def test_a_client_is_made_renewed_and_switched_off(desk: Desk) -> None:
    page = desk.sit(address="/list/Clients")
    page.get_by_role("button", name="New Client").click()
    dialog = page.get_by_role("dialog", name="New Client")
    dialog.get_by_role("textbox", name="Name").fill(f"Kiosk {uuid4().hex[:6]}")
    scopes = dialog.get_by_role("combobox", name="Scopes")
    scopes.click()
    scopes.press_sequentially("svc.POS")
    expect(scopes).to_have_value("svc.POSReader")
    scopes.press("Enter")
    scopes.press("Tab")
    expect(dialog.locator(".sapMToken")).to_have_text("svc.POSReader")
    dialog.get_by_role("button", name="New Client").click()
    client_id, first = _shown(page)
    assert _grant(desk, client_id, first) == 200
    page.get_by_role("button", name="New Secret").click()
    assert _shown(page)[0] == client_id
    page.get_by_role("button", name="Withdraw tokens").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Withdraw tokens").click()
    page.get_by_text("Done: Withdraw tokens").wait_for()
    desk.settle(page)
    page.get_by_role("button", name="Switch Off").click()
    expect(page.get_by_role("button", name="Switch On")).to_be_enabled()
    assert _grant(desk, client_id, first) == 401

"""Every page, in light and dark, English and German: it opens, logs nothing to the console, and passes axe.

Axe finds no violation of WCAG 2.2 A and AA. Headings are in order, the first is
the window's title, and on wide and narrow screens everything is reachable and every text can be read whole.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.clients.conftest import MODULES
from tests.ui.desk import Desk, wait_until
from tests.ui.measuring import require_room

AXE = MODULES / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SETS = [
    "PromotionTemplates", "Campaigns", "PromotionPilotConfigs", "PriorityGroups", "MutualExclusionGroups",
    "CouponTypes", "CouponCodeBatches", "RedemptionLogs", "Budgets", "Stakeholders", "Articles", "ArticleGroups",
    "PosGroups", "CustomerGroups", "LoyaltyTiers", "WebhookSubscriptions", "NotificationLogs", "LocalDeployments",
    "SyncHistory", "People", "GroupRoles", "Clients", "BasketTests", "BudgetRequests", "AuditLogs",
]  # fmt: skip
OBJECTS = [
    "Promotions", "Campaigns", "CouponTypes", "Budgets", "Articles", "ArticleGroups", "PosGroups", "PromotionTemplates",
    "People", "Clients", "TenantSettings",
]  # fmt: skip
PAGES = [
    "", "promotions", "promotions/calendar", "promotions/new", "simulator", "reports", "imports",
    *(f"list/{one}" for one in SETS),
]  # fmt: skip
LOOKS = {"light": ("light", "en"), "dark": ("dark", "de")}


def judge(page: Page) -> list[str]:
    """Return the violations that axe finds, one line each, once nothing is left of controls that have gone."""
    if not AXE.exists():
        pytest.skip(f"no axe in {MODULES}: `make check` fetches it where npm can")
    wait_until(page, "() => !document.querySelector('[id^=sap-ui-destroyed]')")
    page.evaluate(AXE.read_text("utf-8"))
    # Only violations are reported: axe need not describe what passes.
    how = "{runOnly: {type: 'tag', values: rules}, resultTypes: ['violations']}"
    run = f"rules => axe.run(document, {how}).then(found => found.violations)"
    found: list[dict[str, Any]] = page.evaluate(run, RULES)
    return [
        f"{one['impact']} {one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found
        for node in one["nodes"][:3]
    ]


HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6, [role=heading]")]
  .filter((one) => one.checkVisibility({visibilityProperty: true}))
  .map((one) => [Number(one.getAttribute("aria-level") || one.tagName[1]), one.textContent])"""


def require_headings(page: Page) -> None:
    """Fail unless the page has one first-level heading that names the window, and no level is skipped."""
    headings: list[tuple[int, str]] = page.evaluate(HEADINGS)
    levels = [level for level, _ in headings]
    assert levels[0] == 1, headings
    assert levels.count(1) == 1, headings
    assert all(after <= before + 1 for before, after in pairwise(levels)), headings
    name = headings[0][1].rsplit(" (", 1)[0]  # a list's heading includes its row count
    expect(page).to_have_title(f"{name} \N{EN DASH} Promenade")


@pytest.mark.sampled(test=3, check=3)  # a third of the pages and looks in `make check`, all of them in `make soak`
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("address", PAGES)
def test_a_page_opens_and_can_be_used_by_everybody(desk: Desk, address: str, look: str) -> None:
    colours, language = LOOKS[look]
    page = desk.sit(address=address, colours=colours, language=language)
    assert not judge(page)
    require_headings(page)
    require_room(desk, page)


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("set_name", OBJECTS)
def test_an_object_opens_and_can_be_used_by_everybody(desk: Desk, set_name: str, language: str) -> None:
    with desk.shop.http() as http:
        rows = http.get(f"/admin/{set_name}?$top=5").json()["value"]
    found = next(one["ID"] for one in rows if one.get("IsActiveEntity", True))
    address = f"promotion/{found}" if set_name == "Promotions" else f"object/{set_name}/{found}"
    page = desk.sit(address=address, language=language)
    assert not judge(page)
    require_headings(page)
    require_room(desk, page)

"""Every page, in light and dark, English and German: it opens, logs nothing to the console, and passes axe.

Axe finds no violation of WCAG 2.2 A and AA. Headings are in order, the first is
the window's title, and everything is reachable on narrow screens, which is also what wide ones are at 200 %.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.clients.conftest import MODULES
from tests.ui.desk import Desk, wait_until

AXE = MODULES / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SETS = [
    "PromotionTemplates", "Campaigns", "PromotionPilotConfigs", "PriorityGroups", "MutualExclusionGroups",
    "CouponTypes", "CouponCodeBatches", "RedemptionLogs", "Budgets", "Stakeholders", "Articles", "ArticleGroups",
    "PosGroups", "WebhookSubscriptions", "NotificationLogs", "LocalDeployments", "SyncHistory", "AuditLogs",
]  # fmt: skip
OBJECTS = ["Campaigns", "CouponTypes", "Budgets", "Articles", "ArticleGroups", "PosGroups", "PromotionTemplates"]
PAGES = ["", "promotions", "promotions/calendar", "simulator", "reports", "imports", *(f"list/{one}" for one in SETS)]
NARROW = [(1024, 768), (640, 450), (390, 844)]
LOOKS = {"light": ("light", "en"), "dark": ("dark", "de")}


def judge(page: Page) -> list[str]:
    """Return the violations that axe finds, one line each."""
    if not AXE.exists():
        pytest.skip(f"no axe in {MODULES}: `make check` fetches it where npm can")
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
# Usable elements outside the window. Tables have their own scroll bar.
MISFITS = """() => {
  const scrolls = (one) => one && (one.matches(".sapUiTableCtrlScr")
    || (/auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth)
    || scrolls(one.parentElement));
  const isBeside = ({left, right, width}) => width > 1 && (right > window.innerWidth + 1 || left < -1);
  return [...document.querySelectorAll("h1, h2, a[href], button, input, [role=button], [role=tab]")]
    .filter((one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .filter((one) => isBeside(one.getBoundingClientRect()) && !scrolls(one.parentElement))
    .map((one) => one.outerHTML.slice(0, 200));
}"""


def require_headings(page: Page) -> None:
    """Fail unless the page has one first-level heading that names the window, and no level is skipped."""
    headings: list[tuple[int, str]] = page.evaluate(HEADINGS)
    levels = [level for level, _ in headings]
    assert levels[0] == 1, headings
    assert levels.count(1) == 1, headings
    assert all(after <= before + 1 for before, after in pairwise(levels)), headings
    name = headings[0][1].rsplit(" (", 1)[0]  # a list's heading includes its row count
    expect(page).to_have_title(f"{name} \N{EN DASH} Promenade")


def require_reach(page: Page) -> None:
    """Fail if a usable element lies outside a narrow window."""
    for width, height in NARROW:
        page.set_viewport_size({"width": width, "height": height})
        try:
            wait_until(page, f"() => ({MISFITS})().length === 0")
            wait_until(page, "() => document.documentElement.scrollWidth <= window.innerWidth")
        except AssertionError:
            pytest.fail(f"beside a window of {width} pixels: {page.evaluate(MISFITS)}")


@pytest.mark.sampled(test=3, check=3)  # a third of the pages and looks in `make check`, all of them in `make soak`
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("address", PAGES)
def test_a_page_opens_and_can_be_used_by_everybody(desk: Desk, address: str, look: str) -> None:
    colours, language = LOOKS[look]
    page = desk.sit(address=address, colours=colours, language=language)
    desk.settle(page)
    assert not judge(page)
    require_headings(page)
    if language == "de":  # its words are longer
        require_reach(page)


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize("set_name", OBJECTS)
def test_an_object_opens_and_can_be_used_by_everybody(desk: Desk, set_name: str) -> None:
    with desk.shop.http() as http:
        row = http.get(f"/admin/{set_name}?$top=1&$filter=IsActiveEntity eq true").json()["value"][0]
    page = desk.sit(address=f"object/{set_name}/{row['ID']}")
    desk.settle(page)
    assert not judge(page)
    require_headings(page)
    require_reach(page)

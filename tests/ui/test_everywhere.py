"""Every page there is, in light and dark, English and German: it opens, says nothing on the console, and axe agrees.

Axe judges by the rules of WCAG 2.1 A and AA; nothing of it may be serious or critical.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.clients.conftest import MODULES
from tests.ui.desk import Desk

AXE = MODULES / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
SETS = [
    "PromotionTemplates", "Campaigns", "PromotionPilotConfigs", "PriorityGroups", "MutualExclusionGroups",
    "CouponTypes", "CouponCodeBatches", "RedemptionLogs", "Budgets", "Stakeholders", "Articles", "ArticleGroups",
    "PosGroups", "WebhookSubscriptions", "NotificationLogs", "LocalDeployments", "SyncHistory", "AuditLogs",
]  # fmt: skip
OBJECTS = ["Campaigns", "CouponTypes", "Budgets", "Articles", "ArticleGroups", "PosGroups", "PromotionTemplates"]
PAGES = ["", "promotions", "promotions/calendar", "simulator", "reports", "imports", *(f"list/{one}" for one in SETS)]
LOOKS = {"light": ("light", "en"), "dark": ("dark", "de")}


def settle(page: Page) -> None:
    """Wait until the page in front has its heading and nothing on it is busy or on its way any more."""
    page.locator(
        "#promenade---shell--pages [role=heading]:visible, #promenade---shell--pages h1:visible"
    ).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_function(
        "!document.querySelector('.sapUiLocalBusyIndicator') && !document.querySelector('.sapMNavItemSliding')"
    )


def judge(page: Page) -> list[str]:
    """What axe finds serious, in a line for each."""
    if not AXE.exists():
        pytest.skip(f"no axe in {MODULES}: `make check` fetches it where npm can")
    page.evaluate(AXE.read_text("utf-8"))
    run = "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}}).then(found => found.violations)"
    found: list[dict[str, Any]] = page.evaluate(run, RULES)
    return [
        f"{one['impact']} {one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("address", PAGES)
def test_a_page_opens_and_can_be_used_by_everybody(desk: Desk, address: str, look: str) -> None:
    colours, language = LOOKS[look]
    page = desk.sit(address=address, colours=colours, language=language)
    settle(page)
    assert not judge(page)


@pytest.mark.parametrize("set_name", OBJECTS)
def test_an_object_opens_and_can_be_used_by_everybody(desk: Desk, set_name: str) -> None:
    with desk.shop.http() as http:
        row = http.get(f"/admin/{set_name}?$top=1&$filter=IsActiveEntity eq true").json()["value"][0]
    page = desk.sit(address=f"object/{set_name}/{row['ID']}")
    settle(page)
    assert not judge(page)

"""Trials in one line: the verdict in words, how far it may be off, and how long it takes to tell a difference."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop
from tests.ui.reports.pages import Reports, number, opened, twin

PLAN = {"baskets": 12_345, "moreBaskets": 11_987, "moreDays": 9, "difference": 5, "currency": "EUR"}
GOING = {
    "experimentTransactions": 900,
    "controlTransactions": 900,
    "adjustedPValue": None,
    "adjustedUplift": None,
    "currency": "EUR",
}


@pytest.fixture(scope="module")
def planned(shop: Shop, reports: Reports) -> str:
    """Return an experiment that has not begun, in two of the demo's stores."""
    groups = {row["code"]: row["ID"] for row in reports.rows("PosGroups", "admin", filter="IsActiveEntity eq true")}
    made = {
        "name": "Experiment to come",
        "isExperiment": True,
        "experimentGroupId": groups["DE-HAM"],
        "controlGroupId": groups["DE-BER"],
        "IsActiveEntity": True,
    }
    with shop.http() as http:
        answer = http.post("/admin/Promotions", json=made)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ID"])


def plan(shop: Shop, promotion: str, difference: str) -> dict[str, Any]:
    with shop.http() as http:
        answer = http.get(f"/reporting/planTrial(promotionId={promotion},difference={difference})")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json(parse_float=Decimal)
    return found


def sit(desk: Desk, promotion: str, **how: str) -> Page:
    page = desk.sit(address=f"reports/abTests?promotion={promotion}", **how)
    opened(page, "trialPlan")
    return page


SAID: list[tuple[dict[str, Any] | None, dict[str, Any], list[str]]] = [
    (
        {"adjustedPValue": 0.01, "adjustedUplift": 4.2, "adjustedIsSignificant": True, "adjustedUpliftLow": 1.1}
        | {"adjustedUpliftHigh": 7.3},
        {},
        ["4.2% more is sold per basket (between 1.1% and 7.3%): that is hardly chance."],
    ),
    (
        {"revenueUplift": -3, "revenueIsSignificant": True, "revenueUpliftLow": -5, "revenueUpliftHigh": -1},
        {},
        ["3% less is sold per basket (between 1% and 5%)", "may be a difference of the shops"],
    ),
    (
        {"revenueUplift": 2, "revenueIsSignificant": False, "revenueUpliftLow": -1, "revenueUpliftHigh": 5},
        {},
        ["No difference can be told yet (between -1% and +5% per basket).", "about 12,000 more baskets, 9 more days"],
    ),
    (
        {"revenueUplift": 2, "revenueIsSignificant": False, "revenueUpliftLow": -1, "revenueUpliftHigh": 5},
        {"moreBaskets": 0, "moreDays": 0},
        ["No difference can be told yet", "One of 5% would probably have shown by now."],
    ),
    (
        {"revenueUplift": None, "revenueIsSignificant": None, "revenueUpliftLow": None, "revenueUpliftHigh": None},
        {"baskets": None},
        ["No difference can be told yet: too few baskets."],
    ),
    (None, {}, ["This trial has no sales yet.", "about 12,000 more baskets"]),
]


def test_the_verdict_is_one_line_that_claims_what_the_test_does(desk: Desk) -> None:
    page = desk.sit(address="reports")
    page.locator(".promDoor").first.wait_for()
    for given, planned, said in SAID:
        found = page.evaluate(
            """async ([row, plan]) => {
              const load = (names) => new Promise((resolve) => sap.ui.require(names, (...all) => resolve(all)));
              const [Verdict, Component] = await load(["promenade/reports/Verdict", "sap/ui/core/Component"]);
              const bundle = await Component.getComponentById("promenade").getModel("i18n").getResourceBundle();
              return Verdict.headline((key, ...values) => bundle.getText(`reports.${key}`, values), row, plan);
            }""",
            [given and GOING | given, PLAN | planned],
        )
        assert [one for one in said if one not in found["text"].replace("\u2212", "-")] == [], found
        assert found["isReal"] == ("that is hardly chance" in found["text"])


def test_a_trial_has_its_verdict_on_top(desk: Desk, juice: dict[str, Any]) -> None:
    page = sit(desk, juice["promotionId"])
    headline = page.locator(".promHeadline:visible")
    is_of_past = juice["adjustedPValue"] is not None
    is_real = juice["adjustedIsSignificant"] if is_of_past else juice["revenueIsSignificant"]
    expect(headline).to_contain_text("that is hardly chance" if is_real else "No difference can be told yet")
    expect(page.locator(".promGrid > *").first).to_have_class(re.compile("promHeadline"))


def test_bars_of_a_trial_show_how_far_they_may_be_off(desk: Desk, reports: Reports, juice: dict[str, Any]) -> None:
    page = sit(desk, juice["promotionId"])
    arms = reports.rows("PromotionAbComparison", filter=f"promotionId eq {juice['promotionId']}", orderby="arm")
    assert all(row["avgBasketLow"] < row["avgBasket"] < row["avgBasketHigh"] for row in arms)
    for card, name in (("averageBasket", "avgBasket"), ("conversionRate", "conversionRate")):
        told = [tuple(number(one) for one in row[-1].split(" to ")) for row in twin(page, card)]
        assert told == [(row[f"{name}Low"], row[f"{name}High"]) for row in arms]
    drawn = page.evaluate(
        """() => new Promise((resolve) => sap.ui.require(["promenade/framework/chart"], (Chart) => resolve(
          Object.values(Chart.instances).map(({options, scales}) => [options.plugins.promenadeErrors.bounds, scales.x])
            .filter(([bounds]) => bounds).map(([bounds, x]) => [bounds, x.min, x.max]))))"""
    )
    shown = [bounds for bounds, *_ in drawn]
    for name in ("avgBasket", "conversionRate"):
        assert [[float(row[f"{name}Low"]), float(row[f"{name}High"])] for row in arms] in shown
    for bounds, least, most in drawn:
        ends = [end for both in bounds if both for end in both]
        assert least <= min(ends)
        assert max(ends) <= most


def test_an_experiment_is_planned_before_it_begins(desk: Desk, planned: str) -> None:
    page = desk.sit(address="reports/abTests")
    opened(page, "verdict")
    page.get_by_role("textbox", name="Promotion", exact=True).press_sequentially("experiment to COME")
    page.get_by_role("option", name="Experiment to come").click()
    page.wait_for_url(f"**promotion={planned}**")
    opened(page, "trialPlan")
    expect(page.locator(".promHeadline:visible")).to_contain_text("This trial has no sales yet.")
    expected = plan(desk.shop, planned, "5")
    card = page.locator(".promCard-trialPlan:visible")
    expect(card).to_contain_text(f"about {expected['baskets']:,} baskets")
    expect(card).to_contain_text(f"{expected['days']:,} days at")
    field = card.get_by_role("spinbutton")
    field.fill("20")
    field.press("Enter")
    other = plan(desk.shop, planned, "20")
    assert other["baskets"] < expected["baskets"]
    expect(card).to_contain_text(f"about {other['baskets']:,} baskets")
    expect(page.locator(".promHeadline:visible")).to_contain_text("To tell one of 20%")
    expect(field).to_be_focused()


def test_a_plan_is_told_in_german(desk: Desk, planned: str) -> None:
    page = sit(desk, planned, language="de")
    expect(page.locator(".promHeadline:visible")).to_contain_text("Dieser Versuch hat noch keine Verkäufe.")
    expect(page.locator(".promCard-trialPlan:visible")).to_contain_text("Warenkörbe beider Gruppen zusammen")
    assert "reports." not in page.locator("body").inner_text()

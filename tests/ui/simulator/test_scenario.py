"""Scenario files of the simulator: the engine's tests price saved files identically, and it opens theirs."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.engine.scenario_kit import FOLDER, Scenario, parse
from tests.engine.scenario_outcome import differences
from tests.engine.test_scenarios import price
from tests.ui.desk import Desk

PREFIX = "#promenade---simulator--"
COFFEE, SHAMPOO = "100078", "100109"
YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)  # the demo's promotions started two months before today
BASKETS: dict[str, dict[str, Any]] = {
    "coupons_and_a_return": {
        "s": "DE-HAM",
        "k": ["WELCOME10", "NO-SUCH-CODE"],
        "u": {"i": "C-10042", "t": "GOLD", "p": "120"},
        "l": [[COFFEE, "2", "24.49"], [SHAMPOO, "3", "5.99"], [COFFEE, "-1", "24.49"]],
    },
    "staff_before_an_exclusion_group": {
        "s": "DE-BER",
        "t": f"{YESTERDAY}T17:30",
        "u": {"g": "STAFF"},
        "p": {"m": "CARD", "t": "VISA"},
        "l": [[SHAMPOO, "6", "5.99"], ["100881", "2", "26.89"], ["100743", "1", "35.19"], ["UNKNOWN", "0.5", "10"]],
    },
    "lines_that_say_more_of_themselves": {
        "s": "DE-HAM",
        "l": [
            [
                SHAMPOO,
                "3",
                "5.99",
                {"r": "first", "g": "G010201", "m": "M-OBSTWERK", "f": [["origin", "ES"]], "w": "7"},
            ],
            ["UNKNOWN", "4", "24.49", {"e": "4012345000009"}],
        ],
    },
    "a_currency_without_decimals": {"s": "JP-TYO", "l": [[COFFEE, "2", "3000"], [SHAMPOO, "4", "900"]]},
}


def _address(basket: dict[str, Any]) -> str:
    packed = base64.urlsafe_b64encode(json.dumps(basket).encode()).decode().rstrip("=")
    return f"simulator?b=j{packed}"


def _choose(page: Page, entry: str) -> None:
    page.locator(f"{PREFIX}file").get_by_role("button").first.click()
    page.get_by_role("menuitem", name=entry).click()


def _saved(page: Page, path: Path) -> Scenario:
    page.locator(f"{PREFIX}grandTotal").wait_for()
    with page.expect_download() as download:
        _choose(page, "Save as scenario")
    download.value.save_as(path)
    return parse(path.read_text("utf-8"), path)


@pytest.mark.parametrize("name", BASKETS)
def test_a_saved_basket_is_priced_alike_by_the_engine(desk: Desk, tmp_path: Path, name: str) -> None:
    page = desk.sit("planner", address=_address(BASKETS[name]))
    scenario = _saved(page, tmp_path / f"{name}.yaml")
    assert scenario.expect["applied"]
    assert not differences(scenario, price(scenario))


def test_a_line_with_only_an_ean_is_priced_alike_by_the_engine(desk: Desk, tmp_path: Path) -> None:
    with desk.shop.http() as http:
        [coffee] = http.get(f"/admin/Articles?$filter=articleNumber eq '{COFFEE}'&$select=ean").json()["value"]
    page = desk.sit(
        "planner", address=_address({"s": "DE-HAM", "l": [["UNKNOWN", "2", "24.49", {"e": coffee["ean"]}]]})
    )
    scenario = _saved(page, tmp_path / "saved.yaml")
    assert "TOUR-COFFEE" in scenario.expect["applied"]
    assert not differences(scenario, price(scenario))


@pytest.mark.smoke
def test_a_saved_scenario_names_the_winner_and_the_difference(desk: Desk, tmp_path: Path) -> None:
    with desk.shop.http() as http:
        [rival] = http.get("/admin/Articles?$filter=category eq 'Conditioner'&$top=1&$orderby=articleNumber").json()[
            "value"
        ]
    page = desk.sit("planner", address=_address({"s": "DE-HAM", "l": [[rival["articleNumber"], "4", "5.99"]]}))
    scenario = _saved(page, tmp_path / "saved.yaml")
    assert not differences(scenario, price(scenario))
    missed = scenario.expect["missed"]
    blocked = [row for row in missed.values() if row["code"] == "BLOCKED_BY_EXCLUSION_GROUP"]
    assert blocked
    assert all({"blockedBy", "difference"} <= set(row) for row in blocked)


def test_a_scenario_of_the_project_opens_with_its_basket(desk: Desk) -> None:
    page = desk.sit("planner", address="simulator")
    with page.expect_file_chooser() as chooser:
        _choose(page, "Open scenario")
    chooser.value.set_files(FOLDER / "coupons" / _WITH_COUPON)
    lines = page.locator(f"{PREFIX}lines")
    expect(lines).to_contain_text("SHIRT")
    expect(lines.locator("input").nth(1)).to_have_value("30.00")
    expect(page.locator(f"{PREFIX}coupons")).to_contain_text("SAVE5")


def test_a_file_that_is_not_a_scenario_is_refused_with_a_message(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("title: &anchor x\nbasket: *anchor\n")
    page = desk.sit("planner", address="simulator")
    with page.expect_file_chooser() as chooser:
        _choose(page, "Open scenario")
    chooser.value.set_files(other)
    expect(page.locator(f"{PREFIX}failed")).to_contain_text("no scenario")


_WITH_COUPON = next(
    path.name
    for path in sorted((FOLDER / "coupons").glob("*.yaml"))
    if "title: A code brings its promotion" in path.read_text("utf-8")
)

"""Times in the stores' time zone, whichever zone the browser is in: days without times, ends of days, the simulator."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop, escape
from tests.ui.simulator.test_page import COFFEE, PREFIX, choose_store, put

HERE = "#promenade---promotion--"
ELSEWHERE = ["America/Los_Angeles", "Pacific/Auckland"]  # behind the stores by nine hours, and ahead by twelve


def make(shop: Shop, name: str, **values: Any) -> str:
    with shop.http() as http:
        answer = http.post("/api/v1/Promotions", json={"name": name, **values})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ID"])


def read(shop: Shop, entity_id: str) -> dict[str, Any]:
    with shop.http() as http:
        answer = http.get(f"/api/v1/Promotions({entity_id})")
    found: dict[str, Any] = answer.json()
    return found


def edited(desk: Desk, entity_id: str, zone: str) -> Page:
    page = desk.sit("planner", address=f"promotion/{entity_id}", timezone_id=zone)
    page.locator(f"{HERE}edit").click()
    page.locator(f"{HERE}save").wait_for()
    return page


def fill(page: Page, label: str, value: str) -> None:
    field = page.locator(f"{HERE}generalContent").get_by_label(label, exact=True)
    field.fill(value)
    field.press("Tab")


def save(page: Page) -> None:
    page.locator(f"{HERE}save").click()
    page.locator(f"{HERE}edit").wait_for()


@pytest.mark.smoke
@pytest.mark.parametrize("zone", ELSEWHERE)
def test_a_day_alone_begins_and_ends_in_the_stores_time_zone(desk: Desk, zone: str) -> None:
    promotion = make(desk.shop, f"Days from {zone}")
    page = edited(desk, promotion, zone)
    fill(page, "Valid from", "24 Oct 2026")
    fill(page, "Valid to", "25 Oct 2026")  # with 25 hours, as summer time ends
    expect(page.locator(f"{HERE}generalContent")).to_contain_text("Europe/Berlin")
    save(page)

    stored = read(desk.shop, promotion)
    assert (stored["validFrom"], stored["validTo"]) == ("2026-10-23T22:00:00Z", "2026-10-25T23:00:00Z")
    expect(page.locator(f"{HERE}generalContent")).to_contain_text("25 Oct 2026")
    expect(page.locator(f"{HERE}page")).to_contain_text("24 Oct 2026 \N{EN DASH} 25 Oct 2026")


def test_a_time_can_be_given_and_is_shown_with_its_zone(desk: Desk) -> None:
    promotion = make(desk.shop, "Until noon")
    page = edited(desk, promotion, "Asia/Tokyo")
    fill(page, "Valid from", "28 Mar 2027")  # with 23 hours, as summer time begins
    fill(page, "Valid to", "28 Mar 2027")
    fill(page, "Valid to: time", "12:00")
    save(page)

    stored = read(desk.shop, promotion)
    assert (stored["validFrom"], stored["validTo"]) == ("2027-03-27T23:00:00Z", "2027-03-28T10:00:00Z")
    expect(page.locator(f"{HERE}generalContent")).to_contain_text("28 Mar 2027, 12:00 CEST")


def test_on_a_slow_line_a_time_stays_that_is_typed_while_its_day_is_saved(desk: Desk) -> None:
    promotion = make(desk.shop, "Until noon, far away")
    page = edited(desk, promotion, "Europe/Berlin")
    line = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 300, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.emulateNetworkConditions", slow)
    # The answer to the first day, which knows nothing of the second, comes while the time is typed.
    with page.expect_response(lambda one: '{"validTo":' in (one.request.post_data or "")):
        fill(page, "Valid from", "28 Mar 2027")
        fill(page, "Valid to", "28 Mar 2027")
        page.locator(f"{HERE}generalContent").get_by_label("Valid to: time", exact=True).fill("12:00")
    page.keyboard.press("Tab")
    save(page)

    assert read(desk.shop, promotion)["validTo"] == "2027-03-28T10:00:00Z"


def test_what_is_no_date_is_refused_and_an_empty_field_is_open(desk: Desk) -> None:
    promotion = make(desk.shop, "Open", validFrom="2026-01-01T00:00:00Z", validTo="2030-01-01T12:30:00Z")
    page = edited(desk, promotion, "Europe/Berlin")
    form = page.locator(f"{HERE}generalContent")
    expect(form.get_by_label("Valid to", exact=True)).to_have_value("1 Jan 2030")
    expect(form.get_by_label("Valid to: time", exact=True)).to_have_value("13:30")
    fill(page, "Valid to", "some day")
    expect(form.get_by_label("Valid to", exact=True)).to_have_attribute("aria-invalid", "true")
    fill(page, "Valid to: time", "")
    fill(page, "Valid to", "")
    expect(form.get_by_label("Valid to", exact=True)).not_to_have_attribute("aria-invalid", "true")
    save(page)

    stored = read(desk.shop, promotion)
    assert (stored["validFrom"], stored["validTo"]) == ("2026-01-01T00:00:00Z", None)


@pytest.mark.smoke
def test_the_simulator_asks_and_answers_on_the_stores_clock(desk: Desk) -> None:
    page = desk.sit("planner", address="simulator", timezone_id="America/Los_Angeles")
    choose_store(page, "JP-TYO")
    expect(page.locator(f"{PREFIX}at")).to_contain_text("Asia/Tokyo")
    # A time that clocks skip in Berlin, whose time the other pages show.
    page.locator(f"{PREFIX}at-day-inner").fill("28 Mar 2027")
    page.locator(f"{PREFIX}at-time-inner").fill("02:30")
    with page.expect_request(re.compile("/pos/v2/simulate")) as asked:
        put(page, COFFEE)
    body = json.loads(asked.value.post_data or "")
    assert body["request"]["timestamp"] == "2027-03-27T17:30:00Z"
    receipt = page.locator(f"{PREFIX}receipt")
    expect(receipt).to_contain_text("28 Mar 2027, 02:30 GMT+9")
    choose_store(page, "DE-HAM")
    expect(receipt).to_contain_text("28 Mar 2027, 03:30 CEST")


def test_the_last_day_that_can_be_written_means_for_ever(desk: Desk) -> None:
    promotion = make(desk.shop, "For ever")
    page = edited(desk, promotion, "Europe/Berlin")
    fill(page, "Valid to", "31 Dec 9999")
    save(page)

    assert read(desk.shop, promotion)["validTo"] == "9999-12-31T22:59:59Z"
    expect(page.locator(f"{HERE}page")).to_contain_text("31 Dec 9999, 23:59 CET")


def test_another_zone_of_the_stores_can_be_chosen_for_all_pages(desk: Desk) -> None:
    promotion = make(desk.shop, "A day in Tokyo", validFrom="2027-04-01T15:00:00Z", validTo="2027-04-02T15:00:00Z")
    page = desk.sit("planner", address=f"promotion/{promotion}")
    shown = page.locator(f"{HERE}page")
    expect(shown).to_contain_text("1 Apr 2027, 17:00 CEST \N{EN DASH} 2 Apr 2027, 17:00 CEST")
    page.get_by_role("button", name="Europe/Berlin").click()
    page.get_by_role("button", name="Asia/Tokyo").click()
    expect(shown).to_contain_text("2 Apr 2027 \N{EN DASH} 2 Apr 2027")
    page.get_by_role("button", name="Asia/Tokyo").click()
    expect(page.get_by_role("button", name="Europe/Zurich")).to_be_visible()
    escape(page)


def test_lists_filter_by_the_day_on_which_something_ends(desk: Desk) -> None:
    for day in ("2031-05-10", "2031-05-11"):
        with desk.shop.http() as http:
            campaign = {"code": f"ENDS-{day}", "name": f"Ends {day}", "endAt": f"{day}T22:00:00Z"}
            assert http.post("/api/v1/Campaigns", json=campaign).status_code == 201
    page = desk.sit("planner", address="list/Campaigns", timezone_id="America/Los_Angeles")
    field = page.get_by_role("textbox", name="End at")
    field.fill("10 May 2031 \N{EN DASH} 10 May 2031")
    field.press("Tab")
    expect(page.get_by_text("Ends 2031-05-10")).to_be_visible()
    expect(page.get_by_text("Ends 2031-05-11")).to_have_count(0)

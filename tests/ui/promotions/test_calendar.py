"""The calendar: colours with a legend, filters, other days by mouse and keyboard as a draft, a file for calendars."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, Held, Shop
from tests.ui.test_everywhere import judge

CALENDAR = "#promenade---calendar--"
MARCH = {"validFrom": "2032-03-09T23:00:00Z", "validTo": "2032-03-14T23:00:00Z"}  # from the 10th to the 14th in Berlin


def post(shop: Shop, address: str, **values: Any) -> dict[str, Any]:
    with shop.http() as http:
        answer = http.post(address, json=values)
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.json()
    return found


def make(shop: Shop, name: str, **values: Any) -> str:
    return str(post(shop, "/api/v1/Promotions", name=name, **MARCH, **values)["ID"])


def drafted(shop: Shop, role: str, entity_id: str) -> tuple[str, str]:
    with shop.http(role) as http:
        row = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=false)").json()
    return row["validFrom"], row["validTo"]


def opened(desk: Desk, search: str, *, role: str = "planner", more: str = "", **how: Any) -> Page:
    page = desk.sit(role, address=f"promotions/calendar?from=2032-03&search={quote(search)}{more}", **how)
    page.locator(".promenadeBar").first.wait_for()
    desk.settle(page)
    return page


def bar(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=re.compile(f"^{name}, .*10 Mar 2032"))


def draw(page: Page, what: Locator, days: int, *, edge: str = "middle") -> None:
    """Draw a bar, at an edge or as a whole, by so many days."""
    box, track = what.bounding_box(), page.locator(".promenadeTrack").first.bounding_box()
    assert box
    assert track
    x = {"start": box["x"] + 3, "middle": box["x"] + box["width"] / 2, "end": box["x"] + box["width"] - 3}[edge]
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + days * track["width"] / 31, y, steps=4)
    page.mouse.up()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_colours_by_campaign_are_explained_and_can_be_read(desk: Desk, colours: str) -> None:
    for code in (f"OKAPI-{colours}-1", f"OKAPI-{colours}-2"):
        campaign = post(desk.shop, "/api/v1/Campaigns", code=code, name=code)["ID"]
        make(desk.shop, f"Okapi {colours}", campaign_ID=campaign)
    page = opened(desk, f"okapi {colours}", more="&colour=campaign", colours=colours)
    expect(page.locator(f"{CALENDAR}legend li")).to_have_text([f"OKAPI-{colours}-1", f"OKAPI-{colours}-2"])
    bars = page.locator(".promenadeBar")
    expect(bars.nth(1)).to_have_text(f"Okapi {colours}, OKAPI-{colours}-2")
    fills = [bars.nth(n).evaluate("one => getComputedStyle(one).backgroundColor") for n in (0, 1)]
    assert len({*fills}) == 2
    assert "rgba(0, 0, 0, 0)" not in fills
    assert judge(page) == []


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("edge", "days", "expected"),
    [
        ("middle", 7, ("2032-03-16T23:00:00Z", "2032-03-21T23:00:00Z")),
        ("start", -2, ("2032-03-07T23:00:00Z", "2032-03-14T23:00:00Z")),
        ("end", 14, ("2032-03-09T23:00:00Z", "2032-03-28T22:00:00Z")),  # summer time has begun by then
    ],
)
def test_a_bar_is_drawn_to_other_days_which_become_a_draft(
    desk: Desk, edge: str, days: int, expected: tuple[str, str]
) -> None:
    promotion = make(desk.shop, f"Tapir {edge}")
    page = opened(desk, f"tapir {edge}", timezone_id="America/Los_Angeles")
    draw(page, bar(page, f"Tapir {edge}"), days, edge=edge)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save as a draft").click()
    expect(page.locator(f"{CALENDAR}moved")).to_contain_text(f"Tapir {edge}")
    assert drafted(desk.shop, "planner", promotion) == expected
    with desk.shop.http() as http:
        stored = http.get(f"/api/v1/Promotions({promotion})").json()
    assert {name: stored[name] for name in MARCH} == MARCH
    page.get_by_role("link", name="Open the draft").click()
    page.locator("#promenade---promotion--save").wait_for()


def test_days_are_changed_by_keyboard_and_a_wrong_order_is_refused(desk: Desk) -> None:
    promotion = make(desk.shop, "Capybara")
    page = opened(desk, "capybara")
    button = page.get_by_role("button", name="Change the days")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    end = dialog.get_by_label("End", exact=True)
    expect(end).to_have_value("14 Mar 2032")
    assert judge(page) == []
    end.fill("9 Mar 2032")
    end.press("Enter")
    dialog.get_by_role("button", name="Save as a draft").press("Enter")
    expect(end).to_have_attribute("aria-invalid", "true")
    end.fill("20 Mar 2032")
    end.press("Tab")
    dialog.get_by_role("button", name="Save as a draft").press("Enter")
    expect(page.locator(f"{CALENDAR}moved")).to_be_visible()
    assert drafted(desk.shop, "planner", promotion) == ("2032-03-09T23:00:00Z", "2032-03-20T23:00:00Z")


def test_somebody_elses_lock_is_named_and_nothing_moves(desk: Desk) -> None:
    promotion = make(desk.shop, "Manatee")
    with desk.shop.http("administrator") as http:
        begun = http.post(f"/admin/Promotions(ID={promotion},IsActiveEntity=true)/AdminService.draftEdit", json={})
        assert begun.status_code in {200, 201}, begun.text
    page = opened(desk, "manatee")
    draw(page, bar(page, "Manatee"), 3)
    page.get_by_role("dialog").get_by_role("button", name="Save as a draft").click()
    desk.forgive("draftEdit", "409")
    expect(page.get_by_role("alertdialog")).to_contain_text("demo-administrator")
    desk.forgive("draftEdit", "409", "$batch")


def test_whoever_has_left_is_not_asked_for_days(desk: Desk) -> None:
    make(desk.shop, "Pangolin")
    page = opened(desk, "pangolin")
    held = Held(page, "**/admin/Promotions(*", "validFrom")
    page.get_by_role("button", name="Change the days").click()
    held.wait_for_one()
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    page.get_by_role("button", name="New promotion").wait_for()
    with page.expect_response("**/admin/Promotions(*"):
        held.routes[0].continue_()
    desk.settle(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_address_that_somebody_has_made_up_shows_this_month(desk: Desk) -> None:
    page = desk.sit("planner", address="promotions/calendar?from=soon&span=year&rows=mood&colour=mood")
    expect(page.locator(".promenadeToday").first).to_be_attached()
    desk.settle(page)


def test_stores_and_words_filter_what_runs_there(desk: Desk) -> None:
    with desk.shop.http() as http:
        groups = {one["code"]: one["ID"] for one in http.get("/api/v1/PosGroups").json()["value"]}
    for code in ("DE", "DE-HAM", "DE-BER", None):
        places = [{"posGroup_ID": groups[code]}] if code else []
        make(desk.shop, f"Quokka {code}", posGroups=places)
    page = opened(desk, "quokka")
    expect(page.locator(".promenadeBar")).to_have_count(4)
    stores = page.locator(f"{CALENDAR}stores-inner")
    stores.fill("DE-HAM")
    stores.press("Enter")
    expect(page.locator(".promenadeBar")).to_have_count(3)
    expect(page.get_by_text("Quokka DE-BER")).to_have_count(0)
    assert "stores=DE-HAM" in page.url
    search = page.locator(f"{CALENDAR}search-I")
    search.fill("quokka none")
    search.press("Enter")
    expect(page.locator(".promenadeBar")).to_have_count(1)


def test_what_is_shown_is_downloaded_for_other_calendars(desk: Desk) -> None:
    promotion = make(desk.shop, "Axolotl, fresh")
    page = opened(desk, "axolotl", timezone_id="Asia/Tokyo")
    with page.expect_download() as saved:
        page.locator(f"{CALENDAR}download").click()
    text = Path(saved.value.path()).read_text("utf-8")
    assert saved.value.suggested_filename == "promotions-2032-03.ics"
    for line in (f"UID:{promotion}@promenade", "DTSTART;VALUE=DATE:20320310", "DTEND;VALUE=DATE:20320315"):
        assert f"{line}\n" in text
    assert "SUMMARY:Axolotl\\, fresh\n" in text
    assert text.count("BEGIN:VEVENT") == 1


def test_whoever_may_only_read_moves_nothing(desk: Desk) -> None:
    make(desk.shop, "Tamarin")
    page = opened(desk, "tamarin", role="controller")
    expect(page.get_by_role("button", name="Change the days")).to_have_count(0)
    draw(page, bar(page, "Tamarin"), 3)
    expect(page.get_by_role("dialog")).to_have_count(0)

"""A store's first day: its page guides through the link, the first download, a till's key and a test basket."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.databases import Databases
from tests.ui.desk import Desk, Shop, escape
from tests.ui.measuring import WINDOWS
from tests.ui.test_everywhere import judge
from tests.web.replica.link.chain import Branch, Cloud, start_branch, start_cloud
from tests.web.replica.link.shelf import SHELF

PASSWORD = "correct horse battery"
LINE = "#promenade---store--line"


@pytest.fixture
def cloud(databases: Databases, logs: Path, tmp_path: Path) -> Iterator[Cloud]:
    """Start a cloud with a promotion."""
    url = databases.create("sqlite")
    started = start_cloud(url, tmp_path / "clock", logs / "first-day-cloud.log", SHELF)
    yield started
    started.close()
    databases.drop(url)


@pytest.fixture
def branch(logs: Path, tmp_path: Path) -> Iterator[Branch]:
    """Start a store that has just been unpacked."""
    directory = tmp_path / "store"
    directory.mkdir()
    started = start_branch(directory, tmp_path / "clock", logs / "first-day-store.log")
    yield started
    started.close()


@pytest.fixture
def seat(branch: Branch, browser: Browser) -> Iterator[Desk]:
    """Return a desk in the store."""
    desk = Desk(Shop(branch.service.url, {}, branch.directory), browser)
    try:
        yield desk
        desk.require_quiet()
    finally:
        desk.close()


def arrive(seat: Desk, **how: str) -> Page:
    """Log in to a store whose password is set, and open the page."""
    page = seat.blank(**how)
    words = {"password": PASSWORD, "confirmPassword": PASSWORD}
    page.request.post(f"{seat.shop.url}/local-admin/setup", data=words)
    page.goto(f"{seat.shop.url}/#/store")
    page.locator("#session-password-inner").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.locator(LINE).wait_for()
    return page


def read_key(page: Page) -> str:
    """Return the key that a dialog shows, and close it."""
    dialog = page.get_by_role("dialog")
    key = dialog.get_by_role("textbox").input_value()
    assert len(key) == 64
    dialog.get_by_role("button", name="I have entered it").click()
    expect(dialog).to_have_count(0)
    return key


def test_a_store_is_guided_from_its_first_minute_to_its_first_till(branch: Branch, seat: Desk, cloud: Cloud) -> None:
    page = arrive(seat)
    expect(page.locator(LINE)).to_contain_text("cannot price yet. Still waiting: a POS group, the first till.")
    expect(page.locator("#promenade---store--command-inner")).to_have_value(
        re.compile(f"promenade sync-link set --data-dir {branch.directory} --url")
    )
    branch.link(cloud)
    expect(page.locator("#promenade---store--link")).to_contain_text(f"Linked to {cloud.url} as S1.")
    expect(page.locator("#promenade---store--download")).to_contain_text("Promotions that can be priced: 1")
    expect(page.locator(LINE)).to_contain_text("Promotions in force: 1. Still waiting: the first till.")

    page.get_by_label("Name of the till").fill("Till 1")
    page.get_by_role("button", name="Create key").click()
    key = read_key(page)
    row = page.get_by_role("row").filter(has_text="Till 1")
    expect(row).to_contain_text("Never used")
    beat = {"x-api-key": key}
    assert branch.http.get("/pos/heartbeat", headers=beat).status_code == 200
    expect(row).to_contain_text("Used on")
    expect(page.locator(LINE)).to_contain_text("Nothing waits.")

    row.get_by_role("button", name="New key").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Accept both for a day").click()
    second = {"x-api-key": read_key(page)}
    expect(row).to_contain_text("The former key is accepted until")
    assert branch.http.get("/pos/heartbeat", headers=beat).status_code == 200
    row.get_by_role("button", name="New key").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Refuse the present key at once").click()
    other = read_key(page)
    assert branch.http.get("/pos/heartbeat", headers=second).status_code == 401
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    assert branch.http.get("/pos/heartbeat", headers={"x-api-key": other}).status_code == 401

    page.get_by_role("button", name="Replace common key").click()
    page.get_by_role("alertdialog").get_by_role("button", name="New key").click()
    common = {"x-api-key": read_key(page)}
    assert branch.http.get("/pos/heartbeat", headers=common).status_code == 200

    page.get_by_role("button", name="Price a test basket").click()
    page.wait_for_url("**/#/simulator**")


def test_the_history_tells_of_keys_in_words(seat: Desk) -> None:
    page = arrive(seat)
    page.get_by_label("Name of the till").fill("Till 1")
    page.get_by_role("button", name="Create key").click()
    read_key(page)
    page.goto(f"{seat.shop.url}/#/list/AuditLogs")
    page.get_by_text("Key of the till \N{LEFT DOUBLE QUOTATION MARK}Till 1\N{RIGHT DOUBLE QUOTATION MARK}").wait_for()


def test_a_store_that_has_just_been_set_up_begins_here(seat: Desk) -> None:
    page = seat.blank()
    page.goto(seat.shop.url)
    page.locator("#session-password-inner").fill(PASSWORD)
    page.locator("#session-repeated-inner").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.locator(LINE).wait_for()
    assert page.url == f"{seat.shop.url}/#/store"


def test_what_is_wrong_is_said(branch: Branch, seat: Desk, cloud: Cloud) -> None:
    page = arrive(seat)
    for _ in range(2):
        page.get_by_label("Name of the till").fill("Till 1")
        page.get_by_role("button", name="Create key").click()
        if _ == 0:
            read_key(page)
    expect(page.get_by_text("The till Till 1 has a key: rotate or revoke it.")).to_be_visible()
    escape(page)
    cloud.service.kill()
    branch.link(cloud)
    expect(page.locator("#promenade---store--link")).to_contain_text("was not reached")
    expect(page.locator(LINE)).to_contain_text(
        "Still waiting: the link to the cloud, the first download, a POS group, the first till."
    )
    seat.forgive("409 POST")


def test_a_key_is_shown_whatever_the_till_is_called(branch: Branch, seat: Desk) -> None:
    page = arrive(seat)
    for name in ("Till {1", "{/line}", "<b>Till</b>"):
        page.get_by_label("Name of the till").fill(name)
        page.get_by_role("button", name="Create key").click()
        expect(page.get_by_role("dialog")).to_contain_text(name)
        key = read_key(page)
        assert branch.http.get("/pos/heartbeat", headers={"x-api-key": key}).status_code == 200
        page.get_by_role("row").filter(has_text=name).get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("alertdialog")).to_contain_text(name)
        escape(page)


@pytest.mark.parametrize(("colours", "language"), [("light", "en"), ("dark", "de")])
def test_the_page_is_accessible_and_fits_on_narrow_screens(seat: Desk, colours: str, language: str) -> None:
    page = arrive(seat, colours=colours, language=language)
    expect(page.get_by_role("heading", level=1)).to_have_text({"en": "This store", "de": "Diese Filiale"}[language])
    assert not judge(page)
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        beside = "() => document.documentElement.scrollWidth <= window.innerWidth + 1"
        assert page.evaluate(beside), width


def test_a_cloud_has_no_such_page(desk: Desk) -> None:
    page = desk.sit(address="store")
    page.get_by_text("There is nothing here").wait_for()
    expect(page.get_by_role("treeitem", name="This store")).to_have_count(0)

"""A page that was left before the service had answered: it says nothing on the next page and opens nothing there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.desk import Desk, Held
from tests.ui.generic.test_objects import NOBODY
from tests.ui.rules.page import stored

Answer = Literal["its own", "503"]


def promotion(desk: Desk) -> tuple[str, str]:
    """Return the address of a page and a part of the request that it is left with."""
    return f"promotion/{stored(desk.shop)}", "$expand=posGroups"


def new_promotion(desk: Desk) -> tuple[str, str]:
    return "promotion/new", "POST Promotions"


def missing_pos_group(desk: Desk) -> tuple[str, str]:
    return f"object/PosGroups/{NOBODY}", f"PosGroups(ID={NOBODY}"


def new_pos_group(desk: Desk) -> tuple[str, str]:
    return "object/PosGroups/new", "POST PosGroups"


def release(page: Page, route: Route, answer: Answer) -> None:
    """Have a request answered that was held, and wait for the page to get the answer."""
    with page.expect_response(lambda response: response.request == route.request) as got:
        if answer == "its own":
            route.continue_()
        else:
            route.fulfill(status=int(answer), body="")
    got.value.finished()


@pytest.mark.parametrize("answer", ["its own", "503"])
@pytest.mark.parametrize("come_to", [promotion, new_promotion, missing_pos_group, new_pos_group])
def test_a_page_that_was_left_says_nothing_and_opens_nothing(
    desk: Desk, come_to: Callable[[Desk], tuple[str, str]], answer: Answer
) -> None:
    address, part = come_to(desk)
    page = desk.sit(address="imports")
    page.get_by_role("heading", level=1).wait_for()
    held = Held(page, "**/admin/**", part)
    page.goto(f"{desk.shop.url}/#/{address}")
    held.wait_for_one()
    page.locator("#promenade---shell--navigation").get_by_text("Simulator").click()
    page.get_by_role("heading", name="Simulator", level=1).wait_for()
    for route in held.routes:
        release(page, route, answer)
    desk.settle(page)
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert page.url.endswith("#/simulator")
    desk.forgive("503 ", "404 ", "$batch failed")

"""The simulator in a real browser: what a basket costs, why, and sharing it by link."""

from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, choose, wait_until

PREFIX = "#promenade---simulator--"
COFFEE, SHAMPOO = "100078", "100109"  # the articles of the README's tour


def put(page: Page, *numbers: str) -> None:
    """Scan articles; wait for each line before scanning the next."""
    for number in numbers:
        scan = page.locator(f"{PREFIX}scan-inner")
        scan.fill(number)
        scan.press("Enter")
        page.locator(f"{PREFIX}lines").get_by_text(number).wait_for()


def choose_store(page: Page, code: str) -> None:
    """Type a store's code in full."""
    store = page.locator(f"{PREFIX}store-inner")
    expect(store).not_to_have_value("")  # otherwise the preset store would replace the typed one
    store.fill(code)
    store.press("Tab")


def add_coupon(page: Page, code: str) -> None:
    """Enter a coupon."""
    coupons = page.locator(f"{PREFIX}coupons-inner")
    coupons.fill(code)
    coupons.press("Enter")


@pytest.fixture
def page(desk: Desk) -> Page:
    """Return the simulator for Hamburg, as a planner sees it."""
    opened = desk.sit("planner", address="simulator")
    choose_store(opened, "DE-HAM")
    return opened


@pytest.mark.smoke
def test_articles_are_scanned_and_searched_and_priced_as_the_service_says(desk: Desk, page: Page) -> None:
    put(page, COFFEE, COFFEE)
    page.locator(f"{PREFIX}search-inner").press_sequentially("shampoo")
    page.locator("[id$='search-popup']").get_by_role("option").first.click()
    expect(page.locator(f"{PREFIX}lines").get_by_role("row")).to_have_count(3)  # with the header row
    quantities = page.locator(f"{PREFIX}lines input")
    expect(quantities.first).to_have_value("2")
    expect(page.locator(f"{PREFIX}applied")).to_contain_text("10 % off ground coffee")
    total = page.locator(f"{PREFIX}grandTotal")
    before = total.inner_text()
    quantities.first.fill("5")
    quantities.first.press("Tab")
    expect(total).not_to_have_text(before)


def test_an_unknown_ean_is_reported_and_adds_nothing(desk: Desk, page: Page) -> None:
    scan = page.locator(f"{PREFIX}scan-inner")
    scan.fill("4000000000000")
    scan.press("Enter")
    expect(scan).to_have_attribute("aria-invalid", "true")
    expect(page.locator(f"{PREFIX}lines")).to_contain_text("The basket is empty")


@pytest.mark.smoke
def test_a_coupon_is_used_and_a_refused_one_shows_the_reason(desk: Desk, page: Page) -> None:
    put(page, COFFEE)
    add_coupon(page, "WELCOME10")
    applied = page.locator(f"{PREFIX}applied")
    expect(applied).to_contain_text("Used:")
    add_coupon(page, "NO-SUCH-CODE")
    expect(applied).to_contain_text("Refused: nobody knows this code")


def test_missed_promotions_show_the_reason_and_the_winner(desk: Desk, page: Page) -> None:
    with desk.shop.http() as http:  # four offers for conditioners exclude one another
        found = http.get("/admin/Articles?$search=Conditioner&$select=articleNumber&$top=1").json()["value"]
    article = found[0]["articleNumber"]
    put(page, article, article, article)
    missed = page.locator(f"{PREFIX}missed")
    expect(missed).to_contain_text("Only one of its exclusion group applies")
    expect(missed).to_contain_text("Instead:")
    expect(missed).to_contain_text(re.compile("gives (€.* (more|less)|as much)"))
    expect(missed).to_contain_text("It would apply without")


def test_a_negative_quantity_is_a_return_and_zero_is_invalid(desk: Desk, page: Page) -> None:
    put(page, COFFEE)
    quantity = page.locator(f"{PREFIX}lines input").first
    quantity.fill("-1")
    quantity.press("Tab")
    expect(page.locator(f"{PREFIX}receipt")).to_contain_text("Returned")
    quantity.fill("0")
    quantity.press("Tab")
    expect(quantity).to_have_attribute("aria-invalid", "true")


def test_a_line_is_removed_and_put_back(desk: Desk, page: Page) -> None:
    put(page, COFFEE, SHAMPOO)
    page.get_by_role("button", name="Remove the line").first.click()
    lines = page.locator(f"{PREFIX}lines")
    expect(lines).not_to_contain_text(COFFEE)
    page.get_by_role("button", name="Put the removed line back").click()
    expect(lines).to_contain_text(COFFEE)


@pytest.mark.smoke
def test_a_link_opens_the_whole_basket_for_another_user(desk: Desk, page: Page) -> None:
    put(page, COFFEE, SHAMPOO)
    add_coupon(page, "WELCOME10")
    expect(page.locator(f"{PREFIX}applied")).to_contain_text("Used:")
    total = page.locator(f"{PREFIX}grandTotal").inner_text()
    wait_until(page, "location.hash.includes('b=')")
    other = desk.sit("administrator", address=page.url.split("#")[1])
    expect(other.locator(f"{PREFIX}grandTotal")).to_have_text(total)
    expect(other.locator(f"{PREFIX}store-inner")).to_have_value("Hamburg Jungfernstieg")


def test_a_broken_link_is_reported(desk: Desk) -> None:
    page = desk.sit("planner", address="simulator?b=zqqqqqqqq")
    expect(page.locator(f"{PREFIX}failed")).to_contain_text("This link is broken")


def ids(desk: Desk, *codes: str) -> list[str]:
    """Return the IDs of promotions by their codes, in that order."""
    with desk.shop.http() as http:
        found = [
            http.get(f"/admin/Promotions?$filter=code eq '{code}'&$select=ID").json()["value"][0] for code in codes
        ]
    return [str(row["ID"]) for row in found]


OPENING: dict[str, dict[str, object]] = {
    "three pieces": {"conditionType": "ARTICLE", "minQuantity": 3},
    "an amount": {"conditionType": "RECEIPT_AMOUNT", "value": "70", "operator": "GTE"},
    "a tier of customers": {"conditionType": "LOYALTY_ACCOUNT", "valueCategory": "LOYALTY_TIER", "value": "GOLD"},
    "a card": {"conditionType": "CREDIT_CARD_BIN", "value": "411111"},
    "a channel": {"conditionType": "CHANNEL", "value": "WEBSHOP"},
    "a discount of the cashier": {"conditionType": "MANUAL_DISCOUNT", "value": "DAMAGED"},
    "a field of a line": {"conditionType": "ADDITIONAL_FIELD", "fieldName": "daysLeft", "value": "2"},
    "one minute of the night": {"conditionType": "TIME_WINDOW", "timeFrom": "03:33:00", "timeTo": "03:34:00"},
}


def ten_percent(desk: Desk, article: str, name: str, condition: dict[str, object]) -> str:
    """Create a promotion on an article under a condition, not yet active; return its ID."""
    with desk.shop.http() as http:
        key = str(http.post("/admin/Promotions", json={"name": name, "IsActiveEntity": True}).json()["ID"])
        named = {"articleNumber": article} if condition["conditionType"] == "ARTICLE" else {}
        action = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}
        for entity, row in (
            ("Conditions", {"promotion_ID": key, **condition, **named}),
            ("DiscountActions", {"promotion_ID": key, **action, "targetArticleNumber": article}),
        ):
            made = http.post(f"/admin/{entity}", json=row)
            assert made.status_code == 201, made.text
    return key


def test_a_promotion_opens_with_a_basket_to_which_it_applies(desk: Desk) -> None:
    article = f"F{uuid4().hex[:8]}"
    with desk.shop.http() as http:
        row = {"articleNumber": article, "name": f"Fitting {article}", "basePrice": 9.95, "currency": "EUR"}
        assert http.post("/admin/Articles", json={**row, "IsActiveEntity": True}).status_code == 201
    page = desk.sit("planner", address="simulator")
    for name, condition in OPENING.items():
        key = ten_percent(desk, article, f"{article} with {name}", condition)
        page.goto(f"{desk.shop.url}/#/simulator?promotion={key}")
        focus = page.locator(f"{PREFIX}focus").filter(has=page.get_by_role("link", name=f"{article} with {name}"))
        expect(focus, name).to_contain_text("It applied and took")


def test_a_basket_that_somebody_has_made_is_left_alone(desk: Desk, page: Page) -> None:
    put(page, SHAMPOO)
    page.goto(f"{desk.shop.url}/#/simulator?promotion={ids(desk, 'TOUR-COFFEE')[0]}")
    expect(page.locator(f"{PREFIX}focus")).to_contain_text("It did not apply")
    expect(page.locator(f"{PREFIX}lines")).to_contain_text(SHAMPOO)
    expect(page.locator(f"{PREFIX}lines").get_by_role("row")).to_have_count(2)  # with the header row


def test_an_experiment_is_tried_in_a_shop_that_gets_it(desk: Desk) -> None:
    page = desk.sit("planner", address=f"simulator?promotion={ids(desk, 'TEST-2')[0]}")
    expect(page.locator(f"{PREFIX}focus")).to_be_visible()
    expect(page.locator(f"{PREFIX}focus")).not_to_contain_text("not part of its pilot")


def test_the_simulator_is_shown_in_german(desk: Desk) -> None:
    page = desk.sit("planner", address="simulator", language="de")
    choose_store(page, "DE-HAM")
    put(page, COFFEE)
    expect(page.locator(f"{PREFIX}receipt")).to_contain_text("Summe")
    expect(page.locator(f"{PREFIX}grandTotal")).to_contain_text(",")


def _narrowed(page: Page) -> tuple[int, int]:
    """Return how many of the missed promotions are shown, and the total, according to the heading."""
    heading = page.locator(f"{PREFIX}missed").get_by_role("heading", name="What was missed").inner_text()
    counts = [int(count) for count in re.findall(r"\d+", heading)]
    return counts[0], counts[-1]


def test_missed_promotions_can_be_searched_by_name_and_reason(desk: Desk, page: Page) -> None:
    put(page, COFFEE)
    missed = page.locator(f"{PREFIX}missed")
    expect(missed.get_by_role("listitem")).to_have_count(10)
    shown, total = _narrowed(page)
    assert shown == total > 10
    missed.get_by_role("searchbox").fill("SHAMPOO 3")
    expect(missed.get_by_role("heading", name=f"of {total})")).to_be_visible()
    found = missed.get_by_role("listitem")
    assert 0 < _narrowed(page)[0] < total
    for word in ("shampoo", "3"):
        expect(found.filter(has_not_text=word)).to_have_count(0)
    missed.get_by_role("searchbox").fill("no such thing")
    expect(missed).to_contain_text("None of them matches")
    missed.get_by_role("searchbox").fill("")
    choose(missed.get_by_role("combobox"), re.compile("It needs a coupon"))
    expect(missed.get_by_role("heading", name=f"of {total})")).to_be_visible()
    others = found.filter(has_not_text="It needs a coupon")
    expect(others).to_have_count(0)
    expect(found).not_to_have_count(0)
    put(page, SHAMPOO)  # a new price: the options still apply
    expect(page.locator(f"{PREFIX}receipt")).to_contain_text("shampoo")
    expect(others).to_have_count(0)
    expect(found).not_to_have_count(0)


def _enter_fields(page: Page) -> None:
    page.get_by_role("button", name="Further fields of the line").first.click()
    dialog = page.get_by_role("dialog")
    fields = dialog.locator(f"{PREFIX}lineMore-inner")
    fields.fill("origin")
    fields.press("Enter")
    expect(fields).to_have_attribute("aria-invalid", "true")
    fields.fill("origin=ES")
    fields.press("Enter")
    dialog.get_by_label("Regular price").fill("30")
    dialog.get_by_label("Article group").fill("G010201")
    dialog.get_by_label("Manufacturer").fill("M-OBSTWERK")
    dialog.get_by_label("EAN").fill("4012345000009")
    dialog.get_by_label("Line reference").fill("L-7")
    dialog.get_by_role("button", name="Close").click()


def test_a_line_shows_its_details_on_request(desk: Desk, page: Page) -> None:
    put(page, COFFEE)
    told = "origin=ES · Regular price: 30 · Article group: G010201 · Manufacturer: M-OBSTWERK"
    line = {
        "articleNumber": COFFEE, "ean": "4012345000009", "articleGroupId": "G010201", "manufacturerId": "M-OBSTWERK",
        "lineReference": "L-7", "additionalFields": [{"key": "origin", "value": "ES"}], "regularUnitPrice": "30",
    }  # fmt: skip
    with page.expect_request(lambda sent: "/simulate" in sent.url and "L-7" in (sent.post_data or "")) as asked:
        _enter_fields(page)
    [sent] = json.loads(asked.value.post_data or "")["request"]["items"]
    assert line.items() <= sent.items()
    lines = page.locator(f"{PREFIX}lines")
    expect(lines).to_contain_text(told)
    before = page.url
    with page.expect_response("**/pos/v2/simulate"):
        page.reload()
    expect(lines).to_contain_text(told)
    assert page.url == before


def test_a_late_answer_does_not_bring_the_user_back_to_the_page(desk: Desk, page: Page) -> None:
    put(page, COFFEE)
    with page.expect_request("**/pos/v2/simulate"):
        line = page.locator(f"{PREFIX}lines").get_by_role("textbox", name="Quantity")
        line.fill("3")
        line.press("Tab")
        page.evaluate("location.hash = '/promotions'")
    page.get_by_role("heading", name=re.compile("^Promotions"), level=1).wait_for()
    assert page.url.endswith("#/promotions")


def _copied(page: Page) -> str:
    """Return the link that the page copies to the clipboard."""
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    page.get_by_role("button", name="Copy link").click()
    wait_until(page, "window.copied")
    return str(page.evaluate("window.copied"))


def test_a_copied_link_keeps_the_promotion_that_it_is_about(desk: Desk) -> None:
    with desk.shop.http() as http:
        row = http.get("/admin/Promotions?$filter=code eq 'TOUR-COFFEE'&$select=ID").json()["value"][0]
    page = desk.sit("planner", address=f"simulator?promotion={row['ID']}")
    told = page.locator(f"{PREFIX}focus")
    expect(told).to_contain_text("It applied and took")
    text = told.text_content()
    assert text
    other = desk.sit("administrator", address=_copied(page).split("#")[1])
    expect(other.locator(f"{PREFIX}focus")).to_have_text(text)
    other.reload()
    expect(other.locator(f"{PREFIX}focus")).to_have_text(text)


@pytest.mark.parametrize("promotion", ["xyz", "00000000-0000-0000-0000-000000000000"])
def test_a_link_with_a_missing_promotion_shows_a_message_and_still_prices(desk: Desk, promotion: str) -> None:
    page = desk.sit("planner", address=f"simulator?promotion={promotion}")
    expect(page.locator(f"{PREFIX}noPromotion")).to_contain_text("no such promotion")
    put(page, COFFEE)
    expect(page.locator(f"{PREFIX}grandTotal")).to_contain_text("€")
    expect(page.locator(f"{PREFIX}noPromotion")).to_be_visible()


def test_free_pieces_are_marked_on_a_receipt_that_prints_alone(desk: Desk) -> None:
    with desk.shop.http() as http:
        promotion = http.get("/api/v1/Promotions?$filter=code eq 'FREE-02'").json()["value"][0]["ID"]
        condition = http.get(f"/api/v1/Conditions?$filter=promotion_ID eq {promotion}").json()["value"][0]
    page = desk.sit("planner", address="simulator")
    page.add_init_script("window.print = () => { window.printed = true; }")
    page.reload()
    choose_store(page, "DE-HAM")
    put(page, condition["articleNumber"])
    page.locator(f"{PREFIX}lines input").first.fill("3")
    page.locator(f"{PREFIX}lines input").first.press("Tab")
    receipt = page.locator(f"{PREFIX}receipt")
    expect(receipt.locator(".sapMObjStatusSuccess", has_text="free")).to_be_visible()
    page.locator(f"{PREFIX}print").click()
    wait_until(page, "() => window.printed")
    page.emulate_media(media="print")
    expect(receipt).to_be_visible()
    for other in ("applied", "lines", "print"):
        expect(page.locator(f"{PREFIX}{other}")).to_be_hidden()

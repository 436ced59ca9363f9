"""The guided way to a promotion: from a sentence to a promotion that runs, by mouse, by keyboard, on narrow screens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import WAIT_MS, Desk, Held, Shop, choose, wait_until
from tests.ui.promotions.test_page import id_of, promotion
from tests.ui.rules.page import rules_of, stored
from tests.ui.test_by_keyboard import tab_to
from tests.ui.test_everywhere import judge, require_headings

HERE = "#promenade---guide--"
WIDTHS = (1440, 1024, 390)
DISCOUNT = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5}
# Texts that are cut off, whether by an ellipsis or without one, and elements beside the window.
CLIPPED = """() => [...document.querySelectorAll("#promenade---shell--pages :is(h1, h2, h3, span, label, p, button)")]
  .filter((one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  .filter((one) => one.textContent.trim() && !one.children.length && one.clientWidth > 1)
  .filter((one) => (getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1)
    || one.getBoundingClientRect().right > window.innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 200))"""


def linked(shop: Shop, kind: str, part: str, entity_id: str) -> list[dict[str, Any]]:
    """Return what a promotion is linked with."""
    with shop.http() as http:
        found = http.get(f"/admin/{kind}?$filter=promotion_ID eq {entity_id}&$expand={part}").json()["value"]
    return [one[part] for one in found]


def begin(desk: Desk, card: str, role: str = "administrator", **how: Any) -> Page:
    """Choose a card of the gallery and return the page with the steps."""
    page = desk.sit(role, address="promotions/new", **how)
    pick(desk, page, card)
    return page


def pick(desk: Desk, page: Page, card: str) -> None:
    """Choose a card of the gallery that is shown."""
    page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=card, exact=True)).click()
    page.locator(f"{HERE}save").wait_for()
    desk.settle(page)


def activated(shop: Shop, entity_id: str) -> str:
    with shop.http() as http:
        answer = http.post(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)/activate", json={})
    assert answer.status_code == 200, answer.text
    return entity_id


@dataclass
class Hand:
    """A user's hand: counts what it clicks and which values it types."""

    clicks: int = 0
    typed: int = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def type(self, field: Locator, text: str, key: str = "Tab") -> None:
        """Put the cursor into a field, which is a click, and type a value."""
        self.click(field)
        field.press_sequentially(text)
        field.press(key)
        self.typed += 1


def fill_in(hand: Hand, page: Page) -> None:
    """Fill in all steps, as the sentence says."""
    hand.type(page.locator(f"{HERE}whatRules").get_by_label("Article group"), "Shampoo")
    hand.click(page.get_by_role("button", name="Only for certain customers"))
    hand.click(page.get_by_role("dialog").get_by_role("listitem").filter(has_text="Loyalty"))
    field = page.locator(f"{HERE}whoRules").get_by_label("Values")
    expect(field).to_be_visible()
    hand.type(field, "GOLD", "Enter")
    hand.type(page.locator(f"{HERE}placesContent").get_by_label("POS groups"), "Hamburg")
    month = page.locator(f"{HERE}whenContent .sapMSlt")
    hand.click(month)
    hand.click(page.get_by_role("option", name=re.compile("^December")))
    hand.click(page.get_by_role("button", name="New coupon"))
    hand.click(page.get_by_role("button", name="New budget"))
    hand.type(page.get_by_label("Amount", exact=True), "10000")


@pytest.mark.smoke
def test_a_sentence_becomes_a_promotion_within_15_clicks_and_8_values(either_desk: Desk) -> None:
    """'3 for 2 on shampoo, cheapest free, Hamburg stores, December, Gold customers, 10 000 EUR, with a coupon'."""
    desk = either_desk
    page = desk.sit("administrator", address="promotions")
    hand = Hand()
    hand.click(page.locator("#promenade---promotions--create"))
    hand.click(page.get_by_role("listitem").filter(has_text="3 for 2"))
    page.locator(f"{HERE}save").wait_for()
    desk.settle(page)
    fill_in(hand, page)
    summary = page.get_by_role("complementary").filter(has_text="In words")
    for part in ("article group Shampoo", "100% off", "only the cheapest 1", "tier is GOLD", "Hamburg", "1 Dec",
                 "Only with a coupon", "€10,000.00"):  # fmt: skip
        expect(summary).to_contain_text(part)
    hand.click(page.get_by_role("button", name="Save and check"))
    page.get_by_text("Checked on").wait_for()
    hand.click(page.locator(f"{HERE}activate"))
    hand.click(page.get_by_role("dialog").get_by_role("button", name=re.compile("^Activate")))
    expect(page.locator(f"{HERE}statusNow")).to_contain_text("Active")
    assert hand.clicks <= 15, hand
    assert hand.typed <= 8, hand
    require_sentence(desk.shop, id_of(page))


def require_sentence(shop: Shop, entity_id: str) -> None:
    """Fail unless a promotion is stored as the sentence says."""
    found = promotion(shop, entity_id)
    assert (found["status"], found["type"], len(found["posGroups"])) == ("ACTIVE", "BUNDLE", 1)
    assert (found["validFrom"][5:16], found["validTo"][5:16]) == ("11-30T23:00", "12-31T23:00")
    (action,) = rules_of(shop, entity_id, "DiscountActions")
    assert (action["actionType"], action["discountType"], action["discountValue"]) == ("BUNDLE", "PERCENTAGE", 100)
    assert (action["applicationQuantityMode"], action["applicationQuantity"]) == ("CHEAPEST", 1)
    assert [part["quantity"] for part in action["bundleComponents"]] == [3]
    (condition,) = rules_of(shop, entity_id, "Conditions")
    assert (condition["conditionType"], condition["value"]) == ("LOYALTY_ACCOUNT", "GOLD")
    (coupon,) = linked(shop, "CouponTypePromotions", "couponType", entity_id)
    assert (coupon["status"], coupon["codeType"]) == ("ACTIVE", "GENERIC")
    (budget,) = linked(shop, "BudgetPromotions", "budget", entity_id)
    assert (budget["status"], budget["totalAmount"], budget["currency"]) == ("ACTIVE", 10000, "EUR")


def press_to(page: Page, wanted: Locator) -> None:
    """Go to an element with the Tab key and press Enter on it."""
    tab_to(page, wanted)
    page.keyboard.press("Enter")


def test_the_way_is_gone_by_keyboard_alone(desk: Desk) -> None:
    page = desk.sit("administrator", address="promotions/new")
    tab_to(page, page.get_by_role("listitem").filter(has_text="3 for 2"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("listitem").filter(has_text="Second at half price")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(f"{HERE}save").wait_for()
    desk.settle(page)
    tab_to(page, page.locator(f"{HERE}whatRules").get_by_label("Article group"))
    page.keyboard.type("Shampoo")
    press_to(page, page.get_by_role("button", name="Only for certain customers"))
    expect(page.get_by_role("dialog").get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("Loyalty")
    press_to(page, page.get_by_role("dialog").get_by_role("listitem").filter(has_text="Loyalty"))
    who = page.locator(f"{HERE}whoRules")
    expect(who.get_by_role("combobox").first).to_be_focused()
    tab_to(page, who.get_by_label("Values"))
    page.keyboard.type("GOLD")
    page.keyboard.press("Enter")
    tab_to(page, page.locator(f"{HERE}placesContent").get_by_label("POS groups"))
    page.keyboard.type("Hamburg")
    tab_to(page, page.get_by_role("combobox", name="A whole month"))
    page.keyboard.press("ArrowDown")
    press_to(page, page.get_by_role("button", name="New coupon"))
    expect(page.get_by_role("combobox", name="Codes", exact=True)).to_be_focused()
    press_to(page, page.get_by_role("button", name="New budget"))
    expect(page.get_by_label("Amount", exact=True)).to_be_focused()
    page.keyboard.type("500")
    press_to(page, page.get_by_role("button", name="Save and check"))
    page.get_by_text("Checked on").wait_for()
    desk.settle(page)
    press_to(page, page.locator(f"{HERE}activate"))
    go = page.get_by_role("dialog").get_by_role("button", name=re.compile("^Activate"))
    expect(go).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(f"{HERE}statusNow")).to_contain_text("Active")
    assert promotion(desk.shop, id_of(page))["validFrom"] is not None
    assert len(linked(desk.shop, "BudgetPromotions", "budget", id_of(page))) == 1


def test_who_saves_at_once_waits_for_the_usual_currency(desk: Desk) -> None:
    page = begin(desk, "Percentage on a group", "administrator")
    page.locator(f"{HERE}whatRules").get_by_label("Discount or price").fill("10")
    held = Held(page, "**/admin/PosGroups?**", "groupby")
    page.get_by_role("button", name="New budget").click()
    page.get_by_label("Amount", exact=True).fill("500")
    page.locator(f"{HERE}save").click()
    held.wait_for_one().continue_()
    page.locator(f"{HERE}edit").wait_for()
    (budget,) = linked(desk.shop, "BudgetPromotions", "budget", id_of(page))
    assert budget["currency"] == "EUR"


@pytest.mark.parametrize(("language", "card"), [("en", "Bundle price"), ("de", "Preis für ein Bündel")])
def test_nothing_is_cut_off_and_axe_finds_nothing(desk: Desk, language: str, card: str) -> None:
    page = desk.sit("administrator", address="promotions/new", language=language)
    assert not judge(page)
    require_headings(page)
    require_whole(page)
    page = begin(desk, card, language=language)
    for name in ("New coupon|Neuer Coupon", "New budget|Neues Budget"):
        page.get_by_role("button", name=re.compile(f"^({name})$")).click()
    desk.settle(page)
    assert not judge(page)
    require_headings(page)
    require_whole(page)


def require_whole(page: Page) -> None:
    """Fail if a text is cut off at one of the widths."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        try:
            wait_until(page, f"() => ({CLIPPED})().length === 0")
            wait_until(page, "() => document.documentElement.scrollWidth <= window.innerWidth")
        except AssertionError:
            pytest.fail(f"cut off at {width} pixels: {page.evaluate(CLIPPED)}")


def test_a_left_draft_is_continued_where_it_was(desk: Desk) -> None:
    page = begin(desk, "Percentage on a group", "planner")
    name = page.locator(f"{HERE}whatContent").get_by_label("Name", exact=True)
    name.fill("Left and found again")
    with page.expect_response(re.compile(r"/admin/\$batch")):
        name.press("Tab")
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    page.get_by_text("You have changed rules of this promotion").wait_for()
    page.get_by_role("button", name="Leave without them").click()
    page.locator("#promenade---home--drafts").get_by_text("Left and found again").click()
    page.get_by_role("button", name="Step by step").click()
    expect(page.locator(f"{HERE}name")).to_have_text("Left and found again")
    page.go_back()
    page.get_by_role("button", name="Discard draft").wait_for()


def test_the_type_follows_the_benefits(desk: Desk) -> None:
    page = begin(desk, "Percentage on a group", "planner")
    what = page.locator(f"{HERE}whatRules")
    what.get_by_role("button", name="Delete").click()
    what.get_by_role("button", name="Add a benefit").click()
    page.get_by_role("dialog").get_by_text("Discount on the receipt", exact=True).click()
    what.get_by_label("Discount or price").fill("5")
    page.locator(f"{HERE}save").click()
    page.locator(f"{HERE}edit").wait_for()
    assert promotion(desk.shop, id_of(page))["type"] == "RECEIPT"


def test_what_is_missing_has_the_cursor(desk: Desk) -> None:
    page = begin(desk, "Amount off from a basket value", "planner")
    page.locator(f"{HERE}save").click()
    field = page.locator(f"{HERE}whatRules").get_by_role("textbox").first
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")


def test_codes_of_their_own_are_generated_with_the_promotion(desk: Desk) -> None:
    page = begin(desk, "Coupon", "planner")
    page.locator(f"{HERE}whatRules").get_by_label("Discount or price").fill("10")
    choose(page.get_by_role("combobox", name="Codes", exact=True), "A code for each customer")
    page.get_by_label("How many codes").fill("25")
    page.locator(f"{HERE}save").click()
    page.locator(f"{HERE}edit").wait_for()
    (coupon,) = linked(desk.shop, "CouponTypePromotions", "couponType", id_of(page))
    with desk.shop.http() as http:
        batches = http.get(f"/admin/CouponCodeBatches?$filter=couponType_ID eq {coupon['ID']}").json()["value"]
    assert [one["quantity"] for one in batches] == [25]


def test_the_next_promotion_has_a_coupon_of_its_own(desk: Desk) -> None:
    page = begin(desk, "Coupon", "planner")
    code = page.get_by_label("Code that customers show")
    codes = []
    for again in (True, False):
        codes.append(code.input_value())
        page.locator(f"{HERE}whatRules").get_by_label("Discount or price").fill("10")
        page.locator(f"{HERE}save").click()
        page.locator(f"{HERE}edit").wait_for()
        assert len(linked(desk.shop, "CouponTypePromotions", "couponType", id_of(page))) == 1
        if again:
            page.evaluate("() => { window.location.hash = 'promotions/new' }")
            pick(desk, page, "Coupon")
    assert codes[0] != codes[1]


def test_a_month_is_named_as_long_as_its_days_are_those(desk: Desk) -> None:
    page = begin(desk, "Percentage on a group", "planner")
    month = page.locator(f"{HERE}whenContent .sapMSlt")
    month.click()
    page.get_by_role("option", name=re.compile("^December")).click()
    end = page.locator(f"{HERE}whenContent").get_by_label("Valid to", exact=True)
    expect(end).to_have_value(re.compile("^31 Dec"))
    end.fill(end.input_value().replace("31", "30"))
    end.press("Tab")
    expect(month).to_contain_text("Other dates")
    desk.settle(page)
    with desk.shop.http("planner") as http:
        draft = http.get(f"/admin/Promotions(ID={id_of(page)},IsActiveEntity=false)").json()
    assert draft["validTo"][4:] == "-12-30T23:00:00Z"  # the end of that day


def test_a_running_promotion_gets_its_first_coupon_after_a_question(desk: Desk) -> None:
    entity_id = activated(desk.shop, stored(desk.shop, DiscountActions=[DISCOUNT]))
    page = desk.sit("planner", address=f"promotions/guide/{entity_id}")
    page.locator(f"{HERE}edit").click()
    page.locator(f"{HERE}save").wait_for()
    desk.settle(page)
    page.get_by_role("button", name="New coupon").click()
    page.locator(f"{HERE}save").click()
    page.get_by_text("From now on it will need one").wait_for()
    page.get_by_role("button", name="Cancel").click()
    assert not linked(desk.shop, "CouponTypePromotions", "couponType", entity_id)
    page.locator(f"{HERE}save").click()
    page.get_by_role("button", name="Require a coupon").click()
    page.locator(f"{HERE}edit").wait_for()
    assert len(linked(desk.shop, "CouponTypePromotions", "couponType", entity_id)) == 1


def test_the_page_of_a_coupon_type_asks_the_same(desk: Desk) -> None:
    entity_id = activated(desk.shop, stored(desk.shop, DiscountActions=[DISCOUNT]))
    with desk.shop.http() as http:
        http.patch(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)", json={"code": f"OF-{entity_id[:8]}"})
        made = http.post("/admin/CouponTypes", json={"code": f"C-{entity_id[:8]}", "name": "C", "IsActiveEntity": True})
    page = desk.sit("planner", address=f"object/CouponTypes/{made.json()['ID']}")
    page.get_by_role("region", name="Promotions").get_by_role("button", name="Add").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Promotion").fill(f"OF-{entity_id[:8]}")
    dialog.get_by_label("Promotion").press("Tab")
    dialog.get_by_role("button", name="Add").click()
    page.get_by_text("From now on it will need one").wait_for(timeout=WAIT_MS)
    page.get_by_role("button", name="Require a coupon").click()
    expect(dialog).to_have_count(0)
    assert len(linked(desk.shop, "CouponTypePromotions", "couponType", entity_id)) == 1

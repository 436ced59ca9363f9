"""The demo's retailer is as documented, believable, and the same for the same seed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from statistics import median
from zoneinfo import ZoneInfo

from promenade.demo.assortment import build_assortment, ean13
from promenade.demo.authoring import Notebook, Row
from promenade.demo.leaflet import Leaflet
from promenade.demo.promotions import write_promotions
from promenade.demo.sales import Sale, draw_sales

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def retailer(seed: int, articles: int = 20_000) -> tuple[Leaflet, dict[str, list[Row]]]:
    rng = Random(seed)
    assortment = build_assortment(rng, articles)
    book = Notebook(rng, NOW - timedelta(days=60), NOW + timedelta(days=120))
    leaflet = write_promotions(book, assortment, NOW)
    return leaflet, dict(assortment.rows()) | dict(book.rows())


def sold(seed: int, count: int = 300) -> list[Sale]:
    leaflet, _ = retailer(seed, articles=5_000)
    return list(draw_sales(Random(seed), leaflet, NOW, count))


def test_the_shelves_hold_what_the_demo_promises() -> None:
    _, rows = retailer(1)
    assert len(rows["Articles"]) == 20_000
    assert len({row["articleNumber"] for row in rows["Articles"]}) == 20_000
    assert len({row["ean"] for row in rows["Articles"]}) == 20_000
    assert len(rows["ArticleGroups"]) == 200
    assert len(rows["PosGroups"]) == 12
    assert {row["currency"] for row in rows["PosGroups"]} == {"EUR", "CHF", "JPY"}
    assert len(rows["Promotions"]) >= 300


def test_every_condition_and_action_type_is_on_offer() -> None:
    _, rows = retailer(1)
    assert {row["conditionType"] for row in rows["Conditions"]} == {
        "ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "CUSTOMER_GROUP", "RECEIPT_AMOUNT", "ITEM_QUANTITY",
        "PAYMENT_MEANS", "PAYMENT_CARD", "CUSTOMER", "MANUFACTURER", "ADDITIONAL_FIELD", "CREDIT_CARD_BIN",
        "USER_DEFINED", "LOYALTY_ACCOUNT", "MANUAL_DISCOUNT", "CHANNEL", "TIME_WINDOW", "TIME_PERIOD",
    }  # fmt: skip
    actions = {row["actionType"] for row in rows["DiscountActions"]} | (
        {"LOYALTY"} if rows["LoyaltyActions"] else set()
    )
    assert actions == {
        "ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "RECEIPT", "SCALED_RECEIPT", "BUNDLE", "POST_PURCHASE_COUPON",
        "LOYALTY", "QUANTITY_TIER", "FREE_ITEM",
    }  # fmt: skip
    assert {row["actionType"] for row in rows["LoyaltyActions"]} == {
        "ADD_FIXED", "MULTIPLY_POINTS", "CURRENCY_TO_POINTS", "SUBTRACT_POINTS",
    }  # fmt: skip
    assert {row["exclusivityLevel"] for row in rows["Promotions"] if "exclusivityLevel" in row} == {
        "NONE", "PROMOTION", "GROUP", "GLOBAL",
    }  # fmt: skip


def test_one_seed_is_one_retailer_and_its_sales() -> None:
    assert retailer(7, 5_000)[1] == retailer(7, 5_000)[1]
    assert sold(7) == sold(7)
    assert sold(7) != sold(8)


def test_articles_have_a_name_of_their_own_and_a_price_that_fits_the_size() -> None:
    leaflet, _ = retailer(1)
    articles = leaflet.assortment.articles
    assert len({article.name for article in articles}) == len(articles)
    shampoos = [article for article in articles if article.group.name == "Shampoo"]
    for brand, word in {(one.brand, one.name.split()[1]) for one in shampoos}:
        prices = {
            one.name.partition(", ")[2]: one.base_price for one in shampoos if one.name.startswith(f"{brand} {word} ")
        }
        in_order = [prices[size] for size in ("250 ml", "300 ml", "400 ml") if size in prices]
        assert in_order == sorted(in_order)
    assert {one.name.partition(", ")[2] for one in shampoos} == {"250 ml", "300 ml", "400 ml"}
    assert Decimal(4) < median(article.base_price for article in articles if article.group.name == "Olive oil") < 15


def test_promotions_begin_and_end_in_every_week() -> None:
    _, rows = retailer(1)
    monday = NOW.astimezone(ZoneInfo("Europe/Berlin")).replace(hour=0) - timedelta(days=NOW.weekday())
    for place in (-2, -1, 0, 1):
        begin = monday + timedelta(weeks=place)
        week = [row for row in rows["Promotions"] if row["validFrom"] == begin]
        assert len(week) >= 10
        assert any(row["validTo"] == begin + timedelta(weeks=1) for row in week)


def test_sales_fall_into_the_five_weeks_before_and_sell_what_is_on_the_shelf() -> None:
    leaflet, _ = retailer(3, articles=5_000)
    numbers = {article.article_number for article in leaflet.assortment.articles}
    sales = list(draw_sales(Random(3), leaflet, NOW, 300))
    assert [sale.at for sale in sales] == sorted(sale.at for sale in sales)
    assert all(NOW - timedelta(days=35) <= sale.at < NOW for sale in sales)
    assert len({sale.at.date() for sale in sales}) >= 34
    assert all(7 <= sale.at.astimezone(ZoneInfo(sale.store.time_zone)).hour < 22 for sale in sales)
    assert all(line.article_number in numbers for sale in sales for line in sale.lines)
    assert any(line.quantity_thousandths < 0 for sale in sales for line in sale.lines)
    assert any(sale.coupons for sale in sales)
    assert len({sale.transaction_id for sale in sales}) == 300


def test_the_check_digit_of_an_ean_is_computed() -> None:
    assert ean13(638_133_393) == "4006381333931"  # the EAN of a widespread pen

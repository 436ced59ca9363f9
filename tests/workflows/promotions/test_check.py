"""The check of a promotion against a database: what it reads, that it changes nothing and reveals no other tenant."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.engine.inspection import Finding
from promenade.errors import NotFound
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import Session
from promenade.store.pricing.changes import record_change
from promenade.web.promotions.basket_tests import read_request
from promenade.workflows.promotions.check import check_promotion
from tests.kit.processor_time import processor_time
from tests.workflows.shop import NOON, Shop, identity

DAY = timedelta(days=1)


@pytest.fixture
async def tested(shop: Shop) -> Shop:
    """The shop, whose promotion "off" takes 10 % off fruit; apples are fruit."""
    await shop.put("ArticleGroups", id=identity("fruit"), group_id="fruit", name="Fruit")
    await shop.put("Articles", id=identity("apple"), article_number="apple", ean="4000", article_group_key="fruit")
    await shop.put("Articles", id=identity("pear"), article_number="pear", article_group_id=identity("fruit"))
    await shop.put("Articles", id=identity("plum"), article_number="plum", article_group_key="fruit", is_active=False)
    await action(shop, "off", target_article_group_key="fruit")
    return shop


async def action(shop: Shop, name: str, **columns: Any) -> None:
    given = {"action_type": "ARTICLE", "discount_type": "PERCENTAGE", "discount_value": Decimal(10), **columns}
    await shop.put("DiscountActions", promotion_id=identity(name), sequence=1, **given)


async def condition(shop: Shop, name: str, **columns: Any) -> None:
    await shop.put("Conditions", promotion_id=identity(name), sequence=1, logical_connector="AND", **columns)


async def check(shop: Shop, name: str = "off") -> list[Finding]:
    async def changed(session: Session) -> None:
        await record_change(session, "Promotions", at=shop.now[0])

    await shop.context.database.write(changed, tenant=shop.tenant)
    return await check_promotion(shop.context, shop.tenant, identity(name), shop.now[0], read_request)


async def codes(shop: Shop, name: str = "off") -> list[tuple[str, str]]:
    return [(one.severity, one.code) for one in await check(shop, name)]


async def test_a_check_of_a_correct_promotion_has_no_findings(tested: Shop) -> None:
    assert await codes(tested) == []


@pytest.mark.parametrize("status", ["ARCHIVED", "EXPIRED", "REJECTED"])
async def test_a_promotion_is_checked_in_any_status(tested: Shop, status: str) -> None:
    await tested.change("Promotions", "off", status=status)
    assert await codes(tested) == [("WARNING", "NOT_RUNNING")]


async def test_articles_are_looked_up_by_number_and_ean(tested: Shop) -> None:
    await condition(tested, "off", condition_type="ARTICLE_LIST", id=identity("list"))
    for item in ({"article_number": "apple"}, {"ean": "4000"}):
        await tested.put("ConditionArticleListItems", condition_id=identity("list"), **item)
    assert await codes(tested) == []
    for item in ({"article_number": "apfel"}, {"ean": "4001"}):
        await tested.put("ConditionArticleListItems", condition_id=identity("list"), **item)
    (unknown,) = await check(tested)
    assert (unknown.code, unknown.entity_id) == ("ARTICLE_UNKNOWN", identity("list"))
    assert "apfel, 4001" in unknown.message
    await tested.put("ConditionArticleListItems", condition_id=identity("list"), article_number="plum")
    assert ("WARNING", "ARTICLE_INACTIVE") in await codes(tested)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({}, []),
        ({"consumed_amount": Decimal("100.00")}, [("ERROR", "BUDGET_EXHAUSTED")]),
        ({"valid_to": NOON}, [("ERROR", "BUDGET_EXPIRED")]),
        ({"valid_from": NOON + DAY}, [("WARNING", "BUDGET_AHEAD")]),
        ({"status": "DRAFT"}, [("ERROR", "BUDGET_NOT_ACTIVE")]),
        ({"currency": "CHF"}, [("ERROR", "BUDGET_CURRENCY")]),
    ],
)
async def test_the_check_reports_budgets_that_stop_a_promotion(
    tested: Shop, columns: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    await tested.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    if columns:
        await tested.change("Budgets", "marketing", **columns)
    assert await codes(tested) == found


async def test_the_check_reports_coupon_types_without_usable_codes(tested: Shop) -> None:
    await tested.coupon_type("ten", code_type="INDIVIDUAL")
    await tested.put("CouponTypePromotions", coupon_type_id=identity("ten"), promotion_id=identity("off"))

    async def changed(session: Session) -> None:
        await record_change(session, "CouponTypes", at=tested.now[0])

    await tested.context.database.write(changed, tenant=tested.tenant)
    assert await codes(tested) == [("ERROR", "COUPONS_MISSING")]
    await tested.coupon("C-1", "ten", valid_until=NOON)
    await tested.coupon("C-2", "ten")
    await tested.change("CouponCodes", "C-2", status="REDEEMED")
    assert await codes(tested) == [("ERROR", "COUPONS_MISSING")]
    await tested.coupon("C-3", "ten")
    await tested.change("CouponCodes", "C-3", status="CREATED")
    assert await codes(tested) == [("ERROR", "COUPONS_NOT_ACTIVATED")]
    await tested.coupon("C-4", "ten")
    assert await codes(tested) == []


async def test_the_check_reports_a_promotion_at_its_usage_limit(tested: Shop) -> None:
    await tested.change("Promotions", "off", max_applications_total=3)
    assert await codes(tested) == []
    await tested.put("promotion_usage", promotion_id=identity("off"), customer_id="", count=3)
    assert await codes(tested) == [("ERROR", "APPLICATIONS_USED_UP")]


async def test_the_check_finds_overlaps_by_article_groups(tested: Shop) -> None:
    for name, article in (("apples", "apple"), ("pears", "pear"), ("nails", "nail")):
        await tested.promotion(name)
        await action(tested, name, target_article_number=article)
    found = {one.promotion_id: one.code for one in await check(tested) if one.promotion_id}
    assert found == {identity("apples"): "STACKS_WITH", identity("pears"): "STACKS_WITH"}


async def test_missing_and_foreign_promotions_cannot_be_checked(tested: Shop) -> None:
    with pytest.raises(NotFound):
        await check_promotion(tested.context, tested.tenant, identity("nobody"), tested.now[0], read_request)
    with pytest.raises(NotFound):
        await check_promotion(tested.context, "tenant-b", identity("off"), tested.now[0], read_request)


async def test_the_check_reads_the_latest_committed_state(tested: Shop) -> None:
    assert await codes(tested) == []
    await tested.change("PosGroups", "shop", is_active=False)

    async def changed(session: Session) -> None:
        await record_change(session, "PosGroups", at=tested.now[0])

    await tested.context.database.write(changed, tenant=tested.tenant)
    assert await codes(tested) == [("ERROR", "POS_GROUPS_INACTIVE")]


@pytest.mark.alone
async def test_the_check_is_quick_among_many_promotions(tested: Shop) -> None:
    many = 2_000

    async def fill(session: Session) -> None:
        await insert_rows(
            session,
            "Promotions",
            [{"ID": identity(f"many {n}"), "name": f"Many {n}", "status": "ACTIVE"} for n in range(many)],
            at=NOON,
            by="tests",
        )
        given = {"sequence": 1, "actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": Decimal(10)}
        await insert_rows(
            session,
            "DiscountActions",
            [
                {"ID": identity(f"action {n}"), "promotion_ID": identity(f"many {n}"), **given}
                | {"targetArticleNumber": f"{n}"}
                for n in range(many)
            ],
            at=NOON,
            by="tests",
        )

    await tested.context.database.write(fill, tenant=tested.tenant)
    await check(tested)  # the catalogue is loaded by now
    await action(tested, "saver", action_type="RECEIPT")
    with processor_time() as spent:
        found = await check(tested, "saver")
    assert spent.seconds < 2  # usually a quarter of it
    assert [one.code for one in found].count("STACKS_WITH") == 50
    assert found[-1].code == "OVERLAPS_MORE"

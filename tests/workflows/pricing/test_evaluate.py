"""Evaluate and simulate against real databases: stored data, visible data, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Row, func, select, update

from promenade.engine.basket import BasketLine, Customer
from promenade.errors import Invalid, NotFound
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session, open_database
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.changes import record_change
from promenade.store.pricing.iterations import find_iteration
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate, simulate, try_out
from promenade.workflows.pricing.replay import replay

NOW = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
TENANT = "retailer"


def uuid(kind: int, number: int = 1) -> str:
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


SHOP, REGION, CLOSED = uuid(1, 1), uuid(1, 2), uuid(1, 3)
PROMOTION, OFF = uuid(3), uuid(5)
COUPON_TYPE, GENERIC_TYPE = uuid(6, 1), uuid(6, 2)


def a_context(database: Database) -> Context:
    ids = count(1)
    return Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: NOW,
        new_id=lambda: uuid(9, next(ids)),
        source="btp",
        instance_id="test",
    )


async def author(database: Database, kind: str, rows: Mapping[str, Sequence[dict[str, Any]]], *ids: str) -> None:
    """Insert rows by entity set, and record the change."""

    async def work(session: Session) -> None:
        for set_name, of_set in rows.items():
            await insert_rows(session, set_name, of_set, at=NOW, by="author")
        await record_change(session, kind, *ids, at=NOW)

    await database.write(work, tenant=TENANT)


def percent_off(number: int, percent: int, article: str = "beer", **fields: Any) -> dict[str, list[dict[str, Any]]]:
    """Return a promotion with this percentage off an article."""
    promotion: dict[str, Any] = {
        "ID": uuid(3, number),
        "name": f"{percent} % off {article}",
        "status": "ACTIVE",
    } | fields
    action: dict[str, Any] = {"ID": uuid(5, number), "promotion_ID": uuid(3, number), "actionType": "ARTICLE"}
    action |= {"discountType": "PERCENTAGE", "discountValue": Decimal(percent), "targetArticleNumber": article}
    return {"Promotions": [promotion], "DiscountActions": [action]}


@pytest.fixture
async def context(database: Database) -> Context:
    groups: list[dict[str, Any]] = [
        {"ID": REGION, "code": "NORTH", "name": "North", "currency": "EUR"},
        {"ID": SHOP, "code": "S1", "name": "Shop 1", "currency": "EUR", "parent_ID": REGION},
        {"ID": CLOSED, "code": "S2", "name": "Shop 2", "currency": "EUR", "isActive": False},
    ]
    articles: list[dict[str, Any]] = [
        {"ID": uuid(2, 1), "articleNumber": "beer", "ean": "4001", "manufacturer": "Brewery", "basePrice": Decimal(2)},
        {"ID": uuid(2, 2), "articleNumber": "mug", "ean": "4002", "basePrice": Decimal("4.50"), "currency": "EUR"},
    ]
    await author(database, "Promotions", {"PosGroups": groups, "Articles": articles})
    return a_context(database)


def basket(**fields: Any) -> PricingRequest:
    line = BasketLine("1", "beer", 2000, 1000)
    return PricingRequest(**({"lines": (line,), "pos_group_code": "S1"} | fields))


async def number_of(database: Database, name: str) -> int:
    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(select(func.count()).select_from(table(name)))

    return int((await database.read(work, tenant=TENANT))[0][0])


async def test_a_basket_is_priced_and_stored(context: Context) -> None:
    await author(context.database, "Promotions", percent_off(1, 10), PROMOTION)
    priced = await evaluate(context, TENANT, basket(transaction_id="t1", receipt_id="r1", header_reference="ref"))
    assert (priced.outcome.subtotal_minor, priced.outcome.discount_minor) == (2000, 200)
    assert (priced.transaction_id, priced.transaction_counter) == ("t1", 1)
    assert (priced.receipt_id, priced.header_reference, priced.is_simulation) == ("r1", "ref", False)
    assert (priced.evaluated_at, priced.data_age) == (NOW, NOW)
    found = await context.database.read(lambda s: find_iteration(s, "cloud", "t1", 1), tenant=TENANT)
    assert found is not None
    assert found.outcome == priced.outcome
    assert (found.pos_group_id, found.receipt_id, found.evaluated_at) == (SHOP, "r1", NOW)


async def test_counters_are_distinct_and_gapless(context: Context) -> None:
    priced = await asyncio.gather(*(evaluate(context, TENANT, basket(transaction_id="t1")) for _ in range(30)))
    assert sorted(one.transaction_counter or 0 for one in priced) == list(range(1, 31))
    other = await evaluate(context, TENANT, basket())
    assert (other.transaction_id, other.transaction_counter) == (uuid(9, 1), 1)


async def test_simulate_writes_nothing(context: Context) -> None:
    await author(context.database, "Promotions", percent_off(1, 10), PROMOTION)
    priced = await simulate(context, TENANT, basket(transaction_id="t1"))
    assert priced.outcome.discount_minor == 200
    assert (priced.transaction_counter, priced.is_simulation) == (None, True)
    for name in ("iterations", "iteration_counters", "promotion_definitions"):
        assert await number_of(context.database, name) == 0
    assert (await evaluate(context, TENANT, basket(transaction_id="t1"))).transaction_counter == 1


async def test_inactive_promotions_apply_only_in_simulations_on_request(context: Context) -> None:
    await author(context.database, "Promotions", percent_off(1, 10, status="DRAFT"), PROMOTION)
    asking = basket(include_inactive=True)
    assert (await simulate(context, TENANT, asking)).outcome.discount_minor == 200
    assert (await simulate(context, TENANT, basket())).outcome.discount_minor == 0
    assert (await evaluate(context, TENANT, asking)).outcome.discount_minor == 0


async def test_a_basket_is_tried_out_with_a_promotion_as_it_is_not_yet(context: Context) -> None:
    for number, percent in ((1, 10), (2, 20)):
        drafted = percent_off(number, percent, status="DRAFT")
        await author(context.database, "Promotions", drafted, uuid(3, number))
    known = await context.catalogues.current(TENANT)
    trial = await known.trial(replace(known.definitions[uuid(3, 1)], status="ACTIVE"))
    assert (await try_out(context, TENANT, basket(), trial)).outcome.discount_minor == 200
    for price_ in (try_out, simulate):
        assert (await price_(context, TENANT, basket())).outcome.discount_minor == 0
    await author(context.database, "Promotions", percent_off(3, 30), uuid(3, 3))
    assert (await try_out(context, TENANT, basket())).outcome.discount_minor == 600
    assert (await try_out(context, TENANT, basket(), trial)).outcome.discount_minor == 200


@pytest.mark.parametrize("verb", [evaluate, simulate])
async def test_another_process_sees_a_change_with_its_next_price(context: Context, verb: Any) -> None:
    other = a_context(await open_database(context.database.url)) if context.database.dialect == "postgresql" else None
    here = context if other is None else other
    assert (await verb(here, TENANT, basket())).outcome.discount_minor == 0
    await author(context.database, "Promotions", percent_off(1, 10), PROMOTION)
    assert (await verb(here, TENANT, basket())).outcome.discount_minor == 200

    async def stop(session: Session) -> None:
        promotions = table("Promotions")
        await session.rowcount(update(promotions).where(promotions.c.id == PROMOTION).values(status="INACTIVE"))
        await record_change(session, "Promotions", PROMOTION, at=NOW + timedelta(hours=1))

    await context.database.write(stop, tenant=TENANT)
    last: PricedIteration = await verb(here, TENANT, basket())
    assert last.outcome.discount_minor == 0
    assert last.data_age == NOW + timedelta(hours=1)
    if other is not None:
        await other.database.close()


async def test_a_basket_is_priced_again_if_the_catalogue_changes_meanwhile(context: Context) -> None:
    await evaluate(context, TENANT, basket())
    known = await context.catalogues.get(TENANT)
    stale = known.version
    await author(context.database, "Promotions", percent_off(1, 10), PROMOTION)
    assert known.version == stale
    priced = await asyncio.gather(*(evaluate(context, TENANT, basket(transaction_id="t9")) for _ in range(5)))
    assert {one.outcome.discount_minor for one in priced} == {200}
    assert sorted(one.transaction_counter or 0 for one in priced) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("fields", "code", "target"),
    [
        ({"pos_group_code": "NOWHERE"}, "POS_GROUP_NOT_FOUND", "posGroupCode"),
        ({"pos_group_code": None, "pos_group_id": uuid(1, 99)}, "POS_GROUP_NOT_FOUND", "posGroupId"),
        ({"pos_group_code": "S2"}, "POS_GROUP_NOT_FOUND", "posGroupCode"),
        ({"pos_group_code": "NORTH", "pos_group_id": SHOP}, "POS_GROUP_MISMATCH", "posGroupCode"),
    ],
)
async def test_an_unusable_pos_group_is_refused(
    context: Context, fields: dict[str, Any], code: str, target: str
) -> None:
    for verb in (evaluate, simulate):
        with pytest.raises(Invalid) as refused:
            await verb(context, TENANT, basket(**fields))
        assert (refused.value.code, refused.value.target) == (code, target)
    assert await number_of(context.database, "iterations") == 0


async def test_pos_groups_by_id_or_trimmed_code_and_new_ones(context: Context) -> None:
    by_id = await evaluate(context, TENANT, basket(pos_group_code=None, pos_group_id=SHOP.upper()))
    assert by_id.outcome.currency == "EUR"
    await evaluate(context, TENANT, basket(pos_group_code=" S1 "))
    row = {"ID": uuid(1, 7), "code": "TOKYO", "name": "Tokyo", "currency": "JPY"}
    await author(context.database, "PosGroups", {"PosGroups": [row]}, uuid(1, 7))
    assert (await evaluate(context, TENANT, basket(pos_group_code="TOKYO"))).outcome.currency == "JPY"


async def test_another_tenant_sees_nothing_of_it(context: Context) -> None:
    await author(context.database, "Promotions", percent_off(1, 10), PROMOTION)
    await evaluate(context, TENANT, basket(transaction_id="t1"))
    with pytest.raises(Invalid, match="POS group"):
        await evaluate(context, "stranger", basket())
    with pytest.raises(NotFound):
        await replay(context, "stranger", "t1", 1)


async def test_master_data_fill_in_fields_that_the_till_omits(context: Context) -> None:
    rows = percent_off(1, 10)
    rows["DiscountActions"][0].pop("targetArticleNumber")
    condition = {"ID": uuid(4, 1), "promotion_ID": PROMOTION, "conditionType": "MANUFACTURER", "value": "Brewery"}
    await author(context.database, "Promotions", rows | {"Conditions": [condition]}, PROMOTION)
    assert (await evaluate(context, TENANT, basket())).outcome.discount_minor == 200
    by_ean = BasketLine("1", "unknown", 1000, 1000, ean="4001")
    assert (await evaluate(context, TENANT, basket(lines=(by_ean,)))).outcome.discount_minor == 100

    async def rebrand(session: Session) -> None:
        articles = table("Articles")
        await session.rowcount(update(articles).where(articles.c.id == uuid(2, 1)).values(manufacturer="Other"))
        await record_change(session, "Articles", uuid(2, 1), at=NOW)

    await context.database.write(rebrand, tenant=TENANT)
    assert (await evaluate(context, TENANT, basket())).outcome.discount_minor == 0


async def test_a_free_item_is_valued_at_its_master_data_price(context: Context) -> None:
    rows = percent_off(1, 10)
    rows["DiscountActions"] = [
        {"ID": OFF, "promotion_ID": PROMOTION, "actionType": "FREE_ITEM", "freeItemArticleNumber": "mug"}
        | {"freeItemQuantity": Decimal(1)}
    ]
    condition = {"ID": uuid(4, 1), "promotion_ID": PROMOTION, "conditionType": "ARTICLE", "articleNumber": "beer"}
    await author(context.database, "Promotions", rows | {"Conditions": [condition]}, PROMOTION)
    granted = (await evaluate(context, TENANT, basket())).outcome.granted
    assert [(one.article_number, one.price_source, one.reference_price_minor) for one in granted] == [
        ("mug", "MASTER_DATA", 450)
    ]


async def test_budgets_and_usage_limits_are_heeded(context: Context) -> None:
    budget: dict[str, Any] = {"ID": uuid(7, 1), "code": "B1", "name": "Budget", "status": "ACTIVE", "currency": "EUR"}
    budget |= {"totalAmount": Decimal("1.50")}
    link = {"ID": uuid(8, 1), "budget_ID": uuid(7, 1), "promotion_ID": PROMOTION}
    rows = percent_off(1, 10) | {"Budgets": [budget], "BudgetPromotions": [link]}
    await author(context.database, "Promotions", rows, PROMOTION)
    outcome = (await evaluate(context, TENANT, basket())).outcome
    assert outcome.discount_minor == 0
    assert [one.reason for one in outcome.budget_limited] == ["BUDGET_INSUFFICIENT"]
    cheaper = BasketLine("1", "beer", 1000, 1000)
    assert (await evaluate(context, TENANT, basket(lines=(cheaper,)))).outcome.discount_minor == 100


async def test_usage_limits_count_confirmed_sales(context: Context) -> None:
    await author(context.database, "Promotions", percent_off(1, 10, maxApplicationsPerCustomer=1), PROMOTION)

    async def used(session: Session) -> None:
        row = {"promotion_id": PROMOTION, "customer_id": "anna", "count": 1}
        await session.rowcount(table("promotion_usage").insert(), row)

    await context.database.write(used, tenant=TENANT)
    for customer, discount in (("anna", 0), ("bert", 200)):
        priced = await evaluate(context, TENANT, basket(customer=Customer(customer_id=customer)))
        assert priced.outcome.discount_minor == discount


async def bytes_stored(database: Database, transaction_id: str, counter: int) -> bytes:
    found = await database.read(lambda s: find_iteration(s, "cloud", transaction_id, counter), tenant=TENANT)
    assert found is not None
    return found.outcome_bytes


def coupon(number: int, **fields: Any) -> dict[str, Any]:
    row = {"ID": uuid(10, number), "couponType_ID": COUPON_TYPE, "code": f"C{number}", "status": "ACTIVE"}
    return row | fields


@pytest.fixture
async def coupons(context: Context) -> Context:
    """A promotion of 10 % off beer by a coupon of one type; codes in every state."""
    types: list[dict[str, Any]] = [
        {"ID": COUPON_TYPE, "code": "TEN", "name": "Ten", "status": "ACTIVE"},
        {"ID": GENERIC_TYPE, "code": "ALL", "name": "All", "status": "ACTIVE", "codeType": "GENERIC"}
        | {"genericCode": "SPRING", "maxRedemptions": 2},
        {"ID": uuid(6, 3), "code": "OFF", "name": "Off", "status": "INACTIVE"},
        {"ID": uuid(6, 4), "code": "OLD", "name": "Old", "status": "ACTIVE", "validTo": NOW},
    ]
    links = [
        {"ID": uuid(11, n), "couponType_ID": kind, "promotion_ID": PROMOTION}
        for n, kind in enumerate((COUPON_TYPE, GENERIC_TYPE), 1)
    ]
    hour = timedelta(hours=1)
    codes = [
        coupon(1),
        coupon(2, status="REDEEMED"),
        coupon(3, status="CANCELLED"),
        coupon(4, status="CREATED"),
        coupon(5, status="EXPIRED"),
        coupon(6, validUntil=NOW),
        coupon(7, status="RESERVED", reservedUntil=NOW + hour, reservedByTransactionId="t1"),
        coupon(8, status="RESERVED", reservedUntil=NOW, reservedByTransactionId="gone"),
        coupon(9, customerId="anna"),
        coupon(10, couponType_ID=uuid(6, 3)),
        coupon(11, couponType_ID=uuid(6, 4)),
        coupon(12, validFrom=NOW + hour),
    ]
    rows = percent_off(1, 10) | {"CouponTypes": types, "CouponTypePromotions": links, "CouponCodes": codes}
    await author(context.database, "Promotions", rows, PROMOTION)
    return context


@pytest.mark.parametrize(
    ("codes", "fields", "refused"),
    [
        (("C1",), {}, []),
        (("SPRING",), {}, []),
        (("nonsense",), {}, ["UNKNOWN_CODE"]),
        (("C2",), {}, ["ALREADY_REDEEMED"]),
        (("C3",), {}, ["NOT_ACTIVE"]),
        (("C4",), {}, ["NOT_ACTIVE"]),
        (("C5",), {}, ["EXPIRED"]),
        (("C6",), {}, ["EXPIRED"]),
        (("C7",), {"transaction_id": "t2"}, ["RESERVED_ELSEWHERE"]),
        (("C7",), {"transaction_id": "t1"}, []),
        (("C8",), {}, []),
        (("C9",), {}, ["WRONG_CUSTOMER"]),
        (("C9",), {"customer": Customer(customer_id="anna")}, []),
        (("C10",), {}, ["NOT_ACTIVE"]),
        (("C11",), {}, ["EXPIRED"]),
        (("C12",), {}, ["NOT_ACTIVE"]),
        (("C12",), {"timestamp": NOW + timedelta(hours=1)}, []),
        (("C1", "C1"), {}, ["USAGE_LIMIT_REACHED"]),
    ],
)
async def test_each_coupon_works_or_states_the_reason_why_not(
    coupons: Context, codes: tuple[str, ...], fields: dict[str, Any], refused: list[str]
) -> None:
    outcome = (await evaluate(coupons, TENANT, basket(coupons=codes, **fields))).outcome
    assert [one.reason for one in outcome.coupons_refused] == refused
    works = len(refused) < len(codes)
    assert outcome.discount_minor == (200 if works else 0)
    assert [one.code for one in outcome.coupons_used] == (list(codes[:1]) if works else [])


async def test_a_generic_code_has_its_limit(coupons: Context) -> None:
    async def used(session: Session) -> None:
        row = {"coupon_type_id": GENERIC_TYPE, "customer_id": "", "count": 2}
        await session.rowcount(table("coupon_usage").insert(), row)

    await coupons.database.write(used, tenant=TENANT)
    outcome = (await evaluate(coupons, TENANT, basket(coupons=("SPRING",)))).outcome
    assert [one.reason for one in outcome.coupons_refused] == ["USAGE_LIMIT_REACHED"]


async def test_guessing_codes_is_throttled_but_pricing_is_not(coupons: Context) -> None:
    guesses = tuple(f"guess-{n}" for n in range(60))
    asking = basket(coupons=guesses, client_id="till-1")
    await evaluate(coupons, TENANT, asking)
    outcome = (await evaluate(coupons, TENANT, asking)).outcome
    assert [one.reason for one in outcome.coupons_refused] == ["UNKNOWN_CODE"] * 40 + ["TOO_MANY_ATTEMPTS"] * 20
    outcome = (await evaluate(coupons, TENANT, replace(asking, coupons=("C1",)))).outcome
    assert [one.reason for one in outcome.coupons_refused] == ["TOO_MANY_ATTEMPTS"]
    assert outcome.subtotal_minor == 2000
    outcome = (await evaluate(coupons, TENANT, replace(asking, coupons=("C1",), client_id="till-2"))).outcome
    assert outcome.coupons_refused == ()


async def test_codes_that_are_tried_out_are_no_guesses(coupons: Context) -> None:
    asking = basket(coupons=tuple(f"guess-{n}" for n in range(60)), client_id="till-1")
    for _ in range(2):
        outcome = (await try_out(coupons, TENANT, asking)).outcome
        assert {one.reason for one in outcome.coupons_refused} == {"UNKNOWN_CODE"}
    outcome = (await evaluate(coupons, TENANT, replace(asking, coupons=("C1",)))).outcome
    assert outcome.coupons_refused == ()


async def test_a_replay_gives_the_same_bytes_whatever_happened_since(coupons: Context) -> None:
    await author(coupons.database, "ArticleGroups", {"ArticleGroups": [{"ID": uuid(12), "groupId": "drinks"}]})
    coded = basket(transaction_id="t1", coupons=("C1", "nonsense"), include_missed=True)
    await evaluate(coupons, TENANT, coded)
    await author(coupons.database, "Promotions", percent_off(2, 50), uuid(3, 2))
    second = await evaluate(coupons, TENANT, coded)
    assert second.transaction_counter == 2
    for counter in (1, 2):
        again = await replay(coupons, TENANT, "t1", counter)
        assert again.outcome_bytes == await bytes_stored(coupons.database, "t1", counter)
        assert again.is_same
    assert again.after() == again.before() == second
    with pytest.raises(NotFound):
        await replay(coupons, TENANT, "t1", 3)

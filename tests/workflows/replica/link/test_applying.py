"""Applying downloads: completely, once, and never over the store's own data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert, select

from promenade.errors import Conflict
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import read_version
from promenade.store.replica.link import Link, read_link
from promenade.workflows.replica.applying import PageUnreadable, apply_pages
from tests.workflows.replica.link.pages import apply, article, coupon_type, page, promotion, row, stage
from tests.workflows.shop import NOON, Shop, identity

PLACE = row("PosGroups", "shop", code="SHOP", name="Shop", currency="EUR")


def offer(name: str, *, percent: str = "10.00", **members: Any) -> dict[str, list[dict[str, Any]]]:
    """A promotion with a condition of two values and an action with two tiers."""
    return {
        "Promotions": [promotion(name, **members)],
        "Conditions": [
            row("Conditions", f"{name} c", promotion_ID=name, conditionType="ARTICLE", operator="EQUALS", sequence=1)
        ],
        "ConditionValueListItems": [
            row("ConditionValueListItems", f"{name} v{at}", condition_ID=f"{name} c", value=f"A{at}") for at in (1, 2)
        ],
        "DiscountActions": [
            row("DiscountActions", f"{name} a", promotion_ID=name, actionType="LINE", discountType="PERCENTAGE",
                discountValue=percent)
        ],
        "ActionScaledTiers": [
            row("ActionScaledTiers", f"{name} t{at}", action_ID=f"{name} a", discountType="PERCENTAGE",
                discountValue=percent, thresholdAmount=f"{at}0.00")
            for at in (1, 2)
        ],
    }  # fmt: skip


async def the_link(store: Shop) -> Link:
    found = await store.context.database.read(read_link, system=True)
    assert found is not None
    return found


async def versions(store: Shop) -> tuple[int, int]:
    found = await read_version(store.context.database.look, store.tenant)
    return found.promotions, found.articles


async def test_a_full_copy_is_used_for_pricing_at_once(store: Shop) -> None:
    before = await versions(store)
    whole = {"PosGroups": [PLACE], "Articles": [article("A1"), article("A2")], **offer("off", version=7)}
    assert await apply(store, page("c1", whole, full=True))
    assert (await store.row("Promotions", "off")).version == 7
    assert len(await store.rows("ConditionValueListItems")) == 2
    assert len(await store.rows("ActionScaledTiers")) == 2
    catalogue = await store.context.catalogues.current(store.tenant)
    assert set(catalogue.definitions) == {identity("off")}
    assert await versions(store) > before
    link = await the_link(store)
    assert (link.cursor, link.last_sync_at) == ("c1", NOON)


async def test_nothing_is_applied_before_the_last_page(store: Shop) -> None:
    assert not await apply(store, page("c1", {"PosGroups": [PLACE]}, full=True, more=True))
    assert await store.count("PosGroups") == 0
    assert (await the_link(store)).cursor is None


@pytest.mark.parametrize("pages", [1, 2])
async def test_the_parts_of_a_promotion_are_replaced_by_those_of_the_cloud(store: Shop, pages: int) -> None:
    """Parts are removed, changed and added as in the cloud; other promotions keep theirs."""
    both = {name: [*offer("off")[name], *offer("other")[name]] for name in offer("off")}
    await apply(store, page("c1", {"PosGroups": [PLACE], **both}, full=True))
    changed = offer("off", percent="20.00", version=2)
    del changed["ConditionValueListItems"][0]
    changed["ActionScaledTiers"][0]["ID"] = identity("a new tier")
    sent = [page("c2", changed)] if pages == 1 else [page("p", {}, more=True), page("c2", changed)]
    await apply(store, *sent)
    values = {one.id for one in await store.rows("ConditionValueListItems", condition_id=identity("off c"))}
    assert values == {identity("off v2")}
    tiers = {one.id: one.discount_value for one in await store.rows("ActionScaledTiers", action_id=identity("off a"))}
    assert tiers == {identity("a new tier"): Decimal(20), identity("off t2"): Decimal(20)}
    assert len(await store.rows("ActionScaledTiers", action_id=identity("other a"))) == 2


async def test_applying_the_same_page_again_changes_nothing(store: Shop) -> None:
    whole = page("c1", {"PosGroups": [PLACE], "Articles": [article("A1")], **offer("off")}, full=True)
    await apply(store, whole)
    before = await versions(store)
    await apply(store, whole)
    assert await versions(store) == before


async def test_a_part_can_move_to_another_promotion(store: Shop) -> None:
    both = {name: [*offer("off")[name], *offer("other")[name]] for name in offer("off")}
    groups = {"PriorityGroups": [row("PriorityGroups", "first", code="first", name="first")]}
    member = row("PriorityGroupPromotions", "m", promotion_ID="off", priorityGroup_ID="first")
    await apply(store, page("c1", {**groups, **both, "PriorityGroupPromotions": [member]}, full=True))
    moved = {**offer("other"), "PriorityGroupPromotions": [{**member, "promotion_ID": identity("other")}]}
    await apply(store, page("c2", moved))
    (there,) = await store.rows("PriorityGroupPromotions")
    assert there.promotion_id == identity("other")


async def test_promotions_exchange_their_codes(store: Shop) -> None:
    """Also three in a cycle, and groups whose key may not be empty."""
    names = ("one", "two", "three")
    groups = [row("ArticleGroups", name, groupId=name.upper(), name=name) for name in names]
    await apply(store, page("c1", {"Promotions": [promotion(name) for name in names], "ArticleGroups": groups}))
    turned = dict(zip(names, (*names[1:], names[0]), strict=True))
    swapped = {
        "Promotions": [promotion(name, code=turned[name], version=2) for name in names],
        "ArticleGroups": [row("ArticleGroups", name, groupId=turned[name].upper(), name=name) for name in names],
    }
    await apply(store, page("c2", swapped))
    assert {(await store.row("Promotions", name)).code for name in names} == set(names)
    for name in names:
        assert (await store.row("Promotions", name)).code == turned[name]
        assert (await store.row("ArticleGroups", name)).group_id == turned[name].upper()


async def test_a_code_goes_from_a_deleted_promotion_to_a_new_one(store: Shop) -> None:
    await apply(store, page("c1", offer("old", code="SUMMER"), full=True))
    await apply(store, page("c2", offer("new", code="SUMMER"), {"Promotions": ["old"]}))
    (there,) = await store.rows("Promotions")
    assert (there.id, there.code) == (identity("new"), "SUMMER")
    assert {one.promotion_id for one in await store.rows("Conditions")} == {identity("new")}


async def test_a_full_copy_deletes_rows_that_the_cloud_no_longer_names(store: Shop) -> None:
    await apply(store, page("c1", {"PosGroups": [PLACE], "Articles": [article("A1"), article("A2")],
                                   **offer("off")}, full=True))  # fmt: skip
    await store.promotion("made here")
    await apply(store, page("c2", {"PosGroups": [PLACE], "Articles": [article("A2")]}, full=True))
    assert await store.count("Promotions") == 0
    assert [one.article_number for one in await store.rows("Articles")] == ["A2"]
    assert not (await store.context.catalogues.current(store.tenant)).definitions


@pytest.mark.parametrize("pages", [1, 2])
async def test_rows_referred_to_by_sales_are_deactivated_instead_of_deleted(store: Shop, pages: int) -> None:
    budget = row("Budgets", "money", code="money", name="money", status="ACTIVE", totalAmount="100.00", currency="EUR")
    await apply(store, page("c1", {"Budgets": [budget], "CouponTypes": [coupon_type("five")]}, full=True))
    await store.put("BudgetConsumptions", budget_id=identity("money"), promotion_id=identity("off"), amount=Decimal(1),
                    transaction_id="t", transaction_counter=1, currency="EUR", consumed_at=NOON)  # fmt: skip
    await store.coupon("SECRET", "five")
    last = page("c2", {}, full=pages == 1)
    await apply(store, *([last] if pages == 1 else [page("p", {}, full=True, more=True), last]))
    assert (await store.row("Budgets", "money")).status == "EXPIRED"
    assert (await store.row("CouponTypes", "five")).status == "INACTIVE"
    assert await store.count("BudgetConsumptions") == 1


async def test_a_download_does_not_change_the_stores_granted_and_spent_amounts(store: Shop) -> None:
    budget = row("Budgets", "money", code="money", name="money", status="ACTIVE", totalAmount="100.00",
                 consumedAmount="40.00", reservedAmount="10.00", currency="EUR")  # fmt: skip
    sent = {
        "Budgets": [budget],
        "CouponTypes": [coupon_type("five", maxRedemptions=50), coupon_type("free")],
        "Promotions": [promotion("off", maxApplicationsTotal=9, applicationsCount=3), promotion("always")],
    }
    await apply(store, page("c1", sent, full=True))
    fresh = await store.row("Budgets", "money")
    assert (fresh.total_amount, fresh.consumed_amount, fresh.reserved_amount) == (0, 0, 0)
    assert (await store.row("CouponTypes", "five")).max_redemptions == 0
    assert (await store.row("CouponTypes", "free")).max_redemptions is None
    limited = await store.row("Promotions", "off")
    assert (limited.max_applications_total, limited.applications_count) == (0, 0)
    assert (await store.row("Promotions", "always")).max_applications_total is None

    await store.change("Budgets", "money", total_amount=Decimal(20), consumed_amount=Decimal(5))
    await store.change("CouponTypes", "five", max_redemptions=4)
    await store.change("Promotions", "off", max_applications_total=2, applications_count=1)
    sent["Budgets"] = [{**budget, "name": "more money", "consumedAmount": "60.00"}]
    sent["CouponTypes"] = [coupon_type("five", maxRedemptions=None), coupon_type("free", maxRedemptions=10)]
    sent["Promotions"] = [promotion("off", maxApplicationsTotal=8), promotion("always", maxApplicationsTotal=7)]
    await apply(store, page("c2", sent))
    kept = await store.row("Budgets", "money")
    assert (kept.name, kept.total_amount, kept.consumed_amount) == ("more money", 20, 5)
    assert (await store.row("CouponTypes", "five")).max_redemptions is None
    assert (await store.row("CouponTypes", "free")).max_redemptions == 0
    limited = await store.row("Promotions", "off")
    assert (limited.max_applications_total, limited.applications_count) == (2, 1)
    assert (await store.row("Promotions", "always")).max_applications_total == 0


async def test_trees_are_applied_in_any_order_and_deleted_completely(store: Shop) -> None:
    below = row("PosGroups", "below", code="BELOW", name="b", currency="EUR", parent_ID="above")
    above = row("PosGroups", "above", code="ABOVE", name="a", currency="EUR")
    await apply(store, page("c1", {"PosGroups": [below, above]}, full=True))
    assert (await store.row("PosGroups", "below")).parent_id == identity("above")
    turned = [{**above, "parent_ID": identity("below")}, {**below, "parent_ID": None}]
    await apply(store, page("c2", {"PosGroups": turned}))
    assert (await store.row("PosGroups", "above")).parent_id == identity("below")
    await apply(store, page("c3", {}, {"PosGroups": ["above", "below"]}))
    assert await store.count("PosGroups") == 0


async def test_a_row_with_an_unknown_reference_waits_for_a_full_download(store: Shop) -> None:
    """A promotion whose POS group is unknown to the store must not apply everywhere; the next download contains all
    rows.
    """
    await apply(store, page("c1", offer("off"), full=True))
    here = [row("PromotionPosGroups", "p", promotion_ID="off", posGroup_ID="nowhere")]
    await apply(store, page("c2", {**offer("off", percent="50.00"), "PromotionPosGroups": here}))
    (tier, _) = await store.rows("ActionScaledTiers")
    assert tier.discount_value == 10
    assert (await the_link(store)).cursor is None


async def test_a_page_that_cannot_be_read_changes_nothing(store: Shop) -> None:
    await apply(store, page("c1", offer("off"), full=True))
    broken = {**offer("other"), "Promotions": [promotion("other", validFrom="never")]}
    with pytest.raises(PageUnreadable, match=r"Promotions.validFrom"):
        await apply(store, page("c2", broken))
    assert await store.count("Promotions") == 1
    assert (await the_link(store)).cursor == "c1"


async def test_a_download_of_another_link_is_not_applied(store: Shop) -> None:
    """The operator changes the link while pages are applied."""
    await stage(store, page("c1", offer("off"), full=True))
    database = store.context.database
    original = database.write

    async def elsewhere(work: Any, **scope: Any) -> Any:
        async def changed(session: Session) -> Any:
            links = table("sync_link")
            await session.rowcount(links.update().values(changed_at=NOON.replace(hour=13)))
            return await work(session)

        return await original(changed, **scope)

    database.write = elsewhere  # type: ignore[method-assign]
    try:
        with pytest.raises(Conflict):
            await apply_pages(store.context, store.tenant)
    finally:
        database.write = original  # type: ignore[method-assign]
    assert await store.count("Promotions") == 0


async def test_the_tenant_gets_its_settings_and_keeps_its_name(store: Shop) -> None:
    async def make(session: Session) -> None:
        await session.rowcount(
            insert(table("Tenants")), {"tenant_id": store.tenant, "name": "here", "master_data_callback_url": "x"}
        )

    await store.context.database.write(make, system=True)
    before = await versions(store)
    settings = row("Tenants", "", name="Retailer", combinationStrategy="BEST_DEAL", pointsPerCurrencyUnit="0.5")
    await apply(store, page("c1", {"Tenants": [settings]}, full=True))

    async def read(session: Session) -> Any:
        return (await session.execute(select(table("Tenants"))))[0]

    tenant = await store.context.database.read(read, system=True)
    assert (tenant.tenant_id, tenant.combination_strategy) == (store.tenant, "BEST_DEAL")
    assert tenant.points_per_currency_unit == Decimal("0.5")
    assert tenant.master_data_callback_url == "x"
    assert await versions(store) > before


class _Killed(BaseException):
    """The process dies here."""


def many_pages(cursor: str, percent: str, articles: tuple[str, ...], *promotions: str) -> list[bytes]:
    """Return a full copy of three pages."""
    offers = [offer(name, percent=percent) for name in promotions]
    whole = {name: [row for one in offers for row in one[name]] for name in offers[0]}
    group = row("ArticleGroups", "group", groupId="G", name=percent)
    goods = [article(name, articleGroup_ID="group", description=percent) for name in articles]
    return [
        page("p1", {"PosGroups": [PLACE], "ArticleGroups": [group], "Articles": goods[:1]}, full=True, more=True),
        page("p2", {"Articles": goods[1:]}, more=True),
        page(cursor, whole),
    ]


async def contents(store: Shop) -> dict[str, list[tuple[Any, ...]]]:
    names = ("ArticleGroups", "Articles", "Promotions", "Conditions", "DiscountActions", "ActionScaledTiers")
    return {name: sorted(tuple(one) for one in await store.rows(name)) for name in names}


async def test_a_store_killed_while_applying_continues_where_it_was(store: Shop) -> None:
    """Killed after any commit: promotions are the old ones or the new ones, and in the end everything is new."""
    old = many_pages("c1", "10.00", ("A1", "A2", "A3"), "off", "gone")
    new = many_pages("c2", "20.00", ("A1", "A2", "A4"), "off", "added")
    await apply(store, *new)
    should = await contents(store)
    database = store.context.database
    original = database.write
    commits = 0
    while True:
        await apply(store, *old)
        await stage(store, *new)
        left = commits = commits + 1

        async def killed_after(work: Any, **scope: Any) -> Any:
            nonlocal left
            found = await original(work, **scope)
            left -= 1
            if left == 0:
                raise _Killed
            return found

        database.write = killed_after  # type: ignore[method-assign]
        try:
            await apply_pages(store.context, store.tenant)
        except _Killed:
            database.write = original  # type: ignore[method-assign]
            amounts = {one.discount_value for one in await store.rows("ActionScaledTiers")}
            assert len(amounts) == 1, "half of the promotions are old, half are new"
            cursor = (await the_link(store)).cursor
            assert cursor == "c1" or await contents(store) == should  # what is there already may come again
            await apply_pages(store.context, store.tenant)
            assert await contents(store) == should
            assert (await the_link(store)).cursor == "c2"
        else:
            database.write = original  # type: ignore[method-assign]
            break
    assert commits > 4

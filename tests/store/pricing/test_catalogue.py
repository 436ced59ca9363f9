"""How the engine interprets the rows of promotions."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import event

from promenade.engine.definition import (
    ArticleRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    LoyaltyRow,
    PriorityRow,
    TierRow,
)
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from tests.store.pricing.written import (
    HOUR,
    NORTH,
    NOW,
    PLACES,
    PROMOTION,
    SHOP,
    SOUTH,
    author,
    definition,
    loaded,
    promotions,
    uuid,
)


async def test_every_part_of_a_promotion_reaches_the_engine(database: Database) -> None:
    action, condition, exclusion, loyalty = uuid(5), uuid(4), uuid(12), uuid(13)
    await author(
        database,
        "Promotions",
        {
            "ArticleGroups": [
                {"ID": uuid(20), "groupId": "drinks"},
                {"ID": uuid(20, 2), "groupId": "beer", "parent_ID": uuid(20)},
            ],
            "Articles": [{"ID": uuid(2), "articleNumber": "A1"}],
            "PriorityGroups": [{"ID": uuid(21), "code": "PG", "name": "PG", "priority": 7}],
            "MutualExclusionGroups": [
                {"ID": uuid(22), "code": "X", "name": "X", "resolutionStrategy": "LOWEST_DISCOUNT"}
            ],
            "Promotions": [
                {"ID": PROMOTION, "name": "All", "code": "ALL", "status": "ACTIVE", "type": "BUNDLE", "priority": 3}
                | {"validFrom": NOW, "validTo": NOW + HOUR, "exclusivityLevel": "GROUP", "currency": "EUR"}
                | {"maxApplicationsPerTransaction": 2, "mutualExclusionGroup_ID": uuid(22), "isExperiment": True}
                | {"controlGroupId": SHOP}
            ],
            "CalculationConfigs": [
                {"ID": uuid(23), "promotion_ID": PROMOTION, "mode": "MULTIPLICATIVE", "rounding": "ROUND_UP"}
                | {"precision": 1}
            ],
            "PriorityGroupPromotions": [
                {"ID": uuid(24), "priorityGroup_ID": uuid(21), "promotion_ID": PROMOTION, "sequence": 5}
            ],
            "Conditions": [
                {"ID": condition, "promotion_ID": PROMOTION, "sequence": 2, "conditionType": "ARTICLE_LIST"}
                | {"article_ID": uuid(2), "articleGroup_ID": uuid(20), "includeSubGroups": True}
                | {"minQuantity": Decimal("1.5"), "minAmount": Decimal("12.34"), "timeFrom": time(8, 30)},
                {"ID": uuid(4, 2), "promotion_ID": PROMOTION, "sequence": 1, "conditionType": "CHANNEL"}
                | {"logicalConnector": "NOT", "value": "ONLINE"},
            ],
            "ConditionValueListItems": [
                {"ID": uuid(30, n), "condition_ID": condition, "value": value} for n, value in enumerate("ba")
            ],
            "ConditionArticleListItems": [{"ID": uuid(31), "condition_ID": condition, "ean": "4001"}],
            "DiscountActions": [
                {"ID": action, "promotion_ID": PROMOTION, "actionType": "BUNDLE", "discountType": "UNIT_PRICE"}
                | {"discountValue": Decimal("9.99"), "maxDiscountAmount": Decimal("5"), "maxBundles": 4}
                | {"targetArticle_ID": uuid(2), "targetArticleGroupId": "beer", "applicationQuantity": Decimal(2)}
            ],
            "ActionScaledTiers": [
                {"ID": uuid(32), "action_ID": action, "thresholdAmount": Decimal(50), "discountType": "ABSOLUTE"}
                | {"discountValue": Decimal(5)}
            ],
            "ActionQuantityTiers": [
                {"ID": uuid(33), "action_ID": action, "minQuantity": Decimal(3), "discountType": "PERCENTAGE"}
                | {"discountValue": Decimal(10)}
            ],
            "BundleComponents": [
                {"ID": uuid(34), "action_ID": action, "articleGroup_ID": uuid(20, 2), "quantity": Decimal(2)}
                | {"discounted": False, "sequence": 1}
            ],
            "ActionArticleListItems": [
                {"ID": uuid(35), "action_ID": action, "articleNumber": "A1", "fixedPrice": Decimal("1.99")}
            ],
            "ActionExclusions": [
                {"ID": exclusion, "action_ID": action, "exclusionType": "ARTICLE_GROUP", "articleGroup_ID": uuid(20)}
            ],
            "ActionExclusionArticleListItems": [{"ID": uuid(36), "exclusion_ID": exclusion, "articleNumber": "A9"}],
            "LoyaltyActions": [
                {"ID": loyalty, "promotion_ID": PROMOTION, "actionType": "MULTIPLY_POINTS"}
                | {"multiplier": Decimal("1.5"), "targetScope": "ARTICLE_LIST"}
            ],
            "LoyaltyActionArticleListItems": [{"ID": uuid(37), "loyaltyAction_ID": loyalty, "articleNumber": "A1"}],
        },
    )
    known = await loaded(database)
    found = known.definitions[PROMOTION]
    assert known.surroundings.article_tree.parents == {"drinks": None, "beer": "drinks"}
    assert (found.code, found.promotion_type, found.priority, found.exclusivity) == ("ALL", "BUNDLE", 3, "GROUP")
    assert (found.valid_from, found.valid_to, found.currency) == (NOW, NOW + HOUR, "EUR")
    assert (found.max_applications_per_transaction, found.is_experiment, found.control_group_id) == (2, True, SHOP)
    assert (found.calculation_mode, found.rounding, found.precision) == ("MULTIPLICATIVE", "ROUND_UP", 1)
    assert found.priority_group == PriorityRow(uuid(21), 7, 5)
    assert found.exclusion_group == ExclusionGroupRow(uuid(22), "LOWEST_DISCOUNT")
    assert found.conditions == (
        ConditionRow(uuid(4, 2), 1, "NOT", "CHANNEL", value="ONLINE"),
        ConditionRow(
            condition,
            2,
            "AND",
            "ARTICLE_LIST",
            article_number="A1",
            article_group_id="drinks",
            include_sub_groups=True,
            min_quantity_thousandths=1500,
            min_amount_hundredths=1234,
            time_from=time(8, 30),
            values=("a", "b"),
            articles=(ArticleRow(None, "4001"),),
        ),
    )
    [made] = found.actions
    assert (made.discount_value_hundredths, made.max_discount_hundredths, made.max_bundles) == (999, 500, 4)
    assert (made.target_article_number, made.target_article_group_id) == ("A1", "beer")
    assert made.application_quantity_thousandths == 2000
    assert made.scaled_tiers == (TierRow(0, "ABSOLUTE", 500, threshold_hundredths=5000),)
    assert made.quantity_tiers == (TierRow(0, "PERCENTAGE", 1000, min_quantity_thousandths=3000),)
    assert made.components == (ComponentRow(uuid(34), 1, 2000, article_group_id="beer", discounted=False),)
    assert made.articles == (ArticleRow("A1", None, 199),)
    assert made.exclusions == (ExclusionRow("ARTICLE_GROUP", article_group_id="drinks", articles=(ArticleRow("A9"),)),)
    assert found.loyalty_actions == (
        LoyaltyRow(
            loyalty,
            "MULTIPLY_POINTS",
            multiplier_thousandths=1500,
            target_scope="ARTICLE_LIST",
            articles=(ArticleRow("A1"),),
        ),
    )


@pytest.mark.parametrize(
    ("own", "campaigns", "merge", "effective"),
    [
        ((), None, False, ()),
        ((NORTH,), None, False, (NORTH, SHOP)),
        ((SOUTH,), (), False, (SOUTH,)),
        ((SOUTH,), (NORTH,), False, (NORTH, SHOP)),
        ((SOUTH,), (NORTH,), True, (NORTH, SHOP, SOUTH)),
        ((), (SHOP,), True, (SHOP,)),
        ((SOUTH,), (), True, (SOUTH,)),
    ],
)
async def test_the_effective_pos_groups_combine_those_of_promotion_and_campaign(
    database: Database,
    own: tuple[str, ...],
    campaigns: tuple[str, ...] | None,
    merge: bool,
    effective: tuple[str, ...],
) -> None:
    campaign = uuid(40)
    rows = dict(PLACES)
    if campaigns is not None:
        rows["Campaigns"] = [
            {"ID": campaign, "code": "C", "name": "C", "startAt": NOW, "status": "CANCELLED"}
            | {"mergePromotionPosGroups": merge}
        ]
        rows["CampaignPosGroups"] = [
            {"ID": uuid(41, n), "campaign_ID": campaign, "posGroup_ID": one} for n, one in enumerate(campaigns)
        ]
    rows |= promotions(1, **({} if campaigns is None else {"campaign_ID": campaign}))
    rows["PromotionPosGroups"] = [
        {"ID": uuid(42, n), "promotion_ID": PROMOTION, "posGroup_ID": one} for n, one in enumerate(own)
    ]
    await author(database, "Promotions", rows)
    found = await definition(database)
    assert found.pos_groups == frozenset(effective)
    assert found.campaign_cancelled == (campaigns is not None)
    assert found.campaign_window == (None if campaigns is None else (NOW, None))


async def test_pilots_coupons_and_budgets_are_linked(database: Database) -> None:
    rows = dict(PLACES) | promotions(1, status="PILOT")
    rows["PromotionPilotConfigs"] = [
        {"ID": uuid(50), "promotion_ID": PROMOTION, "pilotStartAt": NOW, "pilotEndAt": NOW + HOUR}
        | {"pilotShare": Decimal("0.5"), "controlGroupSize": 3}
    ]
    rows["PilotPosGroups"] = [{"ID": uuid(51), "config_ID": uuid(50), "posGroup_ID": NORTH}]
    rows["ControlPosGroups"] = [{"ID": uuid(52), "config_ID": uuid(50), "posGroup_ID": SOUTH}]
    rows["CouponTypes"] = [{"ID": uuid(6), "code": "CT", "name": "CT"}]
    rows["CouponTypePromotions"] = [{"ID": uuid(53), "couponType_ID": uuid(6), "promotion_ID": PROMOTION}]
    rows["Budgets"] = [
        {"ID": uuid(7, n), "code": f"B{n}", "name": "B", "currency": "EUR", "totalAmount": Decimal(1)} for n in (2, 1)
    ]
    rows["BudgetPromotions"] = [{"ID": uuid(54, n), "budget_ID": uuid(7, n), "promotion_ID": PROMOTION} for n in (2, 1)]
    await author(database, "Promotions", rows)
    found = await definition(database)
    assert found.pilot is not None
    assert (found.pilot.share_hundredths, found.pilot.control_group_size) == (50, 3)
    assert found.pilot.pilot_pos_groups == {NORTH, SHOP}
    assert found.pilot.control_pos_groups == {SOUTH}
    assert (set(found.coupon_type_ids), found.budget_ids) == ({uuid(6)}, (uuid(7, 1), uuid(7, 2)))


async def test_statements_do_not_grow_with_promotions(database: Database) -> None:
    async def statements(tenant: str, number: int) -> int:
        rows = promotions(*range(1, number + 1))

        async def work(session: Session) -> None:
            for set_name, of_set in rows.items():
                await insert_rows(session, set_name, of_set, at=NOW, by="author")

        await database.write(work, tenant=tenant)
        seen: list[str] = []
        engine = database._engine.sync_engine if database.dialect == "postgresql" else None  # type: ignore[attr-defined]
        targets = [engine] if engine is not None else [line._engine for line in _lines(database)]

        def count(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            seen.append(statement)

        for target in targets:
            event.listen(target, "before_cursor_execute", count)
        assert len((await Catalogues(database).get(tenant)).definitions) == number
        for target in targets:
            event.remove(target, "before_cursor_execute", count)
        return len(seen)

    few = await statements("few", 2)
    assert await statements("many", 120) == few
    assert few < 40


def _lines(database: Any) -> list[Any]:
    return list(database._reading)


async def test_a_promotion_that_does_not_compile_is_skipped_and_counted(database: Database) -> None:
    rows = promotions(1, 2)
    wrong = {"ID": uuid(4), "promotion_ID": PROMOTION, "conditionType": "RECEIPT_AMOUNT", "value": "not a number"}
    await author(database, "Promotions", dict(rows) | {"Conditions": [wrong]})
    known = await loaded(database)
    assert known.skipped == {PROMOTION}
    assert PROMOTION not in known.compiled
    assert uuid(3, 2) in known.compiled


async def test_archived_and_expired_promotions_are_not_loaded(database: Database) -> None:
    await author(database, "Promotions", promotions(1, status="ARCHIVED"))
    await author(database, "Promotions", promotions(2, status="EXPIRED"))
    assert (await loaded(database)).definitions == {}

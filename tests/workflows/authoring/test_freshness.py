"""Whatever a unit writes, the next evaluation in every process uses it: the catalogue matches the tables."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from decimal import Decimal
from functools import partial
from typing import Any

from promenade.store.pricing.catalogue import Catalogues
from tests.workflows.authoring.desk import Desk, Row

Call = Callable[[], Coroutine[Any, Any, Any]]

CHANGES: dict[str, Row] = {
    "Conditions": {"value": "web"},
    "DiscountActions": {"discountValue": Decimal(2)},
    "LoyaltyActions": {"points": Decimal(2)},
    "CalculationConfigs": {"precision": 1},
    "PromotionPilotConfigs": {"pilotShare": Decimal("0.5")},
    "PriorityGroupPromotions": {"sequence": 9},
    "ConditionValueListItems": {"value": "phone"},
    "ConditionArticleListItems": {"ean": "9"},
    "ActionScaledTiers": {"thresholdAmount": Decimal(9)},
    "ActionQuantityTiers": {"minQuantity": Decimal(9)},
    "BundleComponents": {"quantity": Decimal(9)},
    "ActionArticleListItems": {"ean": "9"},
    "ActionExclusions": {"manufacturer": "x"},
    "ActionExclusionArticleListItems": {"ean": "9"},
    "LoyaltyActionArticleListItems": {"ean": "9"},
    "Campaigns": {"mergePromotionPosGroups": True},
    "PriorityGroups": {"priority": 3},
    "MutualExclusionGroups": {"resolutionStrategy": "LOWEST_DISCOUNT"},
    "Articles": {"articleNumber": "renamed"},
    "ArticleGroups": {"groupId": "renamed"},
    "CouponTypes": {"maxRedemptions": 3},
    "PosGroups": {"timeZone": "Asia/Tokyo"},
    "Promotions": {"priority": 3},
}
# Link rows: they can only be added and removed.
LINKS = (
    "PromotionPosGroups", "CampaignPosGroups", "PilotPosGroups", "ControlPosGroups", "CouponTypePromotions",
    "BudgetPromotions",
)  # fmt: skip


async def assortment(desk: Desk) -> dict[str, str]:
    """A promotion with a row of every entity that defines its effect."""
    made = {name: await desk.given(name) for name in ("Campaigns", "MutualExclusionGroups", "Articles", "PosGroups")}
    made["ArticleGroups"] = await desk.given("ArticleGroups")
    groups = {"campaign_ID": made["Campaigns"], "mutualExclusionGroup_ID": made["MutualExclusionGroups"]}
    made["Promotions"] = await desk.given("Promotions", **groups)
    of = {"promotion_ID": made["Promotions"]}
    for name in ("PriorityGroups", "CouponTypes", "Budgets"):
        made[name] = await desk.given(name)
    made["CalculationConfigs"] = await desk.given("CalculationConfigs", **of)
    made["Conditions"] = await desk.given(
        "Conditions", **of, conditionType="ARTICLE", article_ID=made["Articles"], articleGroup_ID=made["ArticleGroups"]
    )
    made["DiscountActions"] = await desk.given("DiscountActions", **of, targetArticle_ID=made["Articles"])
    made["LoyaltyActions"] = await desk.given("LoyaltyActions", **of)
    made["PromotionPilotConfigs"] = await desk.given("PromotionPilotConfigs", **of)
    made["PriorityGroupPromotions"] = await desk.given(
        "PriorityGroupPromotions", **of, priorityGroup_ID=made["PriorityGroups"]
    )
    made["CouponTypePromotions"] = await desk.given("CouponTypePromotions", **of, couponType_ID=made["CouponTypes"])
    made["BudgetPromotions"] = await desk.given("BudgetPromotions", **of, budget_ID=made["Budgets"])
    made["PromotionPosGroups"] = await desk.given("PromotionPosGroups", **of, posGroup_ID=made["PosGroups"])
    made["CampaignPosGroups"] = await desk.given("CampaignPosGroups", campaign_ID=made["Campaigns"])
    for name in ("PilotPosGroups", "ControlPosGroups"):
        made[name] = await desk.given(name, config_ID=made["PromotionPilotConfigs"])
    for name in ("ConditionValueListItems", "ConditionArticleListItems"):
        made[name] = await desk.given(name, condition_ID=made["Conditions"])
    for name in ("ActionScaledTiers", "ActionQuantityTiers", "BundleComponents", "ActionArticleListItems",
                 "ActionExclusions"):  # fmt: skip
        made[name] = await desk.given(name, action_ID=made["DiscountActions"])
    made["ActionExclusionArticleListItems"] = await desk.given(
        "ActionExclusionArticleListItems", exclusion_ID=made["ActionExclusions"]
    )
    made["LoyaltyActionArticleListItems"] = await desk.given(
        "LoyaltyActionArticleListItems", loyaltyAction_ID=made["LoyaltyActions"]
    )
    return made


async def test_every_write_reaches_the_next_evaluation(desk: Desk) -> None:
    watching = Catalogues(desk.database)
    made = await assortment(desk)

    async def seen(catalogues: Catalogues) -> tuple[Any, ...]:
        found = await catalogues.current(desk.tenant)
        return dict(found.definitions), found.surroundings, set(found.skipped)

    async def reaches(name: str, call: Call) -> None:
        before = await seen(watching)
        await call()
        after = await seen(watching)
        assert after == await seen(Catalogues(desk.database)), name
        assert after != before, name

    other = await desk.given("Promotions")
    for name, values in CHANGES.items():
        await reaches(name, partial(desk.update, name, made[name], **values))
    await reaches("moved", lambda: desk.update("Conditions", made["Conditions"], promotion_ID=other))
    await reaches("back", lambda: desk.update("Conditions", made["Conditions"], promotion_ID=made["Promotions"]))
    for name in ("CouponTypePromotions", "BudgetPromotions", "PriorityGroupPromotions"):
        await reaches(name, partial(desk.update, name, made[name], promotion_ID=other))
    await reaches("set", lambda: desk.update("Promotions", made["Promotions"], posGroups=[]))
    for name in (*reversed(LINKS), *reversed(CHANGES)):
        if name in ("Articles", "ArticleGroups", "PriorityGroups", "MutualExclusionGroups", "Campaigns", "CouponTypes",
                    "PosGroups", "Promotions", "PromotionPosGroups"):  # fmt: skip
            continue
        await reaches(name, partial(desk.remove, name, made[name]))
    await reaches("deleted", lambda: desk.remove("Promotions", made["Promotions"]))


async def test_a_unit_raises_the_version_once_per_kind(desk: Desk) -> None:
    promotion = await desk.given("Promotions")
    before = (await desk.system_rows("catalogue_versions"))[0]["promotions"]

    async def work(authoring: Any) -> None:
        for channel in ("app", "web", "shop"):
            await authoring.create(
                "Conditions", {"promotion_ID": promotion, "conditionType": "CHANNEL", "value": channel}
            )
            await authoring.update("Promotions", promotion, {"description": channel})

    await desk.unit(work)
    assert (await desk.system_rows("catalogue_versions"))[0]["promotions"] == before + 1

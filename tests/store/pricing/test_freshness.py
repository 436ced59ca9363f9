"""The catalogue in memory picks up each change, and recompiles no more than necessary."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from sqlalchemy import update

from promenade.engine.definition import (
    ExclusionGroupRow,
    PriorityRow,
)
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.changes import KEPT, PRUNED_EVERY, record_change
from tests.store.pricing.written import (
    NORTH,
    NOW,
    PLACES,
    PROMOTION,
    SHOP,
    SOUTH,
    TENANT,
    Rows,
    author,
    change,
    promotions,
    uuid,
)


async def test_one_change_recompiles_one_promotion(database: Database) -> None:
    await author(database, "Promotions", promotions(1, 2, 3))
    catalogues = Catalogues(database)
    known = await catalogues.get(TENANT)
    before = {key: known.compiled.get(key) for key in known.definitions}
    await change(database, "Promotions", PROMOTION, "Promotions", name="Renamed")
    after = await catalogues.current(TENANT)
    assert after is known
    assert after.definitions[PROMOTION].name == "Renamed"
    assert [key for key in before if after.compiled.get(key) is not before[key]] == [PROMOTION]
    await change(database, "DiscountActions", uuid(5, 2), "Promotions")  # recorded under the wrong ID: nothing changes
    await change(database, "Promotions", uuid(3, 3), "Promotions", status="ARCHIVED")
    assert set((await catalogues.current(TENANT)).definitions) == {PROMOTION, uuid(3, 2)}


async def test_a_change_of_a_promotions_group_or_campaign_recompiles_it(database: Database) -> None:
    groups: Rows = {
        "Campaigns": [{"ID": uuid(40), "code": "C", "name": "C"}],
        "PriorityGroups": [{"ID": uuid(21), "code": "PG", "name": "PG", "priority": 1}],
        "MutualExclusionGroups": [{"ID": uuid(22), "code": "X", "name": "X"}],
    }
    member = {"ID": uuid(24), "priorityGroup_ID": uuid(21), "promotion_ID": PROMOTION, "sequence": 5}
    first = promotions(1, campaign_ID=uuid(40), mutualExclusionGroup_ID=uuid(22))
    await author(database, "Promotions", groups | dict(first) | {"PriorityGroupPromotions": [member]})
    await author(database, "Promotions", promotions(2))
    catalogues = Catalogues(database)
    known = await catalogues.get(TENANT)
    other = known.compiled.get(uuid(3, 2))
    await change(database, "Campaigns", uuid(40), "Campaigns", status="CANCELLED", end_at=NOW)
    await change(database, "PriorityGroups", uuid(21), "PriorityGroups", priority=9)
    await change(
        database, "MutualExclusionGroups", uuid(22), "MutualExclusionGroups", resolution_strategy="LOWEST_DISCOUNT"
    )
    found = (await catalogues.current(TENANT)).definitions[PROMOTION]
    assert (found.campaign_cancelled, found.campaign_window) == (True, (None, NOW))
    assert found.priority_group == PriorityRow(uuid(21), 9, 5)
    assert found.exclusion_group == ExclusionGroupRow(uuid(22), "LOWEST_DISCOUNT")
    assert known.compiled.get(uuid(3, 2)) is other


async def test_the_article_tree_is_reloaded_when_it_changes(database: Database) -> None:
    linked = dict(promotions(1)) | {
        "PromotionPosGroups": [{"ID": uuid(42), "promotion_ID": PROMOTION, "posGroup_ID": NORTH}]
    }
    await author(database, "Promotions", dict(PLACES) | linked)
    catalogues = Catalogues(database)
    assert (await catalogues.get(TENANT)).surroundings.settings.strategy == "SEQUENTIAL"
    tenant = {
        "tenant_id": TENANT,
        "name": "R",
        "combination_strategy": "BEST_DEAL",
        "created_at": NOW,
        "modified_at": NOW,
    }
    tenant |= {"points_per_currency_unit": Decimal("1.5"), "enable_production_nudges": True}

    async def settle(session: Session) -> None:
        await session.rowcount(table("Tenants").insert(), tenant)
        await record_change(session, "Tenants", TENANT, at=NOW)

    await database.write(settle, tenant=TENANT)
    settings = (await catalogues.current(TENANT)).surroundings.settings
    assert (settings.strategy, settings.points_thousandths, settings.nudges) == ("BEST_DEAL", 1500, True)
    await change(database, "PosGroups", SOUTH, "PosGroups", parent_id=NORTH)
    known = await catalogues.current(TENANT)
    assert known.definitions[PROMOTION].pos_groups == {NORTH, SHOP, SOUTH}
    await author(database, "ArticleGroups", {"ArticleGroups": [{"ID": uuid(20), "groupId": "drinks"}]}, uuid(20))
    tree_before = known.tree_hash
    known = await catalogues.current(TENANT)
    assert known.surroundings.article_tree.parents == {"drinks": None}
    assert known.tree_hash != tree_before


async def test_a_renamed_article_reaches_promotions_that_link_it(database: Database) -> None:
    condition = {"ID": uuid(4), "promotion_ID": PROMOTION, "conditionType": "ARTICLE", "article_ID": uuid(2)}
    rows: Rows = {"Articles": [{"ID": uuid(2), "articleNumber": "old"}], **promotions(1), "Conditions": [condition]}
    await author(database, "Promotions", rows)
    catalogues = Catalogues(database)
    assert (await catalogues.get(TENANT)).definitions[PROMOTION].conditions[0].article_number == "old"
    await change(database, "Articles", uuid(2), "Articles", article_number="new")
    assert (await catalogues.current(TENANT)).definitions[PROMOTION].conditions[0].article_number == "new"


async def test_a_process_that_missed_too_many_changes_reloads_everything(database: Database) -> None:
    await author(database, "Promotions", promotions(1))
    catalogues = Catalogues(database)
    known = await catalogues.get(TENANT)

    async def long_ago(session: Session) -> None:
        versions = table("catalogue_versions")
        await session.rowcount(update(versions).values(promotions=KEPT + PRUNED_EVERY - 1))
        await record_change(session, "Promotions", uuid(3, 77), at=NOW)

    await database.write(long_ago, tenant=TENANT)
    after = await catalogues.current(TENANT)
    assert after is not known
    assert set(after.definitions) == {PROMOTION}


async def test_concurrent_callers_share_one_load(database: Database) -> None:
    await author(database, "Promotions", promotions(1))
    catalogues = Catalogues(database)
    found = await asyncio.gather(*(catalogues.get(TENANT) for _ in range(20)))
    assert len({id(one) for one in found}) == 1
    stale = found[0].version
    await change(database, "Promotions", PROMOTION, "Promotions", name="Renamed")
    again = await asyncio.gather(*(catalogues.refresh(TENANT, stale) for _ in range(20)))
    assert {one.definitions[PROMOTION].name for one in again} == {"Renamed"}


async def test_recording_a_change_of_an_unknown_kind_raises(database: Database) -> None:
    with pytest.raises(ValueError, match="Promotions"):
        await database.write(lambda session: record_change(session, "Conditions", "c", at=NOW), tenant=TENANT)

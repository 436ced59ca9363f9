"""Whatever is changed between two pages, a store ends with the cloud's state: small pages, in process."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from promenade import model
from promenade.errors import PromenadeError
from promenade.ids import new_id
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.changes import record_change
from promenade.store.sync import feed as sync_feed
from promenade.web.sync.endpoints import _body
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.context import Context
from promenade.workflows.sync import feed
from promenade.workflows.sync.deployments import StoreCard, register
from tests.web.sync.down.replica import Replica, held_by_stores
from tests.workflows.authoring.desk import NOON, OTHER, TENANT, Desk
from tests.workflows.shop import open_shop

PLAIN = ("Articles", "ArticleGroups", "PosGroups", "CouponTypes", "Budgets", "Campaigns", "PriorityGroups",
         "MutualExclusionGroups", "Promotions")  # fmt: skip
PARTS = ("CampaignPosGroups", "Conditions", "ConditionValueListItems", "ConditionArticleListItems", "DiscountActions",
         "ActionScaledTiers", "ActionQuantityTiers", "ActionArticleListItems", "ActionExclusions",
         "ActionExclusionArticleListItems", "BundleComponents", "LoyaltyActions", "LoyaltyActionArticleListItems",
         "PromotionPosGroups", "CalculationConfigs", "PriorityGroupPromotions", "BudgetPromotions",
         "CouponTypePromotions", "PromotionPilotConfigs", "PilotPosGroups", "ControlPosGroups")  # fmt: skip
# What an active promotion also needs to have an effect.
SENSE: dict[str, dict[str, Any]] = {
    "Conditions": {"conditionType": "ARTICLE", "articleNumber": "A-1"},
    "DiscountActions": {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": Decimal(10)},
    "BundleComponents": {"articleNumber": "A-1"},
    "LoyaltyActions": {"actionType": "ADD_FIXED", "points": Decimal(10)},
    **{name: {"articleNumber": "A-1"} for name in PARTS if name.endswith("ArticleListItems")},
    "ActionExclusions": {"exclusionType": "ARTICLE", "articleNumber": "A-1"},
}


@dataclass
class Author:
    """An author who changes pricing data at random."""

    desk: Desk
    draw: random.Random
    made: dict[str, list[str]] = field(default_factory=dict)

    async def change(self) -> None:
        """Make one random change in one transaction; changes that the rules forbid are skipped."""
        act = self.draw.choices((self._create, self._patch, self._remove, self._move, self._settings), (9, 5, 4, 3, 1))
        self.desk.now += timedelta(seconds=1)
        try:
            await act[0]()
        except PromenadeError:
            return

    async def create(self, set_name: str, **values: Any) -> None:
        links: dict[str, Any] = dict(SENSE.get(set_name, {}))
        for link in model.entity(set_name).links:
            known = self.made.get(link.target)
            if known and not link.read_only and (link.required or self.draw.random() < 0.5):
                links[link.property_wire] = self.draw.choice(known)
        if set_name == "ControlPosGroups":  # a POS group is in one arm only
            links["posGroup_ID"] = await self.desk.given("PosGroups")
            self.made.setdefault("PosGroups", []).append(links["posGroup_ID"])
        if set_name == "Promotions":
            links["status"] = self.draw.choice(("ACTIVE", "ACTIVE", "ACTIVE", "DRAFT"))
        made = await self.desk.given(set_name, **(links | values))
        self.made.setdefault(set_name, []).append(made)

    async def _create(self) -> None:
        await self.create(self.draw.choice((*PLAIN, *PARTS, "Promotions", "Promotions", "DiscountActions")))

    async def _patch(self) -> None:
        set_name, row_id = self._any()
        fields = {one.wire for one in model.entity(set_name).fields if not one.read_only}
        for wire, value in (("description", self._word()), ("name", self._word()), ("sequence", 7)):
            if wire in fields:
                await self.desk.update(set_name, row_id, **{wire: value})
                return

    async def _remove(self) -> None:
        set_name, row_id = self._any()
        await self.desk.remove(set_name, row_id)
        self.made[set_name].remove(row_id)

    async def _move(self) -> None:
        promotion = self.draw.choice(self.made["Promotions"])
        status = self.draw.choice(("ACTIVE", "ACTIVE", "INACTIVE"))
        await self.desk.update("Promotions", promotion, status=status)

    async def _settings(self) -> None:
        points = {"pointsPerCurrencyUnit": str(self.draw.randrange(100))}
        await set_tenant(self.desk.database, self.desk.tenant, points, at=self.desk.now, user="ann", new_id=new_id)

    def _any(self) -> tuple[str, str]:
        set_name = self.draw.choice(sorted(name for name, ids in self.made.items() if ids))
        return set_name, self.draw.choice(self.made[set_name])

    def _word(self) -> str:
        return f"word-{self.draw.randrange(10**9)}"


class Cloud:
    """The feed of one tenant to one of its stores."""

    def __init__(self, context: Context, deployment_id: str) -> None:
        self.context = context
        self.deployment_id = deployment_id

    async def page(self, replica: Replica) -> bool:
        """Fetch and apply a page; return whether there are more."""
        page = await feed.page_after(self.context, TENANT, self.deployment_id, replica.cursor)
        document = json.loads(_body(page))
        replica.take(document)
        return bool(document["hasMore"])

    async def follow(self, replica: Replica) -> int:
        """Fetch and apply all pages; return their number."""
        pages = 1
        while await self.page(replica):
            pages += 1
        return pages


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use pages of a few rows, so that a small catalogue has many."""
    monkeypatch.setattr(feed, "ROWS_MAX", 7)
    monkeypatch.setattr(feed, "_READ_AT_ONCE", 3)
    monkeypatch.setattr(feed, "_FIRST_AGGREGATES", 2)
    monkeypatch.setattr(sync_feed, "PARTS_MAX", 5)


@pytest.fixture
async def cloud(database: Database, small: None) -> Cloud:
    for tenant in (TENANT, OTHER):
        await create_tenant(database, tenant, settings={}, at=NOON, user="tests")
    context = (await open_shop(database)).context
    found = await register(context, TENANT, StoreCard("S1", None, None, "1.0"), user="tests")
    return Cloud(context, found.deployment_id)


@pytest.fixture
async def author(database: Database, cloud: Cloud, seed: int) -> Author:
    """Return an author who has already made some changes."""
    found = Author(Desk(database), random.Random(seed))
    await found.create("Campaigns")
    await found.create("Promotions", status="ACTIVE")  # at least one that stores receive
    for set_name in ("Promotions", "DiscountActions", "ActionScaledTiers"):
        await found.create(set_name)
    return found


async def test_changes_between_pages_are_applied_completely(cloud: Cloud, author: Author, database: Database) -> None:
    for set_name in (*PLAIN, *PARTS):
        await author.create(set_name)
    replica = Replica()
    for _ in range(4):
        while await cloud.page(replica):
            for _ in range(author.draw.randrange(4)):
                await author.change()
        assert replica.values == await held_by_stores(database, TENANT)
        for _ in range(author.draw.randrange(25)):
            await author.change()
    await cloud.follow(replica)
    assert replica.values == await held_by_stores(database, TENANT)
    assert replica.fulls == 1


async def test_a_delta_names_only_changed_rows(cloud: Cloud, author: Author, database: Database) -> None:
    replica = Replica()
    await cloud.follow(replica)
    promotion = next(iter(replica.rows["Promotions"]))
    await author.desk.update("Promotions", promotion, description="Other words")
    page = await feed.page_after(cloud.context, TENANT, cloud.deployment_id, replica.cursor)
    assert [name for name in page.upserts if name == "Promotions" or name in PLAIN] == ["Promotions"]
    assert (len(page.upserts["Promotions"]), page.deletes, page.has_more, page.full) == (1, {}, False, False)
    await author.desk.update("Promotions", promotion, status="INACTIVE")
    page = await feed.page_after(cloud.context, TENANT, cloud.deployment_id, replica.cursor)
    assert (page.upserts, page.deletes) == ({}, {"Promotions": [promotion]})


async def test_a_download_of_an_up_to_date_store_writes_nothing(
    cloud: Cloud, author: Author, database: Database
) -> None:
    replica = Replica()
    await cloud.follow(replica)
    history = await author.desk.rows("SyncHistory")
    before = replica.cursor
    assert await cloud.follow(replica) == 1
    assert replica.cursor == before
    assert await author.desk.rows("SyncHistory") == history


async def test_a_change_to_all_rows_of_a_kind_starts_a_full_download(
    cloud: Cloud, author: Author, database: Database
) -> None:
    replica = Replica()
    await cloud.follow(replica)

    async def everything(session: Session) -> None:
        await record_change(session, "Promotions", at=author.desk.now)

    await database.write(everything, tenant=TENANT)
    await cloud.page(replica)
    await database.write(everything, tenant=TENANT)  # once more, in the middle of it
    await cloud.follow(replica)
    assert replica.fulls == 3
    assert replica.values == await held_by_stores(database, TENANT)


async def test_a_cursor_of_another_tenant_starts_a_full_download(
    cloud: Cloud, author: Author, database: Database
) -> None:
    replica = Replica()
    await cloud.follow(replica)
    other = await register(cloud.context, OTHER, StoreCard("S1", None, None, "1.0"), user="tests")
    foreign = await feed.page_after(cloud.context, OTHER, other.deployment_id, replica.cursor)
    assert foreign.full
    assert foreign.upserts.keys() == {"Tenants"}
    assert replica.cursor is not None
    for wrong in ("", "x", "?" * 200, "A" * 500, replica.cursor[:-3], replica.cursor[::-1], foreign.cursor):
        page = await feed.page_after(cloud.context, TENANT, cloud.deployment_id, wrong)
        assert page.full, wrong
        assert page.upserts["Tenants"], wrong


async def test_after_a_restored_backup_stores_ahead_of_it_get_a_full_download(
    cloud: Cloud, author: Author, database: Database
) -> None:
    ahead = Replica()
    for _ in range(3):
        await author.desk.given("Articles")
    await cloud.follow(ahead)

    async def back(session: Session) -> None:
        rows = table("catalogue_versions")
        await session.rowcount(rows.update().values(articles=rows.c.articles - 1))

    await database.write(back, tenant=TENANT)
    assert (await feed.page_after(cloud.context, TENANT, cloud.deployment_id, ahead.cursor)).full


async def test_a_budget_that_sales_have_used_up_is_sent_as_one_that_runs(
    cloud: Cloud, author: Author, database: Database
) -> None:
    budget = await author.desk.put(
        "Budgets", code="b", name="B", status="EXHAUSTED", currency="EUR", total_amount=Decimal(5),
        consumed_amount=Decimal(5),
    )  # fmt: skip
    replica = Replica()
    await cloud.follow(replica)
    assert replica.rows["Budgets"][budget]["status"] == "ACTIVE"
    assert replica.rows["Budgets"][budget]["totalAmount"] == "5.000"


async def test_a_download_is_one_row_of_the_history(cloud: Cloud, author: Author) -> None:
    for _ in range(8):
        await author.create("Articles")
    replica = Replica()
    await cloud.page(replica)
    (begun,) = await author.desk.rows("SyncHistory")
    assert (begun["status"], begun["completedAt"], begun["direction"]) == ("RUNNING", None, "DOWN")
    await cloud.follow(replica)
    (ended,) = await author.desk.rows("SyncHistory")
    assert (ended["status"], ended["promotions"]) == ("SUCCEEDED", len(replica.rows["Promotions"]))
    (store,) = await author.desk.rows("LocalDeployments")
    assert store["lastSyncAt"] == ended["completedAt"]
    anew = Replica()
    await cloud.page(anew)
    again = Replica()
    await cloud.follow(again)
    rows = await author.desk.rows("SyncHistory")
    assert sorted(row["status"] for row in rows) == ["FAILED", "SUCCEEDED", "SUCCEEDED"]
    assert {row["message"] for row in rows} == {None, "The store has started the download again."}


async def test_a_page_ends_where_it_would_become_too_large(
    cloud: Cloud, author: Author, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(12):
        await author.desk.given("Articles", description="d" * 1000)
    monkeypatch.setattr(feed, "ROWS_MAX", 1000)
    monkeypatch.setattr(feed, "BYTES_MAX", 4000)
    replica, sizes = Replica(), []
    while True:
        page = await feed.page_after(cloud.context, TENANT, cloud.deployment_id, replica.cursor)
        sizes.append(len(_body(page)))
        replica.take(json.loads(_body(page)))
        if not page.has_more:
            break
    assert len(sizes) >= 4
    assert max(sizes) < 4000 + 3000  # one row more than fits, and the text around the rows
    assert replica.values == await held_by_stores(database, TENANT)


async def test_a_store_that_missed_pruned_changes_gets_a_full_download(
    cloud: Cloud, author: Author, database: Database
) -> None:
    replica = Replica()
    await cloud.follow(replica)
    for _ in range(3):
        await author.desk.given("CouponTypes")
    changes = table("catalogue_changes")
    ((last,),) = await database.read(
        lambda session: session.execute(select(func.max(changes.c.version)).where(changes.c.kind == "CouponTypes")),
        tenant=TENANT,
    )
    forgotten = delete(changes).where(changes.c.kind == "CouponTypes", changes.c.version < last)
    await database.write(lambda session: session.rowcount(forgotten), tenant=TENANT)
    await cloud.follow(replica)
    assert replica.fulls == 2
    assert replica.values == await held_by_stores(database, TENANT)

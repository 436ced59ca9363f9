"""A tenant with binding approval, and its people: one call is one unit of work of one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from promenade.ids import new_id
from promenade.model.declare import Service
from promenade.store.authoring.approvals import read_policy
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.definitions import read_contents
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.authoring import Authoring
from promenade.workflows.drafts import Drafts
from promenade.workflows.promotions.lifecycle import move_promotion
from tests.workflows.authoring.desk import NOON, TENANT, Desk
from tests.workflows.imports.rows.dock import Dock

__all__ = ["BINDING", "House"]

BINDING = {"approval": "BINDING"}
Step = Callable[[Authoring, Session], Awaitable[Any]]


class House:
    """A tenant; ``now`` moves on by a minute with every unit of work."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.desk = Desk(database)
        self.dock = Dock(database)
        self.now = NOON

    async def open(self, settings: Mapping[str, str] = BINDING) -> House:
        await create_tenant(self.database, TENANT, settings={}, at=NOON, user="operator")
        await self.settle(**settings)
        return self

    async def settle(self, **settings: str) -> None:
        """Change settings of the tenant."""
        await set_tenant(self.database, TENANT, settings, at=self.now, user="operator", new_id=new_id)

    async def act(self, user: str, step: Step, **options: Any) -> Any:
        """Run a unit of work of ``user`` to its end."""
        self.now += timedelta(minutes=1)

        async def unit(session: Session) -> Any:
            authoring = Authoring(session, user=user, at=self.now, new_id=new_id, service=Service.ADMIN, **options)
            answer = await step(authoring, session)
            await authoring.finish()
            return answer

        return await self.database.write(unit, tenant=TENANT, user=user, at=self.now)

    async def create(self, user: str, set_name: str, **row: Any) -> str:
        return str(await self.act(user, lambda authoring, _: authoring.create(set_name, row)))

    async def update(self, user: str, set_name: str, key: str, **changes: Any) -> None:
        await self.act(user, lambda authoring, _: authoring.update(set_name, key, changes))

    async def remove(self, user: str, set_name: str, key: str) -> None:
        await self.act(user, lambda authoring, _: authoring.remove(set_name, key))

    async def move(self, user: str, key: str, verb: str, *, reason: str | None = None) -> None:
        async def step(authoring: Authoring, session: Session) -> None:
            policy = await read_policy(session)
            await move_promotion(authoring, session, key, verb, self.now, policy=policy, reason=reason)

        await self.act(user, step)

    async def by_draft(self, user: str, key: str | None, changes: Mapping[str, Any]) -> str:
        """Change a promotion through an edit draft, or create one (None), and activate the draft."""

        async def step(authoring: Authoring, session: Session) -> str:
            drafts = Drafts(session, authoring, user=user, at=self.now, new_id=new_id)
            if key is None:
                made = await drafts.create("Promotions", changes)
            else:
                made = key
                await drafts.edit("Promotions", made, preserve=True)
                await drafts.change("Promotions", made, changes)
            await drafts.activate("Promotions", made)
            return made

        return str(await self.act(user, step))

    async def bring(self, set_name: str, *rows: Mapping[str, Any]) -> list[str]:
        """Import rows as ann; return the codes of the faults."""
        portion = await self.dock.bring(set_name, list(rows))
        return [fault.code for fault in portion.faults]

    # ---- promotions --------------------------------------------------------------------------------------------

    async def promotion(self, user: str = "ann", **values: Any) -> str:
        """Create a promotion in status DRAFT that gives 10 % off everything."""
        key = await self.create(user, "Promotions", **{"name": "Ten off", "currency": "EUR", **values})
        action = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
        await self.create(user, "DiscountActions", promotion_ID=key, **action)
        return key

    async def approved(self, key: str, *, submitter: str = "ann", approver: str = "zoe") -> str:
        """Submit and approve a promotion."""
        await self.move(submitter, key, "submit")
        await self.move(approver, key, "approve")
        return key

    async def running(self, **values: Any) -> str:
        """Return a promotion that runs with an approval."""
        key = await self.approved(await self.promotion(**values))
        await self.move("ann", key, "activate")
        return key

    # ---- what is there -----------------------------------------------------------------------------------------

    async def status(self, key: str) -> str:
        return str((await self.desk.row("Promotions", key))["status"])

    async def contents(self) -> dict[str, str]:
        """Return the fingerprints of the content of all promotions."""

        async def work(session: Session) -> dict[str, str]:
            rows = await session.execute(select(table("Promotions").c.id))
            return await read_contents(session, [row.id for row in rows])

        return await self.database.read(work, tenant=TENANT)

    async def approvals(self, key: str) -> list[dict[str, Any]]:
        found = await self.desk.rows("PromotionApprovals", promotion_ID=key)
        return sorted(found, key=lambda row: row["submittedAt"])

    async def trace(self) -> Sequence[Any]:
        """Return everything that a refused change must leave as it was."""
        sets = ("Promotions", "Conditions", "DiscountActions", "BudgetPromotions", "CouponTypePromotions", "Campaigns",
                "CampaignPosGroups", "PromotionPilotConfigs", "PriorityGroupPromotions", "PromotionPosGroups",
                "PromotionApprovals", "AuditLogs")  # fmt: skip
        tables = ("outbox_events", "promotion_authors", "catalogue_versions")
        return [await self.desk.rows(one) for one in sets] + [await self.desk.system_rows(one) for one in tables]

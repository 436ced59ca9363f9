"""A pilot in two shops, with sales recorded as by confirm, and a clock that tests move."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from promenade.errors import Conflict
from promenade.ids import new_id
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.reports.arms import Sample
from promenade.store.reports.uplift import add_baskets
from promenade.store.sales.calculation_logs import insert_log
from promenade.store.sales.log_parts import packed_promotion
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.clockwork.pilots import SALES_MIN, promote
from promenade.workflows.context import Context
from tests.workflows.authoring.desk import NOON, TENANT
from tests.workflows.promotions.lifecycle.acting import Office

__all__ = ["DAYS", "Trial", "around", "open_trial"]

DAYS = 10  # from NOON to the end of the pilot


def around(mean: str, count: int = SALES_MIN) -> list[str]:
    """Return an even number of totals ten cents above and below a mean: equal ones could not be tested."""
    return [str(Decimal(mean) + Decimal(step) / 10) for step in (-1, 1)] * (count // 2)


@dataclass
class Trial:
    """A promotion that is PILOT since NOON; the shop TREATED gets it, CONTROL is the comparison."""

    office: Office
    context: Context
    groups: dict[str, str]
    promotion: str = ""
    now: list[datetime] = field(default_factory=lambda: [NOON])

    def later(self, **by: float) -> None:
        self.now[0] += timedelta(**by)
        self.office.now = self.now[0]

    async def pilot(self, **config: Any) -> str:
        """Create another pilot; later calls refer to it."""
        self.promotion = await self.office.given("Promotions", status="DRAFT")
        await self.office.given(
            "DiscountActions", promotion_ID=self.promotion, actionType="RECEIPT", discountType="PERCENTAGE",
            discountValue=Decimal(5),
        )  # fmt: skip
        plan = {
            "promotion_ID": self.promotion,
            "pilotStartAt": NOON,
            "pilotEndAt": NOON + timedelta(days=DAYS),
            "autoPromote": True,
            "autoPromoteThreshold": Decimal(10),
            "pilotPosGroups": [{"posGroup_ID": self.groups["TREATED"]}],
            "controlPosGroups": [{"posGroup_ID": self.groups["CONTROL"]}],
        }
        await self.office.create_row("PromotionPilotConfigs", plan | config)
        await self.office.move("Promotions", self.promotion, "startPilot")
        return self.promotion

    async def sold(
        self, arm: str | None, *totals: str, shop: str | None = None, at: datetime | None = None, **columns: Any
    ) -> None:
        """Record confirmed transactions; ``arm`` None: the promotion did not apply, and no arm is recorded."""
        when = at or self.now[0]

        async def work(session: Session) -> None:
            for total in totals:
                log = {
                    "id": str(uuid.uuid4()), "transaction_id": str(uuid.uuid4()), "transaction_counter": 1,
                    "status": "CALCULATED", "pilot_arm": arm, "subtotal": Decimal(total), "discount": Decimal(0),
                    "grand_total": Decimal(total), "currency": "EUR", "loyalty_points": 0, "discrepancy": False,
                    "evaluated_at": when, "confirmed_at": when, "source": "btp", "origin": "cloud",
                    "pos_group_id": self.groups[shop or ("CONTROL" if arm == "CONTROL" else "TREATED")],
                }  # fmt: skip
                await insert_log(session, log | columns, [], self._promotions(arm), at=self.now[0], block=0)

        await self.context.database.write(work, tenant=TENANT)

    def _promotions(self, arm: str | None) -> list[list[Any]]:
        if arm is None:
            return []
        return [packed_promotion(self.promotion, "on trial", 1, 0, None, 0, None, arm, None)]

    async def run(self, cursor: str | None = None) -> JobResult:
        return await promote(self.context, cursor)

    async def sold_before(self, days_ago: int, currency: str = "EUR", **totals: Sequence[str]) -> None:
        """Count what the shops sold on a day before NOON, as reports do."""
        day = (NOON - timedelta(days=days_ago)).date()
        days: dict[tuple[str, date, str], Sample] = {}
        for shop, of_shop in totals.items():
            for group in ("", self.groups[shop]):
                sold = days.setdefault((group, day, currency), Sample())
                for total in of_shop:
                    sold.add(int(Decimal(total) * 1000))
        await self.context.database.write(lambda session: add_baskets(session, days, 1), tenant=TENANT)

    async def set_level(self, level: str) -> None:
        """Set the tenant's level of significance."""
        database, settings = self.context.database, {"significanceLevel": level}
        try:
            await create_tenant(database, TENANT, settings=settings, at=NOON, user="operator")
        except Conflict:
            await set_tenant(database, TENANT, settings, at=NOON, user="operator", new_id=new_id)

    async def status(self, promotion: str | None = None) -> str:
        return str((await self.office.row("Promotions", promotion or self.promotion))["status"])

    async def tallies(self) -> list[dict[str, Any]]:
        return await self.office.system_rows("pilot_tallies")


async def open_trial(database: Database) -> Trial:
    """Two shops, and no promotion yet."""
    office = Office(database)
    groups = {code: await office.given("PosGroups", code=code, currency="EUR") for code in ("TREATED", "CONTROL")}
    now = [NOON]
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: now[0],
        new_id=lambda: str(uuid.uuid4()),
        source="btp",
        instance_id="test",
    )
    return Trial(office, context, groups, now=now)

"""Shops that sell through the real evaluation and confirm, and the resulting reports."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from promenade import model
from promenade.engine.basket import BasketLine
from promenade.model.declare import Service
from promenade.store.driver.unit import Database, Session
from promenade.store.odata.services import columns_of, rows_of
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.reports.aggregating import aggregate_all
from promenade.workflows.reports.exports import Period, exports
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.workflows.authoring.desk import TENANT
from tests.workflows.clockwork.pilots.trial import Trial, open_trial

__all__ = ["Market", "open_market"]


@dataclass
class Market:
    """The trial's shops TREATED and CONTROL with their tills."""

    trial: Trial

    async def sell(self, shop: str, **articles: int) -> bool:
        """Sell one piece of each article, priced in cents (negative: a return); return whether any promotion
        applied.
        """
        lines = tuple(
            BasketLine(str(place), article, 1000 if cents >= 0 else -1000, abs(cents))
            for place, (article, cents) in enumerate(articles.items(), start=1)
        )
        request = PricingRequest(lines=lines, pos_group_id=self.trial.groups[shop])
        priced = await evaluate(self.trial.context, TENANT, request)
        promotions = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
        fingerprint = hashlib.sha256(uuid.uuid4().bytes).digest()
        assert priced.transaction_counter is not None
        command = ConfirmCommand(priced.transaction_id, priced.transaction_counter, promotions, fingerprint)
        await confirm(self.trial.context, TENANT, command)
        return bool(promotions)

    async def promotion(self, *, percent: int = 5, article: str | None = None, **columns: Any) -> str:
        """Create an active percentage promotion on an article or on the receipt."""
        made = await self.trial.office.given("Promotions", **({"status": "DRAFT"} | columns))
        target = {"actionType": "RECEIPT"} if article is None else {
            "actionType": "ARTICLE", "targetArticleNumber": article
        }  # fmt: skip
        await self.trial.office.given(
            "DiscountActions", promotion_ID=made, discountType="PERCENTAGE", discountValue=Decimal(percent), **target
        )
        await self.trial.office.move("Promotions", made, "activate")
        return made

    async def report(self) -> None:
        """Count the sales, and compute the derived figures."""
        await aggregate_all(self.trial.context, TENANT)

    async def entries(self, set_name: str, promotion: str) -> list[dict[str, Any]]:
        """Return the rows of a promotion in an entity set of reporting."""
        entity = model.entity(set_name)
        source = rows_of(entity)
        shown = columns_of(entity, Service.REPORTING)
        columns = [(source.c[of] if isinstance(of, str) else of(source)).label(name) for name, of in shown.items()]
        statement = select(*columns).select_from(source).where(source.c.promotion_id == promotion)

        async def work(session: Session) -> list[dict[str, Any]]:
            return [dict(row._mapping) for row in await session.execute(statement)]

        return await self.trial.context.database.read(work, tenant=TENANT)

    async def result(self, promotion: str) -> dict[str, Any]:
        (row,) = await self.entries("ABTestResults", promotion)
        return row

    async def analysis(self, promotion: str) -> dict[str, Any]:
        (row,) = await self.entries("PromotionUpliftAnalysis", promotion)
        return row

    async def exported(self, since: datetime, until: datetime, **narrowed: str) -> list[dict[str, Any]]:
        period = Period(tenant_id=TENANT, since=since, until=until, **narrowed)
        return [dict(row) async for row in exports()["abTestResults"].rows(self.trial.context, period)]


async def open_market(database: Database) -> Market:
    """Open two shops without promotions."""
    return Market(await open_trial(database))

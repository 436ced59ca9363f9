"""Shops that sell through the real evaluation and confirm, and the reports that come of it."""

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
from promenade.store.odata_maps import columns_of, rows_of
from promenade.store.unit import Database, Session
from promenade.workflows.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from promenade.workflows.evaluate import PricingRequest, evaluate
from promenade.workflows.reporting.aggregating import aggregate_all
from promenade.workflows.reporting.exports import Period, exports
from tests.workflows.authoring.desk import TENANT
from tests.workflows.clock_pilots.trial import Trial, open_trial

__all__ = ["Market", "open_market"]


@dataclass
class Market:
    """The trial's shops TREATED and CONTROL, and what their tills do."""

    trial: Trial

    async def sell(self, shop: str, **articles: int) -> bool:
        """A basket of one piece of each article, priced in cents (below zero: it comes back); whether anything
        applied."""
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
        """An active promotion that takes percents off an article, or off the receipt."""
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
        """Count what was sold, and compute what is derived."""
        await aggregate_all(self.trial.context, TENANT)

    async def entries(self, set_name: str, promotion: str) -> list[dict[str, Any]]:
        """What an entity set of reporting shows of a promotion."""
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
    """Two shops, and no promotion yet."""
    return Market(await open_trial(database))

"""Two shops that sell the same baskets at the same times: one without a promotion, its twin with it."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, Select, select

from promenade.engine.basket import BasketLine, Customer
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.changes import record_change
from promenade.workflows.context import Context
from promenade.workflows.forecasts.asking import Period, prepare_forecast, store_forecast
from promenade.workflows.forecasts.runs import run_forecasts
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.kit.logged import rows_from

__all__ = ["OWN", "START", "TRIED", "TWIN", "Market", "Rows", "action", "identity", "open_market", "promotion"]

START = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
OWN, TWIN = "own", "twin"
ARTICLES = {"beer": 120, "mug": 450, "crisps": 199, "wine": 899, "cheese": 333}
CUSTOMERS = (None, None, "C1", "C2", "C3")

Rows = dict[str, list[dict[str, Any]]]


def identity(name: str) -> str:
    """Return a UUID that is the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


PATIENCE_SECONDS = 90.0
TRIED = identity("tried")


def promotion(name: str, *actions: dict[str, Any], more: Rows | None = None, **values: Any) -> Rows:
    """Return an active promotion with its actions and related rows."""
    row = {"ID": identity(name), "code": name, "name": name, "status": "ACTIVE", **values}
    rows: Rows = {"Promotions": [row], "DiscountActions": []}
    for number, one in enumerate(actions):
        ids = {"ID": identity(f"{name} action {number}"), "promotion_ID": identity(name)}
        rows["DiscountActions"].append({**ids, **one})
    return rows | (more or {})


def action(article: str | None, kind: str, value: str, **values: Any) -> dict[str, Any]:
    """Return a discount on an article, or on the receipt."""
    what = {"actionType": "RECEIPT"} if article is None else {"actionType": "ARTICLE", "targetArticleNumber": article}
    return {**what, "discountType": kind, "discountValue": Decimal(value), **values}


@dataclass
class Market:
    """Both shops and their clock; their rows are equal except for the tested promotion."""

    context: Context
    now: list[datetime] = field(default_factory=lambda: [START])
    sold: int = 0

    async def put(self, rows: Mapping[str, Sequence[dict[str, Any]]], *tenants: str) -> None:
        """Insert rows of each entity set, for both shops or the ones named."""

        async def work(session: Session) -> None:
            for set_name, each in rows.items():
                named = [{"ID": str(uuid.uuid4()), **row} for row in each]
                await insert_rows(session, set_name, named, at=self.now[0], by="author")
            await record_change(session, "Promotions", at=self.now[0])

        for tenant in tenants or (OWN, TWIN):
            await self.context.database.write(work, tenant=tenant)

    async def sell(
        self,
        lines: Sequence[BasketLine],
        *tenants: str,
        customer: str | None = None,
        coupons: tuple[str, ...] = (),
        pos: str = "BERLIN",
        **how: Any,
    ) -> list[PricedIteration]:
        """Evaluate and confirm a basket in both shops, or the ones named."""
        self.sold += 1
        transaction, priced = f"T{self.sold}", []
        for tenant in tenants or (OWN, TWIN):
            request = PricingRequest(
                lines=tuple(lines),
                transaction_id=transaction,
                pos_group_code=pos,
                coupons=coupons,
                customer=None if customer is None else Customer(customer),
                **how,
            )
            one = await evaluate(self.context, tenant, request)
            named = tuple(ConfirmedPromotion(applied.promotion_id) for applied in one.outcome.applied)
            print_of = hashlib.sha256(repr(named).encode()).digest()
            await confirm(
                self.context, tenant, ConfirmCommand(transaction, one.transaction_counter or 0, named, print_of)
            )
            priced.append(one)
        return priced

    async def sell_many(
        self, rng: random.Random, baskets: int, coupon: str | None = None, tenants: tuple[str, ...] = ()
    ) -> None:
        """Sell random baskets, some minutes apart."""
        for _ in range(baskets):
            self.now[0] += timedelta(minutes=rng.randint(1, 150))
            names = rng.sample(sorted(ARTICLES), rng.randint(1, 4))
            lines = [
                BasketLine(str(number), name, 1000 * rng.randint(1, 4), ARTICLES[name])
                for number, name in enumerate(names)
            ]
            if rng.random() < 0.1:
                lines.append(BasketLine("back", "beer", -1000, ARTICLES["beer"]))
            coupons = (coupon,) if coupon and rng.random() < 0.5 else ()
            pos = rng.choice(("BERLIN", "TOKYO"))
            await self.sell(lines, *tenants, customer=rng.choice(CUSTOMERS), coupons=coupons, pos=pos)

    async def forecast(self, date_from: date, date_to: date, *, background: bool = False, **how: Any) -> str:
        """Run a forecast to its end, however busy the machine is; return its ID."""
        period = Period(date_from, date_to)
        how.setdefault("seconds_max", PATIENCE_SECONDS)
        if background:
            how["baskets_max"] = -1
        prepared = await prepare_forecast(self.context, OWN, TRIED, period, **how)
        forecast_id = await self.context.database.write(
            lambda session: store_forecast(session, prepared, user="planner", new_id=self.context.new_id), tenant=OWN
        )
        if background:
            while await run_forecasts(self.context, stretch_seconds=0.0):
                pass
        return forecast_id

    async def rows(self, set_name: str, tenant: str = OWN, **where: Any) -> Sequence[Row[Any]]:
        wanted = rows_from(set_name)
        statement: Select[Any] = select(wanted)
        for column, value in where.items():
            statement = statement.where(wanted.c[column] == value)

        async def work(session: Session) -> Sequence[Row[Any]]:
            return await session.execute(statement)

        return await self.context.database.read(work, tenant=tenant)

    async def given(self, tenant: str) -> dict[tuple[str, str], dict[str, tuple[str, Decimal]]]:
        """Return the discounts of each promotion, by (promotion, currency), then by transaction: its name and its
        discount.
        """
        logs = {row.id: row for row in await self.rows("CalculationLogs", tenant)}
        found: dict[tuple[str, str], dict[str, tuple[str, Decimal]]] = {}
        for row in await self.rows("CalculationLogPromotions", tenant):
            log = logs[row.log_id]
            of = found.setdefault((row.promotion_id, log.currency), {})
            of[log.transaction_id] = (row.promotion_name, row.total_discount)
        return found

    async def totals(self, tenant: str) -> dict[str, tuple[int, Decimal, Decimal]]:
        """Return sales, discounts and net sales by currency."""
        sums: dict[str, tuple[int, Decimal, Decimal]] = {}
        for log in await self.rows("CalculationLogs", tenant):
            count, discount, net = sums.get(log.currency, (0, Decimal(0), Decimal(0)))
            sums[log.currency] = (count + 1, discount + log.discount, net + log.grand_total)
        return sums


async def open_market(database: Database) -> Market:
    """Open two shops without sales, with two POS groups each and their articles."""
    now = [START]
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: now[0],
        new_id=lambda: str(uuid.uuid4()),
        source="btp",
        instance_id="test",
    )
    market = Market(context, now)
    groups = [
        {"ID": identity(code), "code": code, "name": code, "currency": currency, "timeZone": zone}
        for code, currency, zone in (("BERLIN", "EUR", "Europe/Berlin"), ("TOKYO", "JPY", "Asia/Tokyo"))
    ]
    articles = [
        {"ID": identity(name), "articleNumber": name, "basePrice": Decimal(price).scaleb(-2), "currency": "EUR"}
        for name, price in ARTICLES.items()
    ]
    await market.put({"PosGroups": groups, "Articles": articles})
    return market

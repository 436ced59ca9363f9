"""Makes the demo tenant: rows into the tables, then a week of sales that are really evaluated and confirmed."""

from __future__ import annotations

import hashlib
from asyncio import gather
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from promenade.demo.assortment import build_assortment
from promenade.demo.authoring import Notebook
from promenade.demo.guide import DemoClient, Purchase, guide_text, tour_purchases, tour_request
from promenade.demo.promotions import write_promotions
from promenade.demo.sales import Sale, draw_sales
from promenade.store.catalogue import record_change
from promenade.store.rows import insert_rows
from promenade.store.unit import Session
from promenade.worker import Worker
from promenade.workflows.clients import create_client
from promenade.workflows.confirm import confirm
from promenade.workflows.confirm_rules import ConfirmCommand, ConfirmedPromotion
from promenade.workflows.context import Context
from promenade.workflows.evaluate import PricedIteration, PricingRequest, evaluate, simulate
from promenade.workflows.reporting.advice import count_shown
from promenade.workflows.reporting.aggregating import aggregate_all
from promenade.workflows.tenants import create_tenant

__all__ = ["DemoTenant", "seed"]

TENANT = "demo"
_USER = "demo"
_CROWD = 25
_SHOPPING = timedelta(minutes=4)  # between the first look at the price and the last

# role -> scopes: one client for each kind of user the service knows. At the back office a planner simulates baskets
# and an administrator uploads files, which are doors of their own.
_CLIENTS = {
    "till": ("svc.POSReader",),
    "planner": ("svc.PromotionManager", "svc.POSReader"),
    "controller": ("svc.BudgetManager",),
    "administrator": ("svc.Admin", "PublicApi.Read", "PublicApi.Write"),
    "erp": ("PublicApi.Read", "PublicApi.Write"),
}


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """What was made, and how to reach it."""

    tenant_id: str
    clients: tuple[DemoClient, ...]
    purchases: tuple[Purchase, ...]
    promotion_ids: tuple[str, ...]  # that discount the purchases
    promotions: int
    sales: int

    def greeting(self, base_url: str) -> str:
        """The text that the demo prints: credentials and lines to paste."""
        return guide_text(base_url, self.tenant_id, self.clients, self.purchases, self.promotion_ids)


async def seed(context: Context, seed: int, *, articles: int = 20_000, sales: int = 1_000) -> DemoTenant:
    """Fill an empty database with the retailer of ``seed``; the same seed and clock make the same one."""
    rng = Random(seed)  # noqa: S311 - a repeatable retailer is the point
    now = context.clock()
    opened = now - timedelta(days=60)
    assortment = build_assortment(rng, articles)
    book = Notebook(rng, opened, now + timedelta(days=120))
    leaflet = write_promotions(book, assortment, now)
    settings = {
        "name": "Promenade demo retailer",
        "enableProductionNudges": "true",
        "pointsPerCurrencyUnit": "0",
        "defaultCurrency": "EUR",
    }
    await create_tenant(context.database, TENANT, settings=settings, at=opened, user=_USER)
    await _store_rows(context, (*assortment.rows(), *book.rows()), opened)
    sold = await _sell(context, draw_sales(rng, leaflet, now, sales))
    purchases = tour_purchases(leaflet)
    clients = tuple([await _client(context, role, scopes) for role, scopes in _CLIENTS.items()])
    priced = await simulate(context, TENANT, tour_request(purchases))
    promotion_ids = tuple(one.promotion_id for one in priced.outcome.applied if one.discount_minor)
    return DemoTenant(TENANT, clients, purchases, promotion_ids, book.count("Promotions"), sold)


async def _store_rows(context: Context, tables: Iterable[tuple[str, list[dict[str, Any]]]], at: datetime) -> None:
    async def work(session: Session) -> None:
        for set_name, rows in tables:
            await insert_rows(session, set_name, rows, at=at, by=_USER)
        await record_change(session, "Promotions", at=at)
        await record_change(session, "Articles", at=at)

    await context.database.write(work, tenant=TENANT)


async def _client(context: Context, role: str, scopes: Sequence[str]) -> DemoClient:
    secret = f"{context.new_id()}{context.new_id()}".replace("-", "")  # random, unlike the rest: it opens doors
    await create_client(
        context.database,
        client_id=f"demo-{role}",
        secret=secret,
        tenant_id=TENANT,
        scopes=scopes,
        at=context.clock(),
        name=f"Demo {role}",
    )
    return DemoClient(role, f"demo-{role}", secret, tuple(scopes))


async def _sell(context: Context, sales: Iterable[Sale]) -> int:
    """Evaluate and confirm every sale at its own time, then finish what they set in motion; how many there were.

    Shoppers come in crowds: all of one are priced before the first of them pays, so that they share commits and the
    outcome still depends on nothing but their order.
    """
    count = 0
    waiting = iter(sales)
    while crowd := list(islice(waiting, _CROWD)):
        growing = [sale for sale in crowd if sale.asked_first]
        await gather(*(evaluate(_at(context, sale.at - _SHOPPING), TENANT, _first(sale)) for sale in growing))
        priced = await gather(*(evaluate(_at(context, sale.at), TENANT, _request(sale)) for sale in crowd))
        await gather(*(_pay(context, sale, basket) for sale, basket in zip(crowd, priced, strict=True)))
        count += len(crowd)
    worker = Worker(context)
    while await worker.run_once():
        pass
    await _report(context)
    return count


async def _report(context: Context) -> None:
    """Count what was sold and advised, as the worker does sooner or later: reports are there from the first look."""
    while (await count_shown(context))[1]:
        pass
    await aggregate_all(context, TENANT)


async def _pay(context: Context, sale: Sale, priced: PricedIteration) -> None:
    await confirm(_at(context, sale.at + timedelta(seconds=40)), TENANT, _command(sale, priced))


def _first(sale: Sale) -> PricingRequest:
    """The basket as it was when the till first asked: shoppers see what they still miss, and some go for it."""
    return replace(_request(replace(sale, lines=sale.lines[: sale.asked_first])), timestamp=sale.at - _SHOPPING)


def _at(context: Context, moment: datetime) -> Context:
    return replace(context, clock=lambda: moment)


def _request(sale: Sale) -> PricingRequest:
    return PricingRequest(
        transaction_id=sale.transaction_id,
        receipt_id=f"R-{sale.transaction_id[-6:]}",
        pos_group_code=sale.store.code,
        lines=sale.lines,
        coupons=sale.coupons,
        customer=sale.customer,
        payment=sale.payment,
        channel=sale.channel,
        user_fields=sale.user_fields,
        manual_discount=sale.manual_discount_reason is not None,
        manual_discount_reason=sale.manual_discount_reason,
        timestamp=sale.at,
        client_id=f"till-{sale.store.code}",
    )


def _command(sale: Sale, priced: PricedIteration) -> ConfirmCommand:
    """The till takes what it was offered."""
    applied = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied if one.discount_minor)
    return ConfirmCommand(
        transaction_id=sale.transaction_id,
        transaction_counter=priced.transaction_counter or 1,
        promotions=applied,
        fingerprint=hashlib.sha256(sale.transaction_id.encode()).digest(),
        customer_id=sale.customer.customer_id if sale.customer else None,
        receipt_id=f"R-{sale.transaction_id[-6:]}",
    )

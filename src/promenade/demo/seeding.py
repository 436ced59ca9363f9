"""Creates the demo tenant: rows in the tables, then five weeks of sales that are evaluated and confirmed."""

from __future__ import annotations

import hashlib
import secrets
from asyncio import gather
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from promenade.demo.assortment import build_assortment
from promenade.demo.authoring import Notebook
from promenade.demo.guide import DemoClient, DemoPerson, Purchase, guide_text, tour_purchases, tour_request
from promenade.demo.promotions import write_plans, write_promotions
from promenade.demo.sales import Sale, draw_sales
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.worker import Worker
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.people import invite_person, set_password
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate, simulate
from promenade.workflows.reports.advice import count_shown
from promenade.workflows.reports.aggregating import aggregate_all
from promenade.workflows.sales.confirm import confirm
from promenade.workflows.settlement.rules import ConfirmCommand, ConfirmedPromotion
from promenade.workflows.webhooks.planning import plan_deliveries

TENANT = "demo"
_USER = "demo"
_CROWD = 25
_COUNTED_AT_ONCE = 1_000  # nobody waits yet
_ADVISED_FOR = timedelta(days=8)
_EVENTS_AT_ONCE = 1_000
_SHOPPING = timedelta(minutes=4)  # between the first price request and the last

# role -> scopes: one client for each kind of user of the service. In the back office a planner also simulates baskets
# and an administrator also uploads files, which need scopes of their own.
_CLIENTS = {
    "till": ("svc.POSReader",),
    "planner": ("svc.PromotionManager", "svc.POSReader"),
    "controller": ("svc.BudgetManager",),
    "administrator": ("svc.Admin", "PublicApi.Read", "PublicApi.Write"),
    "erp": ("PublicApi.Read", "PublicApi.Write"),
}
_PEOPLE = {
    "planner": ("Rosa Plan", _CLIENTS["planner"]),
    "controller": ("Karl Zahl", _CLIENTS["controller"]),
    "administrator": ("Ada Amt", _CLIENTS["administrator"]),
}
_WORDS = ("coffee", "butter", "cherry", "ginger", "lemon", "melon", "olive", "pepper")


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """The created tenant, and how to access it."""

    tenant_id: str
    clients: tuple[DemoClient, ...]
    purchases: tuple[Purchase, ...]
    promotion_ids: tuple[str, ...]  # that discount the purchases
    promotions: int
    sales: int
    people: tuple[DemoPerson, ...] = ()  # of an older demo none

    def greeting(self, base_url: str) -> str:
        """Return the text that the demo prints: credentials and commands to paste."""
        return guide_text(base_url, self.tenant_id, self.clients, self.people, self.purchases, self.promotion_ids)


async def seed(context: Context, seed: int, *, articles: int = 20_000, sales: int = 1_000) -> DemoTenant:
    """Fill an empty database with the retailer of ``seed``; the same seed and clock give the same data."""
    rng = Random(seed)  # noqa: S311 - a repeatable retailer is the point
    now = context.clock()
    opened = now - timedelta(days=60)
    assortment = build_assortment(rng, articles)
    book = Notebook(rng, opened, now + timedelta(days=120))
    leaflet = write_promotions(book, assortment, now)
    settings = {
        "name": "Promenade demo retailer",
        "enableProductionNudges": "false",
        "pointsPerCurrencyUnit": "0",
        "defaultCurrency": "EUR",
    }
    await create_tenant(context.database, TENANT, settings=settings, at=opened, user=_USER)
    await _store_rows(context, (*assortment.rows(), *book.rows()), opened)
    sold = await _sell(context, draw_sales(rng, leaflet, now, sales), now - _ADVISED_FOR)
    plans = Notebook(rng, opened, book.valid_to)
    write_plans(leaflet, plans)
    await _store_rows(context, plans.rows(), now)
    purchases = tour_purchases(leaflet)
    clients = tuple([await _client(context, role, scopes) for role, scopes in _CLIENTS.items()])
    people = tuple([await _person(context, *one) for one in _PEOPLE.items()])
    priced = await simulate(context, TENANT, tour_request(purchases))
    promotion_ids = tuple(one.promotion_id for one in priced.outcome.applied if one.discount_minor)
    count = book.count("Promotions") + plans.count("Promotions")
    return DemoTenant(TENANT, clients, purchases, promotion_ids, count, sold, people)


async def _store_rows(context: Context, tables: Iterable[tuple[str, list[dict[str, Any]]]], at: datetime) -> None:
    async def work(session: Session) -> None:
        for set_name, rows in tables:
            await insert_rows(session, set_name, rows, at=at, by=_USER)
        await record_change(session, "Promotions", at=at)
        await record_change(session, "Articles", at=at)

    await context.database.write(work, tenant=TENANT)


async def _client(context: Context, role: str, scopes: Sequence[str]) -> DemoClient:
    secret = f"{context.new_id()}{context.new_id()}".replace("-", "")  # a credential: random, unlike the rest
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


async def _person(context: Context, user_name: str, who: tuple[str, Sequence[str]]) -> DemoPerson:
    """Make a person with a password that is short to type, yet random: a demo may be served to a whole network."""
    name, scopes = who
    at, password = context.clock(), f"{secrets.choice(_WORDS)}-{secrets.randbelow(9_000) + 1_000}"
    await invite_person(
        context.database, TENANT, user_name, scopes=scopes, name=name, new_id=context.new_id, at=at, user=_USER
    )
    await set_password(context.database, TENANT, user_name, password, at)
    return DemoPerson(user_name, password, tuple(scopes))


async def _sell(context: Context, sales: Iterable[Sale], advised_from: datetime) -> int:
    """Evaluate and confirm every sale at its own time, then run the jobs they caused; return the number of sales.

    From ``advised_from`` on tills are also told what shoppers miss, which takes longer than the price.
    Sales are processed in batches: all of a batch are priced before the first is confirmed. So they share commits, and
    the result still depends on nothing but their order.
    """
    count = 0
    waiting = iter(sales)
    is_advised = False
    while crowd := list(islice(waiting, _CROWD)):
        if not is_advised and crowd[0].at >= advised_from:
            await _advise(context, advised_from)
            is_advised = True
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


async def _advise(context: Context, at: datetime) -> None:
    settings = {"enableProductionNudges": "true"}
    await set_tenant(context.database, TENANT, settings, at=at, user=_USER, new_id=context.new_id)


async def _report(context: Context) -> None:
    """Do what the worker would do later: reports have data at once, and a new webhook is sent no event of before."""
    while (await count_shown(context))[1]:
        pass
    await aggregate_all(context, TENANT, limit=_COUNTED_AT_ONCE)
    while (await plan_deliveries(context, _EVENTS_AT_ONCE)).events:
        pass


async def _pay(context: Context, sale: Sale, priced: PricedIteration) -> None:
    await confirm(_at(context, sale.at + timedelta(seconds=40)), TENANT, _command(sale, priced))


def _first(sale: Sale) -> PricingRequest:
    """Return the basket of the till's first request: shoppers see what they still miss, and some add it."""
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
    """Return the confirm command with every promotion that gave a discount."""
    applied = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied if one.discount_minor)
    return ConfirmCommand(
        transaction_id=sale.transaction_id,
        transaction_counter=priced.transaction_counter or 1,
        promotions=applied,
        fingerprint=hashlib.sha256(sale.transaction_id.encode()).digest(),
        customer_id=sale.customer.customer_id if sale.customer else None,
        receipt_id=f"R-{sale.transaction_id[-6:]}",
    )

"""Histories of customers' sales, and everything that a database holds of a tenant, decoded."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from promenade.engine.outcome import Outcome
from promenade.store.driver import schema
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.packing import StoredRecord, packed_records
from promenade.workflows.access.erasures import Erasure, erase_customer
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.clockwork import clock_jobs
from promenade.workflows.reports.aggregating import Run
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from promenade.workflows.sales.cancel import CancelCommand, cancel
from promenade.workflows.settlement.effects import decode_effects
from promenade.workflows.settlement.returns import decode_record
from promenade.workflows.webhooks.planning import plan_deliveries
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import NOON, Shop, identity, open_shop

ERASED, OTHERS = "Kd-4711-x", ("Kd-4712-x", "Kd-8-x")

Row = dict[str, Any]


async def branches(database: Database, *tenants: str) -> list[Shop]:
    """Open shops of tenants of their own, with one clock; all have the same names, prices and customers."""
    first = await open_shop(database, tenants[0], is_new=False)
    shops = [Shop(first.context, first.now, tenant) for tenant in tenants]
    for shop in shops:
        await create_tenant(database, shop.tenant, settings={}, at=NOON, user="tests")
        await shop.put("PosGroups", id=identity("shop"), code="SHOP", name="Shop", currency="EUR")
        for name in ("off", "stamps", "saver"):
            await shop.promotion(name)
        await shop.budget("marketing", "1000.00")
        await shop.coupon_type("gift")
    return shops


def saved(code: str) -> Outcome:
    return outcome(
        (line("1", 1000, 500, discount("saver", ((1, 100),), code)),), (applied("saver", 100, coupon_code=code),)
    )


async def live(shops: Sequence[Shop], seed: int, steps: int = 16) -> None:
    """Let customers buy, spend coupons, return and have sales cancelled: the same in all shops, at the same time.

    Each of them buys something first, whatever is drawn after that.
    """
    choose = random.Random(seed)
    sold: list[tuple[str, int]] = []
    first = [ERASED, *OTHERS]
    for step in range(steps):
        customer = first[step] if step < len(first) else choose.choice([ERASED, ERASED, *OTHERS])
        kinds = ["sale", "sale", "gift", "return", "cancel"]
        kind = choose.choice(kinds) if sold and step >= len(first) else "sale"
        name, minutes, is_quiet = f"{kind}-{step}", choose.randint(1, 30), choose.random() < 0.5
        of = sold.pop(choose.randrange(len(sold))) if kind == "cancel" else choose.choice([*sold, ("", 0)])
        shops[0].later(minutes=minutes)
        for shop in shops:
            if kind == "sale":
                await sell(shop, name, customer)
            elif kind == "gift":
                await spend(shop, name, customer)
            elif kind == "return":
                await give_back(shop, name, of[0] or sold[0][0], customer)
            else:
                await take_back(shop, of)
        if kind == "sale":
            sold.append((name, 2))
        if is_quiet:
            await settle(shops[0])
    for shop in shops:
        await shop.coupon("KEPT", "gift", customer_id=ERASED)
    await settle(shops[0])


async def configure(shop: Shop, **settings: object) -> None:
    """Set settings of a tenant, as the operator does."""
    await set_tenant(
        shop.context.database, shop.tenant, {name: str(value) for name, value in settings.items()},
        at=shop.now[0], user="operator", new_id=shop.context.new_id,
    )  # fmt: skip


async def sell(shop: Shop, name: str, customer: str | None) -> None:
    """Sell two coffees, priced twice: the confirmed price is stored as the difference from the first one."""
    await shop.price(name, PRICED, customer_id=customer)
    await shop.confirm(name, await shop.price(name, PRICED, customer_id=customer), "off", customer_id=customer)


async def spend(shop: Shop, name: str, customer: str) -> None:
    """Sell something with a coupon that is the customer's own."""
    fact = await shop.coupon(f"GIFT-{name}", "gift", customer_id=customer, issue_metadata=f'"{customer}"')
    counter = await shop.price(name, saved(fact.code), coupons=[fact], customer_id=customer)
    await shop.confirm(name, counter, "saver")


async def give_back(shop: Shop, name: str, of: str, customer: str | None) -> None:
    """Return one piece of a sale."""
    back = outcome((line("9", -1000, -400),), ())
    counter = await shop.price(name, back, sales={"9": (of, "1")}, customer_id=customer)
    await shop.confirm(name, counter, customer_id=customer)


async def take_back(shop: Shop, sale: tuple[str, int]) -> None:
    await cancel(shop.context, shop.tenant, CancelCommand(*sale))


async def settle(shop: Shop) -> None:
    """Let the worker, the reports and the deliveries of all tenants come to rest."""
    await shop.work()
    await run(shop, "reports.aggregate")
    await run(shop, "reports.advice")
    while (await plan_deliveries(shop.context, 100)).events:
        pass


async def run(shop: Shop, name: str) -> None:
    """Run a scheduled job until it has nothing more to do."""
    cursor = None
    while (ran := await clock_jobs()[name].run(shop.context, cursor)).more:
        cursor = ran.cursor


async def rebuild(shop: Shop) -> None:
    await begin_rebuild(shop.context.database, shop.tenant)
    while await rebuild_portion(shop.context, shop.tenant, Run(shop.context.new_id), 7) is not None:
        pass
    await settle(shop)


async def ask(shop: Shop, customer: str = ERASED) -> Erasure:
    return await erase_customer(
        shop.context.database, shop.tenant, customer, secret=b"k" * 32, new_id=shop.context.new_id, at=shop.now[0]
    )


async def erase(shop: Shop, customer: str = ERASED) -> None:
    """Ask for an erasure, wait until all has settled, and carry it out."""
    await ask(shop, customer)
    shop.later(hours=2)
    await run(shop, "customers.erase")


# ---- what is stored --------------------------------------------------------------------------------------------------


async def stored(shop: Shop) -> dict[str, list[Row]]:
    """Return all rows of the tenant, by table, in the order of their keys, with the documents in them decoded."""

    async def work(session: Session) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for rows in schema.metadata.sorted_tables:
            if "tenant_id" in rows.c:
                listed = await session.execute(sa.select(rows).order_by(*rows.primary_key))
                found[rows.name] = [dict(row._mapping) for row in listed]
                if rows.name == "iterations":
                    packed = await packed_records(session, [StoredRecord.of(row) for row in listed])
                    for row, one in zip(found[rows.name], packed, strict=True):
                        row["record"] = None if one is None else one.unpack()
        return found

    found = await shop.context.database.read(work, tenant=shop.tenant)
    for row in found["side_effect_jobs"]:
        row["payload"] = decode_effects(row["payload"])
    for row in found["confirmations"]:
        row["sale"] = None if row["sale"] is None else decode_record(row["sale"])
    return found


def naming(found: Mapping[str, Sequence[Row]], customer: str) -> list[str]:
    """Return the columns that hold a customer's ID, alone or in something larger."""
    return sorted(
        {
            f"{table}.{column}"
            for table, rows in found.items()
            for row in rows
            for column, value in row.items()
            if customer in repr(value)
        }
    )


def pseudonym_of(found: Mapping[str, Sequence[Row]]) -> str:
    """Return the one pseudonym that is stored."""
    (name,) = {
        row["customer_id"]
        for rows in found.values()
        for row in rows
        if (row.get("customer_id") or "").startswith("erased-")
    }
    return str(name)


BOOKS = (
    "BudgetConsumptions", "Budgets", "CalculationLogs", "CouponCodes", "LoyaltyTransactions", "Promotions",
    "RedemptionLogs", "cancellations", "confirmations", "coupon_claims", "coupon_usage", "loyalty_balances",
    "promotion_usage", "side_effect_jobs",
)  # fmt: skip
"""Sets and tables that say what was sold, spent and given back."""
_FREE = {
    "tenant_id", "block", "version", "issue_metadata", "log_id", "lease_owner", "modified_at",
    "balance_after", "awarded_at",  # sales of one moment may be booked in any order
}  # fmt: skip


def books(found: Mapping[str, Sequence[Row]], renamed: tuple[str, str] = ("", "")) -> dict[str, list[str]]:
    """Return what was sold, spent and given back, and all sums, in the order of their texts.

    What chance decides is left out; ``renamed`` is a customer's ID and what to call them instead.
    """
    reports = [name for name in found if name.startswith(("arm_", "basket_", "budget_", "promotion_", "advice_"))]
    names = {schema.table(name).name for name in BOOKS} | {
        name for name in reports if not name.endswith("_drafts") and name != "promotion_definitions"
    }
    return {name: sorted(_text(row, *renamed) for row in found[name]) for name in sorted(names)}


def _text(row: Row, old: str, new: str) -> str:
    told = {name: value for name, value in row.items() if name not in _FREE and not _is_drawn(value)}
    text = repr(told)
    return text.replace(old, new) if old else text


def _is_drawn(value: Any) -> bool:
    try:
        return isinstance(value, str) and uuid.UUID(value).version == 4
    except ValueError:
        return False

"""A customer is told everything that is stored under the customer's ID, and nothing of anybody else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from promenade.errors import Invalid, NotFound
from promenade.store.access import customers as store
from promenade.store.driver import schema
from promenade.store.driver.types import Json, PackedJson
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.customers import Record, export_customer
from promenade.workflows.access.tenants import create_tenant
from tests.workflows.counting import note_statements
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import NOON, TENANT, Shop

PAGE = Path(__file__).parents[3] / "docs/how-to/data-protection.md"


async def exported(database: Database, customer_id: str, tenant_id: str = TENANT) -> list[Record]:
    return [record async for record in export_customer(database, tenant_id, customer_id)]


async def put(database: Database, name: str, rows: list[dict[str, Any]], tenant: str = TENANT) -> None:
    async def work(session: Session) -> None:
        await session.execute_many(sa.insert(schema.metadata.tables[name]), rows)

    await database.write(work, tenant=tenant)


async def known(database: Database) -> Database:
    await create_tenant(database, TENANT, settings={}, at=NOON, user="tests")
    return database


async def sell(shop: Shop, transaction_id: str, customer_id: str) -> None:
    await shop.confirm(transaction_id, await shop.price(transaction_id, PRICED, customer_id=customer_id), "off")


async def test_the_export_tells_sales_with_lines_basket_points_and_uses(shop: Shop) -> None:
    await sell(shop, "T1", "C1")
    await sell(shop, "T2", "C2")
    await shop.work()
    records = await exported(await known(shop.context.database), "C1")
    kinds = {record.kind for record in records}
    assert {
        "Baskets", "CalculationLogParts", "CalculationLogs", "LoyaltyBalances", "LoyaltyTransactions", "PromotionUsage",
    } <= kinds  # fmt: skip
    (log,) = [record.values for record in records if record.kind == "CalculationLogs"]
    assert (log["transactionId"], log["customerId"]) == ("T1", "C1")
    (basket,) = [record.values["basket"] for record in records if record.kind == "Baskets"]
    assert basket["customer"]["customer_id"] == "C1"
    assert "coupons" not in basket
    assert b"C1" in msgspec.json.encode([record.values for record in records])  # all of it can be printed
    assert "C2" not in repr(records)
    assert "T2" not in repr(records)


async def test_many_sales_are_told_with_as_few_statements_as_one(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    database = await known(shop.context.database)
    needed = []
    for number in range(1, 10):
        await sell(shop, f"T{number}", "C1")
        if number in (1, 9):
            statements = note_statements(monkeypatch, database)
            records = await exported(database, "C1")
            assert [one.kind for one in records].count("Baskets") == number
            needed.append(len(statements))
    assert needed[1] <= needed[0]


async def test_codes_of_coupons_are_not_told(shop: Shop) -> None:
    await shop.coupon_type("gift")
    await shop.coupon("SECRET-1", "gift", customer_id="C1")
    (record,) = await exported(await known(shop.context.database), "C1")
    assert record.kind == "CouponCodes"
    assert record.values["customerId"] == "C1"
    assert "SECRET-1" not in repr(record)


@pytest.mark.parametrize("name", ["forecast_customers", "loyalty_balances"])
async def test_portions_tell_each_row_once(database: Database, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With an index over customers and without one, whatever other customers' rows are between."""
    await known(database)
    monkeypatch.setattr(store, "READ_MAX", 5)
    monkeypatch.setattr("promenade.workflows.access.customers.PORTION", 2)
    if name == "forecast_customers":
        rows: list[dict[str, Any]] = [
            {"forecast_id": f"F{at:02}", "customer_id": who, "sales": at} for at in range(9) for who in ("A", "B")
        ]
        expected = list(range(9))
    else:
        rows = [{"customer_id": who, "points": at} for at, who in enumerate("AB")]
        expected = [1]
    await put(database, name, rows)
    told = [record.values.get("sales", record.values.get("points")) for record in await exported(database, "B")]
    assert told == expected


async def test_another_tenant_with_the_same_customer_is_not_told(database: Database) -> None:
    for tenant in (TENANT, "other"):
        await create_tenant(database, tenant, settings={}, at=NOON, user="tests")
        await put(database, "loyalty_balances", [{"customer_id": "C1", "points": len(tenant)}], tenant)
    (record,) = await exported(database, "C1", "other")
    assert record.values["points"] == 5


async def test_what_cannot_be_a_customer_or_a_tenant_is_refused(database: Database) -> None:
    await known(database)
    for customer_id, code in (("", "VALUE_REQUIRED"), ("x" * 51, "VALUE_TOO_LONG")):
        with pytest.raises(Invalid) as refused:
            await exported(database, customer_id)
        assert (refused.value.code, refused.value.target) == (code, "customerId")
    with pytest.raises(NotFound):
        await exported(database, "C1", "nobody")


def _is_free(kind: sa.types.TypeEngine[Any]) -> bool:
    """Whether a column may hold a whole message: bytes, JSON, or a text of more than 2000 characters."""
    if isinstance(kind, sa.String):
        return kind.length is None or kind.length > 2000
    return isinstance(kind, sa.LargeBinary | Json | PackedJson)


NOBODY = {
    "advice_walk.place": "a place in evaluations", "basket_tests.actual_promotions": "IDs of promotions",
    "basket_tests.expected_promotions": "IDs of promotions", "clients.scopes": "scopes", "group_roles.scopes": "scopes",
    "local_deployments.runs": "what a store runs", "people.scopes": "scopes", "signing_keys.private_key": "a key",
    "webhook_subscriptions.event_types": "kinds of events",
    "arm_trials.trials": "sums", "cancellations.response": "IDs of the sale", "catalogue_changes.others": "IDs",
    "confirmations.fingerprint": "a digest", "confirmations.response": "IDs of the sale",
    "confirmations.returned": "quantities", "calculation_log_parts.lines": "told with the log",
    "calculation_log_parts.promotions": "told with the log", "forecast_jobs.plan": "a promotion and facts",
    "forecast_jobs.tally": "sums", "import_keys.digest": "a digest", "import_parts.row_numbers": "numbers",
    "iterations.advice": "kinds of advice, IDs of promotions",
    "issue_keys.digest": "a digest", "issue_windows.issued": "numbers", "pilot_tallies.sums": "sums",
    "promotion_definitions.body": "promotions", "raw_payloads.payload": "articles",
    "record_dictionaries.content": "made without customers", "store_shares.last_answer": "a status",
    "cache_keys.secret": "a key", "customer_erasure_keys.secret": "a key",
    "customer_erasure_keys.cloud_secret": "a key",
}  # fmt: skip
"""Columns of any content that name no customer, and what they hold instead."""


def test_the_page_names_every_column_that_may_hold_a_customer() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tables, columns = set(re.findall(r"^\| `(\w+)` ", text, re.M)), set(re.findall(r"^\| `(\w+\.\w+)` ", text, re.M))
    assert tables == set(store.tables_of_customers())
    free = {
        f"{rows.name}.{column.name}"
        for rows in schema.metadata.sorted_tables
        if not rows.name.endswith("_drafts")
        for column in rows.c
        if _is_free(column.type)
    }
    missing = free - columns - NOBODY.keys()
    assert not missing, f"say what {sorted(missing)} hold: in {PAGE.name} or in NOBODY"
    assert not NOBODY.keys() - free
    assert not columns - free

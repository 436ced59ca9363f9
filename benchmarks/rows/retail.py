"""The number of rows of a large retailer, written directly into the tables: the data for the public API's benchmark."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from promenade.app import clock, opened_context
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant

__all__ = ["PROMOTIONS", "TENANT", "Rows", "fill", "identity"]

TENANT = "bench"
PROMOTIONS = 10_000
CAMPAIGNS = 200
PLACES = 50
CHUNK = 5_000
SCOPES = ("PublicApi.Read", "PublicApi.Write")
SECRET = "of-this-benchmark-only"
MADE = datetime(2026, 1, 1, tzinfo=UTC)
STATUSES = ("ACTIVE", "ACTIVE", "DRAFT", "INACTIVE", "EXPIRED")


@dataclass(frozen=True, slots=True)
class Rows:
    """The written rows, and the client that may read and write them."""

    client_id: str
    client_secret: str
    articles: int
    promotions: int


def identity(set_name: str, number: int) -> str:
    """Return the key of a row, the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{set_name}/{number}"))


def fill(database_url: str, articles: int, promotions: int = PROMOTIONS) -> Rows:
    """Create the tables and write so many promotions with their children, and so many articles."""
    upgrade(database_url)
    return asyncio.run(_fill(database_url, articles, promotions))


async def _fill(database_url: str, articles: int, promotions: int) -> Rows:
    async with opened_context(Settings(database=database_url, data_dir=Path())) as context:
        await create_tenant(context.database, TENANT, settings={}, at=clock(), user="benchmark")
        for set_name, rows in (
            ("PosGroups", _pos_groups()),
            ("Campaigns", _campaigns()),
            ("Promotions", _promotions(promotions)),
            ("CalculationConfigs", _calculation_configs(promotions)),
            ("PromotionPosGroups", _promotion_pos_groups(promotions)),
            ("Articles", _articles(articles)),
        ):
            await _insert(context.database, set_name, rows)
        await create_client(
            context.database, client_id=TENANT, secret=SECRET, tenant_id=TENANT, scopes=SCOPES, at=clock()
        )
    return Rows(TENANT, SECRET, articles, promotions)


async def _insert(database: Database, set_name: str, rows: Iterator[dict[str, Any]]) -> None:
    while chunk := list(islice(rows, CHUNK)):

        async def work(session: Session, chunk: list[dict[str, Any]] = chunk) -> None:
            await insert_rows(session, set_name, chunk, at=MADE, by="benchmark")

        await database.write(work, tenant=TENANT, durable=False)


def _pos_groups() -> Iterator[dict[str, Any]]:
    for number in range(PLACES):
        yield {
            "ID": identity("PosGroups", number),
            "code": f"S{number:03}",
            "name": f"Store {number}",
            "currency": "EUR",
        }


def _campaigns() -> Iterator[dict[str, Any]]:
    for number in range(CAMPAIGNS):
        yield {"ID": identity("Campaigns", number), "code": f"C{number:04}", "name": f"Campaign {number}"}


def _promotions(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "ID": identity("Promotions", number),
            "code": f"P{number:06}",
            "name": f"Promotion {number * 7919 % PROMOTIONS:05}",
            "description": "Two of these for the price of one, while stocks last.",
            "status": STATUSES[number % len(STATUSES)],
            "validFrom": MADE,
            "validTo": MADE + timedelta(days=number % 365),
            "priority": number % 100,
            "campaign_ID": identity("Campaigns", number % CAMPAIGNS),
        }


def _calculation_configs(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"ID": identity("CalculationConfigs", number), "promotion_ID": identity("Promotions", number)}


def _promotion_pos_groups(count: int) -> Iterator[dict[str, Any]]:
    for number in range(2 * count):
        yield {
            "ID": identity("PromotionPosGroups", number),
            "promotion_ID": identity("Promotions", number // 2),
            "posGroup_ID": identity("PosGroups", number % PLACES),
        }


def _articles(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {
            "ID": identity("Articles", number),
            "articleNumber": f"A{number:08}",
            "name": f"Article {number}",
            "ean": f"{4_000_000_000_000 + number}",
            "manufacturer": f"Maker {number % 500}",
        }

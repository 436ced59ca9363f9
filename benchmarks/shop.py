"""The demo's retailer for benchmarks: seeded into a database, and baskets of its articles."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promenade.app import clock, new_id, opened_context
from promenade.demo import seed
from promenade.demo.assortment import Article, Store, build_assortment, shelf_price
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.workflows.access.tenants import set_tenant

__all__ = ["Shop", "open_shop"]

SEED = 1


@dataclass(frozen=True, slots=True)
class Shop:
    """The assortment by store, and the credentials of its tills."""

    client_id: str
    client_secret: str
    articles: tuple[Article, ...]
    tills: tuple[Store, ...]

    def evaluate_body(self, number: int, lines: int) -> bytes:
        """Return basket ``number``: ``lines`` different articles at one till; the same number gives the same basket."""
        draw = random.Random(f"bench {number}")
        till = draw.choice(self.tills)
        items = [
            {
                "articleNumber": article.article_number,
                "quantity": draw.choice((1, 1, 1, 2, 3)),
                "unitPrice": str(shelf_price(article, till.currency)),
            }
            for article in draw.sample(self.articles, lines)
        ]
        request = {"posGroupCode": till.code, "channel": "IN_STORE", "items": items}
        return json.dumps({"request": request}, separators=(",", ":")).encode()

    @staticmethod
    def confirm_body(priced: dict[str, Any]) -> bytes:
        """Return the confirm request for an evaluate response: everything accepted as offered."""
        header = priced["meta"]["header"]
        discounted = priced["totals"]["savingsSummary"]["promotionBreakdown"]
        request = {
            "header": header,
            "transactionId": header["transactionId"],
            "appliedPromotions": [{"promotionId": one["promotionId"]} for one in discounted],
        }
        return json.dumps({"request": request}, separators=(",", ":")).encode()


def open_shop(database_url: str) -> Shop:
    """Create the tables and seed the retailer without past sales."""
    upgrade(database_url)
    client_id, secret = asyncio.run(_seed(database_url))
    assortment = build_assortment(random.Random(SEED))
    return Shop(client_id, secret, assortment.articles, assortment.tills())


async def _seed(database_url: str) -> tuple[str, str]:
    async with opened_context(Settings(database=database_url, data_dir=Path())) as context:
        made = await seed(context, SEED, sales=0)
        # The demo enables nudges, which are off by default and priced one by one.
        plain = {"enableProductionNudges": "false"}
        await set_tenant(context.database, made.tenant_id, plain, at=clock(), user="benchmark", new_id=new_id)
    till = next(client for client in made.clients if "svc.POSReader" in client.scopes)
    return till.client_id, till.secret

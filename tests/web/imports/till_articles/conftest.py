"""A served shop whose tills import articles, on SQLite and PostgreSQL, and a second tenant of the same service."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service
from tests.kit.tenants import make_clients, make_tenants
from tests.web.conftest import OPENED, TENANT, Shop, furnish, run

OTHER = "other"
ENDED = ("SUCCEEDED", "FAILED")
SECONDS_MAX = 200.0
STATUSES = ("QUEUED", "RUNNING", "SUCCEEDED", "FAILED")
_GROUP_OFFER, _GIFT_OFFER = str(uuid.UUID(int=0xB1)), str(uuid.UUID(int=0xB2))
_OFFERS: dict[str, list[dict[str, Any]]] = {
    "ArticleGroups": [{"ID": str(uuid.UUID(int=0xA1)), "groupId": "SALE", "name": "On sale"}],
    "Promotions": [
        {"ID": _GROUP_OFFER, "name": "A half off SALE", "status": "ACTIVE", "type": "ARTICLE"},
        {"ID": _GIFT_OFFER, "name": "A gift with TRIGGER", "status": "ACTIVE", "type": "ARTICLE"},
    ],
    "Conditions": [
        {"ID": str(uuid.UUID(int=0xC1)), "promotion_ID": _GROUP_OFFER, "sequence": 1}
        | {"conditionType": "ARTICLE_GROUP", "articleGroupId": "SALE"},
        {"ID": str(uuid.UUID(int=0xC2)), "promotion_ID": _GIFT_OFFER, "sequence": 1}
        | {"conditionType": "ARTICLE", "articleNumber": "TRIGGER"},
    ],
    "DiscountActions": [
        {"ID": str(uuid.UUID(int=0xD1)), "promotion_ID": _GROUP_OFFER, "actionType": "ARTICLE_GROUP"}
        | {"targetArticleGroupId": "SALE", "discountType": "PERCENTAGE", "discountValue": 50},
        {"ID": str(uuid.UUID(int=0xD2)), "promotion_ID": _GIFT_OFFER, "actionType": "FREE_ITEM"}
        | {"freeItemArticleNumber": "GIFT", "freeItemQuantity": 1},
    ],
}


@dataclass
class Till:
    """A till that calls the article endpoints of the served shop and reads the results."""

    shop: Shop
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def number(self) -> str:
        """Return an unused article number."""
        return f"N-{next(self._numbers)}"

    def store(self, *articles: Any, client: str = "till") -> dict[str, Any]:
        """Return the response of an import that must succeed."""
        answer = self.shop.call("/pos/articles/import", {"articles": articles}, client=client)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def hand_in(self, articles: Sequence[Any], *, client: str = "till", **more: Any) -> str:
        """Send a batch and return its job."""
        answer = self.shop.call("/pos/articles/import-batch", {"articles": articles, **more}, client=client)
        assert answer.status_code == 202, answer.text
        found = answer.json()
        assert found["status"] == "QUEUED"
        assert found["jobId"] in found["message"]
        return str(found["jobId"])

    def read(self, path: str, *, client: str = "planner") -> Any:
        """Return the body of a GET."""
        answer = self.shop.call(path, client=client)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def article(self, number: str, *, client: str = "planner") -> dict[str, Any] | None:
        """Return an article by its number, as the public API shows it."""
        found = self.read(f"/api/v1/Articles?$filter=articleNumber eq '{number}'", client=client)["value"]
        assert len(found) <= 1, found
        return found[0] if found else None

    def ended(self, job_id: str, *, client: str = "planner") -> dict[str, Any]:
        """Return the ArticleImportJob once it has ended."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            job: dict[str, Any] = self.read(f"/api/v1/ArticleImportJobs({job_id})", client=client)
            if job["status"] in ENDED:
                return job
        raise AssertionError(f"the job has not ended: {job}")

    def items(self, job_id: str) -> list[dict[str, Any]]:
        """Return the result of each article of a batch, by article number."""
        path = f"/api/v1/ArticleImportJobs({job_id})/items?$orderby=articleNumber"
        found = self.read(path)
        items: list[dict[str, Any]] = found["value"]
        while "@nextLink" in found:
            found = self.read(found["@nextLink"])
            items += found["value"]
        return items


async def _furnish_offers(database_url: str) -> None:
    """Create promotions that depend on master data, and a job of each status."""
    database = await open_database(database_url)
    jobs = [
        {"ID": str(uuid.UUID(int=0xE0 + place)), "name": "made by a test", "status": status, "totalArticles": 3}
        | {"processedArticles": place, "failedArticles": place // 2}
        for place, status in enumerate(STATUSES)
    ]

    async def work(session: Session) -> None:
        for set_name, rows in (*_OFFERS.items(), ("ArticleImportJobs", jobs)):
            await insert_rows(session, set_name, rows, at=OPENED, by="tests")
        await record_change(session, "Promotions", at=OPENED)

    try:
        await database.write(work, tenant=TENANT)
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def shop(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Shop]:
    """Serve the shop and a second tenant, whose POS group has the same code."""
    database_url = databases.create(request.param)
    make_tenants(database_url, TENANT, OTHER)
    run(furnish(database_url))
    run(_furnish_offers(database_url))
    scopes = {
        "till": ("svc.POSReader",),
        "administrator": ("svc.Admin",),
        "planner": ("svc.PromotionManager", "PublicApi.Read", "PublicApi.Write"),
    }
    clients = make_clients(database_url, TENANT, scopes)
    clients |= make_clients(database_url, OTHER, {"neighbour": ("svc.POSReader", "svc.Admin", "PublicApi.Read")})
    options = ("--database-url", database_url, "--webhook-allow", "127.0.0.1")
    service = Service(logs / f"articles-{request.param}.log", *options).start()
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Shop(service, database_url, clients, http)
    service.kill()
    databases.drop(database_url)


@pytest.fixture(scope="package")
def till(shop: Shop) -> Till:
    return Till(shop)


def line_of(answer: httpx2.Response) -> dict[str, Any]:
    """Return the first line of a priced basket."""
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["lineItems"][0]
    return found

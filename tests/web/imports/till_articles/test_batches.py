"""Batches of articles: accepted at once, stored by a job that clients can follow, with an event when it ends."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from standardwebhooks import Webhook

from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.kit.receiver import Receiver, Request
from tests.kit.service import COMMAND, Service
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, Shop, fault
from tests.web.imports.till_articles.conftest import STATUSES, Till

CRITICALITY = {"QUEUED": 0, "RUNNING": 2, "SUCCEEDED": 3, "FAILED": 1, "created": 3, "updated": 3, "failed": 1}


def test_a_batch_is_followed_to_its_end(till: Till) -> None:
    there, new = till.number(), till.number()
    till.store({"articleNumber": there})
    sent = [{"articleNumber": there, "name": "Rye"}, {"articleNumber": new, "surprise": 1}]
    job_id = till.hand_in([*sent, {"name": 5}, 7], name="Monday")
    job = till.ended(job_id)
    assert (job["name"], job["status"]) == ("Monday", "SUCCEEDED")
    assert (job["totalArticles"], job["processedArticles"], job["failedArticles"]) == (4, 4, 2)
    assert job["startedAt"] <= job["completedAt"]
    assert job["createdBy"] == till.shop.clients["till"][0]
    items = {(one["articleNumber"], one["status"]): one["error"] for one in till.items(job_id)}
    assert items[there, "updated"] is None
    assert items[new, "created"] is None
    failed = [one for one in till.items(job_id) if one["status"] == "failed"]
    assert len(failed) == 2
    assert all(one["error"] and one["articleNumber"] is None for one in failed)


def test_the_job_is_also_an_import_job_of_the_same_id(till: Till) -> None:
    number = till.number()
    job_id = till.hand_in([{"articleNumber": number}, {"articleNumber": number, "name": 5}])
    till.ended(job_id)
    job = till.read(f"/api/v1/ImportJobs({job_id})")
    assert (job["entity"], job["source"], job["status"]) == ("Articles", "POS_BATCH", "SUCCEEDED")
    assert (job["totalRows"], job["rowsSucceeded"], job["rowsFailed"], job["rowsSkipped"]) == (2, 1, 1, 0)
    (error,) = till.read(f"/api/v1/ImportJobErrors?$filter=job_ID eq '{job_id}'")["value"]
    assert (error["rowNumber"], error["property"], error["code"]) == (2, "name", "TYPE_MISMATCH")
    assert json.loads(error["payload"]) == {"articleNumber": number, "name": 5}


def test_administration_shows_the_batch_with_its_articles_and_their_colours(till: Till) -> None:
    job_id = till.hand_in([{"articleNumber": till.number()}, {"articleNumber": None}])
    till.ended(job_id)
    for client in ("administrator", "planner"):
        job = till.read(f"/admin/ArticleImportJobs({job_id})?$expand=items", client=client)
        assert (job["statusCriticality"], job["failedCriticality"]) == (3, 1)
        assert {(one["status"], one["statusCriticality"]) for one in job["items"]} == {("created", 3), ("failed", 1)}
    flawless = till.hand_in([{"articleNumber": till.number()}])
    till.ended(flawless)
    job = till.read(f"/admin/ArticleImportJobs({flawless})", client="administrator")
    assert (job["statusCriticality"], job["failedCriticality"]) == (3, 3)


def test_every_status_has_its_colour_in_administration_alone(till: Till) -> None:
    path = "ArticleImportJobs?$filter=name eq 'made by a test'"
    jobs = till.read(f"/admin/{path}", client="administrator")["value"]
    assert {one["status"]: one["statusCriticality"] for one in jobs} == {name: CRITICALITY[name] for name in STATUSES}
    assert all(one["failedCriticality"] == (1 if one["failedArticles"] else 3) for one in jobs)
    assert not any(
        "statusCriticality" in one or "failedCriticality" in one for one in till.read(f"/api/v1/{path}")["value"]
    )


def test_import_jobs_are_read_only_for_clients(shop: Shop, till: Till) -> None:
    job_id = till.hand_in([{"articleNumber": till.number()}])
    refused = shop.call("/api/v1/ArticleImportJobs", {"name": "mine"}, client="planner")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET")
    assert shop.call("/admin/ArticleImportJobs", {"name": "mine"}, client="administrator").status_code in {403, 405}
    assert till.ended(job_id)["status"] == "SUCCEEDED"


def test_another_tenant_cannot_see_a_batch(till: Till) -> None:
    number = till.number()
    job_id = till.hand_in([{"articleNumber": number}])
    till.ended(job_id)
    for path in (f"ArticleImportJobs({job_id})", f"ArticleImportJobs({job_id})/items", f"ImportJobs({job_id})"):
        assert till.shop.call(f"/api/v1/{path}", client="neighbour").status_code == 404
    assert till.shop.call(f"/admin/ArticleImportJobs({job_id})", client="neighbour").status_code == 404
    assert till.article(number, client="neighbour") is None
    theirs = till.hand_in([{"articleNumber": number, "name": "Theirs"}], client="neighbour")
    assert till.ended(theirs, client="neighbour")["status"] == "SUCCEEDED"
    ours = till.article(number)
    assert ours is not None
    assert ours["name"] is None


def test_the_same_batch_again_is_a_job_of_its_own_and_changes_nothing(till: Till) -> None:
    articles = [{"articleNumber": till.number(), "name": "Rye"} for _ in range(3)]
    first, second = till.hand_in(articles), till.hand_in(articles)
    till.ended(first)
    till.ended(second)
    assert first != second
    assert {one["status"] for one in till.items(first)} == {"created"}
    assert {one["status"] for one in till.items(second)} == {"updated"}


@pytest.mark.parametrize(
    "address", ["v2/articles/import-batch", "importArticlesBatch", "PosService.importArticlesBatch"]
)
def test_every_address_accepts(till: Till, address: str) -> None:
    number = till.number()
    answer = till.shop.call(f"/pos/{address}", {"articles": [{"articleNumber": number}]}, client="administrator")
    assert (answer.status_code, answer.json()["status"]) == (202, "QUEUED")
    assert answer.json()["message"].startswith("1 article was accepted.")
    assert answer.headers["odata-version"] == "4.0"
    till.ended(answer.json()["jobId"])
    assert till.article(number) is not None


def test_ten_thousand_articles_are_a_batch(till: Till) -> None:
    prefix = till.number()
    articles: list[Any] = [
        {"articleNumber": f"{prefix}-{place}", "name": f"Article {place}, " + "ä" * 200, "description": "x" * 1000}
        | {"manufacturer": "y" * 200, "category": "z" * 100, "unknown": ["u" * 3000]}
        for place in range(10_000)
    ]
    articles[4_999] = {"articleNumber": f"{prefix}-4999", "isActive": "no"}
    job_id = till.hand_in(articles)
    job = till.ended(job_id)
    assert job["status"] == "SUCCEEDED"
    assert (job["totalArticles"], job["processedArticles"], job["failedArticles"]) == (10_000, 10_000, 1)
    (failed,) = till.read(f"/api/v1/ArticleImportJobs({job_id})/items?$filter=status eq 'failed'")["value"]
    assert failed["articleNumber"] == f"{prefix}-4999"
    created = till.read(f"/api/v1/ArticleImportJobs({job_id})/items?$filter=status eq 'created'&$count=true&$top=0")
    assert created["@count"] == 9_999
    last = till.article(f"{prefix}-9999")
    assert last is not None
    assert last["description"] == "x" * 1000


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tenant_may_have_sixteen_batches_that_have_not_ended(
    dialect: Dialect, databases: Databases, logs: Path
) -> None:
    database_url = databases.create(dialect)
    scopes = {"till": ("svc.POSReader",), "planner": ("svc.PromotionManager", "PublicApi.Read")}
    clients = make_clients(database_url, TENANT, scopes, is_new=True)
    small = {"articles": [{"articleNumber": "CAP-0"}]}

    @contextlib.contextmanager
    def served(*command: str) -> Iterator[Shop]:
        log = logs / f"batches-{dialect}.log"
        service = Service(log, "--database-url", database_url, command=command).start()
        with httpx2.Client(base_url=service.url, timeout=60) as http:
            yield Shop(service, database_url, clients, http)
        service.kill()

    with served(sys.executable, "-m", "tests.kit.without_worker") as resting:
        answers = [resting.call("/pos/articles/import-batch", small) for _ in range(17)]
        assert [one.status_code for one in answers[:16]] == [202] * 16
        assert fault(answers[16])[:2] == (429, "TOO_MANY_JOBS")
        assert answers[16].headers["retry-after"] == "5"
        assert resting.call("/pos/articles/import", small).status_code == 200, (
            "what a till waits for is never held back"
        )
    with served(COMMAND) as working:
        till = Till(working)
        for one in answers[:16]:
            assert till.ended(one.json()["jobId"])["status"] == "SUCCEEDED"
        assert working.call("/pos/articles/import-batch", small).status_code == 202, "there is no room again"
    databases.drop(database_url)


# ---- events -------------------------------------------------------------------------------------------------------


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening


def _subscribed(till: Till, receiver: Receiver, client: str = "planner") -> str:
    """Subscribe to the results of batches and return the secret."""
    kinds = ["ArticleImportJobs.Completed", "ArticleImportJobs.Failed", "ImportJobs.Completed", "ImportJobs.Failed"]
    body = {"name": "Batches", "callbackUrl": f"{receiver.url}/jobs", "eventTypes": kinds}
    answer = till.shop.call("/api/v1/WebhookSubscriptions", body, client=client)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["secret"])


def _told(receiver: Receiver, secret: str, job_id: str, count: int) -> list[dict[str, Any]]:
    """Return the first ``count`` events of a job, skipping those of other tests' batches."""
    seen = 0
    while True:
        requests = receiver.wait(seen + 1, path="/jobs")
        seen = len(requests)
        events: list[dict[str, Any]] = [_event(one, secret) for one in requests]
        own = [one for one in events if one["data"]["jobId"] == job_id]
        if len(own) >= count:
            return own


def _event(request: Request, secret: str) -> dict[str, Any]:
    event: dict[str, Any] = Webhook(secret).verify(request.body, dict(request.headers))
    return event


def test_the_end_of_a_batch_reaches_subscribers(till: Till, receiver: Receiver) -> None:
    secret = _subscribed(till, receiver)
    job_id = till.hand_in([{"articleNumber": till.number()}, {"articleNumber": None}])
    events = {one["type"]: one for one in _told(receiver, secret, job_id, 2)}
    assert set(events) == {"ArticleImportJobs.Completed", "ImportJobs.Completed"}
    told = events["ArticleImportJobs.Completed"]
    assert told["tenantId"] == "acme"
    assert told["data"] == {"jobId": job_id, "totalArticles": 2, "processedArticles": 2, "failedArticles": 1}
    job = till.ended(job_id)
    assert told["data"].items() >= {key: job[key] for key in job if key.endswith("Articles")}.items(), "as the job says"
    assert events["ImportJobs.Completed"]["data"]["jobId"] == job_id


def test_articles_imported_synchronously_create_no_job(till: Till) -> None:
    before = till.read("/api/v1/ImportJobs?$count=true&$top=0")["@count"]
    till.store({"articleNumber": till.number()})
    assert till.read("/api/v1/ImportJobs?$count=true&$top=0")["@count"] == before

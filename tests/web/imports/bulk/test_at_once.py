"""Concurrent requests with one key create one job, in one process or several; accepted jobs survive kills."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from promenade.store.imports.parts import PART_ROWS
from tests.conftest import StartService
from tests.kit.databases import Databases
from tests.web.conftest import run
from tests.web.imports.bulk.conftest import WITHOUT_WORKER, Bulk, accepted, articles, at_once, furnish

MANY = 32
SOME, MORE = PART_ROWS + 50, 2 * PART_ROWS + 100  # rows: two parts, and three
ADDRESS = "/api/v1/Articles:bulk-import"


def one_job(answers: list[httpx2.Response]) -> str:
    """Return the one job that all responses name; exactly one of them created it."""
    assert sorted(answer.status_code for answer in answers) == [200] * (len(answers) - 1) + [202]
    (job_id,) = {accepted(answer, answer.status_code) for answer in answers}
    return job_id


@pytest.mark.parametrize("where", ["header", "body", "both"])
def test_32_posts_with_one_key_make_one_job(api: Bulk, where: str) -> None:
    body: dict[str, Any] = {"rows": articles(MORE)}
    headers = {"authorization": f"Bearer {api.token(api.usual)}"}
    if where != "body":
        headers["idempotency-key"] = "all of us"
    if where != "header":
        body["header"] = {"idempotencyKey": "all of us"}
    content = json.dumps(body).encode()

    async def send(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
        return await client.post(ADDRESS, content=content, headers=headers)

    job_id = one_job(run(at_once(MANY, api.service.url, send)))
    assert api.stored() == {"import_jobs": 1, "import_work": 1, "import_parts": 3, "import_keys": 1}
    assert len(api.received(job_id)) == MORE


def test_each_key_at_the_same_time_has_a_job_of_its_own(api: Bulk) -> None:
    headers = {"authorization": f"Bearer {api.token(api.usual)}"}
    content = json.dumps({"rows": articles(SOME)}).encode()

    async def send(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
        return await client.post(ADDRESS, content=content, headers=headers | {"idempotency-key": f"k-{number % 4}"})

    answers = run(at_once(MANY, api.service.url, send))
    for key in range(4):
        one_job(answers[key::4])
    assert api.stored() == {"import_jobs": 4, "import_work": 4, "import_parts": 8, "import_keys": 4}


def test_four_of_many_concurrent_imports_are_accepted(api: Bulk) -> None:
    headers = {"authorization": f"Bearer {api.token(api.usual)}"}
    content = json.dumps({"rows": articles(SOME)}).encode()

    async def send(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
        return await client.post(ADDRESS, content=content, headers=headers)

    answers = run(at_once(MANY, api.service.url, send))
    assert sorted(answer.status_code for answer in answers) == [202] * 4 + [429] * (MANY - 4)
    assert api.stored() == {"import_jobs": 4, "import_work": 4, "import_parts": 8, "import_keys": 0}


@pytest.fixture
def several(databases: Databases, server: StartService) -> Iterator[tuple[Bulk, str]]:
    """Start a service of two processes that accept each other's tokens; return it and the URL of the second."""
    database_url = databases.create("postgresql")
    run(furnish(database_url, tenants=2))
    options = ("--database-url", database_url, "--issuer", "https://issuer.example")
    first, second = (server(*options, command=WITHOUT_WORKER) for _ in range(2))
    with httpx2.Client(base_url=first.url, timeout=60) as http:
        yield Bulk(http=http, service=first, database_url=database_url, tenant="t0"), second.url
    first.kill()
    second.kill()
    databases.drop(database_url)


def test_two_processes_make_one_job_of_one_key_and_four_of_many(several: tuple[Bulk, str]) -> None:
    here, elsewhere = several
    content = json.dumps({"rows": articles(MORE)}).encode()

    def sent(api: Bulk, **headers: str) -> list[httpx2.Response]:
        headers |= {"authorization": f"Bearer {api.token(api.usual)}"}

        async def send(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
            address = elsewhere + ADDRESS if number % 2 else ADDRESS
            return await client.post(address, content=content, headers=headers)

        return run(at_once(MANY, api.service.url, send))  # type: ignore[no-any-return]

    job_id = one_job(sent(here, **{"idempotency-key": "k"}))
    assert here.stored() == {"import_jobs": 1, "import_work": 1, "import_parts": 3, "import_keys": 1}
    assert len(here.received(job_id)) == MORE
    other = here.of("t1")
    answers = sent(other)
    assert sorted(answer.status_code for answer in answers) == [202] * 4 + [429] * (MANY - 4)
    assert other.stored() == {"import_jobs": 4, "import_work": 4, "import_parts": 12, "import_keys": 0}


# ---- kills ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def mortal(database_url: str, server: StartService) -> Iterator[Bulk]:
    """Start a service for one test, which may kill it."""
    run(furnish(database_url, tenants=20))
    service = server("--database-url", database_url, command=WITHOUT_WORKER)
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Bulk(http=http, service=service, database_url=database_url)
    service.kill()


def test_an_accepted_job_survives_a_kill(mortal: Bulk) -> None:
    for number, count in enumerate((1, PART_ROWS + 1, 3 * PART_ROWS)):
        api = mortal.of(f"t{number}")
        answer = api.send(articles(count), idempotency_key="k")
        mortal.service.kill()
        mortal.service.restart()
        job_id = accepted(answer)
        assert [json.loads(row)["articleNumber"] for row in api.received(job_id)] == [f"A-{n}" for n in range(count)]
        job = api.read(f"ImportJobs({job_id})")
        assert (job["status"], job["totalRows"]) == ("QUEUED", count)
        assert accepted(api.send(articles(count), idempotency_key="k"), 200) == job_id


def test_a_kill_at_any_moment_leaves_a_whole_job_or_none(mortal: Bulk, seed: int) -> None:
    chance = random.Random(seed)
    content = json.dumps({"rows": articles(10_000, "x" * 400)}).encode()
    for number in range(3):
        api = mortal.of(f"t{number + 5}")
        headers = {"authorization": f"Bearer {api.token(api.usual)}", "idempotency-key": "k"}
        answers: list[httpx2.Response] = []

        def send(sent: dict[str, str] = headers, heard: list[httpx2.Response] = answers) -> None:
            with contextlib.suppress(httpx2.HTTPError):  # the outcome is unknown
                heard.append(httpx2.post(f"{mortal.service.url}{ADDRESS}", content=content, headers=sent, timeout=60))

        sender = threading.Thread(target=send)
        sender.start()
        sender.join(chance.uniform(0.0, 0.6))  # or until it ends
        mortal.service.kill()
        sender.join()
        mortal.service.restart()
        stored = api.stored()
        assert stored["import_jobs"] == stored["import_work"] == stored["import_keys"]
        assert stored["import_jobs"] == 1 or not answers
        again = accepted_or_not(api, content, headers)
        assert len(api.received(again)) == 10_000
        assert api.stored()["import_jobs"] == 1


def accepted_or_not(api: Bulk, content: bytes, headers: dict[str, str]) -> str:
    """Send the request again and return its job, whether or not the first request had created it."""
    answer = api.http.post(ADDRESS, content=content, headers=headers)
    return accepted(answer, 200 if answer.status_code == 200 else 202)

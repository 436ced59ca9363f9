"""I1: one Idempotency-Key gives one job per tenant, however many requests arrive at once, at any process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from promenade.store.driver.session import open_database
from tests.conftest import StartService
from tests.kit.databases import Dialect
from tests.kit.service import Service
from tests.reliability.imports.serving import Tenant, bulk_body, prepare, rows_of, until_ended

POSTS = 32
ROWS = 20


def post_at_once(services: list[Service], tenant: Tenant, key: str) -> list[tuple[int, dict[str, str]]]:
    """Send one request with the key per thread, to the services in turn."""
    body = bulk_body([{"articleNumber": f"{key}-{number}"} for number in range(ROWS)], keep_good=True)
    start = Barrier(POSTS)

    def post(number: int) -> tuple[int, dict[str, str]]:
        with tenant.asking(services[number % len(services)]) as http:
            start.wait(30)
            answer = http.post("/api/v1/Articles:bulk-import", content=body, headers={"Idempotency-Key": key})
            return answer.status_code, answer.json()

    with ThreadPoolExecutor(POSTS) as threads:
        return list(threads.map(post, range(POSTS)))


async def test_thirty_two_posts_with_one_key_are_one_job(
    database_url: str, dialect: Dialect, server: StartService, tmp_path: Path
) -> None:
    tenant, other = await prepare(database_url, "one", "other")
    processes = 2 if dialect == "postgresql" else 1
    services = [server("--database-url", database_url, "--data-dir", str(tmp_path)) for _ in range(processes)]
    for service in services:
        for one in (tenant, other):
            with one.asking(service):
                pass  # obtains its token
    jobs = {}
    for one in (tenant, other):  # keys are per tenant
        answers = post_at_once(services, one, "monday")
        assert sorted(status for status, _ in answers) == [*[200] * (POSTS - 1), 202]
        (jobs[one.name],) = {body["jobId"] for _, body in answers}
        with one.asking(services[0]) as http:
            job = until_ended(http, answers[0][1]["statusUrl"])
        assert (job["status"], job["totalRows"], job["rowsSucceeded"]) == ("SUCCEEDED", ROWS, ROWS)
    assert len(set(jobs.values())) == 2
    database = await open_database(database_url)
    for name, job_id in jobs.items():
        assert [row.id for row in await rows_of(database, name, "ImportJobs")] == [job_id]
        assert [row.job_id for row in await rows_of(database, name, "import_keys")] == [job_id]
        assert len(await rows_of(database, name, "Articles")) == ROWS
        assert not await rows_of(database, name, "import_parts")
        assert not await rows_of(database, name, "import_work")
        events = [row for row in await rows_of(database, name, "outbox_events") if row.kind.startswith("ImportJobs")]
        assert len(events) == 1
    await database.close()

"""How the owner of ImportJobs rows may change and delete them."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from typing import Any

import asyncpg
import pytest
from sqlalchemy.engine import make_url

from tests.kit.databases import past_the_wall
from tests.web.conftest import run
from tests.web.imports.bulk.conftest import NOTHING, ODATA, Bulk, accepted, ask, problem


def change(database_url: str, *statements: str) -> None:
    """Change the database as a worker would, bypassing the service."""
    if not database_url.startswith("sqlite"):

        async def carried_out() -> None:
            connection = await asyncpg.connect(past_the_wall(database_url))
            try:
                for statement in statements:
                    await connection.execute(statement)
            finally:
                await connection.close()

        run(carried_out())
        return
    with contextlib.closing(sqlite3.connect(make_url(database_url).database or "", timeout=10)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")  # checkpoints are left to the service
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def end(api: Bulk, job_id: str, status: str = "SUCCEEDED") -> None:
    change(
        api.database_url,
        f"UPDATE import_jobs SET status = '{status}', completed_at = created_at WHERE id = '{job_id}'",
        f"DELETE FROM import_work WHERE job_id = '{job_id}'",
    )


def test_a_job_that_has_not_ended_is_not_deleted(api: Bulk) -> None:
    job_id = accepted(api.send())
    there = api.stored()
    assert problem(api.delete(f"ImportJobs({job_id})")) == (409, "JOB_NOT_FINISHED", None)
    refused = api.delete(f"ImportJobs({job_id})", **ODATA)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "JOB_NOT_FINISHED")
    change(api.database_url, f"UPDATE import_jobs SET status = 'RUNNING' WHERE id = '{job_id}'")
    assert problem(api.delete(f"ImportJobs({job_id})"))[:2] == (409, "JOB_NOT_FINISHED")
    assert api.stored() == there


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_deleting_a_job_deletes_its_rows(api: Bulk, status: str) -> None:
    kept = accepted(api.send())
    job_id = accepted(api.send(idempotency_key="once"))
    end(api, job_id, status)
    stamps = "'2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'" if "postgres" in api.database_url else "0, 0"
    change(
        api.database_url,
        "INSERT INTO import_job_errors (tenant_id, id, job_id, row_number, code, message, created_at, modified_at)"
        f" VALUES ('{api.tenant}', '{uuid.uuid4()}', '{job_id}', 1, 'X', 'x', {stamps})",
        "INSERT INTO article_import_jobs (tenant_id, id, status, total_articles, processed_articles, failed_articles,"
        f" created_at, modified_at) VALUES ('{api.tenant}', '{job_id}', '{status}', 1, 1, 1, {stamps})",
        "INSERT INTO article_import_job_items (tenant_id, id, job_id, created_at, modified_at)"
        f" VALUES ('{api.tenant}', '{uuid.uuid4()}', '{job_id}', {stamps})",
    )
    assert len(api.read(f"ImportJobErrors?$filter=job_ID eq {job_id}")["value"]) == 1
    assert api.delete(f"ImportJobs({job_id})").status_code == 204
    for collection in ("ImportJobErrors", "ArticleImportJobs", "ArticleImportJobItems"):
        assert api.read(collection)["value"] == [], collection
    assert api.stored() == {"import_jobs": 1, "import_work": 1, "import_parts": 1, "import_keys": 1}
    assert ask(api.database_url, f"SELECT job_id FROM import_parts WHERE tenant_id = '{api.tenant}'") == [(kept,)]
    assert problem(api.get(f"jobs/{job_id}"))[:2] == (404, "NOT_FOUND")
    assert accepted(api.send(idempotency_key="once"), 200) == job_id  # the job was processed and does not run again


def test_jobs_of_others_are_not_there(api: Bulk, served: Bulk) -> None:
    job_id = accepted(api.send())
    end(api, job_id)
    other = served.of(f"t{next(served.numbers)}")
    assert problem(other.delete(f"ImportJobs({job_id})"))[0] == 404
    assert problem(other.patch(f"ImportJobs({job_id})", {"callbackUrl": "https://example.com"}))[0] == 404
    assert api.read(f"ImportJobs({job_id})")["callbackUrl"] is None


def test_the_callback_is_changed_while_the_job_waits_and_when_it_has_ended(api: Bulk) -> None:
    job_id = accepted(api.send())
    path = f"ImportJobs({job_id})"
    assert api.patch(path, {"callbackUrl": "https://erp.example/done"}).status_code == 204
    assert api.read(path)["callbackUrl"] == "https://erp.example/done"
    assert api.patch(path, {"callbackUrl": None}).status_code == 204
    assert api.read(path)["callbackUrl"] is None
    end(api, job_id)
    assert api.patch(path, {"callbackUrl": "https://erp.example/late"}).status_code == 204
    for body, code in (
        ({"callbackUrl": "http://erp.example/plain"}, "HTTPS_REQUIRED"),
        ({"callbackUrl": "no address"}, "INVALID_URL"),
        ({"callbackUrl": "https://u:p@erp.example"}, "INVALID_URL"),
        ({"callbackUrl": "https://erp.example/" + "x" * 2000}, "TOO_LONG"),
        ({"status": "FAILED"}, "NOT_CHANGEABLE"),
        ({"callbackUrl": "https://erp.example", "totalRows": 0}, "NOT_CHANGEABLE"),
    ):
        assert problem(api.patch(path, body))[:2] == (400, code), body
    assert problem(api.patch(path, {"callbackUrl": None}, client=f"reader@{api.tenant}"))[0] == 403
    assert api.read(path)["callbackUrl"] == "https://erp.example/late"


def test_jobs_cannot_be_created_directly(api: Bulk) -> None:
    assert problem(api.post("ImportJobs", {"entity": "Articles"}))[0] == 405
    assert problem(api.post("ImportJobErrors", {"code": "X"}))[0] == 405
    assert api.stored() == NOTHING


def test_a_batch_deletes_several_jobs_or_none(api: Bulk) -> None:
    ended, waiting = accepted(api.send()), accepted(api.send())
    end(api, ended)
    entries: list[dict[str, Any]] = [
        {"id": job_id, "method": "DELETE", "url": f"ImportJobs({job_id})", "atomicityGroup": "g"}
        for job_id in (ended, waiting)
    ]
    statuses = [part["status"] for part in api.post("$batch", {"requests": entries}).json()["responses"]]
    assert 409 in statuses
    assert api.stored()["import_parts"] == 2
    end(api, waiting)
    statuses = [part["status"] for part in api.post("$batch", {"requests": entries}).json()["responses"]]
    assert statuses == [204, 204]
    assert api.stored() == NOTHING

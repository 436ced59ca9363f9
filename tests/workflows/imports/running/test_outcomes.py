"""Outcomes of a job and the receivers of its event (specification, Bulk import request; interface decisions,
Import).
"""

from __future__ import annotations

import json

import pytest
from sqlalchemy import delete

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.imports.progress import FAULTS_IN_FULL
from promenade.workflows.webhooks.planning import plan_deliveries
from tests.workflows.imports.running.yard import Yard, good

CALLBACK = "https://example.com/told"


async def test_good_rows_are_stored_and_the_faults_of_others_are_reported(yard: Yard) -> None:
    rows = [good(number, bad=["name", "unit"] if number in (3, 17) else []) for number in range(25)]
    job_id = await yard.accept(rows, callback_url=CALLBACK)
    assert (await yard.job(job_id)).status == "QUEUED"
    yard.shop.later(minutes=1)
    await yard.work()
    job = await yard.job(job_id)
    assert (job.status, job.total_rows, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", 25, 23, 2)
    assert job.message == "23 of 25 rows were imported, 2 failed."
    assert job.started_at == job.completed_at == yard.shop.now[0]
    assert await yard.numbers() == sorted(f"A{number}" for number in range(25) if number not in (3, 17))
    errors = await yard.every("ImportJobErrors", job_id=job_id)
    told = sorted((row.row_number, row.property, row.code, row.message) for row in errors)
    assert told == [
        (4, "name", "WRONG", "A3 is wrong."),
        (4, "unit", "WRONG", "A3 is wrong."),
        (18, "name", "WRONG", "A17 is wrong."),
        (18, "unit", "WRONG", "A17 is wrong."),
    ]
    assert {json.loads(row.payload)["articleNumber"] for row in errors} == {"A3", "A17"}
    assert await yard.events() == [
        {
            "kind": "ImportJobs.Completed",
            "callback_url": CALLBACK,
            "jobId": job_id,
            "entity": "Articles",
            "source": "BULK_IMPORT",
            "totalRows": 25,
            "rowsSucceeded": 23,
            "rowsFailed": 2,
            "rowsSkipped": 0,
        }
    ]
    assert not await yard.every("import_work")
    assert not await yard.every("import_parts")


async def test_all_rows_of_an_all_or_nothing_job_are_committed_together(yard: Yard) -> None:
    job_id = await yard.accept((good(number) for number in range(25)), continue_on_error=False)
    await yard.work()
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", 25, 0)
    assert job.message == "25 of 25 rows were imported."
    assert len(await yard.numbers()) == 25
    assert [event["kind"] for event in await yard.events()] == ["ImportJobs.Completed"]
    assert not await yard.every("import_work")
    assert not await yard.every("import_parts")


async def test_only_the_first_of_many_faulty_rows_are_reported_in_full(yard: Yard) -> None:
    more = 25
    job_id = await yard.accept(good(number, bad=["name", "unit"]) for number in range(FAULTS_IN_FULL + more))
    await yard.work()
    assert (await yard.job(job_id)).rows_failed == FAULTS_IN_FULL + more
    errors = await yard.every("ImportJobErrors", job_id=job_id)
    told = sorted((row.row_number, row.property) for row in errors)
    assert told[: 2 * FAULTS_IN_FULL] == [
        (row, one) for row in range(1, FAULTS_IN_FULL + 1) for one in ("name", "unit")
    ]
    assert told[2 * FAULTS_IN_FULL :] == [(row, "name") for row in range(FAULTS_IN_FULL + 1, FAULTS_IN_FULL + more + 1)]


async def test_one_faulty_row_keeps_all_from_being_stored(yard: Yard) -> None:
    rows = [good(number, bad=["name", "unit"] if number in (17, 19) else []) for number in range(25)]
    job_id = await yard.accept(rows, continue_on_error=False)
    await yard.work()
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("FAILED", 0, 1)
    assert job.message == "Nothing was imported, because of row 18: A17 is wrong."
    assert job.completed_at is not None
    assert await yard.numbers() == []
    errors = await yard.every("ImportJobErrors")
    assert sorted((row.row_number, row.property) for row in errors) == [(18, "name"), (18, "unit")]
    (event,) = await yard.events()
    assert (event["kind"], event["message"], event["rowsFailed"]) == ("ImportJobs.Failed", job.message, 1)
    assert not await yard.every("import_work")
    assert not await yard.every("import_parts")


async def test_a_batch_of_articles_reports_each_article(yard: Yard) -> None:
    await yard.accept([good(1)])
    await yard.work()
    rows = [good(1), good(2), good(3, bad=["name"]), {"articleNumber": "", "bad": ["articleNumber"]}]
    job_id = await yard.accept(rows, source="POS_BATCH", part_rows=2, callback_url=CALLBACK)
    await yard.work()
    (job,) = await yard.every("ArticleImportJobs", id=job_id)
    assert (job.status, job.processed_articles, job.failed_articles) == ("SUCCEEDED", 4, 2)
    assert job.started_at is not None
    assert job.completed_at is not None
    items = await yard.every("ArticleImportJobItems", job_id=job_id)
    assert sorted((item.article_number or "", item.status, item.error) for item in items) == [
        ("", "failed", "Row 4:  is wrong."),
        ("A1", "updated", None),
        ("A2", "created", None),
        ("A3", "failed", "A3 is wrong."),
    ]
    events = [event for event in await yard.events() if event["jobId"] == job_id]
    assert [(event["kind"], event["callback_url"]) for event in events] == [
        ("ArticleImportJobs.Completed", None),
        ("ImportJobs.Completed", CALLBACK),
    ]
    assert (events[0]["totalArticles"], events[0]["processedArticles"], events[0]["failedArticles"]) == (4, 4, 2)


async def test_a_batch_of_which_no_article_could_be_stored_has_failed(yard: Yard) -> None:
    rows = [good(number, bad=["name"]) for number in range(3)]
    job_id = await yard.accept(rows, source="POS_BATCH", part_rows=2)
    await yard.work()
    (batch,) = await yard.every("ArticleImportJobs", id=job_id)
    assert (batch.status, batch.processed_articles, batch.failed_articles) == ("FAILED", 3, 3)
    assert ((await yard.job(job_id)).status, len(await yard.every("ArticleImportJobItems", job_id=job_id))) == (
        "FAILED", 3
    )  # fmt: skip
    told = [(event["kind"], event["message"]) for event in await yard.events()]
    message = "None of the 3 articles could be stored."
    assert told == [("ArticleImportJobs.Failed", message), ("ImportJobs.Failed", message)]


async def test_a_master_data_job_calls_the_callback_url_of_its_tenant(yard: Yard) -> None:
    for other, url in (("another", "https://example.com/another"), ("silent", None)):  # Tenants belong to no tenant.
        await yard.shop.put("Tenants", tenant_id=other, name=other, master_data_callback_url=url)
    await yard.shop.put("Tenants", tenant_id=yard.shop.tenant, name="Shop", master_data_callback_url=CALLBACK)
    await yard.accept([good(1)], source="MASTER_DATA_SOAP", rows_skipped=2)
    own = "https://example.com/own"
    await yard.accept([good(2)], source="MASTER_DATA_REST", callback_url=own)
    await yard.accept([good(3)])
    await yard.work()
    told = {event["source"]: event["callback_url"] for event in await yard.events()}
    assert told == {"MASTER_DATA_SOAP": CALLBACK, "MASTER_DATA_REST": own, "BULK_IMPORT": None}
    (soap,) = await yard.every("ImportJobs", source="MASTER_DATA_SOAP")
    assert (soap.total_rows, soap.rows_succeeded, soap.rows_skipped) == (3, 1, 2)
    assert soap.message == "1 of 1 rows were imported. 2 were skipped."


@pytest.mark.parametrize("days", [0, 40])
async def test_an_address_set_after_the_end_is_called_at_once_with_the_message_of_the_job(
    yard: Yard, days: int
) -> None:
    """Even if the event has been deleted since."""
    job_id = await yard.accept([good(1), good(2, bad=["name"])])
    await yard.work()
    await plan_deliveries(yard.context, 10)
    (told,) = await yard.every("outbox_events")
    if days:
        yard.shop.later(days=days)
        await yard.context.database.write(
            lambda session: session.rowcount(delete(table("outbox_events"))), tenant=yard.shop.tenant
        )
    await set_callback(yard, job_id, CALLBACK)
    (log,) = await yard.every("NotificationLogs")
    (queued,) = await yard.every("webhook_queue")
    (event,) = await yard.every("outbox_events")
    assert (log.callback_url, log.subscription_id, log.status) == (CALLBACK, None, "PENDING")
    assert (log.event_id, queued.event_id, queued.delivery_id) == (event.id, event.id, log.id)
    assert queued.due_at <= yard.shop.now[0]
    assert (event.id == told.id, event.payload) == (not days, told.payload)
    assert (await plan_deliveries(yard.context, 10)).events == 0  # subscribers are not told again
    await set_callback(yard, job_id, CALLBACK)
    await set_callback(yard, job_id, None)
    assert len(await yard.every("webhook_queue")) == 1


async def set_callback(yard: Yard, job_id: str, url: str | None) -> None:
    async def work(session: Session) -> None:
        authoring = Authoring(session, user="erp", at=yard.shop.now[0], new_id=yard.context.new_id)
        await authoring.update("ImportJobs", job_id, {"callbackUrl": url})
        await authoring.finish()

    await yard.context.database.write(work, tenant=yard.shop.tenant)


async def test_a_job_without_rows_has_succeeded(yard: Yard) -> None:
    for continue_on_error in (True, False):
        job_id = await yard.accept([], continue_on_error=continue_on_error, rows_skipped=2)
        await yard.work()
        job = await yard.job(job_id)
        assert (job.status, job.total_rows, job.rows_skipped) == ("SUCCEEDED", 2, 2)


async def test_articles_are_in_the_audit_trail_once_a_job(yard: Yard) -> None:
    job_id = await yard.accept(good(number) for number in range(25))
    await yard.accept((good(number) for number in range(25)), entity="PosGroups")
    await yard.work()
    (entry,) = await yard.every("AuditLogs")
    assert (entry.action, entry.entity_type, entry.entity_id, entry.actor) == ("IMPORT", "Articles", job_id, "buyer")
    assert entry.note == "25 of 25 rows were imported."


async def test_an_error_about_text_that_no_database_accepts_is_still_stored(yard: Yard) -> None:
    row = good(1, bad=["na\u0000me"])
    for continue_on_error in (True, False):
        job_id = await yard.accept([row], continue_on_error=continue_on_error)
        await yard.work()
        assert (await yard.job(job_id)).rows_failed == 1
        (error,) = await yard.every("ImportJobErrors", job_id=job_id)
        assert error.property == "na\ufffdme"

"""W1, W2, I1 and S1: events, imports, and that no tenant's row refers to another tenant's."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

from sqlalchemy import Table

from promenade.store.driver.schema import metadata
from tests.reliability.soak.books import Books, group
from tests.reliability.soak.furnishing import TENANTS, identity

__all__ = ["check_rest"]

_ENDED = ("SUCCEEDED", "FAILED")


async def check_rest(books: Books) -> None:
    """Check all remaining invariants."""
    await _events(books)
    await _bytes(books)
    await _imports(books)
    await _written(books)
    await _tenants(books)


async def _events(books: Books) -> None:
    """W1: each event with a matching subscription was delivered or became a dead letter."""
    came: dict[str, set[str]] = defaultdict(set)
    for request in books.received:
        came[request.path].add(request.headers["webhook-id"])
    logs = group(await books.rows("NotificationLogs"), "tenant_id", "subscription_id")
    events = group(await books.rows("outbox_events"), "tenant_id")
    wanted = {"all": None, "flaky": ("PROMOTION_UPDATED", "BUDGET_EXHAUSTED"), "dead": ("CAMPAIGN_CREATED",)}
    disabled = {row.id for row in await books.rows("WebhookSubscriptions") if row.disabled_at is not None}
    for tenant in TENANTS:
        for name, kinds in wanted.items():
            subscription = identity(tenant, f"subscription {name}")
            if subscription in disabled:
                continue
            of_event = group(logs.get((tenant, subscription), []), "event_id")
            for event in events.get(tenant, []):
                if kinds is not None and event.kind not in kinds:
                    continue
                rows = of_event.get(event.id, [])
                is_over = len(rows) == 1 and rows[0].status in ("DELIVERED", "DEAD_LETTER")
                books.expect("W1", is_over, (name, event.id, event.kind, rows))
                if rows and rows[0].status == "DELIVERED":
                    books.expect("W1", event.id in came[f"/{name}/{tenant}"], ("never came", name, event.id))


async def _bytes(books: Books) -> None:
    """W1, W2: received events were committed, every attempt had the same bytes, and only the event's tenant received
    it.
    """
    events = {row.id: row for row in await books.rows("outbox_events")}
    for request in books.received:
        event = events.get(request.headers["webhook-id"])
        books.expect("W1", event is not None, ("an event that was never committed", request))
        if event is not None:
            books.expect("W2", bytes(event.payload) == request.body, ("other bytes", request.path, event.id))
            books.expect("S1", request.path.endswith(f"/{event.tenant_id}"), (request.path, event.tenant_id))
            books.expect("S1", json.loads(request.body)["tenantId"] == event.tenant_id, event.id)


async def _imports(books: Books) -> None:
    """I1: every job has ended, one per key; its counts add up, and it leaves no rows behind."""
    jobs = {(row.tenant_id, row.id): row for row in await books.rows("ImportJobs")}
    keys = Counter((row.tenant_id, row.idempotency_key) for row in jobs.values() if row.idempotency_key)
    for key, times in keys.items():
        books.expect("I1", times == 1, ("jobs of a key", key, times))
    for tenant, _, job_id in books.history.accepted:
        books.expect("I1", (tenant, job_id) in jobs, ("an accepted job is lost", tenant, job_id))
    for job in jobs.values():
        books.expect("I1", job.status in _ENDED, job)
        if job.status == "SUCCEEDED":
            books.expect("I1", job.total_rows == job.rows_succeeded + job.rows_failed + job.rows_skipped, job)
        elif not job.continue_on_error:
            books.expect("I1", job.rows_succeeded == 0, job)
    for name in ("import_parts", "import_work", "webhook_queue"):
        books.expect("I1", not await books.rows(name), name)


async def _written(books: Books) -> None:
    """T3 of authored rows: acknowledged writes are stored."""
    for name in ("Promotions", "Campaigns"):
        known = {(row.tenant_id, row.id) for row in await books.rows(name)}
        for tenant, set_name, row_id in books.history.written:
            if set_name == name:
                books.expect("T3", (tenant, row_id) in known, (tenant, name, row_id))


async def _tenants(books: Books) -> None:
    """S1: no column of a tenant's row holds the ID of another tenant's row."""
    owner: dict[str, str] = {}
    owned = [one for one in metadata.tables.values() if "tenant_id" in one.c]
    for one in owned:
        if "id" in one.c:
            for row in await books.rows_of(one, "tenant_id", "id"):
                books.expect("S1", owner.setdefault(row.id, row.tenant_id) == row.tenant_id, (one.name, row))
    for one in owned:
        columns = _texts(one)
        if not columns:
            continue
        for row in await books.rows_of(one, "tenant_id", *columns):
            tenant = row.tenant_id
            foreign = [text for text in tuple(row)[1:] if isinstance(text, str) and owner.get(text, tenant) != tenant]
            books.expect("S1", not foreign, (one.name, tenant, foreign))


def _texts(one: Table) -> list[str]:
    """Return the columns that may hold an ID: texts of at least its length."""
    return [
        column.key
        for column in one.c
        if column.key != "tenant_id" and (getattr(column.type, "length", None) or 0) >= 36
    ]

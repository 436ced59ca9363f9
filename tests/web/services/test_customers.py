"""Integrators erase customers and tell what is stored about them, each tenant its own, by a scope of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import msgspec
import pytest
import sqlalchemy as sa

from promenade.store.driver import schema
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.web.http import downloads
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.erasures import erase_customer
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import run

MADE = datetime(2026, 1, 1, tzinfo=UTC)
CLIENTS = {
    "desk": ("acme", ("PublicApi.Customers",)),
    "strange desk": ("globex", ("PublicApi.Customers",)),
    "everything else": ("acme", ("PublicApi.Read", "PublicApi.Write", "svc.Admin", "svc.Sync")),
    "reader": ("acme", ("PublicApi.Read",)),
}
BOOKINGS = 600  # more than a portion, and than a piece of the answer


@dataclass(kw_only=True)
class Desk(ApiClient):
    """Who answers customers."""

    root = "/api/v1"
    usual = "desk"
    database_url: str

    def erase(self, customer: str, **how: Any) -> dict[str, Any]:
        answer = self.post("customer-erasures", {"customerId": customer}, **how)
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def export(self, customer: str, **how: Any) -> list[dict[str, Any]]:
        answer = self.post("customer-exports", {"customerId": customer}, **how)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [msgspec.json.decode(line) for line in answer.content.splitlines()]

    def trail(self, entity_type: str) -> list[dict[str, Any]]:
        address = f"AuditLogs?$filter=entityType eq '{entity_type}'"
        found: list[dict[str, Any]] = self.read(address, client="reader")["value"]
        return found


async def furnish(database_url: str) -> None:
    database = await open_database(database_url)

    async def fill(session: Session) -> None:
        rows = [
            {
                "id": str(uuid.uuid4()),
                "customer_id": "Kd-1" if number else "Kd-2",
                "transaction_id": f"{session.tenant}-{number}",
                "transaction_counter": 1,
                "points": 1,
                "balance_after": number,
                "awarded_at": MADE,
                "created_at": MADE,
                "modified_at": MADE,
            }
            for number in range(BOOKINGS)
        ]
        await session.execute_many(sa.insert(schema.table("LoyaltyTransactions")), rows)

    try:
        for tenant in ("acme", "globex"):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
            await database.write(fill, tenant=tenant)
        for name, (tenant, scopes) in CLIENTS.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


@pytest.fixture(scope="module", params=DIALECTS)
def desk(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Desk]:
    url = databases.create(request.param)
    run(furnish(url))
    with InProcess(url, has_worker=False) as service, service.client(timeout=60) as http:
        yield Desk(http=http, database_url=url)
    databases.drop(url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    found = answer.json()
    return answer.status_code, found["code"], found.get("target")


def test_an_erasure_is_asked_for_once_however_often(desk: Desk) -> None:
    first = desk.erase("Kd-to-erase")
    assert (first["status"], first["customerId"], first["completedAt"]) == ("PENDING", "Kd-to-erase", None)
    assert desk.erase("Kd-to-erase")["id"] == first["id"]
    listed = desk.read("customer-erasures")["value"]
    assert [one for one in listed if one["id"] == first["id"]] == [
        {name: value for name, value in first.items() if name != "minorVersion"}
    ]


def test_the_list_is_read_page_by_page_the_latest_first(desk: Desk) -> None:
    made = [desk.erase(f"Kd-page-{number}")["id"] for number in range(5)]
    found: list[str] = []
    cursor = None
    while True:
        page = desk.read("customer-erasures?limit=2" + (f"&cursor={cursor}" if cursor else ""))
        assert len(page["value"]) <= 2
        found += [one["id"] for one in page["value"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found))
    assert [one for one in found if one in made] == made[::-1]


def test_an_export_tells_every_row_of_the_customer_and_says_that_it_is_whole(desk: Desk) -> None:
    *records, end = desk.export("Kd-1")
    assert end == {"kind": "End", "values": {"records": len(records)}}
    bookings = [one["values"] for one in records if one["kind"] == "LoyaltyTransactions"]
    assert {one["transactionId"] for one in bookings} == {f"acme-{number}" for number in range(1, BOOKINGS)}
    assert len(bookings) == BOOKINGS - 1
    assert desk.export("Kd-nobody") == [{"kind": "End", "values": {"records": 0}}]


def test_another_tenant_has_other_customers(desk: Desk) -> None:
    mine, theirs = desk.erase("Kd-of-both"), desk.erase("Kd-of-both", client="strange desk")
    assert mine["id"] != theirs["id"]
    others = desk.read("customer-erasures", client="strange desk")["value"]
    assert [one["id"] for one in others] == [theirs["id"]]
    assert "acme" not in str(desk.export("Kd-1", client="strange desk"))


def test_an_export_that_cannot_begin_is_an_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(*given: Any) -> Any:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr("promenade.store.access.customers.read_rows", breaks)
    answer = desk.post("customer-exports", {"customerId": "Kd-1"})
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")  # nothing was sent yet


def test_a_tenant_has_so_many_exports_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "EXPORTS_MAX", 0)
    answer = desk.post("customer-exports", {"customerId": "Kd-1"})
    assert fault(answer)[:2] == (429, "TOO_MANY_EXPORTS")
    assert answer.headers["retry-after"]


def test_the_trail_tells_who_has_asked_and_not_about_whom(desk: Desk) -> None:
    erasure = desk.erase("Kd-trail")
    desk.export("Kd-trail")
    created = [one for one in desk.trail("CustomerErasures") if one["entityId"] == erasure["id"]]
    assert [(one["action"], one["actor"]) for one in created] == [("CREATE", "desk")]
    exported = desk.trail("Customers")
    assert {(one["action"], one["actor"]) for one in exported if one["actor"] == "desk"} == {("EXPORT", "desk")}
    assert "Kd-" not in str([*created, *exported])


REQUESTS = [("GET", "customer-erasures"), ("POST", "customer-erasures"), ("POST", "customer-exports")]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_no_other_scope_opens_them_and_theirs_opens_nothing_else(desk: Desk, method: str, path: str) -> None:
    body = {"customerId": "Kd-1"} if method == "POST" else None
    assert fault(desk.call(method, path, body, client="everything else"))[:2] == (403, "MISSING_SCOPE")
    assert desk.call(method, path, body, client=None).status_code == 401
    for other in ("Promotions", "AuditLogs", "LoyaltyTransactions"):
        assert fault(desk.get(other))[:2] == (403, "MISSING_SCOPE")


def test_an_agent_erases_nobody(desk: Desk) -> None:
    answer = desk.post("customer-erasures", {"customerId": "Kd-agent"}, Promenade_Agent="helper")
    assert fault(answer)[:2] == (403, "AGENTS_DO_NOT_ERASE")
    assert "Kd-agent" not in str(desk.read("customer-erasures"))


@pytest.mark.parametrize("path", ["customer-erasures", "customer-exports"])
@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({}, "customerId"),
        ({"customerId": None}, "customerId"),
        ({"customerId": ""}, "customerId"),
        ({"customerId": "x" * 51}, "customerId"),
        ({"customerId": 4711}, "customerId"),
        ({"customerId": "a\0b"}, "customerId"),
        ([], None),
        (b"{", None),
    ],
)
def test_what_cannot_be_a_customer_is_refused_by_name(desk: Desk, path: str, body: Any, target: str | None) -> None:
    before = desk.read("customer-erasures?limit=1000")
    status, code, told = fault(desk.post(path, body))
    assert (status, told) == (400, target), code
    assert desk.read("customer-erasures?limit=1000") == before


@pytest.mark.parametrize(
    ("query", "code", "target"),
    [
        ("limit=0", "OUT_OF_RANGE", "limit"),
        ("limit=1001", "OUT_OF_RANGE", "limit"),
        ("limit=%D9%A1", "OUT_OF_RANGE", "limit"),
        ("limit=x", "OUT_OF_RANGE", "limit"),
        ("limit=1&limit=2", "UNKNOWN_PARAMETER", "limit"),
        ("cursor=", "INVALID_CURSOR", "cursor"),
        ("cursor=nonsense", "INVALID_CURSOR", "cursor"),
        ("cursor=" + "x" * 201, "INVALID_CURSOR", "cursor"),
        ("cursor=ks9_________oWE", "INVALID_CURSOR", "cursor"),
        ("customerId=Kd-1", "UNKNOWN_PARAMETER", "customerId"),
    ],
)
def test_a_query_that_means_nothing_is_refused_by_name(desk: Desk, query: str, code: str, target: str) -> None:
    assert fault(desk.get(f"customer-erasures?{query}")) == (400, code, target)


def test_an_erasure_that_has_ended_does_not_say_whose_it_was(desk: Desk) -> None:
    async def work() -> str:
        database = await open_database(desk.database_url)
        made = await erase_customer(
            database, "acme", "Kd-ended", secret=b"x" * 32, new_id=lambda: str(uuid.uuid4()), at=MADE
        )

        async def end(session: Session) -> None:
            rows = schema.metadata.tables["customer_erasures"]
            ended = {"status": "COMPLETED", "completed_at": MADE, "customer_id": None, "pseudonym": None}
            await session.rowcount(sa.update(rows).where(rows.c.id == made.id).values(ended))

        await database.write(end, tenant="acme")
        await database.close()
        return made.id

    erasure_id = run(work())
    (ended,) = [one for one in desk.read("customer-erasures?limit=1000")["value"] if one["id"] == erasure_id]
    assert (ended["status"], ended["customerId"]) == ("COMPLETED", None)
    assert ended["completedAt"] is not None

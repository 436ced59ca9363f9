"""The clockwork of a running service: automatic changes, their events, and what operators see."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.clockwork import clock_jobs
from tests.conftest import StartService
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.moved_clock import MovedClock
from tests.kit.service import promenade

TENANT = "acme"
SECONDS_MAX = 90.0


@dataclass(kw_only=True)
class Office(ApiClient):
    """The administration, used by somebody with all rights."""

    root = "/admin"
    usual = "admin"

    def act(self, set_name: str, row_id: str, verb: str) -> None:
        answer = self.post(f"{set_name}(ID={row_id},IsActiveEntity=true)/AdminService.{verb}")
        assert answer.status_code == 200, answer.text

    def status(self, set_name: str, row_id: str) -> str:
        return str(self.read(f"{set_name}(ID={row_id},IsActiveEntity=true)")["status"])


async def furnish(url: str) -> None:
    database = await open_database(url)
    now = datetime.now(UTC)
    await create_tenant(database, TENANT, settings={}, at=now, user="tests")
    for client, scopes in (("admin", ("svc.Admin",)), ("integrator", ("PublicApi.Read", "PublicApi.Write"))):
        await create_client(database, client_id=client, secret=SECRET, tenant_id=TENANT, scopes=scopes, at=now)
    await database.close()


async def told(url: str) -> Counter[tuple[str, str]]:
    """Return (kind, ID) of all events."""
    database = await open_database(url)

    async def work(session: Session) -> Counter[tuple[str, str]]:
        rows = await session.execute(select(table("outbox_events").c.payload))
        bodies = [json.loads(row.payload) for row in rows]
        ids = (one["data"].get("promotionId") or one["data"].get("campaignId") for one in bodies)
        return Counter(zip((one["type"] for one in bodies), ids, strict=True))

    found = await database.read(work, tenant=TENANT)
    await database.close()
    return found


def eventually(holds: Callable[[], bool]) -> None:
    """Poll until it holds, or fail."""
    end = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < end, "it has not come to that"


def a_promotion(office: Office, **values: Any) -> str:
    made = office.make("Promotions", name="Ten off", IsActiveEntity=True, **values)
    body = {"promotion_ID": made["ID"], "actionType": "ADD_FIXED", "points": 5}
    answer = office.post("/api/v1/LoyaltyActions", body, client="integrator")
    assert answer.status_code == 201, answer.text
    return str(made["ID"])


def test_rows_change_automatically_and_every_event_is_sent_once(
    database_url: str, server: StartService, tmp_path: Path
) -> None:
    asyncio.run(furnish(database_url))
    clock = MovedClock(tmp_path / "clock")
    service = server(
        *("--database-url", database_url),
        command=(sys.executable, "-m", "tests.kit.moved_clock"),
        env={"CLOCK_FILE": str(tmp_path / "clock")},
    )

    def in_minutes(minutes: int) -> str:
        return (clock() + timedelta(minutes=minutes)).isoformat()

    with httpx2.Client(base_url=service.url, timeout=30) as http:
        office = Office(http=http)
        promotion = a_promotion(office)
        for verb in ("submit", "reject", "submit", "approve", "deactivate", "activate"):
            office.act("Promotions", promotion, verb)
        ending = {"validTo": in_minutes(10)}
        assert office.patch(f"/api/v1/Promotions({promotion})", ending, client="integrator").status_code == 204
        window = {"startAt": in_minutes(10), "endAt": in_minutes(30)}
        made = office.make("Campaigns", code="C", name="Spring", IsActiveEntity=True, status="SCHEDULED", **window)
        campaign = str(made["ID"])
        office.act("Campaigns", campaign, "lock")
        budget: dict[str, Any] = {
            "totalAmount": 100,
            "currency": "EUR",
            "validFrom": in_minutes(10),
            "validTo": in_minutes(30),
        }
        money = office.make("Budgets", code="B", name="B", IsActiveEntity=True, status="SCHEDULED", **budget)["ID"]
        moves = (
            (
                20,
                {"Campaigns": (campaign, "ACTIVE"), "Promotions": (promotion, "EXPIRED"), "Budgets": (money, "ACTIVE")},
            ),
            (40, {"Campaigns": (campaign, "COMPLETED"), "Budgets": (money, "EXPIRED")}),
        )
        for minutes, statuses in moves:
            clock.move(minutes=minutes)
            for set_name, (row_id, status) in statuses.items():
                eventually(lambda of=(set_name, row_id), to=status: office.status(*of) == to)  # type: ignore[misc]
        office.act("Campaigns", campaign, "unlock")
        office.act("Promotions", promotion, "archive")
        rows = json.loads(promenade("clockwork", "--json", "--database-url", database_url))
    service.stop()
    once = ("REJECTED", "APPROVED", "DEACTIVATED", "ACTIVATED", "EXPIRED", "ARCHIVED")
    twice = ("SUBMITTED", "UPDATED")
    expected = Counter((f"PROMOTION_{kind}", promotion) for kind in (*once, *twice, *twice))
    of_campaign = ("CREATED", "STARTED", "ENDED", "LOCKED", "UNLOCKED")
    expected += Counter((f"CAMPAIGN_{kind}", campaign) for kind in of_campaign)
    assert asyncio.run(told(database_url)) == expected
    assert {row["job"] for row in rows} == set(clock_jobs())
    assert {row["state"] for row in rows} <= {"OK", "RUNNING"}, rows
    (row,) = [one for one in rows if one["job"] == "promotions.expire"]
    assert (row["every"], row["lastError"]) == (5, None)
    assert row["lastRunAt"] <= row["dueAt"]


def test_operators_see_the_jobs_of_a_database_that_nobody_works_on(database_url: str) -> None:
    shown = promenade("clockwork", "--database-url", database_url)
    assert "promotions.expire" in shown
    assert "NEW" in shown

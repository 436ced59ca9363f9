"""Failed side effects, over HTTP and on the command line (specification, side-effects result)."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.kit.service import COMMAND, promenade
from tests.web.conftest import TENANT, Shop, basket, fault, run

PATIENCE_SECONDS = 90


def sold(shop: Shop, transaction: str) -> str:
    """Price and confirm; return the URL of the side effects, which are done."""
    priced = shop.call("/pos/v2/evaluate", basket(header={"transactionId": transaction}))
    assert priced.status_code == 200, priced.text
    request = {"header": priced.json()["meta"]["header"], "transactionId": transaction, "appliedPromotions": []}
    confirmed = shop.call("/pos/v2/confirm", {"request": request})
    assert confirmed.status_code == 200, confirmed.text
    address = f"/pos/v2/transactions/{transaction}/1/side-effects"
    until(shop, address, "COMPLETED")
    return address


def until(shop: Shop, address: str, status: str) -> dict[str, Any]:
    """Poll until the side effects have this status."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found: dict[str, Any] = shop.call(address).json()
        if found["status"] == status:
            return found
        assert time.monotonic() < end, found


def breaks(shop: Shop, transaction: str) -> None:
    """Set the state after eight failed attempts."""
    jobs = table("side_effect_jobs")

    async def work(session: Session) -> None:
        broken = update(jobs).where(jobs.c.transaction_id == transaction)
        assert await session.rowcount(broken.values(status="FAILED", attempts=8, reason="CODES_EXHAUSTED")) == 1

    async def opened() -> None:
        database = await open_database(shop.database_url)
        try:
            await database.write(work, tenant=TENANT)
        finally:
            await database.close()

    run(opened())


def requeued(shop: Shop, address: str, client: str = "administrator") -> httpx2.Response:
    return shop.http.post(f"{address}/requeue", headers={"authorization": f"Bearer {shop.token(client)}"})


def test_an_administrator_can_requeue_failed_side_effects(shop: Shop) -> None:
    address = sold(shop, "again/1")
    breaks(shop, "again/1")
    assert until(shop, address, "FAILED")["reason"] == "CODES_EXHAUSTED"
    answer = requeued(shop, address)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["attempts"]) == ("PENDING", 0)
    assert answer.headers["odata-version"] == "4.0"
    done = until(shop, address, "COMPLETED")
    assert done["attempts"] == 1
    assert "reason" not in done
    query = "/admin/AuditLogs?$filter=entityType eq 'SideEffects' and entityName eq 'again/1/1'"
    (trail,) = shop.call(query, client="administrator").json()["value"]
    assert (trail["action"], trail["note"]) == ("REQUEUE", "CODES_EXHAUSTED")
    assert trail["actor"] == shop.clients["administrator"][0]


def test_only_administrators_may_requeue_side_effects(shop: Shop) -> None:
    address = sold(shop, "others-1")
    breaks(shop, "others-1")
    for client in ("till", "planner"):
        assert fault(requeued(shop, address, client))[:2] == (403, "MISSING_SCOPE")
    assert shop.http.post(f"{address}/requeue").status_code == 401
    assert until(shop, address, "FAILED")["attempts"] == 8


def test_side_effects_that_have_not_failed_cannot_be_requeued(shop: Shop) -> None:
    address = sold(shop, "fine-1")
    assert fault(requeued(shop, address)) == (409, "NOT_FAILED", "transactionCounter")
    assert fault(requeued(shop, "/pos/v2/transactions/nobody/1/side-effects"))[:2] == (404, "ITERATION_NOT_FOUND")
    assert fault(requeued(shop, "/pos/v2/transactions/fine-1/2/side-effects"))[:2] == (404, "ITERATION_NOT_FOUND")
    assert fault(requeued(shop, "/pos/v2/transactions/fine-1/0/side-effects"))[:2] == (400, "VALIDATION_FAILED")
    answer = shop.call(f"{address}/requeue", client="administrator")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_an_operator_can_requeue_side_effects_on_the_command_line(shop: Shop) -> None:
    where = ("--tenant", TENANT, "--database-url", shop.database_url)
    addresses = {transaction: sold(shop, transaction) for transaction in ("shell-1", "shell-2", "shell-3")}
    for transaction in addresses:
        breaks(shop, transaction)

    def failed() -> set[str]:
        listed = json.loads(promenade("side-effects", "list", *where, "--status", "FAILED", "--json"))
        return {row["transactionId"] for row in listed if row["reason"] == "CODES_EXHAUSTED"}

    assert set(addresses) <= failed()
    one = promenade("side-effects", "requeue", *where, "--transaction", "shell-1", "--counter", "1")
    assert one == "1 will run again.\n"
    until(shop, addresses["shell-1"], "COMPLETED")
    assert failed() & set(addresses) == {"shell-2", "shell-3"}
    promenade("side-effects", "requeue", *where, "--all")
    for address in addresses.values():
        until(shop, address, "COMPLETED")
    assert failed() == set()
    assert promenade("side-effects", "requeue", *where, "--all") == "None has failed.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give --transaction with --counter, or --all."),
        (("--transaction", "T"), "Give --transaction with --counter, or --all."),
        (("--all", "--counter", "1"), "Give --transaction with --counter, or --all."),
        (("--transaction", "T", "--counter", "1"), "No such iteration was confirmed."),
    ],
)
def test_an_incomplete_requeue_command_gets_an_error(shop: Shop, arguments: tuple[str, ...], said: str) -> None:
    command = [COMMAND, "side-effects", "requeue", "--tenant", TENANT, "--database-url", shop.database_url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, f"promenade: {said}\n")

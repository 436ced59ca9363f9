"""T3: acknowledged data survives kill -9 of real servers, and is synced to disk (reliability.md)."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from tests.kit.service import Service, promenade
from tests.workflows.shop import identity, open_shop

CLIENTS = 6
ACKNOWLEDGED_MIN = 40


@dataclass
class Till:
    """Tills that sell as fast as they can until their server is killed."""

    service: Service
    token: str
    acknowledged: dict[str, tuple[int, bytes, bytes]] = field(default_factory=dict)  # counter, request, answer
    unknown: dict[str, bytes] = field(default_factory=dict)
    enough: threading.Event = field(default_factory=threading.Event)

    def post(self, connection: http.client.HTTPConnection, path: str, body: bytes) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def sell(self, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
        try:
            for sale in range(10_000):
                self.sell_one(connection, f"T{number}-{sale}")
        except (OSError, http.client.HTTPException):
            pass  # the server was killed
        finally:
            connection.close()

    def sell_one(self, connection: http.client.HTTPConnection, transaction: str) -> None:
        basket = {
            "header": {"transactionId": transaction},
            "posGroupCode": "SHOP",
            "customer": {"customerId": "C1"},
            "items": [{"articleNumber": "A1", "quantity": 2, "unitPrice": 5.00}],
        }
        status, answer = self.post(connection, "/pos/v2/evaluate", json.dumps({"request": basket}).encode())
        assert status == 200, answer
        priced = json.loads(answer)
        confirm = {
            "header": priced["meta"]["header"],
            "transactionId": transaction,
            "appliedPromotions": [{"promotionId": identity("off")}],
        }
        body = json.dumps({"request": confirm}).encode()
        self.unknown[transaction] = body
        status, answer = self.post(connection, "/pos/v2/confirm", body)
        assert status == 200, answer
        del self.unknown[transaction]
        self.acknowledged[transaction] = (confirm["header"]["transactionCounter"], body, answer)
        if len(self.acknowledged) >= ACKNOWLEDGED_MIN:
            self.enough.set()


async def set_up(url: str) -> None:
    database = await open_database(url)
    shop = await open_shop(database)
    await shop.promotion("off")
    await shop.put("DiscountActions", id=identity("action"), promotion_id=identity("off"), sequence=0,
                   action_type="RECEIPT", discount_type="PERCENTAGE", discount_value=10)  # fmt: skip
    await shop.budget("marketing", "100000.00")
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    await database.close()


def token_of(service: Service, credential: dict[str, str]) -> str:
    form = (
        f"grant_type=client_credentials&client_id={credential['clientId']}&client_secret={credential['clientSecret']}"
    )
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)) as connection:
        connection.request("POST", "/oauth/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
        return str(json.loads(connection.getresponse().read())["access_token"])


def sell_until_killed(service: Service, token: str) -> Till:
    till = Till(service, token)
    with ThreadPoolExecutor(CLIENTS) as clients:
        running = [clients.submit(till.sell, number) for number in range(CLIENTS)]
        assert till.enough.wait(200), [one.exception(0) for one in running if one.done()]
        service.kill()
        for one in running:
            one.result()
    return till


async def test_t3_an_acknowledged_confirm_survives_kill_9(database_url: str, server: Callable[..., Service]) -> None:
    promenade("tenant", "create", "tenant-a", "--database-url", database_url)
    made = promenade(
        "client", "create", "--tenant", "tenant-a", "--scope", "svc.POSReader", "--json", "--database-url", database_url
    )
    await set_up(database_url)
    service = await asyncio.to_thread(server, "--database-url", database_url)
    credential = json.loads(made)
    token = await asyncio.to_thread(token_of, service, credential)
    till = await asyncio.to_thread(sell_until_killed, service, token)
    await check(database_url, till)
    await asyncio.to_thread(service.restart)
    again = Till(service, await asyncio.to_thread(token_of, service, credential))
    await asyncio.to_thread(repeat_all, again, till)


async def check(url: str, till: Till) -> None:
    """Right after the kill: every acknowledged sale is completely stored; an unanswered one may or may not be."""
    database = await open_database(url)
    shop = await open_shop(database, is_new=False)
    stored: dict[str, set[Any]] = {}
    for name in ("confirmations", "CalculationLogs", "BudgetConsumptions", "side_effect_jobs"):
        stored[name] = {(row.transaction_id, row.transaction_counter) for row in await shop.rows(name)}
        acknowledged = {(transaction, counter) for transaction, (counter, _, _) in till.acknowledged.items()}
        assert acknowledged <= stored[name], f"{name} lost an acknowledged confirm"
        assert {transaction for transaction, _ in stored[name] - acknowledged} <= set(till.unknown)
    assert len({frozenset(keys) for keys in stored.values()}) == 1
    budget = await shop.row("Budgets", "marketing")
    assert budget.consumed_amount == len(stored["confirmations"])
    await database.close()


def repeat_all(till: Till, before: Till) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", till.service.port, timeout=30)) as connection:
        for _, body, answer in before.acknowledged.values():
            assert till.post(connection, "/pos/v2/confirm", body) == (200, answer)
        for body in before.unknown.values():
            assert till.post(connection, "/pos/v2/confirm", body)[0] == 200


async def test_t3_postgresql_commits_synchronously(database: Database) -> None:
    if database.dialect != "postgresql":
        pytest.skip("the disk is counted on SQLite")

    async def read(session: Session) -> str:
        return str((await session.execute(text("SHOW synchronous_commit")))[0][0])

    assert await database.write(read, system=True) == "on"


async def test_t3_each_confirm_on_sqlite_is_synced(databases: Any, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    url = databases.create("sqlite")
    trace, confirms = tmp_path / "trace", 20
    command = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(trace), sys.executable,
               "-m", "tests.reliability.syncing", url, str(confirms)]  # fmt: skip
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=400)
    if "PTRACE" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert done.returncode == 0, done.stderr[-4000:]
    lines = trace.read_text().splitlines()
    synced = [line for line in lines if "sync(" in line]
    assert len(synced) >= confirms, "a confirm was acknowledged before it was on the disk"
    databases.drop(url)

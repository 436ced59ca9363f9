"""Two versions of the program on one database: the previous release and this one, side by side, under load.

The previous release is built from its commit. While tills sell, its database is upgraded, its processes are replaced
one by one, and replaced back again: no sale fails or is lost, whichever version prices and confirms it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import asyncpg
import httpx2
import pytest

from promenade.store.driver import migrations
from tests.conftest import StartService
from tests.kit.databases import SERVING, Databases, past_the_wall
from tests.kit.service import COMMAND, Service
from tests.web.conftest import basket

ROOT = Path(__file__).parent.parent.parent
RELEASE = "67aa500f"
"""The commit of the previous release, or what stands for it until there is one."""
SALES_IN_EACH_STEP = 12
TILLS = 3

FURNISH = """
import asyncio, json, sys
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, furnish
clients = make_clients(sys.argv[1], TENANT, {"till": ("svc.POSReader",)}, is_new=True)
asyncio.run(furnish(sys.argv[1]))
print(*clients["till"])
"""


class Release:
    """The previous release, unpacked from the history and built, beside the present one."""

    def __init__(self, sources: Path, wheel: Path) -> None:
        self.sources, self._environment = sources, {**os.environ, "PYTHONPATH": str(wheel)}
        self.command: Sequence[str] = (sys.executable, "-m", "promenade")
        self.env = {"PYTHONPATH": str(wheel)}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.sources, env=self._environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The previous release; skipped where the history is not at hand."""
    sources, wheel = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    packed = subprocess.run(["git", "archive", RELEASE], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode != 0:
        pytest.skip("the history of the sources is not here, so there is no previous release to build")
    subprocess.run(["tar", "x"], cwd=sources, input=packed.stdout, check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(wheel), str(sources)], check=True)
    return Release(sources, wheel)


@pytest.fixture
def url(release: Release, databases: Databases) -> Iterator[str]:
    """The URL, for a role that owns nothing, of a database that the previous release has made."""
    owner = databases.create_empty("postgresql")
    release.run("-m", "promenade", "db", "upgrade", "--database-url", owner)
    release.run("-m", "promenade", "db", "grant", SERVING, "--database-url", owner)
    yield databases.serving_url(owner)
    databases.drop(owner)


class Tills:
    """Tills that sell without a pause, at whichever of some services answers, as behind a load balancer."""

    def __init__(self, client: tuple[str, str], *services: Service) -> None:
        self.services: list[Service] = list(services)
        self.sold: dict[str, float] = {}
        self.refused: list[str] = []
        self._stop, self._changed = threading.Event(), threading.Condition()
        self._threads = [threading.Thread(target=self._work, args=(number, client)) for number in range(TILLS)]
        for thread in self._threads:
            thread.start()

    def sell(self) -> None:
        """Wait until some more sales were made."""
        enough = len(self.sold) + SALES_IN_EACH_STEP
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.sold) >= enough or bool(self.refused), 120), "nobody sells"

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)

    def _work(self, till: int, client: tuple[str, str]) -> None:
        form = {"grant_type": "client_credentials", "client_id": client[0], "client_secret": client[1]}
        token = self._post("/oauth/token", till, data=form).json()["access_token"]
        for number in itertools.count(1):
            if self._stop.is_set() or not self._sell(f"T{till}-{number}", number, {"authorization": f"Bearer {token}"}):
                return

    def _sell(self, name: str, turn: int, bearer: dict[str, str]) -> bool:
        """Price at one service and confirm at the next; return whether both went well."""
        answer = self._post("/pos/v2/evaluate", turn, headers=bearer, json=basket(header={"transactionId": name}))
        if answer.status_code == 200:
            priced = answer.json()
            header = {one: priced["meta"]["header"][one] for one in ("transactionId", "transactionCounter")}
            offered = priced["totals"]["savingsSummary"]["promotionBreakdown"]
            applied = [{"promotionId": one["promotionId"]} for one in offered]
            body = {"request": {"header": header, "transactionId": name, "appliedPromotions": applied}}
            answer = self._post("/pos/v2/confirm", turn + 1, headers=bearer, json=body)
        with self._changed:
            if answer.status_code == 200:
                self.sold[name] = priced["totals"]["grandTotal"]["value"]
            else:
                self.refused.append(answer.text)
            self._changed.notify_all()
        return answer.status_code == 200

    def _post(self, path: str, turn: int, **what: object) -> httpx2.Response:
        """Send a request to one service after the other until one answers; a till repeats what it heard nothing of."""
        while True:
            service = self.services[turn % len(self.services)]
            try:
                return httpx2.post(f"{service.url}{path}", timeout=30, **what)  # type: ignore[arg-type]
            except httpx2.TransportError:
                turn += 1


async def rows(url: str, query: str) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()


def test_an_upgrade_and_its_way_back_lose_no_sale(
    release: Release, url: str, databases: Databases, server: StartService
) -> None:
    owner = databases.owner_url(url)
    client_id, secret = release.run("-c", FURNISH, url).split()
    options = ("--database-url", url, "--drain-seconds", "1", "--public-url", "http://127.0.0.1:8080")

    def old(verb: str = "serve") -> Service:
        if verb == "worker":
            return server("--database-url", url, verb=verb, command=release.command, env=release.env, ready_path=None)
        return server(*options, "--workers", "2", command=release.command, env=release.env)

    first, worker = old(), old("worker")
    tills = Tills((client_id, secret), first)
    try:
        tills.sell()
        subprocess.run([COMMAND, "db", "upgrade", "--database-url", owner], check=True)
        assert migrations.current(owner) == migrations.HEAD
        tills.sell()  # the old program on the new tables
        newer, new_worker = (
            server(*options, "--workers", "2"),
            server("--database-url", url, verb="worker", ready_path=None),
        )
        assert worker.stop() == 0
        tills.services.append(newer)
        tills.sell()  # both
        tills.services.remove(first)
        assert first.stop() == 0
        tills.sell()  # the new one alone
        again, worker = old(), old("worker")  # the way back: it starts on tables that are newer than itself
        tills.services.append(again)
        tills.services.remove(newer)
        assert (newer.stop(), new_worker.stop()) == (0, 0)
        tills.sell()
    finally:
        tills.stop()
    assert tills.refused == []
    undone = "SELECT count(*) FROM side_effect_jobs WHERE status <> 'COMPLETED'"
    while asyncio.run(rows(past_the_wall(url), undone)) != [(0,)]:
        assert worker.running, worker.output()
    kept = asyncio.run(rows(past_the_wall(url), "SELECT transaction_id, grand_total FROM calculation_logs"))
    assert {name: float(total) for name, total in kept} == tills.sold  # type: ignore[arg-type]
    assert len(kept) == len(tills.sold)
    assert again.stop() == 0
    subprocess.run([COMMAND, "db", "check", "--database-url", owner], check=True)

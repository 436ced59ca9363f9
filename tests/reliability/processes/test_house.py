"""Several processes on several machines act as one service: they share state, and a dead one affects no other."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.kit.databases import Databases
from tests.kit.valkey import ValkeyServer
from tests.reliability.processes.house import ACTION_ID, House, Process, furnished, opened_house

ROUNDS = 100
GUESSES_MAX = 100  # a minute, of one client


async def test_several_processes_are_one_service(databases: Databases, logs: Path, tmp_path: Path) -> None:
    """All parts share one house, as it is expensive to set up; each part's docstring says what it shows."""
    url = databases.create("postgresql")
    valkey = ValkeyServer(logs / f"house-valkey-{os.getpid()}.log")
    valkey.start()
    try:
        await furnished(url)
        with opened_house(url, valkey, logs, tmp_path) as house:
            async with house.processes() as processes:
                assert len(processes) == 4
                await a_change_that_is_acknowledged_is_in_the_next_evaluate_everywhere(processes)
                await codes_are_guessed_at_all_processes_together(processes)
                await one_confirm_at_all_processes_is_one_sale(house, processes)
                await what_time_brings_comes_once(house)
                await without_valkey_every_process_goes_on_and_says_so(house, processes)
            await a_process_that_is_killed_takes_no_other_with_it(house)
            await a_machine_that_is_lost_takes_no_other_with_it(house)
    finally:
        valkey.close()
        databases.drop(url)


def percent(priced: dict[str, Any]) -> float | None:
    """Return the discount on the article in percent."""
    discounts = priced["lineItems"][0]["discounts"]
    return discounts[0]["discountValue"] if discounts else None


async def a_change_that_is_acknowledged_is_in_the_next_evaluate_everywhere(processes: list[Process]) -> None:
    """Each process makes the change in turn."""
    for number in range(ROUNDS):
        author, wanted = processes[number % len(processes)], 5 + number % 60
        changed = await author.send("PATCH", f"/api/v1/DiscountActions({ACTION_ID})", {"discountValue": wanted}, "desk")
        assert changed.status_code in {200, 204}, changed.text
        priced = await asyncio.gather(*(process.evaluate() for process in processes))
        assert [percent(one) for one in priced] == [wanted] * len(processes), f"round {number}"


async def codes_are_guessed_at_all_processes_together(processes: list[Process]) -> None:
    """A client has a hundred guesses a minute, over all processes."""
    told = Counter[int]()
    for number in range(GUESSES_MAX + 20):
        process = processes[number % len(processes)]
        answer = await process.post("/pos/coupons/validate", {"code": f"GUESS-{number}"}, "guesser")
        told[answer.status_code] += 1
    assert told == {200: GUESSES_MAX, 429: 20}


async def one_confirm_at_all_processes_is_one_sale(house: House, processes: list[Process]) -> None:
    """Sixteen at once, four at each: one sale, and the same answer to all."""
    for _ in range(5):
        name = f"T-{uuid.uuid4()}"
        priced = await processes[0].evaluate(name)
        header = {key: priced["meta"]["header"][key] for key in ("transactionId", "transactionCounter")}
        offered = priced["totals"]["savingsSummary"]["promotionBreakdown"]
        applied = [{"promotionId": one["promotionId"]} for one in offered]
        body = {"request": {"header": header, "transactionId": name, "appliedPromotions": applied}}
        answers = await asyncio.gather(*(process.post("/pos/v2/confirm", body) for process in processes * 4))
        assert {answer.status_code for answer in answers} == {200}, answers[0].text
        assert len({answer.content for answer in answers}) == 1
        assert len(await house.rows("confirmations", transaction_id=name)) == 1


async def what_time_brings_comes_once(house: House) -> None:
    """Forty promotions have expired, and two workers process them."""
    ended = datetime.now(UTC) - timedelta(minutes=1)
    promotions = [
        {"ID": str(uuid.uuid4()), "name": f"Over {number}", "status": "ACTIVE", "type": "ARTICLE", "validTo": ended}
        for number in range(40)
    ]
    await house.insert("Promotions", promotions)
    expired: list[Any] = []
    while len(expired) < len(promotions):  # the test's own timeout is the bound
        expired = list(await house.rows("Promotions", status="EXPIRED"))
    events = [json.loads(row.payload) for row in await house.rows("outbox_events", kind="PROMOTION_EXPIRED")]
    told = Counter(event["data"]["promotionId"] for event in events)
    assert told == {one["ID"]: 1 for one in promotions}


async def without_valkey_every_process_goes_on_and_says_so(house: House, processes: list[Process]) -> None:
    """A1: tills price, health is DEGRADED; it is UP again once the cache is back."""
    house.valkey.stop()
    try:
        for process in processes * 3:
            assert percent(await process.evaluate()) is not None
        for process in processes:
            told = (await process.http.get("/health")).json()
            assert (told["status"], told["checks"]["cache"]["status"]) == ("DEGRADED", "DOWN")
        guesses = [await process.post("/pos/coupons/validate", {"code": "NOBODYS"}) for process in processes]
        assert {answer.status_code for answer in guesses} == {200}
    finally:
        house.valkey.start()
    for process in processes:
        while (await process.http.get("/health")).json()["status"] != "UP":
            pass


async def a_process_that_is_killed_takes_no_other_with_it(house: House) -> None:
    """Tills at the other processes, also of the same service, get only prices; the process is replaced."""
    victim = house.services[0]
    stop = asyncio.Event()

    async def till(process: Process) -> bool:
        """Sell until the end; return whether every answer was a price."""
        while not stop.is_set():
            try:
                await process.sell()
            except (httpx2.TransportError, LookupError):
                return False
        return True

    async with house.processes() as processes:
        # A connection that was idle while the others were found may have been closed.
        await asyncio.gather(*(process.evaluate() for process in processes))
        selling = [asyncio.create_task(till(process)) for process in processes]
        os.kill(next(pid for pid in children(victim.pid) if _is_server(pid)), signal.SIGKILL)
        async with house.processes() as again:
            assert len(again) == len(processes)
            for process in again:
                assert percent(await process.evaluate()) is not None
        stop.set()
        went_on = await asyncio.gather(*selling)
    of_victim = [whole for whole, process in zip(went_on, processes, strict=True) if process.service is victim]
    assert sorted(of_victim) == [False, True]
    assert went_on.count(False) == 1


async def a_machine_that_is_lost_takes_no_other_with_it(house: House) -> None:
    """A service is killed with all its processes while the tills of the other one sell."""
    lost, left = house.services
    async with house.processes() as found:
        others = [process for process in found if process.service is left]
        selling = [asyncio.create_task(process.evaluate()) for process in others for _ in range(5)]
        lost.kill()
        await asyncio.gather(*selling)
        for process in others * 10:
            assert percent(await process.evaluate()) is not None


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _is_server(pid: int) -> bool:
    """Return whether it is a server process; the other child of a service manages their shared state."""
    return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()

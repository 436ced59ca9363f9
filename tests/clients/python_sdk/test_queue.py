"""What could not be sent is kept, in order, and delivered once; what is refused is set aside and stops nothing."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade_client import AsyncQueue, NotAllowed, Queue, Refused, SetAside, Till, TooMany, Unavailable, confirmation
from promenade_client.requests import (
    CancelCouponRequest,
    CancelRequest,
    ConfirmRequest,
    RedeemCouponRequest,
    ReserveCouponRequest,
)
from promenade_client.store import Store
from tests.clients.python_sdk.conftest import Counter, basket, environment, new_transaction
from tests.clients.python_sdk.line import Hour, Line, answer, lost_answer
from tests.clients.python_sdk.test_calls import BUSY, TIRED, WITHDRAWN
from tests.kit.processes import dying_with_parent

BROKEN = answer(500, {"error": {"code": "INTERNAL_ERROR", "message": "Something went wrong."}})
SALE_AT = datetime(2026, 5, 4, 10, 30, tzinfo=UTC)


def sale(counter: Counter) -> ConfirmRequest:
    """Return the confirm of a basket that was priced."""
    with counter.till() as till:
        return confirmation(till.evaluate(basket(new_transaction())))


def is_confirmed(counter: Counter, request: ConfirmRequest) -> bool:
    with counter.till() as till:
        return till.transaction(request.transaction_id).confirmed


def sent(line: Line, path: str = "/pos/v2/confirm") -> list[bytes]:
    return [request.content for request in line.requests if request.url.path == path]


def test_a_sale_is_confirmed_when_the_line_is_back_with_the_time_it_was_made(counter: Counter, tmp_path: Path) -> None:
    request, line = sale(counter), counter.line()
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till, now=lambda: SALE_AT)
        with line.down():
            assert queue.confirm(request) is None
            assert queue.flush().waiting == 1
        assert not is_confirmed(counter, request)
        (command,) = Queue(tmp_path / "q.sqlite3", till).waiting()  # as another process finds it
        assert (command.kind, command.transaction_id, command.attempts) == ("confirm", request.transaction_id, 2)
        assert command.put_at == SALE_AT
        assert queue.flush().delivered == 1
        assert queue.waiting() == []
        found = till.transaction(request.transaction_id)
    assert found.confirmation is not None
    assert found.confirmation.confirmed_at == SALE_AT


def test_a_sale_is_confirmed_at_once_while_the_line_is_up(counter: Counter, tmp_path: Path) -> None:
    request = sale(counter)
    with counter.till() as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        confirmed = queue.confirm(request)
    assert confirmed is not None
    assert confirmed.confirmed
    assert queue.waiting() == []


def test_a_sale_whose_answer_was_lost_is_sent_again_as_it_was(counter: Counter, tmp_path: Path) -> None:
    request, line = sale(counter), counter.line(lost_answer)
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        assert queue.confirm(request) is None
        assert is_confirmed(counter, request)
        assert queue.flush().delivered == 1
    first, second = sent(line)
    assert first == second
    assert (queue.waiting(), queue.refused()) == ([], [])


def test_the_commands_of_a_transaction_stay_in_order(counter: Counter, tmp_path: Path) -> None:
    requests, line = [sale(counter) for _ in range(3)], counter.line()
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        with line.down():
            for one in requests:
                queue.confirm(one)
        void = CancelRequest(transaction_id=requests[1].transaction_id, transaction_counter=1)
        cancelled = queue.cancel(void)
        assert cancelled is not None
        assert cancelled.cancelled
        assert [command.transaction_id for command in queue.waiting()] == [
            requests[0].transaction_id,
            requests[2].transaction_id,
        ]
        assert till.transaction(requests[1].transaction_id).cancelled
        assert queue.flush().delivered == 2
    assert all(is_confirmed(counter, one) for one in requests)


def test_a_later_command_waits_for_an_earlier_one_that_fails(counter: Counter, tmp_path: Path) -> None:
    request, line = sale(counter), counter.line(BUSY, BUSY)
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        assert queue.confirm(request) is None
        assert queue.cancel(CancelRequest(transaction_id=request.transaction_id, transaction_counter=1)) is None
        assert line.paths() == ["/pos/v2/confirm"] * 2
        assert queue.flush().delivered == 2
        assert till.transaction(request.transaction_id).cancelled


def test_what_is_refused_is_set_aside_told_and_stops_nothing(counter: Counter, tmp_path: Path) -> None:
    good, line, told = sale(counter), counter.line(), list[SetAside]()
    bad = replace(good, transaction_id="nobody's", header=replace(good.header, transaction_id="nobody's"))
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till, tell=told.append)
        with line.down():
            queue.confirm(bad)
            queue.confirm(good)
        flushed = queue.flush()
        assert (flushed.delivered, flushed.waiting, flushed.stopped_by) == (1, 0, None)
        assert flushed.refused == told == queue.refused()
        (aside,) = queue.refused()
        assert (aside.kind, aside.transaction_id, aside.code) == ("confirm", "nobody's", "ITERATION_NOT_FOUND")
        assert aside.status == 404
        assert b'"nobody\'s"' in aside.body
        assert is_confirmed(counter, good)
        queue.again(aside.id)
        assert queue.flush().refused[0].id == aside.id
        queue.forget(aside.id)
        assert (queue.waiting(), queue.refused()) == ([], [])
        for gone in (queue.again, queue.forget):
            with pytest.raises(LookupError):
                gone(aside.id)


def test_a_refusal_at_the_till_is_raised_and_kept(counter: Counter, tmp_path: Path) -> None:
    request = sale(counter)
    with counter.till() as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        queue.confirm(request)
        with pytest.raises(Refused) as caught:
            queue.confirm(replace(request, applied_promotions=[]))
        assert caught.value.code == "CONFIRM_MISMATCH"
        assert [aside.id for aside in queue.refused()] == [caught.value.command]


def test_a_redemption_is_delivered_once_and_a_no_is_set_aside(counter: Counter, tmp_path: Path) -> None:
    transaction, line = new_transaction(), counter.line()
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        held = till.reserve_coupon(ReserveCouponRequest(code=counter.coupon(), transaction_id=transaction))
        assert held.reservation_id is not None
        request = RedeemCouponRequest(reservation_id=held.reservation_id, transaction_id=transaction)
        line.faults.append(lost_answer)
        assert queue.redeem_coupon(request) is None
        assert (queue.flush().delivered, queue.refused()) == (1, [])
        with pytest.raises(Refused) as caught:
            queue.redeem_coupon(replace(request, transaction_id="another"))
        assert caught.value.code == queue.refused()[0].code
        free = till.reserve_coupon(ReserveCouponRequest(code=counter.coupon(), transaction_id=transaction))
        assert free.reservation_id is not None
        released = queue.release_coupon(CancelCouponRequest(reservation_id=free.reservation_id), transaction_id="T")
        assert released is not None
        assert released.cancelled


def test_a_command_that_fails_every_time_blocks_no_other(counter: Counter, tmp_path: Path) -> None:
    requests, line = [sale(counter) for _ in range(6)], counter.line()
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        with line.down():
            for one in requests:
                queue.confirm(one)
        line.faults.extend([BROKEN] * 3)
        flushed = queue.flush()
        assert (flushed.delivered, flushed.waiting) == (0, 6)
        assert isinstance(flushed.stopped_by, Unavailable)
        line.faults.clear()
        del line.requests[:]
        assert queue.flush().delivered == 6
    order = [next(n for n, one in enumerate(requests) if one.transaction_id.encode() in body) for body in sent(line)]
    assert order == [3, 4, 5, 0, 1, 2]  # those that had failed came last


@pytest.mark.parametrize(("fault", "kind"), [(TIRED, TooMany), (WITHDRAWN, NotAllowed)])
def test_a_flush_stops_where_no_command_would_get_through(
    counter: Counter, tmp_path: Path, fault: Any, kind: type[Exception]
) -> None:
    requests, line = [sale(counter) for _ in range(2)], counter.line()
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        with line.down():
            for one in requests:
                queue.confirm(one)
        line.faults.extend([fault, fault])
        del line.requests[:]
        flushed = queue.flush()
        assert isinstance(flushed.stopped_by, kind)
        assert (flushed.waiting, len(set(sent(line)))) == (2, 1)
        assert queue.refused() == []
        line.faults.clear()
        assert queue.flush().delivered == 2


def test_a_client_without_its_scope_loses_no_sale(counter: Counter, tmp_path: Path) -> None:
    request, line = sale(counter), counter.line()
    wrong = replace(counter.credentials, scope="svc.Admin")
    with Till(counter.service.url, wrong, transport=line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        assert queue.confirm(request) is None
        assert isinstance(queue.flush().stopped_by, NotAllowed)
    assert (line.paths(), queue.refused()) == ([], [])
    with counter.till() as till:
        assert Queue(tmp_path / "q.sqlite3", till).flush().delivered == 1


def test_the_next_flush_heeds_retry_after(counter: Counter, tmp_path: Path) -> None:
    request, line = sale(counter), counter.line(TIRED, TIRED)
    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        queue.confirm(request)
        flushed = queue.flush()
        assert (flushed.pause(every=0.5), flushed.pause(every=30)) == (3.0, 30)
        assert queue.flush().pause(every=0.5) == 0.5


# --- several senders --------------------------------------------------------------------------------------------------


class OneAtATime(httpx2.BaseTransport):
    """Passes requests on and notes whether two were under way at once."""

    def __init__(self, service: httpx2.BaseTransport) -> None:
        self._service = service
        self._busy = threading.Lock()
        self.has_overlapped = False
        self.bodies: list[bytes] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path != "/pos/v2/confirm":
            return self._service.handle_request(request)
        if not self._busy.acquire(blocking=False):
            self.has_overlapped = True
            return self._service.handle_request(request)
        try:
            self.bodies.append(request.content)
            return self._service.handle_request(request)
        finally:
            self._busy.release()


def test_two_senders_of_one_file_send_nothing_twice(counter: Counter, tmp_path: Path) -> None:
    requests = [sale(counter) for _ in range(12)]
    shared = OneAtATime(counter.service.transport())
    down = counter.line()
    with counter.till(down) as till, down.down():
        for one in requests:
            Queue(tmp_path / "q.sqlite3", till).confirm(one)

    def flush(_: int) -> int:
        with counter.till(Line(shared)) as till:
            return Queue(tmp_path / "q.sqlite3", till).flush().delivered

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(flush, range(3))) == 12
    assert not shared.has_overlapped
    assert len(shared.bodies) == len(set(shared.bodies)) == 12


@pytest.mark.parametrize("is_refused", [False, True])
def test_what_came_of_a_sale_is_known_although_another_sender_was_faster(
    counter: Counter, tmp_path: Path, is_refused: bool
) -> None:
    request, path = sale(counter), tmp_path / "q.sqlite3"
    if is_refused:
        request = replace(request, header=replace(request.header, transaction_counter=2))
    with counter.till() as other, ExitStack() as turn:

        def while_it_waits(_: float) -> None:
            turn.close()
            flushed = Queue(path, other).flush()
            assert (flushed.delivered, len(flushed.refused)) == (not is_refused, is_refused)

        assert turn.enter_context(Store(path).turn())
        with Till(counter.service.url, counter.credentials, transport=counter.line(), sleep=while_it_waits) as till:
            queue = Queue(path, till)
            if is_refused:
                with pytest.raises(Refused) as caught:
                    queue.confirm(request)
                assert (caught.value.code, caught.value.command) == ("ITERATION_NOT_FOUND", queue.refused()[0].id)
            else:
                answer = queue.confirm(request)
                assert answer is not None
                assert answer.confirmed


HOLDER = """
import sys
from promenade_client.store import Store
with Store(sys.argv[1]).turn() as is_mine:
    print(is_mine, flush=True)
    sys.stdin.read()
"""


def test_a_process_that_is_sending_is_waited_for_until_it_dies(counter: Counter, tmp_path: Path) -> None:
    request, line, hour, path = sale(counter), counter.line(), Hour(), tmp_path / "q.sqlite3"
    command = dying_with_parent(signal.SIGKILL, sys.executable, "-c", HOLDER, str(path))
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), text=True) as other,
        counter.till(line, hour) as till,
    ):
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        queue = Queue(path, till)
        assert queue.confirm(request) is None
        assert queue.flush().delivered == 0
        assert line.requests == []
        assert sum(hour.waits) == pytest.approx(10)
        other.kill()
        other.wait(60)
        assert queue.flush().delivered == 1


# --- in the background, and on an event loop --------------------------------------------------------------------------


def test_what_waits_is_delivered_in_the_background(counter: Counter, tmp_path: Path) -> None:
    request, line, delivered = sale(counter), counter.line(), threading.Event()
    line.faults.append(BUSY)

    def watched(pass_on: Callable[[], httpx2.Response]) -> httpx2.Response:
        response = pass_on()
        delivered.set()
        return response

    with counter.till(line) as till:
        queue = Queue(tmp_path / "q.sqlite3", till)
        queue.confirm(request)
        line.faults.append(watched)
        with queue.delivering(every=0.01):
            assert delivered.wait(60)
        assert queue.waiting() == []
        with line.down():
            queue.cancel(CancelRequest(transaction_id=request.transaction_id, transaction_counter=1))
        with queue.delivering(every=3600):
            pass
        assert queue.waiting() == []
        assert till.transaction(request.transaction_id).cancelled


async def test_the_queue_of_an_event_loop_keeps_the_same_promises(counter: Counter, tmp_path: Path) -> None:
    requests, line = [await asyncio.to_thread(sale, counter) for _ in range(4)], counter.line()
    async with counter.async_till(line, sleep=asyncio.sleep) as till:
        queue = AsyncQueue(tmp_path / "q.sqlite3", till)
        with line.down():
            assert await asyncio.gather(*map(queue.confirm, requests[:2])) == [None, None]
        confirmed = await asyncio.gather(*map(queue.confirm, requests[2:]))
        assert all(one is not None and one.confirmed for one in confirmed)
        assert {one.transaction_id for one in queue.waiting()} == {one.transaction_id for one in requests[:2]}
        async with queue.delivering(every=3600):
            pass
        assert queue.waiting() == []
        with pytest.raises(Refused):
            await queue.confirm(replace(requests[0], applied_promotions=[]))
        void = CancelRequest(transaction_id=requests[0].transaction_id, transaction_counter=1)
        cancelled = await queue.cancel(void)
        assert cancelled is not None
        flushed = await queue.flush()
        assert (flushed.delivered, flushed.waiting) == (0, 0)
    assert all([await asyncio.to_thread(is_confirmed, counter, one) for one in requests])


async def test_a_cancelled_task_leaves_its_turn_and_its_command(counter: Counter, tmp_path: Path) -> None:
    request, line = await asyncio.to_thread(sale, counter), counter.line()
    asked, release = threading.Event(), threading.Event()

    def hangs(pass_on: Callable[[], httpx2.Response]) -> httpx2.Response:
        asked.set()
        release.wait(60)
        return pass_on()

    line.faults.append(hangs)
    async with counter.async_till(line) as till:
        queue = AsyncQueue(tmp_path / "q.sqlite3", till)
        task = asyncio.create_task(queue.confirm(request))
        assert await asyncio.to_thread(asked.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        assert len(queue.waiting()) == 1
        assert (await queue.flush()).delivered == 1


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_file_of_a_later_version_is_not_touched(tmp_path: Path) -> None:
    Store(tmp_path / "q.sqlite3")
    with closing(sqlite3.connect(tmp_path / "q.sqlite3")) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="later version"):
        Store(tmp_path / "q.sqlite3")


def test_ten_thousand_commands_wait_without_being_looked_at_one_by_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "q.sqlite3")
    with closing(sqlite3.connect(tmp_path / "q.sqlite3")) as database:
        plan = " ".join(row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {_next()}", (None,)))
    assert "USING INDEX waiting" in plan
    assert "USING INDEX in_order (transaction_id=? AND id<?)" in plan
    assert "TEMP B-TREE" not in plan
    assert store.count() == 0


def _next() -> str:
    from promenade_client import store

    return store._NEXT

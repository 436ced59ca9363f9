"""A till that is killed at any line of the queue has its sale confirmed once it is back, or had not taken it yet."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from promenade_client import Queue, Till, confirmation
from tests.clients.python_sdk.conftest import Served, basket, environment
from tests.kit.processes import dying_with_parent

# Each sale is made by a child of its own that kills itself at the n-th line of the queue and its file; the first that
# lives to the end is the last.
TILL = """
import os, signal, sys
from decimal import Decimal
from promenade_client import ClientCredentials, Queue, Till, confirmation, queue, store
from promenade_client.requests import BasketItem, EvaluateHeader, EvaluateRequest

url, client, secret, folder = sys.argv[1:]
FILES = {queue.__file__, store.__file__}


def sell(n):
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            lines += 1
            if lines == n:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    with Till(url, ClientCredentials(client, secret)) as till:
        item = BasketItem(article_number="A-1", quantity=1, unit_price=Decimal("5.00"))
        header = EvaluateHeader(transaction_id=f"KILLED-{n}")
        request = confirmation(till.evaluate(EvaluateRequest(pos_group_code="BERLIN", items=[item], header=header)))
        sales = Queue(f"{folder}/{n}.sqlite3", till)
        sys.settrace(trace)
        answer = sales.confirm(request)
        sys.settrace(None)
        if answer is None:
            os._exit(3)


n = 0
while True:
    n += 1
    child = os.fork()
    if child == 0:
        sell(n)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        print(n, os.WEXITSTATUS(status))
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
"""


def test_a_till_killed_at_any_line_of_the_queue_loses_no_sale(served: Served, tmp_path: Path) -> None:
    credentials = served.credentials
    arguments = (served.service.url, credentials.client_id, credentials.client_secret, str(tmp_path))
    command = dying_with_parent(signal.SIGKILL, sys.executable, "-c", TILL, *arguments)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    last, status = map(int, done.stdout.split())
    assert status == 0
    assert last > 60
    kept = 0
    with Till(served.service.url, credentials) as till:
        for n in range(1, last + 1):
            queue = Queue(tmp_path / f"{n}.sqlite3", till)
            was_kept = bool(queue.waiting())
            was_confirmed = till.transaction(f"KILLED-{n}").confirmed
            assert was_kept or was_confirmed or kept == 0, f"killed at line {n}, the sale is lost"
            kept += was_kept
            flushed = queue.flush()
            assert (flushed.delivered, flushed.refused, flushed.waiting) == (was_kept, [], 0)
            assert till.transaction(f"KILLED-{n}").confirmed == (was_kept or was_confirmed)
    assert 20 < kept < last
    sales = served.sales("KILLED-")
    assert len(sales) == len(set(sales)), "a sale was counted twice"
    assert 20 < len(sales) <= last


def test_a_sale_waits_while_the_service_is_killed(served: Served, tmp_path: Path) -> None:
    with Till(served.service.url, served.credentials) as till:
        request = confirmation(till.evaluate(basket("WAITS-1")))
        queue = Queue(tmp_path / "q.sqlite3", till)
        served.service.kill()
        try:
            assert queue.confirm(request) is None
        finally:
            served.service.restart()
        assert queue.flush().delivered == 1
        assert till.transaction("WAITS-1").confirmed
    assert served.sales("WAITS-") == ["WAITS-1"]

"""Throughput over HTTP: evaluate compared with a null endpoint of the same process, and confirm."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.databases import places
from benchmarks.load import post
from benchmarks.measure import milliseconds, show
from benchmarks.roles import as_served
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from tests.kit.processes import free_port

__all__ = ["Target", "load", "rate", "run", "running", "token"]

CLIENTS = (1, 16, 64)
BASKETS = 200
LINES = (5, 20)
CONFIRM_LINES = 20
CONFIRM_CLIENTS = 16


@dataclass(frozen=True, slots=True)
class Target:
    """A serving process (Linux: its processor time is read from /proc), a valid token and its shop."""

    port: int
    token: str
    process_id: int
    shop: Shop | None = None

    def cpu_seconds(self) -> float:
        """Return the serving process's processor time so far, of all threads."""
        fields = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(scale: Scale) -> None:
    """Print every table of this part."""
    seconds, confirms = scale.of(6.0, 1.0, 0.04), scale.of(4_000, 300, 20)
    baskets = scale.of(BASKETS, BASKETS, 20)
    for place in places():
        with serving(place.url, place.home) as target:
            evaluations(place.database, target, baskets, seconds)
            confirmations(place.database, target, baskets, confirms)


def evaluations(database: str, target: Target, baskets: int, seconds: float) -> None:
    """Print requests per second, latencies and processor time at 1, 16 and 64 clients, beside the null endpoint."""
    assert target.shop is not None
    for lines in LINES:
        headers = {"Authorization": f"Bearer {target.token}"}
        bodies = [target.shop.evaluate_body(number, lines) for number in range(baskets)]
        asked = [post("/pos/v2/evaluate", body, headers) for body in bodies]
        warm = load(target, asked, clients=4, limit=baskets, keep=True)
        answers = [json.loads(body) for body in warm["bodies"]]
        answer_bytes = sum(map(len, warm["bodies"])) // len(answers)
        applied = sum(len(one["totals"]["savingsSummary"]["promotionBreakdown"]) for one in answers) / len(answers)
        null = [post(f"/null/{answer_bytes}", body, headers) for body in bodies]
        rows = []
        for clients in CLIENTS:
            least = load(target, null, clients=clients, seconds=seconds / 2)
            full = load(target, asked, clients=clients, seconds=seconds)
            rows.append(
                (
                    clients,
                    f"{rate(full):,.0f}",
                    milliseconds(full["p50"]),
                    milliseconds(full["p99"]),
                    f"{full['cpu'] * 1e6:,.0f}",
                    f"{rate(least):,.0f}",
                    milliseconds(least["p50"]),
                    f"{least['cpu'] * 1e6:,.0f}",
                    ratio(rate(full), rate(least)),
                )
            )
        show(
            f"Evaluate over HTTP on {database}: {lines} lines, iteration stored, one process",
            ("clients", "requests/s", "p50 ms", "p99 ms", "CPU us", "null/s", "p50 ms", "CPU us", "share of null"),
            rows,
            f"{applied:.1f} promotions apply on average. Null: the same server reads the same body and answers a "
            f"constant of {answer_bytes} bytes. CPU: of the server, per request. The load generator runs on the same "
            "machine, nothing is pinned to a core.",
        )


def confirmations(database: str, target: Target, baskets: int, count: int) -> None:
    """Print confirms per second of iterations priced before."""
    assert target.shop is not None
    headers = {"Authorization": f"Bearer {target.token}"}
    bodies = [target.shop.evaluate_body(number, CONFIRM_LINES) for number in range(baskets)]
    priced = load(
        target, [post("/pos/v2/evaluate", body, headers) for body in bodies], clients=8, limit=count, keep=True
    )
    asked = [post("/pos/v2/confirm", target.shop.confirm_body(json.loads(body)), headers) for body in priced["bodies"]]
    done = load(target, asked, clients=CONFIRM_CLIENTS, limit=len(asked))
    show(
        f"Confirm over HTTP on {database}: {CONFIRM_CLIENTS} clients, each commit durable",
        ("confirms", "confirms/s", "p50 ms", "p99 ms"),
        [(done["count"], f"{rate(done):,.0f}", milliseconds(done["p50"]), milliseconds(done["p99"]))],
    )


def rate(result: dict[str, Any]) -> float:
    """Return the responses per second."""
    return float(result["count"] / result["seconds"])


def ratio(of: float, to: float) -> str:
    """Return a ratio as text; of a part so short that nothing was answered there is none."""
    return f"{of / to:.2f}" if to else "-"


def load(
    target: Target,
    requests: list[str],
    *,
    clients: int,
    seconds: float = 0.0,
    limit: int = 0,
    keep: bool = False,
    follow: list[str] | None = None,
    expect: str = "",
    until: str = "",
) -> dict[str, Any]:
    """Run the load generator (see `benchmarks.load`); ``cpu`` is the server's seconds per response.

    An unsuccessful response ends the benchmark.
    """
    job = {
        "host": "127.0.0.1",
        "port": target.port,
        "clients": clients,
        "seconds": seconds,
        "limit": limit,
        "keep": keep,
        "requests": requests,
        "follow": follow or [],
        "expect": expect,
        "until": until,
    }
    before = target.cpu_seconds()
    result = _generate(job, seconds_max=1_800 if until else 120)
    result["cpu"] = (target.cpu_seconds() - before) / max(1, result["count"])
    if result["failures"]:
        raise SystemExit(
            f"{result['failures']} of {result['count']} requests failed, first:\n{result['first_failure']}"
        )
    return result


def _generate(job: dict[str, Any], seconds_max: float) -> dict[str, Any]:
    """Let the load generator run a job; it is killed after ``seconds_max``."""
    generator = _generator()
    assert generator.stdin is not None
    assert generator.stdout is not None
    timer = threading.Timer(seconds_max, generator.kill)
    timer.start()
    with tempfile.NamedTemporaryFile("r", suffix=".json") as answer:
        try:
            generator.stdin.write(f"{json.dumps(job | {'answer': answer.name})}\n")
            generator.stdin.flush()
            is_done = generator.stdout.readline()
        finally:
            timer.cancel()
        if not is_done:
            raise SystemExit(f"the load generator ended, or did not answer within {seconds_max:,.0f} s")
        result: dict[str, Any] = json.loads(Path(answer.name).read_text())
    return result


@cache
def _generator() -> subprocess.Popen[str]:
    """Start the load generator; it ends with this process, which closes its input."""
    command = [sys.executable, "-m", "benchmarks.load"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


@contextmanager
def serving(database_url: str, home: Path) -> Iterator[Target]:
    """Seed a database and serve it, with the null route."""
    shop = open_shop(database_url)
    with running(database_url, home) as (port, process_id):
        yield Target(port, token(port, shop.client_id, shop.client_secret), process_id, shop)


@contextmanager
def running(database_url: str, home: Path, *more: str) -> Iterator[tuple[int, int]]:
    """Serve a database that is already filled; yield port and process. ``more``: see `null_app`.

    With a PostgreSQL superuser's URL, the service runs as a role that owns nothing.
    """
    port = free_port()
    log = home / "service.log"
    options = ["--database-url", as_served(database_url), "--port", str(port), "--data-dir", str(home), *more]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.null_app", *options], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_it_answers(port, process, log)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def wait_until_it_answers(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once /health answers."""
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the service did not start:\n{log.read_text()[-4000:]}") from None
            time.sleep(0.05)


def token(port: int, client_id: str, secret: str) -> str:
    """Return a client's access token."""
    form = f"grant_type=client_credentials&client_id={client_id}&client_secret={secret}"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/oauth/token", data=form.encode()) as answer:
        return str(json.load(answer)["access_token"])

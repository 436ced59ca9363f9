"""Exports are streamed: in bounded memory, no further than the client reads, a few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from odata_server.http import Request
from promenade.errors import TooMany
from promenade.web.access.auth import Caller
from promenade.web.http.body import Disconnected
from promenade.web.http.downloads import EXPORTS_MAX
from promenade.web.odata.api import ApiHooks
from promenade.web.reports.export import CsvExports
from promenade.workflows.context import Context
from promenade.workflows.reports import Export
from promenade.workflows.reports.exports import ExportOrder

ROWS = 60_000
EXPORTING = [
    tracemalloc.Filter(True, f"*/{module}") for module in ("web/reports/*", "odata_server/*", Path(__file__).name)
]
BODY = {"reportType": "couponAnalytics", "dateFrom": "2026-03-01T00:00:00Z", "dateTo": "2026-03-02T00:00:00Z"}


class Hooks(ApiHooks):
    """Authenticates one manager."""

    default_version = "4.0"

    def __init__(self) -> None:
        self.tenant = "acme"

    async def authenticate(self, scope: Mapping[str, Any]) -> Caller:
        return Caller(self.tenant, "ann", "ann", frozenset({"svc.PromotionManager"}), float("inf"))


class Client:
    """An ASGI client that reads a response to the end, or disconnects after so many chunks."""

    def __init__(self, *, leaves_after: int | None = None) -> None:
        self.statuses: list[int] = []
        self.heard = bytearray()
        self.pieces: list[int] = []
        self.ended = False
        self._left = asyncio.Event()
        self._leaves_after = leaves_after
        self._sent = False

    async def receive(self) -> Any:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": json.dumps(BODY).encode(), "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])
            return
        self.pieces.append(len(message["body"]))
        self.heard += message["body"]
        self.ended = not message.get("more_body", False)
        if self._leaves_after is not None and len(self.pieces) >= self._leaves_after:
            self._left.set()


class Report:
    """An export of so many rows that counts how many were read; ``waits`` blocks it at its second row."""

    def __init__(self, rows: int = ROWS, *, fails_at: int | None = None, waits: asyncio.Event | None = None) -> None:
        self.read = 0
        self.begun = asyncio.Semaphore(0)
        self._rows, self._fails_at, self._waits = rows, fails_at, waits

    async def begin(
        self, context: Context, tenant_id: str, order: ExportOrder
    ) -> tuple[Export, AsyncIterator[Mapping[str, Any]]]:
        assert order.date_from == datetime(2026, 3, 1, tzinfo=UTC)
        return Export("couponAnalytics", "coupon-analytics.csv", ("name", "number"), self._rows_of), self._generated()

    def _rows_of(self, context: Any, period: Any) -> AsyncIterator[Mapping[str, Any]]:
        raise AssertionError("rows come as they are begun")

    async def _generated(self) -> AsyncIterator[Mapping[str, Any]]:
        for number in range(self._rows):
            if number == self._fails_at:
                raise RuntimeError("the database is gone")
            if self._waits is not None and number == 1:
                self.begun.release()
                await self._waits.wait()
            self.read += 1
            yield {"name": f'Coupon "{number}", é', "number": number}


def exports_of(report: Report) -> CsvExports:
    return CsvExports(cast("Context", None), Hooks(), root="/reporting", begin=report.begin)


async def ask(exports: CsvExports, client: Client) -> None:
    request = Request("POST", "exportCsv", headers={"content-type": "application/json"})
    await exports.answer({"type": "http"}, client.receive, client.send, request)


async def test_a_large_export_is_complete_and_takes_little_memory() -> None:
    report, client = Report(), Client()
    await ask(exports_of(report), client)
    body = json.loads(client.heard)
    header, *rows = csv.reader(io.StringIO(body["data"], newline=""), strict=True)
    assert (header, len(rows), rows[-1]) == (["name", "number"], ROWS, [f'Coupon "{ROWS - 1}", é', str(ROWS - 1)])
    assert client.ended
    assert len(client.pieces) > 10
    assert max(client.pieces) < 100_000


async def test_sent_pieces_are_released_from_memory() -> None:
    held: list[int] = []  # bytes that exporting holds, each time a piece is sent

    class Deaf(Client):
        async def send(self, message: Any) -> None:
            self.pieces.append(len(message.get("body", b"")))
            if len(self.pieces) % 8 == 0:
                # Threads of other tests' servers allocate too.
                traces = tracemalloc.take_snapshot().filter_traces(EXPORTING).traces
                held.append(sum([trace.size for trace in traces]))

    client = Deaf()
    tracemalloc.start()
    try:
        await ask(exports_of(Report()), client)
    finally:
        tracemalloc.stop()
    assert sum(client.pieces) > 1_500_000
    assert len(held) > 2
    assert max(held) - min(held) < 100_000


async def test_reading_stops_when_the_client_disconnects() -> None:
    report, client = Report(), Client(leaves_after=2)
    with pytest.raises(Disconnected):
        await ask(exports_of(report), client)
    assert not client.ended
    assert report.read < ROWS / 5


async def test_an_unreadable_report_is_reported_before_anything_is_sent() -> None:
    client = Client()
    with pytest.raises(RuntimeError):
        await ask(exports_of(Report(fails_at=5)), client)
    assert client.statuses == []


async def test_an_interrupted_answer_does_not_look_complete() -> None:
    client = Client()
    with pytest.raises(RuntimeError):
        await ask(exports_of(Report(fails_at=ROWS - 1)), client)
    assert client.statuses == [200]
    assert not client.ended
    with pytest.raises(json.JSONDecodeError):
        json.loads(client.heard)


async def test_concurrent_exports_of_a_tenant_are_limited() -> None:
    goes_on = asyncio.Event()
    hooks, report = Hooks(), Report(3, waits=goes_on)
    exports = CsvExports(cast("Context", None), hooks, root="/reporting", begin=report.begin)
    under_way = [asyncio.create_task(ask(exports, Client())) for _ in range(EXPORTS_MAX)]
    try:
        async with asyncio.timeout(60):
            for _ in range(EXPORTS_MAX):
                await report.begun.acquire()
        with pytest.raises(TooMany) as refused:
            await ask(exports, Client())
        assert refused.value.code == "TOO_MANY_EXPORTS"
        hooks.tenant = "globex"
        other = asyncio.create_task(ask(exports, Client()))
        goes_on.set()
        await asyncio.gather(*under_way, other)
        hooks.tenant = "acme"
        await ask(exports, Client())
    finally:
        goes_on.set()
        with contextlib.suppress(Exception):
            await asyncio.gather(*under_way)

"""Large and hostile bodies: bounded in time and memory, whatever they hold; refused ones leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.errors import Invalid, Unavailable
from promenade.web.http import spool
from promenade.web.http.spool import SpooledBody
from tests.web.imports.bulk.conftest import NOTHING, Bulk, accepted, articles, problem

MIB = 2**20
BODY_MAX = 64 * MIB
ADDRESS = "/api/v1/Articles:bulk-import"


def filled(count: int, size: int) -> bytes:
    """Return a body of ``count`` rows and exactly ``size`` bytes."""
    head, tail = b'{"rows":[', b"]}"
    rows = [b'{"articleNumber":"A-%06d","name":"%s"}' % (number, b"") for number in range(count)]
    bare = len(head) + len(tail) + sum(map(len, rows)) + count - 1
    each, more = divmod(size - bare, count)
    names = [b"x" * (each + (1 if number < more else 0)) for number in range(count)]
    text = b",".join(b'{"articleNumber":"A-%06d","name":"%s"}' % (number, name) for number, name in enumerate(names))
    return head + text + tail


def pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 200_000):
        yield body[start : start + 200_000]


def post(api: Bulk, content: Any) -> httpx2.Response:
    headers = {"authorization": f"Bearer {api.token(api.usual)}", "content-type": "application/json"}
    return api.http.post(ADDRESS, content=content, headers=headers)


def cpu_seconds(api: Bulk) -> float:
    spent = Path(f"/proc/{api.service.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def memory(api: Bulk, what: str = "VmRSS") -> int:
    """Return the service's current memory in bytes, or its peak (VmHWM) since `forget_peak`."""
    status = Path(f"/proc/{api.service.pid}/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) * 1024


def forget_peak(api: Bulk) -> None:
    Path(f"/proc/{api.service.pid}/clear_refs").write_text("5")


def files(api: Bulk) -> list[str]:
    """Return the temporary files that hold large bodies while they arrive."""
    found = []
    for one in Path(f"/proc/{api.service.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(one.readlink()))
    return [name for name in found if name.endswith("(deleted)")]


def eventually(api: Bulk, holds: Callable[[], bool]) -> None:
    """Poll the health endpoint, which lets the service continue, until a condition holds."""
    deadline = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < deadline, "it did not come to be"
        assert api.http.get("/health").status_code == 200


@pytest.mark.alone
@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_a_body_of_64_mib_is_accepted_in_little_memory(api: Bulk, chunked: bool) -> None:
    body = filled(10_000, BODY_MAX)
    accepted(post(api, filled(10, 2 * MIB)))  # load everything that is loaded on first use
    before, spent = memory(api), cpu_seconds(api)
    forget_peak(api)
    job_id = accepted(post(api, pieces(body) if chunked else body))
    assert api.read(f"ImportJobs({job_id})")["totalRows"] == 10_000
    assert memory(api, "VmHWM") - before < 64 * MIB
    assert cpu_seconds(api) - spent < 6  # half a second on an idle machine
    assert files(api) == []


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_one_byte_over_the_limit_is_refused(api: Bulk, chunked: bool) -> None:
    body = filled(10, BODY_MAX + 1)
    answer = post(api, pieces(body) if chunked else body)
    assert problem(answer) == (413, "BODY_TOO_LARGE", None)
    assert answer.headers["connection"] == "close"
    assert api.stored() == NOTHING
    assert files(api) == []


def test_a_body_that_is_far_too_large_is_not_waited_for(api: Bulk) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", api.service.port, timeout=20)
    connection.putrequest("POST", ADDRESS)
    connection.putheader("authorization", f"Bearer {api.token(api.usual)}")
    connection.putheader("content-length", str(2**40))
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["code"]) == (413, "BODY_TOO_LARGE")
    connection.close()


def test_more_than_10_000_rows_are_too_many(api: Bulk) -> None:
    assert problem(api.send([{}] * 10_001)) == (413, "TOO_MANY_ROWS", "rows")
    assert api.stored() == NOTHING
    accepted(api.send([{}] * 10_000))


def test_a_row_is_no_longer_than_a_body_of_a_single_create(api: Bulk) -> None:
    long = b'{"name":"%s"}' % (b"x" * (10 * MIB))
    assert problem(api.raw(b'{"rows":[{},%s]}' % long)) == (413, "ROW_TOO_LARGE", "rows/1")
    assert api.stored() == NOTHING
    accepted(api.raw(b'{"rows":[{},{"name":"%s"}]}' % (b"x" * (10 * MIB - 11))))


# Created only when sent: together they are a gigabyte, which every test process would hold.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "rows without number": lambda: b'{"rows":[' + b"1," * (31 * MIB) + b"1]}",
    "brackets": lambda: b'{"rows":[' + b"[" * (63 * MIB),
    "braces": lambda: b'{"rows":[' + b'{"a":' * (12 * MIB),
    "spaces": lambda: b" " * BODY_MAX,
    "spaces inside": lambda: b'{"rows":[' + b" " * (60 * MIB) + b"}",
    "spaces behind": lambda: b'{"rows":[1' + b" " * (60 * MIB) + b"]}",
    "annotations": lambda: b"{" + b'"@a":1,' * (9 * MIB) + b'"rows":[1]}',
    "members": lambda: b"{" + b'"a":1,' * (10 * MIB) + b'"rows":[1]}',
    "many names": lambda: b"{" + b",".join(b'"@%d":1' % number for number in range(4 * MIB)) + b"}",
    "a long name": lambda: b'{"' + b"a" * (63 * MIB) + b'":1}',
    "a long text": lambda: b'{"rows":["' + b"a" * (63 * MIB) + b'"]}',
    "escapes": lambda: b'{"rows":["' + b"\\u0041" * (10 * MIB) + b'"]}',
    "a long number": lambda: b'{"rows":[' + b"1" * (63 * MIB) + b"]}",
    "a large header": lambda: b'{"header":{"idempotencyKey":"' + b"k" * (60 * MIB) + b'"},"rows":[1]}',
    "a deep header": lambda: b'{"header":' + b"[" * 30_000 + b"]" * 30_000 + b',"rows":[1]}',
    "zeros": lambda: bytes(BODY_MAX),
    "commas": lambda: b'{"rows":[1' + b"," * (60 * MIB) + b"]}",
    "empty rows": lambda: b'{"rows":[' + b"{}," * (20 * MIB) + b"{}]}",
    "no end": lambda: b'{"rows":[' + b'{"a":"' + b"b" * 9000 + b'"},' * 6000,
}


@pytest.mark.alone
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_cost_little_memory_and_time(api: Bulk, name: str) -> None:
    before, spent = memory(api), cpu_seconds(api)
    forget_peak(api)
    status, code, _ = problem(post(api, HOSTILE[name]()))
    assert (status, code) in {
        (400, "MALFORMED_BODY"), (400, "UNKNOWN_PROPERTY"), (413, "TOO_MANY_ROWS"), (413, "ROW_TOO_LARGE"),
    }  # fmt: skip
    assert cpu_seconds(api) - spent < 2.5  # most of it for receiving
    assert memory(api, "VmHWM") - before < 64 * MIB
    assert api.stored() == NOTHING
    assert files(api) == []


GARBAGE = [
    b"", b" ", b"x", b"null", b"true", b"1", b'"rows"', b"[]", b'[{"rows":[]}]', b"{", b"}", b"{}", b'{"rows"',
    b'{"rows":', b'{"rows":[', b'{"rows":[{', b'{"rows":[{}', b'{"rows":[{}]', b'{"rows":[{}]}}', b'{"rows":[{}]}{}',
    b'{"rows":[{}],}', b'{"rows":[{},]}', b'{"rows":[,{}]}', b'{"rows":[{} {}]}', b'{"rows":{}}', b'{"rows":[]}',
    b'{"rows":null}', b'{"rows":"x"}', b'{"rows":tru}', b'{"rows":[tru]}', b'{"rows":[{"a":tru}]}', b'{"rows":[01]}',
    b'{"rows":[+1]}', b'{"rows":[NaN]}', b'{"rows":[1e]}', b'{"rows":["\n"]}', b'{"rows":["\\x"]}', b"{'rows':[{}]}",
    b'{rows:[{}]}', b'{"rows":[{}],"rows":[{}]}', b'{"Rows":[{}]}', b'{"rows":[{}],"extra":1}', b"\xef\xbb\xbf{}",
    b"\xff\xfe{\x00}\x00", b'{"\xff":1}', b'{"header":{},"header":{},"rows":[{}]}', b'{"header":{',
    b'{"header":nonsense,"rows":[{}]}', b"<rows/>", b"rows=1", b'{"rows":[{}]}\x00', b"/**/{}", b"\x1f\x8b\x08\x00",
]  # fmt: skip


@pytest.mark.parametrize("body", GARBAGE)
def test_an_invalid_body_is_refused_with_a_reason(api: Bulk, body: bytes) -> None:
    answer = api.raw(body)
    status, code, _ = problem(answer)
    assert status == 400
    assert code in {
        "MALFORMED_BODY", "REQUIRED", "EMPTY", "NOT_NULLABLE", "TYPE_MISMATCH", "UNKNOWN_PROPERTY",
    }  # fmt: skip
    assert len(answer.json()["detail"]) > 15
    assert api.stored() == NOTHING


@pytest.mark.parametrize("cut", [0.0, 0.3, 0.9, 0.999])
def test_a_good_body_that_breaks_off_leaves_nothing(api: Bulk, cut: float) -> None:
    body = filled(2000, 4 * MIB)
    assert problem(api.raw(body[: int(cut * len(body))]))[:2] == (400, "MALFORMED_BODY")
    broken = bytearray(body)
    broken[int(cut * len(body))] = 0
    assert problem(api.raw(bytes(broken)))[:2] == (400, "MALFORMED_BODY")
    assert api.stored() == NOTHING


def begun(api: Bulk, sent: int, size: int = BODY_MAX) -> socket.socket:
    """Start a request that sends a part of its body and waits."""
    connection = socket.create_connection(("127.0.0.1", api.service.port), timeout=30)
    head = (
        f"POST {ADDRESS} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {api.token(api.usual)}\r\n"
        f"content-type: application/json\r\ncontent-length: {size}\r\n\r\n"
    )
    connection.sendall(head.encode())
    connection.sendall(b'{"rows":[' + b" " * (sent - 9))
    return connection


def test_a_sender_that_goes_away_leaves_nothing(api: Bulk) -> None:
    senders = [begun(api, sent) for sent in (9, MIB // 2, 3 * MIB)]
    eventually(api, lambda: len(files(api)) == 3)  # each will be large
    for sender in senders:
        sender.close()
    eventually(api, lambda: files(api) == [])
    assert api.stored() == NOTHING
    accepted(api.send())


def test_a_tenant_sends_no_more_large_bodies_at_once_than_it_may_have_jobs(api: Bulk, served: Bulk) -> None:
    accepted(api.send())  # while another has not ended
    senders = [begun(api, 2 * MIB) for _ in range(3)]
    eventually(api, lambda: len(files(api)) == 3)
    answer = post(api, filled(10, 2 * MIB))
    assert problem(answer) == (429, "TOO_MANY_JOBS", None)
    assert answer.headers["retry-after"] == "5"
    accepted(api.send())  # a small body is known to fit for as long as it does
    accepted(post(served.of(f"t{next(served.numbers)}"), filled(10, 2 * MIB)))
    for sender in senders:
        sender.close()
    eventually(api, lambda: files(api) == [])
    accepted(post(api, filled(10, 2 * MIB)))


def test_a_repeat_of_a_large_body_is_answered_before_it_is_received(api: Bulk) -> None:
    body = filled(1000, 20 * MIB)
    headers = {"authorization": f"Bearer {api.token(api.usual)}", "idempotency-key": "large"}
    job_id = accepted(api.http.post(ADDRESS, content=body, headers=headers))
    for _ in range(3):  # over one connection: unread data is skipped
        assert accepted(api.http.post(ADDRESS, content=body, headers=headers), 200) == job_id
    assert api.stored()["import_jobs"] == 1


@pytest.mark.alone
def test_others_are_served_while_64_mib_arrive(api: Bulk) -> None:
    sender = begun(api, BODY_MAX - MIB)  # returns when all of it has been sent
    waits = []
    for _ in range(20):
        start = time.perf_counter()
        assert api.http.get("/health").status_code == 200
        waits.append(time.perf_counter() - start)
    assert sorted(waits)[10] < 0.5, waits
    sender.close()


# ---- what a test cannot wait for ------------------------------------------------------------------------------------


async def _no_room() -> None:
    """Pretend that there is always room."""


def scope(length: int) -> dict[str, Any]:
    return {"headers": [(b"content-length", str(length).encode())]}


async def test_a_body_that_does_not_arrive_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_SECONDS_MAX", 0.05)

    async def never() -> Any:
        await asyncio.Event().wait()

    async with SpooledBody() as body:
        with pytest.raises(Invalid) as refused:
            await body.read(scope(2 * MIB), never, _no_room)
    assert refused.value.code == "BODY_TOO_SLOW"


async def test_a_file_that_is_made_too_late_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up while a thread makes the file."""
    go, closed = threading.Event(), threading.Event()

    class Made:
        def __init__(self) -> None:
            assert go.wait(60)

        def close(self) -> None:
            closed.set()

    async def never() -> Any:
        raise AssertionError("there is no file yet")

    monkeypatch.setattr(spool, "_SECONDS_MAX", 0.05)
    monkeypatch.setattr(tempfile, "TemporaryFile", Made)
    async with SpooledBody() as body:
        with pytest.raises(Invalid, match="did not arrive"):
            await body.read(scope(2 * MIB), never, _no_room)
    go.set()
    assert await asyncio.to_thread(closed.wait, 60)


async def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> Any:
        raise OSError(28, "No space left on device")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * (2 * MIB), "more_body": False}

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    async with SpooledBody() as body:
        with pytest.raises(Unavailable) as refused:
            await body.read(scope(2 * MIB), receive, _no_room)
    assert refused.value.code == "NO_DISK_SPACE"


def test_rows_that_are_accepted_are_those_that_were_sent(api: Bulk) -> None:
    rows = articles(700, 'Käse \u2028 \U0001f9c0 \\ " \n')
    job_id = accepted(api.raw(json.dumps({"rows": rows}, indent=3, ensure_ascii=False).encode()))
    assert [json.loads(text) for text in api.received(job_id)] == rows

"""Misuse of connections: too much data, too little, or a different protocol."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from uvicorn.server import ServerState

from promenade.settings import Settings
from promenade.web.access.tls.peer import PeerConnection
from promenade.web.http.connection import Connection
from promenade.web.http.server_config import server_config
from tests.kit.examples import examples
from tests.web.conftest import ServedShop, Shop, basket
from tests.web.http.test_bounds import mebibytes, seconds

MEBIBYTE = 1024 * 1024


def talk(shop: ServedShop, parts: Iterator[bytes] | list[bytes]) -> bytes:
    """Send parts until the server closes the connection; return everything it answered."""
    with socket.create_connection(("127.0.0.1", shop.service.port), timeout=30) as line:
        try:
            for part in parts:
                line.sendall(part)
            line.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass
        answer = b""
        try:
            while part := line.recv(65536):
                answer += part
        except ConnectionError:
            pass
        return answer


def endless(start: bytes, part: bytes) -> Iterator[bytes]:
    yield start
    for _ in range(200):
        yield part


POST = b"POST /pos/v2/evaluate HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (POST + b"X: ", b"x" * MEBIBYTE),
        (POST, b"X: x\r\n" * (MEBIBYTE // 6)),
        (b"POST /", b"x" * MEBIBYTE),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n" * (MEBIBYTE // 6)),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x" * MEBIBYTE),
    ],
    ids=["a header", "headers", "an address", "trailers", "a trailer"],
)
def test_headers_without_end_are_cut_off(shop: ServedShop, start: bytes, part: bytes) -> None:
    pid = shop.service.pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # reset the peak
    used, held = seconds(pid), mebibytes(pid, "VmRSS")
    talk(shop, endless(start, part))
    assert seconds(pid) - used < 1
    assert mebibytes(pid, "VmHWM") - held < 16
    assert shop.http.get("/health").status_code == 200


def test_headers_over_64_kibibytes_get_an_error(shop: ServedShop) -> None:
    with socket.create_connection(("127.0.0.1", shop.service.port), timeout=30) as line:
        line.sendall(POST + b"X: ")
        assert shop.http.get("/health").status_code == 200  # by now the service has read the beginning
        line.sendall(b"x" * (64 * 1024 + 1))
        answer = b""
        while part := line.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"HEADERS_TOO_LARGE"' in answer


class Written(asyncio.Transport):
    """Keeps what a connection writes."""

    data = b""
    closed = False

    def write(self, data: Any) -> None:
        self.data += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % (b"x" * 140_000),
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (b"X: x\r\n" * 24_000),
        b"GET /health?%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"x" * 140_000),
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n%s\r\n" % (b"X: x\r\n" * 24_000),
    ],
    ids=["a header", "headers", "an address", "trailers"],
)
@pytest.mark.parametrize("kind", [Connection, PeerConnection])  # of the two listeners
async def test_140_kilobytes_in_one_read_are_refused_before_the_service_hears_of_them(
    kind: type[Connection], head: bytes
) -> None:
    """Reads may bring 256 KiB at once, so that a request is whole before anybody has counted reads."""
    asked: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])

    config = uvicorn.Config(app, http=kind, lifespan="off")
    config.load()
    line, transport = kind(config, ServerState(), {}), Written()
    line.connection_made(transport)
    line.data_received(head)
    await asyncio.sleep(0)
    answer, closed = transport.data, transport.closed
    line.connection_lost(None)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.count(b"HEADERS_TOO_LARGE") == 1
    assert closed
    assert asked == [] or head.startswith(b"POST")  # headers before trailers were in order


PIECES = st.one_of(
    st.sampled_from([
        b"GET / HTTP/1.1\r\n", POST, b"\r\n", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n",
        b"3\r\nabc\r\n", b"0\r\n", b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"CONNECT x:1 HTTP/1.1\r\n",
        b"Expect: 100-continue\r\n",
        b"X: " + b"x" * 40_000 + b"\r\n",
    ]),
    st.binary(max_size=50),
)  # fmt: skip


@settings(max_examples=examples(200))
@given(st.lists(PIECES, max_size=12), st.lists(st.integers(1, 400), max_size=8))
def test_whatever_comes_a_connection_answers_in_http_or_waits(pieces: list[bytes], reads: list[int]) -> None:
    """Bytes of any kind, in reads of any size, raise nothing and put nothing but answers on the line."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def talk_to_it() -> bytes:
        config = uvicorn.Config(app, http=Connection, lifespan="off")
        config.load()
        line, transport = Connection(config, ServerState(), {}), Written()
        line.connection_made(transport)
        left = b"".join(pieces)
        for size in [*reads, len(left)]:
            read, left = left[:size], left[size:]
            if read and not transport.closed:
                line.data_received(read)
                await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.sleep(0)
        line.connection_lost(None)
        return transport.data

    answer = asyncio.run(talk_to_it())
    assert not answer or answer.startswith(b"HTTP/1.1 ")


def test_long_headers_below_the_limit_are_accepted(shop: Shop) -> None:
    assert shop.call("/pos/v2/simulate", basket(), x_long="x" * 60_000).status_code == 200


@pytest.mark.parametrize("text", [b"hello\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"SELL / HTTP/1.1\r\n\r\n"])
def test_a_request_that_is_not_http_gets_an_error(shop: ServedShop, text: bytes) -> None:
    head, _, body = talk(shop, [text]).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert json.loads(body)["error"]["code"] == "MALFORMED_HTTP"


def request(shop: ServedShop, body: bytes, more: bytes = b"") -> bytes:
    return (
        POST
        + more
        + b"Content-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
        % (
            shop.token().encode(),
            len(body),
            body,
        )
    )


@pytest.mark.parametrize(
    "offer",
    [
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n",
        b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n",
    ],
)
@pytest.mark.parametrize("at", [None, -1, -30])
def test_an_offer_to_upgrade_the_protocol_is_ignored(shop: ServedShop, offer: bytes, at: int | None) -> None:
    """Java's HttpClient offers HTTP/2 in the first request on each connection, even a POST with a body."""
    body = json.dumps(basket(header={"headerReference": "offered"})).encode()
    whole = request(shop, body, offer)
    head = len(whole) - len(body)
    parts = [whole] if at is None else [whole[:head], whole[head:at], whole[at:]]
    with socket.create_connection(("127.0.0.1", shop.service.port), timeout=30) as line:
        for part in parts:
            line.sendall(part)
            assert shop.http.get("/health").status_code == 200  # by now the service has read this part
        line.sendall(request(shop, body.replace(b"offered", b"further")))
        answer = b""
        while b'"further"' not in answer:
            answer += line.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.index(b'"offered"') < answer.index(b'"further"')


def test_a_connection_is_kept_for_longer_than_those_before_it_keep_theirs() -> None:
    """Otherwise connections are sometimes closed during a request. Proxies usually keep them for a minute."""
    assert server_config(Settings(), object(), factory=False).timeout_keep_alive > 60


def test_the_connect_method_is_refused(shop: ServedShop) -> None:
    head, _, body = talk(shop, [b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"]).partition(
        b"\r\n\r\n"
    )
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "MALFORMED_HTTP"


def test_requests_sent_at_once_are_answered_in_order(shop: ServedShop) -> None:
    sent = [json.dumps(basket(header={"headerReference": f"pipelined-{n}"})).encode() for n in range(20)]
    with socket.create_connection(("127.0.0.1", shop.service.port), timeout=30) as line:
        line.sendall(b"".join(request(shop, body) for body in sent))
        answer = b""
        while answer.count(b'"headerReference"') < len(sent):
            answer += line.recv(65536)
    places = [answer.index(f'"pipelined-{n}"'.encode()) for n in range(20)]
    assert places == sorted(places)


def test_a_client_that_hangs_up_in_a_body_harms_nobody(shop: ServedShop) -> None:
    whole = request(shop, json.dumps(basket(header={"transactionId": "hung-up"})).encode())
    for end in (len(whole) - 1, len(whole) - 40, 60):
        talk(shop, [whole[:end]])
    answer = shop.call("/pos/v2/evaluate", basket(header={"transactionId": "hung-up"}))
    assert answer.json()["meta"]["header"]["transactionCounter"] == 1
    assert "Traceback" not in shop.service.output()


@pytest.mark.parametrize("named", [b"", b"Host: 127.0.0.1\r\nHost: evil.example\r\n"], ids=["none", "two"])
def test_a_request_names_one_host(shop: ServedShop, named: bytes) -> None:
    head, _, body = talk(shop, [b"GET /health HTTP/1.1\r\n" + named + b"Connection: close\r\n\r\n"]).partition(
        b"\r\n\r\n"
    )
    assert head.startswith(b"HTTP/1.1 400")
    assert b"MALFORMED_HTTP" in body


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 0\r\n\r\n",
        b"Content-Length: +4\r\n\r\nabcd",
        b"Content-Length: -1\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0;\nx\r\n\r\n",
        b"X: a\r\n Content-Length: 4\r\n\r\nabcd",
        b"X: a\0b\r\n\r\n",
    ],
)
def test_nobody_hides_a_request_in_the_body_of_another(shop: ServedShop, framing: bytes) -> None:
    hidden = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = talk(shop, [POST + framing + hidden])
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1 ") == 1, "the connection ends with it"
    assert b"MALFORMED_HTTP" in answer


def test_an_answer_to_what_is_no_request_is_protected_like_any_other(shop: ServedShop) -> None:
    head = talk(shop, [b"HELLO\r\n\r\n"]).partition(b"\r\n\r\n")[0].lower()
    assert b"x-content-type-options: nosniff" in head
    assert b"cache-control: no-store" in head
    assert b"frame-ancestors 'none'" in head

"""Attacks by strangers on the mutual-TLS listener, which neither tills nor the log should notice."""

from __future__ import annotations

import os
import signal
import socket
import time

import pytest

from tests.web.access.mtls.conftest import Issuer, OpenDoor
from tests.web.access.mtls.peers import Door

FROM_ONE_ADDRESS = 64
HANDSHAKE_SECONDS = 10


def line_to(door: Door) -> socket.socket:
    return socket.create_connection(("127.0.0.1", door.port), timeout=30)


def is_hung_up(line: socket.socket) -> bool:
    try:
        return line.recv(65536) == b""
    except ConnectionError:
        return True


def test_nonsense_ends_a_handshake_and_nothing_else(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    assert door.service is not None
    lines_before = len(door.output.splitlines())
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    for _ in range(30):
        for said in (b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 600, hello + b"x" * 600, b""):
            with line_to(door) as line:
                line.sendall(said)
                line.shutdown(socket.SHUT_WR)
                while not is_hung_up(line):
                    pass
    assert door.service.get("/health")[0] == 200
    assert door.status(erp) == 202
    printed = door.output.splitlines()[lines_before:]
    assert len(printed) <= 3, printed
    assert not any("Traceback" in one for one in printed)
    assert 'svc_drfout_certificate_refused_total{reason="handshake"} 1' in door.service.get("/metrics")[1]


@pytest.mark.alone
def test_handshakes_that_do_not_go_on_are_few_and_end(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    assert door.service is not None
    with door.keep(erp) as kept:
        assert kept.post()[0] == 202
        began = time.monotonic()
        silent = [line_to(door) for _ in range(2 * FROM_ONE_ADDRESS)]
        try:
            for line in silent[FROM_ONE_ADDRESS:]:  # the limit per address includes one connection of ours
                assert is_hung_up(line)
            assert time.monotonic() - began < HANDSHAKE_SECONDS
            assert kept.post()[0] == 202  # established connections are served
            assert door.service.get("/health")[0] == 200  # and so are tills
            for line in silent[:FROM_ONE_ADDRESS]:
                assert is_hung_up(line)
        finally:
            for line in silent:
                line.close()
        assert time.monotonic() - began < 3 * HANDSHAKE_SECONDS
        assert door.status(erp) == 202


def test_requests_in_flight_are_finished_when_the_service_ends(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    service = door.service
    assert service is not None
    body = b'{"MessageHeader": {"ID": "1"}, "ProductMerchandiseViewReplicationRequestMessage": []}'
    head = b"POST /api/v1/master-data/ProductMerchandiseViewReplicationBulkRequest HTTP/1.1\r\nHost: localhost\r\n"
    head += b"content-type: application/json\r\ncontent-length: %d\r\nexpect: 100-continue\r\n\r\n" % len(body)
    context = door.context(erp)
    with context.wrap_socket(line_to(door), server_hostname="127.0.0.1") as line, door.keep(erp) as idle:
        line.sendall(head)
        assert b"100 Continue" in line.recv(65536)  # the body is being read
        assert service.running
        os.kill(service.pid, signal.SIGTERM)
        assert is_hung_up(idle.line)
        line.sendall(body)
        answer = b""
        while part := line.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 ")
    assert b"connection: close" in answer.lower()
    assert service.stop() == 0
    assert "Traceback" not in service.output()


@pytest.mark.alone
def test_bounds_of_http_are_those_of_the_ordinary_listener(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    endless = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 500_000
    for said, status in ((endless, b"413"), (b"nonsense\r\n\r\n", b"400")):
        began = time.monotonic()
        with door.context(erp).wrap_socket(line_to(door), server_hostname="127.0.0.1") as line:
            try:
                line.sendall(said)
                answer = line.recv(65536)
            except OSError:  # the server hung up before everything was sent, which may lose the response
                answer = b"HTTP/1.1 413 "
        assert answer.startswith(b"HTTP/1.1 " + status + b" ")
        assert time.monotonic() - began < HANDSHAKE_SECONDS

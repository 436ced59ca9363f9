"""Invalid bodies: refused in time, within bounds, and without side effects."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
from collections.abc import Iterator

import pytest

from tests.web.conftest import ServedShop, Shop, basket, fault

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "MALFORMED_JSON"),
        (b"{", "MALFORMED_JSON"),
        (b"hello", "MALFORMED_JSON"),
        (b'{"request":{}} trailing', "MALFORMED_JSON"),
        (b'{"request":{"posGroupCode":"\xe4"}}', "NOT_UTF8"),
        (b'{"request":{"unknown":"\xff"}}', "NOT_UTF8"),
        (b'\xff\xfe{\x00"\x00', "NOT_UTF8"),
        (b'{"request":{"a":1,"a":2}}', "DUPLICATE_KEY"),
        (json.dumps(basket()).replace('"quantity"', '"quantity": 1, "quantity" ', 1).encode(), "DUPLICATE_KEY"),
        (json.dumps(basket()).replace('"quantity"', '"x": ":", "\\u0071uantity": 1, "quantity"', 1).encode(),
         "DUPLICATE_KEY"),
        (b'{"request":' * 70 + b"1" + b"}" * 70, "TOO_DEEP"),
        (b"[" * 200_000, "TOO_DEEP"),
        (b'{"a":' * 200_000, "TOO_DEEP"),
        (json.dumps(basket(unknown="x\x00y")).encode(), "NUL_CHARACTER"),
        (json.dumps(basket()).replace("BERLIN", "\\ud800").encode(), "MALFORMED_JSON"),
        (json.dumps(basket()).replace("BERLIN", "BER\tLIN").encode(), "MALFORMED_JSON"),
        (json.dumps(basket(unknown=float("nan"))).encode(), "MALFORMED_JSON"),
    ],
    ids=lambda value: value[:32].decode("latin-1") if isinstance(value, bytes) else value,
)  # fmt: skip
def test_invalid_json_is_refused(shop: Shop, body: bytes, code: str) -> None:
    answer = shop.call("/pos/v2/evaluate", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


def test_a_deep_value_that_is_ignored_is_refused_all_the_same(shop: Shop) -> None:
    deep = json.dumps(basket(unknown=1)).replace(": 1}}", ": " + "[" * 70 + "]" * 70 + "}}")
    assert fault(shop.call("/pos/v2/evaluate", deep))[1] == "TOO_DEEP"


@pytest.mark.parametrize("name", ['caf\u00e9 \u2615 "\\', ":", '":', "{[", "\U0001f6d2"])
def test_strings_that_look_like_json_are_strings(shop: Shop, name: str) -> None:
    for ascii_only in (True, False):
        body = json.dumps(basket(header={"headerReference": name}), ensure_ascii=ascii_only)
        answer = shop.call("/pos/v2/simulate", body.encode())
        assert answer.json()["meta"]["header"]["headerReference"] == name


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json"],
)
def test_other_media_types_are_refused(shop: Shop, content_type: str) -> None:
    answer = shop.call("/pos/v2/evaluate", basket(), content_type=content_type)
    assert fault(answer)[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=UTF-8",
        "application/json;odata.metadata=minimal;IEEE754Compatible=true",
        "APPLICATION/JSON",
    ],
)
def test_all_media_types_of_json_are_accepted(shop: Shop, content_type: str) -> None:
    assert shop.call("/pos/v2/simulate", basket(), content_type=content_type).status_code == 200


def test_compressed_bodies_are_never_inflated(shop: Shop) -> None:
    bomb = gzip.compress(b"0" * (20 * MEBIBYTE))
    answer = shop.call("/pos/v2/evaluate", bomb, content_encoding="gzip")
    assert fault(answer)[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_body_over_ten_mebibytes_is_too_large(shop: Shop) -> None:
    body = json.dumps(basket(unknown="x" * (10 * MEBIBYTE))).encode()
    assert fault(shop.call("/pos/v2/evaluate", body))[:2] == (413, "BODY_TOO_LARGE")


def test_a_body_just_below_the_limit_is_accepted(shop: Shop) -> None:
    body = json.dumps(basket(unknown="")).encode()
    body = body.replace(b'"unknown": ""', b'"unknown": "' + b"x" * (10 * MEBIBYTE - len(body)) + b'"')
    assert len(body) == 10 * MEBIBYTE
    assert shop.call("/pos/v2/simulate", body).status_code == 200


def test_a_body_without_a_length_is_counted_as_it_comes(shop: Shop) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(11):
            yield b" " * MEBIBYTE

    headers = {"authorization": f"Bearer {shop.token()}", "content-type": "application/json"}
    answer = shop.http.post("/pos/v2/evaluate", content=chunks(), headers=headers)
    assert fault(answer)[:2] == (413, "BODY_TOO_LARGE")


def test_a_body_that_never_ends_is_cut_off(shop: ServedShop) -> None:
    chunk = b"100000\r\n" + b" " * MEBIBYTE + b"\r\n"
    with socket.create_connection(("127.0.0.1", shop.service.port), timeout=30) as line:
        line.sendall(
            b"POST /pos/v2/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n" % shop.token().encode()
        )
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 200:
                line.sendall(chunk)
                sent += 1
    assert sent < 100


def test_a_declared_length_far_over_the_bound_is_refused_unread(shop: ServedShop) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", shop.service.port, timeout=30)
    connection.putrequest("POST", "/pos/v2/evaluate")
    connection.putheader("Authorization", f"Bearer {shop.token()}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert answer.getheader("connection") == "close"
    connection.close()


def test_the_credential_comes_before_the_body(shop: Shop) -> None:
    answer = shop.http.post("/pos/v2/evaluate", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 401


@pytest.mark.parametrize("verb", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_only_post_is_allowed_for_pricing(shop: Shop, verb: str) -> None:
    answer = shop.http.request(verb, "/pos/v2/evaluate", headers={"authorization": f"Bearer {shop.token()}"})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path",
    ["/odata/v4/admin/Promotions", "/odata/v4/pos/evaluate", "/pos-integration/Promotions", "/pos/Promotions",
     "/pos/v1/evaluate", "/pos/v2/evaluate/", "/index.html", "/ui", "/ui/"],
)  # fmt: skip
def test_unknown_addresses_are_not_found(shop: Shop, path: str) -> None:
    for answer in (shop.call(path), shop.call(path, basket())):
        assert fault(answer)[:2] == (404, "NOT_FOUND")

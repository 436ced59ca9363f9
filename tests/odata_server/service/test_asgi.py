"""The service as an ASGI application: URLs, bounded bodies, errors, and callers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from odata_server.http import Request
from tests.odata_server.bookshop import book
from tests.odata_server.service.shelves import Client


class Sent:
    """What an application sent."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""

    async def __call__(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]


async def call(
    client: Client, method: str, raw: str, *parts: bytes, headers: Mapping[str, str] | None = None, **scope: Any
) -> Sent:
    path, _, query = raw.partition("?")
    messages = [
        {"type": "http.request", "body": part, "more_body": at + 1 < len(parts)} for at, part in enumerate(parts)
    ] or [{"type": "http.request", "body": b"", "more_body": False}]
    arriving = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(arriving, {"type": "http.disconnect"})

    sent = Sent()
    whole = {
        "type": "http",
        "method": method,
        "path": path.replace("%20", " "),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        **scope,
    }
    await client.service(whole, receive, sent)
    return sent


async def test_requests_are_answered_below_the_root(reader: Client) -> None:
    for path in ("/shop", "/shop/"):
        sent = await call(reader, "GET", path)
        assert (sent.status, sent.headers["odata-version"]) == (200, "4.01")
        assert int(sent.headers["content-length"]) == len(sent.body)
    sent = await call(reader, "GET", f"/shop/Books({book(2)})?$select=title")
    assert json.loads(sent.body)["title"] == "Emma"
    plain = await call(reader, "GET", "/shop/Countries", raw_path=None)
    assert plain.status == 200
    escaped = await call(reader, "GET", "/shop/Countries", raw_path=b"/sh%6Fp/Countries")
    assert escaped.status == 200
    mounted = await call(reader, "GET", "/Countries", root_path="/shop")
    assert mounted.status == 200


async def test_head_is_get_without_its_body(reader: Client) -> None:
    got, head = await call(reader, "GET", "/shop/Countries"), await call(reader, "HEAD", "/shop/Countries")
    assert (head.status, head.body) == (200, b"")
    assert head.headers == got.headers
    assert (await call(reader, "HEAD", "/shop")).status == 200
    assert (await call(reader, "HEAD", f"/shop/Books({book(2)})")).headers["etag"] == 'W/"1"'


async def test_bodies_arrive_in_parts(shop: Client) -> None:
    body = json.dumps({"isbn": "1", "title": "New", "price": 1}).encode()
    sent = await call(shop, "POST", "/shop/Books", body[:10], body[10:])
    assert sent.status == 201
    assert sent.headers["location"].startswith("/shop/Books(")
    nothing = await call(shop, "DELETE", sent.headers["location"])
    assert (nothing.status, nothing.body, "content-length" in nothing.headers) == (204, b"", False)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("shop.example:8443", "https://shop.example:8443"),
        ("[::1]:80", "https://[::1]:80"),
        ("evil/path?", ""),
        ("", ""),
    ],
)
async def test_a_created_entity_has_the_base_url_that_the_client_used(shop: Client, host: str, origin: str) -> None:
    body = json.dumps({"isbn": "1", "title": "New", "price": 1}).encode()
    sent = await call(shop, "POST", "/shop/Books", body, headers={"host": host}, scheme="https")
    assert sent.headers["location"].startswith(f"{origin}/shop/Books(")


async def test_bodies_are_bounded(shop: Client) -> None:
    shop.hooks.body_bytes_max = 100
    for parts, headers in (
        ((b"x" * 101,), {}),
        ((b"x" * 60, b"x" * 60), {}),
        ((b"x" * 300, b"x" * 300, b"x" * 300), {}),
        ((b"x",), {"content-length": "9999999999999999999999999"}),
    ):
        sent = await call(shop, "POST", "/shop/Books", *parts, headers=headers)
        assert (sent.status, json.loads(sent.body)["error"]["code"]) == (413, "BODY_TOO_LARGE")
        assert sent.headers["connection"] == "close"


async def test_a_body_that_does_not_arrive_times_out(shop: Client) -> None:
    shop.hooks.body_seconds_max = 0.01

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    sent = Sent()
    scope = {"type": "http", "method": "POST", "path": "/shop/Books", "query_string": b"", "headers": []}
    await shop.service(scope, never, sent)
    assert (sent.status, json.loads(sent.body)["error"]["code"]) == (400, "BODY_TOO_SLOW")


async def test_a_disconnected_client_gets_no_response(shop: Client) -> None:
    sent = Sent()

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "POST", "path": "/shop/Books", "query_string": b"", "headers": []}
    await shop.service(scope, gone, sent)
    assert sent.status == 0


async def test_an_unknown_caller_gets_401_with_a_challenge(reader: Client) -> None:
    sent = await call(reader, "GET", "/shop/Books", headers={"authorization": "nobody"})
    assert (sent.status, sent.headers["www-authenticate"]) == (401, "Bearer")
    assert json.loads(sent.body)["error"]["code"] == "UNAUTHORIZED"


async def test_unexpected_errors_are_raised_to_the_host_except_in_a_batch(shop: Client) -> None:
    with pytest.raises(RuntimeError, match="on fire"):
        await call(shop, "POST", "/shop/crash")
    response = await shop.service.handle(Request("POST", "crash", in_batch=True), "me")
    assert response.status == 500
    assert b"fire" not in response.body
    assert json.loads(response.body)["error"]["code"] == "INTERNAL_ERROR"


async def test_a_change_set_raises_exceptions_through_its_unit(shop: Client) -> None:
    async def work(unit: Any) -> list[int]:
        done = [await shop.service.handle_in(unit, Request("GET", path, in_batch=True), "me") for path in ("", "Nix")]
        with pytest.raises(RuntimeError):
            await shop.service.handle_in(unit, Request("POST", "crash", in_batch=True), "me")
        return [response.status for response in done]

    assert await shop.source.transact("me", work, writes=True) == [200, 404]


async def test_batches_are_carried_out(shop: Client) -> None:
    requests = [
        {"id": "1", "method": "get", "url": f"Books({book(2)})/title"},
        {"id": "2", "method": "delete", "url": f"/shop/Books({book(8)})", "atomicityGroup": "a"},
    ]
    body = json.dumps({"requests": requests}).encode()
    sent = await call(shop, "POST", "/shop/$batch", body, headers={"content-type": "application/json"})
    assert sent.status == 200
    first, second = json.loads(sent.body)["responses"]
    assert (first["status"], first["body"]["value"]) == (200, "Emma")
    assert second["status"] == 204
    assert (await shop("GET", f"Books({book(8)})")).status == 404
    escaped = await call(shop, "POST", "/shop/%24batch", body, headers={"content-type": "application/json"})
    assert escaped.status == 200
    inner = await shop.service.handle(Request("POST", "$batch", body=body, in_batch=True), "me")
    assert json.loads(inner.body)["error"]["code"] == "NESTED_BATCH"

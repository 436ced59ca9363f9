"""Requests to the cloud: tokens are cached and renewed, answers are bounded, every failure is one clear error."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from promenade.errors import Invalid
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient, require_address
from promenade.workflows.uplink import CloudBusy, CloudRefused, CloudUnreachable, Uplink
from tests.kit.processes import free_port
from tests.kit.receiver import Answer, Behaviour, Close, Drip, Hang, Receiver, Redirect

JSON = {"content-type": "application/json"}


def token(value: str = "good", seconds: Any = 14_400) -> Answer:
    return Answer(
        200, JSON, json.dumps({"access_token": value, "token_type": "bearer", "expires_in": seconds}).encode()
    )


def said(body: object, status: int = 200) -> Answer:
    return Answer(status, JSON, json.dumps(body).encode())


@pytest.fixture
async def cloud() -> AsyncIterator[Receiver]:
    with Receiver() as receiver:
        receiver.answers("/oauth/token", token())
        receiver.answers("/x", said({"n": 1}))
        yield receiver


@pytest.fixture
async def client(cloud: Receiver) -> AsyncIterator[HttpCloudClient]:
    opened = HttpCloudClient(
        CloudAccess(cloud.url, cloud.url + "/", "store", "s3cr&t"), seconds_max=1.0, bytes_max=1_000_000
    )
    yield opened
    await opened.close()


async def test_a_token_is_requested_once_and_sent_with_every_request(cloud: Receiver, client: HttpCloudClient) -> None:
    assert await client.get("/x", {}) == {"n": 1}
    assert await client.post("/x", {"amount": Decimal("1.10")}, key="k") == {"n": 1}
    (asked,) = cloud.requests("/oauth/token")
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.body == b"grant_type=client_credentials&client_id=store&client_secret=s3cr%26t"
    first, second = cloud.requests("/x")
    assert first.headers["authorization"] == second.headers["authorization"] == "Bearer good"
    assert first.headers["accept-encoding"] == "gzip"
    assert json.loads(second.body) == {"amount": "1.10"}
    assert second.headers["idempotency-key"] == "k"
    assert "s3cr" not in repr(client.access)


async def test_a_token_is_renewed_shortly_before_it_expires(cloud: Receiver, client: HttpCloudClient) -> None:
    """A token without any validity is requested each time; the issuer states the lifetime."""
    cloud.answers("/oauth/token", token(seconds=0))
    for _ in range(3):
        await client.get("/x", {})
    assert len(cloud.requests("/oauth/token")) == 3


async def test_a_401_gets_one_new_token_and_one_repeat(cloud: Receiver, client: HttpCloudClient) -> None:
    await client.get("/x", {})
    cloud.answers("/oauth/token", token("newer"))
    cloud.answers("/x", said({}, 401), said({"n": 2}))
    assert await client.get("/x", {}) == {"n": 2}
    assert [one.headers["authorization"] for one in cloud.requests("/x")][-2:] == ["Bearer good", "Bearer newer"]
    cloud.answers("/x", said({"error": {"code": "UNAUTHORIZED", "message": "No."}}, 401))
    cloud.forget()
    with pytest.raises(CloudRefused) as refused:
        await client.get("/x", {})
    assert (refused.value.status, refused.value.code) == (401, "UNAUTHORIZED")
    assert len(cloud.requests("/x")) == 2


async def test_numbers_are_exact(cloud: Receiver, client: HttpCloudClient) -> None:
    cloud.answers("/x", Answer(200, JSON, b'{"a": 0.10, "b": 12345678901234567890.123, "c": "0.30", "d": 3}'))
    found = await client.get("/x", {})
    assert found == {"a": Decimal("0.10"), "b": Decimal("12345678901234567890.123"), "c": "0.30", "d": 3}
    assert str(found["a"]) == "0.10"


async def test_compressed_answers_are_decompressed(cloud: Receiver, client: HttpCloudClient) -> None:
    packed = gzip.compress(json.dumps({"a": "x" * 100_000}).encode())
    cloud.answers("/x", Answer(200, JSON | {"content-encoding": "gzip"}, packed))
    assert len((await client.get("/x", {}))["a"]) == 100_000


BOMB = gzip.compress(b'{"a": "' + b"x" * 2_000_000 + b'"}')


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, JSON, b"<html>"),
        Answer(200, JSON, b"[]"),
        Answer(200, JSON, b'{"a": 1' + b"0" * 500),
        Answer(200, JSON, b'{"a": "' + b"x" * 1_500_000 + b'"}'),
        Answer(200, JSON | {"content-encoding": "gzip"}, BOMB),
        Answer(200, JSON | {"content-encoding": "gzip"}, BOMB[:-20]),
        Answer(200, JSON | {"content-encoding": "gzip"}, b"not packed"),
        Answer(200, JSON | {"content-encoding": "br"}, b"{}"),
        Redirect("https://elsewhere.example/"),
        Answer(500),
        Answer(503),
        Answer(429),
        Hang(),
        Drip(),
        Drip(of="body"),
        Close(),
    ],
)
async def test_an_invalid_answer_counts_as_unreachable_and_can_be_retried(
    cloud: Receiver, client: HttpCloudClient, answer: Behaviour
) -> None:
    cloud.answers("/x", answer)
    with pytest.raises(CloudUnreachable, match="cannot be reached: "):
        await client.post("/x", {}, seconds=0.5)
    cloud.answers("/x", said({"n": 1}))
    assert await client.get("/x", {}) == {"n": 1}


async def test_a_refusal_carries_its_code_and_its_reason(cloud: Receiver, client: HttpCloudClient) -> None:
    cloud.answers("/x", said({"error": {"code": "DEPLOYMENT_NOT_FOUND", "message": "There\nis none."}}, 404))
    with pytest.raises(CloudRefused, match=r"refuses \(404\): There is none\.") as refused:
        await client.get("/x", {})
    assert (refused.value.status, refused.value.code) == (404, "DEPLOYMENT_NOT_FOUND")
    cloud.answers("/x", Answer(400, {}, b"what?"))
    with pytest.raises(CloudRefused, match="without a reason") as refused:
        await client.get("/x", {})
    assert (refused.value.status, refused.value.code) == (400, "CLOUD_REFUSED")


async def test_wrong_credentials_are_a_refusal(cloud: Receiver, client: HttpCloudClient) -> None:
    cloud.answers("/oauth/token", said({"error": "invalid_client", "error_description": "Unknown client."}, 401))
    with pytest.raises(CloudRefused, match="refuses this client: Unknown client") as refused:
        await client.get("/x", {})
    assert (refused.value.status, refused.value.code) == (401, "TOKEN_REFUSED")
    assert "s3cr" not in str(refused.value)
    assert not cloud.requests("/x")


@pytest.mark.parametrize(
    "answer", [said({}), said({"access_token": ""}), said({"access_token": "a\nb: c"}), Answer(502), Close()]
)
async def test_an_answer_without_a_token_counts_as_unreachable(
    cloud: Receiver, client: HttpCloudClient, answer: Behaviour
) -> None:
    cloud.answers("/oauth/token", answer)
    with pytest.raises(CloudUnreachable):
        await client.get("/x", {})


async def test_a_refused_connection_is_reported_as_unreachable() -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    client = HttpCloudClient(CloudAccess(nowhere, nowhere, "a", "b"))
    with pytest.raises(CloudUnreachable, match="no connection could be made"):
        await client.get("/x", {})
    await client.close()


@pytest.mark.parametrize(
    "address",
    ["http://cloud.example", "ftp://cloud.example", "cloud.example", "https://", "https://u:p@cloud.example",
     "https://cloud.example/?x=1", "https://cloud.example/#x", "https://[::1", "https://cloud.example:99999",
     "http://127.0.0.1.example"],
)  # fmt: skip
def test_only_safe_addresses_are_called(address: str) -> None:
    with pytest.raises(Invalid):
        require_address(address, "--url")


def test_loopback_addresses_may_be_called_over_plain_http() -> None:
    for address in ("http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:1", "https://cloud.example/base"):
        assert require_address(address + "/", "--url") == address
    assert CloudAccess("https://c", "https://i/oauth/token", "a", "b").token_url == "https://i/oauth/token"


async def test_a_busy_cloud_says_when_to_come_back_and_is_not_lost(cloud: Receiver) -> None:
    uplink = Uplink(is_connected=True)
    client = HttpCloudClient(CloudAccess(cloud.url, cloud.url, "store", "s"), lose=uplink.lose, seconds_max=1.0)
    for header, seconds in (("7", 7), ("99999", 300)):
        cloud.answers("/x", Answer(429, {**JSON, "retry-after": header}, b"{}"))
        with pytest.raises(CloudBusy) as busy:
            await client.post("/x", {})
        assert busy.value.seconds == seconds
    assert uplink.is_connected
    await client.close()


@pytest.mark.parametrize("answer", [Hang(), Close(), Answer(500, JSON, b"{}"), Answer(429, JSON, b"{}")])
async def test_a_call_that_fails_is_noted_at_once(cloud: Receiver, answer: Behaviour) -> None:
    """Tills of a store are not made to wait for a cloud that has just not answered."""
    uplink = Uplink(is_connected=True)
    client = HttpCloudClient(CloudAccess(cloud.url, cloud.url, "store", "s"), lose=uplink.lose, seconds_max=1.0)
    cloud.answers("/x", answer)
    with pytest.raises(CloudUnreachable):
        await client.post("/x", {}, seconds=0.2)
    assert not uplink.is_connected
    await client.close()


async def test_the_cloud_says_when_the_secret_is_due(cloud: Receiver, client: HttpCloudClient) -> None:
    for due_in, is_due in ((None, False), (3600, False), (0, True), ("soon", False), (True, False)):
        body = {"access_token": "good", "expires_in": 0} | ({} if due_in is None else {"secret_due_in": due_in})
        cloud.answers("/oauth/token", said(body))
        await client.token()
        assert client.is_secret_due is is_due, due_in


async def test_a_secret_is_replaced_where_tokens_are_requested(cloud: Receiver, client: HttpCloudClient) -> None:
    cloud.answers("/oauth/secret", said({"client_id": "store", "former_secret_expires_in": 86_400}))
    await client.replace_secret("s3cr&t", "n3xt&")
    (asked,) = cloud.requests("/oauth/secret")
    assert asked.body == b"client_id=store&client_secret=s3cr%26t&new_secret=n3xt%26"
    refusal = {"error": "invalid_client", "error_description": "The code was used."}
    cloud.answers("/oauth/secret", said(refusal, 401))
    with pytest.raises(CloudRefused) as refused:
        await client.replace_secret("s3cr&t", "n3xt&")
    assert (refused.value.status, refused.value.message) == (401, "The secret was not replaced: The code was used.")
    cloud.answers("/oauth/secret", said({}, 503))
    with pytest.raises(CloudUnreachable):
        await client.replace_secret("s3cr&t", "n3xt&")

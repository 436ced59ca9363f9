"""W4: only public addresses are called, checked when the connection is made; others only if the operator allows
them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import ip_address

import pytest

from promenade.workflows.authoring.allowed import Allowed, is_public
from promenade.workflows.authoring.callbacks import callback_fault
from promenade.workflows.webhooks.addresses import LOOK_UPS_MAX, Resolve, look_up
from promenade.workflows.webhooks.sending import AttemptResult, Sender
from tests.kit.receiver import Receiver
from tests.workflows.webhooks.post import roots

NOT_PUBLIC = "The callback URL does not lead to a public address."
NOW = datetime(2026, 3, 2, tzinfo=UTC)

PRIVATE = (
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
    *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1"),
    *("198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("168.63.129.16", "::", "::1", "::127.0.0.1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:8.8.8.8", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::1", "100::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    *("2001:db8::1", "2001:2::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1"),
    *("2001:0:808:808:0:0:80ff:fefe", "2001:0:7f00:1::f7f7:f7f7", "3fff::1", "5f00::1"),
    *("2600::5efe:127.0.0.1", "2600::200:5efe:10.0.0.1", "2600:1f18::1%eth0"),
)
PUBLIC = (
    *("8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "223.255.255.255", "100.63.0.1"),
    *("100.128.0.1", "2600:1f18::1", "2a00:1450:4001:800::200e", "64:ff9b::808:808", "2002:808:808::1"),
    "2001:0:808:808::f7f7:f7f7",
)


@pytest.mark.parametrize("address", PRIVATE)
def test_non_public_addresses_are_not_called(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_called(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("target", "opens", "leaves"),
    [
        ("127.0.0.1", ("127.0.0.1", 80), ("127.0.0.2", 80)),
        ("127.0.0.1:8080", ("127.0.0.1", 8080), ("127.0.0.1", 8081)),
        ("10.0.0.0/8", ("10.200.0.1", 443), ("11.0.0.1", 443)),
        ("[::1]:9000", ("::1", 9000), ("::1", 9001)),
        ("::1", ("::1", 443), ("::2", 443)),
        ("fd00::/8", ("fd12::1", 443), ("fe80::1", 443)),
        ("hooks.internal", ("hooks.internal", 8443), ("x.hooks.internal", 8443)),
        ("hooks.internal", ("HOOKS.internal.", 443), ("hooks.internal.example", 443)),
        ("hooks.internal:8443", ("hooks.internal", 8443), ("hooks.internal", 443)),
    ],
)
def test_the_operator_allows_exactly_the_named_addresses(
    target: str, opens: tuple[str, int], leaves: tuple[str, int]
) -> None:
    allowed = Allowed([target])
    assert allowed.names(*opens)
    assert not allowed.names(*leaves)


def resolving(*addresses: str) -> tuple[Resolve, list[str]]:
    """Return a resolver that gives one address after the other, repeating the last, and a list of its queries."""
    left, asked = list(addresses), list[str]()

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return [left.pop(0) if len(left) > 1 else left[0]]

    return resolve, asked


async def post(url: str, *targets: str, resolve: Resolve | None = None) -> AttemptResult:
    sender = Sender(Allowed(targets), roots(), resolve=resolve, seconds_max=3)
    try:
        return await sender.post(url, {"webhook-id": "1"}, b"{}", at=NOW)
    finally:
        await sender.close()


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0.0.1.", "0", "0.0.0.0"),
        *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1%25lo]"),
        *("localhost", "LOCALHOST", "localhost.", "10.0.0.1", "169.254.169.254", "[64:ff9b::7f00:1]"),
    ],
)
async def test_private_addresses_are_refused_however_they_are_spelled(host: str, receiver: Receiver) -> None:
    async def of_this_machine(name: str, port: int) -> Sequence[str]:
        if name.lower().startswith("localhost"):
            return ["::1", "127.0.0.1"]
        return [socket.inet_ntoa(socket.inet_aton(name.removesuffix(".")))]  # parses numbers as the resolver does

    attempted = await post(f"https://{host}:{receiver.port}/", resolve=of_this_machine)
    assert attempted in (AttemptResult(error=NOT_PUBLIC), AttemptResult(error="The callback URL cannot be read."))
    assert not receiver.requests()


_HERE = (
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0.0.1.", "0", "0.0.0.0"),
    *("[::1]", "[::ffff:127.0.0.1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1%25lo]"),
    *("localhost", "LOCALHOST", "localhost.", "shop.localhost", "10.0.0.1", "169.254.169.254", "[64:ff9b::7f00:1]"),
)


def test_an_address_that_no_delivery_may_go_to_is_refused_at_once_with_one_answer() -> None:
    faults = {callback_fault(f"https://{host}/hook", (), "callbackUrl") for host in _HERE}
    assert len(faults) == 1
    (fault,) = faults
    assert fault is not None
    assert fault.code == "ADDRESS_NOT_ALLOWED"
    for url in ("https://8.8.8.8/", "https://shop.example/", "https://deadbeef.example/", "https://[2606:4700::1111]/"):
        assert callback_fault(url, (), "callbackUrl") is None, url


def test_spellings_in_other_scripts_are_what_they_are_looked_up_as() -> None:
    for host in ("ⓛocalhost", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "10.0.0.1.", "LOCALHOST."):
        fault = callback_fault(f"https://{host}/", (), "callbackUrl")
        assert fault is not None, host
        assert fault.code == "ADDRESS_NOT_ALLOWED", host
    assert callback_fault("https://münchen.example/", (), "callbackUrl") is None


@pytest.mark.parametrize(
    "url",
    [
        *("https://10.0.0.1../", "https://localhost../", "https://%31%30.0.0.1/", "https://.a/", "https://a..b/"),
        *("https://[v1.x]/", f"https://{'a' * 300}/", f"https://{'a.' * 130}b/", "https://:@example.com/"),
        *("https://@example.com/", "https://\u0661\u0662\u0667.0.0.1/x", "https://a\u202eb.example/"),
    ],
)
def test_what_no_host_can_be_called_is_no_address(url: str) -> None:
    fault = callback_fault(url, (), "callbackUrl")
    assert fault is not None
    assert fault.code == "INVALID_URL"


def test_the_operator_may_allow_it() -> None:
    allowed = ("10.0.0.0/8", "localhost", "[::1]:8443")
    for host, is_open in (("10.1.2.3", True), ("11.1.2.3", True), ("192.168.0.1", False), ("localhost", True)):
        assert (callback_fault(f"https://{host}/", allowed, "callbackUrl") is None) is is_open, host
    for port, is_open in ((8443, True), (443, False)):
        assert (callback_fault(f"https://[::1]:{port}/", allowed, "callbackUrl") is None) is is_open


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/", "must be https"),
        ("ftp://example.com/", "must be an https address"),
        ("https://user:secret@example.com/", "without a user name"),
        ("https:///path", "must be an https address"),
        ("https://example.com:99999/", "port"),
        ("https://\uff11\uff12\uff17.0.0.1/", "cannot be read"),
        ("https://a b.example/", "resolved"),
        ("https://example.com/\r\nx-evil: 1", "cannot be read"),
        (f"https://{'a' * 64}.example/", "resolved"),
    ],
)
async def test_invalid_addresses_fail_with_a_reason(url: str, words: str) -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    attempted = await post(url, resolve=nowhere)
    assert attempted.error is not None
    assert words in attempted.error
    assert "secret" not in attempted.error


async def test_a_name_is_resolved_once_and_the_checked_address_is_called(receiver: Receiver) -> None:
    """DNS rebinding: a second look-up would return the receiver's address, which is private."""
    resolve, asked = resolving("192.0.2.1", "127.0.0.1")
    attempted = await post(f"https://rebind.example:{receiver.port}/", resolve=resolve)
    assert (attempted.error, asked) == (NOT_PUBLIC, ["rebind.example"])
    assert not receiver.requests()


async def test_the_connection_goes_to_the_address_that_was_checked(receiver: Receiver) -> None:
    resolve, asked = resolving("127.0.0.1", "192.0.2.1")
    attempted = await post(f"http://hooks.example:{receiver.port}/x?y=1", "hooks.example", resolve=resolve)
    assert (attempted.http_status, attempted.error, asked) == (200, None, ["hooks.example"])
    (request,) = receiver.requests()
    assert (request.path, request.headers["host"]) == ("/x?y=1", f"hooks.example:{receiver.port}")


async def test_plain_http_needs_the_host_to_be_named(receiver: Receiver) -> None:
    resolve, asked = resolving("127.0.0.1")
    attempted = await post(f"http://hooks.example:{receiver.port}/", "127.0.0.0/8", resolve=resolve)
    assert attempted.error is not None
    assert "https" in attempted.error
    assert not asked


async def test_names_are_resolved_by_the_system_resolver() -> None:
    found = [ip_address(one) for one in await look_up("localhost", 80)]
    assert found
    assert all(one.is_loopback for one in found)


async def test_w3_hanging_name_look_ups_delay_no_other_delivery(receiver: Receiver) -> None:
    """However many there are: a slow name server of one tenant must not delay another tenant."""
    never, full = asyncio.Event(), asyncio.Barrier(LOOK_UPS_MAX + 1)

    async def resolve(host: str, port: int) -> Sequence[str]:
        if host.startswith("slow"):
            await full.wait()
            await never.wait()
        return ["127.0.0.1"]

    sender = Sender(Allowed(["hooks.example"]), roots(), resolve=resolve, seconds_max=600)
    slow = [
        asyncio.create_task(sender.post(f"https://slow{number}.example/", {}, b"{}", at=NOW))
        for number in range(LOOK_UPS_MAX)
    ]
    try:
        await full.wait()
        async with asyncio.timeout(60):
            attempted = await sender.post(f"http://hooks.example:{receiver.port}/", {}, b"{}", at=NOW)
        assert attempted.http_status == 200
    finally:
        for one in slow:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        await sender.close()

"""One attempt over HTTP: limited in time and size, over verified TLS, with the reason of a failure."""

from __future__ import annotations

import ssl
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from promenade.workflows.authoring.allowed import Allowed
from promenade.workflows.webhooks.sending import AttemptResult, Sender, trusted_roots
from tests.kit.processes import free_port
from tests.kit.receiver import Answer, Behaviour, Close, Drip, Flood, Hang, Receiver
from tests.workflows.webhooks.post import roots

NOW = datetime(2026, 3, 2, tzinfo=UTC)
SECONDS_MAX = 2.0  # for receivers that do not answer
ENOUGH_SECONDS = 60.0  # for those that answer
FLOOD_SECONDS = 0.5  # of the processor


async def several(host: str, port: int) -> Sequence[str]:
    """Addresses of a host, of which only one accepts connections."""
    return ["10.0.0.1", "127.0.0.2", "::1", "127.0.0.1"]


async def attempts(
    url: str, number: int = 1, *, tls: ssl.SSLContext | None = None, seconds_max: float = ENOUGH_SECONDS
) -> list[AttemptResult]:
    sender = Sender(Allowed(["127.0.0.1"]), tls or roots(), resolve=several, seconds_max=seconds_max)
    try:
        return [await sender.post(url, {"webhook-id": "1"}, b'{"a": 1}', at=NOW) for _ in range(number)]
    finally:
        await sender.close()


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (Close(), "The receiver closed the connection, or its answer was not valid HTTP."),
        (
            Answer(200, {"x-long": "x" * 300_000}),
            "The receiver closed the connection, or its answer was not valid HTTP.",
        ),
        (Answer(301, {"location": "/elsewhere"}), "The receiver answered 301; redirects are not followed."),
        (Answer(404), "The receiver answered 404."),
        (Answer(200), None),
        (Answer(204), None),
        (Answer(200, body=b"x" * 10_000_000), None),
    ],
    ids=str,
)
async def test_a_failed_attempt_reports_its_reason(receiver: Receiver, behaviour: Behaviour, error: str | None) -> None:
    receiver.answers("/", behaviour)
    (attempted,) = await attempts(f"{receiver.url}/")
    assert attempted.error == error
    assert len(receiver.requests()) == 1


@pytest.mark.alone
@pytest.mark.parametrize("behaviour", [Hang(), Drip(of="headers")], ids=str)
async def test_an_attempt_ends_in_time(receiver: Receiver, behaviour: Behaviour) -> None:
    receiver.answers("/", behaviour)
    began = time.monotonic()
    (attempted,) = await attempts(f"{receiver.url}/", seconds_max=SECONDS_MAX)
    assert attempted.error == "There was no answer within 2 seconds."
    assert time.monotonic() - began < 2 * SECONDS_MAX
    assert len(receiver.requests()) == 1


async def test_an_answer_whose_body_never_ends_is_an_answer(receiver: Receiver) -> None:
    receiver.answers("/", Drip(of="body"))
    (attempted,) = await attempts(f"{receiver.url}/")
    assert (attempted.http_status, attempted.error) == (200, None)


@pytest.mark.alone
async def test_endless_interim_answers_cost_little(receiver: Receiver) -> None:
    """They arrive faster than they can be read: a client that keeps reading has no time for anything else."""
    receiver.answers("/", Flood())
    began = time.thread_time()
    (attempted,) = await attempts(f"{receiver.url}/")
    assert attempted.error == "The receiver closed the connection, or its answer was not valid HTTP."
    assert time.thread_time() - began < FLOOD_SECONDS


async def test_a_refused_connection_is_reported() -> None:
    (attempted,) = await attempts(f"http://127.0.0.1:{free_port()}/")
    assert attempted.error == "No connection could be made to the receiver."


async def test_a_connection_is_used_again(receiver: Receiver) -> None:
    receiver.answers("/", Answer(200, body=b"thanks"), Answer(500, body=b"sorry"), Answer(200))
    assert [one.http_status for one in await attempts(f"{receiver.url}/", 3)] == [200, 500, 200]
    assert len({request.connection for request in receiver.requests()}) == 1


async def test_cookies_are_not_kept(receiver: Receiver) -> None:
    receiver.answers("/", Answer(200, {"set-cookie": "a=b"}))
    await attempts(f"{receiver.url}/", 2)
    assert all("cookie" not in request.headers for request in receiver.requests())


async def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    assert [one.http_status for one in await attempts(f"{receiver.url}/")] == [200]


def certified(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Return a server's TLS context for hooks.example and 127.0.0.1, and the certificate that clients trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hooks.example")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("hooks.example"), x509.IPAddress(ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    trusted, secret = directory / "trusted.pem", directory / "key.pem"
    trusted.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(trusted, secret)
    return server, trusted


async def test_tls_is_verified_by_the_certificates_of_ssl_cert_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, trusted = certified(tmp_path)
    with Receiver(tls=server) as receiver:
        address = f"https://127.0.0.1:{receiver.port}/"
        (attempted,) = await attempts(address)
        assert attempted.error == "The receiver's certificate could not be verified."
        assert not receiver.requests()
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        tls = trusted_roots()
        assert [one.error for one in await attempts(address, tls=tls)] == [None]
        for host in ("hooks.example", "hooks.example."):
            assert [one.error for one in await attempts(f"https://{host}:{receiver.port}/", tls=tls)] == [None]
        (attempted,) = await attempts(f"https://other.example:{receiver.port}/", tls=tls)
        assert attempted.error == "The receiver's certificate could not be verified."

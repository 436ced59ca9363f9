"""PostgreSQL over TLS, as its URL says: every connection is encrypted, and the server is who it should be."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from sqlalchemy import text

from promenade.errors import Unavailable
from promenade.settings import Settings, SettingsError
from promenade.store.driver.connecting import connect
from promenade.store.driver.migrations import HEAD, current
from promenade.store.driver.session import open_database
from tests.kit.databases import Databases

SSL_REQUEST = bytes.fromhex("0000000804d2162f")
"""What a client sends before anything else if it wants TLS; the server answers with one letter."""


def certified(folder: Path, address: str) -> tuple[Path, Path]:
    """Write a key and a certificate of an address that certifies itself; return where they are."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
    at = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(at - timedelta(days=1))
        .not_valid_after(at + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    folder.mkdir()
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / "cert.pem").write_bytes(made.public_bytes(Encoding.PEM))
    return folder / "key.pem", folder / "cert.pem"


class Front:
    """TLS in front of a server that speaks none, as PostgreSQL begins it; connections are counted by what they ask for.

    It runs on the loop of the test.
    """

    def __init__(self, behind: str, key: Path, certificate: Path) -> None:
        self.certificate = certificate
        self.encrypted = self.plain = 0
        self._behind = urlsplit(behind)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._port = 0
        self._serving: set[asyncio.Task[None]] = set()

    def url(self, mode: str = "verify-full", certificate: Path | None = None, host: str = "127.0.0.1") -> str:
        trusted = certificate or self.certificate
        netloc = f"{self._behind.username}@{host}:{self._port}"
        return f"postgresql://{netloc}{self._behind.path}?sslmode={mode}&sslrootcert={trusted}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Front]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        async with server:
            yield self
            while self._serving:
                await asyncio.gather(*self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        with suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.readexactly(8)
            is_encrypted = first == SSL_REQUEST
            if is_encrypted:
                writer.write(b"S")
                await writer.start_tls(self._context)
                first = await reader.readexactly(8)  # a client that refuses the certificate sends none
            self.encrypted, self.plain = self.encrypted + is_encrypted, self.plain + (not is_encrypted)
            back, forth = await asyncio.open_connection(self._behind.hostname, self._behind.port)
            forth.write(first)
            await asyncio.gather(_pass_on(reader, forth), _pass_on(back, writer))
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self._serving.discard(task)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@pytest.fixture
async def front(databases: Databases, tmp_path: Path) -> AsyncIterator[Front]:
    behind = databases.create("postgresql")
    async with Front(behind, *certified(tmp_path / "own", "127.0.0.1")).open() as opened:
        yield opened
    databases.drop(behind)


async def ask(url: str) -> None:
    """Open a database and use both kinds of its connections."""
    database = await open_database(url)
    try:
        await database.read(lambda session: session.execute(text("SELECT 1")), system=True)
        await (await database._connect_bare()).close()  # type: ignore[attr-defined]
    finally:
        await database.close()


async def test_every_connection_is_encrypted(front: Front) -> None:
    Settings(database=front.url())
    assert await asyncio.to_thread(current, front.url()) == HEAD
    await ask(front.url())
    assert (front.encrypted, front.plain) == (3, 0), "of a command, of SQLAlchemy, and for hot statements"
    await ask(front.url("disable"))
    assert (front.encrypted, front.plain) == (3, 2)


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
async def test_a_certificate_of_a_stranger_is_refused(front: Front, tmp_path: Path, mode: str) -> None:
    _, strangers = certified(tmp_path / "other", "127.0.0.1")
    with pytest.raises(Unavailable):
        await ask(front.url(mode, strangers))
    with pytest.raises(ssl.SSLCertVerificationError):
        await connect(front.url(mode, strangers), timeout=60)
    assert (front.encrypted, front.plain) == (0, 0)


async def test_a_certificate_of_another_host_is_refused(front: Front) -> None:
    with pytest.raises(Unavailable):
        await ask(front.url(host="localhost"))
    await ask(front.url("verify-ca", host="localhost"))
    assert (front.encrypted, front.plain) == (2, 0)


@pytest.mark.parametrize("mode", ["require", "verify-full"])
async def test_a_server_without_tls_is_not_used(databases: Databases, front: Front, mode: str) -> None:
    url = databases.create("postgresql")
    with pytest.raises(Unavailable):
        await ask(f"{url}?{urlsplit(front.url(mode)).query}")
    databases.drop(url)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("sslmode=verify", "sslmode in --database-url must be one of disable, allow, prefer"),
        ("sslmode=verify-full&sslrootcert=/none", "sslrootcert in --database-url must be a file"),
        ("ssl=require", "has a parameter ssl"),
        ("sslmode=require&sslmode=off", "sslmode in --database-url must be one of"),
        ("prepared_statement_cache_size=0", "has a parameter prepared_statement_cache_size"),
    ],
)
def test_what_the_driver_could_not_use_is_refused_at_the_start(query: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Settings(database=f"postgresql://u@127.0.0.1/d?{query}")
    plain = "postgresql://u@127.0.0.1/d"
    with pytest.raises(SettingsError, match=words.replace("--database-url", "--reporting-database-url")):
        Settings(database=plain, reporting_database_url=f"{plain}?{query}")

"""End to end: clients with certificates, from the handshake to the articles in the database."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import requests
import zeep.exceptions

from promenade.store.driver.session import open_database
from promenade.workflows.access.certificate_authority import CertificateAuthority
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.access.trust import trust
from tests.kit.databases import DIALECTS, Databases
from tests.kit.processes import free_port
from tests.kit.service import Service
from tests.web.access.mtls.peers import until
from tests.web.conftest import run
from tests.web.imports.bulk.conftest import ask
from tests.web.imports.master_data.conftest import REST, SOAP, fault
from tests.web.imports.master_data.messages import ITEM, REQUEST, envelope, item, message, product
from tests.web.imports.master_data.test_description import Client, Transport, client_of

NAMES = {"erp": "acme", "elsewhere": "other"}


@dataclass
class Mutual:
    """A service with a mutual-TLS listener; ``files`` are the certificate and key of each common name."""

    service: Service
    url: str
    authority: str
    database_url: str
    files: Mapping[str, tuple[str, str]]

    def session(self, name: str | None = None) -> requests.Session:
        """Return a client, with or without a certificate."""
        session = requests.Session()
        session.trust_env = False
        session.verify = self.authority
        session.cert = None if name is None else self.files[name]
        return session

    def curl(self, name: str | None, path: str, *options: str, body: bytes = b"") -> httpx2.Response:
        """Send a request with curl and return the response."""
        pair = () if name is None else ("--cert", self.files[name][0], "--key", self.files[name][1])
        data = ("--data-binary", "@-") if body else ()
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--include", "--noproxy", "*", "--cacert", self.authority, *pair,
             *data, *options, f"{self.url}{path}"],
            input=body, capture_output=True, check=True, timeout=60,
        )  # fmt: skip
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        return httpx2.Response(int(status.split()[1]), headers=headers, content=content)

    def status(self, job_id: str, name: str = "erp") -> dict[str, Any]:
        """Return a job once it has ended."""
        session, found = self.session(name), {}

        def is_over() -> bool:
            answer = session.get(f"{self.url}/api/v1/jobs/{job_id}")
            assert answer.status_code == 200, answer.text
            found.update(answer.json())
            return found["status"] in {"SUCCEEDED", "FAILED"}

        until(is_over)
        return found

    def articles(self, tenant: str = "acme") -> list[tuple[Any, ...]]:
        columns = "article_number, name, ean, manufacturer, article_group_key, unit, source"
        return ask(
            self.database_url, f"SELECT {columns} FROM articles WHERE tenant_id = '{tenant}' ORDER BY article_number"
        )


async def furnish(database_url: str) -> None:
    """Create two tenants, each with a trusted certificate name."""
    database = await open_database(database_url)
    at = datetime.now(UTC)
    try:
        for name, tenant in NAMES.items():
            await create_tenant(database, tenant, settings={}, at=at, user="tests")
            await trust(database, name, tenant, overlap_days=0, at=at, user="tests")
    finally:
        await database.close()


@pytest.fixture(scope="module", params=DIALECTS)
def mutual(
    request: pytest.FixtureRequest, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mutual]:
    """Return a service that trusts two names, and an authority that has also signed a stranger's certificate."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    authority = CertificateAuthority(tmp_path_factory.mktemp("authority"), days=30, at=datetime.now(UTC))
    door = authority.open(("localhost", "127.0.0.1"))
    files = {}
    for name in (*NAMES, "stranger"):
        certificate, key = authority.issue(name)
        files[name] = (str(certificate), str(key))
    port = free_port()
    given = {option: str(path) for option, path in door.items()} | {"mtls-port": str(port)}
    options = [text for name, value in given.items() for text in (f"--{name}", value)]
    service = Service(logs / f"mutual-{request.param}.log", "--database-url", database_url, *options).start()
    yield Mutual(service, f"https://127.0.0.1:{port}", given["mtls-ca"], database_url, files)
    service.kill()
    databases.drop(database_url)


def test_messages_become_articles(mutual: Mutual) -> None:
    operation = described_at(mutual.service.url, mutual, "erp")
    items = [
        product("A-1", Description=[{"_value_1": "Milk"}], GTIN="4006381333931", Brand="Acme", ProductGroup="G-1",
                BaseUnitOfMeasure="PCE"),
        product("A-2", "03"),
        product(None, Name=[{"_value_1": "No number"}]),
        product("A-3", Name=[{"_value_1": "Käse"}]),
    ]  # fmt: skip
    assert operation(items, ID="m-1").status_code == 202
    assert operation(items, ID="m-1").status_code == 200
    assert operation(items[:1], ID="m-1").status_code == 409
    session = mutual.session("erp")
    sent = session.post(f"{mutual.url}{REST}", data=message(product("A-1", Name="Whole milk"), "m-2"))
    assert sent.status_code == 202
    job = mutual.status(sent.json()["jobId"])
    assert (job["status"], job["totalRows"], job["rowsSucceeded"], job["rowsFailed"]) == ("SUCCEEDED", 1, 1, 0)
    assert [row for row in mutual.articles() if row[0] in {"A-1", "A-2", "A-3"}] == [
        ("A-1", "Whole milk", "4006381333931", "Acme", "G-1", "PCE", "IMPORTED"),
        ("A-3", "Käse", None, None, None, "PCE", "IMPORTED"),
    ]
    ((job_id, kept),) = ask(
        mutual.database_url,
        "SELECT job_id, message_id FROM raw_payloads WHERE message_id = 'm-1' AND tenant_id = 'acme'",
    )
    job = mutual.status(job_id)
    assert (job["status"], job["totalRows"], job["rowsSucceeded"], job["rowsFailed"], job["rowsSkipped"]) == (
        *("SUCCEEDED", 4, 2, 1, 1),
    )
    ((number, wrong),) = ask(
        mutual.database_url, f"SELECT row_number, property FROM import_job_errors WHERE job_id = '{job_id}'"
    )
    assert (number, wrong, kept) == (3, "articleNumber", "m-1")
    assert mutual.session("elsewhere").get(f"{mutual.url}/api/v1/jobs/{job_id}").status_code == 404


def described_at(url: str, mutual: Mutual, name: str | None) -> Callable[..., Any]:
    """Return the operation from the description at ``url``, for the client ``name``."""
    return client_of(url, mutual.session(name))


def test_an_invalid_article_is_reported_as_a_failed_row(mutual: Mutual) -> None:
    items = [product("B-1", Name="a\0b"), product("x" * 51), product("B-2", GTIN="4" * 2000), product("B-3")]
    sent = mutual.session("erp").post(f"{mutual.url}{REST}", data=message(items, "wrong"))
    job = mutual.status(sent.json()["jobId"])
    assert (job["status"], job["rowsSucceeded"], job["rowsFailed"]) == ("SUCCEEDED", 1, 3)
    found = ask(
        mutual.database_url,
        f"SELECT row_number, property FROM import_job_errors WHERE job_id = '{job['jobId']}' ORDER BY row_number",
    )
    assert found == [(1, "name"), (2, "articleNumber"), (3, "ean")]


def test_each_certificate_writes_for_its_own_tenant(mutual: Mutual) -> None:
    for name, tenant in NAMES.items():
        operation = described_at(mutual.url, mutual, name)
        assert operation([product(f"of-{tenant}")], ID="of-two").status_code == 202
    for tenant in NAMES.values():
        until(lambda tenant=tenant: any(row[0] == f"of-{tenant}" for row in mutual.articles(tenant)))  # type: ignore[misc]
    assert not any(row[0] == "of-acme" for row in mutual.articles("other"))


def test_a_client_without_a_trusted_certificate_gets_a_fault(mutual: Mutual) -> None:
    body = envelope(item(), message_id="by-hand").encode()
    xml = ("--header", "Content-Type: text/xml")
    assert mutual.curl("erp", SOAP, *xml, body=body.replace(b"by-hand", b"by-curl")).status_code == 202
    assert fault(mutual.curl(None, SOAP, *xml, body=body))[:2] == (401, "Client")
    assert fault(mutual.curl("stranger", SOAP, *xml, body=body))[:2] == (403, "Client")
    forged = ("--header", "x-common-name: erp", "--header", "x-ssl-client-s-dn: CN=erp")
    assert fault(mutual.curl(None, SOAP, *xml, *forged, body=body))[:2] == (401, "Client")
    assert mutual.curl(None, f"{SOAP}?wsdl").status_code == 200
    ordinary = httpx2.post(
        f"{mutual.service.url}{SOAP}", content=body, headers={"content-type": "text/xml"}, timeout=60
    )
    assert fault(ordinary)[:2] == (401, "Client")
    assert httpx2.post(f"{mutual.service.url}{REST}", content=b"{}", timeout=60).json()["code"] == "UNAUTHORIZED"
    session = mutual.session("stranger")
    client = Client(f"{mutual.url}{SOAP}?wsdl", transport=Transport(session=session))
    with pytest.raises(zeep.exceptions.Fault, match="is not trusted here"):
        getattr(client.service, REQUEST)(MessageHeader={"ID": "m-2"}, **{ITEM: [product()]})


def test_a_message_by_hand_is_answered(mutual: Mutual) -> None:
    """Sent with the OpenSSL command line: bytes that no library has normalized."""
    body = envelope(item(), message_id="by-hand").encode()
    head = f"POST {SOAP} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nConnection: close\r\n"
    cert, key = mutual.files["erp"]
    done = subprocess.run(
        ["openssl", "s_client", "-quiet", "-no_ign_eof", "-connect", mutual.url.removeprefix("https://"), "-CAfile",
         mutual.authority, "-verify_return_error", "-cert", cert, "-key", key, "-ign_eof"],
        input=f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith(b"HTTP/1.1 202"), (done.stdout, done.stderr)
    assert done.stdout.endswith(b"<soap:Body/></soap:Envelope>")

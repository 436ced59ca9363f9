"""Administrators see which certificates, names, issuers and keys the service uses and trusts, and when each ends."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from promenade.model.access.tenants import SETTINGS_ID
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.web.access.issuer import TOKEN_SECONDS, generate_signing_key
from promenade.web.access.tls.files import TlsFiles, TlsMaterial
from promenade.web.access.tls.trust_shown import NAMES_MAX, Trust, Trusted
from promenade.workflows.access.certificate_authority import CertificateAuthority
from promenade.workflows.access.signing_keys import list_signing_keys, rotate_signing_key
from promenade.workflows.access.trust import distrust, trust
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import run
from tests.web.services.admin.conftest import OTHER, OWN, Admin, fault, furnish

ADDRESS = f"TenantSettings({SETTINGS_ID})/AdminService.certificates()"
AT = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
Names = Callable[[str, Sequence[str], datetime], None]


def _told(admin: Admin, client: str = "admin") -> list[dict[str, Any]]:
    answer = admin.get(ADDRESS, client=client)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["value"])


def _files(directory: Path, at: datetime, days: int = 365) -> TlsFiles:
    """Let an authority make what a listener for client certificates needs."""
    made = CertificateAuthority(directory, days=days, at=at).open(())
    return TlsFiles(*(made[f"mtls-{name}"] for name in ("cert", "key", "ca", "crl")))


def _fingerprint(path: Path) -> str:
    return x509.load_pem_x509_certificate(path.read_bytes()).fingerprint(hashes.SHA256()).hex(":").upper()


def _of_files(files: TlsFiles, url: str, at: datetime, tenant_id: str = OWN) -> list[Trusted]:
    """Tell what a service with these files trusts at a time."""
    material = TlsMaterial(files, lambda: at)
    material.load()
    return _of(Trust(None, material=lambda: material), url, at, tenant_id)


def _of(what: Trust, url: str, at: datetime, tenant_id: str = OWN) -> list[Trusted]:
    async def work() -> list[Trusted]:
        database = await open_database(url)
        try:
            return await what.told(database, tenant_id, at)
        finally:
            await database.close()

    found: list[Trusted] = run(work())
    return found


@pytest.fixture
def names(admin: Admin) -> Iterator[Names]:
    """Trust names for a tenant, each a second after the one before; nobody trusts them after the test."""
    known: list[str] = []

    async def each(change: Callable[[Database], Awaitable[None]]) -> None:
        database = await open_database(admin.database_url)
        try:
            await change(database)
        finally:
            await database.close()

    def add(tenant_id: str, added: Sequence[str], at: datetime) -> None:
        async def trusting(database: Database) -> None:
            for number, name in enumerate(added):
                since = at + timedelta(seconds=number)
                await trust(database, name, tenant_id, overlap_days=7, at=since, user="tests")

        known.extend(added)
        run(each(trusting))

    async def distrusting(database: Database) -> None:
        for name in known:
            await distrust(database, name)

    yield add
    run(each(distrusting))


def test_only_administrators_are_told(admin: Admin) -> None:
    for client in ("promoter", "treasurer", "integrator", "till"):
        assert fault(admin.get(ADDRESS, client=client))[:2] == (403, "MISSING_SCOPE"), client
    assert admin.post(ADDRESS).status_code == 405


def test_a_service_without_tls_tells_its_issuer_and_keys_alone(admin: Admin) -> None:
    issuer, *keys = _told(admin)
    assert (issuer["use"], issuer["name"], issuer["until"]) == ("OWN_ISSUER", admin.service.url, None)
    assert {one["use"] for one in keys} == {"SIGNING_KEY"}
    published = {one["kid"] for one in admin.http.get("/.well-known/jwks.json").json()["keys"]}
    assert {one["name"] for one in keys} == published
    assert all(one["since"] is not None and one["state"] == "VALID" for one in keys)
    assert "PRIVATE" not in admin.get(ADDRESS).text


def test_each_tenant_is_told_the_names_that_speak_for_it_alone(admin: Admin, names: Names) -> None:
    now = datetime.now(UTC)
    names(OWN, ["ended.acme"], now - 40 * DAY)
    names(OWN, ["former.acme"], now - 30 * DAY)
    names(OWN, ["erp.acme"], now - 2 * DAY)
    names(OTHER, ["erp.globex"], now - DAY)
    own = [one for one in _told(admin) if one["use"] == "CLIENT_NAME"]
    assert [(one["name"], one["state"]) for one in own] == [("erp.acme", "VALID"), ("former.acme", "EXPIRES_SOON")]
    assert own[0]["until"] is None
    assert own[1]["until"] is not None
    assert [one["name"] for one in _told(admin, "stranger") if one["use"] == "CLIENT_NAME"] == ["erp.globex"]
    assert "globex" not in admin.get(ADDRESS).text


def test_of_many_names_the_newest_are_told(admin: Admin, names: Names) -> None:
    made = [f"till-{number:03}" for number in range(NAMES_MAX + 5)]
    names(OWN, made, datetime.now(UTC) - DAY)
    told = [one["name"] for one in _told(admin) if one["use"] == "CLIENT_NAME"]
    assert told == made[:4:-1]


@pytest.mark.parametrize(
    ("age", "state"),
    [(0, "VALID"), (334, "VALID"), (335, "EXPIRES_SOON"), (364, "EXPIRES_SOON"), (365, "EXPIRED"), (400, "EXPIRED")],
)
def test_certificates_near_their_end_and_after_it_are_told_as_such(
    admin: Admin, tmp_path: Path, age: int, state: str
) -> None:
    files = _files(tmp_path, AT)
    server, authority, revoked = _of_files(files, admin.database_url, AT + age * DAY)
    assert (server.use, server.name, server.state) == ("SERVER_CERTIFICATE", "CN=Promenade", state)
    assert server.until == AT + 365 * DAY
    assert (authority.use, authority.state) == ("CLIENT_AUTHORITY", "VALID")  # for ten years
    assert (revoked.use, revoked.name, revoked.state) == ("REVOCATION_LIST", authority.name, state)
    assert (server.fingerprint, authority.fingerprint) == (_fingerprint(files.cert), _fingerprint(files.ca))


def test_an_authority_ends_too_and_weekly_lists_are_no_alarm(admin: Admin, tmp_path: Path) -> None:
    files = _files(tmp_path, AT, days=7)
    states = [[one.state for one in _of_files(files, admin.database_url, AT + age * DAY)] for age in (1, 6, 3640, 3651)]
    assert [one[2] for one in states] == ["VALID", "EXPIRES_SOON", "EXPIRED", "EXPIRED"]
    assert [one[1] for one in states] == ["VALID", "VALID", "EXPIRES_SOON", "EXPIRED"]


def test_an_authority_without_its_list_is_told(admin: Admin, tmp_path: Path) -> None:
    files = _files(tmp_path / "one", AT)
    shutil.copy(_files(tmp_path / "other", AT).crl, files.crl)
    revoked = _of_files(files, admin.database_url, AT)[2]
    assert (revoked.use, revoked.state, revoked.until) == ("REVOCATION_LIST", "MISSING", None)


def test_an_outside_issuer_is_told_by_its_address_and_no_key_of_ours(admin: Admin) -> None:
    told = _of(Trust("https://login.example"), admin.database_url, AT)
    assert told == [Trusted("OUTSIDE_ISSUER", "https://login.example")]


def test_a_key_that_no_longer_signs_is_told_until_its_tokens_end(databases: Databases) -> None:
    url = databases.create("sqlite")
    what = Trust("https://own.example", issues_tokens=True)
    life = timedelta(seconds=TOKEN_SECONDS)

    async def rotate() -> None:
        database = await open_database(url)
        try:
            for name, at in (("first", AT), ("second", AT + 30 * DAY)):
                await rotate_signing_key(database, generate_signing_key(name, at), token_seconds=TOKEN_SECONDS)
            assert len(await list_signing_keys(database, token_seconds=TOKEN_SECONDS, at=AT + 30 * DAY)) == 2
        finally:
            await database.close()

    try:
        run(rotate())
        told = [(one.name, one.since, one.until) for one in _of(what, url, AT + 30 * DAY)[1:]]
        assert told == [("second", AT + 30 * DAY, None), ("first", AT, AT + 30 * DAY + life)]
        assert [one.name for one in _of(what, url, AT + 31 * DAY)[1:]] == ["second"]
    finally:
        databases.drop(url)


def test_a_service_with_a_listener_tells_the_certificates_that_it_uses(databases: Databases, tmp_path: Path) -> None:
    files = _files(tmp_path, datetime.now(UTC) - 350 * DAY)
    url = databases.create("sqlite")
    run(furnish(url))
    options = {f"mtls_{name}": getattr(files, name) for name in ("cert", "key", "ca", "crl")}
    try:
        with InProcess(url, has_worker=False, mtls_port=0, **options) as service, service.client() as http:
            admin = Admin(service=service, database_url=url, http=http)
            told = {one["use"]: one for one in _told(admin)}
            assert told["SERVER_CERTIFICATE"]["state"] == "EXPIRES_SOON"
            assert told["CLIENT_AUTHORITY"]["name"].startswith("CN=Promenade authority ")
            assert told["SERVER_CERTIFICATE"]["fingerprint"] == _fingerprint(files.cert)
            for client in ("admin", "stranger"):
                assert str(tmp_path) not in admin.get(ADDRESS, client=client).text
    finally:
        databases.drop(url)

"""Private keys that are kept are encrypted where the operator has set a passphrase."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from promenade.cli import main
from promenade.settings import Settings, SettingsError
from promenade.web.access.tls.files import TlsFiles, TlsMaterial
from promenade.workflows.access.certificate_authority import CertificateAuthority
from tests.kit.in_process import InProcess
from tests.web.conftest import Shop, basket

PASSPHRASE = "correct horse battery staple"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def stored(url: str) -> list[str]:
    """The private keys in the database."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        return [row[0] for row in connection.execute("SELECT private_key FROM signing_keys ORDER BY created_at")]


def ask(client: httpx2.Client, shop: Shop) -> httpx2.Response:
    client_id, secret = shop.clients["till"]
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    return client.post("/oauth/token", data=form)


def test_keys_are_encrypted_from_the_first_token_and_read_with_the_passphrase_alone(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = shop.copied_database(tmp_path)
    plain = stored(url)

    def serving(passphrase: str | None) -> InProcess:
        return InProcess(url, has_worker=False, key_passphrase=passphrase)

    with serving(None) as service, service.client() as client:
        token = ask(client, shop).json()["access_token"]
    assert stored(url) == plain
    with serving(PASSPHRASE) as service, service.client() as client:
        sent: dict[str, Any] = {"json": basket(), "headers": {"authorization": f"Bearer {token}"}}
        assert client.post("/pos/v2/simulate", **sent).status_code == 200, "earlier tokens stay valid"
        assert ask(client, shop).status_code == 200
    (kept,) = stored(url)
    assert kept.startswith("-----BEGIN ENCRYPTED")
    assert load_pem_private_key(kept.encode(), PASSPHRASE.encode())

    for wrong in (None, "another passphrase"):
        with serving(wrong) as service, service.client() as client:
            answer = ask(client, shop)
            assert answer.status_code == 503
            assert "passphrase" not in answer.text, "what is inside is for the log"
            assert client.get("/health").json()["status"] == "UP"
    assert stored(url) == [kept], "nothing was replaced"

    monkeypatch.setenv("PROMENADE_KEY_PASSPHRASE", PASSPHRASE)
    with pytest.raises(SystemExit) as ended:
        main(["key", "rotate", "--database-url", url])
    assert not ended.value.code
    assert all(one.startswith("-----BEGIN ENCRYPTED") for one in stored(url))
    with serving(PASSPHRASE) as service, service.client() as client:
        assert ask(client, shop).status_code == 200

    monkeypatch.delenv("PROMENADE_KEY_PASSPHRASE")  # it is lost, as the page tells what to do then
    with pytest.raises(SystemExit) as ended:
        main(["key", "rotate", "--withdraw", "--database-url", url])
    assert not ended.value.code
    with serving(None) as service, service.client() as client:
        assert ask(client, shop).status_code == 200
        assert client.post("/pos/v2/simulate", **sent).status_code == 401


def test_the_keys_of_the_own_authority_are_encrypted_and_those_of_clients_are_theirs(tmp_path: Path) -> None:
    def opened(passphrase: str | None) -> TlsMaterial:
        authority = CertificateAuthority(tmp_path, days=30, at=NOW, passphrase=passphrase)
        made = authority.open(())
        authority.issue("erp")
        paths = {name: made[f"mtls-{name}"] for name in ("cert", "key", "ca", "crl")}
        material = TlsMaterial(TlsFiles(**paths, passphrase=passphrase), lambda: NOW)
        material.load()
        return material

    assert opened(PASSPHRASE).context is not None
    kept = {path.stem: path.read_text().startswith("-----BEGIN ENCRYPTED") for path in tmp_path.glob("*.key")}
    assert kept == {"ca": True, "server": True, "erp": False}
    assert opened(PASSPHRASE).context is not None, "it issues again"
    files = {name: tmp_path / f"{file}" for name, file in (("cert", "server.pem"), ("key", "server.key"))}
    for wrong in (None, "another passphrase"):
        with pytest.raises(SettingsError, match="--key-passphrase is missing or wrong"):
            TlsMaterial(
                TlsFiles(**files, ca=tmp_path / "ca.pem", crl=tmp_path / "ca.crl", passphrase=wrong), lambda: NOW
            ).load()


def test_a_passphrase_is_not_shown_and_not_short() -> None:
    assert PASSPHRASE not in repr(Settings(key_passphrase=PASSPHRASE))
    with pytest.raises(SettingsError, match="at least 16 characters"):
        Settings(key_passphrase="short")

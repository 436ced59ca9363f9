"""A store and its commands: passwords reset and forgotten, and processes that must not run together."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.kit.service import COMMAND, promenade
from tests.web.replica.local_store.conftest import PASSWORD, Store, start_store
from tests.web.replica.local_store.test_administrator import refusal

NEW = "nouveau mot de passe é"


@pytest.fixture
def own(logs: Path, tmp_path: Path) -> Iterator[Store]:
    """Start a store for one test, without a password."""
    store = start_store(tmp_path / "store", logs)
    yield store
    store.close()


def attempt(*arguments: str, stdin: bytes = b"") -> tuple[int, str]:
    done = subprocess.run([COMMAND, *arguments], input=stdin, capture_output=True, check=False, timeout=60)
    return done.returncode, done.stderr.decode().strip()


def test_a_store_from_its_first_start_to_a_lost_password(own: Store, logs: Path) -> None:
    browser = own.browser(logged_in=False)
    assert browser.log_in().json() == {"redirect": "/local-admin/setup"}
    for body, code, target in (
        ({"password": "1234567", "confirmPassword": "1234567"}, "PASSWORD_TOO_SHORT", "password"),
        ({"password": PASSWORD, "confirmPassword": PASSWORD + "!"}, "PASSWORD_MISMATCH", "confirmPassword"),
        ({"password": PASSWORD}, "VALIDATION_FAILED", "confirmPassword"),
    ):
        answer = browser.post("setup", body)
        assert (*refusal(answer), answer.json()["error"]["target"]) == (400, code, target)
    assert browser.post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD}).json() == {"success": True}
    assert refusal(browser.http.get("/admin/Promotions")) == (401, "UNAUTHORIZED"), "setup logs nobody in"
    assert browser.log_in().json() == {"success": True}
    key, instance = browser.api_key(), _instance(own, browser.api_key())
    guessing = own.browser("127.0.0.2", logged_in=False)
    assert [guessing.log_in("wrong guess").status_code for _ in range(6)] == [401] * 5 + [429]

    # The machine's operator sets another password while the store runs.
    data = ("--data-dir", str(own.directory))
    assert "sessions" in promenade("local-admin", "reset-password", "--password-stdin", *data, stdin=f"{NEW}\r\n")
    assert refusal(browser.http.get("/admin/Promotions")) == (401, "UNAUTHORIZED")
    assert refusal(browser.post("getApiKey", {})) == (401, "UNAUTHORIZED")
    assert refusal(browser.log_in(PASSWORD)) == (401, "UNAUTHORIZED")
    assert guessing.log_in(NEW).json() == {"success": True}, "what was guessed was another password"
    assert browser.log_in(NEW).json() == {"success": True}

    # After a kill and a restart it has the same identity; on request it forgets the password.
    own.service.kill()
    environment = {"PROMENADE_RESET_ADMIN_PASSWORD": "1"}
    again = start_store(own.directory, logs, "--public-url", "https://store.example", **environment)
    try:
        browser = again.browser(logged_in=False)
        assert browser.log_in(NEW).json() == {"redirect": "/local-admin/setup"}
        assert _instance(again, key) == instance
        assert browser.post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD}).json() == {"success": True}
        answer = browser.post("login", {"password": PASSWORD}, origin="https://store.example")
        assert answer.headers["set-cookie"].startswith("__Host-promenade_session=")
        assert answer.headers["set-cookie"].endswith("; SameSite=Strict; Secure")
        assert "password_forgotten" in again.service.output()
        assert "event=local_admin.signed_in logger=promenade.web address=127.0.0.1" in own.service.output()
        assert "event=local_admin.wrong_password logger=promenade.web address=127.0.0.2" in own.service.output()
        assert key not in again.service.output() + own.service.output()
    finally:
        again.close()

    # It is neither a cloud nor another tenant's store.
    assert attempt("serve", "--port", "0", *data) == (
        2,
        "promenade: This is a store's database: start it with --edition local-store.",
    )
    other = attempt("serve", "--port", "0", "--edition", "local-store", "--tenant", "acme", *data)
    assert other == (2, "promenade: This is the store of tenant local: start it with --tenant local.")


def _instance(store: Store, key: str) -> str:
    """Return meta.instanceId as a till sees it."""
    with store.till(key) as till:
        basket = {"posGroupCode": "NONE", "items": [{"articleNumber": "A-1", "quantity": 1, "unitPrice": 1}]}
        assert refusal(till.post("/pos/v2/simulate", json={"request": basket})) == (400, "POS_GROUP_NOT_FOUND")
    with closing(sqlite3.connect(store.database)) as database:
        ((instance,),) = database.execute("SELECT instance_id FROM local_store").fetchall()
    return str(instance)


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"short\n", "at least 8 characters"),
        (b"", "at least 8 characters"),
        (b"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\n", "UTF-8"),
        (b"x" * 100_000, "at most 1024 bytes"),
    ],
)
def test_an_invalid_password_is_refused_in_one_clear_line(tmp_path: Path, stdin: bytes, words: str) -> None:
    code, line = attempt("local-admin", "reset-password", "--password-stdin", "--data-dir", str(tmp_path), stdin=stdin)
    assert code == 2
    assert words in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "2"), "a store is one process"),
        (("--tenant", ""), "1 to 36 characters"),
        (("--tenant", "x" * 37), "1 to 36 characters"),
        (("--database-url", "postgresql://localhost/x"), "keeps its data in SQLite"),
        (("--jwks-url", "https://issuer.example/keys", "--issuer", "x"), "--jwks-url is for the cloud"),
    ],
)
def test_an_impossible_store_is_refused_in_one_clear_line(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    code, line = attempt("serve", "--edition", "local-store", "--data-dir", str(tmp_path), "--port", "0", *options)
    assert code == 2
    assert words in line
    assert "\n" not in line

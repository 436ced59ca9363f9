"""`promenade sync-link`: what operators set, see and test; the secret is never shown."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from promenade.cli import main
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.local_admin import establish_store
from tests.kit.processes import free_port
from tests.web.replica.link.chain import Branch, Cloud, columns, soon, with_database
from tests.workflows.shop import NOON

SECRET = "pssst-do-not-tell"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Make a database, and return a function that runs `promenade sync-link` and tells its exit code and output."""

    upgrade(f"sqlite:///{tmp_path / 'promenade.db'}")

    def call(*arguments: str, directory: Path, stdin: str = "", **environment: str) -> tuple[int, str, str]:
        for name, value in environment.items():
            monkeypatch.setenv(f"PROMENADE_{name}", value)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main(["sync-link", *arguments, "--data-dir", str(directory)])
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return call


NEEDED = ("--url", "https://cloud.example/", "--client-id", "store-1", "--store-code", "S1")


def shown(run: Run, directory: Path) -> dict[str, Any]:
    code, out, _ = run("show", "--json", directory=directory)
    assert code == 0
    told: dict[str, Any] = json.loads(out)
    return told


def test_a_link_is_set_and_shown_without_its_secret(run: Run, tmp_path: Path) -> None:
    assert shown(run, tmp_path)["state"] == "NOT_CONFIGURED"
    code, out, err = run("set", *NEEDED, "--client-secret-stdin", directory=tmp_path, stdin=SECRET + "\n")
    assert (code, err) == (0, "")
    told = shown(run, tmp_path)
    assert told == {
        "state": "WAITING", "url": "https://cloud.example/", "authUrl": "https://cloud.example/",
        "clientId": "store-1", "storeCode": "S1", "storeName": None, "posGroupCode": None, "intervalSeconds": 60,
        "deploymentId": None, "instanceId": None, "tenantId": None, "lastSyncAt": None, "lastAttemptAt": None,
        "lastError": None, "pending": 0, "rejected": 0, "rejectedUploads": [],
    }  # fmt: skip
    _, text, _ = run("show", directory=tmp_path)
    assert "storeCode" in text
    assert "S1" in text
    for output in (out, text, json.dumps(told)):
        assert SECRET not in output


def test_a_code_takes_the_place_of_the_secret_and_is_not_shown(run: Run, tmp_path: Path) -> None:
    code, out, err = run("set", *NEEDED, "--enrolment-code", SECRET, directory=tmp_path)
    assert (code, err) == (0, "")
    assert SECRET not in out + run("show", directory=tmp_path)[1]
    ((present, following),) = columns(
        tmp_path / "promenade.db", "SELECT client_secret, next_secret FROM sync_link"
    )  # fmt: skip
    assert (present, len(following)) == (SECRET, 43)
    code, _, err = run("set", "--enrolment-code", "other", "--client-secret", SECRET, directory=tmp_path)
    assert code == 2
    assert "not both" in err


def test_the_issuer_follows_the_cloud_url_unless_it_is_separate(run: Run, tmp_path: Path) -> None:
    run("set", *NEEDED, directory=tmp_path, CLIENT_SECRET=SECRET)
    run("set", "--url", "https://new.example", directory=tmp_path)
    assert shown(run, tmp_path)["authUrl"] == "https://new.example"
    run("set", "--auth-url", "https://login.example", directory=tmp_path)
    run("set", "--url", "https://newer.example", directory=tmp_path)
    told = shown(run, tmp_path)
    assert (told["url"], told["authUrl"]) == ("https://newer.example", "https://login.example")


def test_the_sync_link_commands_refuse_the_database_of_a_cloud(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["tenant", "create", "acme", "--data-dir", str(tmp_path)])
    capsys.readouterr()
    for arguments in (("show",), ("set", *NEEDED, "--client-secret", SECRET), ("retry",)):
        code, out, err = run(*arguments, directory=tmp_path)
        assert (code, out) == (2, "")
        assert "store" in err


def test_options_that_are_not_named_keep_their_values(run: Run, tmp_path: Path) -> None:
    run("set", *NEEDED, directory=tmp_path, CLIENT_SECRET=SECRET)
    code, _, _ = run("set", "--interval", "5", "--name", "Corner shop", directory=tmp_path)
    assert code == 0
    told = shown(run, tmp_path)
    assert (told["intervalSeconds"], told["storeName"], told["storeCode"]) == (5, "Corner shop", "S1")


def own_store(directory: Path) -> str:
    """Make the database of a store that has two articles and a group of its own; return its URL."""
    url = f"sqlite:///{directory / 'promenade.db'}"
    upgrade(url)

    async def fill(database: Database) -> None:
        await establish_store(database, "local", instance_id="store-1", api_key="0" * 64, at=NOON)

        async def work(session: Session) -> None:
            stamps = {"tenant_id": "local", "created_at": NOON, "modified_at": NOON}
            for number in (1, 2):
                row = {"id": f"a{number}", "article_number": f"A-{number}", "name": "Own", **stamps}
                await session.rowcount(insert(table("Articles")), row)
            await session.rowcount(insert(table("ArticleGroups")), {"id": "g", "group_id": "G", "name": "G", **stamps})

        await database.write(work, system=True)

    with_database(url, fill)
    return url


def test_a_store_with_data_of_its_own_is_asked_and_can_go_back(run: Run, tmp_path: Path) -> None:
    own_store(tmp_path)
    code, out, err = run("set", *NEEDED, directory=tmp_path, CLIENT_SECRET=SECRET)
    assert (code, out) == (2, "")
    assert "1 of ArticleGroups, 2 of Articles" in err
    assert "--yes" in err
    assert shown(run, tmp_path)["state"] == "NOT_CONFIGURED"
    assert list(tmp_path.glob("*before-link*")) == []
    code, out, err = run("set", *NEEDED, "--yes", directory=tmp_path)
    assert code == 0
    assert "2 of Articles" in err
    (copy,) = tmp_path.glob("*before-link*")
    assert str(copy) in out
    assert copy.stat().st_mode & 0o777 == 0o600
    assert columns(copy, "SELECT count(*) FROM articles") == [(2,)]
    assert columns(copy, "SELECT count(*) FROM sync_link") == [(0,)]
    # The same store of the same cloud goes on with what it has; another one does not.
    assert run("set", "--interval", "5", directory=tmp_path)[0] == 0
    assert run("set", "--store-code", "S2", directory=tmp_path)[0] == 2
    assert shown(run, tmp_path)["storeCode"] == "S1"
    copy.replace(tmp_path / "promenade.db")
    assert shown(run, tmp_path)["state"] == "NOT_CONFIGURED"


def test_a_copy_that_cannot_be_made_leaves_the_store_as_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_store(tmp_path)

    def full(self: Path, mode: int = 0o666, exist_ok: bool = True) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "touch", full)
    code, _, err = run("set", *NEEDED, "--yes", directory=tmp_path, CLIENT_SECRET=SECRET)
    assert code == 1
    assert "No space left" in err
    assert shown(run, tmp_path)["state"] == "NOT_CONFIGURED"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--client-id", "a"), "--url"),
        (("--url", "https://c", "--client-id", "a", "--client-secret", "s"), "--store-code"),
        (("--url", "http://cloud.example"), "--url"),
        (("--url", "https://c", "--auth-url", "nonsense"), "--auth-url"),
        (("--store-code", "x" * 51), "--store-code"),
        (("--store-code", ""), "--store-code"),
        (("--pos-group-code", "a\nb"), "--pos-group-code"),
        (("--interval", "0"), "--interval"),
        (("--client-secret", "a", "--client-secret-stdin"), "--client-secret"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_option(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    code, out, err = run("set", *arguments, directory=tmp_path, stdin="\n")
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1
    assert shown(run, tmp_path)["state"] == "NOT_CONFIGURED"


def test_the_test_command_reports_what_is_wrong(run: Run, tmp_path: Path) -> None:
    code, _, err = run("test", directory=tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "sync-link set" in err
    nowhere = f"http://127.0.0.1:{free_port()}"
    run("set", *NEEDED, "--url", nowhere, "--client-secret", SECRET, directory=tmp_path)
    code, _, err = run("test", directory=tmp_path)
    assert (code, err.count("\n")) == (1, 1)
    assert "no connection could be made" in err
    code, _, err = run("retry", directory=tmp_path)
    assert (code, err.count("\n")) == (2, 1)


def test_the_test_command_checks_a_link_against_a_real_cloud(run: Run, cloud: Cloud, store: Branch) -> None:
    client_id, secret = cloud.clients["store"]
    at = ("set", "--url", cloud.url, "--client-id", client_id, "--store-code", "S9", "--client-secret")
    run(*at, "wrong", directory=store.directory)
    code, _, err = run("test", directory=store.directory)
    assert (code, err.count("\n")) == (2, 1)
    assert "refuses this client" in err
    soon(lambda: "refuses this client" in (store.shown()["lastError"] or ""))
    run(*at, secret, directory=store.directory)
    code, out, _ = run("test", directory=store.directory)
    assert code == 0
    (known,) = [one for one in cloud.read("LocalDeployments") if one["storeCode"] == "S9"]
    assert known["ID"] in out
    # The running store has picked up the new secret by itself.
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    code, out, _ = run("retry", directory=store.directory)
    assert (code, out) == (0, "Nothing was refused.\n")

"""`promenade person`: the operator invites the first administrator and helps everybody back in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from promenade.cli import main
from tests.kit.databases import Databases
from tests.kit.tenants import make_tenants


@pytest.fixture(scope="module")
def database_url(databases: Databases) -> Iterator[str]:
    url = databases.create("sqlite")
    make_tenants(url, "acme")
    yield url
    databases.drop(url)


def test_people_are_invited_listed_changed_and_reset(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["person", *arguments, "--tenant", "acme", "--database-url", database_url])
        printed = capsys.readouterr()
        assert not ended.value.code, printed.err
        return printed.out

    def rosa() -> dict[str, Any]:
        (found,) = json.loads(run("list", "--json"))
        return dict(found)

    made = json.loads(run("invite", "Rosa", "--scope", "svc.Admin", "--back-office", "https://shop.example/", "--json"))
    assert made["link"].startswith("https://shop.example/oauth/invitation?secret=")
    assert (rosa()["userName"], rosa()["scopes"], rosa()["isActive"]) == ("rosa", "svc.Admin", True)
    assert made["link"].partition("=")[2] not in json.dumps(rosa())
    run("scopes", "rosa", "--scope", "svc.PromotionManager", "--scope", "svc.POSReader")
    assert rosa()["scopes"] == "svc.PromotionManager svc.POSReader"
    run("deactivate", "rosa")
    assert rosa()["isActive"] is False
    run("activate", "rosa")
    assert rosa()["isActive"] is True
    link = run("reset", "rosa")
    assert "/oauth/invitation?secret=" in link
    assert link.splitlines()[0] != made["link"]

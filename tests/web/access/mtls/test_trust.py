"""The tenants a certificate's name may act for: checked on every request, changed by command at run time."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from promenade.cli import main
from tests.kit.databases import Databases
from tests.kit.moved_clock import MovedClock
from tests.web.access.mtls.conftest import TENANT, Issuer, OpenDoor, make_trusting_tenant
from tests.web.access.mtls.openssl import Identity
from tests.web.access.mtls.peers import Door, until
from tests.web.conftest import run

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def trusting(databases: Databases) -> Any:
    """Return the URL of a database with the tenants acme, which trusts erp, and globex."""
    url = databases.create("sqlite")
    run(make_trusting_tenant(url, ["erp"]))
    run(make_trusting_tenant(url, [], "globex"))
    yield url
    databases.drop(url)


@pytest.fixture
def command(trusting: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs `promenade trust ...` in this process: exit code and output, including errors."""
    monkeypatch.setenv("PROMENADE_DATABASE_URL", trusting)  # unless a test sets another

    def carry_out(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["trust", *arguments])
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out + printed.err

    return carry_out


def test_a_name_is_swapped_for_another_within_seven_days(
    issuer: Issuer,
    open_door: OpenDoor,
    command: Command,
    tmp_path: Path,
    dialect: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are trusted for a week, then only the new one, on connections that stayed open throughout."""
    clock = MovedClock(tmp_path / "clock")
    door, old, new = issuer.door(), issuer.issue("erp-2025"), issuer.issue("erp-2026")
    url = open_door(door, ["erp-2025"], dialect=dialect, clock_file=tmp_path / "clock")
    monkeypatch.setenv("PROMENADE_DATABASE_URL", url)
    monkeypatch.setattr("promenade.app.clock", clock)
    with door.keep(old) as first, door.keep(new) as second:
        assert (first.post()[0], second.post()[0]) == (202, 403)
        assert command("add", "erp-2026", TENANT)[0] == 0
        assert (first.post()[0], second.post()[0]) == (202, 202)
        clock.move(days=6.9)
        assert (first.post()[0], second.post()[0]) == (202, 202)
        clock.move(days=0.2)
        assert (first.post()[0], second.post()[0]) == (403, 202)
        rows = json.loads(command("list", "--json")[1])
        assert [(row["commonName"], row["tenantId"], row["until"] is None) for row in rows] == [
            ("erp-2025", TENANT, False),
            ("erp-2026", TENANT, True),
        ]
        assert command("remove", "erp-2026")[0] == 0
        assert second.post()[0] == 403


def test_imported_rows_belong_to_the_tenant_of_the_certificate(issuer: Issuer, open_door: OpenDoor) -> None:
    door, ours = issuer.door(), issuer.issue("erp")
    theirs = issuer.issue("their-erp")
    url = open_door(door, ["erp"])
    run(make_trusting_tenant(url, ["their-erp"], "globex"))
    with door.keep(ours) as kept, door.keep(theirs) as other:
        job_id = kept.post()[1]["jobId"]
        assert kept.get(f"/api/v1/jobs/{job_id}")[0] == 200
        assert other.get(f"/api/v1/jobs/{job_id}")[0] == 404


def test_the_trust_commands_report_invalid_arguments(command: Command, tmp_path: Path) -> None:
    for arguments, said in (
        (("add", "erp", "globex"), "speaks for another tenant"),
        (("add", "erp", "nobody"), "There is no tenant nobody"),
        (("add", "erp\n", "acme"), "common name"),
        (("add", "e" * 281, "acme"), "common name"),
        (("add", "erp", "acme", "--overlap-days", "8"), "--overlap-days"),
        (("remove", "stranger"), "is not trusted"),
        (("issue", "--dir", str(tmp_path / "ca")), "--cn"),
        (("issue", "--dir", str(tmp_path / "ca"), "--cn", "erp", "--ca-only"), "--cn"),
        (("issue", "--dir", str(tmp_path / "ca"), "--ca-only", "--tenant", "acme"), "--tenant"),
        (("issue", "--dir", str(tmp_path / "ca"), "--cn", "erp", "--tenant", "nobody"), "There is no tenant nobody"),
    ):
        code, printed = command(*arguments)
        assert (code, said in printed, len(printed.splitlines())) == (2, True, 1), printed
    assert not (tmp_path / "ca").exists()
    (row,) = json.loads(command("list", "--json")[1])
    assert (row["commonName"], row["tenantId"], row["until"]) == ("erp", "acme", None)


def test_server_certificates_ignore_the_listen_address(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PROMENADE_HOST is also the option of `serve`, and often means every address of a machine."""
    monkeypatch.setenv("PROMENADE_HOST", "0.0.0.0")
    assert command("issue", "--dir", str(tmp_path / "ca"), "--ca-only")[0] == 0
    server = x509.load_pem_x509_certificate((tmp_path / "ca/server.pem").read_bytes())
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert IPv4Address("127.0.0.1") in names.get_values_for_type(x509.IPAddress)


def test_a_self_made_authority_issues_and_revokes_certificates(
    command: Command, issuer: Issuer, open_door: OpenDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMENADE_DIR", str(issuer.directory))
    made = json.loads(command("issue", "--cn", "erp two", "--tenant", "acme", "--json")[1])
    assert [row["commonName"] for row in json.loads(command("list", "--json")[1])] == ["erp", "erp two"]
    for path in issuer.directory.glob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    cert, key, ca, crl = (Path(made[f"mtls-{name}"]) for name in ("cert", "key", "ca", "crl"))
    door = Door(cert, key, ca, crl, authority=ca)
    open_door(door, ["erp two"])
    with door.keep(Identity(Path(made["cert"]), Path(made["key"]))) as kept:
        assert kept.post()[0] == 202
        assert command("issue", "--revoke", "erp two")[0] == 0
        until(lambda: kept.post()[0] == 401)
    assert command("issue", "--revoke", "erp two")[0] == 2

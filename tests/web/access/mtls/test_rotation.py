"""Files replaced while the service runs, and what happens to connections that are open meanwhile."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tests.kit.moved_clock import MovedClock
from tests.web.access.mtls.conftest import Issuer, OpenDoor
from tests.web.access.mtls.openssl import OpensslAuthority, openssl
from tests.web.access.mtls.peers import Door, Kept, until

DER_OF_SERVER = ssl.PEM_cert_to_DER_cert


def test_a_certificate_that_is_revoked_is_refused_at_its_next_request(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    with door.keep(erp) as kept:
        assert kept.post()[0] == 202
        issuer.revoke("erp")
        issuer.install_list(door)
        until(lambda: kept.post()[0] == 401)
        assert "revoked" in kept.post()[1]["detail"]
    assert door.status(erp) == 401
    assert door.status(issuer.issue("erp")) == 202  # another certificate of the same name


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_resumed_tls_session_does_not_bypass_the_checks(
    issuer: Issuer, open_door: OpenDoor, version: ssl.TLSVersion
) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    context = door.context(erp)
    context.minimum_version = context.maximum_version = version
    with door.keep(context=context) as first:
        assert first.post()[0] == 202
        session = first.session
        issuer.revoke("erp")
        issuer.install_list(door)
        until(lambda: first.post()[0] == 401)
    with Kept(door, None, context, session=session) as again:
        assert again.post()[0] == 401


def test_without_a_valid_revocation_list_every_client_is_refused(
    issuer: Issuer, open_door: OpenDoor, tmp_path: Path
) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    good = door.crl.read_bytes()
    foreign = Issuer(tmp_path / "foreign")
    foreign.door()
    with door.keep(erp) as kept:
        for bad in (None, b"", b"no list at all", good[:-40], (foreign.directory / "ca.crl").read_bytes()):
            assert kept.post()[0] == 202
            door.crl.unlink()
            if bad is not None:
                door.crl.write_bytes(bad)
            until(lambda: kept.post()[0] == 401)
            assert "cannot check" in kept.post()[1]["detail"]
            assert kept.get("/health")[0] == 200
            door.crl.write_bytes(good)
            until(lambda: kept.post()[0] == 202)
    assert "nobody gets in" in door.output
    assert "is not signed by an accepted authority" in door.output


def test_a_list_of_another_with_the_same_name_does_not_count(open_door: OpenDoor, tmp_path: Path) -> None:
    root, forger = (OpensslAuthority(tmp_path / name, "Root") for name in ("root", "forger"))
    server = root.issue("localhost", kind="server")
    erp = root.issue("erp")
    crl = tmp_path / "served.crl"
    shutil.copy(root.crl, crl)
    door = Door(server.cert, server.key, root.cert, crl, authority=root.cert)
    open_door(door, ["erp"])
    with door.keep(erp) as kept:
        assert kept.post()[0] == 202
        shutil.copy(forger.crl, crl)
        until(lambda: kept.post()[0] == 401)
        openssl("crl", "-in", root.crl, "-outform", "DER", "-out", crl)  # the same list in DER form counts
        until(lambda: kept.post()[0] == 202)
        root.list_revoked(until=-timedelta(minutes=1))
        shutil.copy(root.crl, crl)
        until(lambda: kept.post()[0] == 401)
    assert "has expired" in door.output


def test_a_new_server_certificate_is_shown_from_the_next_connection_on(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"])
    before = Path(door.cert).read_text()
    with door.keep(erp) as kept:
        first = kept.server_certificate
        assert first == DER_OF_SERVER(before)
        for bad in ("nonsense", ""):
            door.cert.write_text(bad)
            until(lambda bad=bad: door.output.count("cannot be used") > (not bad))  # type: ignore[misc]
            assert shown(door) == first
        issue_server_anew(issuer)
        shutil.copy(issuer.directory / "server.pem", door.cert)  # does not match the old key yet
        until(lambda: "the key belongs to another certificate" in door.output)
        assert shown(door) == first
        shutil.copy(issuer.directory / "server.key", door.key)
        until(lambda: shown(door) == DER_OF_SERVER(door.cert.read_text()))
        assert shown(door) != first
        assert kept.post()[0] == 202
        assert kept.server_certificate == first


def issue_server_anew(issuer: Issuer) -> None:
    (issuer.directory / "server.pem").unlink()
    issuer.issue("somebody")


def shown(door: Door) -> bytes:
    with door.keep() as kept:
        return kept.server_certificate


def test_clients_of_an_authority_that_is_replaced_are_refused(
    issuer: Issuer, open_door: OpenDoor, tmp_path: Path
) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    other = Issuer(tmp_path / "other")
    other_door, other_erp = other.door(), other.issue("erp")
    open_door(door, ["erp"])
    both = b"".join((one.directory / "ca.crl").read_bytes() for one in (issuer, other))
    door.crl.write_bytes(both)
    with pytest.raises(OSError, match=r".*"):
        door.status(other_erp)
    with door.keep(erp) as kept:
        assert kept.post()[0] == 202
        door.ca.write_text("nonsense")
        until(lambda: "--mtls-ca" in door.output)
        assert kept.post()[0] == 202
        assert door.status(erp) == 202
        shutil.copy(other_door.ca, door.ca)
        until(lambda: kept.post()[0] == 401)
        assert "not issued by an accepted authority" in kept.post()[1]["detail"]
    with pytest.raises(OSError, match=r".*"):
        door.status(erp)
    assert door.status(other_erp) == 202


def test_expiry_is_checked_on_open_connections_too(issuer: Issuer, open_door: OpenDoor, tmp_path: Path) -> None:
    clock = MovedClock(tmp_path / "clock")
    door = issuer.door()
    short = door.context(issuer.issue("erp", days=20))
    long = issuer.issue("erp")
    issuer.install_list(door)  # signed for 365 days
    open_door(door, ["erp"], clock_file=tmp_path / "clock")
    with door.keep(context=short) as kept, door.keep(long) as other:
        assert (kept.post()[0], other.post()[0]) == (202, 202)
        assert door.output.count("expires soon") == 1
        assert kept.post()[0] == 202
        assert door.output.count("expires soon") == 1  # once a day
        clock.move(days=1.1)
        assert kept.post()[0] == 202
        assert door.output.count("expires soon") == 2
        clock.move(days=20)
        assert (kept.post()[0], other.post()[0]) == (401, 202)
        assert "expired" in kept.post()[1]["detail"]
        clock.move(days=-21.1)
        assert (kept.post()[0], other.post()[0]) == (202, 202)
        clock.move(days=340)
        assert other.post()[0] == 202
        until(lambda: all(f"use={use}" in door.output for use in ("listener", "crl", "client")))
        clock.move(days=26)
        assert other.post()[0] == 401
        _, metrics = door.service.get("/metrics") if door.service else (0, "")
        assert 'svc_drfout_certificate_expiry_timestamp_seconds{name="erp",use="client"}' in metrics
        assert 'svc_drfout_certificate_refused_total{reason="expired"}' in metrics


@pytest.mark.parametrize(
    ("option", "content", "said"),
    [
        ("cert", None, "No such file"),
        ("cert", b"nonsense", "--mtls-cert"),
        ("key", b"nonsense", "--mtls-key"),
        ("ca", b"", "--mtls-ca"),
    ],
)
def test_unusable_files_are_refused_at_the_start(
    issuer: Issuer, tmp_path: Path, option: str, content: bytes | None, said: str
) -> None:
    from tests.kit.service import COMMAND

    door = issuer.door()
    path: Path = getattr(door, option)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    done = subprocess.run(
        [COMMAND, "serve", "--port", "0", "--data-dir", str(tmp_path / "data"), *door.options],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert said in done.stderr
    assert str(path) in done.stderr

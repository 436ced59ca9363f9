"""Who is admitted: real handshakes with certificates made by the OpenSSL command line."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.kit.service import Service
from tests.web.access.mtls.conftest import make_trusting_tenant
from tests.web.access.mtls.openssl import Identity, OpensslAuthority, openssl
from tests.web.access.mtls.peers import INGEST, SOAP, Door, message
from tests.web.conftest import run

DAY = timedelta(days=1)


class Scene:
    """A served listener and everyone who may connect to it."""

    def __init__(self, directory: Path) -> None:
        root = self.root = OpensslAuthority(directory / "root", "Root")
        branch = OpensslAuthority(directory / "branch", "Branch", above=root)
        apart = OpensslAuthority(directory / "apart", "Apart", above=root)
        foreign = OpensslAuthority(directory / "foreign", "Root")
        server = root.issue("localhost", kind="server")
        ca, crl = directory / "accepted.pem", directory / "revoked.crl"
        ca.write_bytes(root.cert.read_bytes() + branch.cert.read_bytes())
        self.door = Door(server.cert, server.key, ca, crl, authority=root.cert)
        good, revoked = root.issue("erp"), root.issue("erp", file="revoked")
        root.revoke(revoked)
        of_branch = branch.issue("erp")
        revoked_of_branch = branch.issue("erp", file="revoked")
        branch.revoke(revoked_of_branch)
        of_apart = apart.issue("erp")
        of_apart.cert.write_bytes(of_apart.cert.read_bytes() + apart.cert.read_bytes())
        unlisted = OpensslAuthority(directory / "unlisted", "Unlisted", above=root)
        of_unlisted = unlisted.issue("erp")
        of_unlisted.cert.write_bytes(of_unlisted.cert.read_bytes() + unlisted.cert.read_bytes())
        crl.write_bytes(b"".join(one.crl.read_bytes() for one in (root, branch, apart)))
        own_key = directory / "own.key"
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", own_key)
        own = directory / "own.pem"
        openssl("req", "-x509", "-new", "-key", own_key, "-subj", "/CN=erp", "-out", own)
        self.who: dict[str, Identity | None] = {
            "nobody": None,
            "good": good,
            "without usages": root.issue("erp", kind="plain"),
            "of a branch": of_branch,
            "of a branch that it names itself": of_apart,
            "revoked": revoked,
            "revoked by a branch": revoked_of_branch,
            "of a branch without a list": of_unlisted,
            "unmapped": root.issue("stranger"),
            "in other letters": root.issue("ERP"),
            "longer": root.issue("erp.example"),
            "two names": root.issue("/CN=erp/CN=stranger"),
            "two names, the other way": root.issue("/CN=stranger/CN=erp"),
            "no name": root.issue("/O=erp", file="nameless"),
            "an authority": root.issue("erp", kind="authority"),
            "expired": root.issue("erp", since=-9 * DAY, until=-DAY, file="expired"),
            "not yet valid": root.issue("erp", since=DAY, file="early"),
            "of a server": root.issue("erp", kind="server"),
            "foreign": foreign.issue("erp"),
            "self-signed": Identity(own, own_key),
        }


@pytest.fixture(scope="module")
def scene(databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("certificates"))
    url = databases.create("sqlite")
    run(make_trusting_tenant(url, ["erp"]))
    made.door.service = Service(logs / "handshakes.log", "--database-url", url, *made.door.options).start()
    yield made
    made.door.service.kill()
    databases.drop(url)


@pytest.mark.parametrize("name", ["good", "without usages", "of a branch", "of a branch that it names itself"])
def test_a_client_with_a_trusted_name_is_admitted(scene: Scene, name: str) -> None:
    status, body = scene.door.post(scene.who[name])
    assert status == 202, body


REFUSED = {
    "nobody": (401, "certificate"),
    "revoked": (401, "revoked"),
    "revoked by a branch": (401, "revoked"),
    "of a branch without a list": (401, "cannot check"),
    "unmapped": (403, "not trusted"),
    "in other letters": (403, "not trusted"),
    "longer": (403, "not trusted"),
    "two names": (401, "one common name"),
    "two names, the other way": (401, "one common name"),
    "no name": (401, "one common name"),
    "an authority": (401, "certificate authority"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_client_without_a_trusted_name_gets_an_error(scene: Scene, name: str) -> None:
    status, body = scene.door.post(scene.who[name])
    assert (status, body["status"]) == (REFUSED[name][0],) * 2
    status, fault = scene.door.post(scene.who[name], path=SOAP, headers={"content-type": "text/xml"}, body=b"<a/>")
    assert status == REFUSED[name][0]
    assert "Fault>" in fault


@pytest.mark.parametrize("name", ["expired", "not yet valid", "of a server", "foreign", "self-signed"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_an_invalid_certificate_ends_the_handshake(scene: Scene, name: str, version: ssl.TLSVersion) -> None:
    context = scene.door.context(scene.who[name])
    context.minimum_version = context.maximum_version = version
    with pytest.raises((ssl.SSLError, ConnectionError)), scene.door.keep(context=context) as kept:
        kept.post()


def test_tls_below_1_2_is_refused(scene: Scene) -> None:
    for version, is_spoken in (("-tls1_1", False), ("-tls1_2", True)):
        tried = ("s_client", "-connect", f"127.0.0.1:{scene.door.port}", version, "-cipher", "ALL:@SECLEVEL=0")
        try:
            spoken = b"Cipher is" in openssl(*tried)
        except AssertionError:
            spoken = False
        assert spoken == is_spoken


FORGED = {
    "x-ssl-client-cn": "erp",
    "x-ssl-client-verify": "SUCCESS",
    "x-forwarded-client-cert": 'Subject="CN=erp"',
    "x-forwarded-for": "127.0.0.1",
    "promenade.peer": "erp",
}


def test_forged_certificate_headers_are_ignored(scene: Scene) -> None:
    forged = {**FORGED, "x-ssl-client-cert": "".join((scene.root.cert.read_text()).splitlines())}
    assert scene.door.post(headers=forged)[0] == 401
    assert scene.door.post(scene.who["unmapped"], headers=forged)[0] == 403


def test_the_ordinary_listener_takes_no_master_data(scene: Scene) -> None:
    assert scene.door.service is not None
    url = f"{scene.door.service.url}{INGEST}"
    for headers in ([], [text for name, value in FORGED.items() for text in ("-H", f"{name}: {value}")]):
        assert curl(*headers, "-d", message().decode(), "-H", "content-type: application/json", url) == "401"


def test_certificates_open_only_the_master_data_endpoints(scene: Scene) -> None:
    with scene.door.keep(scene.who["good"]) as kept:
        assert kept.get("/health")[1]["status"] == "UP"
        job_id = kept.post()[1]["jobId"]
        assert kept.get(f"/api/v1/jobs/{job_id}")[0] == 200
        for path in ("/", "/metrics", "/api/v1/Articles", "/pos/heartbeat", "/oauth/token", "/api/v1/openapi.json"):
            assert kept.get(path)[0] == 404, path
    with scene.door.keep() as nobody:
        assert nobody.get("/health")[0] == 200
        assert nobody.get(f"/api/v1/jobs/{job_id}")[0] == 401


def test_curl_is_admitted_with_a_client_certificate(scene: Scene) -> None:
    good = scene.who["good"]
    assert good is not None
    own = ("--cacert", str(scene.door.authority), "--cert", str(good.cert), "--key", str(good.key))
    url = f"https://localhost:{scene.door.port}{INGEST}"
    sent = ("-H", "content-type: application/json", "-d", message().decode(), url)
    assert curl(*own, *sent) == "202"
    assert curl(*own[:2], *sent) == "401"


def curl(*arguments: str) -> str:
    """Return the status that curl reports."""
    program = shutil.which("curl")
    if program is None:
        pytest.skip("curl is not installed")
    command = [program, "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "30"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False).stdout

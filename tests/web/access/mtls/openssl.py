"""A certificate authority run as a third party would: with the OpenSSL command line and its own configuration."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

__all__ = ["Identity", "OpensslAuthority", "openssl"]

_CONFIG = """
[ca]
default_ca = own
[own]
database = {directory}/index.txt
serial = {directory}/serial
crlnumber = {directory}/crlnumber
new_certs_dir = {directory}
certificate = {directory}/ca.pem
private_key = {directory}/ca.key
default_md = sha256
default_days = 365
policy = any
unique_subject = no
[any]
commonName = optional
[req]
distinguished_name = subject
[subject]
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost,IP:127.0.0.1
[plain]
basicConstraints = CA:FALSE
[bare]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,digitalSignature,keyCertSign
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
"""


@dataclass(frozen=True)
class Identity:
    """A certificate with its key; ``cert`` may also hold intermediate certificates."""

    cert: Path
    key: Path


def openssl(*arguments: str | Path, stdin: bytes = b"") -> bytes:
    """Run one OpenSSL command; raise with its output if it fails. The test is skipped if OpenSSL is not installed."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed: no certificates of another's making can be had")
    done = subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"openssl {' '.join(map(str, arguments))}:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


class OpensslAuthority:
    """An authority in its own directory: a root, or one certified by ``above``."""

    def __init__(self, directory: Path, name: str, above: OpensslAuthority | None = None) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self._config = directory / "openssl.cnf"
        self._config.write_text(_CONFIG.format(directory=directory))
        (directory / "index.txt").touch()
        (directory / "serial").write_text("1000\n")
        (directory / "crlnumber").write_text("01\n")
        self.cert, self.key, self.crl = directory / "ca.pem", directory / "ca.key", directory / "ca.crl"
        if above is None:
            self._make_key(self.key)
            openssl("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}", "-days", "3650",
                    "-config", self._config, "-extensions", "root", "-out", self.cert)  # fmt: skip
        else:
            made = above.issue(name, kind="root")
            made.cert.rename(self.cert)
            made.key.rename(self.key)
        self.list_revoked()

    def issue(
        self,
        subject: str,
        *,
        kind: str = "client",
        since: timedelta = timedelta(hours=-1),
        until: timedelta = timedelta(days=365),
        file: str | None = None,
    ) -> Identity:
        """Issue a certificate for ``/CN=subject`` (or a whole subject with a leading slash) and a validity period."""
        stem = file or f"{kind}-{subject.strip('/').replace('/', '_').replace('=', '-')}"
        made = Identity(self.directory / f"{stem}.crt", self.directory / f"{stem}.key")
        self._make_key(made.key)
        subject = subject if subject.startswith("/") else f"/CN={subject}"
        request = self.directory / f"{stem}.csr"
        openssl("req", "-new", "-key", made.key, "-subj", subject, "-config", self._config, "-out", request)
        times = ("-startdate", _moment(since), "-enddate", _moment(until))
        openssl("ca", "-batch", "-notext", "-preserveDN", "-config", self._config, "-extensions", kind, *times,
                "-in", request, "-out", made.cert)  # fmt: skip
        return made

    def revoke(self, identity: Identity) -> None:
        """Revoke a certificate and create a new revocation list."""
        openssl("ca", "-config", self._config, "-revoke", identity.cert)
        self.list_revoked()

    def list_revoked(self, since: timedelta = timedelta(hours=-1), until: timedelta = timedelta(days=60)) -> Path:
        """Recreate the revocation list."""
        openssl("ca", "-config", self._config, "-gencrl", "-crl_lastupdate", _moment(since),
                "-crl_nextupdate", _moment(until), "-out", self.crl)  # fmt: skip
        return self.crl

    @staticmethod
    def _make_key(path: Path) -> None:
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)


def _moment(offset: timedelta) -> str:
    return (datetime.now(UTC) + offset).strftime("%Y%m%d%H%M%SZ")

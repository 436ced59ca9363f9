"""A small certificate authority in a directory: to try client certificates, or to use them without another one.

``ca.pem`` and ``ca.key``, ``ca.crl``, ``server.pem`` and ``server.key``, for each client ``<name>.pem`` and
``<name>.key``, and in ``issued`` every certificate ever issued. Keys are P-256 and readable only by their owner;
those of the authority and of the server are encrypted if there is a passphrase.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from promenade.errors import Conflict, Invalid, NotFound, Unavailable
from promenade.workflows.access.signing_keys import decrypted, encrypted

_SERVER = "server"
_OWN_DAYS = 3650
_RENEWAL = timedelta(days=30)
_SKEW = timedelta(minutes=5)  # clients' clocks may be behind
_SUBJECT_LENGTH_MAX = 64  # of a common name (RFC 5280, A.1)
_DEFAULT_HOSTS = ("localhost", "127.0.0.1", "::1")
_ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- where `serve --host` listens, but nobody calls


class CertificateAuthority:
    """The authority in ``directory``; created when its first certificate is requested."""

    def __init__(self, directory: Path, *, days: int, at: datetime, passphrase: str | None = None) -> None:
        self.directory = directory
        self._passphrase = passphrase
        self._days = timedelta(days=days)
        self._at = at

    def open(self, hosts: Sequence[str]) -> dict[str, Path]:
        """Prepare the authority, a fresh revocation list and a server certificate for ``hosts``.

        Whatever is missing is created.

        Returns the files by their option names in `promenade serve`. Raises Unavailable if they cannot be read or
        written, and Invalid for an invalid host.
        """
        try:
            self._found()
            self._serve(hosts)
            self._sign_list(())
        except (OSError, ValueError, TypeError) as error:
            raise _unusable(self.directory, error) from error
        named = {"mtls-cert": f"{_SERVER}.pem", "mtls-key": f"{_SERVER}.key", "mtls-ca": "ca.pem", "mtls-crl": "ca.crl"}
        return {option: self.directory / name for option, name in named.items()}

    def issue(self, common_name: str) -> tuple[Path, Path]:
        """Issue a certificate and key for a client of that name; call `open` first. Raises Invalid and Conflict."""
        if len(common_name) > _SUBJECT_LENGTH_MAX:
            raise Invalid("BAD_COMMON_NAME", f"A common name must have at most {_SUBJECT_LENGTH_MAX} characters.", "cn")
        stem = _file_name(common_name)
        present = self.directory / f"{stem}.pem"
        if stem in {"ca", _SERVER} or (present.exists() and _name_of(_read(present)) != common_name):
            raise Conflict(
                "FILE_TAKEN", f"{present} is already the certificate of another name: choose another common name.", "cn"
            )
        try:
            subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
            return self._certify(stem, subject, ExtendedKeyUsageOID.CLIENT_AUTH, None)
        except (OSError, ValueError, TypeError) as error:
            raise _unusable(self.directory, error) from error

    def revoke(self, common_name: str) -> int:
        """Revoke all certificates of a client and return their number. Raises NotFound (NOT_ISSUED)."""
        try:
            issued = [_read(path) for path in sorted((self.directory / "issued").glob("*.pem"))]
            revoked = {one.serial_number for one in self._list()}
            own = [one for one in issued if _name_of(one) == common_name and one.serial_number not in revoked]
            if not own:
                text = f"{common_name} has no certificate in {self.directory} that could be revoked."
                raise NotFound("NOT_ISSUED", text, "revoke")
            self._sign_list(own)
        except (OSError, ValueError, TypeError) as error:
            raise _unusable(self.directory, error) from error
        return len(own)

    # ---- how it is done ----------------------------------------------------------------------------------------------

    def _found(self) -> None:
        path = self.directory / "ca.pem"
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.directory / "issued").mkdir(exist_ok=True, mode=0o700)
        if path.exists():
            return
        key = ec.generate_private_key(ec.SECP256R1())
        serial = x509.random_serial_number()
        # Each authority needs a unique name: it identifies the issuer of a certificate.
        name = x509.Name(
            [x509.NameAttribute(NameOID.COMMON_NAME, f"Promenade authority {serial:x}"[:_SUBJECT_LENGTH_MAX])]
        )
        made = _unsigned(name, name, key.public_key(), serial, self._at - _SKEW, self._at + timedelta(days=_OWN_DAYS))
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        made = made.add_extension(_usage(key_cert_sign=True, crl_sign=True), critical=True)
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        _write(self.directory / "ca.key", self._kept(key), 0o600)
        _write(path, made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), 0o644)

    def _serve(self, hosts: Sequence[str]) -> None:
        path = self.directory / f"{_SERVER}.pem"
        hosts = [host for host in hosts if host not in _ANY_HOST]
        wanted = _alternatives(hosts or _DEFAULT_HOSTS)
        if path.exists() and (self.directory / f"{_SERVER}.key").exists():
            present = _read(path)
            names = present.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            if (not hosts or names == wanted) and present.not_valid_after_utc - self._at > _RENEWAL:
                return
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Promenade")])
        self._certify(_SERVER, subject, ExtendedKeyUsageOID.SERVER_AUTH, wanted)

    def _certify(
        self, stem: str, subject: x509.Name, purpose: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> tuple[Path, Path]:
        authority, signer = self._authority()
        key = ec.generate_private_key(ec.SECP256R1())
        serial = x509.random_serial_number()
        until = min(self._at + self._days, authority.not_valid_after_utc)
        made = _unsigned(subject, authority.subject, key.public_key(), serial, self._at - _SKEW, until)
        made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        made = made.add_extension(_usage(digital_signature=True), critical=True)
        made = made.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        made = made.add_extension(_key_of(authority), critical=False)
        if names is not None:
            made = made.add_extension(names, critical=False)
        certificate = made.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)
        path, key_path = self.directory / f"{stem}.pem", self.directory / f"{stem}.key"
        _write(self.directory / "issued" / f"{serial:x}.pem", certificate, 0o644)
        _write(key_path, self._kept(key) if stem == _SERVER else _pem_of(key), 0o600)
        _write(path, certificate, 0o644)
        return path, key_path

    def _kept(self, key: ec.EllipticCurvePrivateKey) -> bytes:
        """A private key that stays here, encrypted with the passphrase; those of clients are for others."""
        return encrypted(_pem_of(key).decode("ascii"), self._passphrase).encode("ascii")

    def _authority(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        pem = (self.directory / "ca.key").read_text("ascii")
        key = load_pem_private_key(decrypted(pem, self._passphrase).encode("ascii"), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("ca.key is not the key of this authority")
        return _read(self.directory / "ca.pem"), key

    def _list(self) -> list[x509.RevokedCertificate]:
        path = self.directory / "ca.crl"
        return list(x509.load_pem_x509_crl(path.read_bytes())) if path.exists() else []

    def _sign_list(self, added: Sequence[x509.Certificate]) -> None:
        authority, key = self._authority()
        until = min(self._at + self._days, authority.not_valid_after_utc)
        made = x509.CertificateRevocationListBuilder(authority.subject, self._at - _SKEW, until)
        entries = [x509.RevokedCertificateBuilder(one.serial_number, self._at).build() for one in added]
        for entry in (*self._list(), *entries):
            made = made.add_revoked_certificate(entry)
        made = made.add_extension(x509.CRLNumber(int(self._at.timestamp() * 1000)), critical=False)
        made = made.add_extension(_key_of(authority), critical=False)
        _write(self.directory / "ca.crl", made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), 0o644)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: Any, serial: int, since: datetime, until: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(issuer, subject, key, serial, since, until)


def _usage(**given: bool) -> x509.KeyUsage:
    names = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: given.get(name, False) for name in names})


def _key_of(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    own = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)


def _alternatives(hosts: Sequence[str]) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            if not re.fullmatch(r"(?!-)[A-Za-z0-9*-]+(\.[A-Za-z0-9-]+)*", host):
                raise Invalid("BAD_HOST", f"{host} is not a host name or an IP address.", "host") from None
            names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def _name_of(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _file_name(common_name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", common_name).lstrip(".") or "_"


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _write(path: Path, content: bytes, mode: int) -> None:
    """Replace a file atomically, so that concurrent readers see either the old or the new one."""
    beside = path.with_name(path.name + ".part")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    beside.replace(path)


def _unusable(directory: Path, error: Exception) -> Unavailable:
    why = (
        f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else "a file is damaged"
    )
    return Unavailable("AUTHORITY_UNUSABLE", f"The authority in {directory} cannot be used: {why}.")

"""The authorities of client certificates and their revocations: the parsed files of `--mtls-ca` and `--mtls-crl`.

The handshake verified a certificate against the authorities at that time. Here it is verified again in every request
against the current ones: its chain, its validity, and the revocation list of each authority above it. Certificates of
an authority without a current revocation list signed by that authority are not accepted (reliability S5).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

T = TypeVar("T", bound=x509.ExtensionType)
_CHAIN_LENGTH_MAX = 8
_PATHS_MAX = 8
_STEPS_MAX = 32
_SENT_ALONG_MAX = 8
_JUDGED_KEPT_MAX = 1_000
_ISSUERS_KEPT_MAX = 100
_WRONG = (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError)
_LIST = re.compile(rb"-----BEGIN X509 CRL-----.*?-----END X509 CRL-----", re.DOTALL)
_NEVER = datetime.max.replace(tzinfo=UTC)
# Revocation lists that are incomplete: only certain reasons or distribution points, other authorities' or delta lists.
_PARTIAL = (ExtensionOID.ISSUING_DISTRIBUTION_POINT, ExtensionOID.DELTA_CRL_INDICATOR)


class Refused(Exception):
    """A certificate is not accepted: ``reason`` is a label for metrics, the message is for the client."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Verified:
    """The name in an accepted certificate, and its expiry."""

    common_name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class RevocationList:
    """The serial numbers that an authority has revoked, valid from ``since`` until ``until``."""

    revoked: frozenset[int]
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class _Path:
    """A path from a certificate to an authority, and the period in which all of it is valid."""

    since: datetime
    until: datetime
    listed_until: datetime | None  # None: an authority on it has no list
    is_leaf_revoked: bool
    is_authority_revoked: bool


@dataclass(frozen=True, slots=True)
class _Judged:
    common_name: str
    since: datetime
    until: datetime
    paths: tuple[_Path, ...]


def read_certificates(pem: bytes) -> list[x509.Certificate]:
    """Return the certificates of a PEM file. Raises ValueError if there is none, or one that cannot be parsed."""
    return x509.load_pem_x509_certificates(pem)


def read_lists(data: bytes) -> list[x509.CertificateRevocationList]:
    """Return the revocation lists of a file: any number as PEM, or one as DER. Raises ValueError."""
    blocks = _LIST.findall(data)
    if not blocks:
        return [x509.load_der_x509_crl(data)]
    return [x509.load_pem_x509_crl(block) for block in blocks]


class Authorities:
    """The accepted authorities with their revocation lists, and a cache of the verification results."""

    def __init__(
        self, certificates: Sequence[x509.Certificate], lists: Sequence[x509.CertificateRevocationList]
    ) -> None:
        self.certificates = tuple(certificates)
        self._lists = tuple(lists)
        self._of_issuer: dict[x509.Certificate, RevocationList | None] = {}
        self._judged: OrderedDict[tuple[bytes, tuple[bytes, ...]], _Judged | Refused] = OrderedDict()

    def faults(self, at: datetime) -> Iterator[str]:
        """Yield the problems of the revocation lists at that time, and the authorities refused because of them."""
        for one in self._lists:
            why = _why_not(one)
            if why is None and not any(_has_signed(one, issuer) for issuer in self.certificates):
                why = "is not signed by an accepted authority"
            if why is not None:
                yield f"the revocation list of {one.issuer.rfc4514_string()} {why}"
        for issuer in self.certificates:
            known = self.list_of(issuer)
            if known is None:
                yield f"there is no revocation list of {issuer.subject.rfc4514_string()}"
            elif known.until <= at:
                yield f"the revocation list of {issuer.subject.rfc4514_string()} has expired"

    def list_of(self, issuer: x509.Certificate) -> RevocationList | None:
        """Return the newest list that the authority signed, expired or not."""
        if issuer not in self._of_issuer:
            own = [one for one in self._lists if _why_not(one) is None and _has_signed(one, issuer)]
            newest = max(own, key=lambda one: one.last_update_utc, default=None)
            if len(self._of_issuer) >= _ISSUERS_KEPT_MAX:
                self._of_issuer.clear()
            until = None if newest is None else newest.next_update_utc
            if newest is None or until is None:
                self._of_issuer[issuer] = None
            else:
                revoked = frozenset(entry.serial_number for entry in newest)
                self._of_issuer[issuer] = RevocationList(revoked, newest.last_update_utc, until)
        return self._of_issuer[issuer]

    def verify(self, der: bytes, sent_along: Sequence[bytes], at: datetime) -> Verified:
        """Return the name that the certificate stands for at that time. Raises Refused."""
        judged = self._judge(der, tuple(sent_along[:_SENT_ALONG_MAX]))
        if at < judged.since:
            raise Refused("not_yet_valid", "The certificate is not valid yet.")
        if at >= judged.until:
            raise Refused("expired", "The certificate has expired.")
        if any(path.is_leaf_revoked for path in judged.paths):
            raise Refused("revoked", "The certificate was revoked.")
        timely = [path for path in judged.paths if path.since <= at < path.until and not path.is_authority_revoked]
        if not timely:
            raise Refused("untrusted", "The certificate was not issued by an accepted authority.")
        if not any(path.listed_until is not None and at < path.listed_until for path in timely):
            raise Refused("no_list", "The certificate is not accepted: the server cannot check whether it was revoked.")
        return Verified(judged.common_name, judged.until)

    def _judge(self, der: bytes, sent_along: tuple[bytes, ...]) -> _Judged:
        judged = self._judged.get((der, sent_along))
        if judged is None:
            try:
                judged = self._judge_uncached(der, sent_along)
            except Refused as refused:
                judged = refused
            self._judged[der, sent_along] = judged
            while len(self._judged) > _JUDGED_KEPT_MAX:
                self._judged.popitem(last=False)
        if isinstance(judged, Refused):
            raise Refused(judged.reason, judged.message)
        return judged

    def _judge_uncached(self, der: bytes, sent_along: tuple[bytes, ...]) -> _Judged:
        try:
            leaf = x509.load_der_x509_certificate(der)
            _require_client(leaf)
            name = _common_name(leaf)
            between = [x509.load_der_x509_certificate(one) for one in sent_along]
            paths = tuple(self._path(chain) for chain in self._chains([leaf], between, iter(range(_STEPS_MAX))))
        except _WRONG:
            raise Refused("malformed", "The certificate cannot be read.") from None
        if not paths:
            raise Refused("untrusted", "The certificate was not issued by an accepted authority.")
        return _Judged(name, leaf.not_valid_before_utc, leaf.not_valid_after_utc, paths[:_PATHS_MAX])

    def _chains(
        self, chain: list[x509.Certificate], between: Sequence[x509.Certificate], steps: Iterator[int]
    ) -> Iterator[list[x509.Certificate]]:
        """Yield every chain from the last of ``chain`` to an accepted authority, and on to the top as far as known."""
        if next(steps, None) is None:  # limits the work that the certificates sent by a client can cause
            return
        last = chain[-1]
        is_accepted = any(one in self.certificates for one in chain[1:])
        issuers = _issuers_of(last, self.certificates)
        # Certificates sent by the client may lead up to an authority; next to and above one they are ignored.
        if not issuers and not is_accepted:
            issuers = _issuers_of(last, between)
        if last in issuers or not issuers or len(chain) >= _CHAIN_LENGTH_MAX:
            if is_accepted:
                yield chain
            return
        for issuer in issuers:
            if issuer not in chain and _may_issue(issuer, len(chain) - 1, is_accepted=issuer in self.certificates):
                yield from self._chains([*chain, issuer], between, steps)

    def _path(self, chain: Sequence[x509.Certificate]) -> _Path:
        listed_until: datetime | None = _NEVER
        revoked: list[bool] = []
        for below, issuer in pairwise(chain):
            newest = self.list_of(issuer)
            if newest is None:
                listed_until = None
            elif listed_until is not None:
                listed_until = min(listed_until, newest.until)
            revoked.append(newest is not None and below.serial_number in newest.revoked)
        return _Path(
            max(one.not_valid_before_utc for one in chain),
            min(one.not_valid_after_utc for one in chain),
            listed_until,
            revoked[0],
            any(revoked[1:]),
        )


def _require_client(leaf: x509.Certificate) -> None:
    constraints = _extension(leaf, x509.BasicConstraints)
    if constraints is not None and constraints.ca:
        raise Refused("not_a_client", "The certificate belongs to a certificate authority, not to a client.")
    usage = _extension(leaf, x509.ExtendedKeyUsage)
    # Without the extension a certificate may be used for anything (RFC 5280, 4.2.1.12).
    if usage is not None and ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
        raise Refused(
            "not_a_client", "The certificate is not a client certificate: it lacks the extended key usage clientAuth."
        )


def _common_name(leaf: x509.Certificate) -> str:
    names = leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(names) != 1:
        raise Refused("bad_name", "The certificate must have one common name.")
    name = names[0].value
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise Refused("bad_name", "The certificate's common name has characters that cannot be printed.")
    return name


def _may_issue(issuer: x509.Certificate, below: int, *, is_accepted: bool) -> bool:
    """Return whether it may issue certificates, with ``below`` other authorities between it and the client."""
    constraints = _extension(issuer, x509.BasicConstraints)
    if constraints is None:  # version 1 certificates, such as old roots, lack the extension
        return is_accepted and issuer.version is x509.Version.v1
    usage = _extension(issuer, x509.KeyUsage)
    is_short = constraints.path_length is None or below <= constraints.path_length
    return constraints.ca and is_short and (usage is None or usage.key_cert_sign)


def _extension(certificate: x509.Certificate, kind: type[T]) -> T | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _issuers_of(certificate: x509.Certificate, among: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    return [one for one in among if one.subject == certificate.issuer and _issued(one, certificate)]


def _issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except _WRONG:
        return False
    return True


def _why_not(one: x509.CertificateRevocationList) -> str | None:
    if one.next_update_utc is None:
        return "has no expiry date"
    if any(extension.oid in _PARTIAL for extension in one.extensions):
        return "covers only some of the certificates"
    return None


def _has_signed(one: x509.CertificateRevocationList, issuer: x509.Certificate) -> bool:
    if one.issuer != issuer.subject:
        return False
    usage = _extension(issuer, x509.KeyUsage)
    if usage is not None and not usage.crl_sign:
        return False
    try:
        return one.is_signature_valid(issuer.public_key())  # type: ignore[arg-type]
    except _WRONG:
        return False

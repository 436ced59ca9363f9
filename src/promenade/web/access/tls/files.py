"""The files of the listener for client certificates, and their current contents.

They may be replaced while the service runs. If a new certificate, key or authority is unusable, the previous one stays
in force; unusable revocation lists count as missing, and no client is admitted (reliability S5).
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from promenade.log import Logger
from promenade.settings import Settings, SettingsError
from promenade.web.access.tls.authorities import Authorities, RevocationList, read_certificates, read_lists
from promenade.web.access.tls.expiry import NOTICE, ExpiryNotice
from promenade.workflows.access.signing_keys import is_encrypted

# Everything is read again after this time even if no file seems changed: the specification's interval for lists.
_POLLED_EVERY = timedelta(minutes=5)
_LOOKED_AT_EVERY = timedelta(minutes=1)
_log = Logger("promenade.web")
_ENCRYPTED = "the key is encrypted, and --key-passphrase is missing or wrong"
_PATHS = ("cert", "key", "ca", "crl")

_Look = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The paths of the files."""

    cert: Path
    key: Path
    ca: Path
    crl: Path
    passphrase: str | None = field(default=None, repr=False, kw_only=True)  # of an encrypted key

    @staticmethod
    def of(settings: Settings) -> TlsFiles:
        """Return the paths from the settings; all are set if there is such a listener."""
        paths = [getattr(settings, f"mtls_{name}") for name in _PATHS]
        return TlsFiles(*paths, passphrase=settings.key_passphrase)


class TlsMaterial:
    """The contents of the files: ``context`` for new handshakes, and ``authorities`` for new requests.

    ``listener`` is the certificate that the service shows. All are None until they were read once.
    """

    def __init__(self, files: TlsFiles, clock: Callable[[], datetime]) -> None:
        self.context: ssl.SSLContext | None = None
        self.authorities: Authorities | None = None
        self.listener: x509.Certificate | None = None
        self._files = files
        self._clock = clock
        self._expiry = ExpiryNotice()
        self._looks: dict[str, _Look] = {}
        self._polled_at: datetime | None = None
        self._looked_at: datetime | None = None
        self._lists: Sequence[x509.CertificateRevocationList] = ()

    def load(self) -> None:
        """Read everything for the first time. Raises SettingsError for an unusable certificate, key or authority."""
        self._looks = self._look()
        self._polled_at = self._clock()
        self._take_identity()
        self._take_lists()

    def refresh(self) -> None:
        """Reread changed files and warn about expiry; it blocks, so not for an event loop. Raises nothing."""
        at = self._clock()
        looks = self._look()
        is_polled = self._polled_at is None or not timedelta() <= at - self._polled_at < _POLLED_EVERY
        changed = {name for name, look in looks.items() if is_polled or look != self._looks.get(name)}
        self._looks = looks
        if is_polled:
            self._polled_at = at
        if changed - {"crl"}:
            try:
                self._take_identity()
            except SettingsError as error:
                _log.error("files of TLS cannot be used, those before stay in force", error=str(error))
        if changed:
            self._take_lists()
        if changed or self._looked_at is None or abs(at - self._looked_at) >= _LOOKED_AT_EVERY:
            self._looked_at = at
            self._warn_of_expiry(at)

    def _look(self) -> dict[str, _Look]:
        """Return the status of each file as the file system reports it; None for a file that cannot be read."""
        looks: dict[str, _Look] = {}
        for name in _PATHS:
            try:
                found = getattr(self._files, name).stat()
                looks[name] = (found.st_mtime_ns, found.st_size, found.st_ino)
            except OSError:
                looks[name] = None
        return looks

    def _take_identity(self) -> None:
        files = self._files
        accepted = _certificates("--mtls-ca", files.ca)
        own = _certificates("--mtls-cert", files.cert)
        context = _context(files, accepted)
        self.authorities = Authorities(accepted, self._lists)
        self.listener = own[0]
        self.context = context

    def _take_lists(self) -> None:
        accepted = self.authorities.certificates if self.authorities is not None else ()
        try:
            self._lists = read_lists(self._files.crl.read_bytes())
        except (OSError, ValueError) as error:
            self._lists = ()
            _log.error("revocation lists cannot be read, nobody gets in", file=str(self._files.crl), error=_why(error))
        if self.authorities is None:
            return
        self.authorities = Authorities(accepted, self._lists)
        for fault in self.authorities.faults(self._clock()) if self._lists else ():
            _log.error("some clients do not get in", fault=fault)

    def _warn_of_expiry(self, at: datetime) -> None:
        if self.authorities is None or self.listener is None:
            return
        own = self.listener.not_valid_after_utc
        self._expiry.show("listener", "mtls-cert", own)
        self._expiry.tell("listener", name_of(self.listener), own, at)
        ends = {name_of(one): one.not_valid_after_utc for one in self.authorities.certificates}
        self._expiry.show("authority", "mtls-ca", min(ends.values()))
        for name, until in ends.items():
            self._expiry.tell("authority", name, until, at)
        lists = [(one, known) for one in self.authorities.certificates if (known := self.authorities.list_of(one))]
        if lists:
            self._expiry.show("crl", "mtls-crl", min(known.until for _, known in lists))
        for issuer, known in lists:
            self._expiry.tell("crl", name_of(issuer), known.until, at, notice_of(known))


def _certificates(option: str, path: Path) -> list[x509.Certificate]:
    try:
        return read_certificates(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(f"{option} {path} cannot be used: {_why(error)}.") from error


def _context(files: TlsFiles, accepted: Sequence[x509.Certificate]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Requested but not required: a client without a certificate gets an error response. An invalid one fails the
    # handshake.
    context.verify_mode = ssl.CERT_OPTIONAL
    # An operator who lists an issuer without its root trusts that issuer, not everything the root has signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # A resumed session would carry the client certificate of an old handshake.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        password = files.passphrase or ""  # without one OpenSSL would prompt on the terminal
        context.load_cert_chain(files.cert, files.key, password=password)
    except (OSError, ValueError) as error:
        both = f"--mtls-cert {files.cert} with --mtls-key {files.key}"
        why = _ENCRYPTED if _is_undecrypted(error, files.key) else _why(error)
        raise SettingsError(f"{both} cannot be used: {why}.") from error
    context.load_verify_locations(cadata=b"".join(one.public_bytes(Encoding.DER) for one in accepted))
    return context


def _is_undecrypted(error: Exception, key: Path) -> bool:
    """Whether a key could not be read for want of its passphrase; OpenSSL gives various reasons, or none."""
    is_read = isinstance(error, ssl.SSLError) and error.reason != "KEY_VALUES_MISMATCH"
    return is_read and is_encrypted(key.read_text("ascii", "replace"))


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reasons = {"KEY_VALUES_MISMATCH": "the key belongs to another certificate"}
        return reasons.get(error.reason or "", error.reason or "it is not PEM")
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "its content is not valid"


def name_of(certificate: x509.Certificate) -> str:
    """Return the subject of a certificate as people read it."""
    return certificate.subject.rfc4514_string()


def notice_of(known: RevocationList) -> timedelta:
    """Return how long before the end of a list to warn: lists are renewed often, such as weekly."""
    return min(NOTICE, (known.until - known.since) / 4)

"""The files of the listener for client certificates, and what they say at the moment.

They may be replaced while the service runs. A certificate, key or authority that cannot be used leaves what was there
before in force; revocation lists that cannot be used are none, and nobody gets in (reliability S5).
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from promenade.settings import Settings, SettingsError
from promenade.web.authorities import Authorities, read_certificates, read_lists
from promenade.web.expiry import NOTICE, ExpiryNotice

__all__ = ["TlsFiles", "TlsMaterial"]

# However it looks from outside, everything is read again so often: the interval of the specification for lists.
_POLLED_EVERY = timedelta(minutes=5)
_LOOKED_AT_EVERY = timedelta(minutes=1)
_log = structlog.get_logger("promenade.web")

_Look = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Where they are."""

    cert: Path
    key: Path
    ca: Path
    crl: Path

    @staticmethod
    def of(settings: Settings) -> TlsFiles | None:
        """Those of the options; None: there is no such listener."""
        if settings.mtls_port is None:
            return None
        paths = [getattr(settings, f"mtls_{one.name}") for one in fields(TlsFiles)]
        return TlsFiles(*paths)  # the settings hold that all are given


class TlsMaterial:
    """What the files say: ``context`` for handshakes from now on, and ``authorities`` for requests from now on.

    Both are None until they could be read once.
    """

    def __init__(self, files: TlsFiles, clock: Callable[[], datetime]) -> None:
        self.context: ssl.SSLContext | None = None
        self.authorities: Authorities | None = None
        self._files = files
        self._clock = clock
        self._expiry = ExpiryNotice()
        self._looks: dict[str, _Look] = {}
        self._polled_at: datetime | None = None
        self._looked_at: datetime | None = None
        self._listener: x509.Certificate | None = None
        self._lists: Sequence[x509.CertificateRevocationList] = ()

    def load(self) -> None:
        """Read everything for the first time. Raises SettingsError for a certificate, key or authority of no use."""
        self._looks = self._look()
        self._polled_at = self._clock()
        self._take_identity()
        self._take_lists()

    def refresh(self) -> None:
        """Read again what has changed, and tell what runs out; not for an event loop. Raises nothing."""
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
            self._tell_expiry(at)

    def _look(self) -> dict[str, _Look]:
        """How each file looks from outside; None: there is none that could be read."""
        looks: dict[str, _Look] = {}
        for one in fields(TlsFiles):
            try:
                found = getattr(self._files, one.name).stat()
                looks[one.name] = (found.st_mtime_ns, found.st_size, found.st_ino)
            except OSError:
                looks[one.name] = None
        return looks

    def _take_identity(self) -> None:
        files = self._files
        accepted = _certificates("--mtls-ca", files.ca)
        own = _certificates("--mtls-cert", files.cert)
        context = _context(files, accepted)
        self.authorities = Authorities(accepted, self._lists)
        self._listener = own[0]
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

    def _tell_expiry(self, at: datetime) -> None:
        if self.authorities is None or self._listener is None:
            return
        own = self._listener.not_valid_after_utc
        self._expiry.show("listener", "mtls-cert", own)
        self._expiry.tell("listener", _name(self._listener), own, at)
        ends = {_name(one): one.not_valid_after_utc for one in self.authorities.certificates}
        self._expiry.show("authority", "mtls-ca", min(ends.values()))
        for name, until in ends.items():
            self._expiry.tell("authority", name, until, at)
        lists = [(one, known) for one in self.authorities.certificates if (known := self.authorities.list_of(one))]
        if lists:
            self._expiry.show("crl", "mtls-crl", min(known.until for _, known in lists))
        for issuer, known in lists:
            # A list that is made anew every week is no news: of those, when only a quarter of their time is left.
            self._expiry.tell("crl", _name(issuer), known.until, at, min(NOTICE, (known.until - known.since) / 4))


def _certificates(option: str, path: Path) -> list[x509.Certificate]:
    try:
        return read_certificates(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(f"{option} {path} cannot be used: {_why(error)}.") from error


def _context(files: TlsFiles, accepted: Sequence[x509.Certificate]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Asked for, not demanded: who has none is told so by an answer. What is shown must hold, or there is no connection.
    context.verify_mode = ssl.CERT_OPTIONAL
    # Whoever listed an issuer without its root trusts that issuer, not all that the root has ever signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # A session that is taken up again would show the certificate of a handshake of long ago.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.cert, files.key, password="")  # with none given, OpenSSL would ask the terminal
    except (OSError, ValueError) as error:
        both = f"--mtls-cert {files.cert} with --mtls-key {files.key}"
        raise SettingsError(f"{both} cannot be used: {_why(error)}.") from error
    context.load_verify_locations(cadata=b"".join(one.public_bytes(Encoding.DER) for one in accepted))
    return context


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reasons = {"KEY_VALUES_MISMATCH": "the key is another certificate's", "BAD_DECRYPT": "the key is encrypted"}
        return reasons.get(error.reason or "", error.reason or "it is not PEM")
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is not what it should be"


def _name(certificate: x509.Certificate) -> str:
    return certificate.subject.rfc4514_string()

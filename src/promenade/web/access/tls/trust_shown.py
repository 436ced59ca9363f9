"""What the service shows of itself and what it trusts, as administrators see it: each with its end.

Subjects, fingerprints and dates; no key, no path, and of the names of client certificates those of one tenant alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from promenade.store.access.trust import TrustedName, read_names_of
from promenade.store.driver.unit import Database, Session
from promenade.web.access.issuer import TOKEN_SECONDS
from promenade.web.access.tls.expiry import VALID, validity
from promenade.web.access.tls.files import TlsMaterial, name_of, notice_of
from promenade.workflows.access.signing_keys import SigningKey, list_signing_keys

NAMES_MAX = 100


@dataclass(frozen=True, slots=True)
class Trusted:
    """One thing that is shown or trusted, with the members of `TrustedItem` (model/operations.py)."""

    use: str
    name: str
    state: str = VALID
    since: datetime | None = None
    until: datetime | None = None
    fingerprint: str | None = None


class Trust:
    """What a service trusts: the tokens of ``issuer`` (None: it takes no tokens), and what is in ``material``.

    ``issues_tokens``: the issuer is this service. ``material`` returns what the listener for client certificates uses,
    None without one.
    """

    def __init__(
        self,
        issuer: str | None,
        *,
        issues_tokens: bool = False,
        material: Callable[[], TlsMaterial | None] = lambda: None,
    ) -> None:
        self._issuer = issuer
        self._issues_tokens = issues_tokens
        self._material = material

    async def told(self, database: Database, tenant_id: str, at: datetime) -> list[Trusted]:
        """Return what holds for a tenant at that time."""

        async def names(session: Session) -> Sequence[TrustedName]:
            return await read_names_of(session, tenant_id, at, NAMES_MAX)

        found = list(_of_listener(self._material(), at))
        for one in await database.read(names, system=True):
            state = VALID if one.until is None else validity(one.until - at)
            found.append(Trusted("CLIENT_NAME", one.common_name, state, one.since, one.until))
        if self._issuer is not None:
            found.append(Trusted("OWN_ISSUER" if self._issues_tokens else "OUTSIDE_ISSUER", self._issuer))
        if self._issues_tokens:
            keys = await list_signing_keys(database, token_seconds=TOKEN_SECONDS, at=at)
            found += [_of_key(key) for key in keys]
        return found


def _of_listener(material: TlsMaterial | None, at: datetime) -> Iterator[Trusted]:
    if material is None or material.listener is None or material.authorities is None:
        return
    yield _of_certificate("SERVER_CERTIFICATE", material.listener, at)
    authorities = material.authorities
    for authority in authorities.certificates:
        yield _of_certificate("CLIENT_AUTHORITY", authority, at)
        known, name = authorities.list_of(authority), name_of(authority)
        if known is None:
            yield Trusted("REVOCATION_LIST", name, "MISSING")
            continue
        state = validity(known.until - at, notice_of(known))
        yield Trusted("REVOCATION_LIST", name, state, known.since, known.until)


def _of_certificate(use: str, one: x509.Certificate, at: datetime) -> Trusted:
    since, until = one.not_valid_before_utc, one.not_valid_after_utc
    fingerprint = hashlib.sha256(one.public_bytes(Encoding.DER)).hexdigest().upper()
    pairs = ":".join(fingerprint[place : place + 2] for place in range(0, len(fingerprint), 2))
    return Trusted(use, name_of(one), validity(until - at), since, until, pairs)


def _of_key(key: SigningKey) -> Trusted:
    """A key that no longer signs ends with the last of its tokens: nothing to warn of."""
    until = None if key.retired_at is None else key.retired_at + timedelta(seconds=TOKEN_SECONDS)
    return Trusted("SIGNING_KEY", key.key_id, VALID, key.created_at, until)

"""Clients of the built-in token issuer."""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from promenade.errors import Conflict, Invalid, NotFound, Unauthorized
from promenade.model.access.clients import SCOPES
from promenade.model.access.secret_policy import NO_POLICY, SecretPolicy
from promenade.store.access import clients as access
from promenade.store.access.clients import NO_SECRET, digest_of
from promenade.store.access.people import is_user_name
from promenade.store.access.tenants import tenant_is_known
from promenade.store.driver.unit import Database, Session

OVERLAP_HOURS_MAX = 24 * 30


@dataclass(frozen=True, slots=True)
class Client:
    """A client that may request tokens for one tenant, with at most these scopes."""

    client_id: str
    tenant_id: str
    scopes: tuple[str, ...]
    name: str | None
    created_at: datetime
    rotated_at: datetime | None = None
    former_until: datetime | None = None
    tokens_from: datetime | None = None
    last_used_at: datetime | None = None
    is_active: bool = True
    code: str | None = None
    enrolment_until: datetime | None = None
    has_secret: bool = True
    policy: SecretPolicy = NO_POLICY
    used_former: bool = False  # it has shown the secret before its present one

    def accepts_former_until(self, now: datetime) -> datetime | None:
        """Return how long the secret before the present one is still accepted; None: it is not."""
        return self.former_until if self.former_until is not None and now < self.former_until else None

    @property
    def secret_since(self) -> datetime:
        """The time from which the age of its secret counts."""
        return self.rotated_at or self.created_at

    def is_overdue(self, now: datetime) -> bool:
        """Return whether it is active with a secret that is older than its tenant allows."""
        latest = self.policy.overdue_at(self.secret_since)
        return self.is_active and self.has_secret and latest is not None and latest <= now

    def secret_due_at(self, now: datetime) -> datetime | None:
        """Return when the client should replace its secret; None: never. One that has shown its former secret: now."""
        if self.used_former and self.policy.days is not None:
            return now
        return self.policy.due_at(self.client_id, self.secret_since)

    def secret_ends_at(self, now: datetime) -> datetime | None:
        """Return when the secret that it has shown, or its present one, will be refused; None: never."""
        return self.accepts_former_until(now) if self.used_former else self.policy.refused_at(self.secret_since)


async def create_client(
    database: Database,
    *,
    client_id: str,
    secret: str,
    tenant_id: str,
    scopes: Sequence[str],
    at: datetime,
    name: str | None = None,
) -> Client:
    """Store a client with only a digest of ``secret``, which must be 256 random bits or equally strong.

    Raises NotFound (TENANT_NOT_FOUND), Invalid (UNKNOWN_SCOPE) and Conflict (NAME_TAKEN).
    """
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        given = f"{unknown[0]} is not a scope" if unknown else "A client needs a scope"
        raise Invalid("UNKNOWN_SCOPE", f"{given}; the scopes are {', '.join(SCOPES)}.", "scope")
    client = Client(client_id, tenant_id, tuple(dict.fromkeys(scopes)), name, at)

    async def work(session: Session) -> None:
        await _require_tenant(session, tenant_id)
        if await is_user_name(session, tenant_id, client_id):
            message = "A person has this name, and createdBy must tell who acted: choose another one."
            raise Conflict("NAME_TAKEN", message, "client_id")
        row = {
            "id": str(uuid.uuid5(uuid.NAMESPACE_OID, client_id)),
            "client_id": client_id,
            "tenant_id": tenant_id,
            "name": name,
            "secret_digest": digest_of(secret),
            "scopes": list(client.scopes),
            "created_at": at,
            "modified_at": at,
        }
        await access.insert_client(session, row)

    await database.write(work, system=True)
    return client


async def authenticate_client(database: Database, client_id: str, secret: str, *, at: datetime) -> Client | None:
    """Return the client with this secret, or None; takes the same time for an unknown client and a wrong secret.

    A secret that was replaced counts until its time has run out. Raises Unauthorized (SECRET_EXPIRED) for a secret that
    is right, but older than its tenant allows.
    """

    async def work(session: Session) -> Any:
        # PostgreSQL stores no NUL and refuses it in a query.
        return None if "\0" in client_id else await access.find_client(session, client_id)

    row = await database.read(work, system=True)
    client = None if row is None else client_of(row)
    present = digest_of("") if row is None else row.secret_digest
    is_former_accepted = client is not None and client.accepts_former_until(at) is not None
    former = row.former_digest if row is not None and is_former_accepted else present
    given = digest_of(secret).encode("ascii")
    matches = [hmac.compare_digest(one.encode("ascii"), given) for one in (present, former)]
    if client is None or not any(matches):
        return None
    client = replace(client, used_former=not matches[0])
    ends_at = client.secret_ends_at(at)
    if ends_at is not None and ends_at <= at:
        message = "The secret is older than the tenant allows: an administrator gives the client a new one."
        raise Unauthorized("SECRET_EXPIRED", message)
    return client


async def rotate_client(
    database: Database,
    client_id: str,
    secret: str,
    *,
    at: datetime,
    overlap_hours: int | None = None,
    withdraws: bool = False,
) -> datetime | None:
    """Replace a client's secret; return until when the present one is accepted, None: not any more.

    Of three secrets only the last two work. ``overlap_hours``: None, as the tenant has set it. ``withdraws``: its
    secret has leaked, so the present one, its enrolment code, and the tokens issued so far, are refused. Raises
    NotFound (CLIENT_NOT_FOUND) and Invalid (OUT_OF_RANGE).
    """
    if overlap_hours is not None and not 0 <= overlap_hours <= OVERLAP_HOURS_MAX:
        raise Invalid("OUT_OF_RANGE", f"`overlapHours` must be from 0 to {OVERLAP_HOURS_MAX}.", "overlapHours")

    async def work(session: Session) -> datetime | None:
        found = await access.read_client(session, client_id)
        if found is None:
            raise _no_client(client_id)
        overlap = client_of(found).policy.overlap if overlap_hours is None else timedelta(hours=overlap_hours)
        until = at + overlap if overlap and not withdraws else None
        values: dict[str, Any] = {"secret_digest": digest_of(secret), "former_until": until, "rotated_at": at}
        if withdraws:
            values |= {"tokens_from": at, "enrolment_digest": None, "enrolment_until": None}
        await access.change_client(session, client_id, values, keeps_former=until is not None)
        return until

    return await database.write(work, system=True)


async def list_clients(database: Database, tenant_id: str | None = None) -> list[Client]:
    """Return all clients, or those of one tenant, oldest first."""

    async def work(session: Session) -> list[Client]:
        return [client_of(row) for row in await access.read_clients(session, tenant_id)]

    return await database.read(work, system=True)


async def delete_client(database: Database, client_id: str) -> None:
    """Delete a client: it gets no more tokens, and those that it has are refused within half a minute.

    Raises NotFound (CLIENT_NOT_FOUND).
    """

    async def work(session: Session) -> None:
        if not await access.delete_client(session, client_id):
            raise _no_client(client_id)

    await database.write(work, system=True)


def client_of(row: Any) -> Client:
    """Return the client of a row of `Clients`."""
    return Client(
        row.client_id,
        row.tenant_id,
        tuple(row.scopes),
        row.name,
        row.created_at,
        row.rotated_at,
        row.former_until,
        row.tokens_from,
        row.last_used_at,
        row.is_active,
        row.code,
        row.enrolment_until,
        row.secret_digest != NO_SECRET,
        SecretPolicy(row.secret_days, row.secret_overlap_hours, row.secret_grace_days),
    )


class ClientDirectory:
    """Tells for how long back a client's tokens are accepted; kept for half a minute, only for clients that exist."""

    SECONDS_KEPT = 30.0

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, tuple[str, float, float]] = {}  # tenant, tokens from, known until

    async def accepts(self, tenant_id: str, client_id: str, issued_at: float) -> bool:
        """Return whether a token is accepted that the client got for this tenant at this time, seconds since 1970."""
        now = self._clock().timestamp()
        known = self._known.get(client_id)
        if known is None or not 0 < known[2] - now <= self.SECONDS_KEPT:
            client = await self._find(client_id)
            if client is None:
                self._known.pop(client_id, None)
                return False
            known = (client.tenant_id, _first_token(client), now + self.SECONDS_KEPT)
            self._known[client_id] = known
        return known[0] == tenant_id and issued_at >= known[1]

    async def _find(self, client_id: str) -> Client | None:
        async def work(session: Session) -> Client | None:
            row = await access.find_client(session, client_id)
            return None if row is None else client_of(row)

        return None if "\0" in client_id else await self._database.read(work, system=True)


def _first_token(client: Client) -> float:
    """Return the time of the first token that is accepted; tokens tell theirs in whole seconds."""
    created = float(int(client.created_at.timestamp()))
    return created if client.tokens_from is None else max(created, client.tokens_from.timestamp())


def _no_client(client_id: str) -> NotFound:
    return NotFound("CLIENT_NOT_FOUND", f"There is no client {client_id}.")


async def _require_tenant(session: Session, tenant_id: str) -> None:
    if not await tenant_is_known(session, tenant_id):
        text = f"There is no tenant {tenant_id}: create it with `promenade tenant create {tenant_id}`."
        raise NotFound("TENANT_NOT_FOUND", text, "tenant")

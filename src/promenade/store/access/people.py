"""People of the built-in issuer, and their sessions.

People are looked up before a tenant is known: these functions need a system session unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, delete, exists, insert, not_, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_PEOPLE = table("People")
_SESSIONS = table("person_sessions")
_CLIENTS = table("Clients")
_TENANTS = table("Tenants")

_NEEDS_APP = or_(_PEOPLE.c.code_required, _TENANTS.c.code_required.is_(True))
"""Whether a person signs in with codes of an app alone: it is required of the person, or of the whole tenant."""


async def find_person(session: Session, tenant_id: str, user_name: str) -> Row[Any] | None:
    """Return the person, or None if there is none or they are switched off."""
    statement = _people().where(_PEOPLE.c.tenant_id == tenant_id, _PEOPLE.c.user_name == user_name, _PEOPLE.c.is_active)
    rows = await session.execute(statement)
    return rows[0] if rows else None


def _people() -> Select[Any]:
    """Return the query of people, each with ``needs_app``."""
    return select(_PEOPLE, _NEEDS_APP.label("needs_app")).join(_TENANTS, _TENANTS.c.tenant_id == _PEOPLE.c.tenant_id)


async def read_people(session: Session) -> Sequence[Row[Any]]:
    """Return the people of the session's tenant by name; needs a session of a tenant."""
    return await session.execute(select(_PEOPLE).order_by(_PEOPLE.c.user_name))


async def find_invited(session: Session, digest: str, at: datetime) -> Row[Any] | None:
    """Return whom the link of an invitation is for, None if it has been used or has expired."""
    rows = await session.execute(_people().where(_is_invited(digest, at)))
    return rows[0] if rows else None


async def accept_invitation(session: Session, digest: str, at: datetime, values: Mapping[str, Any]) -> bool:
    """Store what the person has chosen, and end the link; return whether it was still there to be used."""
    # Its version stays, as with a sign-in: an administrator who looks at the person may go on.
    return bool(await session.rowcount(update(_PEOPLE).where(_is_invited(digest, at)).values(**_USED, **values)))


_USED = {"invitation_digest": None, "invited_until": None}


def _has_link(digest: str, at: datetime) -> Any:
    return and_(_PEOPLE.c.invitation_digest == digest, _PEOPLE.c.invited_until > at, _PEOPLE.c.is_active)


def _is_invited(digest: str, at: datetime) -> Any:
    return and_(_has_link(digest, at), _PEOPLE.c.password_hash.is_(None))


# Whoever has a password has no link, so its place is free for the step in which the person sets up an app.


def _sets_up_app(digest: str, at: datetime) -> Any:
    return and_(_has_link(digest, at), _PEOPLE.c.password_hash.is_not(None), _PEOPLE.c.code_key.is_(None))


async def offer_app(session: Session, person: Row[Any], digest: str, until: datetime) -> bool:
    """Let whoever has this secret set up the person's app; return whether what the row says is still so."""
    same = (
        _PEOPLE.c.tenant_id == person.tenant_id, _PEOPLE.c.id == person.id, _PEOPLE.c.is_active,
        _PEOPLE.c.password_hash == person.password_hash, _PEOPLE.c.code_key.is_(None),
    )  # fmt: skip
    values = {"invitation_digest": digest, "invited_until": until}
    return bool(await session.rowcount(update(_PEOPLE).where(*same).values(**values)))


async def find_offered_app(session: Session, digest: str, at: datetime) -> Row[Any] | None:
    """Return who sets up an app with this secret, None if it was used, has expired, or no app is needed any more."""
    rows = await session.execute(_people().where(_sets_up_app(digest, at), _NEEDS_APP))
    return rows[0] if rows else None


async def set_up_app(session: Session, digest: str, at: datetime, values: Mapping[str, Any]) -> bool:
    """Store a person's app, and end the secret; return whether it could still be used."""
    needs = select(_TENANTS.c.tenant_id).where(_TENANTS.c.tenant_id == _PEOPLE.c.tenant_id, _NEEDS_APP)
    statement = update(_PEOPLE).where(_sets_up_app(digest, at), exists(needs.correlate(_PEOPLE)))
    return bool(await session.rowcount(statement.values(**_USED, **values)))


async def note_sign_in(session: Session, person: Row[Any], at: datetime, step: int | None) -> bool:
    """Record a sign-in with what the row says, and the code of that half minute, which can be used once.

    Return whether nothing of it has changed meanwhile.
    """
    same = [
        _PEOPLE.c.id == person.id, _PEOPLE.c.is_active, _PEOPLE.c.password_hash == person.password_hash,
        _PEOPLE.c.code_key.is_not_distinct_from(person.code_key),
    ]  # fmt: skip
    values: dict[str, Any] = {"last_sign_in_at": at}
    if step is not None:
        same.append(or_(_PEOPLE.c.code_step.is_(None), _PEOPLE.c.code_step < step))
        values["code_step"] = step
    statement = update(_PEOPLE).where(_PEOPLE.c.tenant_id == person.tenant_id, *same)
    return bool(await session.rowcount(statement.values(**values)))


async def replace_password(session: Session, person: Row[Any], at: datetime, password_hash: str) -> bool:
    """Store the password that a person has now; return whether it was still the one of the row."""
    same = (_PEOPLE.c.id == person.id, _PEOPLE.c.is_active, _PEOPLE.c.password_hash == person.password_hash)
    # Its version stays, as with a sign-in.
    values = {"password_hash": password_hash, "password_since": at}
    return bool(await session.rowcount(update(_PEOPLE).where(*same).values(**_USED, **values)))


async def has_app(session: Session, user_name: str) -> bool:
    """Return whether a person of the session's tenant has this name, may sign in, and has an app."""
    same = (_PEOPLE.c.user_name == user_name, _PEOPLE.c.is_active, _PEOPLE.c.code_key.is_not(None))
    return bool(await session.execute(select(_PEOPLE.c.id).where(*same)))


async def other_administrators(session: Session, scope: str, without: Collection[str]) -> bool:
    """Return whether somebody else has the scope: a person who has a password, or a client; in a tenant's session."""
    people = select(_PEOPLE.c.scopes).where(
        _PEOPLE.c.is_active, _PEOPLE.c.password_hash.is_not(None), _PEOPLE.c.id.not_in(without)
    )
    clients = select(_CLIENTS.c.scopes).where(_CLIENTS.c.is_active)
    found = [*await session.execute(people), *await session.execute(clients)]
    return any(scope in row.scopes for row in found)


async def is_user_name(session: Session, tenant_id: str, name: str) -> bool:
    """Return whether a person of the tenant has this name, switched off or not."""
    statement = select(_PEOPLE.c.id).where(_PEOPLE.c.tenant_id == tenant_id, _PEOPLE.c.user_name == name)
    return bool(await session.execute(statement))


async def client_ids(session: Session, names: Collection[str]) -> set[str]:
    """Return which of these names clients have, in a tenant's session."""
    rows = await session.execute(select(_CLIENTS.c.client_id).where(_CLIENTS.c.client_id.in_(names)))
    return {row.client_id for row in rows}


# ---- sessions -------------------------------------------------------------------------------------------------------


async def insert_session(session: Session, row: Mapping[str, Any]) -> None:
    """Insert a session."""
    await session.rowcount(insert(_SESSIONS), row)


async def find_session(session: Session, session_id: str) -> Row[Any] | None:
    """Return a session with its person; None: it has ended, the person is switched off, or needs an app and has set up
    none before the session began.
    """
    statement = (
        select(
            _SESSIONS, _PEOPLE.c.user_name, _PEOPLE.c.scopes, _PEOPLE.c.tokens_from,
        )
        .join(_PEOPLE, and_(_PEOPLE.c.tenant_id == _SESSIONS.c.tenant_id, _PEOPLE.c.id == _SESSIONS.c.person_id))
        .join(_TENANTS, _TENANTS.c.tenant_id == _PEOPLE.c.tenant_id)
        .where(
            _SESSIONS.c.id == session_id, _PEOPLE.c.is_active,
            or_(not_(_NEEDS_APP), _PEOPLE.c.code_since <= _SESSIONS.c.began_at),
        )
    )  # fmt: skip
    rows = await session.execute(statement)
    return rows[0] if rows else None


async def read_sessions(session: Session, person_id: str, limit: int) -> Sequence[Row[Any]]:
    """Return a person's sessions, of the session's tenant, the one used last first, at most ``limit``.

    Some may have ended.
    """
    columns = [_SESSIONS.c[name] for name in ("id", "began_at", "renewed_at", "ends_at", "browser")]
    own = select(*columns).where(_SESSIONS.c.person_id == person_id)
    return await session.execute(own.order_by(_SESSIONS.c.renewed_at.desc(), _SESSIONS.c.id).limit(limit))


async def delete_own_sessions(session: Session, person_id: str, session_ids: Collection[str]) -> None:
    """End those of a person's sessions, of the session's tenant."""
    chosen = (_SESSIONS.c.person_id == person_id, _SESSIONS.c.id.in_(session_ids))
    await session.rowcount(delete(_SESSIONS).where(*chosen))


async def rotate_session(session: Session, session_id: str, digest: str, values: Mapping[str, Any]) -> bool:
    """Replace a session's secret, which becomes the former one; return whether ``digest`` was its."""
    statement = update(_SESSIONS).where(_SESSIONS.c.id == session_id, _SESSIONS.c.secret_digest == digest)
    return bool(await session.rowcount(statement.values(former_digest=_SESSIONS.c.secret_digest, **values)))


async def delete_session(session: Session, session_id: str) -> bool:
    """End a session; return whether it was there."""
    return bool(await session.rowcount(delete(_SESSIONS).where(_SESSIONS.c.id == session_id)))


async def delete_sessions(session: Session, people: Collection[str]) -> None:
    """End all sessions of people of the session's tenant."""
    await session.rowcount(delete(_SESSIONS).where(_SESSIONS.c.person_id.in_(people)))


async def delete_other_sessions(session: Session, person_id: str, session_id: str) -> None:
    """End all sessions of a person of the session's tenant except this one."""
    others = (_SESSIONS.c.person_id == person_id, _SESSIONS.c.id != session_id)
    await session.rowcount(delete(_SESSIONS).where(*others))


async def delete_ended_sessions(session: Session, at: datetime, renewed_until: datetime) -> None:
    """Delete what has ended by ``at``, or was not renewed since ``renewed_until``, of the session's tenant."""
    ended = or_(_SESSIONS.c.ends_at <= at, _SESSIONS.c.renewed_at <= renewed_until)
    await session.rowcount(delete(_SESSIONS).where(ended))

"""People sign in with user name, password and, if they have an app, its code; a link lets them choose these.

Whoever guesses learns nothing: an unknown name, a wrong password and a wrong code take as long and end alike. Who has
shown the password, needs an app and has none sets it up before anything else, with a secret that does nothing but that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from promenade.errors import Invalid, NotFound, Unauthorized
from promenade.model.access.people import SET_UP_MINUTES, user_name_of
from promenade.model.declare import Service
from promenade.store.access import people as store
from promenade.store.access.clients import digest_of, secret_of
from promenade.store.access.tenants import read_tenants, tenant_is_known
from promenade.store.authoring.trail import Action, Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.one_time_codes import is_key, step_of
from promenade.workflows.access.passwords import NOBODYS, Passwords, check_password, hash_password
from promenade.workflows.access.person_sessions import begin_session, list_sessions, read_session

if TYPE_CHECKING:
    from promenade.workflows.authoring import Authoring

_USER = "cli"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Invited:
    """Whom a link is for."""

    tenant_id: str
    user_name: str
    name: str | None
    code_required: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a person has chosen by a link: a password, and the key of an app with a code that proves it."""

    password: str
    key: str | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class SettingUp:
    """A person who has shown the password, and gets in by setting up an app; ``secret`` lets them do it, once."""

    secret: str
    tenant_id: str
    user_name: str


@dataclass(frozen=True, slots=True)
class OwnSession:
    """Where a person is signed in: a browser, or None where it has not said which; ``is_this``: the one that asks."""

    id: str
    browser: str | None
    began_at: datetime
    renewed_at: datetime
    ends_at: datetime
    is_this: bool


class People:
    """Signs people in, and lets invited ones choose their passwords."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        passwords: Passwords | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._passwords = passwords or Passwords(waiting_max=32)

    async def tenants(self) -> list[str]:
        """Return all tenants: with one, nobody needs to name it."""

        async def work(session: Session) -> list[str]:
            return [row.tenant_id for row in await read_tenants(session)]

        return await self._database.read(work, system=True)

    async def sign_in(self, tenant_id: str, user_name: str, password: str, code: str) -> str | SettingUp | None:
        """Return the cookie of a new session; None: the name, the password or the code is wrong.

        Who needs an app and has none gets no session, but may set one up: see `set_up_app`.

        Raises TooMany (TOO_MANY_ATTEMPTS) if too many passwords are being verified.
        """
        name = user_name_of(user_name)

        async def read(session: Session) -> Any:
            return None if "\0" in tenant_id + name else await store.find_person(session, tenant_id, name)

        person = await self._database.read(read, system=True)
        hashed = None if person is None else person.password_hash
        is_right = await self._passwords.verify(password, hashed or NOBODYS)
        at = self._clock()
        step = None if person is None or person.code_key is None else step_of(person.code_key, code, at)
        if person is None or hashed is None or not is_right or (person.code_key is not None and step is None):
            return None
        if person.needs_app and person.code_key is None:
            return await self._offer_app(person, at)

        async def write(session: Session) -> str | None:
            if not await store.note_sign_in(session, person, at, step):
                return None
            await write_trail(session, [self._entry(person, "SIGN_IN", at)])
            return await begin_session(session, person.id, new_id=self._new_id, at=at)

        return await self._database.write(write, tenant=tenant_id)

    async def _offer_app(self, person: Any, at: datetime) -> SettingUp | None:
        secret, until = secret_of(self._new_id), at + timedelta(minutes=SET_UP_MINUTES)
        is_offered = await self._database.write(
            lambda session: store.offer_app(session, person, digest_of(secret), until), tenant=person.tenant_id
        )
        return SettingUp(secret, person.tenant_id, person.user_name) if is_offered else None

    async def setting_up(self, secret: str) -> SettingUp:
        """Return who may set up an app with this secret.

        Raises NotFound (INVITATION_INVALID) if it was used, has expired, or no app is needed any more.
        """
        row = await self._holder(store.find_offered_app, secret)
        return SettingUp(secret, row.tenant_id, row.user_name)

    async def set_up_app(self, secret: str, key: str, code: str) -> str | None:
        """Store the app that a person has set up, and return the cookie of a new session; None: the code is wrong.

        Raises NotFound (INVITATION_INVALID) as `setting_up` does.
        """
        row = await self._holder(store.find_offered_app, secret)
        at = self._clock()
        step = step_of(key, code, at) if is_key(key) else None
        if step is None:
            return None
        values = {"code_key": key, "code_step": step, "code_since": at, "last_sign_in_at": at}

        async def write(session: Session) -> str | None:
            if not await store.set_up_app(session, digest_of(secret), at, values):
                return None
            await write_trail(session, [self._entry(row, action, at) for action in ("SET_UP_APP", "SIGN_IN")])
            return await begin_session(session, row.id, new_id=self._new_id, at=at)

        cookie = await self._database.write(write, tenant=row.tenant_id)
        if cookie is None:
            raise _no_invitation()
        return cookie

    async def change_password(self, session_id: str, password: str, new_password: str) -> bool:
        """Replace the password of the person who has this session, and end all others that the person has.

        False: ``password`` is not the current one. Raises Unauthorized (UNAUTHORIZED) if the session has ended, Invalid
        (PASSWORD_UNCHANGED, PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_GUESSABLE) about the new password, and
        TooMany (TOO_MANY_ATTEMPTS) if too many passwords are being verified.
        """
        at = self._clock()
        person = await self._signed_in(session_id, at)
        if not await self._passwords.verify(password, person.password_hash or NOBODYS):
            return False
        if check_password(new_password, "newPassword") == check_password(password):
            raise Invalid("PASSWORD_UNCHANGED", "The new password is the one that you have.", "newPassword")
        about = (person.user_name, person.name, person.tenant_id)
        hashed = await self._passwords.hash_new(new_password, about, "newPassword")

        async def write(session: Session) -> bool:
            if not await store.replace_password(session, person, at, hashed):
                return False
            await store.delete_other_sessions(session, person.id, session_id)
            await write_trail(session, [self._entry(person, "CHANGE_PASSWORD", at)])
            return True

        return await self._database.write(write, tenant=person.tenant_id)

    async def sessions(self, session_id: str) -> list[OwnSession]:
        """Return where the person is signed in who has this session, the one used last first.

        Raises Unauthorized (UNAUTHORIZED) if it has ended.
        """
        at = self._clock()
        person = await self._signed_in(session_id, at)

        async def read(session: Session) -> list[OwnSession]:
            return [
                OwnSession(one.id, one.browser, one.began_at, one.renewed_at, one.ends_at, one.id == session_id)
                for one in await list_sessions(session, person.id, at)
            ]

        return await self._database.read(read, tenant=person.tenant_id)

    async def end_sessions(self, session_id: str, password: str, ended: Collection[str]) -> bool:
        """End those of the sessions of the person who has this session; others, and what has ended, are passed over.

        False: ``password`` is not the person's. Raises Unauthorized (UNAUTHORIZED) if this session has ended, and
        TooMany (TOO_MANY_ATTEMPTS) if too many passwords are being verified.
        """
        person = await self._signed_in(session_id, self._clock())
        if not await self._passwords.verify(password, person.password_hash or NOBODYS):
            return False
        await self._database.write(
            lambda session: store.delete_own_sessions(session, person.id, ended), tenant=person.tenant_id
        )
        return True

    async def _signed_in(self, session_id: str, at: datetime) -> Any:
        """Return the row of the person who has a session. Raises Unauthorized."""

        async def read(session: Session) -> Any:
            found = await read_session(session, session_id, at)
            return None if found is None else await store.find_person(session, found.tenant_id, found.user_name)

        person = await self._database.read(read, system=True)
        if person is None:
            raise Unauthorized("UNAUTHORIZED", "The sign-in has ended.")
        return person

    async def invited(self, invitation: str) -> Invited:
        """Return whom a link is for. Raises NotFound (INVITATION_INVALID) if it has been used or has expired."""
        row = await self._holder(store.find_invited, invitation)
        return Invited(row.tenant_id, row.user_name, row.name, row.needs_app)

    async def accept(self, invitation: str, chosen: Chosen) -> None:
        """Store what the person has chosen; the link ends with it.

        Raises NotFound (INVITATION_INVALID), Invalid (PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_GUESSABLE,
        CODE_REQUIRED, CODE_WRONG) and TooMany.
        """
        row = await self._holder(store.find_invited, invitation)
        at = self._clock()
        key, step = _app_of(chosen, at, is_required=row.needs_app)
        hashed = await self._passwords.hash_new(chosen.password, (row.user_name, row.name, row.tenant_id))
        values = {"password_hash": hashed, "password_since": at, "code_key": key, "code_step": step,
                  "code_since": None if key is None else at}  # fmt: skip

        async def write(session: Session) -> bool:
            if not await store.accept_invitation(session, digest_of(invitation), at, values):
                return False
            await write_trail(session, [self._entry(row, "ACCEPT_INVITATION", at)])
            return True

        if not await self._database.write(write, tenant=row.tenant_id):
            raise _no_invitation()

    async def _holder(self, find: Callable[[Session, str, datetime], Awaitable[Any]], secret: str) -> Any:
        """Return the person whom ``find`` finds by a secret. Raises NotFound (INVITATION_INVALID)."""
        at = self._clock()
        row = await self._database.read(lambda session: find(session, digest_of(secret), at), system=True)
        if row is None:
            raise _no_invitation()
        return row

    def _entry(self, person: Any, action: Action, at: datetime) -> dict[str, Any]:
        subject = Subject("People", person.id, person.name or person.user_name)
        return dict(trail_entry(self._new_id(), at, person.user_name, action, subject))


def _app_of(chosen: Chosen, at: datetime, *, is_required: bool) -> tuple[str | None, int | None]:
    """Return the key of the person's app, and the half minute of the code that proves it; None without an app."""
    if not chosen.code.strip():
        if is_required:
            raise Invalid("CODE_REQUIRED", "A code of an authenticator app is needed.", "code")
        return None, None
    step = step_of(chosen.key, chosen.code, at) if chosen.key is not None and is_key(chosen.key) else None
    if step is None:
        raise Invalid("CODE_WRONG", "The code is wrong: enter the one that the app shows now.", "code")
    return chosen.key, step


def _no_invitation() -> NotFound:
    return NotFound("INVITATION_INVALID", "The link has been used, has expired, or is none of ours.")


async def list_people(database: Database, tenant_id: str) -> Sequence[Any]:
    """Return the rows of a tenant's people, by name."""
    return await database.read(store.read_people, tenant=tenant_id)


async def invite_person(
    database: Database,
    tenant_id: str,
    user_name: str,
    *,
    scopes: Sequence[str],
    new_id: Callable[[], str],
    at: datetime,
    name: str | None = None,
    code_required: bool = False,
    user: str = _USER,
) -> str:
    """Make a person and return the secret of their link. Raises NotFound (TENANT_NOT_FOUND), Invalid and Conflict."""
    row = {"userName": user_name, "name": name, "scopes": list(scopes), "codeRequired": code_required}

    async def work(session: Session, authoring: Authoring) -> str:
        if not await tenant_is_known(session, tenant_id):
            raise NotFound("TENANT_NOT_FOUND", f"There is no tenant {tenant_id}.", "tenant")
        person_id = await authoring.create("People", row)
        return str(authoring.shown_once["People"][person_id]["invitation"])

    return await _authored(database, tenant_id, work, user=user, new_id=new_id, at=at)


async def change_person(
    database: Database,
    tenant_id: str,
    user_name: str,
    changes: Mapping[str, Any],
    *,
    new_id: Callable[[], str],
    at: datetime,
) -> str | None:
    """Change a person by the names of `/admin/People`; return the secret of a new link, if one is asked for.

    Raises NotFound (PERSON_NOT_FOUND), Invalid and Conflict.
    """

    async def work(session: Session, authoring: Authoring) -> str | None:
        wanted = user_name_of(user_name)
        row = next((one for one in await store.read_people(session) if one.user_name == wanted), None)
        if row is None:
            raise NotFound("PERSON_NOT_FOUND", f"Tenant {tenant_id} has no person {wanted}.")
        await authoring.update("People", row.id, changes)
        made = authoring.shown_once.get("People", {}).get(row.id)
        return None if made is None else str(made["invitation"])

    return await _authored(database, tenant_id, work, user=_USER, new_id=new_id, at=at)


async def _authored(
    database: Database,
    tenant_id: str,
    work: Callable[[Session, Authoring], Awaitable[T]],
    *,
    user: str,
    new_id: Callable[[], str],
    at: datetime,
) -> T:
    # Imported when needed: it brings the engine, which signing in does not need.
    from promenade.workflows.authoring import Authoring  # noqa: PLC0415

    async def unit(session: Session) -> T:
        authoring = Authoring(session, user=user, at=at, new_id=new_id, service=Service.ADMIN)
        await authoring.begin(alone=True)
        found = await work(session, authoring)
        await authoring.finish()
        return found

    return await database.write(unit, tenant=tenant_id)


async def set_password(database: Database, tenant_id: str, user_name: str, password: str, at: datetime) -> None:
    """Give an invited person a password, as their link does; for a demo, which prints it."""
    values = {"password_hash": hash_password(password), "password_since": at}

    async def work(session: Session) -> None:
        row = next(one for one in await store.read_people(session) if one.user_name == user_name)
        await store.accept_invitation(session, row.invitation_digest, at, values)

    await database.write(work, tenant=tenant_id)

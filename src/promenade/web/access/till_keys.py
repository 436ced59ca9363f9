"""`/local-admin/...TillKey`: the administrator of a store gives tills keys of their own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Invalid
from promenade.log import Logger
from promenade.store.access.till_keys import TillKey
from promenade.store.driver.unit import Database
from promenade.web.access.api_key import StoreAuthenticator
from promenade.web.access.local_requests import (
    MOMENT,
    ROOT,
    Done,
    LocalRequests,
    address_of,
    local_answer,
    moment,
    text_of,
)
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.workflows.access.local_admin import KnownStore
from promenade.workflows.access.till_keys import (
    OVERLAP_HOURS,
    Author,
    create_till_key,
    list_till_keys,
    revoke_till_key,
    rotate_till_key,
)

_log = Logger("promenade.web")


class TillName(msgspec.Struct, frozen=True, rename="camel"):
    """A till that has a key of its own, or gets one."""

    name: str  #: Up to 50 characters.


class Rotation(msgspec.Struct, frozen=True, rename="camel"):
    """A till whose key is to be replaced."""

    name: str  #: Of the till.
    overlap_hours: int = OVERLAP_HOURS  #: How long its present key is still accepted: 0 to 720.


class NewTillKey(msgspec.Struct, frozen=True, rename="camel"):
    """A till's new key, which is not shown again."""

    name: str  #: Of the till.
    api_key: str  #: 64 hexadecimal digits, for `X-Api-Key`.
    former_until: str | None = None  #: How long the key before it is accepted; null: there is none. UTC.


class TillKeyState(msgspec.Struct, frozen=True, rename="camel"):
    """A till that has a key of its own."""

    name: str  #: Of the till.
    created_at: str  #: When it got its first key. UTC.
    rotated_at: str | None  #: When it got its present key, if that is another. UTC.
    former_until: str | None  #: How long the key before it is accepted; null: it is not. UTC.
    last_used_at: str | None  #: When it last showed a key, to a minute; null: never. UTC.


class TillKeys(msgspec.Struct, frozen=True, rename="camel"):
    """All tills that have keys of their own."""

    till_keys: list[TillKeyState]  #: By name.


class TillKeyAdmin:
    """The handlers. ``new_key`` returns 64 random hexadecimal digits, ``clock`` the time in UTC."""

    def __init__(
        self,
        database: Database,
        known: KnownStore,
        authenticator: StoreAuthenticator,
        requests: LocalRequests,
        *,
        new_key: Callable[[], str],
        by: Author,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._known = known
        self._authenticator = authenticator
        self._requests = requests
        self._new_key = new_key
        self._by = by
        self._clock = clock

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        handlers: dict[str, Handler] = {
            f"{ROOT}/listTillKeys": self._list,
            f"{ROOT}/createTillKey": self._create,
            f"{ROOT}/rotateTillKey": self._rotate,
            f"{ROOT}/revokeTillKey": self._revoke,
        }
        return [Endpoint(route, {"POST": handler}) for route, handler in handlers.items()]

    async def _list(self, scope: Scope, receive: Receive) -> Answer:
        """Return the tills that have keys of their own, without the keys, which are not stored."""
        await self._authenticator.session(scope)
        await self._requests.read(scope, receive)
        now = self._clock()
        return local_answer(TillKeys([_state(one, now) for one in await list_till_keys(self._database)]))

    async def _create(self, scope: Scope, receive: Receive) -> Answer:
        """Give a till a key of its own, shown only in this answer."""
        await self._authenticator.session(scope)
        name = text_of(await self._requests.read(scope, receive), "name")
        key = self._new_key()
        await create_till_key(self._database, name, key, at=self._clock(), by=self._by)
        await self._known.expect_changes()
        _log.info("till_key.created", till=name, address=address_of(scope))
        return local_answer(NewTillKey(name, key))

    async def _rotate(self, scope: Scope, receive: Receive) -> Answer:
        """Replace a till's key; the present one is accepted for `overlapHours` more, so that no sale is refused."""
        await self._authenticator.session(scope)
        document = await self._requests.read(scope, receive)
        name, key = text_of(document, "name"), self._new_key()
        hours = document.get("overlapHours", OVERLAP_HOURS)
        if not isinstance(hours, int) or isinstance(hours, bool):
            raise Invalid("VALIDATION_FAILED", "overlapHours must be a whole number.", "overlapHours")
        until = await rotate_till_key(self._database, name, key, at=self._clock(), by=self._by, overlap_hours=hours)
        await self._known.expect_changes()
        _log.info("till_key.rotated", till=name, address=address_of(scope))
        return local_answer(NewTillKey(name, key, moment(until)))

    async def _revoke(self, scope: Scope, receive: Receive) -> Answer:
        """Refuse a till's keys from this moment on."""
        await self._authenticator.session(scope)
        name = text_of(await self._requests.read(scope, receive), "name")
        await revoke_till_key(self._database, name, at=self._clock(), by=self._by)
        await self._known.expect_changes()
        _log.info("till_key.revoked", till=name, address=address_of(scope))
        return local_answer(Done(True))


def _state(key: TillKey, now: datetime) -> TillKeyState:
    until = key.accepts_former_until(now)
    moments = (moment(key.rotated_at), moment(until), moment(key.last_used_at))
    return TillKeyState(key.name, f"{key.created_at:{MOMENT}}", *moments)

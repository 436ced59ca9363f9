"""The built-in issuer's clients, codes and keys in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.access.clients import note_use
from promenade.store.driver.unit import Database
from promenade.web.access.issuer import TOKEN_SECONDS, generate_signing_key
from promenade.workflows.access.authorization_codes import AuthorizationCode, keep_code, take_code
from promenade.workflows.access.clients import Client, authenticate_client
from promenade.workflows.access.own_secrets import Replaced, replace_own_secret
from promenade.workflows.access.people import People, SettingUp
from promenade.workflows.access.person_sessions import SignedIn, end_session, renew_session
from promenade.workflows.access.signing_keys import (
    SigningKey,
    add_first_signing_key,
    decrypted,
    encrypt_signing_keys,
    list_signing_keys,
)
from promenade.workflows.access.uses import Uses

_log = Logger("promenade.access")


class DatabaseIssuerStore:
    """Clients, codes and keys; the first key is created when it is first needed.

    With a ``passphrase`` keys are stored encrypted, earlier ones from the first time that they are read.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        passphrase: str | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._passphrase = passphrase
        self._decrypted: dict[str, str] = {}  # private keys by what is stored: to decrypt one takes a while
        self._uses = Uses(database, note_use)
        self.people = People(database, clock, new_id)

    async def authenticate(self, client_id: str, secret: str) -> Client | None:
        """Return the client with this ID and secret."""
        at = self._clock()
        client = await authenticate_client(self._database, client_id, secret, at=at)
        if client is not None:
            await self._uses.note(client_id, at)
        return client

    async def replace_secret(self, client_id: str, shown: str, new: str) -> Replaced | None:
        """Replace a client's secret by one that it has made."""
        at = self._clock()
        return await replace_own_secret(self._database, client_id, shown, new, at=at, new_id=self._new_id)

    async def signing_keys(self) -> Sequence[SigningKey]:
        """Return the keys that verify, the signing one first. Raises Unavailable (KEYS_UNREADABLE)."""
        keys = await list_signing_keys(self._database, token_seconds=TOKEN_SECONDS, at=self._clock())
        if not any(key.retired_at is None for key in keys):
            key = await asyncio.to_thread(generate_signing_key, self._new_id(), self._clock(), self._passphrase)
            await add_first_signing_key(self._database, key)
            keys = await list_signing_keys(self._database, token_seconds=TOKEN_SECONDS, at=self._clock())
        if self._passphrase is not None:
            await encrypt_signing_keys(self._database, keys, self._passphrase)
        try:
            self._decrypted = {key.private_key: await self._read(key.private_key) for key in keys}
        except Unavailable as error:  # what to do about it is the operator's to know
            _log.error("keys.unreadable", error=error.message)
            raise Unavailable("KEYS_UNREADABLE", "The server cannot read its keys; its log says why.") from error
        return [replace(key, private_key=self._decrypted[key.private_key]) for key in keys]

    async def _read(self, stored: str) -> str:
        known = self._decrypted.get(stored)
        return known if known is not None else await asyncio.to_thread(decrypted, stored, self._passphrase)

    async def keep_code(self, code: str, bound: AuthorizationCode) -> None:
        """Store a new code for a minute."""
        await keep_code(self._database, code, bound, self._clock())

    async def sign_in(self, tenant_id: str, user_name: str, password: str, code: str) -> str | SettingUp | None:
        """Return the cookie of a person's new session, or that the person is to set up an app first."""
        return await self.people.sign_in(tenant_id, user_name, password, code)

    async def setting_up(self, secret: str) -> SettingUp:
        """Return who may set up an app with this secret. Raises NotFound."""
        return await self.people.setting_up(secret)

    async def set_up_app(self, secret: str, key: str, code: str) -> str | None:
        """Store a person's app and return the cookie of a new session; None: the code is wrong. Raises NotFound."""
        return await self.people.set_up_app(secret, key, code)

    async def renew(self, cookie: str, browser: str | None) -> SignedIn | None:
        """Return whose session this cookie is of, with the next cookie, for the browser that shows it."""
        at = self._clock()
        return await renew_session(self._database, cookie, new_id=self._new_id, at=at, browser=browser)

    async def end(self, cookie: str) -> None:
        """End the session of a cookie."""
        await end_session(self._database, cookie)

    async def take_code(self, code: str, is_for: Callable[[AuthorizationCode], bool]) -> Client | SignedIn | None:
        """Return the client or person of a code that is bound to the request; works once per code."""
        return await take_code(self._database, code, self._clock(), is_for)

"""`/oauth/password`: a person who is signed in changes their password, and shows the current one as proof.

The page sends its token, as everywhere else. The current password is counted like one at the login page, so a browser
that was left open, or a token that was copied, helps nobody to guess it.
"""

from __future__ import annotations

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Forbidden, Invalid
from promenade.log import Logger
from promenade.web.access.auth import Authentication
from promenade.web.access.issuer import Issuer
from promenade.web.access.local_requests import read_object, text_of
from promenade.web.access.oauth import NO_STORE, address_of
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.workflows.access.people import People

PASSWORD = "/oauth/password"  # noqa: S105 - an address
_log = Logger("promenade.access")


class PasswordChange(msgspec.Struct, frozen=True, rename="camel"):
    """The current password of a person, and the next one."""

    password: str  #: The current password.
    new_password: str  #: The next one, from 8 characters to 1024 bytes, by the rules of invitations.


class OwnPassword:
    """The handler."""

    def __init__(self, authenticator: Authentication, issuer: Issuer, people: People) -> None:
        self._authenticator = authenticator
        self._issuer = issuer
        self._people = people

    def endpoints(self) -> list[Endpoint]:
        """Return the route."""
        return [Endpoint(PASSWORD, {"POST": self._change_password})]

    async def _change_password(self, scope: Scope, receive: Receive) -> Answer:
        """Replace the password of the person who sends the token, and end all sessions of the person except the one of
        the token; other tokens are refused within half a minute.

        A wrong current password is answered with 400 (`PASSWORD_WRONG`) and counted as at the login page: after 10 from
        one address, the answer is 429 for a minute.
        """
        caller = await self._authenticator.authenticate(scope)
        session_id, address = caller.session_id, address_of(scope)
        if session_id is None:
            raise Forbidden("NO_PASSWORD", "Clients have a secret and no password: POST /oauth/secret replaces it.")
        document = await read_object(scope, receive)
        password, new_password = text_of(document, "password"), text_of(document, "newPassword")

        async def attempt() -> bool | None:
            return await self._people.change_password(session_id, password, new_password) or None

        if not await self._issuer.counted(address, caller.tenant_id, caller.user, attempt):
            _log.warning("password.refused", user=caller.user, tenant=caller.tenant_id, address=address)
            raise Invalid("PASSWORD_WRONG", "The current password is wrong.", "password")
        _log.info("password.changed", user=caller.user, tenant=caller.tenant_id, address=address)
        return Answer(b"", 204, headers=[*NO_STORE])

"""The built-in token issuer: OAuth 2.0 client credentials and authorization codes (RFC 6749, 7636), its JWKS and its
discovery document."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from math import ceil
from typing import Protocol, TypeVar
from urllib.parse import unquote_plus

import msgspec
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.types import Receive, Scope

from promenade.errors import Invalid, NotFound, Unavailable
from promenade.log import Logger
from promenade.model.access.clients import SCOPES
from promenade.model.access.people import user_name_of
from promenade.web.access.attempts import Attempts, Counts, network_of
from promenade.web.access.auth import SESSION_CLAIM
from promenade.web.access.browsers import browser_of
from promenade.web.access.oauth import (
    BACK_OFFICE,
    NO_STORE,
    OAuthError,
    Refusal,
    address_of,
    challenge_of,
    cookie_of,
    oauth_problem,
    read_form,
    require_own_page,
    set_cookie,
)
from promenade.web.access.tokens import VerificationKey
from promenade.web.http.body import header, read_body
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.workflows.access.authorization_codes import AuthorizationCode
from promenade.workflows.access.clients import Client
from promenade.workflows.access.own_secrets import Replaced
from promenade.workflows.access.people import SettingUp
from promenade.workflows.access.person_sessions import SignedIn
from promenade.workflows.access.signing_keys import SigningKey, encrypted

ALGORITHM = "RS256"
KEY_BITS = 3072
TOKEN_SECONDS = 14_400  # about four hours
PERSON_TOKEN_SECONDS = 1800
"""How long a token of a person is valid: pages get the next one by the cookie of the session."""

_BODY_BYTES_MAX = 16 * 1024
_SHOWN_MAX = 64  # characters of a name that a stranger has sent, in the log
_log = Logger("promenade.access")
_GRANTS = ("client_credentials", "authorization_code")

T = TypeVar("T")


class IssuerStore(Protocol):
    """The storage that the issuer needs."""

    async def authenticate(self, client_id: str, secret: str) -> Client | None:
        """Return the client with this ID and secret."""
        ...

    async def signing_keys(self) -> Sequence[SigningKey]:
        """Return the keys that verify, the signing one first."""
        ...

    async def keep_code(self, code: str, bound: AuthorizationCode) -> None:
        """Store a new code for a minute."""
        ...

    async def take_code(self, code: str, is_for: Callable[[AuthorizationCode], bool]) -> Client | SignedIn | None:
        """Return the client or person of a code that is bound to the request; works once per code."""
        ...

    async def sign_in(self, tenant_id: str, user_name: str, password: str, code: str) -> str | SettingUp | None:
        """Return the cookie of a person's new session, or that the person is to set up an app first."""
        ...

    async def setting_up(self, secret: str) -> SettingUp:
        """Return who may set up an app with this secret. Raises NotFound."""
        ...

    async def set_up_app(self, secret: str, key: str, code: str) -> str | None:
        """Store a person's app and return the cookie of a new session; None: the code is wrong. Raises NotFound."""
        ...

    async def replace_secret(self, client_id: str, shown: str, new: str) -> Replaced | None:
        """Replace a client's secret by one that it has made."""
        ...

    async def renew(self, cookie: str, browser: str | None) -> SignedIn | None:
        """Return whose session this cookie is of, with the next cookie, for the browser that shows it."""
        ...


class TokenResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token."""

    access_token: str  #: Send it as `Authorization: Bearer ...`. A signed JWT.
    token_type: str  #: `bearer`.
    expires_in: int  #: Seconds until it expires; about four hours.
    scope: str  #: Its scopes, separated by spaces.
    session_expires_in: int | None = None  #: Seconds until the session of the person ends; clients have none.
    secret_due_in: int | None = None  #: Seconds until the client should replace its secret; absent: never.
    secret_ends_in: int | None = None  #: Seconds until the secret that it has sent is refused; absent: never.


class SecretResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The secret was replaced."""

    client_id: str  #: The client.
    former_secret_expires_in: int  #: Seconds for which the former secret is accepted; 0: it is not.
    secret_due_in: int | None = None  #: Seconds until the new secret is due; only if its tenant limits the age.


def generate_signing_key(key_id: str, at: datetime, passphrase: str | None = None) -> SigningKey:
    """Generate an RSA key of 3072 bits, which is worth 128 (NIST SP 800-57). It takes tenths of a second."""
    key = RSAKey.generate_key(KEY_BITS, {"kid": key_id}, private=True)
    pem = key.as_pem(private=True).decode("ascii")
    return SigningKey(key_id, ALGORITHM, encrypted(pem, passphrase), at)


class Issuer:
    """Signs tokens for clients that present their secret."""

    def __init__(
        self,
        store: IssuerStore,
        counts: Counts,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        *,
        issuer: str,
        base_url: str,
        audience: str,
    ) -> None:
        self._store = store
        self._attempts = Attempts("token", counts, failures_max=10)
        self._attempts_of_address = Attempts("token-address", counts, failures_max=100)
        # From everywhere: guessing from many addresses is slow, and a stranger keeps nobody out for longer.
        self._attempts_for_person = Attempts("person", counts, failures_max=100, window_seconds=900)
        self._clock = clock
        self._new_id = new_id
        self._issuer = issuer
        self._base_url = base_url
        self._is_secure = base_url.startswith("https:")
        self._audience = audience
        self._signing: tuple[str, RSAKey] | None = None

    def endpoints(self) -> list[Endpoint]:
        """Return the issuer's routes."""
        return [
            Endpoint("/oauth/token", {"POST": self._token}, oauth_problem),
            Endpoint("/oauth/secret", {"POST": self._secret}, oauth_problem),
            Endpoint("/oauth/session", {"POST": self._session}, oauth_problem),
            Endpoint("/oauth/jwks.json", {"GET": self._jwks}),
            Endpoint("/.well-known/jwks.json", {"GET": self._jwks}),
            Endpoint("/.well-known/openid-configuration", {"GET": self._configuration}),
            Endpoint("/.well-known/oauth-authorization-server", {"GET": self._authorization_server}),
        ]

    async def verification_keys(self) -> Sequence[VerificationKey]:
        """Return the public halves of the keys that verify."""
        return [
            RSAKey.import_key(RSAKey.import_key(key.private_key).as_dict(private=False, kid=key.key_id))
            for key in await self._store.signing_keys()
        ]

    async def _jwks(self, scope: Scope, receive: Receive) -> Answer:
        """Return the public keys that verify the tokens, as a JSON Web Key Set."""
        keys = [key.as_dict(private=False, use="sig", alg=ALGORITHM) for key in await self.verification_keys()]
        return Answer(msgspec.json.encode({"keys": keys}), headers=[(b"cache-control", b"public, max-age=300")])

    async def _configuration(self, scope: Scope, receive: Receive) -> Answer:
        """Return the URLs of the endpoints and the keys, in the format of OpenID discovery."""
        return Answer(msgspec.json.encode(self._described()))

    async def _authorization_server(self, scope: Scope, receive: Receive) -> Answer:
        """Return the same in the format of RFC 8414, without scopes: clients of agents would ask for all of them."""
        document = self._described()
        del document["scopes_supported"]
        return Answer(msgspec.json.encode(document))

    def _described(self) -> dict[str, object]:
        return {
            "issuer": self._issuer,
            "authorization_endpoint": f"{self._base_url}/oauth/authorize",
            "token_endpoint": f"{self._base_url}/oauth/token",
            "jwks_uri": f"{self._base_url}/.well-known/jwks.json",
            "grant_types_supported": list(_GRANTS),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "request_uri_parameter_supported": False,  # the default is true
            "subject_types_supported": ["public"],
            "scopes_supported": list(SCOPES),
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "none"],
        }

    async def _token(self, scope: Scope, receive: Receive) -> Answer:
        """Issue a token to a client for its secret, or to the back office for the code of a login.

        A form (`application/x-www-form-urlencoded`): `grant_type=client_credentials`, `client_id`, `client_secret`, or
        these two as HTTP Basic instead; `scope`, to request only some of the client's scopes. A wrong secret is
        answered with 401; after 10 from one address for one client, or 100 from one address, with 429 for a minute. The
        back office sends `grant_type=authorization_code`, `client_id=back-office`, `code`, `redirect_uri`,
        `code_verifier`; a code is valid for a minute and for one request.
        """
        try:
            return await self._grant(scope, receive)
        except Refusal as refusal:
            return _refused(refusal)

    async def _secret(self, scope: Scope, receive: Receive) -> Answer:
        """Replace the secret of a client by one that the client has made.

        A form (`application/x-www-form-urlencoded`): `client_id`, `client_secret`, or these two as HTTP Basic instead;
        `new_secret`, 256 random bits in 43 to 200 letters, digits or `. _ ~ -`. `client_secret` is the present secret,
        or an enrolment code, which counts once. The client keeps the new secret before it sends it: if it gets no
        answer, it sends the same again, and after a 401 with the new secret as `client_secret`, too. If that is its
        secret already, nothing changes. Wrong secrets are counted as at `/oauth/token`.
        """
        try:
            return await self._replaced(scope, receive)
        except Refusal as refusal:
            return _refused(refusal)

    async def _replaced(self, scope: Scope, receive: Receive) -> Answer:
        form = read_form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
        client_id, shown, is_basic = _credentials(scope, form)
        if "new_secret" not in form:
            raise Refusal(400, "invalid_request", "new_secret is missing.")
        replaced = await self._store.replace_secret(client_id, shown, form["new_secret"])
        if replaced is None:
            await self._count_failure(address_of(scope), client_id)
            text = "The client ID or the secret is wrong, or the enrolment code was used or has ended."
            raise Refusal(401, "invalid_client", text, is_basic)
        now, client = self._clock(), replaced.client
        if not replaced.is_repeat:
            event = "client.enrolled" if replaced.by_code else "secret.replaced"
            _log.info(event, client=client.client_id, tenant=client.tenant_id, address=address_of(scope))
        body = SecretResponse(
            client.client_id, _seconds(replaced.former_until, now) or 0, _seconds(client.secret_due_at(now), now)
        )
        return Answer(msgspec.json.encode(body), headers=[*NO_STORE])

    async def _grant(self, scope: Scope, receive: Receive) -> Answer:
        form = read_form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
        by_code = form.get("grant_type") == "authorization_code"
        client, granted = await (self._by_code if by_code else self._by_secret)(scope, form)
        return await self._granted_token(scope, client, granted)

    async def _session(self, scope: Scope, receive: Receive) -> Answer:
        """Issue a token by the cookie of the session of a person who has logged in in this browser, and replace the
        cookie, which works once; 204 if nobody is signed in. Only pages of the back office get an answer.
        """
        require_own_page(scope, self._base_url)
        cookie = self.cookie_of(scope)
        found = await self._store.renew(cookie, browser_of(scope)) if cookie else None
        if found is not None:
            return await self._granted_token(scope, found, found.scopes)
        headers = [*NO_STORE]
        if cookie:
            # Taken away, as people of one network come back to many tabs whose sessions have ended over night.
            await self._count_failure(address_of(scope))
            headers.append(self.cookie(""))
        return Answer(b"", 204, headers=headers)

    async def _granted_token(self, scope: Scope, subject: Client | SignedIn, scopes: Sequence[str]) -> Answer:
        headers, seconds, ends_in = [*NO_STORE], TOKEN_SECONDS, None
        if isinstance(subject, SignedIn):
            ends_in = max(0, int((subject.ends_at - self._clock()).total_seconds()))
            seconds = min(PERSON_TOKEN_SECONDS, ends_in)
            if subject.cookie is not None:
                headers.append(self.cookie(subject.cookie))
        token = await self._sign(subject, scopes, seconds)
        name = subject.user_name if isinstance(subject, SignedIn) else subject.client_id
        _log.info("token.issued", client=name, tenant=subject.tenant_id, address=address_of(scope))
        due_in = secret_ends_in = None
        if isinstance(subject, Client):
            now = self._clock()
            due_in, secret_ends_in = (
                _seconds(one, now) for one in (subject.secret_due_at(now), subject.secret_ends_at(now))
            )
        body = TokenResponse(token, "bearer", seconds, " ".join(scopes), ends_in, due_in, secret_ends_in)
        return Answer(msgspec.json.encode(body), headers=headers)

    def cookie(self, value: str) -> tuple[bytes, bytes]:
        """Return the header that gives a browser the cookie of a session; an empty one takes it away."""
        return set_cookie(value, is_secure=self._is_secure)

    def cookie_of(self, scope: Scope) -> str:
        """Return the cookie of a person's session that a browser shows; empty without one."""
        return cookie_of(scope, is_secure=self._is_secure)

    async def _by_secret(self, scope: Scope, form: dict[str, str]) -> tuple[Client | SignedIn, Sequence[str]]:
        client_id, secret, is_basic = _credentials(scope, form)
        if "grant_type" not in form:
            raise Refusal(400, "invalid_request", "grant_type is missing.")
        if form["grant_type"] != "client_credentials":
            raise Refusal(400, "unsupported_grant_type", f"Only {' and '.join(_GRANTS)} are supported.")
        client = await self.authenticate(address_of(scope), client_id, secret)
        if client is None:
            raise Refusal(401, "invalid_client", "The client ID or the secret is wrong.", is_basic)
        return client, _granted(client, form.get("scope"))

    async def authenticate(self, address: str, client_id: str, secret: str) -> Client | None:
        """Return the client with this secret; None: it is wrong, and the failure was counted and logged.

        The right secret always passes, however many wrong ones came from the same network: a secret is too long to be
        guessed, and one till with an old secret must not stop all others of its shop. Raises TooMany for a wrong one.
        """
        client = await self._store.authenticate(client_id, secret)
        if client is None:
            await self._count_failure(address, client_id)
        return client

    async def _count_failure(self, address: str, client_id: str | None = None) -> None:
        """Count and log what was wrong: a secret, or, without a client, a code or a session.

        Raises TooMany (TOO_MANY_ATTEMPTS) instead, and logs nothing, if too many were wrong: so the log stays bounded.
        """
        network = network_of(address)
        counts = [(self._attempts_of_address, network)]
        if client_id is not None:
            counts.append((self._attempts, f"{network} {client_id}"))
        for attempts, who in counts:
            await attempts.require_room([who])
        for attempts, who in counts:
            await attempts.record_failure([who])
        _log.warning("token.refused", address=address, client=None if client_id is None else client_id[:_SHOWN_MAX])

    async def log_in(
        self, address: str, tenant_id: str, user_name: str, password: str, code: str
    ) -> str | SettingUp | Client | None:
        """Return the cookie of a person's new session, or a client that has this name and secret.

        A person who needs an app and has none is to set it up first: see `set_up_app`. None: something is wrong, as was
        counted. Raises TooMany (TOO_MANY_ATTEMPTS).
        """
        name = user_name_of(user_name)

        async def attempt() -> str | SettingUp | Client | None:
            found = await self._store.sign_in(tenant_id, name, password, code)
            return found or await self._store.authenticate(user_name.strip(), password.strip())

        found: str | SettingUp | Client | None = await self.counted(address, tenant_id, name, attempt)
        if found is None:
            _log.warning("login.refused", address=address, tenant=tenant_id[:_SHOWN_MAX], user=name[:_SHOWN_MAX])
        return found

    async def setting_up(self, address: str, secret: str) -> SettingUp | None:
        """Return who may set up an app with this secret; None: nobody (any more), as was counted. Raises TooMany."""
        try:
            return await self._store.setting_up(secret)
        except NotFound:
            await self._count_failure(address)
            return None

    async def set_up_app(self, address: str, who: SettingUp, key: str, code: str) -> str | None:
        """Store the app that a person has set up, and return the cookie of a new session.

        None: the code is wrong, as was counted with wrong passwords. Raises NotFound (INVITATION_INVALID) if somebody
        else was faster, and TooMany (TOO_MANY_ATTEMPTS).
        """

        async def attempt() -> str | None:
            return await self._store.set_up_app(who.secret, key, code)

        return await self.counted(address, who.tenant_id, who.user_name, attempt)

    async def counted(
        self, address: str, tenant_id: str, user_name: str, attempt: Callable[[], Awaitable[T | None]]
    ) -> T | None:
        """Return the result of an attempt to know a person's password; None: it was wrong, as was counted.

        Raises TooMany (TOO_MANY_ATTEMPTS) instead if too many from this network or for this person were wrong.
        """
        network = network_of(address)
        counts = (
            (self._attempts, f"{network} {user_name}"),
            (self._attempts_of_address, network),
            (self._attempts_for_person, f"{tenant_id}/{user_name}"),
        )
        for attempts, who in counts:
            await attempts.require_room([who])
        # Counted before the hash is computed, so that concurrent guesses count as well.
        for attempts, who in counts:
            await attempts.record_failure([who])
        is_wrong = True
        try:
            found = await attempt()
            is_wrong = found is None
        except Invalid:  # something else than the password
            is_wrong = False
            raise
        finally:
            if not is_wrong:
                for attempts, who in counts:
                    await attempts.take_back([who])
        return found

    async def give_code(self, bound: AuthorizationCode) -> str:
        """Create a code for a client that was authenticated."""
        code = secrets.token_urlsafe(32)
        await self._store.keep_code(code, bound)
        return code

    async def _by_code(self, scope: Scope, form: dict[str, str]) -> tuple[Client | SignedIn, Sequence[str]]:
        """Return the client or person that has logged in. A failed attempt uses up the code, so it cannot be guessed
        repeatedly; one after a successful attempt ends what that has given.
        """
        by_header = header(scope, b"authorization") is not None
        if "client_secret" in form or by_header:
            raise Refusal(401, "invalid_client", "The back office has no secret: send only client_id.", by_header)
        missing = [name for name in ("client_id", "code", "redirect_uri", "code_verifier") if not form.get(name)]
        if missing:
            raise Refusal(400, "invalid_request", f"{missing[0]} is missing.")
        found = await self._store.take_code(form["code"], lambda bound: _is_bound(bound, form))
        if found is None:
            await self._count_failure(address_of(scope))
            raise Refusal(400, "invalid_grant", "The code is invalid, has expired or was issued for another request.")
        return found, found.scopes

    async def _sign(self, subject: Client | SignedIn, scopes: Sequence[str], seconds: int) -> str:
        now = int(self._clock().timestamp())
        if subject.tokens_from is not None:
            now = max(now, ceil(subject.tokens_from.timestamp()))  # in the second in which the others were withdrawn
        key_id, key = await self._signing_key()
        name = subject.user_name if isinstance(subject, SignedIn) else subject.client_id
        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": name,
            "client_id": name,  # a person has limits of their own, like a client
            "zid": subject.tenant_id,
            "scope": list(scopes),
            "iat": now,
            "nbf": now,
            "exp": now + seconds,
            "jti": self._new_id(),
        }
        if isinstance(subject, SignedIn):
            claims[SESSION_CLAIM] = subject.session_id
        return jwt.encode({"alg": ALGORITHM, "kid": key_id}, claims, key)

    async def _signing_key(self) -> tuple[str, RSAKey]:
        stored = next((key for key in await self._store.signing_keys() if key.retired_at is None), None)
        if stored is None:
            raise Unavailable("KEYS_UNAVAILABLE", "The server has no signing key.")
        if self._signing is None or self._signing[0] != stored.key_id:
            self._signing = (stored.key_id, RSAKey.import_key(stored.private_key))
        return self._signing


def _refused(refusal: Refusal) -> Answer:
    headers = [*NO_STORE]
    if refusal.challenges:
        headers.append((b"www-authenticate", b'Basic realm="promenade", charset="UTF-8"'))
    body = msgspec.json.encode(OAuthError(refusal.error, refusal.description))
    return Answer(body, refusal.status, headers=headers)


def _seconds(moment: datetime | None, now: datetime) -> int | None:
    """Return the seconds until a time, at least 0."""
    return None if moment is None else max(0, int((moment - now).total_seconds()))


def _credentials(scope: Scope, form: dict[str, str]) -> tuple[str, str, bool]:
    """Return client and secret from the Basic header or the form, not both (RFC 6749, 2.3.1); and if it was Basic."""
    given = header(scope, b"authorization")
    if given is None:
        if "client_id" not in form or "client_secret" not in form:
            raise Refusal(401, "invalid_client", "client_id and client_secret are required.")
        return form["client_id"], form["client_secret"], False
    if "client_secret" in form:
        raise Refusal(
            400, "invalid_request", "Send the client's credentials in the header or in the form, not in both."
        )
    kind, _, encoded = given.partition(b" ")
    try:
        client_id, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        colon = ""
    if kind.lower() != b"basic" or not colon:
        raise Refusal(401, "invalid_client", "The Authorization header must use the Basic scheme.", True)
    return unquote_plus(client_id), unquote_plus(secret), True


def _granted(client: Client, asked: str | None) -> Sequence[str]:
    if asked is None or not asked.split():
        return client.scopes
    wanted = list(dict.fromkeys(asked.split()))
    if not set(wanted) <= set(client.scopes):
        raise Refusal(400, "invalid_scope", "The client may not have that scope.")
    return wanted


def _is_bound(code: AuthorizationCode, form: dict[str, str]) -> bool:
    """Return whether a code was created for the sender of this form."""
    is_challenge = hmac.compare_digest(code.challenge.encode(), challenge_of(form["code_verifier"]).encode())
    return is_challenge and form["client_id"] == BACK_OFFICE and form["redirect_uri"] == code.redirect_uri

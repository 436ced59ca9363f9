"""The built-in token issuer: OAuth 2.0 client credentials (RFC 6749), its JWKS and its discovery document."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.types import Receive, Scope

from promenade.errors import PromenadeError, TooMany, Unavailable
from promenade.web.attempts import Attempts, Counts
from promenade.web.body import header, read_body
from promenade.web.endpoint import Answer, Endpoint
from promenade.web.problems import headers_of, status_of
from promenade.web.tokens import VerificationKey
from promenade.workflows.clients import SCOPES, Client, SigningKey

__all__ = ["ALGORITHM", "TOKEN_SECONDS", "Issuer", "IssuerStore", "generate_signing_key"]

ALGORITHM = "RS256"
TOKEN_SECONDS = 14_400  # about four hours
_BODY_BYTES_MAX = 16 * 1024
_NO_STORE = [(b"cache-control", b"no-store"), (b"pragma", b"no-cache")]


class IssuerStore(Protocol):
    """What the issuer needs kept."""

    async def authenticate(self, client_id: str, secret: str) -> Client | None:
        """The client whose secret this is."""
        ...

    async def signing_keys(self) -> Sequence[SigningKey]:
        """Keys that verify, the signing one first."""
        ...


class TokenResponse(msgspec.Struct, frozen=True):
    """A token."""

    access_token: str  #: Send it as `Authorization: Bearer ...`. A signed JWT.
    token_type: str  #: `bearer`.
    expires_in: int  #: Seconds that it is good for; about four hours.
    scope: str  #: What it opens, separated by spaces.


class OAuthError(msgspec.Struct, frozen=True):
    """A refusal of the token endpoint."""

    error: str  #: `invalid_request`, `invalid_client`, `unsupported_grant_type`, `invalid_scope` (RFC 6749) ...
    error_description: str  #: The same in words.


class _Refusal(Exception):
    """A grant refused, in the words of RFC 6749, 5.2."""

    def __init__(self, status: int, error: str, description: str, challenges: bool = False) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.description = description
        self.challenges = challenges


def generate_signing_key(key_id: str, at: datetime) -> SigningKey:
    """A new RSA key of 2048 bits."""
    key = RSAKey.generate_key(2048, {"kid": key_id}, private=True)
    return SigningKey(key_id, ALGORITHM, key.as_pem(private=True).decode("ascii"), at)


class Issuer:
    """Signs tokens for clients that show their secret."""

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
        self._clock = clock
        self._new_id = new_id
        self._issuer = issuer
        self._base_url = base_url
        self._audience = audience
        self._signing: tuple[str, RSAKey] | None = None

    def endpoints(self) -> list[Endpoint]:
        """The issuer's routes."""
        return [
            Endpoint("/oauth/token", {"POST": self._token}, _oauth_problem),
            Endpoint("/oauth/jwks.json", {"GET": self._jwks}),
            Endpoint("/.well-known/jwks.json", {"GET": self._jwks}),
            Endpoint("/.well-known/openid-configuration", {"GET": self._configuration}),
        ]

    async def verification_keys(self) -> Sequence[VerificationKey]:
        """The public halves of the keys that verify."""
        return [
            RSAKey.import_key(RSAKey.import_key(key.private_key).as_dict(private=False, kid=key.key_id))
            for key in await self._store.signing_keys()
        ]

    async def _jwks(self, scope: Scope, receive: Receive) -> Answer:
        """The public keys that verify the tokens, as a JSON Web Key Set."""
        keys = [key.as_dict(private=False, use="sig", alg=ALGORITHM) for key in await self.verification_keys()]
        return Answer(msgspec.json.encode({"keys": keys}), headers=[(b"cache-control", b"public, max-age=300")])

    async def _configuration(self, scope: Scope, receive: Receive) -> Answer:
        """Where the token endpoint and the keys are, as OpenID discovery has it."""
        document = {
            "issuer": self._issuer,
            "token_endpoint": f"{self._base_url}/oauth/token",
            "jwks_uri": f"{self._base_url}/.well-known/jwks.json",
            "grant_types_supported": ["client_credentials"],
            "response_types_supported": ["token"],
            "subject_types_supported": ["public"],
            "scopes_supported": list(SCOPES),
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        }
        return Answer(msgspec.json.encode(document))

    async def _token(self, scope: Scope, receive: Receive) -> Answer:
        """Answer a token to a client that shows its secret.

        A form (`application/x-www-form-urlencoded`): `grant_type=client_credentials`, `client_id`, `client_secret`, or
        these two as HTTP Basic instead; `scope`, if some of the client's scopes are enough. A wrong secret is 401;
        after 10 from one address for one client, or 100 from one address, a minute of 429.
        """
        try:
            return await self._grant(scope, receive)
        except _Refusal as refusal:
            headers = [*_NO_STORE]
            if refusal.challenges:
                headers.append((b"www-authenticate", b'Basic realm="promenade", charset="UTF-8"'))
            body = msgspec.json.encode(OAuthError(refusal.error, refusal.description))
            return Answer(body, refusal.status, headers=headers)

    async def _grant(self, scope: Scope, receive: Receive) -> Answer:
        form = _form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
        client_id, secret, is_basic = _credentials(scope, form)
        if "grant_type" not in form:
            raise _Refusal(400, "invalid_request", "grant_type is missing.")
        if form["grant_type"] != "client_credentials":
            raise _Refusal(400, "unsupported_grant_type", "Only client_credentials is offered.")
        address = (scope.get("client") or ("", 0))[0]
        # Counted by the pair: a stranger who knows a client's name must not be able to shut it out.
        await self._attempts.require_room([f"{address} {client_id}"])
        await self._attempts_of_address.require_room([address])
        client = await self._store.authenticate(client_id, secret)
        if client is None:
            await self._attempts.record_failure([f"{address} {client_id}"])
            await self._attempts_of_address.record_failure([address])
            raise _Refusal(401, "invalid_client", "The client or its secret is wrong.", is_basic)
        granted = _granted(client, form.get("scope"))
        token = TokenResponse(await self._sign(client, granted), "bearer", TOKEN_SECONDS, " ".join(granted))
        return Answer(msgspec.json.encode(token), headers=_NO_STORE)

    async def _sign(self, client: Client, scopes: Sequence[str]) -> str:
        now = int(self._clock().timestamp())
        key_id, key = await self._signing_key()
        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": client.client_id,
            "client_id": client.client_id,
            "zid": client.tenant_id,
            "scope": list(scopes),
            "iat": now,
            "nbf": now,
            "exp": now + TOKEN_SECONDS,
            "jti": self._new_id(),
        }
        return jwt.encode({"alg": ALGORITHM, "kid": key_id}, claims, key)

    async def _signing_key(self) -> tuple[str, RSAKey]:
        stored = next((key for key in await self._store.signing_keys() if key.retired_at is None), None)
        if stored is None:
            raise Unavailable("KEYS_UNAVAILABLE", "There is no key to sign with.")
        if self._signing is None or self._signing[0] != stored.key_id:
            self._signing = (stored.key_id, RSAKey.import_key(stored.private_key))
        return self._signing


def _form(scope: Scope, body: bytes) -> dict[str, str]:
    content_type = (header(scope, b"content-type") or b"").partition(b";")[0].strip().lower()
    if content_type != b"application/x-www-form-urlencoded":
        raise _Refusal(400, "invalid_request", "Send application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=20)
    except ValueError:
        raise _Refusal(400, "invalid_request", "The form cannot be read.") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise _Refusal(400, "invalid_request", "A parameter occurs twice.")
    return form


def _credentials(scope: Scope, form: dict[str, str]) -> tuple[str, str, bool]:
    """Client and secret from the Basic header or the form, not both (RFC 6749, 2.3.1); whether Basic was used."""
    given = header(scope, b"authorization")
    if given is None:
        if "client_id" not in form or "client_secret" not in form:
            raise _Refusal(401, "invalid_client", "client_id and client_secret are needed.")
        return form["client_id"], form["client_secret"], False
    if "client_secret" in form:
        raise _Refusal(400, "invalid_request", "Authenticate by the header or by the form, not by both.")
    kind, _, encoded = given.partition(b" ")
    try:
        client_id, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        colon = ""
    if kind.lower() != b"basic" or not colon:
        raise _Refusal(401, "invalid_client", "The Authorization header is not a Basic one.", True)
    return unquote_plus(client_id), unquote_plus(secret), True


def _granted(client: Client, asked: str | None) -> Sequence[str]:
    if asked is None or not asked.split():
        return client.scopes
    wanted = list(dict.fromkeys(asked.split()))
    if not set(wanted) <= set(client.scopes):
        raise _Refusal(400, "invalid_scope", "The client may not have that scope.")
    return wanted


def _oauth_problem(error: PromenadeError) -> Answer:
    """Errors from below the grant, in the token endpoint's own body form."""
    kind = {TooMany: "temporarily_unavailable", Unavailable: "temporarily_unavailable"}
    body = msgspec.json.encode(OAuthError(kind.get(type(error), "invalid_request"), error.message))
    return Answer(body, status_of(error), headers=[*_NO_STORE, *headers_of(error, False)])

"""Signed tokens, parsed strictly: JWT in the compact form of JWS (RFC 7515, 7519 and 8725).

Only RS256 and ES256, and only a key that we chose by `kid`: other key members of a token (jku, jwk, x5u, x5c) are
ignored. Anything ambiguous, such as a repeated member, is refused.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

KEY_TYPES = {"RS256": "RSA", "ES256": "EC"}
LEEWAY_SECONDS = 30
TOKEN_LENGTH_MAX = 16_384

VerificationKey: TypeAlias = "RSAKey | ECKey"

_COMPACT = re.compile(rb"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_MOMENTS_END = 253_402_300_800  # the first second of the year 10000: later dates cannot be represented
_EXTENSIONS = frozenset({"b64", "crit", "enc", "zip"})


class TokenRefused(Exception):
    """Raised for an invalid token. The reason is withheld: it would only help an attacker."""


@dataclass(frozen=True, slots=True)
class Token:
    """A parsed token; nothing in it is verified yet."""

    signed: bytes
    payload: bytes
    signature: bytes
    algorithm: str
    key_id: str | None


def read_token(text: bytes) -> Token:
    """Parse the header of a token. Raises TokenRefused if it cannot be one of ours.

    Other header members are ignored, except those that would change how the token is read: these are refused.
    """
    if len(text) > TOKEN_LENGTH_MAX or _COMPACT.fullmatch(text) is None:
        raise TokenRefused
    head, payload, signature = text.split(b".")
    header = _object(_decoded(head))
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in KEY_TYPES:
        raise TokenRefused
    if not isinstance(key_id, str | None) or not header.keys().isdisjoint(_EXTENSIONS):
        raise TokenRefused
    return Token(text.rpartition(b".")[0], _decoded(payload), _decoded(signature), algorithm, key_id)


def verified_claims(token: Token, key: VerificationKey, *, issuer: str, audience: str, now: float) -> Mapping[str, Any]:
    """Return the claims of a token that ``key`` signed for us and that is valid at ``now`` (seconds since 1970).

    ``iss``, ``aud`` and ``exp`` must be present; ``exp`` is a number. Raises TokenRefused.
    """
    if not _is_signed(token, key):
        raise TokenRefused
    claims = _object(token.payload)
    if claims.get("iss") != issuer or not _is_for(audience, claims.get("aud")):
        raise TokenRefused
    expires_at, starts_at, issued_at = (_moment(claims, name) for name in ("exp", "nbf", "iat"))
    if expires_at is None or expires_at + LEEWAY_SECONDS <= now:
        raise TokenRefused
    if max(starts_at or 0.0, issued_at or 0.0) > now + LEEWAY_SECONDS:
        raise TokenRefused
    return claims


def _is_signed(token: Token, key: VerificationKey) -> bool:
    # Imported with the first token: it loads the cryptography package, which a server does not need to start.
    from joserfc.errors import JoseError  # noqa: PLC0415
    from joserfc.jws import JWSRegistry  # noqa: PLC0415

    algorithm = JWSRegistry.algorithms[token.algorithm]
    try:
        algorithm.check_key(key)
        return algorithm.verify(token.signed, token.signature, key)
    except (JoseError, ValueError, TypeError):
        return False


def _is_for(audience: str, claim: object) -> bool:
    if isinstance(claim, list):
        return audience in claim and all(isinstance(one, str) for one in claim)
    return claim == audience


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    """Return seconds since 1970, None if the claim is missing."""
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOMENTS_END:
        raise TokenRefused
    return float(value)


def _decoded(part: bytes) -> bytes:
    """Decode base64url without padding; unused bits must be zero."""
    try:
        decoded = urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except ValueError:
        raise TokenRefused from None
    if urlsafe_b64encode(decoded).rstrip(b"=") != part:
        raise TokenRefused
    return decoded


def _object(text: bytes) -> dict[str, Any]:
    """Decode a JSON object in UTF-8 in which no member is repeated."""
    try:
        value = json.loads(
            text.decode("utf-8"), object_pairs_hook=_members, parse_float=_finite, parse_constant=_finite
        )
    except (ValueError, RecursionError):
        raise TokenRefused from None
    if not isinstance(value, dict):
        raise TokenRefused
    return value


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member occurs twice")
    return members


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError("NaN and Infinity are not numbers")
    return value

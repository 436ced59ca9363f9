"""Signed tokens, read strictly: JWT in the compact form of JWS (RFC 7515, 7519 and 8725).

RS256 and ES256 alone, and one key that we chose by `kid`: whatever else a token says about keys (jku, jwk, x5u, x5c) is
not looked at. What could be read in two ways, such as a member that occurs twice, is refused.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

__all__ = [
    "ALGORITHMS",
    "KEY_TYPES",
    "LEEWAY_SECONDS",
    "TOKEN_LENGTH_MAX",
    "Token",
    "TokenRefused",
    "VerificationKey",
    "read_token",
    "verified_claims",
]

KEY_TYPES = {"RS256": "RSA", "ES256": "EC"}
ALGORITHMS = tuple(KEY_TYPES)
LEEWAY_SECONDS = 30
TOKEN_LENGTH_MAX = 16_384

VerificationKey = RSAKey | ECKey

_COMPACT = re.compile(rb"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_MOMENTS_END = 253_402_300_800  # the first second of the year 10000: no date of ours is later
_EXTENSIONS = frozenset({"b64", "crit", "enc", "zip"})


class TokenRefused(Exception):
    """A token that does not hold. Why is of use only to who forges them, so there are no words."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its header presents it; nothing of it is known to be true."""

    signed: bytes
    payload: bytes
    signature: bytes
    algorithm: str
    key_id: str | None


def read_token(text: bytes) -> Token:
    """Look at the header of a token. Raises TokenRefused for what is none of ours, whoever has signed it.

    Of the header's other members those that would change how the token is read are refused, the rest is ignored.
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
    """What a token says, once ``key`` has signed it for us and it holds at ``now`` (seconds since 1970).

    ``iss``, ``aud`` and ``exp`` must be there; ``exp`` is a number. Raises TokenRefused.
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
    """Seconds since 1970, None where the claim is missing."""
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOMENTS_END:
        raise TokenRefused
    return float(value)


def _decoded(part: bytes) -> bytes:
    """Base64url without padding, and with nothing in the bits that are left over."""
    try:
        decoded = urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except ValueError:
        raise TokenRefused from None
    if urlsafe_b64encode(decoded).rstrip(b"=") != part:
        raise TokenRefused
    return decoded


def _object(text: bytes) -> dict[str, Any]:
    """An object of JSON in UTF-8, no member of which occurs twice."""
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
        raise ValueError("that is no number")
    return value

"""Where verification keys come from: a JWKS address that the operator named, or the built-in issuer's own."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import httpx2
import msgspec
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from promenade.errors import Unavailable
from promenade.web.auth import ALGORITHMS, VerificationKey

__all__ = ["CachedKeys", "fetch_jwks", "public_keys"]

_REFRESH_SECONDS = 3_600
_UNKNOWN_KEY_SECONDS = 30  # how soon an unknown key may send us looking again: forged tokens must not make us a flood
_BODY_BYTES_MAX = 1024 * 1024
_RSA_BITS_MIN = 2048
_log = structlog.get_logger("promenade.web")

Load = Callable[[], Awaitable[Sequence[VerificationKey]]]


class CachedKeys:
    """Keys by their ID, loaded when first needed, hourly, and for an unknown ID, but not oftener than every 30 s."""

    def __init__(self, load: Load, clock: Callable[[], datetime]) -> None:
        self._load = load
        self._clock = clock
        self._keys: dict[str | None, VerificationKey] = {}
        self._loaded_at: float | None = None
        self._tried_at: float | None = None
        self._loading = asyncio.Lock()

    async def find(self, key_id: str | None) -> VerificationKey | None:
        """The key ``key_id``; without an ID the only one there is. Raises Unavailable when none could be loaded yet."""
        key = self._known(key_id)
        now = self._clock().timestamp()
        is_old = self._loaded_at is None or now - self._loaded_at >= _REFRESH_SECONDS
        may_try = self._tried_at is None or now - self._tried_at >= _UNKNOWN_KEY_SECONDS
        if (key is None or is_old) and (may_try or self._loading.locked()):  # a load under way is waited for
            async with self._loading:
                if self._tried_at is None or now - self._tried_at >= _UNKNOWN_KEY_SECONDS:
                    self._tried_at = now
                    await self._refresh(now)
            key = self._known(key_id)
        if self._loaded_at is None:
            raise Unavailable("KEYS_UNAVAILABLE", "The token issuer's keys cannot be had at the moment.")
        return key

    def _known(self, key_id: str | None) -> VerificationKey | None:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id) if key_id is not None else None

    async def _refresh(self, now: float) -> None:
        try:
            loaded = await self._load()
        except (httpx2.HTTPError, Unavailable, ValueError, JoseError) as error:
            # Keys that were good stay good: an issuer that is down must not stop the tills.
            _log.warning("verification keys not loaded", reason=str(error))
            return
        self._keys = {key.kid: key for key in loaded}
        self._loaded_at = now


def public_keys(document: object) -> list[VerificationKey]:
    """The keys of a JWKS that may verify tokens here: RSA of 2048 bits or more, P-256; the rest is passed over."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("the answer is not a JWKS")
    keys = [_public_key(entry) for entry in entries if isinstance(entry, dict)]
    return [key for key in keys if key is not None]


def _public_key(entry: Mapping[str, Any]) -> VerificationKey | None:
    if entry.get("use", "sig") != "sig" or entry.get("alg", ALGORITHMS[0]) not in ALGORITHMS:
        return None
    try:
        if entry.get("kty") == "RSA":
            modulus = entry["n"]
            if len(urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))) * 8 < _RSA_BITS_MIN:
                return None
            return RSAKey.import_key({name: entry[name] for name in ("kty", "n", "e", "kid") if name in entry})
        if entry.get("kty") == "EC" and entry.get("crv") == "P-256":
            return ECKey.import_key({name: entry[name] for name in ("kty", "crv", "x", "y", "kid") if name in entry})
    except (JoseError, KeyError, ValueError, TypeError):
        return None
    return None


def fetch_jwks(url: str) -> Load:
    """Load keys from ``url``: no redirects, five seconds, one mebibyte."""

    async def load() -> Sequence[VerificationKey]:
        async with (
            httpx2.AsyncClient(timeout=5.0, follow_redirects=False) as client,
            client.stream("GET", url, headers={"accept": "application/json"}) as response,
        ):
            response.raise_for_status()
            body = b""
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _BODY_BYTES_MAX:
                    raise ValueError("the answer is too large for a JWKS")
        return public_keys(msgspec.json.decode(body))

    return load

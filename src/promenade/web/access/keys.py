"""Sources of verification keys: a JWKS URL that the operator configured, or the built-in issuer's own keys."""

# ruff: noqa: PLC0415 -- keys are imported with the first of them: they bring the cryptography, slow to load

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.web.access.fetching import FETCH_FAILURES, fetch_json
from promenade.web.access.tokens import KEY_TYPES, VerificationKey

REFRESH_SECONDS = 300  # the longest time for which a withdrawn key remains accepted
UNKNOWN_KEY_SECONDS = 30  # minimum time between reloads for unknown keys, so that forged tokens cannot flood the issuer
OWN_REFRESH_SECONDS = 30
_OWN_UNKNOWN_KEY_SECONDS = 1
_FIRST_KEYS_SECONDS = 5  # time between attempts until the first keys are loaded
_PATIENCE_SECONDS = 0.5  # how long a token with a known key waits for a reload that is due
_KEYS_MAX = 100
_RSA_BITS_MIN, _RSA_BITS_MAX = 2048, 8192
_log = Logger("promenade.web")

Load = Callable[[], Awaitable[Sequence[VerificationKey]]]


class CachedKeys:
    """Keys by ID and kind, loaded when first needed, every five minutes, and when a key is unknown.

    Unknown keys cause a reload at most every 30 s. The keys of the built-in issuer (``own``) only take a database
    query: they are loaded every 30 s, and a request with an unknown key waits up to a second for the next reload, so
    that a key that another process has just created is known everywhere.
    """

    def __init__(self, load: Load, clock: Callable[[], datetime], *, own: bool = False) -> None:
        self._load = load
        self._clock = clock
        self._refresh_seconds = OWN_REFRESH_SECONDS if own else REFRESH_SECONDS
        self._unknown_key_seconds = _OWN_UNKNOWN_KEY_SECONDS if own else UNKNOWN_KEY_SECONDS
        self._waits = own
        self._keys: Mapping[tuple[str | None, str], VerificationKey] = {}
        self._loaded_at: float | None = None
        self._tried_at: float | None = None
        self._loading: asyncio.Task[None] | None = None
        self._begun = 0

    async def find(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        """Return the key ``key_id``, or the only key if the ID is None; the same key is always the same object.

        Raises Unavailable (KEYS_UNAVAILABLE) if none could be loaded yet.
        """
        key = self._known(key_id, algorithm)
        if key is None:
            await self._refresh_once()
        elif self._is_due():
            # An issuer that does not answer must not block the tills.
            await asyncio.wait({self._begin()}, timeout=_PATIENCE_SECONDS)
        else:
            return key
        if self._loaded_at is None:
            raise Unavailable("KEYS_UNAVAILABLE", "The token issuer's keys are not available at the moment; try again.")
        return self._known(key_id, algorithm)

    def _known(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        kind = KEY_TYPES[algorithm]
        if key_id is not None:
            return self._keys.get((key_id, kind))
        alone = next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return alone if alone is not None and alone.key_type == kind else None

    def _is_due(self) -> bool:
        now = self._clock().timestamp()
        # abs: if the clock was set back, reload too, or a withdrawn key could stay valid for longer.
        is_old = self._loaded_at is not None and abs(now - self._loaded_at) >= self._refresh_seconds
        return is_old and self._loading is None and not self._pause()

    def _pause(self) -> float:
        """Return the seconds until keys may be loaded again."""
        if self._tried_at is None:
            return 0.0
        passed = abs(self._clock().timestamp() - self._tried_at)
        wanted = self._unknown_key_seconds if self._loaded_at is not None else _FIRST_KEYS_SECONDS
        return max(0.0, min(wanted, self._unknown_key_seconds) - passed)

    async def _refresh_once(self) -> None:
        """Load the keys unless that was done a moment ago; concurrent callers share one load."""
        begun = self._begun
        while True:
            if self._loading is not None:
                await asyncio.wait({self._loading})
            if self._begun != begun:
                return
            pause = self._pause()
            if pause and not self._waits:
                return
            await asyncio.sleep(pause)
            if self._begun == begun:
                self._begin()

    def _begin(self) -> asyncio.Task[None]:
        self._begun += 1
        self._tried_at = self._clock().timestamp()
        self._loading = asyncio.create_task(self._refresh(), name="verification keys")
        return self._loading

    async def _refresh(self) -> None:
        from joserfc.errors import JoseError

        try:
            loaded = _by_id(await self._load())
            if not loaded:
                raise ValueError("none of the keys can be used")
        except (*FETCH_FAILURES, Unavailable, JoseError) as error:
            # Keep the loaded keys: an issuer that is down must not stop the tills.
            _log.warning("verification keys not loaded", reason=str(error) or type(error).__name__)
            return
        finally:
            self._loading = None
        known = {(name, key.thumbprint()): key for (name, _), key in self._keys.items()}
        self._keys = {place: known.get((place[0], key.thumbprint()), key) for place, key in loaded.items()}
        self._loaded_at = self._tried_at


def _by_id(keys: Sequence[VerificationKey]) -> dict[tuple[str | None, str], VerificationKey]:
    """Return the keys by ID and kind; keys that share both are ambiguous and left out."""
    places = [(key.kid, key.key_type) for key in keys]
    return {place: key for place, key in zip(places, keys, strict=True) if places.count(place) == 1}


def public_keys(document: object) -> list[VerificationKey]:
    """Return the keys of a JWKS that may verify tokens here (RSA of 2048 to 8192 bits, P-256); others are ignored."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list) or len(entries) > _KEYS_MAX:
        raise ValueError(f"the answer is not a JWKS of at most {_KEYS_MAX} keys")
    keys = [_public_key(entry) for entry in entries if isinstance(entry, dict)]
    return [key for key in keys if key is not None]


def _public_key(entry: Mapping[str, Any]) -> VerificationKey | None:
    algorithm = {kind: name for name, kind in KEY_TYPES.items()}.get(str(entry.get("kty")))
    if algorithm is None or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey

    try:
        if "verify" not in entry.get("key_ops", ["verify"]):
            return None
        if algorithm == "RS256":
            modulus = entry["n"]
            bits = len(urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))) * 8
            if not _RSA_BITS_MIN <= bits <= _RSA_BITS_MAX:
                return None
            return RSAKey.import_key({name: entry[name] for name in ("kty", "n", "e", "kid") if name in entry})
        if entry.get("crv") == "P-256":
            return ECKey.import_key({name: entry[name] for name in ("kty", "crv", "x", "y", "kid") if name in entry})
    except (JoseError, KeyError, ValueError, TypeError):
        return None
    return None


def fetch_jwks(url: str) -> Load:
    """Load keys from ``url``."""

    async def load() -> Sequence[VerificationKey]:
        return public_keys(await fetch_json(url))

    return load

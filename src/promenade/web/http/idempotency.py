"""The header Idempotency-Key: it makes repeats of a request one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.types import Scope

from promenade.errors import Invalid

KEY_LENGTH_MAX = 255
KEY_RULE = "{} must have 1 to 255 characters, all of them printable."
IDEMPOTENCY_KEY: Mapping[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes repeats of the request one request, for 24 hours.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_LENGTH_MAX},
}
"""The header as a parameter of OpenAPI."""


def key_of_headers(scope: Scope) -> str | None:
    """Return the Idempotency-Key of a request, or None. Raises Invalid (INVALID_KEY, KEYS_DIFFER)."""
    given = {value for name, value in scope["headers"] if name == b"idempotency-key"}
    if not given:
        return None
    if len(given) > 1:
        raise Invalid("KEYS_DIFFER", "Idempotency-Key is given twice and differs: send it once.", "Idempotency-Key")
    try:
        key: str = given.pop().decode("utf-8")
    except UnicodeDecodeError:
        key = ""
    if not is_key(key):
        raise Invalid("INVALID_KEY", KEY_RULE.format("Idempotency-Key"), "Idempotency-Key")
    return key


def is_key(text: str) -> bool:
    """Return whether a text may be a key."""
    return 1 <= len(text) <= KEY_LENGTH_MAX and text.isprintable()

"""Codes of an authenticator app: six digits that change every half minute (TOTP, RFC 6238, with SHA-1 as all apps do).

The codes of the half minutes before and after are accepted, too, for clocks that differ.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from datetime import datetime
from urllib.parse import quote

KEY_BYTES = 20
STEP_SECONDS = 30
_DIGITS = 6
_AROUND = (-1, 0, 1)


def text_of_key(key: bytes) -> str:
    """Return a key as apps take it: base 32."""
    return base64.b32encode(key).decode("ascii")


def is_key(text: str) -> bool:
    """Return whether a text is a key that `text_of_key` can have made."""
    try:
        return len(base64.b32decode(text)) == KEY_BYTES
    except (binascii.Error, ValueError):
        return False


def code_at(key: str, step: int) -> str:
    """Return the code of a half minute, counted from 1970 (RFC 4226, 5.3)."""
    digest = hmac.digest(base64.b32decode(key), struct.pack(">Q", step), "sha1")
    start = digest[-1] & 0xF
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFF_FFFF
    return f"{number % 10**_DIGITS:0{_DIGITS}}"


def step_of(key: str, code: str, at: datetime) -> int | None:
    """Return the half minute whose code this is, around ``at``; None: it is none of them."""
    given = "".join(code.split()).encode("utf-8", "replace")
    now = int(at.timestamp()) // STEP_SECONDS
    matches = [now + one for one in _AROUND if hmac.compare_digest(code_at(key, now + one).encode(), given)]
    return matches[-1] if matches else None


def address_for_app(key: str, user_name: str) -> str:
    """Return the address that apps read a key from, mostly as a QR code."""
    return f"otpauth://totp/Promenade:{quote(user_name)}?secret={key}&issuer=Promenade"

"""Percent-encoding: what a URL's characters stand for.

Paths and query strings are split at ``/ ? & =`` as they stand on the wire; only the parts are decoded, so an encoded
separator is data. Everything else counts the same encoded and plain (``%27`` is a quote, ``%28`` a parenthesis), as the
OData grammar has it. Bytes must be UTF-8; a ``%`` that starts no escape and a NUL are refused.

A ``+`` in a query option is a space, in literals too: URLSearchParams, axios and requests write every space so, and
whatever means a plus writes ``%2B``. It stays a plus where only a sign can stand, in an exponent (``1e+5``) and in the
offset of a timestamp (``T14:00+02:00``), because people type those; and in paths, ``$id`` and tokens.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from odata_server.errors import bad_request

__all__ = ["decode", "decode_form"]

_BROKEN = re.compile("%(?![0-9A-Fa-f]{2})")
_SIGN = re.compile("(T[0-9]{2}(?::|%3A)[0-9]{2}(?:(?::|%3A)[0-9]{2}(?:[.][0-9]+)?)?|[0-9]e)[+](?=[0-9])", re.IGNORECASE)


def decode(text: str, what: str, code: str) -> str:
    """A part of a URL without its percent-encoding; ``+`` is itself. Raises 400 with ``code``, naming ``what``."""
    if "%" in text:
        broken = _BROKEN.search(text)
        if broken is not None:
            raise bad_request(code, f"{what} has a '%' at position {broken.start()} that starts no escape.", what)
        try:
            text = unquote_to_bytes(text).decode()
        except (UnicodeDecodeError, UnicodeEncodeError):
            raise bad_request(code, f"{what} is not UTF-8.", what) from None
    if not text.isprintable():  # most texts are, and then there is nothing to look for
        for position, character in enumerate(text):
            if character == "\0" or "\ud800" <= character <= "\udfff":
                raise bad_request(code, f"{what} has a character at position {position} that no text has.", what)
    return text


def decode_form(text: str, what: str, code: str) -> str:
    """The same for a query option, where ``+`` is a space."""
    if "+" in text:
        text = _SIGN.sub(r"\1%2B", text).replace("+", " ")
    return decode(text, what, code)

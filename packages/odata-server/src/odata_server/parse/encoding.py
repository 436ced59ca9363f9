"""Percent-encoding of URLs.

Paths and query strings are split at ``/ ? & =`` before decoding, so an encoded separator is data. All other characters
mean the same whether encoded or not (``%27`` is a quote, ``%28`` a parenthesis), as the OData grammar requires. Bytes
must be UTF-8; a ``%`` that does not start an escape and a NUL are refused.

A ``+`` in a query option is a space, also in literals: URLSearchParams, axios and requests encode every space like
this, and any client that means a plus sends ``%2B``. It remains a plus where only a sign is possible, because people
type these by hand: in an exponent (``1e+5``) and in the offset of a timestamp (``T14:00+02:00``). It also remains a
plus in paths, ``$id`` and tokens.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from odata_server.errors import bad_request

__all__ = ["cacheable", "check_characters", "decode", "decode_form"]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_CACHED_MAX = 2048
_JSON = re.compile(r"[\[{]|%5B|%7B", re.IGNORECASE)
_BROKEN = re.compile("%(?![0-9A-Fa-f]{2})")
_SIGN = re.compile("(T[0-9]{2}(?::|%3A)[0-9]{2}(?:(?::|%3A)[0-9]{2}(?:[.][0-9]+)?)?|[0-9]e)[+](?=[0-9])", re.IGNORECASE)


def decode(text: str, target: str | None, code: str) -> str:
    """Decode the percent-encoding of a part of a URL; ``+`` stays as it is.

    Raise 400 with ``code`` and ``target`` (None: the path).
    """
    if "%" in text:
        what = target or "The path"
        broken = _BROKEN.search(text)
        if broken is not None:
            raise bad_request(
                code, f"{what} has a '%' at position {broken.start()} that does not start an escape sequence.", target
            )
        try:
            text = unquote_to_bytes(text).decode()
        except UnicodeDecodeError as error:
            raise bad_request(code, f"{what} is not UTF-8 at position {error.start}.", target) from None
        except UnicodeEncodeError as error:
            raise bad_request(code, f"{what} is not valid text at position {error.start}.", target) from None
    check_characters(text, target, code)
    return text


def cacheable(text: str) -> bool:
    """Return whether the parsed result may be cached: not for long texts, nor for JSON, whose values are mutable."""
    return len(text) <= _CACHED_MAX and _JSON.search(text) is None


def check_characters(text: str, target: str | None, code: str) -> None:
    """Refuse characters that are not valid text: NUL and lone surrogates."""
    if not text.isprintable():  # fast path: most texts are printable
        found = _NO_TEXT.search(text)
        if found is not None:
            what = target or "The path"
            raise bad_request(
                code, f"{what} has a character at position {found.start()} that text must not have.", target
            )


def decode_form(text: str, target: str, code: str) -> str:
    """Decode a query option, in which ``+`` is a space."""
    if "+" in text:
        text = _SIGN.sub(r"\1%2B", text).replace("+", " ")
    return decode(text, target, code)

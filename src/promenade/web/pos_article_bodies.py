"""Bodies that hold articles: cut into one JSON text for each, of which nothing but the texts is made.

What is wrong with the body is an error of the request. What is wrong with an article stays in its text, for whoever
stores it to say. Members that an article does not have are dropped, as those of every message of a till are; of a
member that is there twice the last counts, as in the public API.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from promenade.errors import Detail, Invalid, TooLarge
from promenade.web.pos_article_messages import Article

__all__ = ["ReceivedArticles", "article_texts", "cut_articles"]

VALUES_MAX = 300_000  # 10 000 articles have 150 000
NAME_MAX = 255
_NESTED_MAX = 1_000  # bytes of a list or an object where neither belongs: enough to show what was meant
_CHUNK = 2**16
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NUMBER = re.compile(rb'\s*"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)"\s*')
_UNPRINTABLE = re.compile("[\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]")
_TOO_DEEP = "The body is nested too deep."


@dataclass(frozen=True, slots=True)
class ReceivedArticles:
    """The articles of a body as they were written, and what the batch is called."""

    articles: Sequence[Raw]
    name: str | None


class _Body(Struct):
    articles: Raw | UnsetType = UNSET
    name: Raw | UnsetType = UNSET


_BODY = msgspec.json.Decoder(_Body)
_LIST = msgspec.json.Decoder(list[Raw])
_NAME = msgspec.json.Decoder(str)


def cut_articles(body: bytes, articles_max: int, *, has_name: bool = False) -> ReceivedArticles:
    """The articles of a body, at least one; ``has_name``: the body may have a `name`.

    Raises Invalid (VALIDATION_FAILED and details, or a code about the JSON) and TooLarge (TOO_MANY_ROWS).
    """
    _require_text(body)
    _require_bounded(body)
    received = _decoded(body)
    articles = _list_of(received.articles)
    faults = list(_articles_faults(received.articles, articles))
    name: str | None = None
    if has_name:
        name, fault = _name_of(received.name)
        faults += [fault] if fault is not None else []
    if faults or articles is None:
        raise Invalid("VALIDATION_FAILED", faults[0].message, faults[0].target, faults)
    if len(articles) > articles_max:
        text = f"At most {articles_max} articles are taken at a time; these are {len(articles)}."
        raise TooLarge("TOO_MANY_ROWS", text, "articles")
    return ReceivedArticles(articles, name)


def _require_text(body: bytes) -> None:
    """By pieces: the whole body as text would be several times as large."""
    if body.startswith(codecs.BOM_UTF8):
        raise Invalid("MALFORMED_JSON", "The body starts with a byte order mark, which JSON must not have.")
    if body.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _CHUNK):
            decoder.decode(body[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Invalid("NOT_UTF8", "The body is not UTF-8.") from None


def _require_bounded(body: bytes) -> None:
    """Refuse very many values before anything is made of them. Marks within texts count only where that decides."""
    if len(body) > VALUES_MAX and _marks(body) > VALUES_MAX and _marks(_TEXT.sub(b"", body)) > VALUES_MAX:
        raise Invalid("TOO_MANY_VALUES", f"The body holds more than {VALUES_MAX} values.")


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"{") + text.count(b"[")


def _decoded(body: bytes) -> _Body:
    try:
        return _BODY.decode(body)
    except RecursionError:
        raise Invalid("TOO_DEEP", _TOO_DEEP) from None
    except msgspec.ValidationError:
        raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Invalid("MALFORMED_JSON", f"The body is not JSON: {error}.") from None


def _list_of(articles: Raw | UnsetType) -> Sequence[Raw] | None:
    """The entries of the list, if it is one."""
    if articles is UNSET:
        return None
    try:
        return _LIST.decode(articles)
    except msgspec.ValidationError:
        return None


def _articles_faults(written: Raw | UnsetType, articles: Sequence[Raw] | None) -> Iterator[Detail]:
    if written is UNSET or _is_null(written):
        yield Detail("REQUIRED", "`articles` is required.", "articles")
    elif articles is None:
        yield Detail("WRONG_TYPE", "`articles` must be an array.", "articles")
    elif not articles:
        yield Detail("EMPTY", "`articles` must not be empty.", "articles")


def _name_of(written: Raw | UnsetType) -> tuple[str | None, Detail | None]:
    if written is UNSET or _is_null(written):
        return None, None
    try:
        name = _NAME.decode(written)
    except msgspec.MsgspecError:
        return None, Detail("WRONG_TYPE", "`name` must be a string.", "name")
    if len(name) > NAME_MAX:
        return None, Detail("TOO_LONG", f"`name` may have at most {NAME_MAX} characters.", "name")
    if _UNPRINTABLE.search(name):
        return None, Detail("WRONG_FORM", "`name` must not hold line ends or control characters.", "name")
    return name or None, None


def _is_null(written: Raw) -> bool:
    return bytes(written).strip() == b"null" if len(bytes(written)) < _NESTED_MAX else False


# ---- one article --------------------------------------------------------------------------------------------------


def article_texts(articles: Sequence[Raw]) -> Iterator[bytes]:
    """Each article as the JSON text of a row of Articles, one after the other."""
    decoder, names = _kept()
    encode = msgspec.json.Encoder().encode
    for article in articles:
        try:
            kept = decoder.decode(article)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            yield _shortened(bytes(article))  # no object: whoever stores it says so
            continue
        for name in names:
            value = getattr(kept, name)
            if value is not UNSET:
                _mend(kept, name, bytes(value))
        yield encode(kept)


def _mend(kept: Any, name: str, value: bytes) -> None:
    """Numbers may be texts at a till; lists and objects, which no member of an article is, are kept short."""
    if name == "base_price":
        number = _NUMBER.fullmatch(value)
        if number is not None:
            setattr(kept, name, Raw(number[1]))
    if len(value) > _NESTED_MAX:
        setattr(kept, name, Raw(_shortened(value)))


def _shortened(value: bytes) -> bytes:
    if len(value) <= _NESTED_MAX:
        return value
    return {b"{": b"{}", b"[": b"[]"}.get(value[:1], value)


@cache
def _kept() -> tuple[msgspec.json.Decoder[Any], tuple[str, ...]]:
    """What reads the members of an article as they are written, and the names of these in Python."""
    fields = msgspec.structs.fields(Article)
    kept = msgspec.defstruct(
        "Kept",
        [(field.name, Raw | UnsetType, UNSET) for field in fields],
        rename={field.name: field.encode_name for field in fields},
        omit_defaults=True,
    )
    return msgspec.json.Decoder(kept), tuple(field.name for field in fields)

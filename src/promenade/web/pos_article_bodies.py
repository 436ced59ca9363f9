"""Bodies that hold articles: cut into one JSON text for each, of which nothing but the texts is made.

What is wrong with the body is an error of the request. What is wrong with an article stays in its text, for whoever
stores it to say. Members that an article does not have are dropped, as those of every message of a till are; of a
member that is there twice the last counts, as in the public API.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from promenade.errors import Detail, Invalid
from promenade.web.pos_article_messages import Article
from promenade.web.row_cutter import RowCutter

__all__ = ["ArticleBody"]

_ARTICLES, _NAME = "articles", "name"
_NAME_MAX = 255
_NESTED_MAX = 1_000  # bytes of a list or an object where neither belongs: enough to show what was meant
_CHUNK = 2**18
_STRING = msgspec.json.Decoder(str)
_NUMBER = re.compile(rb'\s*"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)"\s*')
_UNPRINTABLE = re.compile("[\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]")
# How a till is told what the cutter says of its rows.
_LIST_FAULTS = {
    "REQUIRED": ("REQUIRED", "is required"),
    "NOT_NULLABLE": ("REQUIRED", "is required"),
    "TYPE_MISMATCH": ("WRONG_TYPE", "must be an array"),
    "EMPTY": ("EMPTY", "must not be empty"),
}
_BODY_FAULTS = (("must be a JSON object", "VALIDATION_FAILED"), ("nests too deep", "TOO_DEEP"))


class _Anything(Collection[str]):
    """Unknown members are no fault of a till."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ArticleBody:
    """The articles of a body, at most ``articles_max``; with ``has_name`` the body may have a `name`.

    After `cut` there are ``name`` and `texts`. ``forget`` is told up to where the text is not needed soon.
    """

    def __init__(
        self,
        text: memoryview,
        articles_max: int,
        *,
        has_name: bool = False,
        forget: Callable[[int], None] = lambda until: None,
    ) -> None:
        self.name: str | None = None
        self._text = text
        self._has_name = has_name
        self._rows = RowCutter(text, _ARTICLES, _Anything(), rows_max=articles_max, forget=forget)

    def __len__(self) -> int:
        """How many articles there are."""
        return len(self._rows)

    def cut(self) -> Iterator[None]:
        """Cut in steps of a millisecond or so, each when it is asked for.

        Raises Invalid (VALIDATION_FAILED and details, or a code about the JSON) and TooLarge (TOO_MANY_ROWS).
        """
        yield from _checked(self._text)
        try:
            yield from self._rows.cut()
        except Invalid as error:
            raise self._refusal(error) from None
        self.name, fault = self._name()
        if fault is not None:
            raise Invalid("VALIDATION_FAILED", fault.message, fault.target, [fault])

    def texts(self) -> Iterator[bytes]:
        """Each article as the JSON text of a row of Articles, one after the other."""
        decoder, names = _kept()
        encode = msgspec.json.Encoder().encode
        for article in self._rows:
            try:
                kept = decoder.decode(article)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield _shortened(article)  # no object: whoever stores it says so
                continue
            for name in names:
                value = getattr(kept, name)
                if value is not UNSET:
                    _mend(kept, name, bytes(value))
            yield encode(kept)

    def _refusal(self, error: Invalid) -> Invalid:
        if error.target != _ARTICLES or error.code not in _LIST_FAULTS:
            code = next((code for words, code in _BODY_FAULTS if words in error.message), "MALFORMED_JSON")
            return Invalid(code, error.message, error.target)
        code, words = _LIST_FAULTS[error.code]
        faults = [Detail(code, f"`{_ARTICLES}` {words}.", _ARTICLES)]
        _, fault = self._name()
        if fault is not None:
            faults.append(fault)
        return Invalid("VALIDATION_FAILED", faults[0].message, _ARTICLES, faults)

    def _name(self) -> tuple[str | None, Detail | None]:
        written = self._rows.members.get(_NAME, b"null").strip()
        if not self._has_name or written == b"null":
            return None, None
        try:
            name = _STRING.decode(written)
        except msgspec.MsgspecError:
            return None, Detail("WRONG_TYPE", "`name` must be a string.", _NAME)
        if len(name) > _NAME_MAX:
            return None, Detail("TOO_LONG", f"`name` may have at most {_NAME_MAX} characters.", _NAME)
        if _UNPRINTABLE.search(name):
            return None, Detail("WRONG_FORM", "`name` must not hold line ends or control characters.", _NAME)
        return name or None, None


def _checked(text: memoryview) -> Iterator[None]:
    """By pieces: the whole body as text would be several times as large."""
    if bytes(text[:3]) == codecs.BOM_UTF8:
        raise Invalid("MALFORMED_JSON", "The body starts with a byte order mark, which JSON must not have.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(text), _CHUNK):
            decoder.decode(text[start : start + _CHUNK])
            yield
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Invalid("NOT_UTF8", "The body is not UTF-8.") from None


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

"""Passwords that are guessed first: those that leak most often, their usual variants, and words around the person."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

OUR_WORDS = ("promenade", "promotion", "promotions", "promotionmanager", "coupon", "coupons", "budget", "administrator")
"""Words around this program, which are no secret in a password; those around the person are added."""

COMMON = Path(__file__).with_name("common_passwords.gz")
"""The 10 000 passwords that leak most often, in small letters, a line each; from zxcvbn."""

_ROWS = (
    "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm", "abcdefghijklmnopqrstuvwxyz", "01234567890123456789",
)  # fmt: skip
_LETTERS = str.maketrans("@43105$7!|", "aaelosstil")  # signs that are typed in the place of letters
_DATE = re.compile(r"\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2,4}|\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|(19|20)\d{6}|\d{4}(19|20)\d{2}")
_AROUND = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_AROUND_MAX = 4  # digits and signs that are usually put around a word, such as the year
_WORD_MIN = 3
_ROW_MIN = 4
_UNIT_MAX = 2
_OWN_MIN = 5  # letters that a password has to have beside the words that are no secret


def is_guessable(password: str, about: Iterable[str | None] = ()) -> bool:
    """Return whether a password is guessed soon; ``about``: texts about the person, such as the names."""
    texts = [*OUR_WORDS, *(one for one in about if one)]
    words = {word.casefold() for text in texts for word in (text, *re.split(r"[\W_]+", text)) if len(word) >= _WORD_MIN}
    longest_first = sorted(words, key=len, reverse=True)
    text = password.casefold().strip()
    return any(_is_known(form, longest_first) for form in (text, text.translate(_LETTERS)))


def _is_known(text: str, words: Sequence[str]) -> bool:
    rest = text
    for word in words:
        rest = rest.replace(word, "")
    word = _AROUND.sub("", rest)
    if rest != text and len(word) < _OWN_MIN:
        return True
    is_alone = len(text) - len(word) <= _AROUND_MAX
    return _DATE.fullmatch(text) is not None or _is_common(text) or (is_alone and _is_common(word))


def _is_common(text: str) -> bool:
    unit = text[: (text + text).find(text, 1)]  # what it is a repetition of: itself, if of nothing shorter
    if len(unit) <= _UNIT_MAX or not _common().isdisjoint((unit, text)):
        return True
    return len(unit) >= _ROW_MIN and any(unit in row or unit[::-1] in row for row in _ROWS)


@cache
def _common() -> frozenset[str]:
    # Read when needed: only few requests choose a password.
    return frozenset(gzip.decompress(COMMON.read_bytes()).decode().split("\n"))

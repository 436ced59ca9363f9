"""The position of a parser in a decoded text: tokens one by one, positions for errors, and limits of a request.

Tokens are matched on demand, because the parts of one text have different alphabets (``$search`` inside an
``$expand``). The parser does not backtrack, so parsing takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from odata_server.errors import ODataError, bad_request, not_implemented
from odata_server.parse.encoding import check_characters

__all__ = ["DEPTH_MAX", "LENGTH_MAX", "NODES_MAX", "Cursor", "check_length", "identifier"]

NODES_MAX = 200  # operators, calls and paths in all expressions of one request; literals are not counted
LENGTH_MAX = 128 * 1024  # characters of a query; bodies of $query can be longer than any URL
LIST_ITEMS_MAX = 1000  # literals in the lists and JSON values of one request
DEPTH_MAX = 40  # nesting of parentheses, calls, lambdas and arrays

IDENTIFIER = r"[^\W\d]\w*"  # letters of any script
_IDENTIFIER = re.compile(IDENTIFIER)
_D = "[0-9]"
_HEX = "[0-9A-Fa-f]"
_TIME = rf"{_D}{_D}:{_D}{_D}(?::{_D}{_D}(?:\.{_D}+)?)?"
_DATE = rf"-?{_D}{{4,}}-{_D}{_D}-{_D}{_D}"

_TOKEN = re.compile(
    rf"""[ \t]*(?:
      (?P<guid>{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}(?!\w))
    | (?P<name>{IDENTIFIER}(?:\.{IDENTIFIER})*)
    | (?P<string>'[^']*(?:''[^']*)*')
    | (?P<stamp>{_DATE}[Tt]{_TIME}(?:[Zz]|[+-]{_D}{_D}:{_D}{_D})(?![\w:]))
    | (?P<date>{_DATE}(?![\w:-]))
    | (?P<time>{_TIME}(?![\w:.]))
    | (?P<number>[+-]?{_D}+(?:\.{_D}+)?(?:[eE][+-]?{_D}+)?(?!\w)|-INF(?!\w))
    | (?P<punctuation>[(),/:;=*\[\]{{}}-])
    | (?P<dollar>\$[A-Za-z]+)
    | (?P<at>@{IDENTIFIER}(?:\.{IDENTIFIER})*(?:\#{IDENTIFIER})?)
    | (?P<text>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<end>\Z)
    | (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


# The last alternatives match any character and the end, so there is always a token.
_TOKEN_AT: Callable[[str, int], re.Match[str]] = _TOKEN.match  # type: ignore[assignment]


class Cursor:
    """A decoded text and its next token.

    ``kind`` is the name of a group of the pattern, and for punctuation the character itself. ``start`` and ``stop``
    are the bounds of the token in ``text``. ``option`` and ``code`` are the target and the code of errors.
    """

    __slots__ = (
        "code",
        "depth",
        "expands",
        "items",
        "kind",
        "nodes",
        "option",
        "start",
        "stop",
        "text",
        "value",
        "why",
    )

    def __init__(self, text: str, option: str, code: str = "QUERY_SYNTAX") -> None:
        self.text = text
        self.option = option
        self.code = code
        self.depth = 0
        self.nodes = 0
        self.items = 0
        self.expands = 0
        self.why: str | None = None
        self.stop = 0
        check_length(text, option)
        check_characters(text, option, code)
        self.advance()

    def advance(self) -> None:
        """Advance to the next token."""
        self.move(self.stop)

    def move(self, position: int) -> None:
        """Read the token at a position."""
        found = _TOKEN_AT(self.text, position)
        kind: str = found.lastgroup  # type: ignore[assignment]  # every alternative is a group
        self.start, self.stop = found.span(kind)
        self.value = found[kind]
        self.kind = self.value if kind == "punctuation" else kind

    # ---- errors ---------------------------------------------------------------------------------------------------

    def fail(self, expected: str, position: int | None = None) -> NoReturn:
        """Raise a syntax error: ``expected`` says what should be at the position."""
        raise self.error(expected, position)

    def error(self, expected: str, position: int | None = None) -> ODataError:
        at = self.start if position is None else position
        found = f"'{self.text[at : at + 20]}'" if at < len(self.text) else "its end"
        return bad_request(
            self.code,
            f"{self.option} cannot be read at position {at}: expected {expected}, found {found}.",
            self.option,
        )

    def offers_not(self, what: str) -> None:
        """Record that a well-formed text uses something that this library does not support."""
        if self.why is None:
            self.why = what

    def finish(self) -> None:
        """Check that the text ends here. Raise 501 if it uses something unsupported."""
        if self.kind != "end":
            self.fail("the end")
        if self.why is not None:
            error = not_implemented(self.why)
            error.target = self.option
            raise error

    # ---- limits ---------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Count one node of an expression."""
        self.nodes += 1
        if self.nodes > NODES_MAX:
            raise self._too_large(f"has more than {NODES_MAX} operators, calls and paths")

    def count_item(self) -> None:
        """Count one literal of a list or array."""
        self.items += 1
        if self.items > LIST_ITEMS_MAX:
            raise self._too_large(f"lists more than {LIST_ITEMS_MAX} values")

    def enter(self) -> None:
        """Enter a level of nesting; `leave` reverts it."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise self._too_large(f"is nested more than {DEPTH_MAX} levels deep")

    def leave(self) -> None:
        self.depth -= 1

    def _too_large(self, why: str) -> ODataError:
        return bad_request("EXPRESSION_TOO_LARGE", f"{self.option} {why}, at position {self.start}.", self.option)

    # ---- small things ---------------------------------------------------------------------------------------------

    def take(self, kind: str, expected: str | None = None) -> str:
        """Consume the next token, which must be of this kind, and return its value."""
        if self.kind != kind:
            self.fail(expected or f"'{kind}'")
        value = self.value
        self.advance()
        return value

    def skip(self, kind: str) -> bool:
        """Consume the next token if it is of this kind and return whether it was."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def followed_by(self, character: str) -> bool:
        """Return whether this character directly follows the next token."""
        return self.text.startswith(character, self.stop)

    def take_identifier(self, what: str) -> str:
        """Consume a name without dots."""
        if self.kind != "name" or not identifier(self.value):
            self.fail(what)
        value = self.value
        self.advance()
        return value

    def at_word(self, word: str) -> bool:
        """Return whether the next token is this word (lower case), with space on both sides."""
        return self.kind == "name" and self.value.lower() == word and self.spaced()

    def spaced(self) -> bool:
        """Return whether the next token has space before it, and space or the end of the text after it."""
        text, stop = self.text, self.stop
        return text[self.start - 1 : self.start] in _SPACE and (stop == len(text) or text[stop] in " \t")

    def take_word(self, word: str) -> None:
        """Consume a keyword such as ``as``."""
        if not self.at_word(word):
            self.fail(f"'{word}'")
        self.advance()


_SPACE = (" ", "\t")


def check_length(text: str, option: str | None) -> None:
    """Refuse a text that is too long to parse."""
    if len(text) > LENGTH_MAX:
        what = option or "The query"
        message = f"{what} has more than {LENGTH_MAX} characters, at position {LENGTH_MAX}."
        raise bad_request("EXPRESSION_TOO_LARGE", message, option)


def identifier(text: str) -> bool:
    """Return whether a text is a name without a namespace: starts with a letter or ``_``, at most 128 characters."""
    return len(text) <= 128 and _IDENTIFIER.fullmatch(text) is not None

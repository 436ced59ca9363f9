"""``$search``: words, phrases, NOT, AND, OR and parentheses; a space means AND.

AND, OR and NOT are operators only between (or before) search expressions; elsewhere they are words. A text in single
quotes is incomplete user input without operators: each of its words must match.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from odata_server.expressions import SearchAnd, SearchExpression, SearchNot, SearchOr, SearchTerm
from odata_server.parse.cursor import Cursor

__all__ = ["search_expression"]

# Inside an $expand a semicolon ends $search if another option follows it; otherwise it is part of a word.
_TOKEN = re.compile(
    r"""([ \t]*)(?:
      (?P<phrase>"[^"]+")
    | (?P<typed>'[^']*(?:''[^']*)*'(?=[ \t]*(?:\Z|\)|;)))
    | (?P<parenthesis>[()])
    | (?P<stop>\Z|;(?=[ \t]*(?:\$?[A-Za-z]+|@\w+)=))
    | (?P<word>[^\s()";']+(?:[^\s()";]|;(?![ \t]*(?:\$?[A-Za-z]+|@\w+)=))*)
    | (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


# The last alternatives match any character and the end, so there is always a token.
_TOKEN_AT: Callable[[str, int], re.Match[str]] = _TOKEN.match  # type: ignore[assignment]


def search_expression(cursor: Cursor) -> SearchExpression:
    """Parse a search expression from the next token of the cursor, and move the cursor after it."""
    search = _Search(cursor)
    found = search.everything()
    cursor.move(search.start)
    return found


class _Search:
    """The tokens of a search, with one token of lookahead."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.stop = cursor.start
        self.advance()

    def advance(self) -> None:
        found = _TOKEN_AT(self.cursor.text, self.stop)
        self.kind = found.lastgroup
        self.start, self.stop = found.span(self.kind or 0)
        self.value = found[self.kind or 0]
        self.spaced = bool(found[1])

    def everything(self) -> SearchExpression:
        if self.kind == "typed":
            words = [word.strip('"') for word in self.value[1:-1].replace("''", "'").split()]
            self.advance()
            terms = [SearchTerm(word) for word in words if word] or [SearchTerm("", phrase=True)]
            found: SearchExpression = terms[0]
            for term in terms[1:]:
                self.cursor.count()
                found = SearchAnd(found, term)
            return found
        return self.either()

    def either(self) -> SearchExpression:
        found = self.both()
        while self.at_operator("OR"):
            self.advance()
            self.cursor.count()
            found = SearchOr(found, self.both())
        return found

    def both(self) -> SearchExpression:
        found = self.operand()
        while not self.at_operator("OR"):
            if self.at_operator("AND"):
                self.advance()
            elif not (self.spaced and self.operand_follows()):
                break
            self.cursor.count()
            found = SearchAnd(found, self.operand())
        return found

    def operand(self) -> SearchExpression:
        self.cursor.enter()
        found = self._operand()
        self.cursor.leave()
        return found

    def _operand(self) -> SearchExpression:
        if self.at_operator("NOT"):
            self.advance()
            self.cursor.count()
            return SearchNot(self.operand())
        if self.kind == "word":
            return self._term(SearchTerm(self.value))
        if self.kind == "phrase":
            return self._term(SearchTerm(self.value[1:-1], phrase=True))
        if self.kind == "parenthesis" and self.value == "(":
            self.advance()
            found = self.either()
            if self.value != ")":
                self.cursor.fail("')'", self.start)
            self.advance()
            self._must_end()
            return found
        raise self.cursor.error("a word, a phrase in double quotes, or '('", self.start)

    def _term(self, term: SearchTerm) -> SearchTerm:
        self.cursor.count()
        self.advance()
        self._must_end()
        return term

    def _must_end(self) -> None:
        """Check that space follows a word; only a closing parenthesis or the end may follow directly."""
        if self.kind == "bad" or (not self.spaced and (self.kind in {"word", "phrase", "typed"} or self.value == "(")):
            self.cursor.fail("a space, ')' or the end", self.start)

    def operand_follows(self) -> bool:
        return self.kind in {"word", "phrase"} or (self.kind == "parenthesis" and self.value == "(")

    def at_operator(self, word: str) -> bool:
        """Return whether the next token is this word as an operator: followed by a space and an operand."""
        if self.kind != "word" or self.value != word:
            return False
        behind = _TOKEN_AT(self.cursor.text, self.stop)
        kind = behind.lastgroup
        return bool(behind[1]) and (kind in {"word", "phrase"} or (kind == "parenthesis" and behind[kind] == "("))

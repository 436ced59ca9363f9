"""``$search``: words, phrases and operators."""

from __future__ import annotations

import pytest

from odata_server.errors import ODataError
from odata_server.expressions import SearchAnd, SearchExpression, SearchNot, SearchOr, SearchTerm
from odata_server.parse import parse_options, parse_search


def shown(search: SearchExpression) -> str:
    if isinstance(search, SearchTerm):
        return f'"{search.text}"' if search.phrase else search.text
    if isinstance(search, SearchNot):
        return f"(NOT {shown(search.operand)})"
    word = "AND" if isinstance(search, SearchAnd) else "OR"
    return f"({shown(search.left)} {word} {shown(search.right)})"


SEARCHES = {
    "blue": "blue",
    " blue ": "blue",
    "blue green": "(blue AND green)",
    "a AND b OR c AND d": "((a AND b) OR (c AND d))",
    "a b OR c": "((a AND b) OR c)",
    "a AND (b OR c)": "(a AND (b OR c))",
    "NOT a b": "((NOT a) AND b)",
    "NOT (a b)": "(NOT (a AND b))",
    "NOT NOT a": "(NOT (NOT a))",
    "a NOT b": "(a AND (NOT b))",
    "a OR NOT b": "(a OR (NOT b))",
    '"a b" c': '("a b" AND c)',
    '"a AND b"': '"a AND b"',
    "and or not": "((and AND or) AND not)",
    "AND": "AND",
    "NOT": "NOT",
    "a AND": "(a AND AND)",
    "OR OR OR": "(OR OR OR)",
    "ORANGE ANDY NOTE": "((ORANGE AND ANDY) AND NOTE)",
    "Daniel's 9,81 a:b/c* $x @y #1 ü-1": "(((((((Daniel's AND 9,81) AND a:b/c*) AND $x) AND @y) AND #1) AND ü-1))"[
        1:-1
    ],
    "( a )": "a",
    "''": '""',
    "'typed so'": "(typed AND so)",
    "'\"blue'": "blue",
    "'it''s'": "it's",
    "'('": "(",
}


@pytest.mark.parametrize(("given", "meant"), SEARCHES.items())
def test_each_search_is_parsed_into_its_tree(given: str, meant: str) -> None:
    assert shown(parse_search(given)) == meant


@pytest.mark.parametrize(
    "given", ["", " ", "(a", "a)", "()", '"', '""', '"a', '"a"b', 'a"b', "a(b)", "(a)b", "NOT(a)", "'", "'a' b", "a\nb"]
)
def test_an_invalid_search_is_refused(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_search(given)
    assert (refusal.value.status, refusal.value.target) == (400, "$search")
    assert "at position" in refusal.value.message


def test_a_search_in_a_url() -> None:
    assert parse_options("$search=blue+%22dark%20green%22").search == SearchAnd(
        SearchTerm("blue"), SearchTerm("dark green", phrase=True)
    )
    assert parse_options("search=a OR b").search == SearchOr(SearchTerm("a"), SearchTerm("b"))
    assert parse_options("$search=a%3Bb%26c").search == SearchTerm("a;b&c")

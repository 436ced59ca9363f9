"""``matchesPattern`` and non-ASCII letters: the same on both databases, in bounded time for every pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from odata_server.sql.reader import SqlReader
from odata_server.sql.terms.patterns import automaton, checked
from tests.kit.processor_time import processor_time
from tests.odata_server.bookshop import sql_model
from tests.odata_server.sql.asking import ids, query_of

PATTERNS: list[tuple[str, list[int]]] = [
    ("^E", [2]),
    ("a$", [2, 4]),
    ("^Emma$", [2]),
    ("mm", [2]),
    ("", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("^[A-E]", [2, 4, 7, 8]),
    ("^(The|Die) ", [5, 6, 7]),
    ("s{2}", [5, 6]),
    ("^.{4}$", [2]),
    (r"^\w+$", [2, 8]),
    (r"\s\w+\s\w+$", [1, 4, 5, 7]),
    ("[^a-zA-Z ]", []),
    ("(an|re)+d?$", [3]),
    ("e+$", [1, 3, 7]),
    ("x?$", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("^E.*a$", [2]),
    ("^(E|J)[a-z]+( [A-Z][a-z]*)?$", [2, 3]),
    ("D.*a|W.*o", [4, 5]),
    ("[[]|B", [8]),
]


async def filtered(database: EngineDatabase, options: str, root: str = "Books") -> list[int]:
    reader, query = SqlReader(sql_model()), query_of(root, options)
    return ids(await database.read(lambda connection: reader.read(connection, query)))


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS, ids=[one for one, _ in PATTERNS])
async def test_a_pattern_is_found_in_titles(equipped: EngineDatabase, pattern: str, expected: list[int]) -> None:
    assert await filtered(equipped, f"$filter=matchesPattern(title,@p)&@p='{pattern}'") == expected


REFUSED = [
    *(r"(a)\1", "(?=a)", "(?<!a)b", "a**", "*a", "(a", "a)", "[a", "a{1000}", "a{2,1}", r"\bword", r"\p{L}", "(?i)a"),
    "((a{50}){50}){50}",
    "a" * 201,
    "(" * 30 + ")" * 30,
    "[z-a]",
    "a{",
    "\\",
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_pattern_that_could_be_expensive_is_refused(pattern: str) -> None:
    with pytest.raises(ODataError) as refused:
        checked(pattern)
    assert (refused.value.status, refused.value.code) == (400, "PATTERN_NOT_SUPPORTED")


@pytest.mark.alone
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)*b", "^(.*a){10}$", ".*.*.*.*.*x", "(a?){100}a{100}"])
def test_no_pattern_takes_long(pattern: str) -> None:
    found = automaton(pattern)
    found.matches("a" * 100)  # creates most of the possible states
    with processor_time() as spent:
        found.matches("a" * 20_000 + "!")
    assert spent.seconds < 1


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", "1", " ", "ä", r"\.", "(?:ab)", "(a|b1)"])
REPEATED = st.builds(str.__add__, ATOMS, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "*?"]))
ROWS = st.lists(REPEATED, max_size=4).map("".join)
ANCHORED = st.builds(lambda a, row, z: a + row + z, st.sampled_from(["", "^"]), ROWS, st.sampled_from(["", "$"]))
WHOLE = st.lists(ANCHORED, min_size=1, max_size=3).map("|".join)


@given(WHOLE, st.text("ab1 ä.\n", max_size=8))
def test_an_automaton_finds_what_a_regular_expression_finds(pattern: str, text: str) -> None:
    theirs = re.search(re.sub(r"\$", r"\\Z", pattern), text, re.ASCII) is not None
    assert automaton(pattern).matches(text) is theirs
    checked(pattern)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("$filter=tolower(name) eq 'charlotte brontë'", [2]),
        ("$filter=toupper(name) eq 'CHARLOTTE BRONTË'", [2]),
        ("$filter=contains(toupper(name),'Ë')", [2]),
        ("$search=BRONTË", [2]),
    ],
)
async def test_letters_beyond_ascii_have_cases_too(equipped: EngineDatabase, options: str, expected: list[int]) -> None:
    assert await filtered(equipped, options, "Authors") == expected


async def test_without_the_custom_functions_matches_pattern_is_not_implemented(library: EngineDatabase) -> None:
    if library.dialect == "postgresql":
        assert await filtered(library, "$filter=matchesPattern(title,'^E')") == [2]
        return
    with pytest.raises(ODataError) as refused:
        await filtered(library, "$filter=matchesPattern(title,'^E')")
    assert refused.value.status == 501

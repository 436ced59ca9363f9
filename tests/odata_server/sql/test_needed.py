"""What the rows of a query must contain, for an index of texts."""

from __future__ import annotations

import pytest

from odata_server.sql.needed import texts_needed
from tests.odata_server.sql.asking import query_of

INDEXED = frozenset({"title", "isbn"})
ALTERNATIVES = [
    ("$search=Emma", [{"emma"}]),
    ('$search="Jane Eyre"', [{"jane eyre"}]),
    ("$search=Emma Eyre", [{"emma", "eyre"}]),
    ("$search=Emma OR Eyre", [{"emma"}, {"eyre"}]),
    ("$search=Emma AND (Eyre OR Jane)", [{"emma", "eyre"}, {"emma", "jane"}]),
    ("$search=Emma AND NOT Eyre", [{"emma"}]),
    ("$search=NOT Emma", None),
    ("$search=Emma OR NOT Eyre", None),
    ("$search=Emma OR ab", None),
    ("$search=ab", None),
    ("$search=Emma ab", [{"emma"}]),
    ("$search=kiwi", [{"kiwi"}]),  # ASCII: only the case of ASCII is ignored
    ("$search=Müller", [{"müller"}]),
    ("$search=Käsekuchen", [{"äse", "uchen"}]),  # the Kelvin sign is a k of another case
    ("$search=größe", [{"grö"}]),
    ("$search=Дом", None),
    ("$filter=contains(title,'Emma')", [{"emma"}]),
    ("$filter=contains(title,'Kiwi-Käse')", [{"kiwi-käse"}]),
    ("$filter=contains(tolower(title),'kiwis')", None),
    ("$filter=contains(tolower(title),'emma')", [{"emma"}]),
    ("$filter=contains(toupper(title),'EMMA')", None),  # the small sharp s has two capitals
    ("$filter=startswith(title,'Emma') or endswith(isbn,'4711')", [{"emma"}, {"4711"}]),
    ("$filter=title eq 'Emma' and stock gt 3", [{"emma"}]),
    ("$filter=title eq 'Emma' or stock gt 3", None),
    ("$filter='Emma' eq title", [{"emma"}]),
    ("$filter=title ne 'Emma'", None),
    ("$filter=not contains(title,'Emma')", None),
    ("$filter=contains('Emma',title)", None),
    ("$filter=contains(author/name,'Emma')", None),
    ("$filter=contains(language,'Emma')", None),  # not in the index
    ("$filter=title eq null", None),
    ("$filter=contains(title,'Emma')&$search=Jane", [{"emma", "jane"}]),
]


@pytest.mark.parametrize(("options", "expected"), ALTERNATIVES, ids=[one for one, _ in ALTERNATIVES])
def test_an_index_may_leave_out_rows_without_these_texts(options: str, expected: list[set[str]] | None) -> None:
    found = texts_needed(query_of("Books", options).options, INDEXED, frozenset({"title"}))
    assert (None if found is None else [set(one) for one in found]) == expected


def test_a_search_in_more_than_the_index_has_cannot_use_it() -> None:
    assert texts_needed(query_of("Books", "$search=Emma").options, INDEXED, frozenset({"title", "language"})) is None

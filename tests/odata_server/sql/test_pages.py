"""``$orderby``, ``$top``, ``$skip``, ``$count``, ``$select`` and pages, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from odata_server.parse import parse_filter
from odata_server.source import ByFilter
from tests.odata_server.bookshop import author, book, order, review
from tests.odata_server.bookshop_tables import BOOKS
from tests.odata_server.sql.asking import READER, ask, count, ids, query_of, target_of

ORDERS: list[tuple[str, list[int]]] = [
    ("", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("$orderby=price", [8, 6, 2, 1, 4, 3, 5, 7]),
    ("$orderby=price desc", [7, 5, 3, 1, 4, 2, 6, 8]),
    ("$orderby=rating", [5, 8, 2, 3, 6, 1, 7, 4]),
    ("$orderby=rating desc,title desc", [4, 1, 7, 6, 3, 2, 5, 8]),
    ("$orderby=published desc", [7, 6, 5, 4, 3, 2, 1, 8]),
    ("$orderby=author/name,price desc", [8, 3, 1, 2, 7, 5, 4, 6]),
    ("$orderby=length(title),title", [2, 8, 3, 6, 1, 4, 7, 5]),
    ("$orderby=available,stock desc", [2, 4, 6, 7, 1, 3, 5, 8]),
    ("$orderby=chapters/$count desc", [1, 3, 2, 4, 5, 6, 7, 8]),
    ("$orderby=ID desc", [8, 7, 6, 5, 4, 3, 2, 1]),
    ("$orderby=modifiedAt desc", [4, 1, 2, 3, 5, 6, 7, 8]),
    ("$orderby=format desc,author/country/name", [5, 6, 7, 2, 8, 1, 3, 4]),  # by number, as all enumerations
    ("$orderby=price mul stock desc", [4, 7, 6, 3, 1, 5, 2, 8]),
    ("$top=2", [1, 2]),
    ("$top=2&$skip=3", [4, 5]),
    ("$skip=6", [7, 8]),
    ("$top=0", []),
    ("$skip=100", []),
    ("$filter=price lt 10&$orderby=price desc&$top=2&$skip=1", [4, 2]),
    ("$filter=rating gt 4.1&$orderby=rating desc", [4, 1, 7, 3, 6]),
    ("$filter=published lt 1900-01-01T00:00:00Z and price gt 1&$orderby=published desc", [3, 2, 1]),
    ("$filter=rating ne null&$orderby=rating,title", [2, 3, 6, 7, 1, 4]),
    ("$filter=rating ne 4.5&$orderby=rating", [5, 8, 2, 3, 6, 4]),
]


@pytest.mark.parametrize(("options", "expected"), ORDERS, ids=[one for one, _ in ORDERS])
async def test_rows_are_returned_in_the_requested_order(
    library: EngineDatabase, options: str, expected: list[int]
) -> None:
    assert ids(await ask(library, "Books", options)) == expected


@pytest.mark.parametrize("page_size", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize(("options", "expected"), ORDERS, ids=[one for one, _ in ORDERS])
async def test_the_pages_of_a_list_together_are_the_complete_list(
    library: EngineDatabase, options: str, expected: list[int], page_size: int
) -> None:
    found: list[int] = []
    token = ""
    for _ in range(10):
        rows = await ask(library, "Books", f"{options}&$count=true{token}".lstrip("&"), page_size=page_size)
        found += ids(rows)
        assert len(rows.items) <= page_size
        assert rows.count == (8 if "filter" not in options else 5 if "$skip" in options else len(expected))
        if rows.next_token is None:
            break
        token = f"&$skiptoken={rows.next_token}"
    assert found == expected


async def test_a_page_after_a_change_neither_repeats_nor_omits_rows(bookshop: EngineDatabase) -> None:
    first = await ask(bookshop, "Books", "$orderby=price", page_size=3)
    assert ids(first) == [8, 6, 2]
    await bookshop.write(lambda connection: connection.rowcount(BOOKS.delete().where(BOOKS.c.id == book(6))))
    second = await ask(bookshop, "Books", f"$orderby=price&$skiptoken={first.next_token}", page_size=3)
    assert ids(second) == [1, 4, 3]


async def test_a_skip_token_that_was_altered_or_belongs_to_another_order_is_refused(library: EngineDatabase) -> None:
    token = (await ask(library, "Books", "$orderby=price", page_size=3)).next_token
    assert token is not None
    wrong = [f"$skiptoken={token}", "$orderby=price&$skiptoken=AAAA"]
    wrong += [
        f"$orderby=price&$skiptoken={token[:at]}x{token[at + 1 :]}" for at in range(len(token)) if token[at] != "x"
    ]
    for options in wrong:
        with pytest.raises(ODataError) as refused:
            await ask(library, "Books", options)
        assert refused.value.code == "INVALID_SKIPTOKEN"


async def test_the_count_includes_all_rows_that_match_the_filter(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$filter=price lt 10&$count=true&$top=1&$skip=1")
    assert (rows.count, ids(rows)) == (5, [2])
    assert await count(library, "Books", "$filter=price lt 10&$top=1") == 5
    assert await count(library, "Books", "$search=the") == 2
    assert await count(library, target_of("Authors", {"ID": author(3)}, "books")) == 3


async def test_a_row_has_all_properties_in_the_order_of_the_model(library: EngineDatabase) -> None:
    rows = await ask(library, target_of("Books", {"ID": book(1)}))
    assert list(rows.items[0].items()) == [
        ("@etag", 'W/"7"'),
        ("ID", book(1)),
        ("isbn", "9780141439518"),
        ("title", "Pride and Prejudice"),
        ("description", "It is a truth universally acknowledged."),
        ("price", Decimal("9.99")),
        ("stock", 12),
        ("sold", 20_000_000_000),
        ("rating", 4.5),
        ("published", datetime(1813, 1, 28, tzinfo=UTC)),
        ("language", "en"),
        ("format", "Paperback"),
        ("available", True),
        ("tags", ["classic", "love"]),
        ("thumbnail", None),
        ("author_ID", author(1)),
        ("genre_ID", 2),
        ("createdAt", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("modifiedAt", None),
    ]
    rows = await ask(library, target_of("Reviews", {"ID": review(2)}))
    assert rows.items[0]["ID"] == review(2)
    assert rows.items[0]["postedAt"] == datetime(2024, 3, 2, 11, 15, tzinfo=UTC)


SELECTS: list[tuple[str, list[str]]] = [
    ("$select=title", ["@etag", "ID", "title"]),
    ("$select=title,price", ["@etag", "ID", "title", "price"]),
    ("$select=price,title", ["@etag", "ID", "title", "price"]),
    ("$select=author", ["@etag", "ID"]),
    ("$select=ID", ["@etag", "ID"]),
    ("$select=title&$compute=price mul 2 as double", ["@etag", "ID", "title"]),
    ("$select=title,double&$compute=price mul 2 as double", ["@etag", "ID", "title", "double"]),
]


@pytest.mark.parametrize(("options", "names"), SELECTS, ids=[one for one, _ in SELECTS])
async def test_select_chooses_properties_and_keeps_key_and_etag(
    library: EngineDatabase, options: str, names: list[str]
) -> None:
    rows = await ask(library, "Books", options)
    assert all(list(one) == names for one in rows.items)
    assert ids(rows) == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_select_star_returns_everything_except_write_only_properties(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$select=*")
    assert rows.items == (await ask(library, "Books")).items
    assert "purchasePrice" not in rows.items[0]
    for wrong in ("purchasePrice", "nothing"):
        with pytest.raises(ODataError) as refused:
            await ask(library, "Books", f"$select={wrong}")
        assert (refused.value.code, refused.value.target) == ("UNKNOWN_PROPERTY", wrong)


async def test_rows_are_formatted_as_the_client_requests(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$select=price,sold,stock", prefix="@odata.", quoted_numbers=True)
    assert rows.items[0] == {"@odata.etag": 'W/"7"', "ID": book(1), "price": "9.99", "stock": 12, "sold": "20000000000"}
    rows = await ask(library, "Books", "$select=price", etags=False)
    assert rows.items[1] == {"ID": book(2), "price": Decimal("8.50")}


COMPUTED: list[tuple[str, object]] = [
    ("price mul 2", Decimal("19.98")),
    ("price add 0.005", Decimal("9.995")),
    ("stock add 1", 13),
    ("stock divby 5", Decimal("2.400000")),
    ("rating div 2", 2.25),
    ("concat(title,'!')", "Pride and Prejudice!"),
    ("price gt 5", True),
    ("chapters/$count", 3),
    ("author/name", "Jane Austen"),
    ("published", datetime(1813, 1, 28, tzinfo=UTC)),
    ("'text'", "text"),
    ("length(title)", 19),
]


@pytest.mark.parametrize(("expression", "value"), COMPUTED, ids=[one for one, _ in COMPUTED])
async def test_computed_values_are_of_the_types_of_the_model(
    library: EngineDatabase, expression: str, value: object
) -> None:
    rows = await ask(library, "Books", f"$compute={expression} as found&$select=found&$top=1")
    found = rows.items[0]["found"]
    assert found == value
    assert type(found) is type(value)


async def test_computed_values_can_be_filtered_and_ordered_by(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$compute=price mul stock as worth&$filter=worth gt 100&$orderby=worth desc")
    assert ids(rows) == [4, 7, 6, 3, 1]
    assert rows.items[0]["worth"] == Decimal("3326.67")


TARGETS = [
    (target_of("Books", {"ID": book(4)}), [4]),
    (target_of("Books", {"ID": book(4)}, "author"), [3]),
    (target_of("Authors", {"ID": author(3)}, "books"), [4, 5, 6]),
    (target_of("Authors", {"ID": author(3)}, "books", {"ID": book(5)}), [5]),
    (target_of("Authors", {"ID": author(3)}, "books", {"ID": book(1)}), []),
    (target_of("Authors", {"ID": author(3)}, "books", {"ID": book(5)}, "genre", "parent"), [1]),
    (target_of("Authors", {"ID": author(5)}, "books"), []),
    (target_of("Authors", {"ID": book(1)}, "books"), []),
    (target_of("Books", {"ID": book(8)}, "author"), []),
    (target_of("Books", ByFilter(parse_filter("price gt 10"))), [3, 5, 7]),
    (target_of("Books", ByFilter(parse_filter("author/name eq 'Jane Austen'")), "chapters"), [1, 2, 3]),
    (target_of("Genres", {"ID": 1}, "children"), [2, 3, 5]),
]


@pytest.mark.parametrize(("target", "expected"), TARGETS)
async def test_a_path_returns_its_entities(library: EngineDatabase, target: object, expected: list[int]) -> None:
    assert ids(await ask(library, target)) == expected  # type: ignore[arg-type]


async def test_a_filter_applies_to_the_entities_at_the_end_of_a_path(library: EngineDatabase) -> None:
    target = target_of("Authors", {"ID": author(3)}, "books")
    rows = await ask(library, target, "$filter=stock gt 10&$orderby=title desc&$count=true", page_size=1)
    assert (ids(rows), rows.count) == ([6], 2)


async def test_rows_can_be_locked(bookshop: EngineDatabase) -> None:
    query_target = target_of("Books", {"ID": book(4)}, "author")
    query = query_of(query_target, lock=True)
    rows = await bookshop.write(lambda connection: READER.read(connection, query))
    assert ids(rows) == [3]


SEARCHES: list[tuple[str, list[int]]] = [
    ("emma", [2]),
    ("EMMA", [2]),
    ('"left hand"', [5]),
    ("left hand", [5]),
    ("left AND hand", [5]),
    ("truth OR comedy", [1, 2]),
    ("truth comedy", []),
    ("NOT of", [1, 2, 3, 6, 7, 8]),
    ("the NOT hand", [6]),
    ("l_ft", []),
    ('"l%25t"', []),
    ('"\\"', []),
]


@pytest.mark.parametrize(("text", "expected"), SEARCHES, ids=[one for one, _ in SEARCHES])
async def test_search_finds_words_and_phrases(library: EngineDatabase, text: str, expected: list[int]) -> None:
    assert sorted(ids(await ask(library, "Books", f"$search={text}"))) == sorted(expected)


async def test_a_type_without_searchable_properties_is_searched_by_its_texts(library: EngineDatabase) -> None:
    assert ids(await ask(library, "Chapters", "$search=BALL")) == [2]
    assert ids(await ask(library, "Blurbs", "$search=again NOT once")) == [1]
    assert await count(library, "Translations", "$search=de") == 1  # its language
    nested = await ask(library, "Books", "$filter=title eq 'Jane Eyre'&$expand=chapters($search=gates;$select=title)")
    assert [one["title"] for one in nested.items[0]["chapters"]] == ["Gateshead"]


async def test_a_type_without_texts_is_searched_by_its_key_and_its_references(library: EngineDatabase) -> None:
    async def found(text: str) -> list[tuple[int, int]]:
        rows = await ask(library, "OrderItems", f"$search={text}")
        return [(int(one["order_ID"][-2:]), one["position"]) for one in rows.items]

    assert await found(f'"{book(1)}"') == [(1, 1), (2, 1)]
    assert await found(f'"{book(1).upper()}"') == [(1, 1), (2, 1)]
    assert await found(f'"{order(1)}" NOT "{book(1)}"') == [(1, 2)]
    assert await found("2") != []
    assert await found("zzz") == []

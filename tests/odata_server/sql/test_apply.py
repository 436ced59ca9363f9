"""``$apply`` on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from odata_server.csdl.annotations import TRANSFORMATIONS
from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from tests.odata_server.bookshop import author
from tests.odata_server.sql.asking import ask

D = Decimal
APPLIES: list[tuple[str, list[dict[str, Any]]]] = [
    ("aggregate($count as n)", [{"n": 8}]),
    ("aggregate(price with sum as total,price with max as most)", [{"total": D("83.87"), "most": D("25.00")}]),
    ("aggregate(stock with sum as s,stock with min as a,stock with max as b)", [{"s": 503, "a": -1, "b": 333}]),
    ("aggregate(price with average as mean)", [{"mean": D("10.483750")}]),
    ("aggregate(rating with average as mean,rating with min as least)", [{"mean": 4.375, "least": 4.0}]),
    (
        "aggregate(language with countdistinct as n,title with max as last)",
        [{"n": 2, "last": "The Left Hand of Darkness"}],
    ),
    ("filter(price gt 100)/aggregate($count as n,price with sum as total)", [{"n": 0, "total": None}]),
    (
        "groupby((language),aggregate(price with sum as total,$count as n))",
        [{"language": "de", "total": D("25.00"), "n": 1}, {"language": "en", "total": D("58.87"), "n": 7}],
    ),
    (
        "filter(price gt 9)/groupby((author/name),aggregate($count as n))",
        [
            {"author": {"name": "Charlotte Brontë"}, "n": 1},
            {"author": {"name": "Jane Austen"}, "n": 1},
            {"author": {"name": "Michael Ende"}, "n": 1},
            {"author": {"name": "Ursula K. Le Guin"}, "n": 2},
        ],
    ),
    ("groupby((format))", [{"format": "EBook"}, {"format": "Hardcover"}, {"format": "Paperback"}]),
    (
        "groupby((format,language),aggregate($count as n))/filter(n gt 1)/orderby(n desc)",
        [{"format": "Paperback", "language": "en", "n": 4}, {"format": "EBook", "language": "en", "n": 2}],
    ),
    (
        "groupby((author_ID),aggregate(price mul stock with sum as worth))/topcount(1,worth)",
        [{"author_ID": author(3), "worth": D("4093.37")}],
    ),
    (
        "compute(price mul 2 as double)/groupby((language),aggregate(double with sum as total))",
        [{"language": "de", "total": D("50.00")}, {"language": "en", "total": D("117.74")}],
    ),
    (
        "groupby((language),aggregate(price with sum as total))/compute(total div 2 as half)",
        [
            {"language": "de", "total": D("25.00"), "half": D("12.500000")},
            {"language": "en", "total": D("58.87"), "half": D("29.435000")},
        ],
    ),
    (
        "concat(groupby((language),aggregate($count as n)),aggregate($count as n))",
        [{"language": "de", "n": 1}, {"language": "en", "n": 7}, {"n": 8}],
    ),
    (
        "concat(aggregate($count as n),groupby((language),aggregate($count as n))/orderby(language desc))",
        [{"n": 8}, {"language": "en", "n": 7}, {"language": "de", "n": 1}],
    ),
    (
        "concat(concat(aggregate($count as n),groupby((language))),aggregate(stock with max as most))",
        [{"n": 8}, {"language": "de"}, {"language": "en"}, {"most": 333}],
    ),
    (  # as OpenUI5 asks for a table with a grand total, a count and groups
        (
            "groupby((format,language),aggregate(stock with sum as s))/concat(aggregate(s with sum as UI5grand__s),"
            "groupby((format),aggregate(s with sum as s))/orderby(s desc)"
            "/concat(aggregate($count as UI5__count),top(2)))"
        ),
        [{"UI5grand__s": 503}, {"UI5__count": 3}, {"format": "Paperback", "s": 356}, {"format": "EBook", "s": 105}],
    ),
    (
        (
            "concat(topcount(2,price)/groupby((title)),bottomcount(1,price)/groupby((title,price)))"
            "/compute(length(title) as l)/filter(l gt 4)"
        ),
        [
            {"title": "Die unendliche Geschichte", "l": 25},
            {"title": "The Left Hand of Darkness", "l": 25},
            {"title": "Beowulf", "price": D("0.00"), "l": 7},
        ],
    ),
    (
        "filter(stock gt 90 or language eq 'de')/groupby((rollup(language,format),available),aggregate($count as n))",
        [
            {"available": True, "language": "de", "format": "Hardcover", "n": 1},
            {"available": True, "language": "en", "format": "EBook", "n": 1},
            {"available": True, "language": "en", "format": "Paperback", "n": 1},
            {"available": True, "language": "de", "n": 1},
            {"available": True, "language": "en", "n": 2},
        ],
    ),
    ("aggregate(reviews/$count as n,$count as books)", [{"n": 3, "books": 8}]),
    (
        "groupby((author/name),aggregate(chapters/$count as n))/filter(n gt 0)",
        [{"author": {"name": "Charlotte Brontë"}, "n": 1}, {"author": {"name": "Jane Austen"}, "n": 3}],
    ),
    ("filter(price gt 100)/aggregate(reviews/$count as n)", [{"n": 0}]),
    ("topsum(25.01,price)/aggregate($count as n,price with sum as s)", [{"n": 2, "s": D("37.34")}]),
    ("topsum(25,price)/groupby((title))", [{"title": "Die unendliche Geschichte"}]),
    ("topsum(0,price)/aggregate($count as n)", [{"n": 0}]),
    ("toppercent(100,price)/aggregate(price with sum as s)", [{"s": D("83.87")}]),
    ("toppercent(29.81,price)/aggregate($count as n)", [{"n": 2}]),
    ("toppercent(29.8,price)/aggregate($count as n)", [{"n": 1}]),
    ("bottomsum(8,price)/aggregate(price with max as m)", [{"m": D("8.50")}]),
    ("bottompercent(8.4,price)/aggregate(price with max as m)", [{"m": D("7.05")}]),
    ("topcount(1,rating)/groupby((rating))", [{"rating": 4.75}]),
    ("groupby((title))/orderby(title desc)/top(3)/skip(1)/top(1)", [{"title": "The Dispossessed"}]),
    (
        "groupby((title))/orderby(title desc)/top(3)/filter(length(title) gt 18)",
        [{"title": "The Left Hand of Darkness"}, {"title": "Pride and Prejudice"}],
    ),
    (
        "orderby(price desc)/top(2)/aggregate(price with sum as total)",
        [{"total": D("37.34")}],
    ),
    (
        "orderby(price desc)/skip(1)/top(2)/groupby((title))",
        [{"title": "Jane Eyre"}, {"title": "The Left Hand of Darkness"}],
    ),
    (
        "groupby((title))/orderby(title desc)/top(2)",
        [{"title": "The Left Hand of Darkness"}, {"title": "The Dispossessed"}],
    ),
    ("search(emma)/aggregate($count as n)", [{"n": 1}]),
    ("identity/aggregate($count as n)", [{"n": 8}]),
    ("groupby((language),filter(price lt 9)/aggregate($count as n))", [{"language": "en", "n": 3}]),
    ("aggregate(published with max as last)/compute(year(last) as y)/groupby((y))", [{"y": 1979}]),
]


@pytest.mark.parametrize(("apply", "expected"), APPLIES, ids=[one for one, _ in APPLIES])
async def test_rows_are_grouped_and_aggregated(
    library: EngineDatabase, apply: str, expected: list[dict[str, Any]]
) -> None:
    found = (await ask(library, "Books", f"$apply={apply}")).items
    assert found == expected
    assert [[type(value) for value in one.values()] for one in found] == [
        [type(value) for value in one.values()] for one in expected
    ]


async def test_options_beside_apply_refer_to_its_result(library: EngineDatabase) -> None:
    by_author = "$apply=groupby((author/name),aggregate($count as n,price with sum as total))"
    rows = await ask(library, "Books", f"{by_author}&$filter=n gt 1&$orderby=total desc&$count=true&$select=n")
    assert (rows.items, rows.count) == ([{"n": 3}, {"n": 2}], 2)
    rows = await ask(library, "Books", f"{by_author}&$orderby=total desc&$top=1&$skip=1")
    assert rows.items == [{"author": {"name": "Michael Ende"}, "n": 1, "total": D("25.00")}]


PAGED = [
    ("groupby((author/name),aggregate($count as n))/orderby(author/name)/top(4)", 4),
    ("groupby((author/name),aggregate($count as n))/orderby(author/name)/top(4)&$top=3", 3),
    ("groupby((author/name),aggregate($count as n))/orderby(author/name)/top(4)&$skip=1&$orderby=n desc", 3),
    ("concat(aggregate($count as n),groupby((title))/orderby(title desc)/top(5))", 6),
]


@pytest.mark.parametrize("page_size", [1, 2, 5])
@pytest.mark.parametrize(("apply", "count"), PAGED)
async def test_the_pages_of_groups_together_are_the_complete_result(
    library: EngineDatabase, page_size: int, apply: str, count: int
) -> None:
    options = f"$apply={apply}"
    whole = (await ask(library, "Books", options)).items
    assert len(whole) == count
    found: list[Any] = []
    token: str | None = ""
    while token is not None:
        rows = await ask(library, "Books", options + (f"&$skiptoken={token}" if token else ""), page_size=page_size)
        found += rows.items
        token = rows.next_token
    assert found == whole


CUSTOM = [
    ("aggregate(stock)", [{"stock": 503}]),
    ("aggregate(stock,language,rating as mean)", [{"stock": 503, "language": None, "mean": 4.375}]),
    ("filter(author/name eq 'Jane Austen')/aggregate(language,stock as n)", [{"language": "en", "n": 12}]),
    (
        "filter(price gt 11)/groupby((format),aggregate(stock,published))/orderby(format)",
        [
            {"format": "Hardcover", "stock": 42, "published": datetime(1979, 9, 1, tzinfo=UTC)},
            {"format": "EBook", "stock": 5, "published": datetime(1969, 3, 1, tzinfo=UTC)},
        ],
    ),
    # as UI5 asks: totals, then a page of groups with their count
    (
        (
            "concat(aggregate(stock,language),groupby((format),aggregate(stock))/filter(stock lt 300)/orderby(stock)/"
            "concat(aggregate($count as n),top(1)))"
        ),
        [{"stock": 503, "language": None}, {"n": 2}, {"format": "Hardcover", "stock": 42}],
    ),
    ("topcount(2,stock)/aggregate(stock)", [{"stock": 433}]),
    ("compute(price mul 2 as twice)/aggregate(stock,twice with max as m)", [{"stock": 503, "m": D("50.00")}]),
]


@pytest.mark.parametrize(("apply", "expected"), CUSTOM, ids=[one[:40] for one, _ in CUSTOM])
async def test_custom_aggregates_of_the_model_are_known_by_their_names(
    library: EngineDatabase, apply: str, expected: list[Any]
) -> None:
    assert (await ask(library, "Books", f"$apply={apply}")).items == expected


WRONG = [
    ("aggregate(title with sum as n)", 400, "TYPE_MISMATCH"),
    ("groupby((nothing))", 400, "UNKNOWN_PROPERTY"),
    ("groupby((author))", 400, "TYPE_MISMATCH"),
    ("groupby((language))/filter(price gt 1)", 400, "UNKNOWN_PROPERTY"),
    ("aggregate(purchasePrice with sum as n)", 400, "UNKNOWN_PROPERTY"),
    ("groupby((rollup(LanguageHierarchy)),aggregate($count as n))", 501, "NOT_IMPLEMENTED"),
    ("groupby((rollup(language,nothing)),aggregate($count as n))", 400, "UNKNOWN_PROPERTY"),
    (f"groupby(({','.join(['rollup(language,format)'] * 40)}),aggregate($count as n))", 400, "EXPRESSION_TOO_LARGE"),
    ("toppercent(50,title)", 400, "TYPE_MISMATCH"),
    ("toppercent(0,price)", 400, "TYPE_MISMATCH"),
    ("bottompercent(100.1,price)", 400, "TYPE_MISMATCH"),
    ("topsum('a',price)", 400, "TYPE_MISMATCH"),
    ("topcount(1.5,price)", 400, "TYPE_MISMATCH"),
    ("bottomcount(0,price)", 400, "TYPE_MISMATCH"),
    ("aggregate(price with Bookshop.median as m)", 400, "QUERY_SYNTAX"),
    ("aggregate(price with Bookshop.cheapest as m)", 501, "NOT_IMPLEMENTED"),
    ("aggregate(price)", 400, "QUERY_SYNTAX"),
    ("aggregate(Turnover)", 400, "QUERY_SYNTAX"),
    ("aggregate(stock,stock)", 400, "QUERY_SYNTAX"),
    ("groupby((language))/aggregate(stock)", 501, "NOT_IMPLEMENTED"),
    ("groupby((language),aggregate(stock))/aggregate(stock)", 501, "NOT_IMPLEMENTED"),
    ("groupby((language),aggregate(language))", 400, "QUERY_SYNTAX"),
    ("concat(groupby((language)),aggregate(stock))/aggregate(stock)", 501, "NOT_IMPLEMENTED"),
    ("aggregate(author/name)", 400, "QUERY_SYNTAX"),
    ("aggregate(format with max as m)", 400, "TYPE_MISMATCH"),
    ("aggregate(price with sum from language with max as m)", 501, "NOT_IMPLEMENTED"),
    ("expand(chapters)", 400, "QUERY_SYNTAX"),
    ("topmost(3,price)", 400, "QUERY_SYNTAX"),
    ("Bookshop.bestsellers()", 400, "QUERY_SYNTAX"),
    ("Other.cheapest()", 400, "QUERY_SYNTAX"),
    ("Bookshop.cheapest()", 501, "NOT_IMPLEMENTED"),
    ("nest(identity as all)", 501, "NOT_IMPLEMENTED"),
    ("join(chapters as chapter)", 501, "NOT_IMPLEMENTED"),
    ("outerjoin(chapters as chapter)", 501, "NOT_IMPLEMENTED"),
    ("addnested(chapters,identity as all)", 501, "NOT_IMPLEMENTED"),
    ("ancestors($root/Genres,Tree,ID,identity)", 501, "NOT_IMPLEMENTED"),
    ("descendants($root/Genres,Tree,ID,identity)", 501, "NOT_IMPLEMENTED"),
    ("traverse($root/Genres,Tree,ID,preorder)", 501, "NOT_IMPLEMENTED"),
    ("/".join(["identity"] * 21), 400, "EXPRESSION_TOO_LARGE"),
]


WORKING = {
    "aggregate": "($count as n)",
    "compute": "(price mul 2 as twice)",
    "concat": "(identity,identity)",
    "filter": "(price gt 1)",
    "groupby": "((language))",
    "identity": "",
    "orderby": "(price)",
    "search": "(emma)",
    "skip": "(1)",
    "top": "(1)",
    **dict.fromkeys(("topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent"), "(1,price)"),
}


async def test_every_transformation_works_that_the_metadata_declares(library: EngineDatabase) -> None:
    assert set(TRANSFORMATIONS) == WORKING.keys()
    for name in TRANSFORMATIONS:
        assert (await ask(library, "Books", f"$apply={name}{WORKING[name]}")).items, name


@pytest.mark.parametrize(("apply", "status", "code"), WRONG, ids=[one[:40] for one, _, _ in WRONG])
async def test_an_invalid_apply_is_refused(library: EngineDatabase, apply: str, status: int, code: str) -> None:
    with pytest.raises(ODataError) as refused:
        await ask(library, "Books", f"$apply={apply}")
    assert (refused.value.status, refused.value.code) == (status, code)


async def test_a_sum_beyond_64_bits_is_exact_or_refused(library: EngineDatabase) -> None:
    query = "$apply=aggregate(stock mul 25000000000000000 with sum as s)"
    if library.dialect == "postgresql":
        assert (await ask(library, "Books", query)).items == [{"s": 503 * 25_000_000_000_000_000}]
        return
    with pytest.raises(ODataError) as refused:
        await ask(library, "Books", query)
    assert (refused.value.status, refused.value.code) == (400, "NUMBER_OUT_OF_RANGE")

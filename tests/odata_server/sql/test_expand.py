"""``$expand`` on both databases: nesting, order, and the number of statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

import pytest
from sqlalchemy import Executable, Row

from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from odata_server.source import Rows
from odata_server.sql.reader import SqlReader
from tests.odata_server.bookshop import author, book, review
from tests.odata_server.sql.asking import READER, ask, query_of, target_of


class Counting:
    """A connection that counts its statements."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.dialect: str = connection.dialect
        self.statements = 0

    async def execute(self, statement: Executable) -> Sequence[Row[Any]]:
        self.statements += 1
        rows: Sequence[Row[Any]] = await self.connection.execute(statement)
        return rows


async def statements_of(database: EngineDatabase, options: str, **more: Any) -> int:
    async def work(connection: Any) -> int:
        counting = Counting(connection)
        await READER.read(counting, query_of("Authors", options, **more))  # type: ignore[arg-type]
        return counting.statements

    await database.read(work)  # the first one asks PostgreSQL for its collations
    return await database.read(work)


def titles(value: Any) -> Any:
    """Reduce nested records to title, name, number and heading, and their nested records."""
    if isinstance(value, list):
        return [titles(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: titles(one) for name, one in value.items() if isinstance(one, list | dict) or "@" in name}
    kept.pop("@etag", None)
    kept.pop("tags", None)
    for name in ("title", "name", "heading", "reviewer"):
        if name in value:
            return {value[name]: kept} if kept else value[name]
    return kept


EXPANDS: list[tuple[str, str, list[Any]]] = [
    (
        "Books",
        "$expand=author&$top=2",
        [{"Pride and Prejudice": {"author": "Jane Austen"}}, {"Emma": {"author": "Jane Austen"}}],
    ),
    ("Books", "$expand=author&$skip=7", ["Beowulf"]),
    (
        "Authors",
        "$expand=books",
        [
            {"Jane Austen": {"books": ["Pride and Prejudice", "Emma"]}},
            {"Charlotte Brontë": {"books": ["Jane Eyre"]}},
            {"Ursula K. Le Guin": {"books": ["A Wizard of Earthsea", "The Left Hand of Darkness", "The Dispossessed"]}},
            {"Michael Ende": {"books": ["Die unendliche Geschichte"]}},
            {"Flann O'Brien": {"books": []}},
        ],
    ),
    (
        "Authors",
        "$filter=country_code eq 'GB'&$expand=books($expand=chapters($expand=sections;$filter=number lt 3),genre)",
        [
            {
                "Jane Austen": {
                    "books": [
                        {
                            "Pride and Prejudice": {
                                "chapters": [
                                    {"Netherfield": {"sections": ["News", "A visit"]}},
                                    {"The ball": {"sections": []}},
                                ],
                                "genre": "Novel",
                            }
                        },
                        {"Emma": {"chapters": [], "genre": "Novel"}},
                    ]
                }
            },
            {
                "Charlotte Brontë": {
                    "books": [{"Jane Eyre": {"chapters": [{"Gateshead": {"sections": []}}], "genre": "Novel"}}]
                }
            },
        ],
    ),
    (
        "Authors",
        "$filter=ID eq " + author(3) + "&$expand=books($orderby=title;$top=1;$skip=1;$count=true)",
        [{"Ursula K. Le Guin": {"books@count": 3, "books": ["The Dispossessed"]}}],
    ),
    (
        "Authors",
        "$expand=books($orderby=price desc;$top=1)",
        [
            {"Jane Austen": {"books": ["Pride and Prejudice"]}},
            {"Charlotte Brontë": {"books": ["Jane Eyre"]}},
            {"Ursula K. Le Guin": {"books": ["The Left Hand of Darkness"]}},
            {"Michael Ende": {"books": ["Die unendliche Geschichte"]}},
            {"Flann O'Brien": {"books": []}},
        ],
    ),
    (
        "Authors",
        "$filter=startswith(name,'U')&$expand=books($filter=price lt 10;$count=true)",
        [{"Ursula K. Le Guin": {"books@count": 2, "books": ["A Wizard of Earthsea", "The Dispossessed"]}}],
    ),
    (
        "Authors",
        "$filter=startswith(name,'U')&$expand=books($search=dispossessed)",
        [{"Ursula K. Le Guin": {"books": ["The Dispossessed"]}}],
    ),
    ("Authors", "$filter=startswith(name,'U')&$expand=books/$count", [{"Ursula K. Le Guin": {"books@count": 3}}]),
    (
        "Genres",
        "$filter=parent_ID eq null&$expand=children($levels=max)",
        [
            {
                "Fiction": {
                    "children": [
                        {"Novel": {"children": []}},
                        {"Fantasy": {"children": [{"High Fantasy": {"children": []}}]}},
                        {"Science Fiction": {"children": []}},
                    ]
                }
            },
            {"Poetry": {"children": []}},
        ],
    ),
    (
        "Genres",
        "$filter=ID eq 1&$expand=children($levels=2;$orderby=name;$select=name)",
        [
            {
                "Fiction": {
                    "children": [
                        {"Fantasy": {"children": ["High Fantasy"]}},
                        {"Novel": {"children": []}},
                        {"Science Fiction": {"children": []}},
                    ]
                }
            }
        ],
    ),
    (
        "Books",
        "$filter=title eq 'Emma'&$expand=*",
        [
            {
                "Emma": {
                    "author": "Jane Austen",
                    "genre": "Novel",
                    "chapters": [],
                    "translations": [],
                    "reviews": [],
                }
            }
        ],
    ),
    (
        "Translations",
        "$expand=book($expand=translations)&$top=1",
        [
            {
                "Stolz und Vorurteil": {
                    "book": {"Pride and Prejudice": {"translations": ["Stolz und Vorurteil", "Orgueil et Préjugés"]}}
                }
            }
        ],
    ),
]


@pytest.mark.parametrize(("root", "options", "expected"), EXPANDS, ids=[f"{root}?{one}" for root, one, _ in EXPANDS])
async def test_expanded_entities_are_nested_in_their_parents(
    library: EngineDatabase, root: str, options: str, expected: list[Any]
) -> None:
    found = titles((await ask(library, root, options)).items)
    assert found == expected


async def test_an_expanded_entity_equals_the_one_read_directly(library: EngineDatabase) -> None:
    alone = (await ask(library, target_of("Authors", {"ID": author(3)}, "books"), "$select=title,price")).items
    nested = (await ask(library, target_of("Authors", {"ID": author(3)}), "$expand=books($select=title,price)")).items
    assert nested[0]["books"] == alone
    assert list(nested[0]["books"][0]) == ["@etag", "ID", "title", "price"]
    one = (await ask(library, target_of("Books", {"ID": book(8)}), "$expand=author,genre,blurb")).items[0]
    assert (one["author"], one["genre"], one["blurb"]) == (None, None, None)


async def test_a_path_in_select_selects_properties_of_an_expanded_entity(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$select=title,author/name&$expand=author&$top=1")
    assert rows.items == [
        {
            "@etag": 'W/"7"',
            "ID": book(1),
            "title": "Pride and Prejudice",
            "author": {"ID": author(1), "name": "Jane Austen"},
        }
    ]


async def test_expanded_references_are_urls(library: EngineDatabase) -> None:
    rows = await ask(library, "Books", "$select=title&$expand=author/$ref,reviews/$ref&$top=1", prefix="@odata.")
    assert rows.items[0]["author"] == {"@odata.id": f"Authors({author(1)})"}
    assert rows.items[0]["reviews"] == [{"@odata.id": f"Reviews({review(n)})"} for n in (1, 2)]


async def follow(database: EngineDatabase, link: str, **more: Any) -> Rows:
    """Follow a next link of expanded books, or of expanded references."""
    path, _, options = link.partition("?")
    assert path == f"Authors({author(3)})/books"
    return await ask(database, target_of("Authors", {"ID": author(3)}, "books"), unquote(options), **more)


@pytest.mark.parametrize("parents", ["Authors", "one author"])
@pytest.mark.parametrize("inside", ["", "$top=3", "$skip=1", "$orderby=price desc", "$orderby=length(title);$top=3"])
async def test_the_pages_of_expanded_entities_together_are_the_complete_collection(
    library: EngineDatabase, inside: str, parents: str
) -> None:
    target = target_of("Authors") if parents == "Authors" else target_of("Authors", {"ID": author(3)})
    options = f"$expand=books({inside})" if inside else "$expand=books"
    whole = next(one for one in (await ask(library, target, options)).items if one["ID"] == author(3))
    row = next(one for one in (await ask(library, target, options, page_size=9)).items if one["ID"] == author(3))
    assert row == whole
    for size in (1, 2):
        rows = await ask(library, target_of("Authors", {"ID": author(3)}), options, page_size=size)
        found = list(rows.items[0]["books"])
        link = rows.items[0].get("books@nextLink")
        while link is not None:
            page = await follow(library, link, page_size=size)
            found += page.items
            assert len(page.items) <= size
            path, _, text = link.partition("?")
            kept = "&".join(part for part in text.split("&") if "skiptoken" not in part)
            link = page.next_token and f"{path}?{kept}&$skiptoken={page.next_token}".replace("?&", "?")
        assert found == whole["books"]


async def test_every_parent_gets_its_own_page(library: EngineDatabase) -> None:
    rows = await ask(library, "Authors", "$expand=books($select=title)&$select=name", page_size=5)
    assert all("books@nextLink" not in one for one in rows.items)
    rows = await ask(
        library, "Authors", "$expand=books($select=title;$filter=contains(title,';') or true)", page_size=2
    )
    page = await ask(library, "Authors", f"$expand=books($select=title)&$skiptoken={rows.next_token}", page_size=2)
    assert [len(one["books"]) for one in (*rows.items, *page.items)] == [2, 1, 2, 1]
    assert "books@nextLink" not in rows.items[0]
    assert "books@nextLink" in page.items[0]


@pytest.mark.parametrize(
    ("options", "statements"),
    [
        ("", 1),
        ("$count=true", 1),
        ("$expand=books", 2),
        ("$expand=books($top=1)", 2),
        ("$expand=books($expand=chapters,genre,author)", 5),
        ("$expand=books($count=true)", 3),
        ("$expand=books/$count", 2),
        ("$expand=books($expand=chapters($expand=sections($expand=chapter)))", 5),
    ],
)
async def test_expanding_takes_one_statement_per_navigation_not_per_row(
    library: EngineDatabase, options: str, statements: int
) -> None:
    assert await statements_of(library, options) == statements


WRONG = [
    ("$expand=title", "UNKNOWN_PROPERTY"),
    ("$expand=books($filter=color eq 1)", "UNKNOWN_PROPERTY"),
    ("$expand=books($expand=color)", "UNKNOWN_PROPERTY"),
    ("$filter=false&$expand=books($expand=chapters($filter=color eq 1))", "UNKNOWN_PROPERTY"),
    ("$expand=country/$count", "TYPE_MISMATCH"),
    ("$expand=books($levels=99)", "EXPAND_TOO_DEEP"),
    ("$expand=books($expand=*($levels=3))", "EXPAND_TOO_BROAD"),
    ("$expand=" + ",".join(["books"] * 31), "EXPAND_TOO_BROAD"),
    ("$expand=books,books", "QUERY_SYNTAX"),
]


@pytest.mark.parametrize(("options", "code"), WRONG, ids=[code + one[:40] for one, code in WRONG])
async def test_an_invalid_expand_is_refused(library: EngineDatabase, options: str, code: str) -> None:
    with pytest.raises(ODataError) as refused:
        await ask(library, "Authors", options)
    assert (refused.value.status, refused.value.code) == (400, code)


async def test_an_answer_that_would_be_too_large_is_refused(library: EngineDatabase) -> None:
    reader = SqlReader(READER.model, rows_max=12)

    async def read(options: str) -> Rows:
        query = query_of("Authors", options)
        return await library.read(lambda connection: reader.read(connection, query))

    assert len((await read("$expand=books($top=1)")).items) == 5
    assert len((await read("$expand=books")).items) == 5
    for options in ("$expand=books,country", "$expand=books($top=2;$expand=genre)", "$expand=books($expand=author)"):
        with pytest.raises(ODataError) as refused:
            await read(options)
        assert refused.value.code == "RESPONSE_TOO_LARGE"

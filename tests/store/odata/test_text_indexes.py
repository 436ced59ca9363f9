"""Lists that an index of texts narrows have the rows, the order and the count that they have without it."""

from __future__ import annotations

import json
import re
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Select, Text, delete, literal, select, update

from odata_server.edm import Primitive
from odata_server.expressions import (
    Binary,
    Call,
    Expression,
    Literal,
    Member,
    SearchAnd,
    SearchExpression,
    SearchNot,
    SearchOr,
    SearchTerm,
)
from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query, Rows
from odata_server.sql import few
from odata_server.sql.model import Needed, SqlModel, TextIndex
from odata_server.sql.reader import SqlReader
from odata_server.syntax import QueryOptions
from promenade.model.declare import ADMIN, PUBLIC, Service
from promenade.model.edm import edm_for
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.driver.text_index import FOLDED_TOGETHER
from promenade.store.odata.services import reader_for, sql_model_for
from tests.kit.databases import Databases
from tests.kit.examples import examples

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ARTICLES = table("Articles")

# Letters with several ways to ignore their case, wildcards of LIKE, the quotes of FTS5, and words that overlap.
PIECES = (
    "Shampoo", "shampoo", "SHAM", "poo", "ham", "Käse", "KÄSE", "größe", "GRÖSSE", "ﬁsch", "Müller", "ab%c", "a_b",
    "\\", "kiwi", "\u212aIWI", "K\u0130W\u0130", "k\u0131w\u0131", "Ångström", "\u212bngstro\u0308m", "\u017feife",
    "Seife", "µm", "\u03bcm", "\u0178ser", "ÿser", '"a"', "AND", "NEAR(", "*", "-1", " ", "\n", "4711", "00", "0047",
    "ΣΑΣ", "σας", "🧴🧴🧴", "'",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
STORED = st.none() | TEXTS
# What is asked for: a piece in any case, or part of one, or two; longer texts are hardly ever found.
ASKED = st.builds(
    lambda pieces, cased, end: cased("".join(pieces))[:end],
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=2),
    st.sampled_from((str, str.lower, str.upper, str.swapcase)),
    st.sampled_from((3, 4, 5, 20)),
)
WORDS = ASKED.filter(lambda text: bool(text.strip()))


def searches() -> st.SearchStrategy[SearchExpression]:
    terms: st.SearchStrategy[SearchExpression] = WORDS.map(SearchTerm)
    return st.recursive(
        terms,
        lambda inner: st.builds(SearchAnd, inner, inner) | st.builds(SearchOr, inner, inner) | inner.map(SearchNot),
        max_leaves=4,
    )


def filters() -> st.SearchStrategy[Expression]:
    names: st.SearchStrategy[Expression] = st.sampled_from(("name", "description", "manufacturer")).map(Member)
    texts = names | names.map(lambda one: Call("tolower", (one,)))
    parts = (ASKED | TEXTS).map(lambda text: Literal(text, Primitive.STRING))
    calls = st.builds(
        lambda name, text, part: Call(name, (text, part)), st.sampled_from(("contains", "startswith", "endswith")),
        texts, parts,
    )  # fmt: skip
    plain: st.SearchStrategy[Expression] = calls | st.builds(Binary, st.sampled_from(("eq", "ne")), texts, parts)
    return st.recursive(
        plain, lambda inner: st.builds(Binary, st.sampled_from(("and", "or")), inner, inner), max_leaves=3
    )


def reader_with(index: TextIndex | None) -> SqlReader:
    """Return a reader with another index of texts, or with none."""
    whole = sql_model_for(PUBLIC)
    return SqlReader(SqlModel(whole.edm, {name: replace(one, text_index=index) for name, one in whole.maps.items()}))


class Forgetful:
    """An index that finds nothing: a list that asks it is empty."""

    properties = frozenset(
        {"articleNumber", "name", "description", "ean", "manufacturer", "manufacturerId", "category"}
    )

    def candidates(self, dialect: str, needed: Needed, most: int) -> Select[Any]:
        return select(literal("[]", Text()))


class Shelf:
    """Articles of a tenant, and readers of them with the index and without it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.plain = reader_with(None)
        self.numbers = 0

    async def add(self, names: Sequence[tuple[str | None, str | None]], tenant: str = "acme") -> list[str]:
        rows = []
        for name, maker in names:
            self.numbers += 1
            row = {"ID": str(uuid.uuid4()), "articleNumber": f"N{self.numbers:06}", "name": name, "manufacturer": maker}
            rows.append(row)

        async def work(session: Session) -> None:
            await insert_rows(session, "Articles", rows, at=NOW, by="test")

        await self.database.write(work, tenant=tenant)
        return [str(row["ID"]) for row in rows]

    async def rename(self, key: str, name: str | None) -> None:
        statement = update(ARTICLES).where(ARTICLES.c.id == key).values(name=name)
        await self.database.write(lambda session: session.rowcount(statement), tenant="acme")

    async def remove(self, *keys: str) -> None:
        statement = delete(ARTICLES).where(ARTICLES.c.id.in_(keys))
        await self.database.write(lambda session: session.rowcount(statement), tenant="acme")

    def fold(self) -> None:
        """On SQLite, bring all noted rows into the index, as happens after enough writes."""
        if self.database.dialect == "sqlite":
            self.by_hand(f"INSERT INTO articles_texts_due (seq, number) VALUES ({FOLDED_TOGETHER}, -1)")

    def by_hand(self, statement: str) -> list[Any]:
        file = str(self.database.url).removeprefix("sqlite:///")
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()

    async def clear(self) -> None:
        for tenant in ("acme", "other"):
            await self.database.write(lambda session: session.rowcount(delete(ARTICLES)), tenant=tenant)

    async def read(self, reader: SqlReader, options: QueryOptions, page_size: int = 100) -> Rows:
        asked = replace(query(options), page_size=page_size)
        return await self.database.read(lambda session: reader.read(session, asked), tenant="acme")

    async def names(self, options: str, reader: SqlReader | None = None) -> list[str]:
        found = await self.read(reader or reader_for(PUBLIC), parse_options(options))
        return [str(row["name"]) for row in found.items]


def query(options: QueryOptions, path: str = "Articles", service: Service = PUBLIC) -> Query:
    target = resolve(edm_for(service), parse_path(path), {}).target
    assert target is not None
    return Query(target=target, options=options, now=NOW)


@pytest.fixture
def shelf(database: Database, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Return a shelf of which nothing is known but by its index, as if it held very many articles."""
    monkeypatch.setattr(few, "SAMPLED", 0)
    return Shelf(database)


ROWS = st.lists(st.tuples(STORED, STORED), min_size=1, max_size=8)
QUESTIONS = st.lists(searches() | filters(), min_size=4, max_size=8)


@settings(suppress_health_check=list(HealthCheck), max_examples=examples(60), deadline=None)
@given(
    rows=ROWS,
    renamed=st.lists(STORED, max_size=4),
    removed=st.integers(0, 3),
    questions=QUESTIONS,
    folded=st.tuples(st.booleans(), st.booleans()),
)
async def _compare(
    shelf: Shelf,
    rows: list[tuple[str | None, str | None]],
    renamed: list[str | None],
    removed: int,
    questions: list[Any],
    folded: tuple[bool, bool],
) -> None:
    await shelf.clear()
    keys = await shelf.add(rows)
    await shelf.add(rows, tenant="other")
    if folded[0]:
        shelf.fold()
    for key, name in zip(keys, renamed, strict=False):
        await shelf.rename(key, name)
    await shelf.remove(*keys[len(keys) - removed :])
    if folded[1]:
        shelf.fold()
    for one in questions:
        searching = isinstance(one, SearchTerm | SearchAnd | SearchOr | SearchNot)
        options = QueryOptions(count=True, **{"search" if searching else "filter": one})
        narrowed = await shelf.read(reader_for(PUBLIC), options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(few, "FEW", -1)  # as if many rows matched: page and count are read as without an index
            expected = await shelf.read(shelf.plain, options)
        assert (narrowed.items, narrowed.count) == (expected.items, expected.count), one


test_any_list_is_the_same_with_the_index_as_without = _compare


async def test_rows_are_found_before_and_after_they_are_brought_into_the_index(shelf: Shelf) -> None:
    (early,) = await shelf.add([("early bird", None)])
    assert await shelf.names("$search=bird") == ["early bird"]
    await shelf.add([(f"filler {number}", None) for number in range(FOLDED_TOGETHER + 5)])
    await shelf.add([("late bird", None)])
    assert await shelf.names("$search=bird&$orderby=name") == ["early bird", "late bird"]
    await shelf.rename(early, "early worm")
    assert await shelf.names("$search=bird") == ["late bird"]
    assert await shelf.names("$search=worm") == ["early worm"]
    await shelf.add([(f"more {number}", None) for number in range(FOLDED_TOGETHER + 5)])
    assert await shelf.names("$search=worm") == ["early worm"]
    await shelf.remove(early)
    assert await shelf.names("$search=worm") == []


@pytest.mark.parametrize("most", [-1, 2, 1000])
async def test_pages_of_many_and_of_few_rows_follow_each_other(
    shelf: Shelf, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few, "FEW", most)
    monkeypatch.setattr(few, "CANDIDATES_MAX", most)
    await shelf.add([(f"shampoo {number}", None) for number in range(7)] + [("soap", None)])
    found: list[Any] = []
    options = parse_options("$search=SHAMPOO&$orderby=name%20desc&$count=true")
    while True:
        rows = await shelf.read(reader_for(PUBLIC), options, page_size=3)
        assert rows.count == 7
        found += [row["name"] for row in rows.items]
        if rows.next_token is None:
            break
        options = replace(options, skiptoken=rows.next_token)
    assert found == [f"shampoo {number}" for number in reversed(range(7))]


@pytest.mark.parametrize(("sampled", "many", "is_asked"), [(9, 2, True), (9, 3, True), (9, 1, False), (10, 9, False)])
async def test_an_index_is_asked_of_long_lists_in_which_few_rows_match(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, sampled: int, many: int, is_asked: bool
) -> None:
    monkeypatch.setattr(few, "SAMPLED", sampled)  # of nine rows: with ten they are a short list
    monkeypatch.setattr(few, "MANY", many)
    await shelf.add([("shampoo", None), *[("soap", None)] * 8])
    assert await shelf.names("$search=shampoo", reader_with(Forgetful())) == ([] if is_asked else ["shampoo"])


async def test_the_list_of_the_back_office_with_drafts_is_narrowed_too(shelf: Shelf) -> None:
    await shelf.add([("shampoo", None), ("soap", None)])
    options = (
        "$search=shamp&$count=true&$filter=IsActiveEntity%20eq%20false%20or%20SiblingEntity/IsActiveEntity%20eq%20null"
    )
    asked = query(parse_options(options), service=ADMIN)
    rows = await shelf.database.read(lambda session: reader_for(ADMIN).read(session, asked), tenant="acme", user="ann")
    assert ([row["name"] for row in rows.items], rows.count) == (["shampoo"], 1)


async def test_the_number_of_a_search_is_counted_from_the_index(shelf: Shelf) -> None:
    await shelf.add([("shampoo", None), ("soap", None)])
    asked = query(parse_options("$search=shamp"))
    assert await shelf.database.read(lambda session: reader_for(PUBLIC).count(session, asked), tenant="acme") == 1


async def test_a_vacuum_does_not_disturb_the_index(shelf: Shelf) -> None:
    if shelf.database.dialect != "sqlite":
        pytest.skip("PostgreSQL has no row numbers")
    keys = await shelf.add([(f"filler {number}", None) for number in range(FOLDED_TOGETHER)])
    await shelf.remove(*keys[:300])
    await shelf.add([("shampoo", None), *((f"more {number}", None) for number in range(FOLDED_TOGETHER))])
    shelf.by_hand("VACUUM")
    assert await shelf.names("$search=shampoo") == ["shampoo"]


@pytest.mark.parametrize("text", ["50% off", "a_b_c", "c:\\temp", '3/4" pipe', "it's", "NEAR(a b)", "one*two"])
async def test_what_has_a_meaning_for_the_database_is_found_as_it_is(shelf: Shelf, text: str) -> None:
    await shelf.add([(f"<{text}>", None), (f"<{re.sub('[^a-z0-9]', 'x', text)}>", None)])
    shelf.fold()
    asked = QueryOptions(search=SearchTerm(text))
    assert [row["name"] for row in (await shelf.read(reader_for(PUBLIC), asked)).items] == [f"<{text}>"]


# ---- PostgreSQL -----------------------------------------------------------------------------------------------------

FIND = """SELECT articles_by_texts('[["shamp"]]', 10)"""


@pytest.fixture
def pg_shelf(shelf: Shelf) -> Shelf:
    if shelf.database.dialect != "postgresql":
        pytest.skip("SQLite has no roles and no extensions")
    return shelf


async def run(url: str, *statements: str) -> Any:
    """Run statements in one transaction and return the value of the last one."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            *first, last = statements
            for one in first:
                await connection.execute(one)
            return await connection.fetchval(last)
    finally:
        await connection.close()


async def test_the_index_serves_whoever_serves_within_one_tenant(pg_shelf: Shelf) -> None:
    url = pg_shelf.database.url
    (own,) = await pg_shelf.add([("shampoo", None)])
    (other,) = await pg_shelf.add([("shampoo", None)], tenant="other")
    assert json.loads(await run(url, "SET LOCAL promenade.tenant = 'acme'", FIND)) == [own]
    assert json.loads(await run(url, "SET LOCAL promenade.tenant = 'other'", FIND)) == [other]
    assert await run(url, FIND) is None
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await run(url, "SELECT count(*) FROM articles_texts")


async def test_the_function_reads_the_index_of_trigrams(pg_shelf: Shelf, databases: Databases) -> None:
    await pg_shelf.add([("shampoo", None)])
    scans = await run(
        databases.owner_url(pg_shelf.database.url),
        "SET LOCAL promenade.tenant = 'acme'",
        "SET LOCAL enable_seqscan = off",  # the table is small
        FIND,
        "SELECT pg_stat_get_xact_numscans('ix_articles_texts__text'::regclass)",
    )
    assert scans == 1


async def test_others_may_not_run_the_function(pg_shelf: Shelf, databases: Databases) -> None:
    granted = "SELECT has_function_privilege('public', 'articles_by_texts(text, integer)', 'EXECUTE')"
    assert await run(databases.owner_url(pg_shelf.database.url), granted) is False


async def test_without_the_extension_searches_find_the_same(pg_shelf: Shelf, databases: Databases) -> None:
    await run(databases.owner_url(pg_shelf.database.url), "DROP EXTENSION pg_trgm CASCADE")
    await pg_shelf.add([("shampoo", None), ("soap", None)])
    assert await run(pg_shelf.database.url, "SET LOCAL promenade.tenant = 'acme'", FIND) is None
    assert await pg_shelf.names("$search=shamp") == ["shampoo"]

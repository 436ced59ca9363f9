"""Random filters select the same rows as a slow second implementation of the specification, on both databases."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odata_server.edm import Primitive
from odata_server.engines import EngineDatabase
from odata_server.expressions import (
    AllOf,
    AnyOf,
    Binary,
    Call,
    CountOf,
    Expression,
    In,
    ListExpression,
    Literal,
    Member,
    Unary,
)
from odata_server.source import Query
from odata_server.syntax import QueryOptions
from tests.kit.examples import examples
from tests.odata_server.sql.asking import NOW, READER, target_of
from tests.odata_server.sql.oracle import matching


def path(text: str, source: Expression | None = None) -> Expression:
    for name in text.split("/"):
        source = Member(name, source)
    assert source is not None
    return source


def literals(values: list[Any], kind: Primitive) -> st.SearchStrategy[Expression]:
    return st.sampled_from([Literal(value, kind) for value in values] + [Literal(None)])


TEXTS = literals(
    ["Emma", "emma", "E", "", "Jane", " ", "Pride and Prejudice", "%", "_", "en", "zz", "\U0010ffff", "ë"],
    Primitive.STRING,
)
NUMBERS = st.one_of(
    literals([0, 1, -1, 5, 12, 42, 333, 2**40, 2**70], Primitive.INT64),
    literals(
        [Decimal(one) for one in ("9.99", "8.5", "4.25", "7.050", "0.001", "-1", "1e20", "4.5")], Primitive.DECIMAL
    ),
    literals([float(one) for one in ("NaN", "INF", "-INF", "1e-300", "-1e300", "4.25")], Primitive.DOUBLE),
)
MOMENTS = literals(
    [datetime(1813, 1, 28, tzinfo=UTC), datetime(1968, 11, 1, tzinfo=UTC), datetime(2024, 5, 1, 8, 30, tzinfo=UTC)],
    Primitive.DATE_TIME_OFFSET,
)
DATES = literals([date(1813, 1, 28), date(1929, 10, 21), date(2024, 5, 1)], Primitive.DATE)

BOOK_TEXTS = ["title", "description", "language", "author/name", "author/email", "author/country_code", "genre/name"]
BOOK_NUMBERS = ["price", "stock", "sold", "rating", "genre_ID", "genre/parent_ID"]
BOOK_MOMENTS = ["published", "createdAt", "modifiedAt", "author/createdAt"]


def texts(names: list[str], source: Expression | None) -> st.SearchStrategy[Expression]:
    plain = st.one_of(st.sampled_from([path(name, source) for name in names]), TEXTS)
    number = st.integers(0, 5).map(lambda value: Literal(value, Primitive.INT32))
    return st.one_of(
        plain,
        st.builds(lambda a, b: Call("concat", (a, b)), plain, plain),
        st.builds(lambda a, n: Call("substring", (a, n)), plain, number),
        st.builds(lambda a, n, m: Call("substring", (a, n, m)), plain, number, number),
        st.builds(lambda a: Call("trim", (a,)), plain),
    )


def numbers(names: list[str], source: Expression | None, strings: Any) -> st.SearchStrategy[Expression]:
    plain = st.one_of(st.sampled_from([path(name, source) for name in names]), NUMBERS)
    exact = st.one_of(
        st.sampled_from([path(name, source) for name in names if name not in {"rating", "sold"}]),
        literals([0, 1, -1, 5, 12], Primitive.INT64),
        literals([Decimal("9.99"), Decimal("4.25")], Primitive.DECIMAL),
    )
    return st.one_of(
        plain,
        st.builds(Binary, st.sampled_from(["add", "sub", "mul"]), exact, exact),
        st.builds(lambda a: Unary("-", a), plain),
        st.builds(lambda n, a: Call(n, (a,)), st.sampled_from(["round", "floor", "ceiling"]), exact),
        st.builds(lambda a: Call("length", (a,)), strings),
        st.builds(lambda a, b: Call("indexof", (a, b)), strings, TEXTS),
    )


def conditions(depth: int, kind: str = "book", source: Expression | None = None) -> st.SearchStrategy[Expression]:
    if kind == "book":
        strings = texts(BOOK_TEXTS, source)
        amounts = numbers(BOOK_NUMBERS, source, strings)
        moments = st.one_of(st.sampled_from([path(name, source) for name in BOOK_MOMENTS]), MOMENTS)
    else:
        strings = texts(["title", "book/title"], source)
        amounts = numbers(["number", "pages", "book/price"], source, strings)
        moments = MOMENTS
    compare = st.sampled_from(["eq", "ne", "gt", "ge", "lt", "le"])
    parts = st.sampled_from(["year", "month", "day", "hour", "minute", "second"])
    simple: list[st.SearchStrategy[Expression]] = [
        st.builds(Binary, compare, strings, strings),
        st.builds(Binary, compare, amounts, amounts),
        st.builds(Binary, compare, moments, moments),
        st.builds(lambda c, a, b: Unary("not", Binary(c, a, b)), compare, amounts, amounts),
        st.builds(lambda c, a, b: Unary("not", Binary(c, a, b)), compare, amounts, NUMBERS),
        st.builds(lambda c, a, b: Binary(c, Call("date", (a,)), b), compare, moments, DATES),
        st.builds(lambda c, p, a, b: Binary(c, Call(p, (a,)), b), compare, parts, moments, NUMBERS),
        st.builds(
            lambda n, a, b: Call(n, (a, b)), st.sampled_from(["contains", "startswith", "endswith"]), strings, strings
        ),
        st.builds(lambda a, many: In(a, ListExpression(tuple(many))), strings, st.lists(TEXTS, min_size=1, max_size=3)),
        st.builds(
            lambda a, many: In(a, ListExpression(tuple(many))), amounts, st.lists(NUMBERS, min_size=1, max_size=3)
        ),
        st.sampled_from([Literal(True, Primitive.BOOLEAN), Literal(False, Primitive.BOOLEAN)]),
    ]
    if kind == "book":
        simple.append(st.just(path("available", source)))
        chapters = path("chapters", source)
        simple.append(st.builds(lambda c, n: Binary(c, CountOf(chapters), n), compare, NUMBERS))
        if depth and source is None:
            inner = conditions(depth - 1, "chapter", Member("c"))
            simple.append(st.builds(lambda p: AnyOf(chapters, "c", p), inner))
            simple.append(st.builds(lambda p: AllOf(chapters, "c", p), inner))
            nested = conditions(depth - 1, "book", Member("b"))
            simple.append(st.builds(lambda p: AnyOf(path("author/books"), "b", p), nested))
            simple.append(st.builds(lambda p: AllOf(path("author/books"), "b", p), nested))
    leaves = st.one_of(simple)
    if not depth:
        return leaves
    inner = conditions(depth - 1, kind, source)
    return st.one_of(
        leaves,
        st.builds(Binary, st.sampled_from(["and", "or"]), inner, inner),
        st.builds(lambda one: Unary("not", one), inner),
        st.builds(lambda one, other: Binary("eq", one, other), inner, st.just(Literal(True, Primitive.BOOLEAN))),
    )


CONDITIONS = conditions(2)


@settings(suppress_health_check=list(HealthCheck), max_examples=examples(100))
@given(st.lists(CONDITIONS, min_size=5, max_size=5))
async def _compare(library: EngineDatabase, some: list[Expression]) -> None:
    async def work(connection: Any) -> list[list[str]]:
        found = []
        for one in some:
            query = Query(target=target_of("Books"), options=QueryOptions(filter=one), now=NOW)
            found.append([row["ID"] for row in (await READER.read(connection, query)).items])
        return found

    for one, found in zip(some, await library.read(work), strict=True):
        assert found == [row["ID"] for row in matching(one, "Book")], one


test_any_filter_leaves_what_the_specification_says = _compare

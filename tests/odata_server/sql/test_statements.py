"""Statements that reach the database: values as parameters, one form for many requests, use of indexes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Executable, Row, create_engine
from sqlalchemy.dialects import postgresql, sqlite

from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from tests.odata_server.bookshop import METADATA
from tests.odata_server.sql.asking import READER, ask, query_of


class Recording:
    """A connection that records statements and answers them."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.dialect: str = connection.dialect
        self.statements: list[Any] = []

    async def execute(self, statement: Executable) -> Sequence[Row[Any]]:
        self.statements.append(statement)
        rows: Sequence[Row[Any]] = await self.connection.execute(statement)
        return rows


async def statements_of(database: EngineDatabase, options: str) -> list[Any]:
    async def work(connection: Any) -> list[Any]:
        recording = Recording(connection)
        await READER.read(recording, query_of("Books", options))  # type: ignore[arg-type]
        catalogues = ("pg_collation", "pragma_function_list")  # queried once to learn the database's features
        return [one for one in recording.statements if not any(name in str(one) for name in catalogues)]

    return await database.read(work)


ALIKE = [
    ("$filter=title eq 'Emma'", "$filter=title eq 'Jane Eyre'"),
    ("$filter=price gt 1.5&$top=3", "$filter=price gt 200&$top=9"),
    ("$filter=price gt 1.505", "$filter=price gt 2"),
    ("$filter=stock in (1,2)", "$filter=stock in (3,4,5,6,7)"),
    ("$filter=title in ('a')", "$filter=title in ('b','c')"),
    ("$skip=2&$top=1", "$skip=5&$top=3"),
    ("$filter=startswith(title,'E')", "$filter=startswith(title,'Jane')"),
    ("$filter=contains(title,'E') or length(title) gt 3", "$filter=contains(title,'Jane') or length(title) gt 7"),
    ("$filter=published gt 2020-01-01T00:00:00Z", "$filter=published gt 2021-05-05T05:05:05.5Z"),
    ("$filter=chapters/any(c:c/pages gt 1)", "$filter=chapters/any(x:x/pages gt 2)"),
    ("$filter=price mul 1.19 gt 5", "$filter=price mul 1.07 gt 6"),
    ("$search=emma", "$search=eyre"),
    ("$filter=published lt now()", "$filter=published lt now()"),
    ("$expand=chapters($top=1;$filter=pages gt 1)", "$expand=chapters($top=2;$filter=pages gt 3)"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
async def test_requests_that_differ_only_in_values_are_compiled_once(
    library: EngineDatabase, one: str, other: str
) -> None:
    first, second = await statements_of(library, one), await statements_of(library, other)
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert a._generate_cache_key() == b._generate_cache_key()
        assert a._generate_cache_key() is not None


async def test_values_are_never_part_of_the_text(library: EngineDatabase) -> None:
    options = (
        "$filter=title eq 'needle' or contains(title,'needle') or startswith(title,'needle') or price eq 4711.17"
        " or stock in (4711,4712) or title in ('needle') or stock add 4711 eq 5 or chapters/any(c:c/title eq 'needle')"
        " or substring(title,4711) eq 'needle' or tolower(title) eq 'needle'"
        "&$search=needle&$top=4711&$skip=4711&$orderby=concat(title,'needle')&$compute=concat(title,'needle') as c"
    )
    for statement in await statements_of(library, options):
        for dialect in (sqlite.dialect(), postgresql.dialect()):  # type: ignore[no-untyped-call]
            compiled = str(statement.compile(dialect=dialect))
            assert "needle" not in compiled
            assert "4711" not in compiled


PLANS = [
    ("Books", "$filter=isbn eq '9780141439518'", "isbn=?"),
    ("Books", "$filter=startswith(isbn,'97801')", "isbn>? AND isbn<?"),
    ("Books", "$filter=isbn gt '97801'", "isbn>?"),
    ("Books", "$filter=isbn in ('1','2')", "isbn=?"),
    ("Orders", "$filter=number ge 1001.5", "number>?"),
    ("Orders", "$orderby=number", "USING INDEX sqlite_autoindex_orders"),
    ("Chapters", "$filter=book_ID eq 0000000b-0000-4000-8000-000000000001", "book_id=?"),
    ("Books", "$filter=author/name eq 'x'", "authors"),
]


@pytest.mark.parametrize(("root", "options", "expected"), PLANS, ids=[one for _, one, _ in PLANS])
async def test_an_index_serves_a_filter(root: str, options: str, expected: str) -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        METADATA.create_all(connection)
        plans: list[str] = []

        class Explaining:
            dialect = "sqlite"

            async def execute(self, statement: Any) -> Sequence[Row[Any]]:
                compiled = statement.compile(engine, compile_kwargs={"render_postcompile": True})
                values = tuple(compiled.params[name] for name in compiled.positiontup)
                found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", values)
                plans.extend(row[3] for row in found)
                not_few: Any = [(None,)]
                return not_few if len(statement.selected_columns) == 1 else ()

        await READER.read(Explaining(), query_of(root, options))  # type: ignore[arg-type]
    engine.dispose()
    assert any("SEARCH" in one or "INDEX" in one for one in plans)
    assert expected in " ".join(plans)


BOMBS = [
    ("$filter=" + "(" * 15 + "stock eq 1" + ")" * 15, None),
    ("$filter=" + "not " * 60 + "available", "EXPRESSION_TOO_LARGE"),
    ("$filter=stock" + " add 1" * 60 + " gt 1", "EXPRESSION_TOO_DEEP"),
    ("$filter=" + " or ".join(["stock eq 1"] * 60), None),
    ("$orderby=" + ",".join(["stock add 1"] * 21), "EXPRESSION_TOO_LARGE"),
    ("$orderby=title gt null,not (title gt null),1 lt 2 desc&$top=2", None),
    ("$compute=" + ",".join(f"stock add 1 as c{n}" for n in range(21)), "EXPRESSION_TOO_LARGE"),
    ("$search=" + " OR ".join("abcdefghijklmnopqrstu"), "EXPRESSION_TOO_LARGE"),
    (
        "$filter=author/books/any(a:"
        + "".join(f"{x}/author/books/any({y}:" for x, y in ("ab", "bc", "cd", "de"))
        + "e/stock gt 1)))))",
        "EXPRESSION_TOO_DEEP",
    ),
    ("$filter=@a&@a=@b&@b=@a", "EXPRESSION_TOO_DEEP"),
    ("$compute=b add 1 as a,a add 1 as b&$filter=a gt 1", "EXPRESSION_TOO_DEEP"),
    ('$filter=title eq @p&@p="\\u0000"', "QUERY_SYNTAX"),
    ('$filter=title eq @p&@p="\\ud800"', "QUERY_SYNTAX"),
    ("$filter=stock add 9223372036854775807 gt 9223372036854775807", None),
    ("$filter=sold mul sold mul sold gt 1", None),
    ("$filter=stock mod 0 eq 1 or stock div 0 eq 1 or price divby 0 eq 1 or rating mod 0 eq 1", None),
    ("$filter=rating gt INF or rating lt -INF or price gt INF", None),
    ("$filter=rating" + " mul 1e60" * 6 + " gt 1", None),
    ("$filter=rating" + " mul 1e-60" * 6 + " gt 1 or rating div 1e-60 div 1e-60 div 1e-60 div 1e-60 gt 1", None),
    ("$filter=price" + " mul 1e60" * 6 + " gt 1", None),
    ("$filter=rating eq NaN or NaN lt price or price add NaN gt 1", None),
    ("$filter=rating mul 1e-320 gt 1e308 or rating div 1e-320 gt 1e308 or rating mul INF mul 0 gt INF", None),
    (
        "$compute=cast(1e300,Edm.Int64) as c,cast(INF,Edm.Decimal) as d,round(1e300) as e,NaN as f,rating mod INF as g",
        None,
    ),
    ("$filter=stock gt 1e60", None),
    ("$filter=price add 1e50 gt 1", None),
    ("$filter=published add duration'P999999999D' gt now()", "NUMBER_OUT_OF_RANGE"),
    ("$compute=published add duration'P1460000D' add duration'P1460000D' add duration'P1460000D' as c", None),
    ("$compute=published sub duration'P1460000D' as c&$filter=c lt now()", None),
    ("$compute=mindatetime() add (mindatetime() sub published) as c", None),
    ("$compute=published sub (maxdatetime() sub mindatetime()) as c", "NUMBER_OUT_OF_RANGE"),
    ("$filter=date(maxdatetime()) gt 2020-01-01 and day(9999-12-31) gt 1", None),
    ("$filter=year(maxdatetime()) eq 9999", None),
    ("$filter=substring(title,stock mul 1000000000) eq 'a'", None),
    ("$skip=2147483647&$top=2147483647", None),
]


@pytest.mark.parametrize(("options", "code"), BOMBS, ids=[one[:50] for one, _ in BOMBS])
async def test_an_excessive_request_is_refused_with_an_error_and_never_fails(
    library: EngineDatabase, options: str, code: str | None
) -> None:
    if code is None:
        await ask(library, "Books", options)
        return
    with pytest.raises(ODataError) as refused:
        await ask(library, "Books", options)
    assert (refused.value.status, refused.value.code) == (400, code)

"""Whatever a client sends, the response is a success or a client error: never an exception."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from odata_server.engines import EngineDatabase
from odata_server.http import Request
from odata_server.source import OperationCall, Result
from odata_server.sql_source import SqlUnit
from tests.kit.databases import DIALECTS, Databases
from tests.kit.examples import examples
from tests.odata_server.bookshop import EDM, author, book, chapter, fill
from tests.odata_server.service.shelves import Client, ShopSource


class Undone(Exception):
    """Raised to roll a unit back after its response has been captured."""


class Forgetful(ShopSource):
    """A source that persists no write."""

    async def transact(self, caller: Any, work: Any, *, writes: bool) -> Any:
        kept: list[Any] = []

        async def in_unit(connection: Any) -> None:
            kept.append(await work(SqlUnit(self, connection, caller)))
            raise Undone

        with suppress(Undone):
            await self._database.write(in_unit)
        return kept[0]

    async def _invoke(self, unit: SqlUnit, call: OperationCall) -> Result:
        return Result() if call.operation.name == "crash" else await super()._invoke(unit, call)


@dataclass(frozen=True)
class Fuzzed:
    """A service and the event loop of its connections."""

    client: Client
    runner: asyncio.Runner


@pytest.fixture(scope="module", params=DIALECTS)
def fuzzed(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Fuzzed]:
    url = databases.create_empty(request.param)
    engine: Engine | AsyncEngine
    with asyncio.Runner() as runner:
        if request.param == "sqlite":
            engine = create_engine(url)
        else:
            engine = create_async_engine(url.replace("postgresql:", "postgresql+asyncpg:"))
        runner.run(fill(engine))
        yield Fuzzed(Client(Forgetful(EngineDatabase(engine))), runner)
        if isinstance(engine, AsyncEngine):
            runner.run(engine.dispose())
        else:
            engine.dispose()
    databases.drop(url)


def words(text: str) -> list[str]:
    return text.split()


NAMES = [
    *EDM.entity_sets,
    *EDM.singletons,
    *EDM.operations,
    *sorted({name for one in EDM.entity_types.values() for name in (*one.property_by_name, *one.navigation_by_name)}),
    *words("$count $value $ref $metadata $batch $query $entity $all $each $filter(true) . % %2F %ff %00 a%20b ä"),
    *words("Bookshop.Book Bookshop.cheapest() Bookshop.order Nothing"),
    "",
]
KEYS = [
    *("", "", "()"),
    *words("(1) ('x') (null) (@a) (@b) (ID=1) ('DE') (99999999999999999999) (1.5) (name='x') (currency='EUR',rate=1)"),
    *words("(quantity=1) (''') ( ) (1)(2) ({}) ([1]) (%27%27)"),
    *(f"({book(1)})", f"('{book(2)}')", f"({author(1)})", f"({chapter(1)})", f"(book_ID={book(1)},language='de')"),
]
OPTIONS = [
    *words("$filter=title+eq+'x' $filter= $filter=1 $select=title $select=* $select=nix $expand=author $expand=*"),
    *words("$expand=chapters($top=1;$select=title) $top=1 $top=-1 $top=99999999999999999999 $skip=1 $count=true"),
    *words("$count=x $orderby=title+desc $search=x $format=json $format=xml $skiptoken=x @a=1 @b=@b $id=Books(1)"),
    *words("$id=//x $id=http://[x name='x' name=x $apply=aggregate($count+as+n) $compute=price+mul+2+as+p"),
    *words("$levels=1 $index=0 $deltatoken=x custom=1 = % top=1 FILTER=true $schemaversion=* currency='EUR' rate=1"),
    *(f"@a={book(1)}", f"$id=Books({book(1)})"),
]
GOOD = [
    *words(
        "Books Authors Genres Orders Profile Countries Genres(1) Countries('DE') Shops(1) Shops(1)/address $metadata"
    ),
    *(
        f"Books({book(1)})",
        f"Books({book(2)})/author",
        f"Books({book(1)})/chapters",
        f"Authors({author(1)})/books/$ref",
    ),
    *(f"Books({book(1)})/title", f"Books({book(1)})/author/$ref", f"Books({book(1)})/tags", f"Books({book(1)})/price"),
    *(f"Books({book(1)})/restock", f"Books({book(1)})/order", f"Books({book(1)})/title/$value", "closeShop", ""),
]
PATHS = st.one_of(
    st.sampled_from(GOOD),
    st.lists(st.builds("{}{}".format, st.sampled_from(NAMES), st.sampled_from(KEYS)), max_size=4).map("/".join),
    st.builds("{}/{}{}".format, st.sampled_from(GOOD), st.sampled_from(NAMES), st.sampled_from(KEYS)),
    st.text(max_size=30),
)
QUERIES = st.just("") | st.lists(st.sampled_from(OPTIONS) | st.text(max_size=8), max_size=3).map("&".join)
HEADER_NAMES = "accept accept-charset content-type content-encoding prefer if-match if-none-match odata-version"
HEADER_VALUES = [
    *words("application/json application/json;odata.metadata=full application/json;metadata=none text/plain */* *"),
    *words('4.0 4.01 return=representation return=minimal,maxpagesize=1 W/"1" "7" identity'),
    "",
]
HEADERS: st.SearchStrategy[dict[str, str]] = st.just({}) | st.dictionaries(
    st.sampled_from([*words(HEADER_NAMES), "odata-maxversion"]),
    st.sampled_from(HEADER_VALUES) | st.text(st.characters(max_codepoint=255), max_size=12),
)
MEMBERS = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(["author@odata.bind", "author@bind", "chapters@delta", "@id", "@odata.id", "@removed", "value"]),
    st.text(max_size=5),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([book(1), author(1), f"Authors({author(1)})", "2024-01-01T00:00:00Z", "Paperback"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=8,
)
BODIES = st.one_of(
    st.just(b""),
    st.binary(max_size=12),
    st.dictionaries(MEMBERS, VALUES, max_size=5).map(lambda body: json.dumps(body).encode()),
)
METHODS = st.sampled_from(words("GET GET HEAD POST POST PATCH PATCH PUT DELETE MERGE"))


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(METHODS, PATHS, QUERIES, HEADERS, BODIES, st.booleans())
def test_any_request_gets_a_success_or_a_client_error(
    fuzzed: Fuzzed, method: str, path: str, query: str, headers: dict[str, str], body: bytes, in_batch: bool
) -> None:
    request = Request(method, path, query, headers, body, in_batch)
    response = fuzzed.runner.run(fuzzed.client.service.handle(request, "me"))
    assert response.status < 500 or response.status == 501
    assert response.headers["OData-Version"] in {"4.0", "4.01"}
    for name, value in response.headers.items():
        assert f"{name}{value}".isprintable()
        f"{name}{value}".encode("latin-1")
    if response.headers.get("Content-Type", "").startswith("application/json") and response.body:
        json.loads(response.body)

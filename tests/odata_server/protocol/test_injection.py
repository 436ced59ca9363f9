"""No text of a request ever becomes part of SQL: wherever it appears, it is bound or refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.ext.asyncio import AsyncEngine

from odata_server.engines import EngineDatabase
from odata_server.hooks import Hooks
from odata_server.service import Service
from tests.odata_server.bookshop import EDM, book, source
from tests.odata_server.protocol.conftest import ORIGIN, ROOT

MARK = "qzxwv7731"
HOSTILE = [
    f"{MARK}' OR '1'='1",
    f"{MARK}''; DROP TABLE books; --",
    f'{MARK}" OR 1=1 --',
    f"{MARK}\\' OR 1=1 /*",
    f"%{MARK}_%?:x $1 :name %s %(a)s",
    f"{MARK}\u2019\u02bc\uff07 OR 1=1",
]
NAME = f"{MARK}\u00aa"  # a valid name in the grammar


@pytest.fixture
def statements(bookshop: EngineDatabase) -> Iterator[list[str]]:
    """Return every statement that reaches the database, as sent."""
    engine: Any = bookshop._engine
    sync: Engine = engine.sync_engine if isinstance(engine, AsyncEngine) else engine
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        sent.append(statement)

    event.listen(sync, "before_cursor_execute", note)
    yield sent
    event.remove(sync, "before_cursor_execute", note)


@pytest.fixture
async def client(bookshop: EngineDatabase) -> Any:
    service = Service(EDM, source(bookshop), Hooks(), root=ROOT)
    transport = httpx2.ASGITransport(app=service)
    async with httpx2.AsyncClient(transport=transport, base_url=f"{ORIGIN}{ROOT}") as made:
        yield made


def literal(text: str) -> str:
    return quote("'" + text.replace("'", "''") + "'", safe="")


FILTERS = [
    "title eq {0}",
    "title in ({0},{0})",
    "contains(title,{0})",
    "startswith(tolower(title),{0})",
    "endswith(title,{0})",
    "indexof(title,{0}) gt 1",
    "concat(title,{0}) eq {0}",
    "substring({0},1) eq title",
    "length({0}) eq 3",
    "matchesPattern(title,{0})",
    "chapters/any(c:c/title eq {0})",
    "chapters/$count($filter=title eq {0}) gt 0",
    "tags/any(t:t eq {0})",
    "hassubset(tags,@l)",
    "case(title eq {0}:true,true:false)",
    "author/name gt {0}",
    "title eq @a",
    "format eq {0}",
    "ID eq {0}",
    "cast({0},Edm.String) eq title",
]
READS = [
    "/Books?$orderby=concat(title,{0})",
    "/Books?$compute=concat(title,{0}) as x&$select=x",
    "/Books?$search=%22{1}%22",
    "/Books?$search={1}",
    "/Books?$skiptoken={1}",
    "/Books?$skip={1}",
    "/Books?$select={1}",
    "/Books?$expand={1}",
    "/Books?$expand=chapters($filter=title eq {0};$orderby=concat(title,{0}))",
    "/Books?$expand=reviews($search=%22{1}%22)",
    "/Books?$apply=filter(title eq {0})/groupby((language),aggregate($count as n))",
    "/Books?$apply=compute(concat(title,{0}) as x)/groupby((x))",
    "/Books?$apply=search(%22{1}%22)",
    "/Countries({0})",
    "/Countries(code={0})",
    f"/Translations(book_ID={book(1)},language={{0}})",
    "/Books({0})",
    "/Books/$filter(title eq {0})",
    "/greet(name={0})",
    "/$entity?$id=Countries({0})",
    "/{1}",
    f"/Books({book(1)})/{{1}}",
]


@pytest.mark.parametrize("text", HOSTILE)
async def test_texts_of_addresses_are_bound(client: httpx2.AsyncClient, statements: list[str], text: str) -> None:
    listed = quote(f'["{MARK}"]')
    for path in READS:
        await _ask(client, path.format(literal(text), quote(text.replace('"', ""), safe="")))
    for one in FILTERS:
        await _ask(client, f"/Books?$filter={one.format(literal(text))}&@a={literal(text)}&@l={listed}")
    assert len(statements) > len(FILTERS)
    _check(statements)
    assert (await client.get("/Books/$count")).text == "8"


NAMES = [
    "/Books?$compute=price as {0}&$orderby={0}&$filter={0} gt 1&$select={0}",
    "/Books?$apply=aggregate(price with sum as {0})",
    "/Books?$apply=groupby((language),aggregate(price with sum as {0}))&$orderby={0}",
    "/Books?$apply=compute(price as {0})/concat(aggregate({0} with max as {0}b),groupby(({0})))",
    "/Books?$filter=chapters/any({0}:{0}/number gt 1)",
    "/Books?$filter=price gt @{0}&@{0}=1",
    "/Books?$filter={0} eq 1",
    "/Books?$orderby={0}",
    "/Books?{0}=1",
]


@pytest.mark.parametrize("name", NAMES)
async def test_names_chosen_by_a_request_never_reach_the_sql_text(
    client: httpx2.AsyncClient, statements: list[str], name: str
) -> None:
    await _ask(client, name.format(quote(NAME)))
    _check(statements)


@pytest.mark.parametrize("text", HOSTILE)
async def test_texts_of_bodies_are_bound(client: httpx2.AsyncClient, statements: list[str], text: str) -> None:
    body = {
        "isbn": "1",
        "title": text,
        "price": 1,
        "tags": [text[:30]],
        "chapters": [{"number": 1, "title": text}],
        "author": {"name": text},
    }
    made = await client.post("/Books", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["title"] == text
    key = made.json()["ID"]
    for method, path, sent in (
        ("PATCH", f"/Books({key})", {"title": text, "description": text}),
        ("PUT", f"/Books({key})/description", {"value": text}),
        ("PATCH", f"/Books({key})", {text: 1}),
        ("PATCH", f"/Books({key})", {"language": text}),
        ("POST", "/Books", {"isbn": "2", "title": "x", "price": 1, "author@odata.bind": f"Authors({text})"}),
        ("POST", "/closeShop", {"reason": text}),
        ("PATCH", f"/Orders({key})", {"shipTo": {"city": text, text: 1}}),
    ):
        answer = await client.request(method, path, json=sent)
        assert answer.status_code < 500, (path, answer.text)
    tag = text.encode("ascii", "replace").decode()
    requests = [
        {"id": "1", "method": "get", "url": f"Books?$filter=title eq {literal(text)}&$count=true"},
        {"id": "2", "method": "patch", "url": f"Books({key})", "headers": {"if-match": tag}, "body": {"title": text}},
        {"id": "3", "method": "get", "url": "Books", "if": f"$1/value eq {literal(text)}"},
    ]
    answers = (await client.post("/$batch", json={"requests": requests})).json()["responses"]
    assert (answers[0]["status"], answers[0]["body"]["@count"]) == (200, 1)
    queried = await client.post(
        "/Books/$query", content=f"$filter=title%20eq%20{literal(text)}", headers={"content-type": "text/plain"}
    )
    assert [one["title"] for one in queried.json()["value"]] == [text]
    assert (await client.get(f"/Books({key})/title/$value")).text == text
    _check(statements)


async def _ask(client: httpx2.AsyncClient, url: str) -> None:
    answer = await client.get(url)
    assert answer.status_code < 500 or answer.status_code == 501, (url, answer.text)


def _check(statements: list[str]) -> None:
    found = [one for one in statements if MARK in one.lower()]
    assert found == []

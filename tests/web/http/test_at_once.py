"""Work that takes a while runs a few pieces at a time, and everything else goes on meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest

from promenade.errors import Invalid, TooMany
from promenade.web.http.at_once import AtOnce
from promenade.web.http.reader_pages import document_endpoints

TAGS = [f"T{number}" for number in range(20)]
DOCUMENT = {
    "tags": [{"name": tag} for tag in TAGS],
    "paths": {f"/{tag}": {"get": {"operationId": tag, "tags": [tag], "responses": {}}} for tag in TAGS},
    "components": {"schemas": {}},
}


def too_many() -> TooMany:
    return TooMany("TOO_MANY_THINGS", "Many things wait.", 5)


def test_two_pieces_run_at_a_time_a_few_wait_and_one_more_is_refused() -> None:
    some, lock, go = AtOnce(2, too_many), threading.Lock(), threading.Semaphore(0)
    at_once, most = 0, 0

    def work(number: int) -> int:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        assert go.acquire(timeout=60)
        with lock:
            at_once -= 1
        return number

    async def ask() -> list[int]:
        asked = [asyncio.ensure_future(some.run(partial(work, number))) for number in range(22)]
        await asyncio.sleep(0)  # each has run until it waits for its thread
        with pytest.raises(TooMany, match="things wait"):
            await some.run(partial(work, 22))
        for one in asyncio.as_completed(asked):  # one goes on at a time: all that may begin have begun by the end
            go.release()
            await one
        go.release()
        return [*(one.result() for one in asked), await some.run(partial(work, 23))]

    assert asyncio.run(ask()) == [*range(22), 23]
    assert most == 2


def test_a_piece_that_fails_fails_for_who_asked_and_leaves_its_place() -> None:
    def fail() -> None:
        raise Invalid("WRONG", "It is wrong.")

    async def ask() -> None:
        some = AtOnce(1, too_many)
        for _ in range(30):
            with pytest.raises(Invalid, match="It is wrong"):
                await some.run(fail)

    asyncio.run(ask())


def test_requests_are_served_while_a_description_is_rendered_for_a_stranger() -> None:
    """It fails by hanging for a minute if the description is rendered where requests are served."""
    go, rendered = threading.Event(), 0

    def render(*, whole: bool) -> bytes:
        nonlocal rendered
        rendered += 1
        assert go.wait(60), "nothing else was served meanwhile"
        return msgspec.json.encode(DOCUMENT)

    def asking(endpoint: Any, query: str) -> Callable[[], Any]:
        async def ask() -> tuple[int, Any]:
            sent: list[Any] = []

            async def send(message: Any) -> None:
                sent.append(message)

            scope = {"type": "http", "method": "GET", "path": "/x", "raw_path": b"/x", "headers": []}
            scope |= {"query_string": query.encode(), "promenade.correlation_id": b"id"}
            await endpoint(scope, None, send)
            return sent[0]["status"], msgspec.json.decode(sent[1]["body"])

        return ask

    async def serve() -> None:
        short = document_endpoints("/x", render)[0]
        first = asyncio.ensure_future(asking(short, "tag=T1")())
        await asyncio.sleep(0)
        go.set()
        status, part = await first
        assert (status, list(part["paths"])) == (200, ["/T1"])
        for tag in TAGS * 2:
            assert (await asking(short, f"tag={tag}")())[0] == 200
        status, refused = await asking(short, "tag=T1,Tx")()
        assert (status, refused["error"]["code"]) == (400, "UNKNOWN_TAG")
        assert (await asking(short, "")())[1] == DOCUMENT

    asyncio.run(serve())
    assert rendered == 1

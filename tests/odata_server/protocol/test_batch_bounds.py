"""Limits on one batch or one body."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from odata_server.engines import EngineDatabase
from odata_server.hooks import Hooks
from odata_server.payload import check_structure
from odata_server.service import Service
from tests.kit.processor_time import processor_time
from tests.odata_server.bookshop import EDM, source
from tests.odata_server.protocol.conftest import ORIGIN, ROOT

MEBIBYTE = 1024 * 1024


class SmallHooks(Hooks):
    batch_answer_bytes_max = 2_000


class ShortHooks(Hooks):
    batch_seconds_max = -1.0


async def _answers(database: EngineDatabase, hooks: Hooks, count: int = 4) -> list[dict[str, Any]]:
    service = Service(EDM, source(database), hooks, root=ROOT)
    requests = [{"id": str(number), "method": "get", "url": "Books?$top=3"} for number in range(count)]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service), base_url=f"{ORIGIN}{ROOT}") as client:
        answer = await client.post("/$batch", json={"requests": requests})
    found: list[dict[str, Any]] = answer.json()["responses"]
    return found


async def test_the_answers_of_a_batch_have_a_bound(library: EngineDatabase) -> None:
    answers = await _answers(library, SmallHooks())
    statuses = [one["status"] for one in answers]
    assert statuses[0] == 200
    assert statuses[-1] == 413
    assert answers[-1]["body"]["error"]["code"] == "BATCH_ANSWER_TOO_LARGE"
    assert statuses == sorted(statuses)


async def test_a_batch_ends_in_time(library: EngineDatabase) -> None:
    answers = await _answers(library, ShortHooks())
    assert [(one["status"], one["body"]["error"]["code"]) for one in answers] == [(503, "BATCH_TOO_SLOW")] * 4


@pytest.mark.alone
@pytest.mark.parametrize(
    "body",
    [
        b'{"a":[' + b"{}," * 3 * MEBIBYTE + b"{}]}",
        b"[" * 5 * MEBIBYTE,
        b'["' + b'a","' * 2 * MEBIBYTE + b'"]',
        b"[" + b"1," * 4 * MEBIBYTE + b"1]",
    ],
    ids=["objects", "lists", "texts", "numbers"],
)
async def test_a_large_body_of_tiny_values_is_refused_before_it_is_read(shop: httpx2.AsyncClient, body: bytes) -> None:
    with processor_time() as spent:
        answer = await shop.post("/Books", content=body, headers={"content-type": "application/json"})
    assert spent.seconds < 1.0
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "BODY_TOO_LARGE")


@pytest.mark.alone
@pytest.mark.parametrize(
    "body",
    [
        b'{"a":"' + b"x,{[" * 2 * MEBIBYTE + b'"}',
        b'{"a":"' + b"," * 2 * MEBIBYTE + b'\\"' * 100_000 + b"," * 2 * MEBIBYTE,  # an unterminated string
        b'{"a":"' + (b'\\"' + b"," * 20) * 400_000,
    ],
)
def test_characters_inside_strings_do_not_count_as_structure(body: bytes) -> None:
    with processor_time() as spent:
        check_structure(body)
    assert spent.seconds < 1.0

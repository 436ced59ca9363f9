"""Hostile batches: each gets a 400 quickly, and nothing is executed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.processor_time import processor_time
from tests.odata_server.batch.shelf import Shelf, multipart

KIND = "multipart/mixed; boundary=b"
HTTP = "Content-Type: application/http\n"
SOUND = multipart(
    "b",
    f"{HTTP}Content-ID: 1\n\nGET Books HTTP/1.1\nAccept: */*\n\n",
    "Content-Type: multipart/mixed; boundary=c\n\n"
    + multipart("c", f'{HTTP}Content-ID: 2\n\nPOST Books HTTP/1.1\nContent-Type: application/json\n\n{{"ID":"$1"}}'),
).encode()
MEBIBYTE = 1024 * 1024


@pytest.mark.alone
@pytest.mark.parametrize(
    "body",
    [
        b"\r\n" * MEBIBYTE,
        b"\r\n--b" * 100_000,
        b"\r\n--b x" * MEBIBYTE,
        b"--b\r\nContent-Type: application/http\r\nX: " + b"a" * MEBIBYTE + b"\r\n\r\nGET Books HTTP/1.1\r\n--b--",
        b"--b\r\nContent-Type: application/http\r\nX: a\r\n" + b" a\r\n" * MEBIBYTE + b"\r\nGET Books\r\n--b--",
        b"--b\r\nContent-Type: application/http\r\n\r\nGET " + b" " * MEBIBYTE + b"HTTP/1.1\r\n--b--",
        b"--b\r\nContent-Type: multipart/mixed;" + b'a="\\' * MEBIBYTE + b"\r\n\r\nx\r\n--b--",
    ],
    ids=["breaks", "boundaries", "almost-boundaries", "long-header", "folded-header", "blanks", "quotes"],
)
async def test_batches_crafted_to_be_slow_are_refused_quickly(body: bytes) -> None:
    shelf = Shelf()
    with processor_time() as spent:
        response = await shelf.batch(body, KIND)
    assert spent.seconds < 1.0
    assert response.status == 400
    assert shelf.requests == []


@pytest.mark.alone
@pytest.mark.parametrize(
    ("condition", "status"),
    [("not " * 100_000 + "true", 400), ("$1/" + "a/" * 100_000, 400), ("(" * 500 + "true" + ")" * 500, 400)],
)
async def test_conditions_are_bounded(condition: str, status: int) -> None:
    requests = [
        {"id": "1", "method": "get", "url": "Books"},
        {"id": "2", "method": "get", "url": "Books", "if": condition},
    ]
    with processor_time() as spent:
        response = await Shelf().batch(json.dumps({"requests": requests}), "application/json")
    assert spent.seconds < 1.0
    assert [one["status"] for one in json.loads(response.body)["responses"]] == [200, status]


@given(
    st.lists(st.tuples(st.integers(0, len(SOUND)), st.integers(0, 12), st.binary(max_size=8)), min_size=1, max_size=4)
)
async def test_a_damaged_batch_is_answered_like_any_other(changes: list[tuple[int, int, bytes]]) -> None:
    body = SOUND
    for at, cut, put in changes:
        body = body[:at] + put + body[at + cut :]
    response = await Shelf().batch(body, KIND)
    assert response.status in {200, 400}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)
    )
)
async def test_any_json_is_answered(value: object) -> None:

    for body in (value, {"requests": [value]}, {"requests": value}):
        response = await Shelf().batch(json.dumps(body), "application/json")
        assert response.status in {200, 400}

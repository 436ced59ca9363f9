"""Whatever replaces a value in an upload: it is refused or harmless, and nothing fails (reliability X1, B4)."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from promenade.engine.basket import CouponFact
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.replica.test_upload import body_of
from tests.workflows.shop import identity

PRICED = outcome(
    (line("1", 2000, 1000, discount("off", ((2, 100),))),),
    (
        applied("off", 200, points=3, budget_ids=("marketing",), coupon_type_ids=("thanks",)),
        applied("stamps", points=7),
    ),
    base_points=10,
)
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**40,
    1.5,
    "",
    "x" * 51,
    "x" * 5000,
    "a\0b",
    "\ud83d\ude00",
    "NaN",
    "-Infinity",
    "1e400",
    "-5",
    "2026-13-45T99:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    [],
    {},
    [[]],
    {"a": {"b": []}},
)
ROUNDS = 120


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every position in a document below the transactions and coupons."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(below, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


@pytest.fixture
async def sent(cloud: Cloud, store: Store) -> dict[str, Any]:
    """Return what a store sends for one sale, and a plausible coupon event."""
    for shop in (cloud.shop, store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
        await shop.coupon("CODE", "thanks")
    fact = CouponFact("CODE", identity("thanks"), "thanks", identity("CODE"))
    counter = await price(store, "T1", PRICED, coupons=(fact,), customer_id="anna")
    await store.confirm("T1", counter, ("off", "1.50"), "stamps")
    await store.work()
    document: dict[str, Any] = json.loads(await body_of(cloud, store))
    event = {
        "logId": identity("log"),
        "action": "REDEEMED",
        "couponTypeId": identity("thanks"),
        "couponId": identity("CODE"),
        "transactionId": "T9",
        "customerId": "anna",
        "occurredAt": "2026-03-02T12:00:00Z",
    }
    return {**document, "coupons": [event]}


async def test_an_upload_with_any_wrong_value_is_refused_or_harmless(
    cloud: Cloud, sent: dict[str, Any], seed: int
) -> None:
    chance = random.Random(seed)
    uploads = [("transactions", *path) for path in places(sent["transactions"])]
    events = [("coupons", *path) for path in places(sent["coupons"])]
    kept = {path for path in uploads if path[-1] in {"transactionId"} and len(path) == 3}
    for number in range(ROUNDS):
        document = copy.deepcopy(sent)
        document["transactions"][0]["transactionId"] = name = f"T{number}"
        document["transactions"][0]["request"]["basket"]["transaction_id"] = name
        path = chance.choice([one for one in uploads if one not in kept] if number % 3 else events)
        value = chance.choice(HOSTILE)
        put(document, path, value)
        status, answer = await cloud.raw(json.dumps(document).encode())
        assert status in {200, 400}, (path, value, answer)
        told = [*answer.get("results", ()), *answer.get("coupons", ())]
        assert all(one.get("reason") != "UPLOAD_FAILED" for one in told), (path, value, answer)
    budget = await cloud.shop.row("Budgets", "marketing")
    assert 0 <= budget.consumed_amount <= budget.total_amount
    booked = await cloud.shop.rows("BudgetConsumptions")
    assert all(0 <= row.amount + row.uncovered_amount <= 2 for row in booked)  # never more than the result granted


BAD_BODIES = {
    "nothing": b"",
    "a list": b"[]",
    "an object": b"{}",
    "null": b"null",
    "no UUID": b'{"deploymentId": "x", "transactions": []}',
    "no list": b'{"deploymentId": "%s", "transactions": {}}',
    "too many": b'{"deploymentId": "%s", "transactions": [' + b"{}," * 500 + b"{}]}",
    "too deep": b'{"deploymentId": "%s", "transactions": [' + b"[" * 100_000,
    "no text": b'{"deploymentId": "%s", "transactions": [], "definitions": {"a": 1}}',
    "no UTF-8": b'{"deploymentId": "%s", "transactions": [\xff]}',
}
BAD_UPLOADS = (
    b"1",
    b"null",
    b"[]",
    b"{}",
    b'"x"',
    b"[" * 900 + b"]" * 900,
    b'{"transactionId": {"a": 1}, "order": "x"}',
)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_an_invalid_upload_is_refused(cloud: Cloud) -> None:
    for name, body in BAD_BODIES.items():
        status, answer = await cloud.raw(body.replace(b"%s", b"0a000000-0000-4000-8000-000000000001"))
        assert status == 400, (name, answer)
        assert answer["error"]["code"]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_an_upload_that_cannot_be_read_is_refused_alone(cloud: Cloud, sent: dict[str, Any]) -> None:
    good = json.dumps(sent["transactions"][0]).encode()
    head = json.dumps({"deploymentId": sent["deploymentId"], "definitions": sent["definitions"]}).encode()
    body = b'%s, "transactions": [%s, %s]}' % (head[:-1], b", ".join(BAD_UPLOADS), good)
    status, answer = await cloud.raw(body)
    assert status == 200, answer
    *bad, last = answer["results"]
    assert {(one["status"], one["reason"]) for one in bad} == {("rejected", "SALE_MALFORMED")}
    assert last["status"] == "accepted"

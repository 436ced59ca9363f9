"""`promenade replay`: the response of then in the names of the interface, and whether it is still the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
import pytest
from sqlalchemy import update

from promenade.cli import main
from promenade.cli.replaying import changes
from promenade.engine.outcome import Outcome
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.iterations import find_iteration
from promenade.web.pricing.encode import encode_evaluation
from promenade.workflows.pricing.evaluate import PricedIteration, evaluate
from promenade.zstd import compressor
from tests.workflows.pricing.test_evaluate import TENANT, a_context, author, basket, percent_off, uuid

T = TypeVar("T")

SHOP: dict[str, list[dict[str, Any]]] = {
    "PosGroups": [{"ID": uuid(1), "code": "S1", "name": "Shop 1", "currency": "EUR"}]
}


def priced(url: str) -> PricedIteration:
    """Price a basket in a shop with ten percent off, and return the answer."""

    async def work(database: Database) -> PricedIteration:
        await author(database, "Promotions", SHOP | percent_off(1, 10))
        await author(database, "ArticleGroups", {"ArticleGroups": [{"ID": uuid(12), "groupId": "drinks"}]})
        return await evaluate(a_context(database), TENANT, basket(transaction_id="t1"))

    return asyncio.run(in_database(url, work))


async def in_database(url: str, work: Callable[[Database], Coroutine[Any, Any, T]]) -> T:
    database = await open_database(url)
    try:
        return await work(database)
    finally:
        await database.close()


def replay(url: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], list[str]]:
    """Run the command; return its exit status, its response, and the lines on standard error."""
    with pytest.raises(SystemExit) as end:
        main(["replay", TENANT, "t1", "1", "--database-url", url])
    printed = capsys.readouterr()
    return int(str(end.value.code)), json.loads(printed.out), printed.err.splitlines()


def test_a_replay_prints_what_the_till_got(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answered = encode_evaluation(
        priced(database_url), tenant_id=TENANT, source="btp", instance_id="i", include_missed=False
    )
    status, response, said = replay(database_url, capsys)
    assert (status, said) == (0, ["same as stored: yes"])
    response["meta"]["instanceId"] = "i"  # of the process that answers
    assert response == json.loads(answered)


def test_a_replay_names_the_fields_that_differ(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    priced(database_url)
    rewrite(database_url, lambda stored: replace(stored, discount_minor=stored.discount_minor + 5, points=7))
    status, response, said = replay(database_url, capsys)
    assert status == 1
    assert said[0] == "same as stored: no"
    assert "totals.discount.value: 2.05 -> 2.00" in said
    assert "totals.savingsSummary.loyaltyPointsEarned: 7 -> 0" in said
    assert response["totals"]["discount"]["value"] == 2


def test_a_replay_also_names_what_no_response_shows(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    priced(database_url)
    rewrite(database_url, lambda stored: replace(stored, control_arms=("p",)))
    status, _, said = replay(database_url, capsys)
    assert status == 1
    assert said[1:] == ["The responses are equal; in the stored record differ:", 'control_arms[0]: "p" -> -']


def rewrite(url: str, change: Callable[[Outcome], Outcome]) -> None:
    """Change the stored outcome, as a defect of an earlier version would have left it."""

    async def work(database: Database) -> None:
        async def in_session(session: Session) -> None:
            stored = await find_iteration(session, "cloud", "t1", 1)
            assert stored is not None
            values = (stored.basket, stored.settings, stored.facts, stored.tree_hash, change(stored.outcome))
            record = compressor(1)(msgspec.msgpack.encode(values))
            await session.rowcount(update(table("iterations")).values(record=record))

        await database.write(in_session, tenant=TENANT)

    asyncio.run(in_database(url, work))


def test_changes_are_told_field_by_field() -> None:
    before = {"same": 1, "one": {"a": [1, 2], "gone": None}, "kind": 1}
    after = {"same": 1, "one": {"a": [1, 3, {"b": True}]}, "kind": [1]}
    assert list(changes(before, after)) == [
        "one.a[1]: 2 -> 3",
        "one.a[2].b: - -> true",
        "one.gone: null -> -",
        "kind: 1 -> [1]",
    ]

"""Stores get shares by need: what a sale lacks is fetched while the till waits, whatever the reserves are (B1)."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from promenade import metrics
from promenade.workflows.uplink import CloudUnreachable
from tests.reliability.load import budget_state
from tests.reliability.shares.offline import Branch
from tests.reliability.shares.selling import Till, furnish
from tests.reliability.shares.stores import Stores

ON_SQLITE = pytest.mark.parametrize("dialect", ["sqlite"])
"""For what a store does by itself; the cloud's part runs on both databases in other tests."""


async def test_the_last_of_a_budget_can_be_sold_anywhere(stores: Stores, branches: list[Branch]) -> None:
    """A budget of 20.00, five discounts of 4.00: all five are given, wherever the customers come."""
    await furnish(stores, branches, "4.00", budget="20.00")
    north, south = tills = [Till(one) for one in branches]
    for branch in branches:
        await branch.keep()
    assert [await till.sell(f"T{number}") for number, till in enumerate((north, north, south, north, south))] == [
        True
    ] * 5
    assert [till.reasons for till in tills] == [[], []]
    assert not await south.sell("T5")
    assert south.reasons == ["BUDGET_EXHAUSTED"]
    for branch in branches:
        await branch.report()
    state = await budget_state(stores.shop, "hot")
    assert (state.consumed, state.status) == (Decimal(20), "EXHAUSTED")
    await stores.check("hot")


async def test_all_uses_of_a_limit_can_be_used_in_one_store(stores: Stores, branches: list[Branch]) -> None:
    await furnish(stores, branches, "4.00", applications=20)
    till = Till(branches[0])
    for branch in branches:
        await branch.keep()
    given = [await till.sell(f"T{number}") for number in range(20)]
    assert given == [True] * 17 + [False] * 3  # the other store has three in reserve
    await branches[1].hear()
    await branches[1].keep()
    assert await stores.outstanding("off") == 17
    stores.shop.later(seconds=30)
    given = [await till.sell(f"U{number}") for number in range(4)]
    assert given == [True] * 3 + [False]


def _missing() -> float:
    return float(metrics.shares_missing._value.get())


@ON_SQLITE
async def test_a_sale_that_the_share_does_not_cover_is_told_why(stores: Stores, branches: list[Branch]) -> None:
    await furnish(stores, branches, "4.00", budget="20.00")
    north, till = branches[0], Till(branches[0])
    before = _missing()
    north.uplink.is_connected = False
    assert not await till.sell("T1")
    north.uplink.is_connected = True
    north.wire.faults = ["before"]
    assert not await till.sell("T2")
    assert till.reasons == ["SHARE_NOT_AVAILABLE"] * 2
    assert _missing() == before + 2
    assert await till.sell("T3")
    assert till.reasons == ["SHARE_NOT_AVAILABLE"] * 2


@ON_SQLITE
async def test_a_till_waits_two_seconds_at_most(
    stores: Stores, branches: list[Branch], monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnish(stores, branches, "4.00", budget="20.00")
    north, till = branches[0], Till(branches[0])
    asked: list[float | None] = []

    async def silent(path: str, body: object, *, key: str | None = None, seconds: float | None = None) -> None:
        asked.append(seconds)
        await asyncio.sleep(0)
        raise CloudUnreachable("CLOUD_UNREACHABLE", "The cloud did not answer.")

    monkeypatch.setattr(north.wire, "post", silent)
    assert not await till.sell("T1")
    assert all(one is not None and 0 < one <= 2 for one in asked)
    assert asked


@ON_SQLITE
async def test_many_tills_that_lack_the_same_get_it_each_with_few_requests(
    stores: Stores, branches: list[Branch]
) -> None:
    await furnish(stores, branches, "4.00", budget="200.00")
    await branches[0].keep()  # 50.00
    sent = len(branches[0].wire.sent)
    tills = [Till(branches[0]) for _ in range(40)]
    given = await asyncio.gather(*(till.sell(f"T{number}") for number, till in enumerate(tills)))
    assert given == [True] * 40
    await branches[0].report()
    assert (await budget_state(stores.shop, "hot")).consumed == 160
    assert len(branches[0].wire.sent) - sent <= 28 + 40


async def test_a_refused_sale_is_not_asked_for_again_and_again(stores: Stores, branches: list[Branch]) -> None:
    await furnish(stores, branches, "4.00", budget="3.00")
    till = Till(branches[0])
    for number in range(5):
        assert not await till.sell(f"T{number}")
    assert set(till.reasons) <= {"BUDGET_EXHAUSTED", "BUDGET_INSUFFICIENT"}
    assert len(branches[0].wire.sent) == 1
    stores.shop.later(seconds=30)
    await till.sell("T9")
    assert len(branches[0].wire.sent) == 2
    assert await stores.outstanding("hot") == 0  # what is too little here may be enough elsewhere

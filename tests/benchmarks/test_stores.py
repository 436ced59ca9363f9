"""The simulated stores keep what is promised of shares; the figures of 10 000 stores are in decision 33."""

from __future__ import annotations

import pytest

from benchmarks.stores import CHOSEN, POLICIES, simulate


@pytest.mark.parametrize("discounts", [50, 500, 5_000])
def test_stores_refuse_next_to_nothing_that_the_cloud_has(discounts: int) -> None:
    """A hundred stores that sell 2 000 times a day: none is refused online, and nothing is left at the end."""
    result = simulate(CHOSEN, discounts, stores=100, days=7, seed=1)
    assert result.sales["refused online"] == 0
    assert result.stranded <= 100


def test_a_store_without_a_link_sells_from_its_reserve() -> None:
    plenty = simulate(CHOSEN, 20_000, stores=100, days=7, seed=1)
    assert plenty.sales["offline"] > 200
    assert plenty.offline < 2
    assert plenty.messages / plenty.sold < 0.2


def test_other_ways_to_share_are_worse() -> None:
    chosen, *others = [simulate(one, 5_000, stores=100, days=7, seed=1) for one in (CHOSEN, *POLICIES[:2])]
    equal, cloud = others
    assert equal.online > 1 > chosen.online
    assert cloud.offline > 50
    assert cloud.messages == cloud.sales["online"]

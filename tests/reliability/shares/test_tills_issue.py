"""Tills of stores issue codes from the cloud: fetched on the first request, and kept in stock from then on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from promenade.workflows.coupons.till_issue import IssueOrder, issue_at_till
from tests.reliability.shares.offline import Branch
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import identity

ON_SQLITE = pytest.mark.parametrize("dialect", ["sqlite"])
"""A store's database is SQLite; how the cloud leases codes is tested on both."""


async def _issue(branch: Branch, *customers: str, kind: str = "thanks") -> tuple[list[str], list[tuple[str, str]]]:
    order = IssueOrder(identity(kind), None, customers)
    answer = await issue_at_till(branch.shop.context, branch.shop.tenant, order, lambda letters: letters[0])
    return [one.code or "" for one in answer.issued], [(one.code, one.message) for one in answer.failures]


async def _thanks(stores: Stores, branches: list[Branch], number: int) -> None:
    for shop in (stores.shop, *(one.shop for one in branches)):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
    for one in range(number):
        await stores.shop.coupon(f"T-{one}", "thanks")


@ON_SQLITE
async def test_a_till_gets_codes_to_issue_from_the_cloud_and_then_from_stock(
    stores: Stores, branches: list[Branch]
) -> None:
    await _thanks(stores, branches, 30)
    north = branches[0]
    issued, failures = await _issue(north, "anna")
    assert (len(issued), failures) == (1, [])
    north.uplink.is_connected = False
    issued, failures = await _issue(north, *[f"c{one}" for one in range(19)])
    assert (len(issued), failures) == (19, [])  # the rest of the first delivery
    issued, ((code, message),) = await _issue(north, "bert")
    assert (issued, code) == ([], "NEEDS_CLOUD")
    assert "cannot ask the cloud" in message
    north.uplink.is_connected = True
    stores.shop.later(minutes=6)
    await north.forget_uploads()
    await north.keep()  # the round has refilled the pool by itself
    north.uplink.is_connected = False
    assert len((await _issue(north, "bert"))[0]) == 1
    north.uplink.is_connected = True
    issued, failures = await _issue(north, *[f"d{one}" for one in range(11)])
    assert (len(issued), [code for code, _ in failures]) == (9, ["CODES_EXHAUSTED"] * 2)
    assert "the cloud has none" in failures[0][1]


@ON_SQLITE
@pytest.mark.parametrize("fault", ["before", "after"])
async def test_a_line_that_fails_while_a_till_asks_for_codes_loses_none(
    stores: Stores, branches: list[Branch], fault: str
) -> None:
    await _thanks(stores, branches, 20)
    north = branches[0]
    north.wire.faults.append(fault)
    issued, ((code, _),) = await _issue(north, "anna")
    assert (issued, code) == ([], "NEEDS_CLOUD")
    await north.keep()
    north.uplink.is_connected = False
    assert len((await _issue(north, *[f"c{one}" for one in range(20)]))[0]) == 20


@ON_SQLITE
async def test_a_round_asks_for_no_codes_that_a_till_has_just_got(
    stores: Stores, branches: list[Branch], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds, north = ("sorry", "thanks"), branches[0]
    for kind in kinds:
        for shop in (stores.shop, north.shop):
            await shop.coupon_type(kind, code_type="INDIVIDUAL")
        for one in range(30):
            await stores.shop.coupon(f"{kind}-{one}", kind)
        north.wire.faults.append("after")
        assert not (await _issue(north, "anna", kind=kind))[0]
    post = north.wire.post

    async def till_between(path: str, body: Mapping[str, Any], **how: Any) -> dict[str, Any]:
        monkeypatch.undo()
        (other,) = (one for one in kinds if identity(one) != body["couponTypeId"])
        assert len((await _issue(north, "bert", kind=other))[0]) == 1
        return await post(path, body, **how)

    monkeypatch.setattr(north.wire, "post", till_between)
    await north.keep()
    north.uplink.is_connected = False
    issued = [len((await _issue(north, *[f"c{one}" for one in range(30)], kind=kind))[0]) for kind in kinds]
    assert sorted(issued) == [19, 20]

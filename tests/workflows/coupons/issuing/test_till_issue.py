"""Coupons issued by a till: one per customer, with event and log, and at most a thousand per minute."""

from __future__ import annotations

import itertools
import json
import secrets
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Invalid, TooMany
from promenade.workflows.coupons.till_issue import ISSUED_MAX, IssueAnswer, IssueOrder, issue_at_till
from tests.workflows.counting import count_statements
from tests.workflows.shop import NOON, Shop, identity, open_shop


async def issue(shop: Shop, *customers: str | None, kind: str = "gift", **more: Any) -> IssueAnswer:
    draw = more.pop("draw", secrets.choice)
    order = IssueOrder(identity(kind), None, customers, **more)
    return await issue_at_till(shop.context, shop.tenant, order, draw)


def many(number: int) -> list[str]:
    return [f"C-{place}" for place in range(number)]


async def refused(shop: Shop, number: int) -> int:
    """Return the wait in seconds of a refused order of this size."""
    before = [await shop.count(name) for name in ("CouponCodes", "RedemptionLogs", "outbox_events")]
    with pytest.raises(TooMany) as caught:
        await issue(shop, *many(number))
    assert caught.value.code == "ISSUE_LIMIT_REACHED"
    assert [await shop.count(name) for name in ("CouponCodes", "RedemptionLogs", "outbox_events")] == before
    return caught.value.retry_after_seconds


async def test_each_customer_gets_a_coupon_out_of_the_pool_and_then_a_new_one(shop: Shop) -> None:
    await shop.coupon_type("gift", validity_days=30)
    await shop.coupon("POOLED", "gift")
    answer = await issue(shop, "C-1", "C-2", None, reason="sorry", metadata='{"case": 7}', user="till-1")
    assert answer.failures == ()
    assert [one.customer_id for one in answer.issued] == ["C-1", "C-2", None]
    codes = [one.code for one in answer.issued]
    assert codes[0] == "POOLED"
    end = NOON + timedelta(days=30)
    for one in answer.issued:
        assert (one.coupon_type_id, one.valid_until) == (identity("gift"), end)
        (row,) = await shop.rows("CouponCodes", id=one.id)
        assert (row.code, row.customer_id, row.status, row.issued_at) == (one.code, one.customer_id, "ACTIVE", NOON)
        assert (row.issuance_channel, row.issue_reason, row.issue_metadata) == ("MANUAL", "sorry", '{"case": 7}')
        assert (row.issuing_promotion_id, row.issuing_transaction_id, row.valid_until) == (None, None, end)
        assert row.modified_by == "till-1"
        (log,) = await shop.rows("RedemptionLogs", coupon_code_id=one.id)
        assert (log.action, log.customer_id, log.occurred_at) == ("ISSUED", one.customer_id, NOON)
    told = [json.loads(row.payload) for row in await shop.rows("outbox_events")]
    assert {one["type"] for one in told} == {"COUPON_ISSUED"}
    assert {(one["data"]["couponId"], one["data"]["customerId"]) for one in told} == {
        (one.id, one.customer_id) for one in answer.issued
    }
    assert not any(one.code in repr(told) for one in answer.issued if one.code)


async def test_external_expired_and_issued_codes_are_not_issued(shop: Shop) -> None:
    await shop.coupon_type("gift")
    await shop.coupon("OUTSIDE", "gift", source="EXTERNAL")
    await shop.coupon("OVER", "gift", valid_until=NOON)
    await shop.coupon("ISSUED", "gift", issued_at=NOON)
    await shop.coupon("GONE", "gift", status="CANCELLED")
    answer = await issue(shop, *many(5))
    assert not {"OUTSIDE", "OVER", "ISSUED", "GONE"} & {one.code for one in answer.issued}
    assert len({one.code for one in answer.issued}) == 5


async def test_all_are_given_the_code_that_a_type_shares(shop: Shop) -> None:
    await shop.coupon_type("gift", code_type="GENERIC", generic_code="ALL")
    answer = await issue(shop, "C-1", "C-2")
    assert [(one.id, one.code, one.customer_id) for one in answer.issued] == [
        (None, "ALL", "C-1"),
        (None, "ALL", "C-2"),
    ]
    logs = await shop.rows("RedemptionLogs")
    assert sorted(row.customer_id for row in logs) == ["C-1", "C-2"]
    assert await shop.count("CouponCodes") == 0


async def test_a_type_is_found_by_its_name_unless_two_have_it(shop: Shop) -> None:
    for name, called in (("gift", "Gift"), ("other", "Other"), ("third", "Other")):
        await shop.put("CouponTypes", id=identity(name), code=name, name=called, status="ACTIVE")

    async def by(type_id: str | None, name: str | None) -> str:
        answer = await issue_at_till(shop.context, shop.tenant, IssueOrder(type_id, name, (None,)), secrets.choice)
        return answer.issued[0].coupon_type_id

    assert await by(None, "Gift") == await by(identity("gift"), "Gift") == identity("gift")
    unknown: tuple[tuple[str | None, str | None, str], ...] = (
        (None, "gift", "couponTypeName"),
        (identity("nothing"), None, "couponTypeId"),
        (identity("nothing"), "Gift", "couponTypeId"),
    )
    for type_id, wanted, target in unknown:
        with pytest.raises(Invalid) as caught:
            await by(type_id, wanted)
        assert (caught.value.code, caught.value.target) == ("COUPON_TYPE_NOT_FOUND", target)
    for name in ("Gift", "Nothing"):
        with pytest.raises(Invalid) as caught:
            await by(identity("other"), name)
        assert (caught.value.code, caught.value.target) == ("COUPON_TYPE_MISMATCH", "couponTypeName")
    with pytest.raises(Invalid) as caught:
        await by(None, "Other")
    assert (caught.value.code, caught.value.target) == ("AMBIGUOUS_COUPON_TYPE", "couponTypeName")
    foreign = await open_shop(shop.context.database, "tenant-b")
    with pytest.raises(Invalid):
        await issue(foreign, None)


async def test_a_type_that_cannot_be_issued_fails_for_every_customer(shop: Shop) -> None:
    await shop.coupon_type("off", status="INACTIVE")
    await shop.coupon_type("over", valid_to=NOON)
    await shop.coupon_type("nameless", code_type="GENERIC")
    for kind, code in (("off", "COUPON_TYPE_INACTIVE"), ("over", "COUPON_TYPE_ENDED"), ("nameless", "NO_GENERIC_CODE")):
        answer = await issue(shop, "C-1", "C-2", kind=kind)
        assert answer.issued == ()
        assert [(one.customer_id, one.code) for one in answer.failures] == [("C-1", code), ("C-2", code)]
    await shop.coupon_type("gift")
    assert len((await issue(shop, *many(ISSUED_MAX))).issued) == ISSUED_MAX  # failures do not count


async def test_as_many_as_there_are_codes_are_issued(shop: Shop) -> None:
    await shop.coupon_type("gift")
    await shop.put("CouponCodeConfigurations", coupon_type_id=identity("gift"), length=1, alphabet="012345")
    await shop.coupon("0", "gift", status="CANCELLED")
    await shop.coupon("POOLED", "gift")
    in_turn = itertools.cycle("012345")
    answer = await issue(shop, *many(10), draw=lambda _: next(in_turn))
    assert {one.code for one in answer.issued} == {"POOLED", "1", "2", "3", "4", "5"}
    assert {one.code for one in answer.failures} == {"CODES_EXHAUSTED"}
    everybody = [one.customer_id for one in answer.issued] + [one.customer_id for one in answer.failures]
    assert sorted(map(str, everybody)) == sorted(many(10))
    assert len(await shop.rows("RedemptionLogs")) == 6


async def test_no_code_is_made_that_differs_from_a_shared_one_by_case_alone(shop: Shop) -> None:
    await shop.coupon_type("all", code_type="GENERIC", generic_code="A")
    await shop.coupon_type("gift")
    await shop.put("CouponCodeConfigurations", coupon_type_id=identity("gift"), length=1, alphabet="abc")
    for number in (1, 2):  # alone, and several together
        in_turn = itertools.cycle("abc")
        answer = await issue(shop, *many(number), draw=lambda _, letters=in_turn: next(letters))
        assert "a" not in {one.code for one in answer.issued}
        assert len(answer.issued) == 1


async def test_a_thousand_customers_take_as_many_statements_as_ten(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await shop.coupon_type("gift")
    await issue(shop, "C-1")  # creates the row of the window
    counted = count_statements(monkeypatch)
    taken = []
    for number in (10, 1000):
        shop.later(seconds=60)
        await shop.coupon(f"POOLED-{number}", "gift")
        before = counted()
        await issue(shop, *many(number))
        taken.append(counted() - before)
    assert taken[0] == taken[1]

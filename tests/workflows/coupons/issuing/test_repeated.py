"""An order of coupons sent again under its Idempotency-Key: the first answer, with the same codes."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from promenade.errors import Conflict
from promenade.store.coupons.issue_keys import KEY_LIFETIME
from promenade.workflows.clockwork.coupons import old_issue_keys
from promenade.workflows.coupons.till_issue import ISSUED_MAX
from tests.workflows.coupons.issuing.test_till_issue import issue, many
from tests.workflows.shop import Shop

KEY = "till-7/4711"


async def test_a_repeat_gets_the_same_coupons_and_issues_none(shop: Shop) -> None:
    await shop.coupon_type("gift", validity_days=30)
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL")
    first = await issue(shop, "C-1", None, key=KEY, reason="sorry")
    common = await issue(shop, "C-1", kind="shared", key="other")
    shop.later(hours=23)
    assert await issue(shop, "C-1", None, key=KEY, reason="sorry", user="another till") == first
    assert await issue(shop, "C-1", kind="shared", key="other") == common
    assert (await shop.count("CouponCodes"), await shop.count("RedemptionLogs")) == (2, 3)
    assert all(one.code.encode() not in row.answer for row in await shop.rows("issue_keys") for one in first.issued
               if one.code)  # fmt: skip
    assert (await issue(shop, "C-1", None, reason="sorry")).issued[0].code != first.issued[0].code


async def test_a_key_stands_for_one_order_for_a_day(shop: Shop) -> None:
    await shop.coupon_type("gift")
    first = await issue(shop, "C-1", key=KEY)
    for other in ({"reason": "sorry"}, {"metadata": "{}"}):
        with pytest.raises(Conflict) as caught:
            await issue(shop, "C-1", key=KEY, **other)
        assert caught.value.code == "KEY_REUSED"
    shop.later(seconds=KEY_LIFETIME.total_seconds())
    second = await issue(shop, "C-2", key=KEY)
    assert second.issued[0].code != first.issued[0].code
    assert await issue(shop, "C-2", key=KEY) == second
    await issue(shop, "C-3", key="later")
    assert (await old_issue_keys(shop.context, None)).done == 0
    shop.later(seconds=(KEY_LIFETIME + timedelta(seconds=1)).total_seconds())
    assert (await old_issue_keys(shop.context, None)).done == 2
    assert await shop.count("issue_keys") == 0


async def test_an_order_that_issued_nothing_may_be_sent_again(shop: Shop) -> None:
    await shop.coupon_type("gift", status="INACTIVE")
    assert [one.code for one in (await issue(shop, "C-1", key=KEY)).failures] == ["COUPON_TYPE_INACTIVE"]
    await shop.change("CouponTypes", "gift", status="ACTIVE")
    assert len((await issue(shop, "C-1", key=KEY)).issued) == 1


async def test_a_repeat_does_not_count_against_the_limit(shop: Shop) -> None:
    await shop.coupon_type("gift", code_type="GENERIC", generic_code="ALL")
    first = await issue(shop, *many(ISSUED_MAX), key=KEY)
    assert await issue(shop, *many(ISSUED_MAX), key=KEY) == first


async def test_of_repeats_at_the_same_time_one_issues(shop: Shop) -> None:
    await shop.coupon_type("gift")
    answers = await asyncio.gather(*(issue(shop, "C-1", key=KEY) for _ in range(16)))
    assert all(one == answers[0] for one in answers)
    assert await shop.count("CouponCodes") == await shop.count("RedemptionLogs") == 1

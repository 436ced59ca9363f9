"""At most a thousand coupons in any minute: to the microsecond, over all processes, whatever clocks do."""

from __future__ import annotations

import asyncio
import random
from datetime import datetime, timedelta

import pytest

from promenade.errors import Invalid, TooMany
from promenade.workflows.coupons.till_issue import ISSUED_MAX
from tests.workflows.clockwork.coupons.ageing import beside
from tests.workflows.coupons.issuing.test_till_issue import issue, many, refused
from tests.workflows.shop import NOON, Shop, open_shop

MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    await shop.coupon_type("gift", code_type="GENERIC", generic_code="ALL")
    return shop


async def test_more_than_a_thousand_in_one_call_never_fit(shop: Shop) -> None:
    with pytest.raises(Invalid) as caught:
        await issue(shop, *many(ISSUED_MAX + 1))
    assert (caught.value.code, caught.value.target) == ("TOO_MANY_COUPONS", "customerIds")
    assert "1000" in caught.value.message
    assert len((await issue(shop, *many(ISSUED_MAX))).issued) == ISSUED_MAX


async def test_issued_coupons_count_against_the_limit_for_exactly_sixty_seconds(shop: Shop) -> None:
    await issue(shop, *many(600))
    shop.later(seconds=10)
    await issue(shop, *many(400))
    assert await refused(shop, 1) == 50
    assert await refused(shop, 601) == 60
    shop.now[0] = NOON + timedelta(seconds=60) - MICROSECOND
    assert await refused(shop, 1) == 1
    shop.now[0] = NOON + timedelta(seconds=60)
    assert await refused(shop, 601) == 10
    assert len((await issue(shop, *many(600))).issued) == 600
    assert await refused(shop, 1) == 10


async def test_no_minute_exceeds_the_issuing_limit(shop: Shop, seed: int) -> None:
    rng = random.Random(seed)
    done: list[tuple[datetime, int]] = []
    for _ in range(60):
        shop.later(seconds=rng.choice([0, 0.5, 3, 11, 29]))
        number = rng.randrange(1, 400)
        try:
            await issue(shop, *many(number))
        except TooMany:
            assert sum(n for at, n in done if at > shop.now[0] - timedelta(seconds=60)) + number > ISSUED_MAX
        else:
            done.append((shop.now[0], number))
    for end, _ in done:
        assert sum(n for at, n in done if end - timedelta(seconds=60) < at <= end) <= ISSUED_MAX


async def test_a_clock_set_back_keeps_nobody_waiting_for_longer_than_a_minute(shop: Shop) -> None:
    await issue(shop, *many(ISSUED_MAX))
    shop.later(hours=-1)
    assert await refused(shop, 1) == 60
    shop.later(seconds=59)
    assert await refused(shop, 1) == 1
    shop.later(seconds=1)
    assert len((await issue(shop, *many(ISSUED_MAX))).issued) == ISSUED_MAX
    shop.later(hours=1)
    assert len((await issue(shop, "C-1")).issued) == 1


async def test_each_tenant_has_a_window_of_its_own(shop: Shop) -> None:
    await issue(shop, *many(ISSUED_MAX))
    other = await open_shop(shop.context.database, "tenant-b")
    await other.coupon_type("gift2", code_type="GENERIC", generic_code="ALL")
    assert len((await issue(other, *many(ISSUED_MAX), kind="gift2")).issued) == ISSUED_MAX


async def test_sixty_four_at_once_get_a_thousand_and_not_one_more(shop: Shop, database_url: str) -> None:
    """On PostgreSQL with two database objects, as two processes would have; SQLite has one process."""
    await shop.coupon_type("own")
    sizes = [1 + place % 31 for place in range(64)]  # 984 of the first 64 ...
    sizes += [20] * 8  # ... and some that cannot all fit
    async with beside(shop, database_url) as shops:
        answers = await asyncio.gather(
            *(issue(shops[at % len(shops)], *many(size), kind="own") for at, size in enumerate(sizes)),
            return_exceptions=True,
        )
    issued = [one for one in answers if not isinstance(one, BaseException)]
    assert {type(one) for one in answers if isinstance(one, BaseException)} == {TooMany}
    codes = [coupon.code for answer in issued for coupon in answer.issued]
    assert ISSUED_MAX - 31 < len(codes) <= ISSUED_MAX
    assert len(set(codes)) == len(codes) == await shop.count("CouponCodes") == await shop.count("RedemptionLogs")
    assert await refused(shop, ISSUED_MAX - len(codes) + 1) == 60

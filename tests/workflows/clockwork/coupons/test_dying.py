"""Workers that die before any of their statements: their work is completed once by the next worker."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

from tests.workflows.clockwork.coupons.ageing import logged, news, put_codes, statuses
from tests.workflows.clockwork.coupons.test_refills import schedule
from tests.workflows.clockwork.coupons.test_reservations import share
from tests.workflows.shop import NOON, Shop


def die_at_every_statement(verb: str, url: str) -> int:
    command = [sys.executable, "-m", "tests.workflows.clockwork.coupons.dying", verb, url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr[-4000:]
    return int(done.stdout)


async def test_killed_workers_expire_each_code_once(shop: Shop, database_url: str) -> None:
    await shop.coupon_type("gift")
    await put_codes(shop, 3, valid_until=NOON, issued_at=NOON)
    assert die_at_every_statement("expire", database_url) >= 4
    assert await statuses(shop) == {"EXPIRED": 3}
    assert len({one["couponId"] for one in await news(shop)}) == len(await news(shop)) == 3
    assert len({row.coupon_code_id for row in await logged(shop, "EXPIRED")}) == 3
    assert len(await logged(shop, "EXPIRED")) == 3


async def test_killed_workers_end_each_reservation_once(shop: Shop, database_url: str) -> None:
    await shop.coupon_type("gift")
    await put_codes(shop, 3, status="RESERVED", reserved_until=NOON)
    assert die_at_every_statement("release", database_url) >= 4
    assert await statuses(shop) == {"ACTIVE": 3}
    assert len({row.coupon_code_id for row in await logged(shop, "CANCELLED")}) == 3
    assert len(await logged(shop, "CANCELLED")) == 3


async def test_killed_workers_end_each_reservation_of_a_shared_code_once(shop: Shop, database_url: str) -> None:
    await shop.coupon_type("all", code_type="GENERIC", generic_code="ALL")
    await share(shop, "over", reserved_until=NOON)
    assert die_at_every_statement("release", database_url) >= 4
    assert [row.state for row in await shop.rows("coupon_reservations")] == ["CANCELLED"]
    assert len(await logged(shop, "CANCELLED")) == 1


async def test_killed_workers_order_codes_once(shop: Shop, database_url: str) -> None:
    await shop.coupon_type("gift")
    await schedule(shop, last_run_at=NOON - timedelta(hours=1))
    assert die_at_every_statement("fill", database_url) >= 6
    assert await shop.count("CouponCodeBatches") == 1
    assert await shop.count("AuditLogs") == 1


async def test_a_killed_worker_issues_a_coupon_completely_or_not_at_all(shop: Shop, database_url: str) -> None:
    await shop.coupon_type("gift")
    await put_codes(shop, 1)
    assert die_at_every_statement("issue", database_url) >= 8
    rows = await shop.rows("CouponCodes")
    assert sorted(row.customer_id for row in rows) == ["C-1", "C-2", "C-3"]
    assert await shop.count("RedemptionLogs") == await shop.count("outbox_events") == 3

"""Coupons issued by hand: from the pool, to one customer, with event and log; never the same code twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, NotFound
from tests.workflows.authoring.desk import NOON
from tests.workflows.promotions.lifecycle.acting import Office


async def kind_of(office: Office, **values: Any) -> str:
    return await office.given("CouponTypes", **{"status": "ACTIVE", **values})


async def pooled(office: Office, kind: str, code: str, **columns: Any) -> str:
    given = {"coupon_type_id": kind, "code": code, "status": "ACTIVE", "source": "MANUAL", **columns}
    return await office.put("CouponCodes", **given)


async def test_an_issued_coupon_belongs_to_its_customer_and_sends_an_event(office: Office) -> None:
    kind = await kind_of(office, validityDays=30)
    code_id = await pooled(office, kind, "POOLED")
    coupon = await office.issue(kind, "C-7")
    end = NOON + timedelta(days=30)
    assert (coupon.id, coupon.code, coupon.coupon_type_id) == (code_id, "POOLED", kind)
    assert (coupon.customer_id, coupon.valid_until) == ("C-7", end)
    row = await office.row("CouponCodes", code_id)
    assert (row["status"], row["customerId"], row["issuedAt"], row["validUntil"]) == ("ACTIVE", "C-7", NOON, end)
    assert (row["issuanceChannel"], row["issuingPromotionId"], row["issuingTransactionId"]) == ("MANUAL", None, None)
    assert row["modifiedBy"] == "ann"
    (log,) = await office.rows("RedemptionLogs")
    assert (log["action"], log["couponCode_ID"], log["couponType_ID"]) == ("ISSUED", code_id, kind)
    assert (log["customerId"], log["occurredAt"]) == ("C-7", NOON)
    (told,) = await office.news()
    assert told["type"] == "COUPON_ISSUED"
    data = told["data"]
    assert (data["couponId"], data["customerId"], data["issuanceChannel"]) == (code_id, "C-7", "MANUAL")
    assert "POOLED" not in repr(told)
    assert sorted(await office.trail(kind)) == ["CREATE", "ISSUE_COUPON"]


async def test_a_code_that_customers_activate_is_created_first(office: Office) -> None:
    kind = await kind_of(office, requiresActivation=True)
    coupon = await office.issue(kind)
    (row,) = await office.rows("CouponCodes")
    assert (row["ID"], row["status"], row["customerId"]) == (coupon.id, "CREATED", None)


async def test_a_code_is_valid_no_longer_than_its_type(office: Office) -> None:
    end = NOON + timedelta(days=3)
    for days in (None, 30):
        kind = await kind_of(office, validTo=end, validityDays=days)
        assert (await office.issue(kind)).valid_until == end
    kind = await kind_of(office, validityDays=2**31 - 1)
    until = (await office.issue(kind)).valid_until
    assert until is not None
    assert until.year == 9000


async def test_only_free_internal_codes_are_issued(office: Office) -> None:
    kind, other = await kind_of(office), await kind_of(office)
    await pooled(office, kind, "OUTSIDE", source="EXTERNAL")
    await pooled(office, kind, "ISSUED", issued_at=NOON)
    await pooled(office, kind, "OVER", valid_until=NOON)
    await pooled(office, kind, "GONE", status="CANCELLED")
    await pooled(office, other, "OTHER")
    theirs = "THEIRS"
    await pooled(office, kind, theirs, source="IMPORTED")
    assert (await office.issue(kind)).code == theirs
    made = await office.issue(kind)
    assert made.code is not None
    assert len(made.code) == 12
    assert len(await office.rows("CouponCodes")) == 7


async def test_a_type_that_is_off_over_or_foreign_issues_nothing(office: Office) -> None:
    cases = [
        (await kind_of(office, status="INACTIVE"), "COUPON_TYPE_INACTIVE"),
        (await kind_of(office, validTo=NOON), "COUPON_TYPE_ENDED"),
        (await kind_of(office, codeType="GENERIC"), "NO_GENERIC_CODE"),
    ]
    for kind, code in cases:
        with pytest.raises(Conflict) as caught:
            await office.issue(kind)
        assert caught.value.code == code
    with pytest.raises(NotFound):
        await office.issue(await kind_of(Office(office.database, "tenant-b")))
    assert await office.rows("CouponCodes") == await office.rows("RedemptionLogs") == []
    assert await office.news() == []


async def test_a_shared_code_is_issued_as_it_is(office: Office) -> None:
    kind = await kind_of(office, codeType="GENERIC", genericCode="ALL")
    coupon = await office.issue(kind, "C-7")
    assert (coupon.id, coupon.code, coupon.customer_id) == (None, "ALL", "C-7")
    assert [row["couponCode_ID"] for row in await office.rows("RedemptionLogs")] == [None]
    assert await office.rows("CouponCodes") == []


async def test_an_empty_customer_id_means_no_customer_and_an_invalid_one_is_refused(office: Office) -> None:
    kind = await kind_of(office)
    assert (await office.issue(kind, "")).customer_id is None
    with pytest.raises(Invalid) as caught:
        await office.issue(kind, "a\0b")
    assert (caught.value.code, caught.value.target) == ("INVALID_CHARACTER", "customerId")


async def test_issuing_from_an_empty_pool_is_refused_with_a_reason(office: Office) -> None:
    kind = await kind_of(office)
    await office.put("CouponCodeConfigurations", coupon_type_id=kind, length=1, alphabet="01")
    for _ in range(2):
        await office.issue(kind)
    with pytest.raises(Conflict) as caught:
        await office.issue(kind)
    assert caught.value.code == "CODES_EXHAUSTED"
    assert len(await office.rows("CouponCodes")) == len(await office.rows("RedemptionLogs")) == 2


async def test_sixty_four_at_once_get_sixty_four_codes(office: Office) -> None:
    kind = await kind_of(office)
    await office.generate(kind, 40)
    coupons = await asyncio.gather(*(office.issue(kind, f"C-{number}") for number in range(64)))
    assert len({coupon.id for coupon in coupons}) == len({coupon.code for coupon in coupons}) == 64
    owners = {row["ID"]: row["customerId"] for row in await office.rows("CouponCodes") if row["issuedAt"]}
    assert owners == {coupon.id: coupon.customer_id for coupon in coupons}
    assert not await office.rows("CouponCodes", issuedAt=None)
    assert len(await office.rows("RedemptionLogs")) == 64


async def test_a_type_switched_off_at_the_same_time_stays_off(office: Office) -> None:
    """Only requests before the deactivation get a coupon."""
    kind = await kind_of(office)
    steps = [*(office.issue(kind) for _ in range(10)), office.move("CouponTypes", kind, "deactivate")]
    answers = await asyncio.gather(*steps, return_exceptions=True)
    refused = [one for one in answers if isinstance(one, BaseException)]
    assert {getattr(one, "code", one) for one in refused} <= {"COUPON_TYPE_INACTIVE"}
    assert len(await office.rows("CouponCodes")) == 10 - len(refused)
    with pytest.raises(Conflict):
        await office.issue(kind)

"""Every operation on a code in every possible state, and at every deciding instant."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from promenade.store.coupons.clock import ExpiredItem, end_reservations
from promenade.store.coupons.reservations import Coupon, find_coupon
from promenade.workflows.coupons import reserving
from promenade.workflows.coupons.edges import write_log
from tests.workflows.coupons.tills.till import Till
from tests.workflows.shop import NOON, Shop, identity, open_shop

MINUTE, MICROSECOND = timedelta(minutes=1), timedelta(microseconds=1)
SOON = NOON + 5 * MINUTE
REF = str(uuid.UUID(int=77))


def _held(transaction: str, until: datetime = SOON, **more: Any) -> dict[str, Any]:
    held = {"reserved_by_transaction_id": transaction, "reserved_until": until, "reservation_ref": REF}
    return {"status": "RESERVED", **held, **more}


# The state of the code, and the answer to T1 for each operation; None means success.
STATES: dict[str, tuple[dict[str, Any], tuple[str | None, ...]]] = {
    #                                          validate, reserve, redeem, cancel, activate
    "pool": ({"status": "ACTIVE"}, (None, None, "RESERVATION_NOT_FOUND", "RESERVATION_NOT_FOUND", "ALREADY_ACTIVE")),
    "created": (
        {"status": "CREATED"},
        ("NOT_ACTIVE", "NOT_ACTIVE", "RESERVATION_NOT_FOUND", "RESERVATION_NOT_FOUND", None),
    ),
    "held": (_held("T1"), ("RESERVED_ELSEWHERE", None, None, None, "ALREADY_ACTIVE")),
    "held elsewhere": (
        _held("T9"),
        ("RESERVED_ELSEWHERE", "RESERVED_ELSEWHERE", "WRONG_TRANSACTION", None, "ALREADY_ACTIVE"),
    ),
    "run out": (
        _held("T1", NOON),
        (None, None, "RESERVATION_EXPIRED", "RESERVATION_EXPIRED", "ALREADY_ACTIVE"),
    ),
    "run out elsewhere": (
        _held("T9", NOON),
        (None, None, "WRONG_TRANSACTION", "RESERVATION_EXPIRED", "ALREADY_ACTIVE"),
    ),
    "run out and swept": (
        _held("T1", NOON, status="ACTIVE"),
        (None, None, "RESERVATION_EXPIRED", "RESERVATION_EXPIRED", "ALREADY_ACTIVE"),
    ),
    "confirmed": (
        _held("T1", redeemed_transaction_id="T1"),
        ("ALREADY_REDEEMED", "REDEEMED_BEFORE", "REDEEMED_BEFORE", "REDEEMED_BEFORE", "ALREADY_REDEEMED"),
    ),
    "redeemed": (
        _held("T1", status="REDEEMED", redeemed_transaction_id="T1"),
        ("ALREADY_REDEEMED", "REDEEMED_BEFORE", "REDEEMED_BEFORE", "REDEEMED_BEFORE", "ALREADY_REDEEMED"),
    ),
    "redeemed elsewhere": (
        _held("T9", status="REDEEMED", redeemed_transaction_id="T9"),
        ("ALREADY_REDEEMED", "ALREADY_REDEEMED", "WRONG_TRANSACTION", "REDEEMED_BEFORE", "ALREADY_REDEEMED"),
    ),
    "expired": (
        {"status": "EXPIRED"},
        ("EXPIRED", "EXPIRED", "RESERVATION_NOT_FOUND", "RESERVATION_NOT_FOUND", "EXPIRED"),
    ),
    "cancelled": (
        {"status": "CANCELLED"},
        ("NOT_ACTIVE", "NOT_ACTIVE", "RESERVATION_NOT_FOUND", "RESERVATION_NOT_FOUND", "NOT_ACTIVE"),
    ),
}
OPERATIONS: dict[str, Callable[[Till, str, str], Any]] = {
    "validate": lambda till, code, ref: till.validate(code),
    "reserve": lambda till, code, ref: till.reserve(code, "T1"),
    "redeem": lambda till, code, ref: till.redeem(ref, "T1"),
    "cancel": lambda till, code, ref: till.cancel(ref),
    "activate": lambda till, code, ref: till.activate(code),
}
LEADS_TO = {"reserve": "RESERVED", "redeem": "REDEEMED", "cancel": "ACTIVE", "activate": "ACTIVE"}
LOGGED = {"reserve": "RESERVED", "redeem": "REDEEMED", "cancel": "CANCELLED", "activate": "ACTIVATED"}


@pytest.mark.parametrize("state", STATES)
async def test_every_operation_on_a_code_in_this_state(shop: Shop, till: Till, state: str) -> None:
    columns, expected = STATES[state]
    for (operation, call), reason in zip(OPERATIONS.items(), expected, strict=True):
        ref = str(uuid.uuid4())
        own = {**columns, **({"reservation_ref": ref} if "reservation_ref" in columns else {})}
        await shop.coupon(operation, "save", **own)
        before = await shop.row("CouponCodes", operation)
        answer = await call(till, operation, ref)
        after = await shop.row("CouponCodes", operation)
        logged = [row.action for row in await shop.rows("RedemptionLogs", coupon_code_id=identity(operation))]
        assert answer.reason == reason, operation
        is_repeat = (state, operation) == ("held", "reserve")
        if reason is not None or operation == "validate" or is_repeat:
            assert (tuple(after), logged) == (tuple(before), []), operation
        else:
            assert after.status == LEADS_TO[operation], operation
            assert after.version == before.version + 1
            assert LOGGED[operation] in logged


async def test_a_repeated_reserve_returns_the_existing_reservation(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    first = await till.reserve("SAVE-1", "T1")
    shop.later(minutes=5)
    assert await till.reserve("SAVE-1", "T1") == first
    assert first.expires_at == NOON + 15 * MINUTE
    await till.cancel(first.reservation_id or "")
    second = await till.reserve("SAVE-1", "T1")
    assert second.reservation_id not in {None, first.reservation_id}
    assert second.expires_at == NOON + 20 * MINUTE
    assert (await till.redeem(first.reservation_id or "", "T1")).reason == "RESERVATION_NOT_FOUND"
    assert (await till.redeem(second.reservation_id or "", "T1")).reason is None
    assert await till.log() == [("CANCELLED", "T1"), ("REDEEMED", "T1"), ("RESERVED", "T1"), ("RESERVED", "T1")]


async def test_a_repeated_redemption_is_logged_once(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save", customer_id="C1")
    held = await till.held("SAVE-1", "T1")
    assert [(await till.redeem(held, "T1")).reason for _ in range(3)] == [None, *["REDEEMED_BEFORE"] * 2]
    code = await shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redeemed_transaction_id, code.redeemed_at) == ("REDEEMED", "T1", NOON)
    assert (code.redemption_count, code.reservation_ref) == (1, held)
    (claim,) = await shop.rows("coupon_claims")
    assert (claim.transaction_id, claim.transaction_counter, claim.promotion_id) == ("T1", None, None)
    assert (claim.customer_id, claim.redeemed_at) == ("C1", NOON)
    assert await till.uses() == {"": 1, "C1": 1}
    (event,) = await shop.rows("outbox_events")
    assert event.kind == "COUPON_REDEEMED"
    assert b'"transactionId":"T1"' in event.payload
    assert await till.log() == [("REDEEMED", "T1"), ("RESERVED", "T1")]


# ---- instants -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_shared", [False, True], ids=["its own code", "a shared code"])
async def test_a_reservation_ends_at_its_very_instant(shop: Shop, till: Till, is_shared: bool) -> None:
    if is_shared:
        await shop.coupon_type("shared", code_type="GENERIC", generic_code="SAVE-1", max_redemptions=1)
    else:
        await shop.coupon("SAVE-1", "save")
    first = await till.held("SAVE-1", "T1")
    shop.now[0] = NOON + 15 * MINUTE - MICROSECOND
    taken = "USAGE_LIMIT_REACHED" if is_shared else "RESERVED_ELSEWHERE"
    assert (await till.reserve("SAVE-1", "T2")).reason == taken
    shop.now[0] += MICROSECOND
    assert (await till.redeem(first, "T1")).reason == "RESERVATION_EXPIRED"
    assert (await till.cancel(first)).reason == "RESERVATION_EXPIRED"
    second = await till.held("SAVE-1", "T2")
    assert (await till.redeem(first, "T1")).reason in {"RESERVATION_EXPIRED", "RESERVATION_NOT_FOUND"}
    shop.now[0] += 15 * MINUTE - MICROSECOND
    assert (await till.redeem(second, "T2")).reason is None


async def test_a_reservation_that_ran_out_unswept_is_logged_when_another_takes_its_place(
    shop: Shop, till: Till
) -> None:
    await shop.coupon("SAVE-1", "save")
    await till.held("SAVE-1", "T1")
    shop.later(minutes=16)
    await till.held("SAVE-1", "T2")
    assert await till.log() == [("CANCELLED", "T1"), ("RESERVED", "T1"), ("RESERVED", "T2")]


async def test_a_reservation_that_is_swept_in_between_is_logged_once(
    shop: Shop, till: Till, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.coupon("SAVE-1", "save")
    await till.held("SAVE-1", "T1")
    shop.later(minutes=16)
    swept: list[ExpiredItem] = []

    async def find_and_sweep(look: Any, *asked: Any, **more: Any) -> Coupon | None:
        """Sweep after the code was read, in the same session."""
        found = await find_coupon(look, *asked, **more)
        if not swept:
            swept.extend(await end_reservations(look.__self__, shop.now[0], 1))
            log_id, logged = str(uuid.uuid4()), {"coupon_id": swept[0].coupon_id, "transaction_id": "T1"}
            kind = swept[0].coupon_type_id
            await write_log(look.__self__, log_id, action="CANCELLED", coupon_type_id=kind, at=shop.now[0], **logged)
        return found

    monkeypatch.setattr(reserving, "find_coupon", find_and_sweep)
    await till.held("SAVE-1", "T2")
    assert await till.log() == [("CANCELLED", "T1"), ("RESERVED", "T1"), ("RESERVED", "T2")]


@pytest.mark.parametrize("where", ["code", "type"])
async def test_nothing_is_reserved_or_redeemed_outside_of_its_validity(shop: Shop, till: Till, where: str) -> None:
    begins, ends = NOON + MINUTE, NOON + 3 * MINUTE + timedelta(microseconds=1500)
    of_type = {"valid_from": begins, "valid_to": ends} if where == "type" else {}
    await shop.coupon_type("brief", **of_type)
    await shop.coupon("SAVE-1", "brief", **({} if of_type else {"valid_from": begins, "valid_until": ends}))
    assert (await till.reserve("SAVE-1", "T1")).reason == "NOT_ACTIVE"
    shop.now[0] = begins
    made = await till.reserve("SAVE-1", "T1")
    # Not later than the coupon's own end, and in milliseconds, as in the answers to tills.
    assert made.expires_at == NOON + 3 * MINUTE + timedelta(milliseconds=1)
    validated = await till.validate("SAVE-1")
    assert (validated.reason, validated.valid_until) == ("RESERVED_ELSEWHERE", ends)
    shop.now[0] = ends
    assert (await till.redeem(made.reservation_id or "", "T1")).reason == "RESERVATION_EXPIRED"
    assert (await till.reserve("SAVE-1", "T1")).reason == "EXPIRED"
    assert (await till.validate("SAVE-1")).reason == "EXPIRED"
    assert (await till.activate("SAVE-1")).reason == "EXPIRED"
    assert (await shop.row("CouponCodes", "SAVE-1")).redemption_count == 0


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"status": "INACTIVE"}, "NOT_ACTIVE"),
        ({"valid_to": NOON}, "EXPIRED"),
        ({"valid_from": NOON + MINUTE}, "NOT_ACTIVE"),
        ({"max_redemptions": 0}, "USAGE_LIMIT_REACHED"),
    ],
)
async def test_changes_after_a_reservation_apply_to_its_redemption(
    shop: Shop, till: Till, columns: dict[str, Any], reason: str
) -> None:
    await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    await shop.change("CouponTypes", "save", **columns)
    assert (await till.redeem(held, "T1")).reason == reason
    assert (await shop.row("CouponCodes", "SAVE-1")).status == "RESERVED"
    assert await till.uses() == {}
    assert (await till.cancel(held)).reason is None


async def test_a_validity_that_is_cut_short_ends_a_reservation(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    await shop.change("CouponCodes", "SAVE-1", valid_until=NOON)
    assert (await till.redeem(held, "T1")).reason == "EXPIRED"


async def test_clocks_that_jump_redeem_nothing_twice(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    shop.later(hours=-1)  # the answer stays true: the till holds the code until that moment
    assert (await till.reserve("SAVE-1", "T2")).reason == "RESERVED_ELSEWHERE"
    assert (await till.reserve("SAVE-1", "T1")).reservation_id == held
    assert (await till.redeem(held, "T1")).reason is None
    for hours in (2, -2, 1):
        shop.later(hours=hours)
        assert (await till.redeem(held, "T1")).reason == "REDEEMED_BEFORE"
        assert (await till.reserve("SAVE-1", "T2")).reason == "ALREADY_REDEEMED"
        assert (await till.cancel(held)).reason == "REDEEMED_BEFORE"
    await shop.coupon("SAVE-2", "save")
    held = await till.held("SAVE-2", "T1")
    shop.later(hours=1)
    other = await till.held("SAVE-2", "T2")
    shop.later(hours=-1)
    assert (await till.redeem(held, "T1")).reason == "RESERVATION_NOT_FOUND"
    assert (await till.redeem(other, "T2")).reason is None


# ---- customers, tenants, types ------------------------------------------------------------------------------------


async def test_a_code_of_a_customer_is_for_that_customer(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save", customer_id="C1")
    assert (await till.validate("SAVE-1", "C2")).reason == "WRONG_CUSTOMER"
    assert (await till.reserve("SAVE-1", "T1", "C2")).reason == "WRONG_CUSTOMER"
    for customer in ("C1", None):
        assert (await till.validate("SAVE-1", customer)).reason is None
    assert (await till.reserve("SAVE-1", "T1")).reason is None


async def test_each_customer_redeems_as_often_as_the_type_says(shop: Shop, till: Till) -> None:
    await shop.coupon_type("twice", max_redemptions_per_customer=2)
    for number in range(4):
        await shop.coupon(f"SAVE-{number}", "twice")
    held = [await till.held(f"SAVE-{number}", f"T{number}", "C1") for number in range(3)]
    reasons = [(await till.redeem(one, f"T{number}")).reason for number, one in enumerate(held)]
    assert reasons == [None, None, "USAGE_LIMIT_REACHED"]
    assert (await till.validate("SAVE-3", "C1")).reason == "USAGE_LIMIT_REACHED"
    assert (await till.reserve("SAVE-3", "T3", "C1")).reason == "USAGE_LIMIT_REACHED"
    assert (await till.reserve("SAVE-3", "T3", "C2")).reason is None


async def test_another_tenant_sees_neither_the_code_nor_its_reservation(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    neighbour = await open_shop(shop.context.database, "tenant-b")
    theirs = Till(neighbour)
    assert (await theirs.validate("SAVE-1")).reason == "UNKNOWN_CODE"
    assert (await theirs.reserve("SAVE-1", "T1")).reason == "UNKNOWN_CODE"
    assert (await theirs.activate("SAVE-1")).reason == "UNKNOWN_CODE"
    assert (await theirs.redeem(held, "T1")).reason == "RESERVATION_NOT_FOUND"
    assert (await theirs.cancel(held)).reason == "RESERVATION_NOT_FOUND"
    assert (await till.redeem(held, "T1")).reason is None


async def test_validating_a_code_names_a_running_promotion(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    assert (await till.validate("SAVE-1")).promotion_id is None
    for name in ("saver", "off"):
        await shop.put("CouponTypePromotions", coupon_type_id=identity("save"), promotion_id=identity(name))
    assert (await till.validate("SAVE-1")).promotion_id == identity("off")
    await shop.change("Promotions", "off", valid_to=NOON)
    assert (await till.validate("SAVE-1")).promotion_id == identity("saver")
    await shop.change("Promotions", "saver", status="INACTIVE")
    validated = await till.validate("SAVE-1")
    assert (validated.reason, validated.promotion_id) == (None, None)


async def test_the_longest_configurable_reservation_works(shop: Shop, till: Till) -> None:
    await shop.coupon_type("long", reservation_minutes=2**31 - 1)
    await shop.coupon("SAVE-1", "long")
    assert (await till.redeem(await till.held("SAVE-1", "T1"), "T1")).reason is None

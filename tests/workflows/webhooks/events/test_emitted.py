"""Each kind of event is emitted once, with the right data, if and only if its cause is committed (reliability W1).

Covers events of sales, coupons and budgets; those of authors and the clockwork on promotions, campaigns and budgets, of
jobs and of deliveries are tested with their subjects.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete

from promenade.store.driver.schema import table
from promenade.workflows.clockwork.coupons import expire
from promenade.workflows.sales.side_effects import claim_jobs, run_side_effects
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.promotions.lifecycle.acting import Office
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import NOON, Shop, identity
from tests.workflows.webhooks.events.undone import Undone, undone

CODES = ("SAVE-SECRET", "SHARED-SECRET", "POOL-SECRET")
ENDS = NOON + timedelta(days=3)


@dataclass(frozen=True)
class Cause:
    """The cause of events, and the expected events by kind.

    ``prepare`` returns the argument of ``happens``; ``again`` repeats the cause, which must emit nothing else.
    """

    prepare: Callable[[Shop], Awaitable[Any]]
    happens: Callable[[Shop, Any], Awaitable[None]]
    told: Mapping[str, Sequence[Mapping[str, Any]]]
    again: bool = True


# ---- sales ----------------------------------------------------------------------------------------------------------


async def price_a_sale(shop: Shop) -> int:
    return await shop.price("T1", PRICED, customer_id="C1")


async def confirm_a_sale(shop: Shop, counter: int) -> None:
    await shop.confirm("T1", counter, "off", receipt_id="R-77")


async def price_a_return(shop: Shop) -> int:
    await confirm_a_sale(shop, await price_a_sale(shop))
    await forget(shop)
    back = outcome((line("9", -1000, -400), line("1", 1000, 250)), ())
    return await shop.price("R1", back, sales={"9": ("T1", "1")}, customer_id="C2")


async def confirm_a_return(shop: Shop, counter: int) -> None:
    await shop.confirm("R1", counter)


async def price_with_little_left(shop: Shop) -> int:
    await shop.change("Budgets", "marketing", total_amount=Decimal("1.50"))
    await shop.put("BudgetNotifications", budget_id=identity("marketing"), threshold_percentage=Decimal("66.50"))
    return await price_a_sale(shop)


CONFIRMED = {
    "transactionId": "T1",
    "transactionCounter": 1,
    "posGroupId": identity("shop"),
    "subtotal": Decimal("10.00"),
    "discount": Decimal("2.00"),
    "grandTotal": Decimal("8.00"),
    "currency": "EUR",
    "promotionIds": [identity("off"), identity("stamps")],
    "customerId": "C1",
    "receiptId": "R-77",
}
SALE = Cause(price_a_sale, confirm_a_sale, {"TRANSACTION_CONFIRMED": [CONFIRMED]})
RETURN = Cause(
    price_a_return,
    confirm_a_return,
    {
        "TRANSACTION_CONFIRMED": [
            CONFIRMED
            | {"transactionId": "R1", "subtotal": Decimal("-1.50"), "discount": 0, "grandTotal": Decimal("-1.50")}
            | {"promotionIds": [], "customerId": "C2", "receiptId": None}
        ],
        "TRANSACTION_RETURNED": [
            {
                "transactionId": "R1",
                "transactionCounter": 1,
                "returnSubtotal": Decimal("-4.00"),
                "currency": "EUR",
                "originalTransactionIds": ["T1"],
                "pointsReturned": 10,
                "budgetReturned": Decimal("1.00"),
                "customerId": "C2",
            }
        ],
    },
)
SPENT = {
    "budgetId": identity("marketing"),
    "budgetName": "marketing",
    "totalAmount": Decimal("1.50"),
    "consumedAmount": Decimal("1.50"),
    "currency": "EUR",
}
LAST_SALE = Cause(
    price_with_little_left,
    confirm_a_sale,
    {
        "TRANSACTION_CONFIRMED": [CONFIRMED],
        "BUDGET_THRESHOLD_REACHED": [SPENT | {"thresholdPercentage": Decimal("66.50")}],
        "BUDGET_EXHAUSTED": [SPENT],
    },
)


# ---- what follows a sale ---------------------------------------------------------------------------------------------


async def a_job(shop: Shop) -> Any:
    """Prepare a job of a sale with a coupon and a shared code, which gives points and a coupon."""
    await shop.coupon_type("save")
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="SHARED-SECRET")
    await shop.coupon_type("next-time", validity_days=3)
    own = await shop.coupon("SAVE-SECRET", "save")
    await shop.coupon("POOL-SECRET", "next-time")
    priced = outcome(
        (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-SECRET")),),
        (
            applied("saver", 100, coupon_code="SAVE-SECRET", points=4),
            applied("stamps", coupon_type_ids=("next-time", "shared")),
        ),
        base_points=3,
    )
    counter = await shop.price("T1", priced, coupons=[own], customer_id="C1")
    await shop.confirm("T1", counter, "saver")
    await forget(shop)
    (job,) = await claim_jobs(shop.context, 10)
    return job


async def carry_out(shop: Shop, job: Any) -> None:
    await run_side_effects(shop.context, job, secrets.choice)


async def carry_out_after_all(shop: Shop, job: Any) -> None:
    """Run the job on a worker that was believed dead: another one has claimed it."""
    stale = replace(job, lease_owner="another")
    assert not await run_side_effects(shop.context, stale, secrets.choice)


ISSUED = {
    "issuanceChannel": "POST_PURCHASE",
    "customerId": "C1",
    "promotionId": identity("stamps"),
    "transactionId": "T1",
}
FOLLOWING = Cause(
    a_job,
    carry_out,
    {
        "COUPON_REDEEMED": [
            {
                "couponId": identity("SAVE-SECRET"),
                "couponTypeId": identity("save"),
                "transactionId": "T1",
                "transactionCounter": 1,
                "promotionId": identity("saver"),
                "customerId": "C1",
            }
        ],
        "LOYALTY_POINTS_AWARDED": [
            {"customerId": "C1", "transactionId": "T1", "transactionCounter": 1, "points": 7, "balanceAfter": 7}
        ],
        "COUPON_ISSUED": [
            ISSUED
            | {
                "couponId": identity("POOL-SECRET"),
                "couponTypeId": identity("next-time"),
                "validUntil": "2026-03-05T12:00:00Z",
            },
            ISSUED | {"couponId": None, "couponTypeId": identity("shared"), "validUntil": None},
        ],
    },
)


# ---- coupons ---------------------------------------------------------------------------------------------------------


async def a_coupon_type(shop: Shop) -> str:
    await shop.coupon_type("gift", valid_to=ENDS)
    return identity("gift")


async def issue_by_hand(shop: Shop, kind: str) -> None:
    await Office(shop.context.database).issue(kind, "C9")


async def order_a_batch(shop: Shop, kind: str) -> None:
    await Office(shop.context.database).generate(kind, 5)


async def a_coupon_type_with_one_code(shop: Shop) -> str:
    await shop.coupon_type("gift")
    await shop.put("CouponCodeConfigurations", coupon_type_id=identity("gift"), length=1, alphabet="A")
    return identity("gift")


async def coupons_that_end(shop: Shop) -> None:
    """Prepare two expiring coupons: one with a customer, one without."""
    await shop.coupon_type("gift")
    await shop.coupon("SAVE-SECRET", "gift", customer_id="C1", issued_at=NOON, valid_until=ENDS)
    await shop.coupon("POOL-SECRET", "gift", valid_until=ENDS)
    shop.later(days=3)


async def sweep(shop: Shop, _: None) -> None:
    ran = await expire(shop.context, None)
    if ran.trouble is not None:  # one tenant's failure is reported to operators and does not stop other tenants
        raise Undone


BY_HAND = Cause(
    a_coupon_type,
    issue_by_hand,
    {
        "COUPON_ISSUED": [
            {
                "couponTypeId": identity("gift"),
                "issuanceChannel": "MANUAL",
                "customerId": "C9",
                "promotionId": None,
                "transactionId": None,
                "validUntil": "2026-03-05T12:00:00Z",
            }
        ]
    },
    again=False,
)
BATCH = {"couponTypeId": identity("gift")}
A_BATCH = Cause(
    a_coupon_type,
    order_a_batch,
    {"COUPON_BATCH_COMPLETED": [BATCH | {"quantity": 5, "generatedCount": 5}]},
    again=False,
)
A_BATCH_IN_VAIN = Cause(
    a_coupon_type_with_one_code,
    order_a_batch,
    {
        "COUPON_BATCH_FAILED": [
            BATCH
            | {
                "quantity": 5,
                "generatedCount": 0,
                "message": "The code configuration of the coupon type gift gives too few codes: the free ones have run"
                " out.",
            }
        ]
    },
    again=False,
)
THE_END = Cause(
    coupons_that_end,
    sweep,
    {
        "COUPON_EXPIRED": [
            {
                "couponId": identity("SAVE-SECRET"),
                "couponTypeId": identity("gift"),
                "validUntil": "2026-03-05T12:00:00Z",
                "customerId": "C1",
            }
        ]
    },
)
CAUSES = {
    "sale": SALE,
    "return": RETURN,
    "last sale": LAST_SALE,
    "worker": FOLLOWING,
    "issued by hand": BY_HAND,
    "batch": A_BATCH,
    "batch in vain": A_BATCH_IN_VAIN,
    "end": THE_END,
}
MADE_UP = ("batchId", "couponId")  # IDs that differ in every run, if a cause does not give them


async def forget(shop: Shop) -> None:
    """Empty the outbox."""
    statement = delete(table("outbox_events"))
    await shop.context.database.write(lambda session: session.rowcount(statement), tenant=shop.tenant)


async def told(shop: Shop) -> list[dict[str, Any]]:
    """Return the bodies in the outbox, with exact amounts."""
    decoder = msgspec.json.Decoder(float_hook=Decimal)
    rows = await shop.rows("outbox_events")
    bodies = [decoder.decode(row.payload) for row in rows]
    assert [row.kind for row in rows] == [body["type"] for body in bodies]
    return bodies


def by_kind(bodies: Sequence[Mapping[str, Any]], cause: Cause) -> dict[str, list[Mapping[str, Any]]]:
    """Return the events in the form of ``cause``: without IDs that it does not give."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for body in bodies:
        said = {name for one in cause.told.get(body["type"], ()) for name in one}
        data = {name: value for name, value in body["data"].items() if name not in MADE_UP or name in said}
        found.setdefault(body["type"], []).append(data)
    return {kind: sorted(all_of_it, key=_order) for kind, all_of_it in found.items()}


def _order(data: Mapping[str, Any]) -> str:
    return str(sorted((name, str(value)) for name, value in data.items()))


@pytest.mark.parametrize("name", CAUSES)
async def test_committed_changes_send_one_event_and_rolled_back_ones_none(shop: Shop, name: str) -> None:
    cause = CAUSES[name]
    given = await cause.prepare(shop)
    assert await told(shop) == []
    with pytest.raises(Undone):
        await cause.happens(undone(shop), given)
    assert await told(shop) == []
    await cause.happens(shop, given)
    bodies = await told(shop)
    assert by_kind(bodies, cause) == {kind: sorted(each, key=_order) for kind, each in cause.told.items()}
    for body in bodies:
        assert set(body) == {"type", "timestamp", "minorVersion", "tenantId", "data"}
        assert (body["minorVersion"], body["tenantId"]) == (13, shop.tenant)
        assert body["timestamp"] == shop.now[0].isoformat().replace("+00:00", "Z")
        codes = {*CODES, *(row.code for row in await shop.rows("CouponCodes"))} - {"A"}
        assert not [code for code in codes if code in str(body)], "no event carries a code"
    if cause.again:
        await cause.happens(shop, given)
        assert await told(shop) == bodies


async def test_a_worker_that_lost_its_lease_sends_no_event(shop: Shop) -> None:
    job = await a_job(shop)
    await carry_out_after_all(shop, job)
    assert await told(shop) == []
    await carry_out(shop, job)
    before = await told(shop)
    assert before
    assert not await run_side_effects(shop.context, job, secrets.choice)
    assert await told(shop) == before

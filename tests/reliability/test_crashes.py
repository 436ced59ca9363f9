"""T4 and T5 when processes die: atomic commits, and effects that happen once (reliability.md, Transactions)."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

from tests.reliability.crashing import opened
from tests.reliability.load import budget_state
from tests.workflows.shop import Shop, identity

STATEMENTS_MIN = 12  # a confirm with fewer writes has lost a part


def die_at_every_statement(verb: str, url: str) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.crashing", verb, url],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return int(done.stdout)


async def test_t4_a_confirm_that_dies_before_any_statement_leaves_nothing(database_url: str) -> None:
    died = die_at_every_statement("confirm", database_url)
    assert died >= STATEMENTS_MIN
    survivor = died + 1
    async with opened(database_url) as shop:
        tables = (
            "confirmations", "CalculationLogs", "BudgetConsumptions", "coupon_claims", "side_effect_jobs"
        )  # fmt: skip
        for name in tables:
            found = {row.transaction_id for row in await shop.rows(name) if row.transaction_id.startswith("T")}
            assert found == {f"T{survivor}"}, name
        for number in range(1, survivor + 1):
            code = await shop.row("CouponCodes", f"SAVE-{number}")
            assert (code.status, code.redeemed_transaction_id) == (
                ("RESERVED", f"T{survivor}") if number == survivor else ("ACTIVE", None)
            )
        events = [row.payload.decode() for row in await shop.rows("outbox_events")]
        assert {f"T{number}" for number in range(1, survivor + 1) if any(f'"T{number}"' in one for one in events)} == {
            f"T{survivor}"
        }
        for name in ("marketing", "supplier"):
            (await budget_state(shop, name)).check()
        # All sales S took 2.00; T returned half of its own and took 1.00 for itself.
        assert (await budget_state(shop, "marketing")).consumed == 2 * survivor
        assert (await budget_state(shop, "supplier")).consumed == Decimal("1.50")
        # A sale whose process died is confirmed by its retry, as if nothing had happened.
        for number in range(1, survivor):
            await shop.confirm(f"T{number}", 1, "off", "coupon-off")
        assert (await budget_state(shop, "supplier")).consumed == Decimal("1.50") * survivor


async def test_t5_side_effects_that_die_before_any_statement_happen_once(database_url: str) -> None:
    died = die_at_every_statement("effects", database_url)
    assert died >= STATEMENTS_MIN
    async with opened(database_url) as shop:
        left = [row for row in await shop.rows("side_effect_jobs") if row.status == "RUNNING"]
        assert {f"T{number}" for number in range(1, died + 1)} <= {row.transaction_id for row in left}
        await shop.work()
        still = [row for row in await shop.rows("side_effect_jobs") if row.status == "RUNNING"]
        assert len(still) == len(left)  # their leases are still valid
        shop.later(minutes=2)
        await shop.work()
        await each_effect_once(shop, died + 1)


async def each_effect_once(shop: Shop, sales: int) -> None:
    """Every job of S1.. and T1.. is COMPLETED with each of its local effects once."""
    jobs = await shop.rows("side_effect_jobs")
    assert {row.status for row in jobs} == {"COMPLETED"}
    assert len(jobs) == 2 * sales
    points = [(row.transaction_id, row.promotion_id, row.points) for row in await shop.rows("LoyaltyTransactions")]
    expected = []
    for number in range(1, sales + 1):
        expected += [
            (f"S{number}", identity("off"), 8),
            (f"T{number}", identity("off"), 3),
            (f"T{number}", identity("stamps"), 4),
            (f"T{number}", None, -4),
        ]
    assert sorted(points, key=str) == sorted(expected, key=str)
    balances = {row.customer_id: row.points for row in await shop.rows("loyalty_balances")}
    assert balances == {f"C{number}": 11 for number in range(1, sales + 1)}
    issued = [row.issuing_transaction_id for row in await shop.rows("CouponCodes") if row.issuing_transaction_id]
    assert sorted(issued) == sorted(f"T{number}" for number in range(1, sales + 1))
    logs = [(row.transaction_id, row.action) for row in await shop.rows("RedemptionLogs")]
    assert sorted(logs) == sorted(
        (f"T{number}", action) for number in range(1, sales + 1) for action in ("ISSUED", "REDEEMED")
    )
    for number in range(1, sales + 1):
        assert (await shop.row("CouponCodes", f"SAVE-{number}")).status == "REDEEMED"
    kinds = [row.kind for row in await shop.rows("outbox_events")]
    assert kinds.count("COUPON_ISSUED") == kinds.count("COUPON_REDEEMED") == sales

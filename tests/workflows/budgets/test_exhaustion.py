"""Every way in which a budget can be exhausted, with one event each time (reliability B3; data model, State
machines).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.errors import Conflict
from promenade.model.declare import Service
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from tests.workflows.authoring.desk import NOON
from tests.workflows.budgets.office import Office, spending
from tests.workflows.shop import identity


async def by_a_sale(office: Office) -> None:
    await office.sell(400, "it")


async def by_a_sale_that_wants_more(office: Office) -> None:
    await office.sell(900, "it")


async def by_a_lower_total(office: Office) -> None:
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(6))


async def by_the_only_contribution_deleted(office: Office) -> None:
    paid = await office.recharge("it", "5")
    await office.sell(400, "it")
    assert await office.status("it") == "ACTIVE"
    await office.desk.remove("RechargeContributions", paid)


async def by_a_contribution_lowered(office: Office) -> None:
    paid = await office.recharge("it", "5")
    await office.sell(800, "it")
    await office.desk.update("RechargeContributions", paid, amount=Decimal(4))


async def by_a_contribution_that_goes_to_another(office: Office) -> None:
    await office.shop.budget("other", "1")
    paid = await office.recharge("it", "5")
    await office.sell(400, "it")
    await office.desk.update("RechargeContributions", paid, budget_ID=identity("other"))


WAYS = (
    by_a_sale,
    by_a_sale_that_wants_more,
    by_a_lower_total,
    by_the_only_contribution_deleted,
    by_a_contribution_lowered,
    by_a_contribution_that_goes_to_another,
)
Way = Callable[[Office], Awaitable[None]]


@pytest.mark.parametrize("way", WAYS)
async def test_a_budget_that_runs_out_is_exhausted_with_one_event(office: Office, way: Way) -> None:
    await office.shop.budget("it", "10", consumed_amount=Decimal(6))
    version = (await office.budget("it")).version
    await way(office)
    row = await office.budget("it")
    assert (row.status, row.total_amount - row.consumed_amount) == ("EXHAUSTED", 0)
    assert row.version > version
    (said,) = await office.told("BUDGET_EXHAUSTED")
    assert said == {
        "budgetId": identity("it"),
        "budgetName": "it",
        "totalAmount": row.total_amount,
        "consumedAmount": row.consumed_amount,
        "currency": "EUR",
    }
    assert [note for _, _, note in await office.trail("it")] == ["status: ACTIVE -> EXHAUSTED"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_recharged_budget_runs_again_and_may_run_out_again(office: Office, way: Way) -> None:
    await office.shop.budget("it", "10", consumed_amount=Decimal(6))
    await way(office)
    for turn in (2, 3):
        office.shop.later(minutes=1)
        office.desk.now = office.shop.now[0]
        await office.recharge("it", "1.50")
        assert await office.status("it") == "ACTIVE"
        await office.sell(100, "it")
        assert await office.status("it") == "ACTIVE"
        await office.sell(100, "it")
        assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", turn)
    actions = [(actor, action) for actor, action, _ in await office.trail("it")]
    assert actions.count(("ann", "RECHARGE")) == 2
    assert actions.count(("system", "EXHAUST")) >= 2


async def test_activating_a_budget_with_nothing_left_exhausts_it(office: Office) -> None:
    """By the verb, by writing the status, and by creating it so; a recharge reactivates each of them."""
    for name in ("verb", "patch"):
        await office.shop.budget(name, "0", status="DRAFT")
    await office.desk.transition("Budgets", identity("verb"), "activate")
    await office.desk.update("Budgets", identity("patch"), status="ACTIVE")
    await office.desk.create(
        "Budgets", ID=identity("new"), code="new", name="new", status="ACTIVE", totalAmount=Decimal(0), currency="EUR"
    )
    for name in ("verb", "patch", "new"):
        assert (await office.status(name), await office.exhausted(name)) == ("EXHAUSTED", 1)
    assert await office.trail("verb") == [("ann", "ACTIVATE", "status: DRAFT -> EXHAUSTED")]
    for name in ("verb", "patch", "new"):
        await office.recharge(name, "0.01")
        assert (await office.status(name), await office.exhausted(name)) == ("ACTIVE", 1)


async def test_a_scheduled_budget_with_nothing_left_is_exhausted_when_it_begins(office: Office) -> None:
    begins = NOON + timedelta(hours=1)
    await office.shop.budget("it", "0", status="DRAFT", valid_from=begins)
    await office.desk.transition("Budgets", identity("it"), "activate")
    assert (await office.status("it"), await office.exhausted("it")) == ("SCHEDULED", 0)
    office.desk.now = begins
    await office.desk.transition("Budgets", identity("it"), "start")
    assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", 1)


async def test_a_scheduled_budget_is_spent_from_its_start_even_before_its_status_changes(office: Office) -> None:
    begins = NOON + timedelta(hours=1)
    for name in ("begun", "ahead"):
        await office.shop.budget(name, "1", status="SCHEDULED", valid_from=begins)
    await office.sell(100, "ahead")  # it was granted by an evaluation before its validity changed
    assert (await office.status("ahead"), await office.exhausted("ahead")) == ("SCHEDULED", 0)
    office.shop.later(hours=1)
    await office.sell(100, "begun")
    assert (await office.status("begun"), await office.exhausted("begun")) == ("EXHAUSTED", 1)


async def test_a_budget_that_does_not_run_is_not_exhausted(office: Office) -> None:
    """Its contributions still count: they were paid."""
    await office.shop.budget("it", "10", status="DRAFT")
    paid = await office.recharge("it", "5")
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(5))
    await office.desk.remove("RechargeContributions", paid)
    row = await office.budget("it")
    assert (row.status, row.total_amount) == ("DRAFT", 0)
    assert await office.told("BUDGET_EXHAUSTED") == []
    await office.recharge("it", "5")
    assert await office.status("it") == "DRAFT"


async def test_an_expired_budget_takes_no_money_until_its_validity_is_extended(office: Office) -> None:
    await office.shop.budget("it", "10", valid_to=NOON + timedelta(minutes=1))
    paid = await office.recharge("it", "5")
    await office.shop.change("Budgets", "it", status="EXPIRED", valid_to=NOON)
    for refused in (
        office.recharge("it", "5"),
        office.desk.update("RechargeContributions", paid, amount=Decimal(6)),
        office.desk.update("Budgets", identity("it"), totalAmount=Decimal(16)),
    ):
        with pytest.raises(Conflict) as caught:
            await refused
        assert caught.value.code == "BUDGET_EXPIRED"
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(12))
    await office.desk.remove("RechargeContributions", paid)  # less is possible
    assert (await office.status("it"), (await office.budget("it")).total_amount) == ("EXPIRED", 7)
    await office.desk.update("Budgets", identity("it"), validTo=NOON + timedelta(days=1))
    await office.recharge("it", "5")
    assert (await office.status("it"), (await office.budget("it")).total_amount) == ("ACTIVE", 12)
    assert ("ann", "EXTEND", "status: EXPIRED -> ACTIVE") in await office.trail("it")


@pytest.mark.parametrize(
    ("total", "change", "status"),
    [
        ("10", {"validTo": None}, "ACTIVE"),
        ("5", {"validTo": NOON + timedelta(days=1)}, "EXHAUSTED"),
        ("5", {"validTo": NOON + timedelta(days=1), "totalAmount": Decimal(6)}, "ACTIVE"),
        ("10", {"validFrom": NOON + timedelta(days=1), "validTo": NOON + timedelta(days=2)}, "SCHEDULED"),
        ("10", {"validTo": NOON}, "EXPIRED"),
        ("10", {"name": "Other"}, "EXPIRED"),
    ],
)
async def test_an_extended_budget_has_the_status_of_a_new_one(
    office: Office, total: str, change: dict[str, Any], status: str
) -> None:
    over = NOON - timedelta(minutes=1)
    await office.shop.budget("it", total, consumed_amount=Decimal(5), status="EXPIRED", valid_to=over)
    await office.desk.update("Budgets", identity("it"), **change)
    assert (await office.status("it"), await office.exhausted("it")) == (status, int(status == "EXHAUSTED"))


async def test_a_return_to_an_expired_budget_leaves_it_expired(office: Office) -> None:
    await office.shop.budget("it", "1")
    sale = await office.sell(100, "it")
    await office.shop.change("Budgets", "it", status="EXPIRED")
    await office.take_back(sale)
    row = await office.budget("it")
    assert (row.status, row.consumed_amount) == ("EXPIRED", 0)


async def test_an_even_exchange_does_not_change_the_status_of_a_budget(office: Office) -> None:
    await office.shop.budget("it", "1")
    sale = await office.sell(100, "it")
    await office.exchange(sale, 100, "it")
    row = await office.budget("it")
    assert (row.status, row.consumed_amount) == ("EXHAUSTED", 1)
    assert await office.exhausted("it") == 1
    assert len(await office.trail("it")) == 1


async def test_a_return_reactivates_an_exhausted_budget(office: Office) -> None:
    await office.shop.budget("it", "2")
    sale = await office.sell(100, "it", units=2)
    await office.take_back(sale)
    assert await office.status("it") == "ACTIVE"
    await office.sell(100, "it")
    assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", 2)
    assert sorted(await office.trail("it")) == [
        ("system", "EXHAUST", "status: ACTIVE -> EXHAUSTED"),
        ("system", "EXHAUST", "status: ACTIVE -> EXHAUSTED"),
        ("system", "RECHARGE", "status: EXHAUSTED -> ACTIVE"),
    ]


async def test_only_the_final_state_of_a_unit_sends_an_event(office: Office) -> None:
    await office.shop.budget("it", "10", consumed_amount=Decimal(6))

    async def lower_and_raise(authoring: Authoring) -> None:
        await authoring.update("Budgets", identity("it"), {"totalAmount": Decimal(6)})
        await authoring.update("Budgets", identity("it"), {"totalAmount": Decimal(7)})

    await office.desk.unit(lower_and_raise)
    assert (await office.status("it"), await office.exhausted("it")) == ("ACTIVE", 0)

    async def lower_raise_and_lower(authoring: Authoring) -> None:
        await lower_and_raise(authoring)
        await authoring.update("Budgets", identity("it"), {"totalAmount": Decimal(6)})

    await office.desk.unit(lower_raise_and_lower)
    assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", 1)

    async def make_and_remove(authoring: Authoring) -> None:
        row = {"code": "x", "name": "x", "status": "ACTIVE", "totalAmount": Decimal(0), "currency": "EUR"}
        await authoring.remove("Budgets", await authoring.create("Budgets", row))

    await office.desk.unit(make_and_remove)
    assert len(await office.told("BUDGET_EXHAUSTED")) == 1


async def test_a_rolled_back_exhaustion_sends_no_event(office: Office) -> None:
    await office.shop.budget("it", "10", consumed_amount=Decimal(6))

    async def fail(session: Session) -> None:
        authoring = Authoring(session, user="ann", at=NOON, new_id=office.shop.context.new_id, service=Service.ADMIN)
        await authoring.update("Budgets", identity("it"), {"totalAmount": Decimal(6)})
        await authoring.finish()
        raise Conflict("TEST", "The unit comes to nothing.")

    with pytest.raises(Conflict):
        await office.desk.database.write(fail, tenant=office.desk.tenant)
    assert (await office.status("it"), await office.told("BUDGET_EXHAUSTED")) == ("ACTIVE", [])
    assert await office.trail("it") == []


# ---- currencies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("currency", "exponent", "total", "sales", "taken", "left"),
    [
        ("EUR", 2, "1.00", (60, 60), ["0.60", "0.40"], "0"),
        ("JPY", 0, "100.50", (60, 60), ["60", "40"], "0.50"),  # there is no half yen
        ("JPY", 0, "100.50", (60, 40), ["60", "40"], "0.50"),
        ("KWD", 3, "1.01", (609, 609), ["0.609", "0.401"], "0"),
    ],
)
async def test_a_rest_below_one_minor_unit_counts_as_exhausted(
    office: Office, currency: str, exponent: int, total: str, sales: tuple[int, ...], taken: list[str], left: str
) -> None:
    await office.shop.budget("it", total, currency=currency)
    names = [await office.sell(minor, "it", currency=currency, exponent=exponent) for minor in sales]
    rows = {row.transaction_id: row for row in await office.shop.rows("BudgetConsumptions")}
    assert [rows[name].amount for name in names] == [Decimal(one) for one in taken]
    row = await office.budget("it")
    assert (row.status, row.total_amount - row.consumed_amount) == ("EXHAUSTED", Decimal(left))
    assert await office.exhausted("it") == 1
    await office.desk.update("Budgets", identity("it"), description="still nothing to give")
    assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", 1)


async def test_a_budget_in_another_currency_than_the_discount_is_not_charged(office: Office) -> None:
    """Before any contribution or consumption the currency may change, even between evaluation and confirm."""
    await office.shop.budget("it", "10")
    counter = await office.shop.price("T1", spending(100, "it"))
    await office.desk.update("Budgets", identity("it"), currency="JPY")
    await office.shop.confirm("T1", counter, "off")
    assert (await office.budget("it")).consumed_amount == 0
    assert await office.shop.count("BudgetConsumptions") == 0

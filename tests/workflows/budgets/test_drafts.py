"""Budgets that are edited while they are spent: activating a draft only writes what its user has changed."""

from __future__ import annotations

from decimal import Decimal

from tests.workflows.budgets.office import Office
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import identity


async def test_a_lower_total_in_a_draft_exhausts_the_budget_when_it_is_activated(office: Office) -> None:
    ann, it = Editor(office.desk.database, office.shop.tenant), identity("it")
    await office.shop.budget("it", "10", consumed_amount=Decimal(2))
    await ann.edit("Budgets", it)
    await ann.change("Budgets", it, totalAmount=Decimal(6))
    assert (await office.status("it"), await office.exhausted("it")) == ("ACTIVE", 0)
    await office.sell(400, "it")  # meanwhile
    await ann.activate("Budgets", it)
    row = await office.budget("it")
    assert (row.status, row.total_amount, row.consumed_amount) == ("EXHAUSTED", 6, 6)
    assert await office.exhausted("it") == 1


async def test_activating_a_draft_keeps_concurrent_changes_of_the_budget(office: Office) -> None:
    ann, it = Editor(office.desk.database, office.shop.tenant), identity("it")
    await office.shop.budget("it", "10")
    await ann.edit("Budgets", it)
    await ann.change("Budgets", it, name="Renamed")
    await office.recharge("it", "5")
    await office.sell(1500, "it")
    await ann.activate("Budgets", it)
    row = await office.budget("it")
    assert (row.name, row.status, row.total_amount, row.consumed_amount) == ("Renamed", "EXHAUSTED", 15, 15)
    assert await office.exhausted("it") == 1


async def test_a_budget_that_is_activated_in_a_draft_with_nothing_in_it_is_exhausted(office: Office) -> None:
    ann, it = Editor(office.desk.database, office.shop.tenant), identity("it")
    await office.shop.budget("it", "0", status="DRAFT")
    await ann.edit("Budgets", it)
    await ann.change("Budgets", it, status="ACTIVE")
    await ann.activate("Budgets", it)
    assert (await office.status("it"), await office.exhausted("it")) == ("EXHAUSTED", 1)
    new = await ann.begin("Budgets", code="new", name="New", currency="EUR", totalAmount=Decimal(0), status="ACTIVE")
    await ann.activate("Budgets", new)
    (row,) = await office.shop.rows("Budgets", code="new")
    assert row.status == "EXHAUSTED"
    assert {one["budgetId"] for one in await office.told("BUDGET_EXHAUSTED")} == {it, new}
    assert await office.exhausted("it") == 1

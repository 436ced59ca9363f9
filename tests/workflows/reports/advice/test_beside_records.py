"""Advice is counted from what is stored beside a price, and wherever that is missing, from its record."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import ColumnElement, and_, delete, true, update

from promenade.store.driver.schema import table
from promenade.store.pricing.renaming import rename_in_prices
from promenade.workflows.reports import advice
from tests.workflows.reports.advice.test_advice import basket, figures, rebuild
from tests.workflows.shop import Shop, identity

ITERATIONS = table("iterations")
COUNTER = ITERATIONS.c.transaction_counter


async def change(shop: Shop, which: ColumnElement[bool], **columns: Any) -> None:
    """Change evaluations in the table."""
    changing = update(ITERATIONS).where(which).values(columns)
    assert await shop.context.database.write(lambda session: session.rowcount(changing), tenant=shop.tenant)


async def column(shop: Shop, name: str) -> dict[tuple[str, int], Any]:
    """Return a column of all evaluations."""
    stored = await shop.rows("iterations")
    return {(row.transaction_id, row.transaction_counter): getattr(row, name) for row in stored}


async def put_back(shop: Shop, name: str, values: dict[tuple[str, int], Any]) -> None:
    """Set a column as it was."""
    for (transaction_id, counter), value in values.items():
        its = and_(ITERATIONS.c.transaction_id == transaction_id, ITERATIONS.c.transaction_counter == counter)
        await change(shop, its, **{name: value})


async def sell(shop: Shop) -> None:
    """Sell to a customer who comes to the offer step by step: two baskets with the same advice, two without any."""
    for name in ("T-1", "T-2"):
        for pieces in (1, 2):
            await shop.price(name, basket(pieces, advised=("GAP", "NUDGE")), customer_id="C-1")
        await shop.price(name, basket(3), customer_id="C-1")
        counter = await shop.price(name, basket(4, with_offer=True), customer_id="C-1")
        await shop.confirm(name, counter, "off", customer_id="C-1")
    stored = await shop.rows("iterations", transaction_id="T-1")
    beside_base = {row.transaction_counter: (row.base_counter, len(row.advice)) for row in stored}
    assert beside_base[2][0] == 1  # so its advice is that of the first
    assert beside_base[2][1] < 17 < beside_base[1][1]


async def expected(shop: Shop) -> Any:
    """What the records say."""
    await change(shop, true(), advice=None)
    await rebuild(shop)
    return await figures(shop)


@pytest.mark.parametrize("stretch", [1, 200])
async def test_no_record_is_read(shop: Shop, monkeypatch: pytest.MonkeyPatch, stretch: int) -> None:
    monkeypatch.setattr(advice, "STRETCH", stretch)
    await sell(shop)
    records = await column(shop, "record")
    await change(shop, true(), record=b"")
    counted = await figures(shop)
    assert counted["GAP", advice._day(shop.now[0], None)][:2] == (4, 2)
    await put_back(shop, "record", records)
    assert await expected(shop) == counted


@pytest.mark.parametrize("stretch", [1, 3, 200])
@pytest.mark.parametrize(
    "by_others", [COUNTER == 1, COUNTER == 2, COUNTER != 2, true()], ids=["first", "second", "others", "all"]
)
async def test_evaluations_of_older_programs_are_counted_by_their_records(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, stretch: int, by_others: ColumnElement[bool]
) -> None:
    """Beside those of newer ones, also where a base was looked through before."""
    monkeypatch.setattr(advice, "STRETCH", stretch)
    await sell(shop)
    await change(shop, by_others, advice=None)
    counted = await figures(shop)
    assert counted["NUDGE", advice._day(shop.now[0], None)][:2] == (4, 2)
    assert await expected(shop) == counted


async def test_an_erased_customer_changes_no_figures(shop: Shop) -> None:
    """Records are written anew, each without the base that may have the advice of others."""
    await sell(shop)
    counted = await figures(shop)
    sold = [(shop.context.origin, name) for name in ("T-1", "T-2")]
    await shop.context.database.write(
        lambda session: rename_in_prices(session, sold, "C-1", "X", None), tenant=shop.tenant
    )
    assert {row.base_counter for row in await shop.rows("iterations")} == {None}
    await rebuild(shop)
    assert await figures(shop) == counted


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_the_name_is_the_present_one_or_if_the_promotion_was_deleted_that_of_the_record(
    shop: Shop, is_deleted: bool
) -> None:
    await sell(shop)
    its = table("Promotions").c.id == identity("off")
    statement = delete(table("Promotions")) if is_deleted else update(table("Promotions")).values(name="Renamed since")
    await shop.context.database.write(lambda session: session.rowcount(statement.where(its)), tenant=shop.tenant)
    await figures(shop)
    names = {row.promotion_name for row in await shop.rows("advice_shown")}
    assert names == ({"off"} if is_deleted else {"Renamed since"})

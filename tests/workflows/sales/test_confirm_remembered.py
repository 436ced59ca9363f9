"""A confirm of what this process has just priced reads nothing; what is stored decides all the same.

Another process is this one with an empty memory: `elsewhere`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Executable, delete, update

from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.driver.schema import table
from promenade.store.pricing import offers
from promenade.store.pricing.iterations import find_iteration
from promenade.store.pricing.offers import Offer, Offers, Remembered, offers_of
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED, WRITTEN, counts, refusal
from tests.workflows.shop import Shop, identity, open_shop

OTHER = outcome((line("1", 1000, 700, discount("off", ((1, 50),))),), (applied("off", 50),))
_OF_THE_SALE = {"id", "log_id", "payload", "transaction_id", "response", "block"}


@contextmanager
def elsewhere(shop: Shop) -> Iterator[None]:
    """What is done within is done by another process, which remembers nothing and of which this one knows nothing."""
    here = offers_of(shop.context.database)
    offers._OFFERS[shop.context.database] = Offers()
    try:
        yield
    finally:
        offers._OFFERS[shop.context.database] = here


@contextmanager
def reading_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reads fail within."""

    async def read(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("the database was read")

    with monkeypatch.context() as patched:
        patched.setattr(shop.context.database, "read", read)
        yield


async def carry_out(shop: Shop, statement: Executable) -> None:
    await shop.context.database.write(lambda session: session.rowcount(statement), tenant=shop.tenant)


async def written(shop: Shop, transaction: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a sale, without what differs between two sales of the same basket."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in ("confirmations", "CalculationLogs", "BudgetConsumptions", "side_effect_jobs"):
        rows = [row._asdict() for row in await shop.rows(name, transaction_id=transaction)]
        found[name] = [{key: value for key, value in row.items() if key not in _OF_THE_SALE} for row in rows]
    (log,) = await shop.rows("CalculationLogs", transaction_id=transaction)
    for name in ("CalculationLogItems", "CalculationLogPromotions"):
        rows = [row._asdict() for row in await shop.rows(name, log_id=log.id)]
        found[name] = [{key: value for key, value in row.items() if key not in _OF_THE_SALE} for row in rows]
    return found


async def test_a_sale_is_the_same_whether_its_price_is_remembered_or_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced = replace(PRICED, control_arms=("saver",))
    for transaction in ("here", "there"):
        await shop.price(transaction, priced, customer_id="C1")
    with reading_nothing(shop, monkeypatch):
        here = await shop.confirm("here", 1, "off")
    with elsewhere(shop):
        there = await shop.confirm("there", 1, "off")
    assert here.body.replace(b"here", b"there") == there.body
    assert await written(shop, "here") == await written(shop, "there")
    names = {row.promotion_name for row in await shop.rows("CalculationLogPromotions")}
    assert names == {"off", "stamps", "saver"}  # that of the control arm included


async def test_what_is_remembered_is_what_is_stored(shop: Shop) -> None:
    """Field by field, an iteration stored as the difference from an earlier one included."""
    for _ in range(2):
        counter = await shop.price("T1", PRICED, customer_id="C1")
        remembered = offers_of(shop.context.database).get((shop.tenant, shop.context.origin, "T1"), counter)
        assert remembered is not None
        offer = remembered.offer()
        find = partial(find_iteration, origin=shop.context.origin, transaction_id="T1", transaction_counter=counter)
        stored = await shop.context.database.read(find, tenant=shop.tenant)
        for field in fields(Offer):
            assert getattr(offer, field.name) == getattr(stored, field.name), field.name


async def test_a_sale_confirmed_by_another_process_is_confirmed(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    with elsewhere(shop):
        first = await shop.confirm("T1", 1, "off")
    before = await counts(shop)
    assert (await shop.confirm("T1", 1, "off")).body == first.body
    assert await refusal(shop, "T1", 1) == "CONFIRM_MISMATCH"
    assert await counts(shop) == before


async def test_a_faulty_confirm_of_a_sale_that_another_process_confirmed_is_a_mismatch(shop: Shop) -> None:
    """The first confirm decides before the faults of a later one are looked for, whoever carried it out."""
    await shop.price("T1", PRICED)
    with pytest.raises(Invalid):
        await shop.confirm("T1", 1, "unknown")
    with elsewhere(shop):
        await shop.confirm("T1", 1, "off")
    assert await refusal(shop, "T1", 1, "unknown") == "CONFIRM_MISMATCH"


async def test_another_iteration_confirmed_by_another_process_wins(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    with elsewhere(shop):
        await shop.confirm("T1", 1, "off")
    await shop.price("T1", PRICED)
    assert await refusal(shop, "T1", 2, "off") == "TRANSACTION_ALREADY_CONFIRMED"
    assert await shop.count("confirmations") == 1


async def test_of_an_earlier_iteration_nothing_later_is_confirmed(shop: Shop) -> None:
    await shop.price("T1", OTHER)
    await shop.price("T1", PRICED)
    await shop.confirm("T1", 1, "off")
    (log,) = await shop.rows("CalculationLogs")
    assert (log.transaction_counter, log.subtotal) == (1, 7)


async def test_an_iteration_purged_by_another_process_is_not_confirmed(shop: Shop) -> None:
    rows = table("iterations")
    for transaction, purge in (
        ("gone", delete(rows).where(rows.c.transaction_id == "gone")),
        ("condemned", update(rows).where(rows.c.transaction_id == "condemned").values(transaction_counter=-1)),
    ):
        await shop.price(transaction, PRICED)
        await carry_out(shop, purge)
        with pytest.raises(NotFound) as caught:
            await shop.confirm(transaction, 1, "off")
        assert caught.value.code == "ITERATION_NOT_FOUND"
    assert await counts(shop) == dict.fromkeys(WRITTEN, 0)


async def test_an_iteration_replaced_by_another_process_is_confirmed_as_it_is_stored(shop: Shop) -> None:
    """The counter begins again, as it does when a backup is restored beside a running process."""
    await shop.price("T1", PRICED)
    for name in ("iterations", "iteration_counters"):
        await carry_out(shop, delete(table(name)))
    shop.later(seconds=1)
    with elsewhere(shop):
        assert await shop.price("T1", OTHER) == 1
    await shop.confirm("T1", 1, "off")
    (log,) = await shop.rows("CalculationLogs")
    assert (log.subtotal, log.discount) == (7, Decimal("0.5"))


async def test_the_memory_answers_for_its_own_tenant_and_origin_alone(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    other = await open_shop(shop.context.database, "tenant-b")
    await other.promotion("off")
    store = replace(shop, context=replace(shop.context, origin=identity("store")))
    for stranger in (other, store):
        with pytest.raises(NotFound) as caught:
            await stranger.confirm("T1", 1, "off")
        assert caught.value.code == "ITERATION_NOT_FOUND"
        with elsewhere(stranger):
            assert await stranger.price("T1", OTHER) == 1  # at the same moment
        await stranger.confirm("T1", 1, "off")
    await shop.confirm("T1", 1, "off")
    assert [row.subtotal for row in await other.rows("CalculationLogs")] == [7]
    logs = await shop.rows("CalculationLogs")
    assert {row.origin: row.subtotal for row in logs} == {store.context.origin: 7, shop.context.origin: 10}


async def test_of_many_confirms_at_once_one_is_carried_out(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    commands = [shop.confirm("T1", 1, *some) for some in (("off",), (), ("off",), ("off",))]
    answers = await asyncio.gather(*commands, return_exceptions=True)
    confirmed = [answer.body for answer in answers if not isinstance(answer, BaseException)]
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert len(set(confirmed)) == 1
    assert len(refused) in {1, 3}
    assert all(isinstance(one, Conflict) and one.code == "CONFIRM_MISMATCH" for one in refused)
    assert await shop.count("CalculationLogs") == await shop.count("confirmations") == 1


async def test_a_sale_is_forgotten_once_it_is_confirmed(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    await shop.confirm("T1", 1, "off")
    assert offers_of(shop.context.database).get((shop.tenant, shop.context.origin, "T1"), 1) is None


def test_the_memory_is_bounded_and_keeps_the_latest(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "BYTES_MAX", 1000)
    memory = Offers()

    def put(transaction: str, counter: int, size: int) -> None:
        at = shop.now[0]
        memory.put(
            ("a", "cloud", transaction),
            Remembered(
                transaction_counter=counter,
                receipt_id=None,
                header_reference=None,
                evaluated_at=at,
                created_at=at,
                record=b"x" * size,
            ),
        )

    def kept() -> list[str]:
        return [name for name in ("T1", "T2", "T3", "T4") if memory.get(("a", "cloud", name), 1)]

    for name in ("T1", "T2", "T3"):
        put(name, 1, 400)
    assert kept() == ["T2", "T3"]
    put("T2", 1, 300)  # the same transaction again is the latest one
    put("T4", 1, 400)
    assert kept() == ["T2", "T4"]
    put("T2", 2, 400)
    assert kept() == ["T4"]  # only the latest iteration of a transaction
    put("T3", 1, 1001)
    assert kept() == []  # too large
    put("T1", 1, 1000)
    assert kept() == ["T1"]

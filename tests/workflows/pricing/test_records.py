"""How stored prices are compressed: by themselves, with a dictionary of the tenant, or as a difference from another."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Row, delete, update

from promenade.engine.basket import BasketLine
from promenade.errors import NotFound
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing import dictionaries
from promenade.store.pricing.dictionaries import FRESH_FOR, USED_AFTER, newest_dictionary
from promenade.store.pricing.iterations import encode_outcome, find_iteration
from promenade.store.pricing.packing import BASE_FOR
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.clockwork import dictionaries as clockwork
from promenade.workflows.clockwork.purges import REPLACED_FOR, iterations, old_dictionaries
from promenade.workflows.context import Retention
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.pricing.replay import replay
from promenade.zstd import compressor, decompress, dictionary_id
from tests.workflows.forecasts.market import ARTICLES, OWN, TWIN, Market, action, open_market, promotion

SAMPLES = 25
BASKET = tuple(BasketLine(str(place), name, 2000, price) for place, (name, price) in enumerate(ARTICLES.items()))


@pytest.fixture
async def market(database: Database, monkeypatch: pytest.MonkeyPatch) -> Market:
    """Two tenants that sell the same articles, with promotions."""
    monkeypatch.setattr(clockwork, "SAMPLES_MIN", SAMPLES)
    made = await open_market(database)
    for tenant in (OWN, TWIN):
        await create_tenant(database, tenant, settings={}, at=made.now[0], user="operator")
    await made.put(promotion("beer week", action("beer", "PERCENTAGE", "20")))
    await made.put(promotion("all", action(None, "PERCENTAGE", "5")))
    return made


async def price(
    market: Market, transaction: str, lines: Sequence[BasketLine] = BASKET, tenant: str = OWN
) -> tuple[int, bytes]:
    """Evaluate; return the counter and the outcome as it must be stored."""
    request = PricingRequest(lines=tuple(lines), transaction_id=transaction, pos_group_code="BERLIN")
    priced = await evaluate(market.context, tenant, request)
    assert priced.transaction_counter is not None
    return priced.transaction_counter, encode_outcome(priced.outcome)


async def rows(market: Market, transaction: str, tenant: str = OWN) -> list[Row[Any]]:
    found = await market.rows("iterations", tenant, transaction_id=transaction)
    return sorted(found, key=lambda row: abs(row.transaction_counter))


async def read_and_replayed(market: Market, transaction: str, counter: int, tenant: str = OWN) -> set[bytes]:
    """Return the outcome as stored and as priced again: one and the same."""
    found = await market.context.database.read(
        lambda session: find_iteration(session, "cloud", transaction, counter), tenant=tenant
    )
    assert found is not None
    again = await replay(market.context, tenant, transaction, counter)
    return {found.outcome_bytes, again.outcome_bytes}


async def train(market: Market, *tenants: str) -> int:
    """Sell, and let the job make dictionaries; return how many."""
    await market.sell_many(random.Random(3), SAMPLES, tenants=tenants)
    made = await clockwork.dictionaries(market.context, None)
    market.now[0] += USED_AFTER + FRESH_FOR
    return made.done


async def test_a_repeated_price_is_stored_as_a_difference_and_replays_to_the_same_bytes(market: Market) -> None:
    priced = [await price(market, "T"), await price(market, "T"), await price(market, "T", (*BASKET[:-1],))]
    stored = await rows(market, "T")
    assert [row.base_counter for row in stored] == [None, 1, 1]
    assert max(len(row.record) for row in stored[1:]) * 2 < len(stored[0].record)
    for counter, outcome in priced:
        assert await read_and_replayed(market, "T", counter) == {outcome}


async def test_a_very_different_or_much_later_basket_is_stored_by_itself(market: Market) -> None:
    many = [BasketLine(str(place), f"article {place * place}", 1000 * place, 100 + place) for place in range(1, 30)]
    await price(market, "T", BASKET[:1])
    await price(market, "T", many)
    await price(market, "T", many)
    market.now[0] += BASE_FOR
    await price(market, "T", many)
    assert [row.base_counter for row in await rows(market, "T")] == [None, None, 2, None]


async def test_another_tenants_transaction_with_the_same_id_is_no_base(market: Market) -> None:
    await price(market, "T", tenant=OWN)
    counter, outcome = await price(market, "T", tenant=TWIN)
    assert [row.base_counter for row in await rows(market, "T", TWIN)] == [None]
    assert await read_and_replayed(market, "T", counter, TWIN) == {outcome}


async def test_a_dictionary_makes_records_smaller_and_they_replay_to_the_same_bytes(market: Market) -> None:
    _, before = await price(market, "before")
    assert await train(market, OWN) == 1
    (dictionary,) = await market.rows("record_dictionaries")
    counter, outcome = await price(market, "after")
    ((old,), (new,)) = await rows(market, "before"), await rows(market, "after")
    assert (dictionary_id(old.record), dictionary_id(new.record)) == (0, dictionary.id)
    assert len(new.record) * 2 < len(old.record)
    assert await read_and_replayed(market, "after", counter) == {outcome}
    assert await read_and_replayed(market, "before", 1) == {before}


async def test_records_of_earlier_versions_are_read(market: Market) -> None:
    """They are frames of level 1, without a dictionary and without a base."""
    counter, outcome = await price(market, "T")
    ((row,)) = await rows(market, "T")
    plain = compressor(1)(decompress(row.record))
    change = update(table("iterations")).values(record=plain, base_counter=None)
    await market.context.database.write(lambda session: session.rowcount(change), tenant=OWN)
    await train(market, OWN)
    assert await read_and_replayed(market, "T", counter) == {outcome}


async def test_a_dictionary_is_its_tenants_alone_and_names_no_customer(market: Market) -> None:
    for _ in range(SAMPLES):
        await market.sell(BASKET, OWN, customer="anna of the card", user_fields=(("note", "a private note"),))
    assert (await clockwork.dictionaries(market.context, None)).done == 1
    assert await market.rows("record_dictionaries", TWIN) == []
    (row,) = await market.rows("record_dictionaries", OWN)
    assert b"beer week" in row.content
    assert b"anna of the card" not in row.content
    assert b"a private note" not in row.content
    market.now[0] += USED_AFTER
    await price(market, "T", tenant=TWIN)
    assert {dictionary_id(one.record) for one in await rows(market, "T", TWIN)} == {0}


async def test_a_new_dictionary_is_made_when_it_pays_and_not_more_than_once_a_day(market: Market) -> None:
    assert await train(market, OWN) == 1
    market.now[0] += clockwork.KEPT_FOR
    assert await train(market, OWN) == 0  # the same promotions: hardly better
    for name in ARTICLES:
        await market.put(promotion(f"and one more, quite long, for {name}", action(name, "PERCENTAGE", "3")), OWN)
    assert await train(market, OWN) == 1
    assert (await clockwork.dictionaries(market.context, None)).done == 0
    _, outcome = await price(market, "T")
    newest = max(await market.rows("record_dictionaries"), key=lambda row: row.created_at)
    assert [dictionary_id(row.record) for row in await rows(market, "T")] == [newest.id]
    assert await read_and_replayed(market, "T", 1) == {outcome}


async def test_an_old_dictionary_is_replaced_even_if_the_new_one_is_no_better(market: Market) -> None:
    await train(market, OWN)
    market.now[0] += clockwork.REPLACED_AFTER
    assert await train(market, OWN) == 1


async def test_a_dictionary_is_deleted_once_no_record_needs_it(market: Market) -> None:
    context = replace(market.context, retention=Retention(iterations=1, sales=30))
    await train(market, OWN)
    counter, outcome = await price(market, "T")
    await market.sell(BASKET, OWN)
    sold = f"T{market.sold}"
    market.now[0] += clockwork.REPLACED_AFTER
    await train(market, OWN)
    market.now[0] += REPLACED_FOR * 2
    assert (await old_dictionaries(context, None)).done == 0  # the sales of the last days may be stored with it
    assert await read_and_replayed(market, "T", counter) == {outcome}
    market.now[0] += timedelta(days=31)
    for _ in range(2):
        while (ran := await iterations(context, None)).more:
            assert ran.done
        market.now[0] += timedelta(hours=1)
    assert await rows(market, sold) == []
    await price(market, "U")
    assert (await old_dictionaries(context, None)).done == 1
    assert await read_and_replayed(market, "U", 1)
    assert (await old_dictionaries(context, None)).done == 0


async def test_a_base_that_is_no_longer_stored_is_not_used(market: Market) -> None:
    """As after the failover to a replica that had not received it: counters are given again, too."""
    await price(market, "T")
    await market.context.database.write(lose_iterations, tenant=OWN)
    market.now[0] += timedelta(seconds=1)
    counter, outcome = await price(market, "T")
    assert [(row.transaction_counter, row.base_counter) for row in await rows(market, "T")] == [(1, None)]
    assert await read_and_replayed(market, "T", counter) == {outcome}
    await price(market, "T")
    assert [row.base_counter for row in await rows(market, "T")] == [None, 1]


async def lose_iterations(session: Session) -> None:
    for name in ("iterations", "iteration_counters"):
        await session.rowcount(delete(table(name)))


async def test_a_record_whose_base_has_been_purged_counts_as_purged(market: Market) -> None:
    await price(market, "T")
    counter, _ = await price(market, "T")
    gone = delete(table("iterations")).where(table("iterations").c.transaction_counter == 1)
    await market.context.database.write(lambda session: session.rowcount(gone), tenant=OWN)
    with pytest.raises(NotFound):
        await replay(market.context, OWN, "T", counter)


async def test_dictionaries_of_only_so_many_tenants_are_in_memory(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = market.context.database
    asked: list[str] = []
    look = type(database).look

    async def noted(self: Database, name: str, params: Any) -> Any:
        asked.append(params[0])
        return await look(self, name, params)

    monkeypatch.setattr(type(database), "look", noted)
    monkeypatch.setattr(dictionaries, "STORE_WITH_MAX", 1)
    for tenant in (OWN, OWN, TWIN, TWIN, OWN):
        await newest_dictionary(database, tenant, market.now[0])
    assert asked == [OWN, TWIN, OWN]

"""Price the sales of a period again, page by page, in a thread that yields to the tills."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from promenade.engine.catalogue import CompiledPromotion, compile_promotion
from promenade.engine.forecasting import Forecaster, PricedSale, Tally, as_if_it_ran
from promenade.engine.view import ArticleGroups
from promenade.store.driver.unit import Session
from promenade.store.forecasts.runs import Plan, read_uses
from promenade.store.forecasts.sales import Cursor, SaleRow, Windows, read_sales
from promenade.store.pricing.iterations import (
    PricedRecord,
    decode_definition,
    decode_record,
    decode_tree,
    load_definitions,
)
from promenade.workflows.context import Context

PAGE = 50  # sales in memory at a time
DEFINITIONS_MAX = 5_000  # compiled promotions kept for the next page
HASHES_MAX = 500  # definitions read by one statement
STINT_SECONDS = 0.001  # how long the thread works between two pauses: it shares the interpreter with the tills
REST_SECONDS = 0.0005

T = TypeVar("T")
Sale = tuple[SaleRow, PricedRecord]


class Replaying:
    """A forecast in progress: the promotion being tried, and the results of the sales so far.

    ``uses`` counts the sales to which the promotion has applied, by customer: for the customers met in this stretch of
    work, including earlier stretches. After an error the object must be discarded.
    """

    def __init__(self, context: Context, tenant_id: str, forecast_id: str, plan: Plan, tally: Tally) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._forecast_id = forecast_id
        self._compiled: dict[str, CompiledPromotion] = {}
        self._trees: dict[str, ArticleGroups] = {}
        self._met: set[str] = set()
        self.tally = tally
        self.uses: dict[str, int] = {}
        promotion = compile_promotion(as_if_it_ran(plan.definition))
        self._forecaster = Forecaster(promotion, plan.gifts, tally, self.uses)

    @property
    def customers(self) -> int:
        """The number of customers met who have had the promotion."""
        return len(self.uses)

    async def page(
        self, windows: Windows, recorded_until: datetime, after: Cursor | None
    ) -> tuple[Cursor | None, bool]:
        """Replay the next page of sales; return where it ended (None: it was empty) and whether it was the last."""

        async def work(session: Session) -> list[SaleRow]:
            return await read_sales(session, windows, recorded_until, after, PAGE)

        rows = await self._context.database.read(work, tenant=self._tenant_id)
        sales = await asyncio.to_thread(_worked_through, rows, _decoded)
        found = [sale for sale in sales if sale is not None]
        await self._learn(found)
        await asyncio.to_thread(_worked_through, found, self._replay)
        self.tally.skipped += len(rows) - len(found)
        return (rows[-1].cursor if rows else None), len(rows) < PAGE

    async def _learn(self, sales: Sequence[Sale]) -> None:
        """Read what the sales need and is not in memory: definitions, trees, and the customers' uses."""
        if len(self._compiled) > DEFINITIONS_MAX:
            self._compiled.clear()
        hashes = {key for _, record in sales for key in record.outcome.candidate_hashes} - self._compiled.keys()
        trees = {record.tree_hash for _, record in sales} - self._trees.keys()
        customers = {one for row, record in sales for one in _customers(row, record)} - self._met
        wanted = sorted(hashes | trees)

        async def work(session: Session) -> tuple[dict[str, bytes], dict[str, int]]:
            bodies: dict[str, bytes] = {}
            for start in range(0, len(wanted), HASHES_MAX):
                bodies |= await load_definitions(session, wanted[start : start + HASHES_MAX])
            return bodies, await read_uses(session, self._forecast_id, customers)

        bodies, uses = await self._context.database.read(work, tenant=self._tenant_id)
        self._met |= customers
        self.uses.update(uses)
        self._trees.update({key: ArticleGroups(*decode_tree(bodies[key])) for key in trees if key in bodies})
        known = [key for key in sorted(hashes) if key in bodies]
        compiled = await asyncio.to_thread(
            _worked_through, known, lambda key: compile_promotion(decode_definition(bodies[key]))
        )
        self._compiled.update(zip(known, compiled, strict=True))

    def _replay(self, sale: Sale) -> None:
        row, record = sale
        hashes = record.outcome.candidate_hashes
        if record.tree_hash not in self._trees or not self._compiled.keys() >= set(hashes):
            self.tally.skipped += 1
            return
        self._forecaster.replay(
            PricedSale(
                basket=record.basket,
                settings=record.settings,
                facts=record.facts,
                groups=self._trees[record.tree_hash],
                candidates=[self._compiled[key] for key in hashes],
                outcome=record.outcome,
                customer_id=row.customer_id,
                day=row.day,
            )
        )


def _decoded(row: SaleRow) -> Sale | None:
    return None if row.record is None else (row, decode_record(row.record))


def _customers(row: SaleRow, record: PricedRecord) -> Iterator[str]:
    """Yield the customer who is rewarded and the one in the priced basket: usually the same."""
    if row.customer_id is not None:
        yield row.customer_id
    customer = record.basket.customer
    if customer is not None and customer.customer_id is not None:
        yield customer.customer_id


def _worked_through(items: Sequence[Sale] | Sequence[SaleRow] | Sequence[str], do: Callable[..., T]) -> list[T]:
    """Apply ``do`` to all items, with pauses in between; for a thread beside the event loop."""
    done: list[T] = []
    rested = time.perf_counter()
    for item in items:
        done.append(do(item))
        if time.perf_counter() - rested > STINT_SECONDS:
            time.sleep(REST_SECONDS)
            rested = time.perf_counter()
    return done

"""Processes that die before a chosen statement: `python -m tests.reliability.crashing confirm|effects URL`.

For step 1, 2, 3 ... a forked process does the same work on a transaction of its own, T1, T2, T3 ..., and exits before
its n-th statement, as in a power failure. The last process has no n-th statement and completes. Prints how many
processes died.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import Row

from odata_server.sql.connection import Kept
from promenade.store.driver.session import open_database
from promenade.store.driver.tenancy import Columns, Params, Scope
from promenade.store.driver.unit import Database, Session, Statement, Work
from promenade.workflows.sales.side_effects import claim_jobs, run_side_effects
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, open_shop

__all__ = ["DyingDatabase", "a_sale", "die_before_each_statement", "in_child", "opened", "prepare"]

T = TypeVar("T")

DIED = 7
STEPS_MAX = 100


class _DyingSession(Session):
    """A session that counts its statements and dies before one of them."""

    __slots__ = ("_inner", "_step")

    def __init__(self, inner: Session, step: Callable[[], None]) -> None:
        super().__init__(inner.dialect, inner.scope)
        self._inner = inner
        self._step = step

    def limit(self, seconds: float) -> None:
        self._inner.limit(seconds)

    async def run_kept(self, kept: Kept, values: Params) -> Sequence[Sequence[Any]]:
        self._step()
        return await self._inner.run_kept(kept, values)

    async def merge_columns(self, upsert: Kept, columns: Columns) -> None:
        self._step()
        await self._inner.merge_columns(upsert, columns)

    async def hot(self, name: str, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        self._step()
        return await self._inner.hot(name, params)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._inner.savepoint()

    async def _rows(self, statement: Statement, params: Any) -> Sequence[Row[Any]]:
        self._step()
        return await self._inner._rows(statement, params)

    async def _count(self, statement: Statement, params: Any) -> int:
        self._step()
        return await self._inner._count(statement, params)


class DyingDatabase(Database):
    """A database whose process dies before the ``last``-th statement of its writes; COMMIT counts as one."""

    def __init__(self, inner: Database, last: int) -> None:
        self.dialect, self.url = inner.dialect, inner.url
        self._inner = inner
        self._left = last

    def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os._exit(DIED)

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        return await self._inner.hot(name, params, durable=durable)

    async def ping(self) -> None:
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        async def counted(session: Session) -> T:
            value = await work(_DyingSession(session, self._step))
            self._step()  # before COMMIT
            return value

        return await self._inner._write(counted, scope, durable)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._inner._read(work, scope)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Shop]:
    """Open the shop at ``url``, which already exists."""
    database = await open_database(url)
    try:
        yield await open_shop(database, is_new=False)
    finally:
        await database.close()


async def prepare(url: str) -> None:
    database = await open_database(url)
    shop = await open_shop(database)
    for name in ("off", "coupon-off", "stamps"):
        await shop.promotion(name)
    for name in ("marketing", "supplier"):
        await shop.budget(name, "1000.00")
    for name in ("save", "next-time"):
        await shop.coupon_type(name)
    await database.close()


async def a_sale(shop: Shop, number: int) -> int:
    """Price T<number>: two budgets, a coupon, points, a post-purchase coupon, and a line returned from S<number>."""
    sold = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),),
        (applied("off", 200, points=8, budget_ids=("marketing",)),),
    )
    await shop.confirm(f"S{number}", await shop.price(f"S{number}", sold, customer_id=f"C{number}"), "off")
    code = f"SAVE-{number}"
    fact = await shop.coupon(code, "save")
    priced = outcome(
        (
            line("1", 1000, 500, discount("off", ((1, 100),)), discount("coupon-off", ((1, 50),), code)),
            line("2", -1000, -400),
        ),
        (
            applied("off", 100, points=3, budget_ids=("marketing", "supplier")),
            applied("coupon-off", 50, coupon_code=code, budget_ids=("supplier",)),
            applied("stamps", points=4, coupon_type_ids=("next-time",)),
        ),
    )
    return await shop.price(
        f"T{number}", priced, coupons=[fact], customer_id=f"C{number}", sales={"2": (f"S{number}", "1")}
    )


async def confirm(url: str, step: int) -> None:
    async with opened(url) as shop:
        counter = await a_sale(shop, step)
        context = replace(shop.context, database=DyingDatabase(shop.context.database, step))
        await replace(shop, context=context).confirm(f"T{step}", counter, "off", "coupon-off")


async def effects(url: str, step: int) -> None:
    async with opened(url) as shop:
        counter = await a_sale(shop, step)
        await shop.confirm(f"T{step}", counter, "off", "coupon-off")
        context = replace(shop.context, database=DyingDatabase(shop.context.database, step))
        for job in await claim_jobs(shop.context, 100):
            if job.transaction_id == f"T{step}":
                await run_side_effects(context, job, secrets.choice)


def in_child(work: Callable[[], Any]) -> int:
    """Run a coroutine in a forked process and return its exit code."""
    child = os.fork()
    if child == 0:
        asyncio.run(work())
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_before_each_statement(attempt: Callable[[int], Coroutine[Any, Any, None]]) -> None:
    """Kill one process after the other before its n-th statement, n from 1, until one completes; print how many
    died.
    """
    for step in range(1, STEPS_MAX):
        code = in_child(lambda step=step: attempt(step))  # type: ignore[misc]
        if code == 0:
            print(step - 1)
            return
        assert code == DIED, f"step {step} ended with {code}"
    raise AssertionError("there is no end to the statements")


def main(verb: str, url: str) -> None:
    run = {"confirm": confirm, "effects": effects}[verb]
    assert in_child(lambda: prepare(url)) == 0
    die_before_each_statement(lambda step: run(url, step))


if __name__ == "__main__":
    main(*sys.argv[1:])

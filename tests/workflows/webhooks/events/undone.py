"""A database whose units of work run completely and are then rolled back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from promenade.store.driver.tenancy import Scope
from promenade.store.driver.unit import Database, Session, Work
from tests.workflows.shop import Shop

__all__ = ["Undone", "UndoneDatabase", "undone"]

T = TypeVar("T")


class Undone(Exception):
    """Raised at the end of every unit that writes."""


class UndoneDatabase(Database):
    """Reads normally; writes are rolled back after their last statement."""

    def __init__(self, inner: Database) -> None:
        self.dialect, self.url = inner.dialect, inner.url
        self._inner = inner

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        return await self._inner.hot(name, params, durable=durable)

    async def ping(self) -> None:
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        async def undoing(session: Session) -> NoReturn:
            await work(session)
            raise Undone

        return await self._inner._write(undoing, scope, durable)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._inner._read(work, scope)


def undone(shop: Shop) -> Shop:
    """Return the same shop, in which nothing is ever committed."""
    return replace(shop, context=replace(shop.context, database=UndoneDatabase(shop.context.database)))

"""A desk with edit drafts: one call is one unit of work, like a request to the administration."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from promenade.errors import Detail, PromenadeError
from promenade.model.declare import Service
from promenade.store.driver.schema import draft_table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.drafts import Drafts
from tests.workflows.authoring.desk import TENANT, Desk, Row

__all__ = ["Editor", "codes", "refusal"]


class Editor(Desk):
    """One user's desk; `rows` returns active rows, `draft_rows` those of all users' drafts."""

    def __init__(self, database: Database, tenant: str = TENANT, *, user: str = "ann") -> None:
        super().__init__(database, tenant, service=Service.ADMIN)
        self.user = user
        self.alone = False
        self.attempts = 0  # of units: one that the database rolls back is repeated

    async def draft_unit(self, work: Callable[[Drafts], Awaitable[Any]]) -> Any:
        """Run one unit of work on drafts to its end."""

        async def run(session: Session) -> Any:
            self.attempts += 1
            authoring = Authoring(session, user=self.user, at=self.now, new_id=_new_id, service=self.service)
            await authoring.begin(alone=self.alone)
            answer = await work(Drafts(session, authoring, user=self.user, at=self.now, new_id=_new_id))
            await authoring.finish()
            return answer

        return await self.database.write(run, tenant=self.tenant, user=self.user, at=self.now)

    def later(self, **by: float) -> None:
        """Move the clock forwards."""
        self.now += timedelta(**by)

    async def begin(self, set_name: str, /, **row: Any) -> str:
        return str(await self.draft_unit(lambda drafts: drafts.create(set_name, row)))

    async def edit(self, set_name: str, row_id: str, *, preserve: bool = True) -> None:
        await self.draft_unit(lambda drafts: drafts.edit(set_name, row_id, preserve=preserve))

    async def change(self, set_name: str, row_id: str, /, **changes: Any) -> None:
        await self.draft_unit(lambda drafts: drafts.change(set_name, row_id, changes))

    async def replace(self, set_name: str, row_id: str, /, **row: Any) -> None:
        await self.draft_unit(lambda drafts: drafts.change(set_name, row_id, row, replace=True))

    async def discard(self, set_name: str, row_id: str) -> None:
        await self.draft_unit(lambda drafts: drafts.remove(set_name, row_id))

    async def activate(self, set_name: str, row_id: str) -> bool:
        return bool(await self.draft_unit(lambda drafts: drafts.activate(set_name, row_id)))

    async def prepare(self, set_name: str, row_id: str) -> Sequence[Detail]:
        found: Sequence[Detail] = await self.draft_unit(lambda drafts: drafts.prepare(set_name, row_id))
        return found

    async def draft_rows(self, set_name: str, **where: Any) -> list[Row]:
        """Return rows of drafts by wire name, including removed ones, with `changed`, `removed` and `version`."""
        wires = shape_of(set_name).wires
        rows = draft_table(set_name)

        async def work(session: Session) -> list[Row]:
            found = await session.execute(select(rows).order_by(rows.c.id))
            return [{wires.get(name, name): value for name, value in row._mapping.items()} for row in found]

        every = await self.database.read(work, tenant=self.tenant)
        return [row for row in every if all(row[name] == value for name, value in where.items())]

    async def draft_row(self, set_name: str, row_id: str) -> Row:
        (row,) = await self.draft_rows(set_name, ID=row_id)
        return row

    async def drafts(self) -> list[Row]:
        rows = draft_table("drafts")

        async def work(session: Session) -> list[Row]:
            return [dict(row._mapping) for row in await session.execute(select(rows))]

        found: list[Row] = await self.database.read(work, tenant=self.tenant)
        return found


def _new_id() -> str:
    return str(uuid.uuid4())


async def refusal(work: Awaitable[Any], kind: type[PromenadeError]) -> PromenadeError:
    """Return the error of this kind that the work must raise."""
    with pytest.raises(kind) as caught:
        await work
    return caught.value


def codes(error: PromenadeError) -> set[tuple[str, str | None]]:
    """Return code and target of each detail of an error."""
    details = error.details or (Detail(error.code, error.message, error.target),)
    return {(one.code, one.target) for one in details}

"""The demo's five weeks give every report some data."""

from __future__ import annotations

from sqlalchemy import func, select

from promenade.model.declare import REPORTING
from promenade.model.edm import served_entities
from promenade.store.driver.unit import Session
from promenade.store.odata.services import rows_of
from tests.demo.test_seeding import demo


async def test_every_report_of_the_demo_has_data(database_url: str) -> None:
    async with demo(database_url) as (context, made):

        async def rows(session: Session) -> dict[str, int]:
            found = {}
            for entity in served_entities(REPORTING):
                statement = select(func.count()).select_from(rows_of(entity))
                found[entity.set_name] = int((await session.execute(statement))[0][0])
            return found

        counted = await context.database.read(rows, tenant=made.tenant_id)
        assert [name for name, count in counted.items() if not count] == []

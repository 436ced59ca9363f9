"""Two tenants on one service: the one asks, the other has canaries everywhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from promenade import app
from promenade.settings import Settings
from promenade.store.rows import insert_rows
from promenade.store.session import open_database
from promenade.store.unit import Session
from promenade.workflows.clients import create_client
from promenade.workflows.tenants import create_tenant
from tests.contract.made_up import BEGINNING, in_order, python_value, seeded_row
from tests.kit.databases import Databases, past_the_wall
from tests.kit.service import Service
from tests.reliability.tenants.answers import Asking
from tests.reliability.tenants.canaries import MINE, NUMBERS, THEIRS, canary_rows
from tests.web.conftest import furnish, run

__all__ = ["asking", "routes"]

SCOPES = (
    "svc.POSReader",
    "svc.Admin",
    "svc.PromotionManager",
    "svc.BudgetManager",
    "svc.Sync",
    "PublicApi.Read",
    "PublicApi.Write",
)
CLIENT, SECRET = "asking", "ask"


@contextlib.contextmanager
def asking(
    databases: Databases,
    dialect: str,
    logs: Path,
    *,
    module: str = "tests.kit.without_worker",
    as_superuser: bool = False,
) -> Iterator[tuple[Asking, str]]:
    """A served database with both tenants' rows, and the client of the one; ``module`` is what is run."""
    url = databases.create(dialect)  # type: ignore[arg-type]
    run(_seed(url))
    served = past_the_wall(url) if as_superuser else url
    log = logs / f"tenants-{dialect}-{module.rpartition('.')[2]}-{as_superuser}.log"
    service = Service(log, "--database-url", served, command=(sys.executable, "-m", module)).start()
    asker = Asking(service.url, CLIENT, SECRET)
    try:
        yield asker, url
    finally:
        asker.close()
        service.kill()
        databases.drop(url)


async def _seed(url: str) -> None:
    database = await open_database(url)
    for tenant, name in ((MINE, "Mine"), (THEIRS, "ZQXJKV")):
        await create_tenant(database, tenant, settings={"name": name}, at=BEGINNING, user="seed")
    await create_client(
        database, client_id=CLIENT, secret=SECRET, tenant_id=MINE, scopes=SCOPES, name=None, at=BEGINNING
    )
    await furnish(url, MINE)

    async def mine(session: Session) -> None:
        for entity in in_order():
            fields = {one.wire: one for one in entity.fields}
            rows = [
                {
                    n: python_value(fields[n], v) if n in fields else v
                    for n, v in seeded_row(MINE, entity, number).items()
                }
                for number in NUMBERS
            ]
            await insert_rows(session, entity.set_name, rows, at=BEGINNING, by="seed")

    async def theirs(session: Session) -> None:
        for table, rows in canary_rows(CLIENT):
            await session.execute_many(insert(table), rows)

    try:
        await database.write(mine, tenant=MINE)
        await database.write(theirs, system=True)
    finally:
        await database.close()


def routes(databases: Databases) -> list[str]:
    """The routes of the cloud edition that are no OData service, as it is put together."""
    url = databases.create("sqlite")
    found: list[str] = []

    async def put_together() -> None:
        settings = Settings(database=url)
        taken = vars(app)["routed"]

        def note(endpoints: Sequence[Any], services: Any) -> Any:
            found.extend(one.route for one in endpoints)
            return taken(endpoints, services)

        vars(app)["routed"] = note
        try:
            async with app.opened_context(settings) as context:
                await app.Cloud(settings)._served(context)
        finally:
            vars(app)["routed"] = taken

    run(put_together())
    databases.drop(url)
    return found

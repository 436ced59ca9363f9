"""Two tenants on one service: one asks, the other has canaries everywhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import insert

from promenade import app
from promenade.settings import Settings
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.web.http.rate_limits import RateLimits
from promenade.web.services.cloud import CloudService
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.contract.made_up import BEGINNING, in_order, python_value, seeded_row
from tests.kit.databases import Databases, past_the_wall
from tests.kit.logged import seed_rows
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
    """Serve a database with both tenants' rows; return the asking client. ``module`` is the command to run."""
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
            await seed_rows(session, entity.set_name, rows, at=BEGINNING, by="seed")

    async def theirs(session: Session) -> None:
        for table, rows in canary_rows(CLIENT):
            await session.execute_many(insert(table), rows)

    try:
        await database.write(mine, tenant=MINE)
        await database.write(theirs, system=True)
    finally:
        await database.close()


def routes(databases: Databases) -> list[str]:
    """Return the routes of the complete cloud edition that are not OData services."""
    url = databases.create("sqlite")
    found: list[str] = []

    async def put_together() -> None:
        settings = Settings(database=url)
        async with app.opened_context(settings) as context:
            service = CloudService(context, settings, RateLimits(per_tenant=0, per_client=0))
            served = [(service.at_once, {}), *(make() for make in service.later.values())]
            found.extend(dict.fromkeys(endpoint.route for endpoints, _ in served for endpoint in endpoints))

    run(put_together())
    databases.drop(url)
    return found

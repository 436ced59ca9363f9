"""`promenade customer`: the operator prints what is stored about a customer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from promenade.cli import main
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.kit.databases import Databases
from tests.kit.tenants import make_tenants


@pytest.fixture(scope="module")
def database_url(databases: Databases) -> Iterator[str]:
    url = databases.create("sqlite")
    make_tenants(url, "acme")
    yield url
    databases.drop(url)


def test_a_customer_is_printed_line_by_line(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def write() -> None:
        async def work(session: Session) -> None:
            await session.rowcount(sa.insert(table("loyalty_balances")), {"customer_id": "C-4711", "points": 12})
            await session.rowcount(sa.insert(table("loyalty_balances")), {"customer_id": "C-1", "points": 3})

        database = await open_database(database_url)
        await database.write(work, tenant="acme")
        await database.close()

    asyncio.run(write())

    def run(customer_id: str, tenant: str = "acme") -> tuple[str, str]:
        with pytest.raises(SystemExit):
            main(["customer", "export", customer_id, "--tenant", tenant, "--database-url", database_url])
        return capsys.readouterr()

    (line,) = run("C-4711")[0].splitlines()
    told = json.loads(line)
    assert (told["kind"], told["values"]["customerId"], told["values"]["points"]) == ("LoyaltyBalances", "C-4711", 12)
    assert run("C-9")[0] == ""
    assert run("C-4711", "nobody")[1] == "promenade: There is no tenant nobody.\n"

"""Creates tenants and clients by function calls instead of the operator's commands, which take seconds to start."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant

__all__ = ["make_clients", "make_tenants"]


def make_tenants(database_url: str, *tenants: str) -> None:
    """Create tenants without settings."""

    async def make(database: Database) -> None:
        at = datetime.now(UTC)
        for tenant in tenants:
            await create_tenant(database, tenant, settings={}, at=at, user="tests")

    _carry_out(database_url, make)


def make_clients(
    database_url: str, tenant: str, scopes: Mapping[str, Sequence[str]], *, is_new: bool = False
) -> dict[str, tuple[str, str]]:
    """Create clients and return their IDs and secrets by role; ``is_new`` also creates the tenant."""
    clients = {role: (f"{role}-{secrets.token_hex(4)}", secrets.token_urlsafe(32)) for role in scopes}

    async def make(database: Database) -> None:
        at = datetime.now(UTC)
        if is_new:
            await create_tenant(database, tenant, settings={}, at=at, user="tests")
        for role, (client_id, secret) in clients.items():
            await create_client(
                database, client_id=client_id, secret=secret, tenant_id=tenant, scopes=scopes[role], at=at
            )

    _carry_out(database_url, make)
    return clients


def _carry_out(database_url: str, work: Callable[[Database], Awaitable[None]]) -> None:
    """Run in a separate thread: a fixture may be created while an event loop runs."""

    async def run() -> None:
        database = await open_database(database_url)
        try:
            await work(database)
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()

"""Commands about what is stored of a retailer's customers."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_json, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database


@click.group()
def customer() -> None:
    """A retailer's customers: what is stored about them."""


@customer.command("export")
@click.argument("customer_id", metavar="CUSTOMER")
@option("--tenant", "tenant_id", required=True, help="The tenant whose customer it is.")
@database_options
def customer_export(customer_id: str, tenant_id: str, **options: Any) -> None:
    """Print the rows that name the ID CUSTOMER, one JSON object {"kind", "values"} on each line.

    Codes of coupons are left out; the page on data protection says what else is.
    """

    async def work(database: Database) -> None:
        from promenade.workflows.access.customers import export_customer

        async for record in export_customer(database, tenant_id, customer_id):
            print_json({"kind": record.kind, "values": record.values})

    with_database(Settings(**options), work)

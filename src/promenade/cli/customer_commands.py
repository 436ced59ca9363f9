"""Commands about what is stored of a retailer's customers: tell it, and erase it."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_json, print_rows, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database
    from promenade.workflows.access.erasures import Erasure


@click.group()
def customer() -> None:
    """A retailer's customers: tell what is stored about them, and erase it."""


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


@customer.command("erase")
@click.argument("customer_id", metavar="CUSTOMER")
@option("--tenant", "tenant_id", required=True, help="The tenant whose customer it is.")
@option("--forget", is_flag=True, help="Forget an erasure that has ended: the ID is a new customer's from now on.")
@database_options
def customer_erase(customer_id: str, tenant_id: str, forget: bool, **options: Any) -> None:
    """Replace the ID CUSTOMER by a random one wherever it is stored, and print the erasure. Nothing can undo it.

    Servers or workers do it, in portions; `customer erasures` tells how far they are. Sums stay as they are. What comes
    under the ID later is erased too, until you forget the erasure.
    """

    async def work(database: Database) -> Erasure:
        import secrets

        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.erasures import erase_customer, forget_erasure

        if forget:
            return await forget_erasure(database, tenant_id, customer_id)
        return await erase_customer(
            database, tenant_id, customer_id, secret=secrets.token_bytes(32), new_id=new_id, at=clock()
        )

    erasure = with_database(Settings(**options), work)
    if forget:
        click.echo(f"Erasure {erasure.id} is forgotten.")
    else:
        print_json(_told(erasure))


@customer.command("erasures")
@option("--tenant", "tenant_id", required=True, help="The tenant whose customers they are.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def customer_erasures(tenant_id: str, as_json: bool, **options: Any) -> None:
    """Print how far erasures of customers are, the latest first.

    Those that have ended do not say whose they were.
    """

    async def work(database: Database) -> list[Erasure]:
        from promenade.workflows.access.erasures import list_erasures

        return await list_erasures(database, tenant_id)

    print_rows([_told(erasure) for erasure in with_database(Settings(**options), work)], as_json=as_json)


def _told(erasure: Erasure) -> dict[str, Any]:
    return {
        "id": erasure.id,
        "status": erasure.status,
        "customerId": erasure.customer_id,
        "requestedAt": erasure.requested_at,
        "completedAt": erasure.completed_at,
        "changedRows": erasure.changed_rows,
    }

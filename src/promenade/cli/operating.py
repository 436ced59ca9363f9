"""Commands for operators: inspect the running service and intervene."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_rows, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database

STATUSES = ("PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED")

_USER = "cli"


@click.command()
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def clockwork(as_json: bool, **options: Any) -> None:
    """Show the scheduled jobs: when they are due, how their last run went, who is running them."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.workflows.clockwork.sheet import clock_sheet

        return await clock_sheet(database, clock())

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@click.group("side-effects")
def side_effects() -> None:
    """The side effects of confirmed sales, and those that failed."""


@side_effects.command("list")
@option("--tenant", "tenant_id", required=True, help="Tenant of the sales.")
@option("--status", type=click.Choice(STATUSES), help="Only side effects with this status.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def side_effects_list(tenant_id: str, status: str | None, as_json: bool, **options: Any) -> None:
    """Show side effects of confirmed sales, the oldest first, up to a thousand."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.workflows.access.tenants import require_tenant
        from promenade.workflows.sales.side_effects_requeue import list_side_effects

        await require_tenant(database, tenant_id)
        return await list_side_effects(database, tenant_id, status=status)

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@side_effects.command("requeue")
@option("--tenant", "tenant_id", required=True, help="Tenant of the sales.")
@option("--transaction", "transaction_id", help="The transaction; with --counter.")
@option("--counter", type=click.IntRange(1, 2**31 - 1), help="Its confirmed iteration.")
@option("--all", "is_all", is_flag=True, help="All side effects that have failed.")
@database_options
def side_effects_requeue(
    tenant_id: str, transaction_id: str | None, counter: int | None, is_all: bool, **options: Any
) -> None:
    """Requeue failed side effects: of one sale, or of all. What has been done is not repeated."""
    is_one = transaction_id is not None and counter is not None
    if is_all == is_one or (is_all and (transaction_id is not None or counter is not None)):
        raise click.UsageError("Give --transaction with --counter, or --all.")

    async def work(database: Database) -> int:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.store.pricing.iterations import CLOUD
        from promenade.workflows.access.tenants import require_tenant
        from promenade.workflows.sales.side_effects_requeue import requeue_all_failed, requeue_one

        await require_tenant(database, tenant_id)
        if transaction_id is None or counter is None:
            return await requeue_all_failed(database, tenant_id, user=_USER, at=clock(), new_id=new_id)
        await database.write(
            lambda session: requeue_one(session, CLOUD, transaction_id, counter, user=_USER, at=clock(), new_id=new_id),
            tenant=tenant_id,
        )
        return 1

    count = with_database(Settings(**options), work)
    click.echo(f"{count} will run again." if count else "None has failed.")


@click.group()
def report() -> None:
    """The figures of reports."""


@report.command("rebuild")
@option("--tenant", "tenant_id", required=True, help="Tenant of the reports.")
@database_options
def report_rebuild(tenant_id: str, **options: Any) -> None:
    """Have the worker recompute all figures of sales in reports from the logs. They are incomplete meanwhile."""

    async def work(database: Database) -> None:
        from promenade.workflows.access.tenants import require_tenant
        from promenade.workflows.reports.rebuilding import begin_rebuild

        await require_tenant(database, tenant_id)
        await begin_rebuild(database, tenant_id)

    with_database(Settings(**options), work)
    click.echo(f"The reports of {tenant_id} will be computed again.")


operator_commands: tuple[click.Command, ...] = (clockwork, side_effects, report)
"""What the command line offers of this module."""

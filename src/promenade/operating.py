"""Commands of those who keep the service running: what is going on, and what to do about it."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from promenade.console import database_options, option, print_rows, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.unit import Database

__all__ = ["operator_commands"]

STATUSES = ("PENDING", "RUNNING", "COMPLETED", "FAILED")

_USER = "cli"


@click.command()
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def clockwork(as_json: bool, **options: Any) -> None:
    """Show the jobs that the clock starts: when they are due, how their last run went, who is running them."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.app import clock
        from promenade.workflows.clockwork.sheet import clock_sheet

        return await clock_sheet(database, clock())

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@click.group("side-effects")
def side_effects() -> None:
    """What confirmed sales have set in motion, and what has failed of it."""


@side_effects.command("list")
@option("--tenant", "tenant_id", required=True, help="Whose sales.")
@option("--status", type=click.Choice(STATUSES), help="Only those that are so.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def side_effects_list(tenant_id: str, status: str | None, as_json: bool, **options: Any) -> None:
    """Show side effects of confirmed sales, the oldest first, up to a thousand."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.workflows.side_effects_requeue import list_side_effects
        from promenade.workflows.tenants import require_tenant

        await require_tenant(database, tenant_id)
        return await list_side_effects(database, tenant_id, status=status)

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@side_effects.command("requeue")
@option("--tenant", "tenant_id", required=True, help="Whose sales.")
@option("--transaction", "transaction_id", help="The transaction; with --counter.")
@option("--counter", type=click.IntRange(1, 2**31 - 1), help="Its confirmed iteration.")
@option("--all", "is_all", is_flag=True, help="All that have failed.")
@database_options
def side_effects_requeue(
    tenant_id: str, transaction_id: str | None, counter: int | None, is_all: bool, **options: Any
) -> None:
    """Let side effects that have failed run again: of one sale, or of all. What was done is not done twice."""
    is_one = transaction_id is not None and counter is not None
    if is_all == is_one or (is_all and (transaction_id is not None or counter is not None)):
        raise click.UsageError("Give --transaction with --counter, or --all.")

    async def work(database: Database) -> int:
        from promenade.app import clock, new_id
        from promenade.workflows.context import CLOUD
        from promenade.workflows.side_effects_requeue import requeue_all_failed, requeue_one
        from promenade.workflows.tenants import require_tenant

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
    """What reports count of the sales."""


@report.command("rebuild")
@option("--tenant", "tenant_id", required=True, help="Whose reports.")
@database_options
def report_rebuild(tenant_id: str, **options: Any) -> None:
    """Have the worker count anew, from the logs, all that reports tell of sales. They are short of it meanwhile."""

    async def work(database: Database) -> None:
        from promenade.workflows.reporting.rebuilding import begin_rebuild
        from promenade.workflows.tenants import require_tenant

        await require_tenant(database, tenant_id)
        await begin_rebuild(database, tenant_id)

    with_database(Settings(**options), work)
    click.echo(f"The reports of {tenant_id} will be counted anew.")


operator_commands: tuple[click.Command, ...] = (clockwork, side_effects, report)
"""What the command line offers of this module."""

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


operator_commands: tuple[click.Command, ...] = (clockwork,)
"""What the command line offers of this module."""

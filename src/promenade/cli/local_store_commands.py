"""The command for the operator of a store's machine: regain access when the administrator's password is lost."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database

_LINE_MAX = 8192


@click.group("local-admin")
def local_admin() -> None:
    """The administrator of a store."""


@local_admin.command("reset-password")
@option("--password-stdin", is_flag=True, help="Read the password from the first line of the standard input.")
@database_options
def reset_password(password_stdin: bool, **options: Any) -> None:
    """Set a new administrator's password; a running store uses it at once, and sessions end."""
    from promenade.workflows.access.passwords import check_password

    settings = Settings(**options)
    password = _first_line() if password_stdin else click.prompt("Password", hide_input=True, confirmation_prompt=True)
    check_password(password)

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.workflows.access.local_admin import reset_password as reset

        await reset(database, password, clock())

    with_database(settings, work)
    click.echo("The password was set; sessions that were open have ended.")


def _first_line() -> str:
    try:
        return sys.stdin.buffer.readline(_LINE_MAX).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise click.UsageError("The password on the standard input must be text in UTF-8.") from None

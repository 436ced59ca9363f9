"""Commands for a store's outbound link to its cloud."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_json, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database
    from promenade.workflows.replica.exchanging import Registered

_INTERVAL_MAX = 86_400
_REJECTED_LINES = 10


@click.group("sync-link")
def sync_link() -> None:
    """A store's link to its cloud. A running store applies changes within two seconds."""


@sync_link.command("set")
@option("--url", help="The cloud's address (https).")
@option("--auth-url", help="Its token issuer's address; default: the cloud's.")
@option("--client-id", help="Client ID of the store: a client with the scope svc.Sync.")
@option("--client-secret", help="Its secret; --client-secret-stdin or an environment variable is safer.")
@option("--client-secret-stdin", is_flag=True, help="Read the secret from the standard input.")
@option("--enrolment-code", help="In place of a secret: the code that the store replaces by a secret of its own.")
@option("--store-code", help="Short unique code of the store.")
@option("--name", "store_name", help="Name of the store.")
@option("--pos-group-code", help="The POS group that it serves.")
@option(
    "--interval",
    "interval_seconds",
    type=click.IntRange(1, _INTERVAL_MAX),
    help="Seconds between two checks for changes; initially 60.",
)
@option("--yes", is_flag=True, help="Replace what the store has by the cloud's data without asking.")
@database_options  # fmt: skip
def sync_link_set(
    url: str | None,
    auth_url: str | None,
    client_id: str | None,
    client_secret: str | None,
    client_secret_stdin: bool,
    enrolment_code: str | None,
    store_code: str | None,
    store_name: str | None,
    pos_group_code: str | None,
    interval_seconds: int | None,
    yes: bool,
    **options: Any,
) -> None:
    """Configure the link, or change only the options given.

    With a link the cloud's rows win: the first download replaces or deletes what the store has. It is told what that is
    and asked for consent, and a copy of the database is kept. Another address or another store code starts over.
    """
    if client_secret_stdin:
        if client_secret is not None:
            raise click.UsageError("Give the secret once: --client-secret or --client-secret-stdin.")
        client_secret = sys.stdin.readline().rstrip("\r\n")

    if enrolment_code is not None and client_secret is not None:
        raise click.UsageError("Give a secret or an enrolment code, not both.")
    settings = Settings(**options)

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.workflows.replica.linking import LinkChange, find_replaced, set_link

        change = LinkChange(
            url,
            auth_url,
            client_id,
            client_secret if enrolment_code is None else enrolment_code,
            store_code,
            store_name,
            pos_group_code,
            interval_seconds,
            None if enrolment_code is None else secrets.token_urlsafe(32),
        )
        replaced = await find_replaced(database, change)
        if replaced:
            _agree(replaced, yes)
            _keep_copy(settings, clock())
        await set_link(database, change, at=clock())

    with_database(settings, work, creates=True)  # a machine may be prepared before its store is first started
    click.echo(f"The link of {settings.shown_database} was set. Test it with `promenade sync-link test`.")


def _agree(replaced: Mapping[str, int], yes: bool) -> None:
    """Say what will be replaced, and go on only with consent."""
    counts = ", ".join(f"{number} of {name}" for name, number in replaced.items())
    click.echo(f"This store has data of its own, which the cloud's will replace: {counts}.", err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("Nothing was changed. Run it again with --yes to replace the store's own data.")
    click.confirm("Replace it?", abort=True, err=True)


def _keep_copy(settings: Settings, at: datetime) -> None:
    from promenade.store.driver.sqlite.files import copy_beside

    copy = copy_beside(settings.database_url, "before-link", at)
    if copy is None:
        click.echo("To go back you need a dump of the database: a server's cannot be copied from here.", err=True)
        return
    database = copy.name.partition(".before-link-")[0]
    click.echo(
        f"A copy of the database was kept: {copy}\nTo go back, stop the store, put the copy in place of {database}, "
        "delete the files beside it that end in -wal and -shm, and start the store."
    )


@sync_link.command("show")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def sync_link_show(as_json: bool, **options: Any) -> None:
    """Show the link without its secret, its state, what waits to be sent and what the cloud has refused."""

    async def work(database: Database) -> dict[str, Any]:
        from promenade.clock import clock
        from promenade.workflows.replica.linking import show_link

        return await show_link(database, at=clock())

    shown = with_database(Settings(**options), work)
    if as_json:
        print_json(shown)
        return
    refused = shown.pop("rejectedUploads")
    width = max(len(name) for name in shown)
    for name, value in shown.items():
        click.echo(f"{name:{width}}  {'' if value is None else value}".rstrip())
    for one in refused[:_REJECTED_LINES]:
        what = f"{one['kind']} {one['transactionId'] or one['id']} ({one['transactionCounter']})"
        click.echo(f"rejected: {what}: {one['reason']}")


@sync_link.command("test")
@database_options
def sync_link_test(**options: Any) -> None:
    """Get a token and register the store with the cloud; exit code 1: cloud not reached, 2: cloud refuses."""

    async def work(database: Database) -> Registered:
        from promenade.workflows.replica.linking import test_link

        return await test_link(database)

    known = with_database(Settings(**options), work)
    of_tenant = "" if known.tenant_id is None else f" of tenant {known.tenant_id}"
    click.echo(f"The cloud knows this store{of_tenant} as deployment {known.deployment_id}.")


@sync_link.command("retry")
@database_options
def sync_link_retry(**options: Any) -> None:
    """Resend what the cloud has refused."""

    async def work(database: Database) -> int:
        from promenade.workflows.replica.linking import retry_rejected

        return await retry_rejected(database)

    count = with_database(Settings(**options), work)
    click.echo(f"{count} will be sent again." if count else "Nothing was refused.")

"""The command line.

Heavy modules are imported only by the commands that need them, so that `--help` and errors in options appear at once.
"""

# ruff: noqa: PLC0415 -- imports stand inside commands, see above

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from promenade import __version__
from promenade.cli.archive_commands import archive
from promenade.cli.client_commands import client
from promenade.cli.console import (
    EXIT_WRONG_VALUE,
    background_options,
    cache_option,
    database_options,
    exit_code,
    listen_options,
    log_option,
    logging_as,
    make_data_dir,
    option,
    prepare_database,
    print_rows,
    require_database,
    run,
    serve_options,
    serving,
    traces_options,
    warn_of_needless_power,
    with_database,
)
from promenade.cli.customer_commands import customer
from promenade.cli.doctor_command import doctor, report
from promenade.cli.document_commands import document_commands
from promenade.cli.key_commands import key
from promenade.cli.local_store_commands import local_admin
from promenade.cli.mcp_command import mcp
from promenade.cli.operating import operator_commands
from promenade.cli.person_commands import person
from promenade.cli.replaying import replay
from promenade.cli.sync_link_commands import sync_link
from promenade.cli.till_key_commands import till_key
from promenade.cli.trust_commands import trust
from promenade.errors import PromenadeError, Unavailable
from promenade.settings import KEEP_DAYS_MAX, Settings, SettingsError

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database

__all__ = ["main"]

_USER = "cli"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="promenade %(version)s")
def cli() -> None:
    """Promotion and coupon engine for retail."""


for _command in (
    *operator_commands, *document_commands, client, person, customer, doctor, replay, key, trust, local_admin, till_key,
    sync_link, mcp, archive,
):  # fmt: skip
    cli.add_command(_command)


@cli.command()
@serve_options
def serve(**options: Any) -> None:
    """Serve HTTP. SQLite is upgraded to the current schema automatically, PostgreSQL by `promenade db upgrade`."""
    with logging_as(options["log_format"]):
        settings = Settings(**options)
        with serving(settings):
            _serve(settings)


@cli.command()
@listen_options
@option("--seed", type=int, default=1, show_default=True, help="Seed of the demo's random data.")
@option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the demo here; a demo that is here already starts again as it was. Default: a temporary directory.",
)
def demo(host: str, port: int, seed: int, data_dir: Path | None) -> None:
    """Serve a freshly seeded retailer; prints credentials and curl commands ready to paste.

    Webhooks may call receivers on this machine.
    """
    import contextlib
    import tempfile

    with contextlib.ExitStack() as stack:
        if data_dir is None:
            data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="promenade-demo-")))
        settings = Settings(host=host, port=port, data_dir=data_dir, webhook_allow=("127.0.0.1", "localhost"))
        stack.enter_context(serving(settings))
        click.echo(run(_seed_demo(settings, seed)))
        with logging_as(settings.log_format):
            _serve(settings)


@cli.command()
@database_options
@cache_option
@background_options
@log_option
@traces_options
@option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    help="Port for this worker's metrics; default: they are not served.",
)
@option("--metrics-host", default="127.0.0.1", show_default=True, help="Address to serve them on, without a token.")
def worker(metrics_port: int | None, metrics_host: str, **options: Any) -> None:
    """Run background work in a separate process, beside `serve --workers N`."""
    with logging_as(options["log_format"]):
        settings = Settings(**options)
        with serving(settings):
            warn_of_needless_power(settings)
            if metrics_port is not None:
                _serve_metrics(metrics_host, metrics_port)
            run(_work(settings))


def _serve_metrics(host: str, port: int) -> None:
    from promenade.metrics import serve_metrics

    try:
        serve_metrics(host, port)
    except OSError as error:
        raise Unavailable("METRICS_ADDRESS", f"Metrics cannot be served on {host}:{port}: {error.strerror}.") from error


@cli.group()
def db() -> None:
    """The database."""


@db.command()
@database_options
def upgrade(**options: Any) -> None:
    """Upgrade the database to the current schema."""
    from promenade.store.driver.faults import database_errors
    from promenade.store.driver.migrations import upgrade as upgrade_schema

    settings = Settings(**options)
    make_data_dir(settings)
    with database_errors():
        upgrade_schema(settings.database_url)
    click.echo("The database has the current schema.")


@db.command("check")
@database_options
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def db_check(as_json: bool, **options: Any) -> None:
    """Check that a copy is whole: sums and counters, references, tables, the file. It changes nothing.

    It reads the whole database: run it on a restored copy, or in a quiet hour. Exit code 1: something is wrong.
    """
    from promenade.doctor import verify
    from promenade.store.driver.faults import database_errors

    settings = Settings(**options)
    require_database(settings)
    with database_errors():
        findings = run(verify(settings))
    report(findings, as_json=as_json)


@db.command("grant")
@click.argument("role", metavar="ROLE")
@database_options
def db_grant(role: str, **options: Any) -> None:
    """Let ROLE of PostgreSQL serve and work: read and write rows, own nothing. Run it as the tables' owner.

    Once is enough: tables of later upgrades are included.
    """
    from promenade.store.driver.faults import database_errors
    from promenade.store.driver.postgresql.roles import grant

    settings = Settings(**options)
    if settings.is_sqlite:
        raise click.UsageError("SQLite has no roles: give the --database-url of a PostgreSQL database.")
    prepare_database(settings)
    with database_errors():
        grant(settings.database_url, role)
    click.echo(f"{role} may now serve and work.")


@db.command("partition")
@click.option(
    "--months",
    type=click.IntRange(1, 120),
    default=12,
    show_default=True,
    help="How many months after the current one to make.",
)
@click.option(
    "--drop-evaluations-after-days",
    "evaluations_days",
    type=click.IntRange(31, KEEP_DAYS_MAX),
    help="How long after its end a month of evaluations is dropped as a whole; default: once it is empty."
    " Give the sum of the workers' --keep-sales-days and --keep-iterations-days, or more.",
)
@database_options
def db_partition(months: int, evaluations_days: int | None, **options: Any) -> None:
    """Partition large tables of PostgreSQL by month. Run it as the tables' owner, then once a month.

    It makes the months to come, and drops those that are over and empty.
    """
    from promenade.clock import clock
    from promenade.store.driver.faults import database_errors
    from promenade.store.driver.postgresql.partitions import partition

    settings = Settings(**options)
    if settings.is_sqlite:
        raise click.UsageError("SQLite has no partitions: give the --database-url of a PostgreSQL database.")
    prepare_database(settings)
    is_done = False
    with database_errors():
        for sentence in partition(settings.database_url, now=clock(), months=months, evaluations_days=evaluations_days):
            click.echo(sentence)
            is_done = True
    if not is_done:
        click.echo("Nothing is to be done.")


@cli.group()
def tenant() -> None:
    """Tenants and their settings."""


def _assignments(settings: Sequence[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, _ in pairs:
        if not equals:
            raise click.UsageError(f"Give settings as name=value, not as {name}.")
    return {name: value for name, _, value in pairs}


@tenant.command("create")
@click.argument("tenant_id", metavar="TENANT")
@click.argument("settings", metavar="[NAME=VALUE]...", nargs=-1)
@database_options
def tenant_create(tenant_id: str, settings: tuple[str, ...], **options: Any) -> None:
    """Create TENANT, with settings if given."""
    values = _assignments(settings)

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.workflows.access.tenants import create_tenant

        await create_tenant(database, tenant_id, settings=values, at=clock(), user=_USER)

    with_database(Settings(**options), work, creates=True)
    click.echo(f"Tenant {tenant_id} was created.")


@tenant.command("list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def tenant_list(as_json: bool, **options: Any) -> None:
    """Show the tenants and their settings."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.workflows.access.tenants import list_tenants

        return await list_tenants(database)

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@tenant.command("set")
@click.argument("tenant_id", metavar="TENANT")
@click.argument("settings", metavar="NAME=VALUE...", nargs=-1, required=True)
@database_options
def tenant_set(tenant_id: str, settings: tuple[str, ...], **options: Any) -> None:
    """Change settings of TENANT, such as combinationStrategy=BEST_DEAL."""
    values = _assignments(settings)

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.tenants import set_tenant

        await set_tenant(database, tenant_id, values, at=clock(), user=_USER, new_id=new_id)

    with_database(Settings(**options), work)
    click.echo(f"Tenant {tenant_id} was changed.")


@tenant.command("delete")
@click.argument("tenant_id", metavar="TENANT")
@option("--confirm", metavar="TENANT", help="The tenant's ID again, instead of typing it when asked.")
@option("--no-wait", is_flag=True, help="No server is running that could still write for the tenant.")
@database_options
def tenant_delete(tenant_id: str, confirm: str | None, no_wait: bool, **options: Any) -> None:
    """Delete TENANT with all of its data: sales, reports, promotions, coupons, budgets, clients. Nothing can undo it.

    Servers may run meanwhile; they refuse the tenant's requests within a minute. If it is interrupted, run it again.
    """
    if confirm is None:
        confirm = click.prompt(f"This deletes everything of tenant {tenant_id}. Type its ID to go on", type=str)
    if confirm != tenant_id:
        raise click.UsageError("That is not the ID of the tenant: nothing was deleted.")

    async def work(database: Database) -> int:
        import asyncio

        from promenade.workflows.access.erasing import delete_tenant

        async def wait(seconds: float) -> None:
            if not no_wait:
                click.echo(f"Waiting {seconds:.0f} seconds for servers that still know the tenant.", err=True)
                await asyncio.sleep(seconds)

        return await delete_tenant(database, tenant_id, wait=wait)

    count = with_database(Settings(**options), work)
    click.echo(f"Tenant {tenant_id} was deleted, with {count} rows.")


# ---- what commands share --------------------------------------------------------------------------------------------


def _serve(settings: Settings) -> None:
    from functools import partial

    from promenade.app import serve as serve_until_stopped
    from promenade.cli.log_lines import configure_log

    configure = partial(configure_log, settings.log_format)
    warn_of_needless_power(settings)
    if not serve_until_stopped(settings, configure):
        raise SystemExit(1)


async def _seed_demo(settings: Settings, seed: int) -> str:
    from promenade.app import opened_context
    from promenade.demo import DemoTenant, seed_once
    from promenade.demo import seed as seed_demo

    async with opened_context(settings) as context:

        async def make() -> DemoTenant:
            click.echo("Seeding a retailer and five weeks of its sales; this takes a few seconds.", err=True)
            return await seed_demo(context, seed)

        seeded = await seed_once(context, settings.data_dir, make)
        return seeded.greeting(settings.base_url)


async def _work(settings: Settings) -> None:
    import asyncio
    import signal

    from promenade.app import opened_context, traced
    from promenade.worker import run_worker

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with traced(settings, "promenade-worker"), opened_context(settings) as context:
        await run_worker(context, stop)


def _fail(message: str, code: int) -> NoReturn:
    click.echo("promenade: " + " ".join(message.split()), err=True)
    raise SystemExit(code)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an invalid value gives one clear line and exit code 2, a failure one line and exit code 1."""
    try:
        code = cli.main(args=arguments, prog_name="promenade", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        raise SystemExit(EXIT_WRONG_VALUE) from None
    except click.UsageError as error:
        _fail(error.format_message(), EXIT_WRONG_VALUE)
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except (SettingsError, PromenadeError) as error:
        _fail(str(error), exit_code(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    raise SystemExit(code if isinstance(code, int) else 0)

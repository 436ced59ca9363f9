"""How commands read their options, print, and open the database.

Every option can also be set by the variable PROMENADE_<OPTION>.
"""

# ruff: noqa: PLC0415 -- what a command needs is imported when it runs, so that `--help` answers at once

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from promenade.errors import NotFound, PromenadeError, Unavailable
from promenade.log import Logger
from promenade.settings import (
    EDITIONS,
    ENVELOPES,
    KEEP_DAYS_MAX,
    LOG_FORMATS,
    WEBHOOK_RETRY_SCHEDULE,
    Settings,
    SettingsError,
)

if TYPE_CHECKING:
    from datetime import datetime

    from promenade.store.driver.unit import Database

EXIT_WRONG_VALUE = 2

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])


def option(name: str, *names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Return a click option that is also read from the environment."""
    variable = "PROMENADE_" + name.removeprefix("--").upper().replace("-", "_")
    return click.option(name, *names, envvar=variable, show_envvar=True, **attributes)


def _options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def apply(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


database_options = _options(
    option("--database-url", "database", help="sqlite:///path or postgresql://...; default: SQLite in --data-dir."),
    option("--data-dir", type=click.Path(path_type=Path, file_okay=False), default=Path("promenade-data"),
            show_default=True, help="Where files are kept."),
)  # fmt: skip
cache_option = option("--redis-url", help="Redis or Valkey as the cache; default: a cache in the process.")
passphrase_option = option(
    "--key-passphrase",
    help="Passphrase that encrypts the private keys that are kept; set the variable: others see a command's options.",
)
listen_options = _options(
    option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port to listen on."),
)


def _seconds(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(one) for one in text.split(",") if one.strip())
    except ValueError:
        raise click.BadParameter("must be whole seconds, separated by commas.") from None


_file = click.Path(path_type=Path, dir_okay=False)
keep_options = _options(
    option("--keep-iterations-days", type=click.IntRange(1, KEEP_DAYS_MAX), default=30, show_default=True,
           help="How long evaluations that were never confirmed are kept."),
    option("--keep-sales-days", type=click.IntRange(1, KEEP_DAYS_MAX), default=400, show_default=True,
           help="How long the pricing data of confirmed sales is kept, for replays and forecasts."),
    option("--keep-events-days", type=click.IntRange(1, KEEP_DAYS_MAX), default=30, show_default=True,
           help="How long events can be sent again by hand."),
)  # fmt: skip
background_options = _options(
    option("--webhook-allow", multiple=True, metavar="TARGET",
           help="Host, host:port or network that callbacks may reach by http or at a private address (repeatable)."),
    option("--webhook-retry-schedule", metavar="SECONDS,...", callback=_seconds,
           default=",".join(str(one) for one in WEBHOOK_RETRY_SCHEDULE), show_default=True,
           help="How long a failed delivery waits before each further attempt; after the last it is a dead letter."),
    option("--events-to", metavar="URL",
           help="Broker that all events are published to: nats://, nats+tls://, kafka:// or"
                " kafka+tls://[user:password@]host:port[,...]/topic; default: none. Give it to every process that does"
                " background work."),
    option("--events-envelope", type=click.Choice(ENVELOPES), default=ENVELOPES[1], show_default=True,
           help="What is published: CloudEvents as JSON or in binary mode, or the body of webhooks."),
    option("--events-secret", type=_file,
           help="File with the password for the broker, or the token of NATS; read for each connection."),
    option("--events-ca", type=_file, help="Authorities of the broker's certificate (PEM); default: the system's."),
    option("--events-cert", type=_file, help="Client certificate for the broker (PEM)."),
    option("--events-key", type=_file, help="Its private key (PEM)."),
    keep_options,
    option("--keep-imports-days", type=click.IntRange(1, KEEP_DAYS_MAX), default=400, show_default=True,
           help="How long ended import jobs and the raw messages of master data are kept."),
)  # fmt: skip
mtls_options = _options(
    option("--mtls-port", type=click.IntRange(0, 65535),
           help="Port for master data by client certificate (TLS); default: none."),
    option("--mtls-host", help="Address to listen on there; default: that of --host."),
    option("--mtls-cert", type=_file, help="Certificate of that listener, with its chain to the root (PEM)."),
    option("--mtls-key", type=_file, help="Its private key (PEM)."),
    option("--mtls-ca", type=_file, help="Roots and issuers of accepted client certificates (PEM)."),
    option("--mtls-crl", type=_file,
           help="Their revocation lists (PEM or DER); without a current one nobody is accepted."),
)  # fmt: skip
log_option = option("--log-format", type=click.Choice(LOG_FORMATS), default=LOG_FORMATS[0], show_default=True,
                    help="Form of the lines of the log: key=value pairs, or JSON.")  # fmt: skip
traces_options = _options(
    option("--traces-url", metavar="URL",
           help="Collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; default: none."
                " Give it to every process."),
    option("--traces-sample", type=click.FloatRange(0, 1), default=0.1, show_default=True,
           help="Share of the traces that are recorded; 1: all."),
)  # fmt: skip
serve_options = _options(
    option("--edition", type=click.Choice(EDITIONS), default=EDITIONS[0], show_default=True,
           help="What the server is: the cloud, for many tenants and bearer tokens, or one store that works offline."),
    listen_options,
    option("--workers", type=click.IntRange(1, 256), default=1, show_default=True,
            help="Server processes; above 1 needs PostgreSQL and `promenade worker` beside them."),
    option("--drain-seconds", type=click.IntRange(0, 3600), default=0, show_default=True,
           help="How long the service still answers after SIGTERM, while /health/ready says 503 so that a load balancer"
                " takes it out."),
    database_options,
    cache_option,
    option("--reporting-database-url", metavar="URL",
           help="A streaming replica of the database that reports are read from; default: they are read from the"
                " database itself."),
    option("--public-url", help="How clients reach the server; default: http://host:port."),
    option("--hsts-subdomains", is_flag=True,
           help="Browsers use https alone for all hosts below that of --public-url as well, and not only for it."),
    option("--allowed-host", "allowed_hosts", multiple=True, metavar="NAME",
           help="Host name that the service answers to besides that of --public-url, addresses and the machine's own"
                " names (repeatable); '*': any."),
    option("--trusted-proxy", "trusted_proxies", multiple=True, metavar="ADDRESS",
           help="Trusted proxy, by address or network, for X-Forwarded-For and X-Forwarded-Proto (repeatable);"
                " default: none."),
    option("--jwks-url", help="Keys of an external token issuer (https); default: the built-in issuer."),
    option("--issuer", help="The `iss` of accepted tokens; default: the public address."),
    option("--audience", default="promenade", show_default=True, help="The `aud` of accepted tokens."),
    option("--login-client-id",
           help="The back office's public client ID at the external issuer; default: no sign-in there."),
    option("--login-scope", default="openid", show_default=True,
           help="Scopes that the back office requests from that issuer."),
    option("--login-url", help="That issuer's discovery document; default: <issuer>/.well-known/openid-configuration."),
    option("--tenant-claim", "tenant_claims", multiple=True, default=("zid", "tenant"), show_default=True,
            help="Claims that name the tenant, the first present one counts (repeatable)."),
    option("--scope-claim", "scope_claims", multiple=True, default=("scope",), show_default=True,
            help="Claims that list the scopes, the first present one counts (repeatable)."),
    option("--group-claim", "group_claims", multiple=True, default=("groups",), show_default=True,
            help="Claims that list the groups at an external issuer, the first present one counts (repeatable)."),
    log_option,
    option("--access-log", is_flag=True, help="Log each request: method, route, status, milliseconds, address."),
    traces_options,
    passphrase_option,
    option("--metrics-token", help="Bearer token that opens /metrics beyond loopback."),
    option("--mcp", is_flag=True, help="Give agents tools at /mcp, by the Model Context Protocol (cloud edition)."),
    background_options,
    mtls_options,
    option("--instance-id", help="meta.instanceId of responses; default: a new one with every start."),
    option("--tenant", default="local", show_default=True, help="The one tenant of a store (local-store edition)."),
    option("--reset-admin-password", is_flag=True,
           help="Delete the password of a store's administrator, so that setup is open again."),
    option("--rate-limit-tenant", type=click.IntRange(0), default=120_000, show_default=True,
           help="Requests per minute that a tenant may send: to all server processes together if --redis-url is set,"
                " else to each of them; 0: no limit."),
    option("--rate-limit-client", type=click.IntRange(0), default=60_000, show_default=True,
           help="The same for one client of a tenant."),
)  # fmt: skip


def overlap_option(what: str, default: int | None) -> Callable[[Command], Command]:
    """Return the option of commands that replace a key or a secret while the present one still works."""
    text = f"How long the present {what} is still accepted."
    if default is None:
        text += " Default: the tenant's `secretOverlapHours`, else 24."
    return option("--overlap-hours", type=click.IntRange(0, 720), default=default, show_default=True, help=text)


def shown(moment: datetime | None) -> str | None:
    """Return a moment as commands print it: in UTC, to the second."""
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def print_json(value: object) -> None:
    """Print ``value`` as one line of JSON."""
    import msgspec

    click.echo(msgspec.json.encode(value).decode("utf-8"))


def print_rows(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print rows with equal keys as a table, or as JSON."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("There are none.")
        return
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    """In one line, whatever it is: whoever pipes a table into another program wants a line for each row."""
    return "" if value is None else in_one_line(str(value))


def in_one_line(text: str) -> str:
    """Return a text, which may come from anywhere, without what could move the cursor or forge a line."""
    return "".join(one if one.isprintable() else " " for one in text)


# ---- the database of a command ---------------------------------------------------------------------------------------


def make_data_dir(settings: Settings) -> None:
    """Create the directory of the SQLite file; it is accessible to its owner only, whoever made it.

    If it holds other things than the database, it belongs to others, too, and is left as it is.
    """
    from promenade.store.driver.sqlite.files import file_of, take_from_others

    if settings.database is not None:
        return
    directory, file = settings.data_dir, file_of(settings.database_url)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    if file is not None and all(one.name.startswith(file.name) for one in directory.iterdir()):
        take_from_others(directory)


def prepare_database(settings: Settings, *, creates: bool = True) -> None:
    """Upgrade SQLite, which only we use; PostgreSQL may be shared, so its operator decides when.

    ``creates``: a SQLite file that is not there is created. If not, raises NotFound (NO_DATABASE): a command that reads
    or changes what is there would seem to work on the wrong one.
    """
    from promenade.store.driver.faults import database_errors
    from promenade.store.driver.migrations import is_behind, upgrade

    if not creates:
        require_database(settings)
    make_data_dir(settings)
    with database_errors():
        if settings.is_sqlite:
            upgrade(settings.database_url)
        elif is_behind(settings.database_url):
            raise Unavailable(
                "SCHEMA_BEHIND", "The database schema is older than this program: run `promenade db upgrade` first."
            )


def require_database(settings: Settings) -> None:
    """Raise NotFound (NO_DATABASE) if the SQLite file is not there."""
    from promenade.store.driver.sqlite.files import file_of

    file = file_of(settings.database_url)
    if file is not None and not file.exists():
        message = f"There is no database {file}: name the right one with --data-dir or --database-url."
        raise NotFound("NO_DATABASE", f"{message} `promenade db upgrade` makes a new one.")


def warn_of_needless_power(settings: Settings) -> None:
    """Log a warning if the database account could bypass row-level security; the log must be configured."""
    if settings.is_sqlite:
        return
    from promenade.store.driver.faults import database_errors
    from promenade.store.driver.postgresql.roles import needless_power

    with database_errors():
        found = needless_power(settings.database_url)
    if found is not None:
        role, power = found
        advice = "serve as a role that owns nothing: `promenade db grant ROLE`"
        Logger(__name__).warning("database.role_too_strong", role=role, because=power, advice=advice)


@contextlib.contextmanager
def serving(settings: Settings) -> Iterator[None]:
    """Prepare the database; on SQLite, only this process may serve it."""
    from promenade.store.driver.sqlite.sole import sole_process

    make_data_dir(settings)
    with sole_process(settings.database_url):
        prepare_database(settings)
        yield


@contextlib.contextmanager
def logging_as(form: str) -> Iterator[None]:
    """Log in this form from now on. In JSON, why the command fails is a line of the log, too, as all its lines are."""
    from promenade.cli.log_lines import JSON, configure_log

    configure_log(form)
    try:
        yield
    except (SettingsError, PromenadeError) as error:
        if form != JSON:
            raise
        Logger("promenade").critical("promenade.failed", reason=str(error))
        raise SystemExit(exit_code(error)) from None


def exit_code(error: Exception) -> int:
    """Return the exit code of a command that has failed: 1 if it may go well later, 2 if it was given wrongly."""
    return 1 if isinstance(error, Unavailable) else EXIT_WRONG_VALUE


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` in an event loop of its own. Importing asyncio takes as long as all else that `--help` needs."""
    import asyncio

    return asyncio.run(work)


def with_database(
    settings: Settings, work: Callable[[Database], Coroutine[Any, Any, T]], *, creates: bool = False
) -> T:
    """Run a command that needs only the database; ``creates``: a SQLite file that is not there is created."""

    async def opened() -> T:
        from promenade.store.driver.session import open_database

        database = await open_database(settings.database_url)
        try:
            return await work(database)
        finally:
            await database.close()

    prepare_database(settings, creates=creates)
    return run(opened())

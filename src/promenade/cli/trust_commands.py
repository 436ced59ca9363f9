"""Commands for client certificates: the tenants they act for, and a small authority that issues them."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, passphrase_option, print_json, print_rows, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database

_USER = "cli"
_OVERLAP_DAYS_MAX = 7
_overlap_option = option(
    "--overlap-days",
    type=click.IntRange(0, _OVERLAP_DAYS_MAX),
    default=_OVERLAP_DAYS_MAX,
    show_default=True,
    help="How long the tenant's earlier names stay trusted.",
)


@click.group()
def trust() -> None:
    """Client certificates of master data: the tenants they act for."""


def _trust(settings: Settings, common_name: str, tenant_id: str, overlap_days: int) -> None:
    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.workflows.access.trust import trust as trust_name

        await trust_name(database, common_name, tenant_id, overlap_days=overlap_days, at=clock(), user=_USER)

    with_database(settings, work)


@trust.command("add")
@click.argument("common_name", metavar="CN")
@click.argument("tenant_id", metavar="TENANT")
@_overlap_option
@database_options
def trust_add(common_name: str, tenant_id: str, overlap_days: int, **options: Any) -> None:
    """Let certificates with the common name CN act for TENANT, from their next request on.

    Names that TENANT had before expire after the overlap: time to replace a certificate by one of another name.
    """
    _trust(Settings(**options), common_name, tenant_id, overlap_days)
    click.echo(f"{common_name} speaks for {tenant_id}.")


@trust.command("remove")
@click.argument("common_name", metavar="CN")
@database_options
def trust_remove(common_name: str, **options: Any) -> None:
    """Stop trusting the common name CN, from its next request on."""

    async def work(database: Database) -> None:
        from promenade.workflows.access.trust import distrust

        await distrust(database, common_name)

    with_database(Settings(**options), work)
    click.echo(f"{common_name} is no longer trusted.")


@trust.command("list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def trust_list(as_json: bool, **options: Any) -> None:
    """Show the names, their tenants, since when, and until when if they expire."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.workflows.access.trust import list_trusted

        return await list_trusted(database)

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@trust.command("issue")
@option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Directory of the authority; created if there is none.",
)
@option("--cn", "common_name", metavar="CN", help="Issue a client certificate with this common name.")
@option("--tenant", "tenant_id", metavar="TENANT", help="Let it speak for this tenant, as `trust add` does.")
@option(
    "--days",
    type=click.IntRange(1, 3650),
    default=365,
    show_default=True,
    help="How long certificates and the revocation list are valid.",
)
@option(
    "--host",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="Name or address that clients reach the server by (repeatable); default: this machine's own.",
)
@option("--ca-only", is_flag=True, help="Create only the authority, its list and the server's certificate.")
@option("--revoke", metavar="CN", help="Put the certificates of this common name on the revocation list.")
@option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
@passphrase_option
@database_options  # fmt: skip
def trust_issue(
    directory: Path,
    common_name: str | None,
    tenant_id: str | None,
    days: int,
    hosts: tuple[str, ...],
    ca_only: bool,
    revoke: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Issue client certificates, and a server's certificate, from a small authority of your own.

    The revocation list is signed again each time, and a running service picks it up automatically.
    """
    if sum((common_name is not None, ca_only, revoke is not None)) != 1:
        raise click.UsageError("Give one of --cn, --ca-only and --revoke.")
    if tenant_id is not None and common_name is None:
        raise click.UsageError("--tenant needs --cn: the name that speaks for it.")
    from promenade.clock import clock
    from promenade.workflows.access.certificate_authority import CertificateAuthority
    from promenade.workflows.access.trust import require_common_name

    settings = Settings(**options)
    if common_name is not None:
        require_common_name(common_name)
        if tenant_id is not None:
            _trust(settings, common_name, tenant_id, _OVERLAP_DAYS_MAX)
    authority = CertificateAuthority(directory, days=days, at=clock(), passphrase=settings.key_passphrase)
    files = {option: str(path) for option, path in authority.open(hosts).items()}
    if revoke is not None:
        number = authority.revoke(revoke)
        _print(files, f"Revoked: {number} of {revoke}.", as_json=as_json)
        return
    if common_name is not None:
        certificate, key = authority.issue(common_name)
        files |= {"cert": str(certificate), "key": str(key)}
    _print(files, _samples(files), as_json=as_json)


def _samples(files: dict[str, str]) -> str:
    import shlex

    serve = " ".join(f"--{name} {shlex.quote(path)}" for name, path in files.items() if name.startswith("mtls"))
    lines = [f"Serve with   --mtls-port 8443 {serve}"]
    if "cert" in files:
        own = " ".join(f"--{name} {shlex.quote(files[of])}" for name, of in
                       (("cert", "cert"), ("key", "key"), ("cacert", "mtls-ca")))  # fmt: skip
        lines.append(f"Call with    curl {own} https://localhost:8443/health")
    return "\n".join(lines)


def _print(files: dict[str, str], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(files)
    else:
        click.echo(text)

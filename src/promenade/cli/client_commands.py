"""Commands for the clients of the built-in issuer."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import (
    database_options,
    option,
    overlap_option,
    print_json,
    print_rows,
    shown,
    with_database,
)
from promenade.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime

    from promenade.store.driver.unit import Database
    from promenade.workflows.access.enrolments import Enrolment


@click.group()
def client() -> None:
    """Clients of the built-in token issuer."""


@client.command("create")
@option("--tenant", "tenant_id", required=True, help="The tenant its tokens speak for.")
@option("--scope", "scopes", multiple=True, required=True, help="A scope its tokens carry (repeatable).")
@option("--name", help="What the client is for.")
@option("--json", "as_json", is_flag=True, help='Print {"clientId", "clientSecret"} and nothing else.')
@database_options
def client_create(tenant_id: str, scopes: tuple[str, ...], name: str | None, as_json: bool, **options: Any) -> None:
    """Create a client and show its secret, once: only a digest of it is stored."""
    from promenade.clock import clock
    from promenade.ids import new_id

    client_id, secret = new_id(), secrets.token_urlsafe(32)

    async def work(database: Database) -> None:
        from promenade.workflows.access.clients import create_client

        await create_client(
            database, client_id=client_id, secret=secret, tenant_id=tenant_id, scopes=scopes, name=name, at=clock()
        )

    with_database(Settings(**options), work)
    if as_json:
        print_json({"clientId": client_id, "clientSecret": secret})
    else:
        click.echo(f"client id      {client_id}\nclient secret  {secret}\nThe secret is not shown again.")


@client.command("enrol")
@option("--tenant", "tenant_id", required=True, help="The tenant of the clients.")
@option("--code", "codes", multiple=True, help="The code of a client (repeatable).")
@option("--all-new", is_flag=True, help="All active clients of the tenant with neither a secret nor a code.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def client_enrol(tenant_id: str, codes: tuple[str, ...], all_new: bool, as_json: bool, **options: Any) -> None:
    """Make enrolment codes and show them, once: each client replaces its code by a secret of its own.

    A code counts once, for 14 days; one that the client had before is refused from now on.
    """
    if bool(codes) == all_new:
        raise click.UsageError("Name the clients: with --code, or all with --all-new.")

    async def work(database: Database) -> list[Enrolment]:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.enrolments import enrol_clients

        return await enrol_clients(
            database, tenant_id, None if all_new else codes, new_id=new_id, at=clock(), user="cli"
        )

    made = with_database(Settings(**options), work)
    rows = [
        {
            "code": one.code,
            "clientId": one.clientId,
            "enrolmentCode": one.enrolmentCode,
            "enrolmentUntil": shown(one.enrolmentUntil),
        }
        for one in made
    ]
    print_rows(rows, as_json=as_json)


@client.command("list")
@option("--tenant", "tenant_id", help="Only clients of this tenant.")
@option("--overdue", is_flag=True, help="Only clients whose secret is older than their tenant allows.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def client_list(tenant_id: str | None, overdue: bool, as_json: bool, **options: Any) -> None:
    """Show the clients, without their secrets, which are not stored."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.workflows.access.clients import list_clients

        now = clock()
        return [
            {
                "code": found.code or "",
                "clientId": found.client_id,
                "tenantId": found.tenant_id,
                "scopes": " ".join(found.scopes),
                "name": found.name or "",
                "isActive": found.is_active,
                "createdAt": shown(found.created_at),
                "rotatedAt": shown(found.rotated_at),
                "formerUntil": shown(found.accepts_former_until(now)),
                "dueAt": shown(found.secret_due_at(now) if found.has_secret else None),
                "refusedFrom": shown(found.secret_ends_at(now) if found.has_secret else None),
                "lastUsedAt": shown(found.last_used_at),
            }
            for found in await list_clients(database, tenant_id)
            if not overdue or found.is_overdue(now)
        ]

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@client.command("rotate")
@click.argument("client_id", metavar="CLIENT")
@overlap_option("secret", None)
@option(
    "--withdraw",
    is_flag=True,
    help="Refuse the present secret at once, and its tokens within half a minute; for a secret that has leaked.",
)
@option("--json", "as_json", is_flag=True, help='Print {"clientId", "clientSecret", "formerUntil"} and nothing else.')
@database_options
def client_rotate(client_id: str, overlap_hours: int | None, withdraw: bool, as_json: bool, **options: Any) -> None:
    """Replace the secret of CLIENT and show the new one, once; both are accepted for a while."""
    secret = secrets.token_urlsafe(32)

    async def work(database: Database) -> datetime | None:
        from promenade.clock import clock
        from promenade.workflows.access.clients import rotate_client

        return await rotate_client(
            database, client_id, secret, at=clock(), overlap_hours=overlap_hours, withdraws=withdraw
        )

    until = with_database(Settings(**options), work)
    if as_json:
        print_json({"clientId": client_id, "clientSecret": secret, "formerUntil": shown(until)})
        return
    former = "The former secret is refused." if until is None else f"The former one is accepted until {shown(until)}."
    click.echo(f"client secret  {secret}\nThe secret is not shown again. {former}")


@client.command("delete")
@click.argument("client_id", metavar="CLIENT")
@database_options
def client_delete(client_id: str, **options: Any) -> None:
    """Delete a client; tokens that it has are refused within half a minute."""

    async def work(database: Database) -> None:
        from promenade.workflows.access.clients import delete_client

        await delete_client(database, client_id)

    with_database(Settings(**options), work)
    click.echo(f"Client {client_id} was removed.")

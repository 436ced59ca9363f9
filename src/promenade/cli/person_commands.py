"""Commands for people who sign in to the back office."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_json, print_rows, shown, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database

_tenant = option("--tenant", "tenant_id", required=True, help="The person's tenant.")
_url = option(
    "--back-office", default="http://127.0.0.1:8080", show_default=True, help="Address of the back office, for links."
)
_json = option("--json", "as_json", is_flag=True, help='Print {"userName", "link"} and nothing else.')


@click.group()
def person() -> None:
    """People who sign in to the back office at the built-in token issuer."""


@person.command("invite")
@click.argument("user_name", metavar="USER_NAME")
@_tenant
@option("--scope", "scopes", multiple=True, required=True, help="A scope that the person has (repeatable).")
@option("--name", help="What the person is called.")
@option("--code-required", is_flag=True, help="The person needs an app that shows codes.")
@_url
@_json
@database_options
def person_invite(
    user_name: str,
    tenant_id: str,
    scopes: tuple[str, ...],
    name: str | None,
    code_required: bool,
    back_office: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Make a person and show a link, once, by which they choose a password within three days."""

    async def work(database: Database) -> str:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.people import invite_person

        return await invite_person(
            database, tenant_id, user_name, scopes=scopes, name=name, code_required=code_required, new_id=new_id,
            at=clock(),
        )  # fmt: skip

    _show_link(user_name, back_office, with_database(Settings(**options), work), as_json=as_json)


@person.command("list")
@_tenant
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def person_list(tenant_id: str, as_json: bool, **options: Any) -> None:
    """Show the people of a tenant."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.workflows.access.people import list_people

        return [
            {
                "userName": row.user_name,
                "name": row.name or "",
                "scopes": " ".join(row.scopes),
                "isActive": row.is_active,
                "invitedUntil": shown(row.invited_until),
                "passwordSince": shown(row.password_since),
                "codeSince": shown(row.code_since),
                "lastSignInAt": shown(row.last_sign_in_at),
            }
            for row in await list_people(database, tenant_id)
        ]

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@person.command("scopes")
@click.argument("user_name", metavar="USER_NAME")
@_tenant
@option("--scope", "scopes", multiple=True, required=True, help="A scope that the person has from now on (repeatable).")
@database_options
def person_scopes(user_name: str, tenant_id: str, scopes: tuple[str, ...], **options: Any) -> None:
    """Replace the scopes of a person; tokens with one that is lost are refused within half a minute."""
    _change(user_name, tenant_id, {"scopes": list(scopes)}, options)
    click.echo(f"{user_name} has {' '.join(scopes)}.")


@person.command("deactivate")
@click.argument("user_name", metavar="USER_NAME")
@_tenant
@database_options
def person_deactivate(user_name: str, tenant_id: str, **options: Any) -> None:
    """Switch a person off, who is signed out within half a minute."""
    _change(user_name, tenant_id, {"isActive": False}, options)
    click.echo(f"{user_name} may not sign in any more.")


@person.command("activate")
@click.argument("user_name", metavar="USER_NAME")
@_tenant
@database_options
def person_activate(user_name: str, tenant_id: str, **options: Any) -> None:
    """Let a person sign in again, with the password of before."""
    _change(user_name, tenant_id, {"isActive": True}, options)
    click.echo(f"{user_name} may sign in.")


@person.command("reset")
@click.argument("user_name", metavar="USER_NAME")
@_tenant
@_url
@_json
@database_options
def person_reset(user_name: str, tenant_id: str, back_office: str, as_json: bool, **options: Any) -> None:
    """End a person's password, app and sessions, and show a link, once, by which they choose anew."""
    link = _change(user_name, tenant_id, {"invitation": None}, options)
    _show_link(user_name, back_office, str(link), as_json=as_json)


def _change(user_name: str, tenant_id: str, changes: Mapping[str, Any], options: Mapping[str, Any]) -> str | None:
    async def work(database: Database) -> str | None:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.people import change_person

        return await change_person(database, tenant_id, user_name, changes, new_id=new_id, at=clock())

    return with_database(Settings(**options), work)


def _show_link(user_name: str, back_office: str, secret: str, *, as_json: bool) -> None:
    link = f"{back_office.rstrip('/')}/oauth/invitation?secret={secret}"
    if as_json:
        print_json({"userName": user_name, "link": link})
    else:
        click.echo(f"{link}\nThe link is not shown again. It works once, for three days.")

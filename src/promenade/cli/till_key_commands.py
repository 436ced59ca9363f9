"""Commands for the keys of a store's tills."""

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

_KEY_BYTES = 32
_USER = "cli"


@click.group("till-key")
def till_key() -> None:
    """Keys of single tills of a store. A running store applies changes within two seconds."""


@till_key.command("create")
@click.argument("name", metavar="TILL")
@option("--json", "as_json", is_flag=True, help='Print {"name", "apiKey"} and nothing else.')
@database_options
def till_key_create(name: str, as_json: bool, **options: Any) -> None:
    """Give TILL a key of its own and show it, once: only a digest of it is stored."""
    key = secrets.token_hex(_KEY_BYTES)

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.till_keys import Author, create_till_key

        await create_till_key(database, name, key, at=clock(), by=Author(_USER, new_id))

    with_database(Settings(**options), work)
    if as_json:
        print_json({"name": name, "apiKey": key})
        return
    click.echo(f"{key}\n{name} sends this as X-Api-Key. It is not shown again.")


@till_key.command("list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def till_key_list(as_json: bool, **options: Any) -> None:
    """Show the tills that have keys of their own, and when these were last used."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.workflows.access.till_keys import list_till_keys

        now = clock()
        return [
            {
                "name": found.name,
                "createdAt": shown(found.created_at),
                "rotatedAt": shown(found.rotated_at),
                "formerUntil": shown(found.accepts_former_until(now)),
                "lastUsedAt": shown(found.last_used_at),
            }
            for found in await list_till_keys(database)
        ]

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@till_key.command("rotate")
@click.argument("name", metavar="TILL")
@overlap_option("key", 24)
@option("--json", "as_json", is_flag=True, help='Print {"name", "apiKey", "formerUntil"} and nothing else.')
@database_options
def till_key_rotate(name: str, overlap_hours: int, as_json: bool, **options: Any) -> None:
    """Replace the key of TILL; both are accepted for a while, so that no sale is refused."""
    key = secrets.token_hex(_KEY_BYTES)

    async def work(database: Database) -> datetime | None:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.till_keys import Author, rotate_till_key

        by = Author(_USER, new_id)
        return await rotate_till_key(database, name, key, at=clock(), by=by, overlap_hours=overlap_hours)

    until = with_database(Settings(**options), work)
    if as_json:
        print_json({"name": name, "apiKey": key, "formerUntil": shown(until)})
        return
    former = "The former key is refused." if until is None else f"The former key is accepted until {shown(until)}."
    click.echo(f"{key}\n{name} sends this as X-Api-Key. It is not shown again. {former}")


@till_key.command("revoke")
@click.argument("name", metavar="TILL")
@database_options
def till_key_revoke(name: str, **options: Any) -> None:
    """Refuse the keys of TILL, the former one too."""

    async def work(database: Database) -> None:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.access.till_keys import Author, revoke_till_key

        await revoke_till_key(database, name, at=clock(), by=Author(_USER, new_id))

    with_database(Settings(**options), work)
    click.echo(f"The keys of {name} are refused from now on.")

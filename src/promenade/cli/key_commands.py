"""Commands for the signing keys of the built-in issuer."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, passphrase_option, print_json, print_rows, with_database
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database


@click.group()
def key() -> None:
    """The signing keys of the built-in issuer."""


@key.command("list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def key_list(as_json: bool, **options: Any) -> None:
    """Show the signing key, and earlier ones whose tokens have not expired yet."""

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.web.access.issuer import TOKEN_SECONDS
        from promenade.workflows.access.signing_keys import list_signing_keys

        lasting = timedelta(seconds=TOKEN_SECONDS)
        return [
            {
                "keyId": found.key_id,
                "algorithm": found.algorithm,
                "use": "signs and verifies" if found.retired_at is None else "verifies",
                "encrypted": found.is_encrypted,
                "createdAt": found.created_at.isoformat(timespec="seconds"),
                "verifiesUntil": found.retired_at and (found.retired_at + lasting).isoformat(timespec="seconds"),
            }
            for found in await list_signing_keys(database, token_seconds=TOKEN_SECONDS, at=clock())
        ]

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@key.command("rotate")
@option(
    "--withdraw", is_flag=True, help="Refuse all tokens issued so far, within half a minute; for a key that has leaked."
)
@option("--json", "as_json", is_flag=True, help='Print {"keyId"} and nothing else.')
@passphrase_option
@database_options
def key_rotate(withdraw: bool, as_json: bool, **options: Any) -> None:
    """Sign with a new key from now on. Running processes pick it up; old tokens stay valid until they expire."""
    settings = Settings(**options)

    async def work(database: Database) -> str:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.web.access.issuer import TOKEN_SECONDS, generate_signing_key
        from promenade.workflows.access.signing_keys import rotate_signing_key

        made = generate_signing_key(new_id(), clock(), settings.key_passphrase)
        await rotate_signing_key(database, made, token_seconds=0 if withdraw else TOKEN_SECONDS)
        return made.key_id

    key_id = with_database(settings, work)
    if as_json:
        print_json({"keyId": key_id})
        return
    held = "Tokens issued so far are refused." if withdraw else "Tokens issued so far stay valid until they expire."
    click.echo(f"Tokens are signed with the key {key_id} from now on. {held}")

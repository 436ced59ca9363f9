"""Commands that write logs as Parquet files and compare them with the database."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, option, print_rows, with_database
from promenade.errors import Unavailable
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.archive.reading import Kind
    from promenade.store.driver.unit import Database
    from promenade.workflows.archive.months import Month
    from promenade.workflows.archive.places import Place

KINDS = ("calculation_logs", "redemption_logs", "loyalty_transactions", "budget_consumptions", "audit_logs")


def _shared(command: Any) -> Any:
    """Add the options that both commands have."""
    for add in reversed(
        (
            option("--tenant", "tenant_id", required=True, help="Tenant of the logs."),
            option("--archive", required=True, help="A directory, or s3://bucket/folder?endpoint=https://host."),
            option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only this kind; default: all."),
            option("--since", help="First month, such as 2026-10; default: that of the first row."),
            option("--until", help="Last month; default: the last one that is over."),
            option("--json", "as_json", is_flag=True, help="Print JSON."),
            database_options,
        )
    ):
        command = add(command)
    return command


@click.group()
def archive() -> None:
    """Logs of sales, coupons, points, budgets and changes as Parquet files, by month."""


@archive.command("write")
@_shared
@option("--again", is_flag=True, help="Read archived months again, and replace those whose rows have changed.")
@option(
    "--settled-days",
    type=click.IntRange(0, 366),
    default=7,
    show_default=True,
    help="Days after its end until a month is written: stores send sales late.",
)
def archive_write(
    tenant_id: str,
    archive: str,
    kinds: Sequence[str],
    since: str | None,
    until: str | None,
    as_json: bool,
    again: bool,
    settled_days: int,
    **options: Any,
) -> None:
    """Write the finished months that are not archived yet. What is interrupted is written by the next run.

    Servers may run meanwhile. The database is only read.
    """
    place, first, last = _opened(archive, since, until)

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.workflows.access.tenants import require_tenant
        from promenade.workflows.archive.writing import Written, write_archive

        await require_tenant(database, tenant_id)
        found: list[Written] = []
        await write_archive(
            database, place, tenant_id, _chosen(kinds), at=clock(), since=first, until=last, again=again,
            settled_days=settled_days, tell=found.append,
        )  # fmt: skip
        return [{"table": one.table, "month": str(one.month), "rows": one.rows, "result": one.result} for one in found]

    print_rows(with_database(Settings(**options), work), as_json=as_json)


@archive.command("check")
@_shared
def archive_check(
    tenant_id: str,
    archive: str,
    kinds: Sequence[str],
    since: str | None,
    until: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare the archived months with the database: each row, the number of rows, the sums of amounts.

    Exit code 1: a month differs from the database, or its files are not those that were written. A check of all months
    of sales notes up to when the archive has them, for tenants whose logs are to be deleted.
    """
    place, first, last = _opened(archive, since, until)

    async def work(database: Database) -> list[dict[str, Any]]:
        from promenade.clock import clock
        from promenade.workflows.access.tenants import require_tenant
        from promenade.workflows.archive.checking import Checked, check_archive

        await require_tenant(database, tenant_id)
        found: list[Checked] = []
        await check_archive(
            database, place, tenant_id, _chosen(kinds), at=clock(), since=first, until=last, tell=found.append
        )
        return [
            {
                "table": one.table, "month": str(one.month), "rows": one.rows, "archived": one.archived,
                "result": one.verdict,
            }
            for one in found
        ]  # fmt: skip

    rows = with_database(Settings(**options), work)
    print_rows(rows, as_json=as_json)
    if any(row["result"] not in {"same", "dropped"} for row in rows):
        raise SystemExit(1)


def _chosen(kinds: Sequence[str]) -> list[Kind]:
    from promenade.store.archive.reading import KINDS as ALL

    return [kind for name, kind in ALL.items() if name in (kinds or ALL)]


def _opened(archive: str, since: str | None, until: str | None) -> tuple[Place, Month | None, Month | None]:
    try:
        from promenade.workflows.archive.places import open_place
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        message = "The package pyarrow is missing: in a clone, pip install '.[archive]'."
        raise Unavailable("ARCHIVE_NOT_INSTALLED", message) from None
    from promenade.workflows.archive.months import Month

    months = [
        None if text is None else Month.parse(text, target) for text, target in ((since, "since"), (until, "until"))
    ]
    return open_place(archive), months[0], months[1]

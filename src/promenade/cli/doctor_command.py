"""The command that looks for what is wrong, and says what to do about it."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import (
    database_options,
    in_one_line,
    keep_options,
    listen_options,
    mtls_options,
    option,
    print_json,
    run,
)
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.doctor import Finding

_COLOURS = {"OK": "green", "WARN": "yellow", "FAIL": "red", "SKIPPED": None}


@click.command()
@database_options
@listen_options
@option("--public-url", help="How clients reach the server; default: http://host:port.")
@mtls_options
@keep_options
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool, **options: Any) -> None:
    """Look at disk, database, clock, certificates, service, link and queues, and say what to do; changes nothing.

    Exit code 0: nothing fails, though there may be warnings. 1: something fails. Give it the
    options of `serve` that say where the database and the service are and how long data is kept, or the same
    environment variables.
    """
    from promenade.clock import clock
    from promenade.doctor import examine

    report(run(examine(Settings(**options), clock)), as_json=as_json)


def report(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print findings; end with exit code 1 if one of them fails."""
    from promenade.doctor import Verdict, worst

    overall = worst(findings)
    if as_json:
        checks = [
            {"check": one.check, "status": one.verdict.value, "message": one.message, "remedy": one.remedy}
            for one in findings
        ]
        print_json({"status": overall.value, "checks": checks})
    else:
        _print(findings)
    if overall is Verdict.FAIL:
        raise SystemExit(1)


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(one.check) for one in findings)
    for one in findings:
        verdict = one.verdict.value
        line = f"{click.style(f'{verdict:7}', fg=_COLOURS[verdict])}  {one.check:{width}}  {in_one_line(one.message)}"
        click.echo(line)
        if one.remedy is not None:
            click.echo(f"{'':{width + 11}}{one.remedy}")

"""`python -m tests.reliability.soak [--operations 100000] [--chaos]`: a soak on its own servers.

The database has PostgreSQL's default durability. Exits 1 if an invariant is broken or, without chaos, a target is
missed.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.kit.databases import Databases
from tests.kit.migrate import grant, migrate
from tests.kit.moved_clock import MovedClock
from tests.kit.postgres import PostgresServer
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.running import Plan, Result, soak
from tests.reliability.soak.small_disk import SmallDisk, mounted_disk
from tests.reliability.soak.system import Layout

DISK_BYTES = 64 * 2**30
"""Of the database's disk where chaos fills it; only what is written takes space."""


def main() -> None:
    """Run the soak and print its result."""
    parser = argparse.ArgumentParser(prog="make soak", description="A mixed load, then every invariant is checked.")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--rate", type=float, default=None, help="operations a second at most")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--chaos", action="store_true", help="kill processes, restart servers, fill the disk and move clocks meanwhile"
    )
    parser.add_argument("--pace", type=float, default=3.0, help="seconds from one fault to the next")
    parser.add_argument("--services", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1, help="of each service")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sqlite", action="store_true", help="one service on a file, no cache")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(2**32)
    print(f"seed {seed}", flush=True)
    directory = Path(tempfile.mkdtemp(prefix="promenade-soak-"))
    with ExitStack() as ended:
        disk = (
            ended.enter_context(mounted_disk(directory, DISK_BYTES)) if options.chaos and not options.sqlite else None
        )
        result = _run(options, seed, directory, disk)
    print(result.text)
    if _failed(result, with_chaos=options.chaos):
        print(f"logs: {directory}")
        sys.exit(1)
    shutil.rmtree(directory)


def _run(options: argparse.Namespace, seed: int, directory: Path, disk: SmallDisk | None) -> Result:
    postgres = PostgresServer(directory / "postgres.log", settings={}, room=disk.room if disk else None)
    valkey = ValkeyServer(directory / "valkey.log")
    layout = Layout(1, 0) if options.sqlite else Layout(options.services, options.workers, options.processes)
    try:
        if not options.sqlite:
            postgres.start()
            valkey.start()
        databases = Databases(directory, lambda: postgres.url, migrate, grant)
        url = databases.create("sqlite" if options.sqlite else "postgresql")
        plan = Plan(
            *(url, None if options.sqlite else valkey.url, directory, options.operations, seed, options.clients),
            rate=options.rate,
            layout=layout,
            with_chaos=options.chaos,
            pace=options.pace,
            postgres=None if options.sqlite else postgres,
            valkey=None if options.sqlite else valkey,
            disk=disk,
            quiet_seconds=600,
            clock=MovedClock(directory / "clock") if options.chaos else None,
        )
        return asyncio.run(soak(plan))
    finally:
        postgres.stop()
        valkey.close()


def _failed(result: Result, *, with_chaos: bool) -> bool:
    missed = [] if with_chaos else result.measured.missed()
    for one in missed:
        print(f"MISSED: {one}")
    return bool(result.faults or missed)


if __name__ == "__main__":
    main()

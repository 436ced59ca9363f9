"""CPU time: of this process, and of the database server beside it. A busy machine changes it little."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from benchmarks.databases import postgresql_processes

__all__ = ["Spent", "spent"]

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of CPU time: of this process, and of the PostgreSQL server; SQLite runs in this process."""

    program: float
    server: float


async def spent(url: str, work: Callable[[], Awaitable[object]]) -> Spent:
    """Do the work on the database at ``url``; return what it took."""
    server = _server_seconds if url.startswith("postgresql") else lambda: 0.0
    before = process_time(), server()
    await work()
    return Spent(process_time() - before[0], server() - before[1])


def _server_seconds() -> float:
    """Return the CPU time that the processes of the PostgreSQL server have taken so far."""
    ticks = 0
    for pid in postgresql_processes():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except FileNotFoundError:  # it ended meanwhile
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS_PER_SECOND

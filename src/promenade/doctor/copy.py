"""`promenade db check`: whether a restored copy of a database is whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from promenade.doctor.data import opened
from promenade.doctor.findings import Finding
from promenade.settings import Settings
from promenade.store.access.local_store import read_store
from promenade.store.driver.checkup import damage_of
from promenade.store.driver.migrations import HEAD, current, differences
from promenade.store.verification.references import read_dangling
from promenade.store.verification.sums import read_differences

_SECONDS_MAX = 24 * 3600.0  # a statement reads tables as a whole
_KEEP = "Keep this copy as it is, and restore an earlier one, or recover to another moment."


async def verify(settings: Settings) -> Sequence[Finding]:
    """Compare what is stored twice, follow every reference, and look at the tables; nothing is changed.

    It reads the whole database. Raises SchemaAheadError and the driver's errors.
    """
    url = settings.database_url
    damage = damage_of(url)
    if damage:
        return [Finding.fail("file", f"SQLite finds damage: {'; '.join(damage)}.", _KEEP)]
    revision = current(url) or ""
    if revision < HEAD:
        remedy = "Run `promenade db upgrade`, which keeps a copy of a SQLite file, and check again."
        return [Finding.fail("tables", f"They are older than this program, which needs {HEAD}.", remedy)]
    tables = _tables(url, revision)
    async with opened(settings, seconds_max=_SECONDS_MAX) as database:
        declared, dangling = await database.read(read_dangling, system=True)
        is_store = await database.read(read_store, system=True) is not None
        checks, found = await database.read(partial(read_differences, is_store=is_store), system=True)
    references = [
        Finding.fail("references", f"{count} rows refer to what is not there: {name}.", _KEEP)
        for name, count in dangling
    ]
    wrong = {one.check: one for one in found}
    return [
        tables,
        *(references or [Finding.ok("references", f"All {declared} kinds of references lead to rows.")]),
        *(
            Finding.fail("sums", f"{check}: {wrong[check].count} differ, as {', '.join(wrong[check].examples)}.", _KEEP)
            if check in wrong
            else Finding.ok("sums", f"{check}: equal what they are the sums of.")
            for check in checks
        ),
    ]


def _tables(url: str, revision: str) -> Finding:
    if revision != HEAD:
        return Finding.ok("tables", f"They are of a newer version ({revision}), so they were not compared.")
    found = differences(url)
    if found:
        remedy = "Restore tables and indexes as the dump has them."
        return Finding.fail("tables", f"{len(found)} differ from those of this version.", remedy)
    return Finding.ok("tables", f"They are those of this version ({HEAD}).")

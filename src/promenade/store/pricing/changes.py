"""Versions of a tenant's catalogue: the current one in the database, and what each of them changed.

Every authoring write raises a counter in its own transaction. A process that holds version v of the catalogue may
answer with it only while the counter is still v, and catches up by reading the changes since.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, or_, select

from promenade.store.driver.hot import hot_statement
from promenade.store.driver.schema import table
from promenade.store.driver.types import maybe_moment, to_microseconds
from promenade.store.driver.unit import Look, Session

# Entity sets whose rows affect prices. A change of a child is recorded as a change of its parent: a condition, a pilot
# or a link to a budget as its promotion, a CampaignPosGroup as its campaign. For budgets only what users edit is
# recorded: every evaluation reads the amount left anyway, but stores must learn about the validity.
KINDS = frozenset(
    {
        "Articles",
        "ArticleGroups",
        "Budgets",
        "Campaigns",
        "CouponTypes",
        "MutualExclusionGroups",
        "PosGroups",
        "PriorityGroups",
        "Promotions",
        "Tenants",
    }
)

EVERYTHING = ""  # as entity ID: any entity of the kind may have changed
IDS_MAX = 1000  # for more IDs than this, EVERYTHING is recorded
KEPT = 10_000  # versions whose changes are kept; older processes reload
PRUNED_EVERY = 500


@dataclass(frozen=True, slots=True)
class Version:
    """The two counters, and when one of them was last raised (None: never)."""

    promotions: int = 0
    articles: int = 0
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes since a version: IDs by kind (None: all of that kind); ``complete`` False: anything may differ."""

    by_kind: dict[str, set[str] | None]
    complete: bool


async def record_change(
    session: Session, kind: str, *entity_ids: str, at: datetime, others: Collection[str] = ()
) -> None:
    """Record in the session's transaction that entities of the set ``kind`` changed; see `KINDS`.

    Without IDs, anything of that kind may have changed. ``at`` (timezone-aware) becomes meta.dataAge. ``others``
    changed as well, but pricing does not need to know which; they are stored together, for stores. Raises ValueError
    for another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind} is recorded as one of {', '.join(sorted(KINDS))}")
    if session.tenant is None:
        raise ValueError("a change belongs to a tenant")
    is_article = kind == "Articles"
    ids = set(entity_ids) if 0 < len(entity_ids) <= IDS_MAX else {EVERYTHING}
    packed = pack_ids(others) if others else b""
    if packed is None:
        ids = {EVERYTHING}
    raised = int(is_article), int(not is_article)
    ((version,),) = await session.hot("record change", (session.tenant, *raised, at, kind, sorted(ids), packed or None))
    if version % PRUNED_EVERY == 0:
        changes = table("catalogue_changes")
        kinds = {"Articles"} if is_article else KINDS - {"Articles"}
        old = changes.c.kind.in_(sorted(kinds)) & (changes.c.version <= version - KEPT)
        await session.rowcount(delete(changes).where(old))


@hot_statement(
    "record change",
    postgresql="""
        WITH raised AS (
            INSERT INTO catalogue_versions AS held (tenant_id, articles, promotions, changed_at)
            VALUES ($1::varchar, $2::bigint, $3::bigint, $4::timestamptz)
            ON CONFLICT (tenant_id) DO UPDATE SET
                articles = held.articles + excluded.articles, promotions = held.promotions + excluded.promotions,
                changed_at = excluded.changed_at
            RETURNING CASE $2::bigint WHEN 1 THEN articles ELSE promotions END AS version
        ), noted AS (
            INSERT INTO catalogue_changes (tenant_id, kind, version, entity_id, others)
            SELECT $1::varchar, $5::varchar, raised.version, one, $7::bytea FROM raised, unnest($6::varchar[]) AS one
        )
        SELECT version FROM raised
    """,
)
def _record_change(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant, articles, promotions, at, kind, ids, others = params
    raised = connection.execute(
        "INSERT INTO catalogue_versions AS held (tenant_id, articles, promotions, changed_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (tenant_id) DO UPDATE SET articles = held.articles + excluded.articles,"
        " promotions = held.promotions + excluded.promotions, changed_at = excluded.changed_at"
        " RETURNING articles, promotions",
        (tenant, articles, promotions, to_microseconds(at)),
    ).fetchall()
    version = raised[0][0 if articles else 1]
    connection.executemany(
        "INSERT INTO catalogue_changes (tenant_id, kind, version, entity_id, others) VALUES (?, ?, ?, ?, ?)",
        [(tenant, kind, version, one, others) for one in ids],
    )
    return [(version,)]


def pack_ids(ids: Collection[str]) -> bytes | None:
    """Pack UUIDs into 16 bytes each; None: one of them is not a UUID."""
    try:
        packed = bytes.fromhex("".join(ids).replace("-", ""))
    except ValueError:
        return None
    return packed if len(packed) == 16 * len(ids) else None


def unpack_ids(packed: bytes) -> list[str]:
    """The inverse of `pack_ids`, in lower case."""
    digits = packed.hex()
    return [
        f"{digits[at : at + 8]}-{digits[at + 8 : at + 12]}-{digits[at + 12 : at + 16]}-"
        f"{digits[at + 16 : at + 20]}-{digits[at + 20 : at + 32]}"
        for at in range(0, len(digits), 32)
    ]


@hot_statement(
    "catalogue version",
    postgresql="SELECT promotions, articles, changed_at FROM catalogue_versions WHERE tenant_id = $1::varchar",
)
def _catalogue_version(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    rows = connection.execute(
        "SELECT promotions, articles, changed_at FROM catalogue_versions WHERE tenant_id = ?", params
    )
    return [(promotions, articles, maybe_moment(at)) for promotions, articles, at in rows]


async def read_version(look: Look, tenant_id: str) -> Version:
    """Read the version of a tenant."""
    rows = await look("catalogue version", (tenant_id,))
    return Version(*rows[0]) if rows else Version()


async def read_changes(session: Session, since: Version, until: Version) -> Changes:
    """Read the changes recorded after ``since``, up to ``until``, the version read in the same session."""
    changes = table("catalogue_changes")
    others = sorted(KINDS - {"Articles"})
    rows = await session.execute(
        select(changes.c.kind, changes.c.version, changes.c.entity_id).where(
            or_(
                changes.c.kind.in_(others) & (changes.c.version > since.promotions),
                (changes.c.kind == "Articles") & (changes.c.version > since.articles),
            )
        )
    )
    by_kind: dict[str, set[str] | None] = {}
    seen: set[tuple[bool, int]] = set()
    for row in rows:
        kind, version, entity_id = row.kind, row.version, row.entity_id
        seen.add((kind == "Articles", version))
        if entity_id == EVERYTHING:
            by_kind[kind] = None
        else:
            known = by_kind.setdefault(kind, set())
            if known is not None:
                known.add(entity_id)
    expected = until.promotions - since.promotions + until.articles - since.articles
    return Changes(by_kind, complete=len(seen) == expected)

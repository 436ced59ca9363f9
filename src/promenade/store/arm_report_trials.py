"""Which POS groups were in the treated arm of which pilot or experiment, and when; and what the promotions target.

Logs record the control arm, and the treated one where the promotion applied. A sale of a treated POS group that it
left alone is in the treated arm as well: that takes the pilots and experiments themselves, and the audit trail for
when each of them was running. As reading all that takes longer than counting sales, it is kept until the catalogue
changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Row, false, or_, select, union

from odata_server.sql.connection import Kept
from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError
from promenade.engine.promotion import CompiledPromotion
from promenade.store.arm_report_aims import Aim, aims_of, group_members
from promenade.store.definitions import PromotionRows
from promenade.store.promotion_rows import read_parts
from promenade.store.schema import table
from promenade.store.surroundings import load_places
from promenade.store.types import to_microseconds
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["CONTROL", "EXPERIMENT", "PILOT", "Trial", "load_trials", "trials_for"]

PILOT, EXPERIMENT, CONTROL = "PILOT", "EXPERIMENT", "CONTROL"

BEFORE = timedelta(days=7)  # stores that were offline tell of sales so old, which is no reason to read all again
AFTER = timedelta(days=1)
AGE_MAX = timedelta(hours=1)  # article groups are moved without the catalogue of promotions being changed

_PROMOTIONS = table("Promotions")
_CONFIGS = table("PromotionPilotConfigs")
_AUDIT = table("AuditLogs")
_VERSIONS = table("catalogue_versions")
_TRIALS = table("arm_trials")

# What a promotion is after a verb of the audit trail; None: nothing that runs.
_STATES: Mapping[str, str | None] = {
    "START_PILOT": "PILOT", "PROMOTE_TO_ACTIVE": "ACTIVE", "ACTIVATE": "ACTIVE", "END_PILOT": None,
    "DEACTIVATE": None, "EXPIRE": None, "ARCHIVE": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trial:
    """A pilot or an experiment (``kind``) as its sales are counted.

    ``treated`` None: every POS group but ``spared``. ``runs`` are from (included) and to (not included), in
    microseconds since 1970. Only sales in ``currency`` count, None: all.
    """

    promotion_id: str
    promotion_name: str
    kind: str
    treated: frozenset[str] | None
    spared: str | None
    runs: tuple[tuple[int, int], ...]
    currency: str | None
    aims: tuple[Aim, ...]

    def treats(self, pos_group_id: str | None, moment: int) -> bool:
        """Whether the promotion was open to a sale there and then."""
        if pos_group_id is None or pos_group_id == self.spared:
            return False
        if self.treated is not None and pos_group_id not in self.treated:
            return False
        return any(since <= moment < until for since, until in self.runs)


_DECODER = msgspec.msgpack.Decoder(tuple[Trial, ...])
_ENCODE = msgspec.msgpack.Encoder().encode


async def trials_for(session: Session, first: datetime, last: datetime, at: datetime) -> tuple[Trial, ...]:
    """The trials that ran at any time from ``first`` to ``last``, both included; as kept, else read and kept."""
    rows = await session.execute(_LOOK)
    kept = rows[0] if rows else None
    version = 0 if kept is None else kept.promotions
    if kept is not None and kept.catalogue == version and _covers(kept, first, last, at):
        return _DECODER.decode(kept.trials)
    since, until = min(first, at) - BEFORE, max(last, at) + AFTER
    trials = await load_trials(session, since, until)
    values = {"catalogue": version, "read_at": at, "since": since, "until": until, "trials": _ENCODE(trials)}
    keeping = upsert(session.dialect, _TRIALS).on_conflict_do_update(index_elements=["tenant_id"], set_=values)
    await session.rowcount(keeping, values)
    return trials


def _covers(kept: Row[Any], first: datetime, last: datetime, at: datetime) -> bool:
    is_fresh: bool = timedelta(0) <= at - kept.read_at < AGE_MAX
    return is_fresh and bool(kept.since <= first and last < kept.until)


_LOOK = Kept(
    select(
        _VERSIONS.c.promotions,
        _TRIALS.c.catalogue,
        _TRIALS.c.read_at,
        _TRIALS.c.since,
        _TRIALS.c.until,
        _TRIALS.c.trials,
    ).select_from(_VERSIONS.outerjoin(_TRIALS, _TRIALS.c.tenant_id == _VERSIONS.c.tenant_id))
)


async def load_trials(session: Session, since: datetime, until: datetime) -> tuple[Trial, ...]:
    """The tenant's trials of which a part lies between two moments, as they are authored now."""
    rows = await session.execute(_trial_promotions(since, until))
    if not rows:
        return ()
    ids = [row.id for row in rows]
    definitions = PromotionRows(rows, await read_parts(session, ids)).definitions(await load_places(session))
    members = await group_members(session)
    histories = await _histories(session, ids)
    found: list[Trial] = []
    for row in rows:
        try:
            promotion = compile_promotion(definitions[row.id])
        except DefinitionError:  # it has run nowhere
            continue
        found += _trials_of(promotion, row, histories.get(row.id, ()), members)
    return tuple(found)


def _trial_promotions(since: datetime, until: datetime) -> Any:
    piloted = select(_CONFIGS.c.promotion_id).where(_CONFIGS.c.pilot_start_at < until, _CONFIGS.c.pilot_end_at > since)
    experiments = select(_PROMOTIONS.c.id).where(
        _PROMOTIONS.c.is_experiment != false(),
        or_(_PROMOTIONS.c.valid_from.is_(None), _PROMOTIONS.c.valid_from < until),
        or_(_PROMOTIONS.c.valid_to.is_(None), _PROMOTIONS.c.valid_to > since),
    )
    return select(_PROMOTIONS).where(_PROMOTIONS.c.id.in_(union(piloted, experiments))).order_by(_PROMOTIONS.c.id)


async def _histories(session: Session, ids: Sequence[str]) -> dict[str, list[Row[Any]]]:
    """What moved each promotion, in the order of time."""
    statement = select(_AUDIT.c.entity_id, _AUDIT.c.action, _AUDIT.c.timestamp, _AUDIT.c.id).where(
        _AUDIT.c.entity_type == "Promotions",
        _AUDIT.c.entity_id.in_(ids),
        _AUDIT.c.action.in_(tuple(_STATES)),
    )
    found: dict[str, list[Row[Any]]] = {}
    # SQLite without statistics would rather go through the whole trail than sort this.
    for row in sorted(await session.execute(statement), key=lambda row: (row.timestamp, row.id)):
        found.setdefault(row.entity_id, []).append(row)
    return found


def _trials_of(
    promotion: CompiledPromotion, row: Row[Any], history: Sequence[Row[Any]], members: Mapping[str, frozenset[str]]
) -> list[Trial]:
    definition, aims = promotion.definition, aims_of(promotion, members)
    found: list[tuple[str, frozenset[str] | None, str | None, tuple[tuple[int, int], ...]]] = []
    pilot = definition.pilot
    if pilot is not None:
        window = (to_microseconds(pilot.starts_at), to_microseconds(pilot.ends_at))
        runs = _runs(row, history, "PILOT", window)
        found.append((PILOT, promotion.treated_groups, None, runs))
    if definition.is_experiment:
        runs = _runs(row, history, "ACTIVE", (promotion.starts, promotion.ends))
        treated = definition.pos_groups or None
        if definition.experiment_group_id is not None:
            treated = frozenset((definition.experiment_group_id,))
        found.append((EXPERIMENT, treated, definition.control_group_id, runs))
    return [
        Trial(promotion.id, promotion.name, kind, treated, spared, runs, definition.currency, aims)
        for kind, treated, spared, runs in found
        if runs
    ]


def _runs(
    row: Row[Any], history: Sequence[Row[Any]], state: str, window: tuple[int, int]
) -> tuple[tuple[int, int], ...]:
    """When a promotion was in ``state`` within a window.

    Where nothing tells of it, as in a store that was given it, it has been what it is since it was made. One of which
    the first that is told is its end has run before.
    """
    begun: datetime | None = None
    found: list[tuple[datetime, datetime | None]] = []
    if row.status == state if not history else _STATES[history[0].action] is None and state == "ACTIVE":
        begun = row.created_at
    for moved in history:
        now = _STATES[moved.action]
        if begun is None and now == state:
            begun = moved.timestamp
        elif begun is not None and now != state:
            found.append((begun, moved.timestamp))
            begun = None
    if begun is not None:
        found.append((begun, None))
    cut = (
        (max(window[0], to_microseconds(since)), window[1] if until is None else min(window[1], to_microseconds(until)))
        for since, until in found
    )
    return tuple([(since, until) for since, until in cut if since < until])

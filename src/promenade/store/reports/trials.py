"""Which POS groups were in the treated arm of which pilot or experiment, and when; what the promotions target.

Logs record the control arm, and the treated arm where the promotion applied. A sale of a treated POS group to which the
promotion did not apply is in the treated arm as well: detecting it takes the pilots and experiments themselves, and the
audit trail for when each of them was running. Reading all that takes longer than counting sales, so it is cached until
the catalogue changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row, false, func, or_, select, union

from odata_server.sql.connection import Kept
from promenade.engine.benefits.targets import Exclusions
from promenade.engine.catalogue import compile_promotion
from promenade.engine.conditions.registry import IndexKey
from promenade.engine.definition import DefinitionError
from promenade.engine.index import LINE_KINDS
from promenade.engine.promotion import CompiledPromotion
from promenade.store.authoring.trail import STATES
from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.pricing.definitions import PromotionRows
from promenade.store.pricing.promotion_rows import read_parts
from promenade.store.pricing.surroundings import load_places

PILOT, EXPERIMENT, CONTROL = "PILOT", "EXPERIMENT", "CONTROL"

BEFORE = timedelta(days=7)  # stores that were offline upload sales this old, which should not cause a reload
AFTER = timedelta(days=1)
AGE_MAX = timedelta(hours=1)  # article groups can be moved without a change of the promotion catalogue

_PROMOTIONS = table("Promotions")
_CONFIGS = table("PromotionPilotConfigs")
_AUDIT = table("AuditLogs")
_VERSIONS = table("catalogue_versions")
_TRIALS = table("arm_trials")
_ARTICLES = table("Articles")
_GROUPS = table("ArticleGroups")

Keys = frozenset[str]
_NONE: Keys = frozenset()


class ArticleKeys(NamedTuple):
    """The keys of an article besides its number."""

    ean: str | None = None
    group: str | None = None
    manufacturer: str | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """The lines that one action of a promotion targets; article groups include their subgroups.

    ``everything``: any line that is not excluded.
    """

    everything: bool
    articles: Keys = _NONE
    eans: Keys = _NONE
    groups: Keys = _NONE
    manufacturers: Keys = _NONE
    not_articles: Keys = _NONE
    not_eans: Keys = _NONE
    not_groups: Keys = _NONE
    not_manufacturers: Keys = _NONE

    @property
    def asks_articles(self) -> bool:
        """Whether more than the article number is needed to decide."""
        others = (self.eans, self.groups, self.manufacturers)
        return any((*others, self.not_eans, self.not_groups, self.not_manufacturers))

    def hits(self, number: str, keys: ArticleKeys) -> bool:
        """Return whether a line with this article is targeted."""
        if number in self.not_articles or keys.ean in self.not_eans or keys.group in self.not_groups:
            return False
        if keys.manufacturer in self.not_manufacturers:
            return False
        if self.everything or number in self.articles or keys.ean in self.eans:
            return True
        return keys.group in self.groups or keys.manufacturer in self.manufacturers


@dataclass(frozen=True, slots=True)
class Trial:
    """A pilot or an experiment (``kind``) for which sales are counted.

    ``treated`` None: every POS group but ``spared``. ``runs`` are periods (start included, end excluded) in
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
        """Return whether the promotion was open to a sale of this POS group at this moment."""
        if pos_group_id is None or pos_group_id == self.spared:
            return False
        if self.treated is not None and pos_group_id not in self.treated:
            return False
        return any(since <= moment < until for since, until in self.runs)


_DECODER = msgspec.msgpack.Decoder(tuple[Trial, ...])
_ENCODE = msgspec.msgpack.Encoder().encode


async def trials_for(session: Session, first: datetime, last: datetime, at: datetime) -> tuple[Trial, ...]:
    """Return the trials that ran at any time from ``first`` to ``last``, both included; cached."""
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
        _VERSIONS.c.promotions, *(_TRIALS.c[name] for name in ("catalogue", "read_at", "since", "until", "trials"))
    ).select_from(_VERSIONS.outerjoin(_TRIALS, _TRIALS.c.tenant_id == _VERSIONS.c.tenant_id))
)


async def load_trials(session: Session, since: datetime, until: datetime) -> tuple[Trial, ...]:
    """Read the tenant's trials that overlap a period, as they are configured now."""
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
        except DefinitionError:  # it has never run
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
    """Return the status changes of each promotion in chronological order."""
    statement = select(_AUDIT.c.entity_id, _AUDIT.c.action, _AUDIT.c.timestamp, _AUDIT.c.id).where(
        _AUDIT.c.entity_type == "Promotions",
        _AUDIT.c.entity_id.in_(ids),
        _AUDIT.c.action.in_(tuple(STATES)),
    )
    found: dict[str, list[Row[Any]]] = {}
    # Sorted here: SQLite without statistics would scan the whole trail to avoid sorting this.
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
    """Return the periods within a window in which a promotion was in ``state``.

    Without audit entries, as in a store that received the promotion from the cloud, it has had its current state since
    it was created. If its first entry is an end, it was running before.
    """
    begun: datetime | None = None
    found: list[tuple[datetime, datetime | None]] = []
    if row.status == state if not history else STATES[history[0].action] is None and state == "ACTIVE":
        begun = row.created_at
    for moved in history:
        now = STATES[moved.action]
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


# ---- what promotions target -----------------------------------------------------------------------------------------

# As far as the lines of a log and the master data of articles allow.


def aims_of(promotion: CompiledPromotion, members: Mapping[str, frozenset[str]]) -> tuple[Aim, ...]:
    """Return what the actions of a promotion target: their own targets, else the lines that its conditions name."""
    qualifying = _qualifying(promotion)
    rows = sorted(promotion.definition.actions, key=lambda row: (row.sequence, row.id))
    found: dict[Aim, None] = {}
    for place, benefit in enumerate(promotion.benefits):
        keys = benefit.keys()
        excluded = Exclusions(rows[place].exclusions if place < len(rows) else ())
        found[_aim(qualifying if keys is None else keys, excluded, members)] = None
    return tuple(found)


def _qualifying(promotion: CompiledPromotion) -> Sequence[IndexKey] | None:
    """Return the keys that the conditions name; None: any line may qualify."""
    found: list[IndexKey] = []
    for group in promotion.groups:
        named = [
            key for negated, condition in group if not negated for key in condition.keys() or () if key[0] in LINE_KINDS
        ]
        if not named:
            return None
        found += named
    return found or None


def _aim(keys: Sequence[IndexKey] | None, excluded: Exclusions, members: Mapping[str, frozenset[str]]) -> Aim:
    by_kind: dict[str, set[str]] = {}
    for kind, value in keys or ():
        by_kind.setdefault(kind, set()).add(value)
    return Aim(
        # Logs do not contain the additional fields of lines, so any line may have the field.
        everything=keys is None or "field" in by_kind,
        articles=frozenset(by_kind.get("article", ())),
        eans=frozenset(by_kind.get("ean", ())),
        groups=frozenset(by_kind.get("group", ())) | _below(by_kind.get("tree", ()), members),
        manufacturers=frozenset(by_kind.get("manufacturer", ())),
        not_articles=excluded.articles,
        not_eans=excluded.eans,
        not_groups=_below(excluded.groups, members),
        not_manufacturers=excluded.manufacturers,
    )


def _below(groups: Iterable[str], members: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(members.get(one, frozenset((one,))) for one in groups))


async def group_members(session: Session) -> dict[str, frozenset[str]]:
    """Return each article group (groupId) with itself and its subgroups; a cycle in the data ends where it closes."""
    rows = await session.execute(_ALL_GROUPS)
    keys = {row.id: row.group_id for row in rows}
    above = {row.group_id: keys.get(row.parent_id) for row in rows}
    found: dict[str, set[str]] = {key: {key} for key in above}
    for key, over in above.items():
        seen, parent = {key}, over
        while parent is not None and parent not in seen:
            found[parent].add(key)
            seen.add(parent)
            parent = above[parent]
    return {key: frozenset(members) for key, members in found.items()}


_ALL_GROUPS = Kept(select(_GROUPS.c.id, _GROUPS.c.group_id, _GROUPS.c.parent_id))


async def read_article_keys(session: Session, numbers: Sequence[str]) -> dict[str, ArticleKeys]:
    """Return the keys of the articles with these numbers, as far as they are known."""
    rows = await read_among(session, (_ARTICLES.c.article_number,), numbers, _select_keys)
    return {row.article_number: ArticleKeys(row.ean, row.group_key, row.manufacturer) for row in rows}


def _select_keys(condition: Any) -> Any:
    joined = _ARTICLES.outerjoin(
        _GROUPS, (_GROUPS.c.tenant_id == _ARTICLES.c.tenant_id) & (_GROUPS.c.id == _ARTICLES.c.article_group_id)
    )
    return (
        select(
            _ARTICLES.c.article_number,
            _ARTICLES.c.ean,
            func.coalesce(_ARTICLES.c.article_group_key, _GROUPS.c.group_id).label("group_key"),
            func.coalesce(_ARTICLES.c.manufacturer_id, _ARTICLES.c.manufacturer).label("manufacturer"),
        )
        .select_from(joined)
        .where(condition)
    )

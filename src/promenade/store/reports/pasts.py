"""The POS groups of the arms of trials, and what they sold before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, select

from promenade.engine.definition import PromotionDefinition
from promenade.engine.pilots import control_groups, treated_groups
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import PromotionRows
from promenade.store.pricing.promotion_rows import read_parts
from promenade.store.pricing.surroundings import load_places
from promenade.store.reports.arms import DAYS, Sample
from promenade.store.reports.trials import EXPERIMENT, PILOT
from promenade.store.reports.uplift import basket_days

_PROMOTIONS = table("Promotions")

BasketDays = Mapping[str, Mapping[date, Sample]]
"""The baskets of an arm by currency and day."""


@dataclass(frozen=True, slots=True)
class ArmGroups:
    """The POS groups of both arms of a trial; ``treated`` None: all that are not in the control arm."""

    treated: frozenset[str] | None
    control: frozenset[str]


@dataclass(frozen=True, slots=True)
class TrialDays:
    """The kind of a trial, and the first and the last day on which its arms have sold."""

    kind: str
    first: date
    last: date


async def trial_days(session: Session, promotion_ids: Sequence[str]) -> dict[str, TrialDays]:
    """Return the days of the trials of these promotions."""
    days = table(DAYS)
    # If the trial was ever an experiment, it counts as one.
    ends = (
        func.min(days.c.trial).label("kind"),
        func.min(days.c.day).label("first"),
        func.max(days.c.day).label("last"),
    )
    statement = select(days.c.promotion_id, *ends).where(days.c.promotion_id.in_(promotion_ids))
    rows = await session.execute(statement.group_by(days.c.promotion_id))
    return {row.promotion_id: TrialDays(row.kind, row.first, row.last) for row in rows}


async def trial_kind(session: Session, promotion_id: str) -> str | None:
    """Return the kind of the trial of a promotion, begun or not; None: it is none."""
    begun = (await trial_days(session, [promotion_id])).get(promotion_id)
    if begun is not None:
        return begun.kind
    promotions, pilots = _PROMOTIONS, table("PromotionPilotConfigs")
    rows = await session.execute(select(promotions.c.is_experiment).where(promotions.c.id == promotion_id))
    if rows and rows[0].is_experiment:
        return EXPERIMENT
    is_pilot = await session.execute(select(pilots.c.promotion_id).where(pilots.c.promotion_id == promotion_id))
    return PILOT if is_pilot else None


async def arm_groups(session: Session, kinds: Mapping[str, str]) -> dict[str, ArmGroups]:
    """Return the arms of these promotions, trials of these kinds, as they are configured now.

    A promotion that no longer exists is left out, as is one without a control arm.
    """
    rows = await session.execute(select(_PROMOTIONS).where(_PROMOTIONS.c.id.in_(sorted(kinds))))
    if not rows:
        return {}
    read = PromotionRows(rows, await read_parts(session, [row.id for row in rows]))
    definitions = read.definitions(await load_places(session))
    found = {one: _groups_of(definition, kinds[one]) for one, definition in definitions.items()}
    return {one: groups for one, groups in found.items() if groups is not None}


def _groups_of(definition: PromotionDefinition, kind: str) -> ArmGroups | None:
    if kind == PILOT:
        pilot = definition.pilot
        return None if pilot is None else ArmGroups(treated_groups(pilot), control_groups(pilot))
    if definition.control_group_id is None:
        return None
    control = frozenset((definition.control_group_id,))
    treated = definition.pos_groups - control or None
    if definition.experiment_group_id is not None:
        treated = frozenset((definition.experiment_group_id,))
    return ArmGroups(treated, control)


async def arms_between(session: Session, groups: ArmGroups, since: date, until: date) -> tuple[BasketDays, BasketDays]:
    """Return all sales of the POS groups of the treated and of the control arm, from ``since`` to ``until``."""
    control = await basket_days(session, groups.control, since, until)
    is_of_others = groups.treated is None
    named = groups.control if groups.treated is None else groups.treated
    return await basket_days(session, named, since, until, is_of_others=is_of_others), control

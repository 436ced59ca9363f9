"""A promotion under inspection: its definition, where and when it could run, and the rules that apply to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promenade.engine.conditions import parse_conditions
from promenade.engine.conditions.registry import Group
from promenade.engine.definition import ConditionRow, DefinitionError, PromotionDefinition
from promenade.engine.inspection.finding import PlaceSeen, Tenant
from promenade.engine.inspection.literals import Circumstances, Contradiction, Literal, contradictions, literals_of
from promenade.engine.inspection.texts import Outlook
from promenade.engine.money import minor_digits
from promenade.engine.pilots import treated_groups
from promenade.engine.promotion import ALWAYS, microseconds
from promenade.engine.view import ArticleGroups


@dataclass(frozen=True, slots=True)
class Scene:
    """``rows`` are its conditions in their order, ``groups`` the AND groups they form; None while they cannot be
    parsed.

    ``contradictions`` are what keeps each of the groups from ever holding, by the place of the group.

    ``places`` are the POS groups where it could apply, ``starts`` and ``ends`` when (`promotion.microseconds`).
    """

    definition: PromotionDefinition
    tenant: Tenant
    rows: tuple[ConditionRow, ...]
    groups: tuple[tuple[Literal, ...], ...] | None
    places: Mapping[str, PlaceSeen]
    starts: int
    ends: int
    given: Circumstances
    contradictions: tuple[tuple[Contradiction, ...], ...]

    @property
    def now(self) -> int:
        return microseconds(self.tenant.at)

    @property
    def live_groups(self) -> tuple[tuple[Literal, ...], ...]:
        """The AND groups that may hold; for a promotion without conditions a single empty one."""
        if not self.groups:
            return ((),)
        return tuple(
            [group for group, found in zip(self.groups, self.contradictions, strict=True) if not is_dead(found)]
        )


def is_dead(found: Sequence[Contradiction]) -> bool:
    """Whether an AND group with these contradictions can never hold."""
    return any(clash.outlook is Outlook.NO for clash in found)


def scene_of(definition: PromotionDefinition, tenant: Tenant) -> Scene:
    """Set the scene; no definition makes this fail."""
    rows = tuple(sorted(definition.conditions, key=lambda row: (row.sequence, row.id)))
    places = _places(definition, tenant)
    starts, ends = _window(definition)
    given = Circumstances(
        exponents=frozenset([minor_digits(one.currency) for one in places.values()]) or frozenset(range(5)),
        is_additive=definition.calculation_mode != "MULTIPLICATIVE",
        starts=starts,
        ends=ends,
        zones=tuple(sorted({one.time_zone for one in places.values()})),
        groups=ArticleGroups(*tenant.tree),
    )
    groups = _groups(rows)
    literals = None if groups is None else literals_of(groups)
    found = [tuple(contradictions(group, given)) for group in literals or ()]
    return Scene(definition, tenant, rows, literals, places, starts, ends, given, tuple(found))


def _groups(rows: tuple[ConditionRow, ...]) -> tuple[Group, ...] | None:
    try:
        return parse_conditions(rows)
    except DefinitionError:
        return None


def _places(definition: PromotionDefinition, tenant: Tenant) -> dict[str, PlaceSeen]:
    """The POS groups where it is a candidate at some time (sections 2 and 9)."""
    places = {key: one for key, one in tenant.places.items() if one.is_active}
    if definition.pos_groups:
        places = {key: one for key, one in places.items() if key in definition.pos_groups}
    if definition.currency is not None:
        places = {key: one for key, one in places.items() if one.currency == definition.currency}
    if definition.is_experiment:
        wanted = definition.experiment_group_id
        places = {key: one for key, one in places.items() if wanted is None or key == wanted}
        places.pop(definition.control_group_id or "", None)
    if definition.status == "PILOT":
        treated = frozenset() if definition.pilot is None else treated_groups(definition.pilot)
        places = {key: one for key, one in places.items() if key in treated}
    return places


def _window(definition: PromotionDefinition) -> tuple[int, int]:
    windows = [(definition.valid_from, definition.valid_to)]
    if definition.campaign_window is not None:
        windows.append(definition.campaign_window)
    if definition.status == "PILOT" and definition.pilot is not None:
        windows.append((definition.pilot.starts_at, definition.pilot.ends_at))
    starts = max([microseconds(opens) for opens, _ in windows if opens is not None], default=-ALWAYS)
    ends = min([microseconds(closes) for _, closes in windows if closes is not None], default=ALWAYS)
    return starts, ends

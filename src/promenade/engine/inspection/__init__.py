"""The check of a promotion: what keeps it from running, what it conflicts with, which parts can never apply.

Pure like the engine that it uses: the compiled promotion, facts about the tenant, the other promotions; no clock. A
finding states what is certain by the classes that price sales; where something is only likely, it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.engine.inspection.actions import check_actions
from promenade.engine.inspection.conditions import check_conditions
from promenade.engine.inspection.finding import (
    ERROR,
    INFO,
    WARNING,
    ArticleSeen,
    BudgetSeen,
    CouponTypeSeen,
    Finding,
    PlaceSeen,
    Tenant,
)
from promenade.engine.inspection.overlap import articles_in_question, check_overlaps
from promenade.engine.inspection.scene import scene_of
from promenade.engine.inspection.standing import check_standing
from promenade.engine.promotion import CompiledPromotion

__all__ = [
    "ArticleSeen",
    "BudgetSeen",
    "CouponTypeSeen",
    "Finding",
    "PlaceSeen",
    "Tenant",
    "by_severity",
    "inspect",
    "others_articles",
]

_SEVERITIES = (ERROR, WARNING, INFO)
FINDINGS_MAX = 100  # about the promotion itself


def inspect(definition: PromotionDefinition, tenant: Tenant, others: Sequence[CompiledPromotion] = ()) -> list[Finding]:
    """All findings, errors first, then warnings, in the order a planner asks.

    ``others`` are the tenant's compiled promotions, with or without this one. No definition makes this raise.
    """
    scene = scene_of(definition, tenant)
    found = by_severity([*check_standing(scene), *check_conditions(scene), *check_actions(scene)])
    rest = len(found) - FINDINGS_MAX
    if rest > 0:
        message = f"There are {rest} more findings about the promotion itself, which are not listed here."
        found[FINDINGS_MAX:] = [Finding("FINDINGS_MORE", INFO, message)]
    compiled = _compiled(definition)
    if compiled is not None:
        found += check_overlaps(scene, compiled, others)
    return by_severity(found)


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, errors first, otherwise in the same order."""
    return sorted(findings, key=_severity)


def _severity(one: Finding) -> int:
    return _SEVERITIES.index(one.severity)


def others_articles(definition: PromotionDefinition, tenant: Tenant, others: Sequence[CompiledPromotion]) -> list[str]:
    """Numbers of others' articles that `inspect` needs in ``tenant.articles``; at most 5000."""
    compiled = _compiled(definition)
    return [] if compiled is None else articles_in_question(scene_of(definition, tenant), compiled, others)


def _compiled(definition: PromotionDefinition) -> CompiledPromotion | None:
    try:
        return compile_promotion(definition)
    except DefinitionError:
        return None

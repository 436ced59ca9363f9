"""Whether a promotion is displaced whenever it could apply: dead by somebody else's exclusion, for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from promenade.engine.benefits.article import ArticleDiscount
from promenade.engine.benefits.receipt import ReceiptDiscount
from promenade.engine.benefits.registry import Benefit
from promenade.engine.conditions.article import NamedLines
from promenade.engine.conditions.receipt import ReceiptAmount
from promenade.engine.inspection.literals import Circumstances, Literal, literals_of, outlook_of
from promenade.engine.inspection.scene import Scene
from promenade.engine.inspection.texts import Outlook
from promenade.engine.promotion import CompiledPromotion

__all__ = ["always_applies", "can_meet"]

PAIRS_MAX = 64  # AND groups of one promotion times those of another


def can_meet(ours: Sequence[Sequence[Literal]], other: CompiledPromotion, given: Circumstances) -> bool:
    """Whether some sale may satisfy both promotions' conditions."""
    theirs = literals_of(other.groups) or ((),)
    if len(ours) * len(theirs) > PAIRS_MAX:
        return True
    is_alike = given.is_additive and not other.is_multiplicative
    for mine in ours:
        for group in theirs:
            # Amounts of two moments cannot be compared.
            theirs_alike = group if is_alike else _without_amounts(group)
            if not theirs_alike or outlook_of([*mine, *theirs_alike], given, theirs_alike) is not Outlook.NO:
                return True
    return False


def _without_amounts(group: Sequence[Literal]) -> list[Literal]:
    return [one for one in group if not isinstance(one.condition, ReceiptAmount)]


def always_applies(scene: Scene, other: CompiledPromotion) -> bool:
    """Whether ``other``, if nothing blocks it, takes something off every sale that this promotion could apply to.

    Every sale that is worth enough for its discount not to round to nothing.
    """
    definition = other.definition
    limits = (definition.max_applications_total, definition.max_applications_per_customer)
    if definition.status != "ACTIVE" or definition.is_experiment or definition.coupon_type_ids or definition.budget_ids:
        return False
    if definition.exclusion_group is not None or limits != (None, None):
        return False
    if definition.max_applications_per_transaction == 0 or definition.precision is not None or not scene.places:
        return False
    if other.starts > max(scene.starts, scene.now) or other.ends < scene.ends:
        return False
    if definition.pos_groups and not scene.places.keys() <= definition.pos_groups:
        return False
    if definition.currency is not None and any(one.currency != definition.currency for one in scene.places.values()):
        return False
    return any(_surely_gives(one) for one in other.benefits) and _is_implied(scene, other)


def _surely_gives(benefit: Benefit) -> bool:
    """A discount on whatever is sold."""
    if isinstance(benefit, ReceiptDiscount):
        kind, value = benefit.shown
    elif isinstance(benefit, ArticleDiscount) and benefit.discount is not None and benefit.plain:
        kind, value = benefit.discount.shown
    else:
        return False
    is_whole = not benefit.target.own and benefit.target.exclusions is None and benefit.maximum is None
    return is_whole and kind in ("PERCENTAGE", "ABSOLUTE") and value >= 100


def _is_implied(scene: Scene, other: CompiledPromotion) -> bool:
    """Whether each way to satisfy our conditions satisfies theirs, one by one."""
    if not other.groups:
        return True
    theirs = literals_of(other.groups)
    if any(isinstance(one.condition, NamedLines) or one.negated for group in theirs for one in group):
        return False  # what it takes off could be on lines that cost nothing
    ours = scene.live_groups
    if not ours or len(ours) * len(theirs) > PAIRS_MAX or other.is_multiplicative or not scene.given.is_additive:
        return False
    given = replace(scene.given, starts=max(scene.given.starts, scene.now))
    return all(any(all(_implies(mine, one, given) for one in group) for group in theirs) for mine in ours)


def _implies(mine: Sequence[Literal], one: Literal, given: Circumstances) -> bool:
    """What cannot be while it does not hold, implies it."""
    denied = Literal(not one.negated, one.condition, one.place)
    return outlook_of([*mine, denied], given, [denied]) is Outlook.NO

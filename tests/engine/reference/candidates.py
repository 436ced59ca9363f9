"""Which promotions are candidates here and now, triggered by which coupon, and in which order they apply."""

from __future__ import annotations

from datetime import datetime
from math import ceil

from promenade.engine.basket import CouponFact
from promenade.engine.definition import PilotRow, PromotionDefinition
from tests.engine.reference.actions import ACTIONS, APART
from tests.engine.reference.sale import Sale

UNPUBLISHED = {"DRAFT", "PENDING_APPROVAL", "APPROVED", "REJECTED", "INACTIVE"}


def trigger(sale: Sale, promotion: PromotionDefinition) -> tuple[int, CouponFact] | None:
    """Return the first presented code that triggers the promotion, with its position."""
    for position, coupon in enumerate(sale.facts.coupons):
        if coupon.refusal is None and coupon.coupon_type_id in promotion.coupon_type_ids:
            return position, coupon
    return None


def in_time_and_place(sale: Sale, promotion: PromotionDefinition) -> bool:
    """Return whether the promotion satisfies section 2, except for its last point, the coupon."""
    now, here = sale.settings.now, sale.basket.pos_group
    if promotion.status == "PILOT":
        if promotion.pilot is None or not _treated(promotion.pilot, here.id, now):
            return False
    elif promotion.status != "ACTIVE" and not (sale.settings.include_inactive and promotion.status in UNPUBLISHED):
        return False
    if not _within(now, promotion.valid_from, promotion.valid_to) or promotion.campaign_cancelled:
        return False
    if promotion.campaign_window is not None and not _within(now, *promotion.campaign_window):
        return False
    if promotion.pos_groups and here.id not in promotion.pos_groups:
        return False
    if promotion.currency not in (None, here.currency):
        return False
    if promotion.is_experiment:
        if promotion.control_group_id == here.id:
            return False
        if promotion.experiment_group_id is not None and promotion.experiment_group_id != here.id:
            return False
    return True


def is_candidate(sale: Sale, promotion: PromotionDefinition) -> bool:
    if not in_time_and_place(sale, promotion):
        return False
    return not promotion.coupon_type_ids or trigger(sale, promotion) is not None


def order(sale: Sale, promotion: PromotionDefinition) -> tuple[object, ...]:
    """Return section 4 as a sort key."""
    group = promotion.priority_group
    found = trigger(sale, promotion)
    return (
        (0, group.group_priority) if group else (1, 0),
        promotion.exclusivity != "GLOBAL",
        stage(promotion),
        found[0] if found else -1,
        group.sequence if group else 0,
        promotion.priority,
        promotion.id,
    )


def stage(promotion: PromotionDefinition) -> int:
    """Return 0 if an action is on articles, 1 if one is on the receipt, 2 if all actions only reward."""
    kinds = [action.action_type for action in promotion.actions]
    return min([APART[kind] if kind in APART else ACTIONS[kind].stage for kind in kinds], default=2)


def _within(now: datetime, begin: datetime | None, end: datetime | None) -> bool:
    return (begin is None or begin <= now) and (end is None or now < end)


def _treated(pilot: PilotRow, here: str, now: datetime) -> bool:
    """Return whether the pilot treats this POS group now.

    The assignment by hash is left to the engine: the pilots made here treat all of their groups or none.
    """
    if not _within(now, pilot.starts_at, pilot.ends_at) or here not in pilot.pilot_pos_groups:
        return False
    groups = len(pilot.pilot_pos_groups)
    treated = ceil(pilot.share_hundredths * groups / 100)
    assert treated in (0, groups)
    return treated > 0

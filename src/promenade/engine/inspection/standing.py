"""What keeps a promotion from running now, besides its conditions and actions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from promenade.engine.inspection.finding import ERROR, INFO, WARNING, BudgetSeen, CouponTypeSeen, Finding, named
from promenade.engine.inspection.scene import Scene
from promenade.engine.pilots import treated_groups
from promenade.engine.promotion import ALWAYS, microseconds

_NEXT = {
    "DRAFT": "It applies once it is activated.",
    "PENDING_APPROVAL": "It waits for approval.",
    "APPROVED": "It applies once it is activated.",
    "INACTIVE": "It applies once it is activated again.",
}


def check_standing(scene: Scene) -> Iterator[Finding]:
    """Status, validity, campaign, places, pilots, budgets, coupons and limits, in the order a planner asks."""
    yield from _status(scene)
    yield from _validity(scene)
    yield from _campaign(scene)
    if not scene.definition.actions and not scene.definition.loyalty_actions:
        yield Finding("ACTION_MISSING", ERROR, "It gives nothing: it has no action.", "DiscountActions")
    yield from _places(scene)
    yield from _pilot(scene)
    for budget_id in scene.definition.budget_ids:
        yield from _budget(scene, budget_id)
    yield from _coupons(scene)
    yield from _limits(scene)


def _status(scene: Scene) -> Iterator[Finding]:
    status = scene.definition.status
    if status in _NEXT:
        message = f"Its status is {status}: it does not apply now. {_NEXT[status]}"
        yield Finding("NOT_RUNNING", INFO, message, "Promotions/status")
    elif status not in {"ACTIVE", "PILOT"}:
        message = f"Its status is {status}: it does not apply."
        yield Finding("NOT_RUNNING", WARNING, message, "Promotions/status")


def _day(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _validity(scene: Scene) -> Iterator[Finding]:
    one, at = scene.definition, scene.tenant.at
    if one.valid_from is not None and one.valid_to is not None and one.valid_from >= one.valid_to:
        message = f"Its validity ends ({_day(one.valid_to)}) before it begins ({_day(one.valid_from)})."
        yield Finding("VALIDITY_EMPTY", ERROR, message, "Promotions/validTo")
    elif one.valid_to is not None and one.valid_to <= at:
        yield Finding("VALIDITY_OVER", ERROR, f"Its validity ended {_day(one.valid_to)}.", "Promotions/validTo")
    elif one.valid_from is not None and one.valid_from > at:
        message = f"It is not valid yet: it begins {_day(one.valid_from)}."
        yield Finding("VALIDITY_AHEAD", INFO, message, "Promotions/validFrom")


def _campaign(scene: Scene) -> Iterator[Finding]:
    one, at = scene.definition, scene.tenant.at
    if one.campaign_window is None:
        return
    starts, ends = one.campaign_window
    key, target = one.campaign_id, "Promotions/campaign_ID"
    if one.campaign_cancelled:
        yield Finding("CAMPAIGN_CANCELLED", ERROR, "Its campaign is CANCELLED.", target, key)
    elif ends is not None and ends <= at:
        yield Finding("CAMPAIGN_OVER", ERROR, f"Its campaign ended {_day(ends)}.", target, key)
    elif (ends is not None and one.valid_from is not None and ends <= one.valid_from) or (
        starts is not None and one.valid_to is not None and starts >= one.valid_to
    ):
        message = "Its validity and the window of its campaign do not overlap."
        yield Finding("CAMPAIGN_ELSEWHEN", ERROR, message, target, key)
    elif starts is not None and starts > at:
        yield Finding("CAMPAIGN_AHEAD", INFO, f"Its campaign begins {_day(starts)}.", target, key)


# --- places -----------------------------------------------------------------------------------------------------------


def _places(scene: Scene) -> Iterator[Finding]:
    one, known = scene.definition, scene.tenant.places
    target = "PromotionPosGroups/posGroup_ID"
    chosen = [place for key, place in known.items() if not one.pos_groups or key in one.pos_groups]
    active = [place for place in chosen if place.is_active]
    if not active:
        what = "None of its POS groups is active" if one.pos_groups else "No POS group is active"
        codes = named(sorted(place.code for place in chosen))
        yield Finding("POS_GROUPS_INACTIVE", ERROR, what + (f": {codes}." if codes else "."), target)
        return
    if one.pos_groups and len(active) < len(chosen):
        codes = named(sorted(place.code for place in chosen if not place.is_active))
        yield Finding("POS_GROUPS_INACTIVE", INFO, f"Not all of its POS groups are active: {codes} is not.", target)
    if one.currency is not None:
        foreign = sorted({place.currency for place in active} - {one.currency})
        if len(foreign) == len({place.currency for place in active}):
            message = (
                f"It is in {one.currency}, and none of its POS groups sells in that: they sell in {named(foreign)}."
            )
            yield Finding("CURRENCY_NOWHERE", ERROR, message, "Promotions/currency")
        elif foreign and one.pos_groups:
            message = f"It is in {one.currency}: it does not apply where its POS groups sell in {named(foreign)}."
            yield Finding("CURRENCY_ELSEWHERE", WARNING, message, "Promotions/currency")


def _pilot(scene: Scene) -> Iterator[Finding]:
    one = scene.definition
    if one.is_experiment and not scene.places and one.status != "PILOT" and _has_places_but_for_experiment(scene):
        if one.experiment_group_id is not None and one.experiment_group_id == one.control_group_id:
            message = "Its experiment group is its control group: nobody gets it."
        elif one.experiment_group_id is not None:
            message = "Its experiment group is not one of its active POS groups: nobody gets it."
        else:
            message = "Its control group is its only POS group: nobody gets it."
        yield Finding("EXPERIMENT_EXCLUDES_ALL", ERROR, message, "Promotions/experimentGroupId")
    pilot = one.pilot
    if pilot is None:
        if one.status == "PILOT":
            message = "It is in status PILOT and has no pilot configuration."
            yield Finding("PILOT_CONFIG_MISSING", ERROR, message, "PromotionPilotConfigs")
        return
    severity = ERROR if one.status == "PILOT" else WARNING
    yield from _pilot_window(scene, severity)
    active = {key for key, place in scene.tenant.places.items() if place.is_active}
    treated = treated_groups(pilot)
    if not treated:
        message = "Its pilot treats no POS group: " + (
            "none is named." if not pilot.pilot_pos_groups else "the share of the pilot POS groups that get it is 0."
        )
        target = "PilotPosGroups/posGroup_ID" if not pilot.pilot_pos_groups else "PromotionPilotConfigs/pilotShare"
        yield Finding("PILOT_EXCLUDES_ALL", severity, message, target, pilot.config_id)
    elif not treated & active:
        message = "None of the POS groups that its pilot treats is active."
        yield Finding("PILOT_EXCLUDES_ALL", severity, message, "PilotPosGroups/posGroup_ID", pilot.config_id)
    elif one.pos_groups and not treated & one.pos_groups:
        message = "None of the POS groups that its pilot treats is one of the promotion's own."
        yield Finding("PILOT_EXCLUDES_ALL", severity, message, "PilotPosGroups/posGroup_ID", pilot.config_id)


def _has_places_but_for_experiment(scene: Scene) -> bool:
    one = scene.definition
    return any(
        place.is_active
        and (not one.pos_groups or key in one.pos_groups)
        and (one.currency is None or place.currency == one.currency)
        for key, place in scene.tenant.places.items()
    )


def _pilot_window(scene: Scene, severity: str) -> Iterator[Finding]:
    one, pilot = scene.definition, scene.definition.pilot
    if pilot is None:
        return
    key = pilot.config_id
    if pilot.starts_at >= pilot.ends_at:
        message = "Its pilot ends before it begins."
        yield Finding("PILOT_WINDOW_EMPTY", severity, message, "PromotionPilotConfigs/pilotEndAt", key)
    elif pilot.ends_at <= scene.tenant.at:
        message = f"Its pilot ended {_day(pilot.ends_at)}."
        yield Finding("PILOT_OVER", severity, message, "PromotionPilotConfigs/pilotEndAt", key)
    elif (one.valid_from is not None and pilot.ends_at <= one.valid_from) or (
        one.valid_to is not None and pilot.starts_at >= one.valid_to
    ):
        message = "Its pilot is outside its validity."
        yield Finding("PILOT_OUTSIDE_VALIDITY", severity, message, "PromotionPilotConfigs/pilotStartAt", key)


# --- budgets, coupons, limits -----------------------------------------------------------------------------------------


def _budget(scene: Scene, budget_id: str) -> Iterator[Finding]:
    budget = scene.tenant.budgets.get(budget_id)
    if budget is None:
        message = "It is charged to a budget that does not exist."
        yield Finding("BUDGET_NOT_ACTIVE", ERROR, message, "BudgetPromotions/budget_ID", budget_id)
        return
    called = f"Its budget {budget.name!r}"
    if scene.places and all(place.currency != budget.currency for place in scene.places.values()):
        message = f"{called} is in {budget.currency}, and none of its POS groups sells in that."
        yield Finding("BUDGET_CURRENCY", ERROR, message, "Budgets/currency", budget.id)
    if budget.status == "EXHAUSTED" or (budget.status == "ACTIVE" and budget.is_empty):
        yield Finding("BUDGET_EXHAUSTED", ERROR, f"{called} has nothing left.", "Budgets/remainingAmount", budget.id)
    elif budget.status == "EXPIRED":
        message = f"{called} is over: it was valid until {_day(budget.valid_to)}."
        yield Finding("BUDGET_EXPIRED", ERROR, message, "Budgets/validTo", budget.id)
    elif budget.status == "SCHEDULED":
        yield _scheduled(scene, budget, called)
    elif budget.status != "ACTIVE":
        message = f"{called} is {budget.status}: nothing can be charged to it."
        yield Finding("BUDGET_NOT_ACTIVE", ERROR, message, "Budgets/status", budget.id)
    elif budget.valid_to is not None and microseconds(budget.valid_to) < scene.ends:
        message = f"{called} ends before the promotion does: from {_day(budget.valid_to)} on it gives nothing."
        yield Finding("BUDGET_ENDS_EARLIER", WARNING, message, "Budgets/validTo", budget.id)


def _scheduled(scene: Scene, budget: BudgetSeen, called: str) -> Finding:
    opens = -ALWAYS if budget.valid_from is None else microseconds(budget.valid_from)
    if opens >= scene.ends:
        message = f"{called} begins when the promotion is over."
        return Finding("BUDGET_NOT_ACTIVE", ERROR, message, "Budgets/validFrom", budget.id)
    if opens > max(scene.starts, scene.now):
        message = f"{called} begins later than the promotion: until {_day(budget.valid_from)} it gives nothing."
        return Finding("BUDGET_AHEAD", WARNING, message, "Budgets/validFrom", budget.id)
    message = f"{called} begins {_day(budget.valid_from)}, in time for the promotion."
    return Finding("BUDGET_AHEAD", INFO, message, "Budgets/validFrom", budget.id)


def _coupons(scene: Scene) -> Iterator[Finding]:
    types = sorted(scene.definition.coupon_type_ids)
    found = [(key, _coupon_fault(scene, scene.tenant.coupon_types.get(key))) for key in types]
    severity = ERROR if types and all(fault is not None for _, fault in found) else WARNING
    for key, fault in found:
        if fault is not None:
            code, message, name = fault
            yield Finding(code, severity, message, f"CouponTypes/{name}", key)


def _coupon_fault(scene: Scene, kind: CouponTypeSeen | None) -> tuple[str, str, str] | None:
    """Code, message and property of what keeps codes of a type from triggering the promotion."""
    if kind is None:
        return "COUPON_TYPE_UNKNOWN", "It needs a coupon of a type that does not exist.", "ID"
    called = f"It needs a coupon of the type {kind.name!r}, which"
    if kind.status != "ACTIVE":
        return "COUPON_TYPE_INACTIVE", f"{called} is {kind.status}: no code of it is accepted.", "status"
    if kind.valid_to is not None and kind.valid_to <= scene.tenant.at:
        return "COUPON_TYPE_EXPIRED", f"{called} was valid until {_day(kind.valid_to)}.", "validTo"
    if kind.valid_from is not None and microseconds(kind.valid_from) >= scene.ends:
        return "COUPON_TYPE_LATE", f"{called} is valid only when the promotion is over.", "validFrom"
    if kind.is_used_up:
        return "COUPONS_USED_UP", f"{called} has been redeemed as often as allowed.", "maxRedemptions"
    if kind.has_code:
        return None
    if kind.has_stock:
        return "COUPONS_NOT_ACTIVATED", f"{called} has codes, but none that its customer has activated.", "codes"
    return "COUPONS_MISSING", f"{called} has no code that a customer could present.", "codes"


def _limits(scene: Scene) -> Iterator[Finding]:
    one = scene.definition
    for name, limit in (
        ("maxApplicationsPerTransaction", one.max_applications_per_transaction),
        ("maxApplicationsPerCustomer", one.max_applications_per_customer),
    ):
        if limit is not None and limit <= 0:
            yield Finding("APPLICATIONS_USED_UP", ERROR, f"It never applies: {name} is 0.", f"Promotions/{name}")
    total = one.max_applications_total
    if total is not None and scene.tenant.applications >= total:
        message = f"It has applied {scene.tenant.applications} times, and may apply only {total} times."
        yield Finding("APPLICATIONS_USED_UP", ERROR, message, "Promotions/maxApplicationsTotal")

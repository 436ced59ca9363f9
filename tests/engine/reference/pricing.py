"""The whole sale: order, stacking, budgets, points and coupons (sections 4, 5, 6 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from promenade.engine.basket import Basket, Facts, Settings
from promenade.engine.definition import LoyaltyRow, PromotionDefinition
from tests.engine.reference.actions import Taking, Turn, book, own_targets, run, seen_by
from tests.engine.reference.bundles import run_bundles
from tests.engine.reference.candidates import in_time_and_place, is_candidate, order, trigger
from tests.engine.reference.conditions import Qualification, qualify
from tests.engine.reference.gifts import Gift, run_gifts
from tests.engine.reference.points import rewarded
from tests.engine.reference.sale import Piece, Sale


@dataclass
class Application:
    """The effect of one promotion on the sale."""

    promotion: PromotionDefinition
    qualification: Qualification
    takings: list[Taking] = field(default_factory=list)
    gifts: list[Gift] = field(default_factory=list)
    coupon: str | None = None
    coupon_types: tuple[str, ...] = ()  # post-purchase
    points: int = 0
    left: list[int] = field(default_factory=list)  # per line, after this promotion

    @property
    def discount(self) -> int:
        return sum(taking.amount for taking in self.takings)

    @property
    def gives(self) -> bool:
        """Whether it discounts or gives something: only then does it exclude others."""
        return bool(self.discount or self.gifts)

    @property
    def given(self) -> int:
        return sum(gift.value for gift in self.gifts)


@dataclass
class Result:
    """The priced sale."""

    sale: Sale
    applied: list[Application] = field(default_factory=list)
    limited: dict[str, str] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    used: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    base_points: int = 0
    points: int = 0


def price(
    definitions: list[PromotionDefinition],
    basket: Basket,
    facts: Facts,
    settings: Settings,
    article_groups: Mapping[str, str | None],
    never: Mapping[str, str],
) -> Result:
    """Price the sale promotion by promotion. ``never``: groups that are never discounted."""
    result = Result(Sale(basket, facts, settings, article_groups, never))
    sale = result.sale
    ordered = sorted((each for each in definitions if is_candidate(sale, each)), key=lambda each: order(sale, each))
    decided: set[str] = set()  # exclusion groups with a winner
    exhausted: set[str] = set()
    for promotion in ordered:
        group = promotion.exclusion_group
        if group is None:
            found = attempt(result, promotion, exhausted)
        elif group.group_id in decided:
            continue
        else:
            found = compete(result, promotion, ordered, exhausted)
            if found is not None:
                decided.add(group.group_id)
        if found is not None:
            result.sale, application = found
            result.applied.append(application)
    award(result)
    tell_coupons(result, definitions, ordered, exhausted)
    return result


def compete(
    result: Result, first: PromotionDefinition, ordered: list[PromotionDefinition], exhausted: set[str]
) -> tuple[Sale, Application] | None:
    """Return the winner among the exclusion group's members from the first on; ties: first in order.

    Those before it gave nothing when they were due.
    """
    group = first.exclusion_group
    assert group is not None
    if attempt(result, first, exhausted) is None:  # a member that gives nothing does not start the competition either
        return None
    trials = []
    for member in ordered[ordered.index(first) :]:
        if member.exclusion_group is not None and member.exclusion_group.group_id == group.group_id:
            found = attempt(result, member, exhausted)
            if found is not None:
                trials.append(found)
    if not trials:
        return None
    best = max if group.resolution_strategy == "HIGHEST_DISCOUNT" else min
    return best(trials, key=lambda each: each[1].discount + each[1].given)


def attempt(result: Result, promotion: PromotionDefinition, exhausted: set[str]) -> tuple[Sale, Application] | None:
    """Return the sale after the promotion, None if it may not apply or has no effect."""
    if qualify(seen_by(result.sale, promotion), promotion) is None:
        return None
    is_short = used_up(result.sale, promotion) and is_short_of_uses(result.sale, promotion)
    if used_up(result.sale, promotion) and not is_short:
        exhausted.add(promotion.id)
        return None
    if excluded_by_others(result, promotion):
        return None
    sale = result.sale.copy()
    application = apply(sale, promotion)
    if not has_effect(sale, application) or alone_too_late(result, application):
        return None
    if (reason := "SHARE_NOT_AVAILABLE" if is_short else out_of_budget(result, application)) is not None:
        result.limited.setdefault(promotion.id, reason)
        return None
    return sale, application


def excluded_by_others(result: Result, promotion: PromotionDefinition) -> bool:
    applied = [application.promotion for application in result.applied]
    excluding = [application.promotion for application in result.applied if application.gives]
    if promotion.exclusivity == "GLOBAL" and applied:
        return True
    if any(other.exclusivity == "GLOBAL" for other in excluding):
        return True
    group = promotion.priority_group
    if group is None:
        return False
    return any(
        each.exclusivity == "GROUP" and each in excluding
        for each in applied
        if each.priority_group and each.priority_group.group_id == group.group_id
    )


def alone_too_late(result: Result, application: Application) -> bool:
    """Return whether a GROUP promotion that gives something comes after another of its priority group."""
    promotion = application.promotion
    group = promotion.priority_group
    if promotion.exclusivity != "GROUP" or group is None or not application.gives:
        return False
    others = [each.promotion.priority_group for each in result.applied]
    return any(other is not None and other.group_id == group.group_id for other in others)


def used_up(sale: Sale, promotion: PromotionDefinition) -> bool:
    usage = sale.facts.usage.get(promotion.id)
    if promotion.max_applications_per_transaction == 0:
        return True
    total, own = (usage.total, usage.by_customer) if usage else (0, 0)
    return (promotion.max_applications_total is not None and total >= promotion.max_applications_total) or (
        promotion.max_applications_per_customer is not None and own >= promotion.max_applications_per_customer
    )


def is_short_of_uses(sale: Sale, promotion: PromotionDefinition) -> bool:
    """Return whether the only reason that it is used up is the store's part of its limit."""
    usage = sale.facts.usage.get(promotion.id)
    own = promotion.max_applications_per_customer
    return (
        usage is not None
        and usage.is_share
        and promotion.max_applications_per_transaction != 0
        and (own is None or usage.by_customer < own)
    )


def apply(sale: Sale, promotion: PromotionDefinition) -> Application:
    """Run the promotion's actions, by sequence and ID, on the sale."""
    seen = seen_by(sale, promotion)
    qualification = qualify(seen, promotion)
    assert qualification is not None
    application = Application(promotion, qualification)
    turn = Turn(seen, promotion, qualification)
    found = trigger(sale, promotion)
    if found is not None:
        application.coupon = found[1].code
    repetitions = promotion.max_applications_per_transaction
    in_bundles: set[Piece] = set()
    for action in sorted(promotion.actions, key=lambda each: (each.sequence, each.id)):
        if action.action_type == "POST_PURCHASE_COUPON":
            if not qualification.lines:
                continue  # only returns: nothing was purchased
            assert action.target_coupon_type_id is not None
            application.coupon_types += (action.target_coupon_type_id,)
        elif action.action_type == "FREE_ITEM":
            takings, gift, _ = run_gifts(turn, action, repetitions)
            application.gifts += [gift] if gift else []
            application.takings += book(turn, takings, by_piece=True)
        elif action.action_type == "BUNDLE":
            takings, _ = run_bundles(turn, action, in_bundles, repetitions)
            application.takings += book(turn, takings, by_piece=True)
        elif action.action_type != "LOYALTY":
            application.takings += book(turn, run(turn, action))
    application.left = [line.left for line in sale.lines]
    return application


def has_effect(sale: Sale, application: Application) -> bool:
    if application.discount or application.gifts or application.coupon_types:
        return True
    return rewards(sale, application)


def out_of_budget(result: Result, application: Application) -> str | None:
    """Return why a budget drops the promotion. An ACTIVE budget with nothing left counts as exhausted."""
    for budget_id in application.promotion.budget_ids:
        budget = result.sale.facts.budgets[budget_id]
        taken = sum(other.discount for other in result.applied if budget_id in other.promotion.budget_ids)
        left = budget.remaining_minor - taken
        if budget.status == "SHARE":
            if application.discount > left:
                return "SHARE_NOT_AVAILABLE"
            continue
        if budget.status == "EXHAUSTED" or (budget.status == "ACTIVE" and budget.remaining_minor <= 0):
            return "BUDGET_EXHAUSTED"
        if budget.status != "ACTIVE":
            return "BUDGET_NOT_ACTIVE"
        if application.discount > left:
            return "BUDGET_INSUFFICIENT"
    return None


def rewards(sale: Sale, application: Application) -> bool:
    """Return whether a loyalty action would change any points, given enough points to deduct from."""
    points = 10**6
    return any(after(sale, application, row, points) != points for row in application.promotion.loyalty_actions)


def award(result: Result) -> None:
    """Add the tenant's base points, then apply the loyalty actions of the applied promotions, in order."""
    sale = result.sale
    net = Fraction(max(0, sum(line.left for line in sale.lines)), 10**sale.exponent)  # paid, including returns
    result.base_points = floor(net * sale.settings.points_per_currency_unit_thousandths / 1000)
    points = result.base_points
    for application in result.applied:
        before = points
        for row in application.promotion.loyalty_actions:
            points = after(sale, application, row, points)
        application.points = points - before
    result.points = points


def after(sale: Sale, application: Application, row: LoyaltyRow, points: int) -> int:
    """Return the points after one loyalty action: whole, rounded down once, never below zero."""
    lines = own_targets(seen_by(sale, application.promotion), row)
    if lines is None:
        lines = application.qualification.lines
    lines = [line for line in lines if not line.never]
    if not lines:  # a return alone is not rewarded
        return points
    left = Fraction(sum(application.left[line.index] for line in lines))
    return rewarded(sale, row, left, points)


def tell_coupons(
    result: Result, definitions: list[PromotionDefinition], ordered: list[PromotionDefinition], exhausted: set[str]
) -> None:
    """Record which presented codes were used, and why the others were not."""
    sale = result.sale
    applied = {application.promotion.id for application in result.applied}
    for position, coupon in enumerate(sale.facts.coupons):
        if coupon.refusal is not None:
            result.refused.append((coupon.code, coupon.refusal))
            continue
        mine = [each.promotion.id for each in result.applied if trigger(sale, each.promotion) == (position, coupon)]
        linked = [
            each
            for each in definitions
            if coupon.coupon_type_id in each.coupon_type_ids and in_time_and_place(sale, each)
        ]
        if mine:
            result.used.append((coupon.code, tuple(mine)))
        elif not linked:
            result.refused.append((coupon.code, "NO_PROMOTION"))
        elif any(each.id in exhausted or each.id in applied for each in linked):
            result.refused.append((coupon.code, "USAGE_LIMIT_REACHED"))
        elif any(result.limited.get(each.id) == "SHARE_NOT_AVAILABLE" for each in linked):
            result.refused.append((coupon.code, "NEEDS_CLOUD"))
        else:
            result.refused.append((coupon.code, "CONDITION_NOT_MET"))

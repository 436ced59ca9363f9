"""Actions that give nothing: no value, no tier that is reached, no line left by their exclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.free_item import FreeItem
from promenade.engine.benefits.registry import Benefit, benefit_forms, compile_benefits
from promenade.engine.benefits.targets import Targets
from promenade.engine.conditions.receipt import ItemQuantity, ReceiptAmount
from promenade.engine.definition import ActionRow, DefinitionError, LoyaltyRow, TierRow
from promenade.engine.inspection.covers import Barred, Cover, Excluded, Taking, taken_of_named, taken_of_targets
from promenade.engine.inspection.finding import ERROR, WARNING, Finding, named
from promenade.engine.inspection.literals import Literal
from promenade.engine.inspection.scene import Scene
from promenade.engine.inspection.spans import ANY, HIGHEST, Spans, both, outside, spans_of
from promenade.engine.money import limit_minor, threshold_minor


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why an action gives nothing.

    ``is_sure`` is false where tills could send other data; ``is_fatal``: the promotion cannot be priced at all.
    """

    code: str
    message: str
    field: str
    is_sure: bool = True
    is_fatal: bool = False


def check_actions(scene: Scene) -> Iterator[Finding]:
    """Check the actions; an action that gives nothing beside one that does is a WARNING."""
    one = scene.definition
    actions = sorted(one.actions, key=lambda row: (row.sequence, row.id))
    loyalty = sorted(one.loyalty_actions, key=lambda row: row.id)
    faults = [("DiscountActions", row.id, _of_action(scene, row)) for row in actions if row.action_type != "LOYALTY"]
    faults += [("LoyaltyActions", row.id, _of_loyalty(scene, row)) for row in loyalty]
    is_all = all(fault is not None and fault.is_sure for _, _, fault in faults)
    for set_name, row_id, fault in faults:
        if fault is not None:
            severity = ERROR if fault.is_fatal or (is_all and fault.is_sure) else WARNING
            yield Finding(fault.code, severity, fault.message, f"{set_name}/{fault.field}", row_id)
    if any(row.action_type == "LOYALTY" for row in actions) and not loyalty:
        row = next(row for row in actions if row.action_type == "LOYALTY")
        message = "A LOYALTY action needs a loyalty action that says what it gives."
        yield Finding("NO_LOYALTY_ACTION", ERROR, message, "DiscountActions/actionType", row.id)
    for row in actions:
        yield from _tiers(scene, row)
        yield from _unknown_articles(scene, row)


def _of_action(scene: Scene, row: ActionRow) -> _Fault | None:
    try:
        (benefit,) = compile_benefits(replace(scene.definition, actions=(row,), loyalty_actions=()))
    except DefinitionError as error:
        message = f"The action {row.action_type} {row.sequence} cannot be read: {error.message}"
        return _Fault(error.code, message, error.target.split("/", 1)[-1], is_fatal=True)
    called = f"The action {row.action_type} {row.sequence}"
    return _without_value(scene, row, called) or _without_lines(scene, benefit, called)


def _of_loyalty(scene: Scene, row: LoyaltyRow) -> _Fault | None:
    called = f"The loyalty action {row.action_type}"
    try:
        compile_benefits(replace(scene.definition, actions=(), loyalty_actions=(row,)))
    except DefinitionError as error:
        message = f"{called} cannot be read: {error.message}"
        return _Fault(error.code, message, error.target.split("/", 1)[-1], is_fatal=True)
    if row.action_type == "MULTIPLY_POINTS":
        if row.multiplier_thousandths == 1000:
            return _Fault(
                "ACTION_GIVES_NOTHING", f"{called} multiplies by 1: the points stay as they are.", "multiplier"
            )
        if (row.multiplier_thousandths or 0) < 1000:
            return None
    elif row.action_type != "CURRENCY_TO_POINTS" and (row.points_hundredths or 0) < 100:
        return _Fault("ACTION_GIVES_NOTHING", f"{called} comes to less than one whole point.", "points")
    if (
        row.action_type != "SUBTRACT_POINTS"
        and row.max_points_hundredths is not None
        and row.max_points_hundredths < 100
    ):
        return _Fault("ACTION_GIVES_NOTHING", f"{called} gives nothing: maxPoints allows none.", "maxPoints")
    return None


# --- value ------------------------------------------------------------------------------------------------------------


def _without_value(scene: Scene, row: ActionRow, called: str) -> _Fault | None:
    maximum = row.max_discount_hundredths
    if maximum is not None and all(limit_minor(maximum, exponent) <= 0 for exponent in scene.given.exponents):
        return _Fault(
            "ACTION_GIVES_NOTHING", f"{called} gives nothing: maxDiscountAmount allows none.", "maxDiscountAmount"
        )
    if row.action_type == "FREE_ITEM":
        return _without_free_units(scene, row, called)
    if row.action_type in ("QUANTITY_TIER", "SCALED_RECEIPT"):
        is_scaled = row.action_type == "SCALED_RECEIPT"
        tiers, field = (row.scaled_tiers, "scaledTiers") if is_scaled else (row.quantity_tiers, "quantityTiers")
        if all(_is_nothing(tier.discount_type, tier.discount_value_hundredths) for tier in tiers):
            return _Fault("ACTION_GIVES_NOTHING", f"{called} gives nothing: every tier is 0.", field)
        return None
    if "discountValue" not in benefit_forms()[row.action_type].fields:
        return None
    has_prices = any(item.fixed_price_hundredths is not None for item in row.articles)
    if not has_prices and _is_nothing(row.discount_type, row.discount_value_hundredths):
        return _Fault("ACTION_GIVES_NOTHING", f"{called} gives nothing: its discount is 0.", "discountValue")
    return None


def _is_nothing(kind: str | None, value: int | None) -> bool:
    """Whether a discount is zero; a UNIT_PRICE of 0 is a gift."""
    return kind in ("PERCENTAGE", "ABSOLUTE") and value == 0


def _without_free_units(scene: Scene, row: ActionRow, called: str) -> _Fault | None:
    if row.max_free_units_thousandths is not None and row.max_free_units_thousandths < 1000:
        return _Fault(
            "ACTION_GIVES_NOTHING", f"{called} gives nothing: maxFreeUnits allows no whole unit.", "maxFreeUnits"
        )
    quantity = 1000 if row.free_item_quantity_thousandths is None else row.free_item_quantity_thousandths
    # Without a condition that has a threshold the conditions count as met once.
    is_once = row.restrict_to_one_per_basket or scene.definition.max_applications_per_transaction == 1 or not scene.rows
    if quantity < 1000 and is_once:
        message = f"{called} gives nothing: only whole units are given, and it gives less than one in each sale."
        return _Fault("ACTION_GIVES_NOTHING", message, "freeItemQuantity")
    return None


# --- lines ------------------------------------------------------------------------------------------------------------


def _without_lines(scene: Scene, benefit: Benefit, called: str) -> _Fault | None:
    """Whether goods that are never discounted, or the exclusions, leave an action none of its targets."""
    barred = Barred(scene.tenant, scene.given.groups)
    if isinstance(benefit, FreeItem):
        message = f"{called} gives nothing: what it would give is never discounted."
        fault = _Fault("NEVER_DISCOUNTED", message, "freeItemArticleNumber")
        return _if_taken(fault, barred.gift(benefit.article_number))
    target = getattr(benefit, "target", None)
    if not isinstance(target, Targets):
        return None
    field = "targetArticleNumber" if target.articles else "targetArticleGroupId"
    what = "everything that it applies to"
    if isinstance(benefit, BundleDiscount):
        field, what = "bundleComponents", "a component that it needs"
    message = f"{called} gives nothing: {what} is never discounted."
    fault = _Fault("NEVER_DISCOUNTED", message, field)
    found = _if_taken(fault, _covered(scene, benefit, target, barred))
    if found is None and target.exclusions is not None:
        excluded = Excluded(target.exclusions, scene.tenant, scene.given.groups)
        message = f"The exclusions of {called[0].lower() + called[1:]} exclude {what}: it gives nothing."
        fault = _Fault("EXCLUSIONS_COVER_ALL", message, "exclusions")
        found = _if_taken(fault, _covered(scene, benefit, target, excluded))
    return found


def _if_taken(fault: _Fault, cover: Cover) -> _Fault | None:
    if cover is Cover.NOTHING:
        return None
    if cover is Cover.ALL:
        return fault
    message = f"Likely: {fault.message} The articles' master data say so; a till may send other groups."
    return replace(fault, message=message, is_sure=False)


def _covered(scene: Scene, benefit: Benefit, target: Targets, taking: Taking) -> Cover:
    """How much of what an action is for is taken; of a bundle, of the component of which most is."""
    if not isinstance(benefit, BundleDiscount):
        return _taken(scene, target, taking)
    # A component that names nothing takes the action's targets. What is never discounted may still be bought.
    parts = [part for part in benefit.components if part.discounted or not isinstance(taking, Barred)]
    return max(_taken(scene, part.target if part.target.own else target, taking) for part in parts)


def _taken(scene: Scene, target: Targets, taking: Taking) -> Cover:
    if target.own:
        return taken_of_targets(taking, target)
    covers = [
        taken_of_named(taking, [one.condition for one in group if not one.negated]) for group in scene.live_groups
    ]
    return min(covers, default=Cover.NOTHING)


# --- tiers ------------------------------------------------------------------------------------------------------------


def _tiers(scene: Scene, row: ActionRow) -> Iterator[Finding]:
    tiers = row.scaled_tiers if row.action_type == "SCALED_RECEIPT" else row.quantity_tiers
    if row.action_type not in ("SCALED_RECEIPT", "QUANTITY_TIER") or not tiers:
        return
    set_name = "ActionScaledTiers" if row.action_type == "SCALED_RECEIPT" else "ActionQuantityTiers"
    field = "thresholdAmount" if row.action_type == "SCALED_RECEIPT" else "minQuantity"
    called = f"The action {row.action_type} {row.sequence}"
    least = [(_needed(tier), tier) for tier in sorted(tiers, key=lambda tier: tier.sequence)]
    for number, (needed, tier) in enumerate(least):
        if any(other == needed for other, _ in least[number + 1 :]):
            message = f"{called}: tier {tier.sequence} is never used: a later one begins at the same {field}."
            yield Finding("TIER_SHADOWED", WARNING, message, f"{set_name}/{field}", row.id)
    unreached = [tier for needed, tier in least if needed is not None and _is_beyond(scene, row, needed)]
    if unreached:
        shown = named([str(tier.sequence) for tier in unreached])
        is_all = len(unreached) == len(least)
        message = f"{called}: the conditions allow no sale that reaches tier {shown}."
        severity = ERROR if is_all and len(scene.definition.actions) == 1 else WARNING
        yield Finding("TIER_NOT_REACHED", severity, message, f"{set_name}/{field}", row.id)


def _needed(tier: TierRow) -> int | None:
    return tier.threshold_hundredths if tier.threshold_hundredths is not None else tier.min_quantity_thousandths


def _is_beyond(scene: Scene, row: ActionRow, needed: int) -> bool:
    """Whether every alternative of the conditions bounds the sale below what a tier needs."""
    groups = scene.live_groups
    if not groups or scene.groups is None:
        return False
    if row.action_type == "QUANTITY_TIER":
        return all(_most(group, _quantities) < needed for group in groups)
    return all(
        _most(group, partial(_amounts, exponent=exponent)) < threshold_minor(needed, exponent)
        for group in groups
        for exponent in scene.given.exponents
    )


def _most(group: Sequence[Literal], spans_in: Callable[[Literal], Spans | None]) -> int:
    allowed = ANY
    for one in group:
        spans = spans_in(one)
        if spans is not None:
            allowed = both(allowed, outside(spans) if one.negated else spans)
    return allowed[-1][1] if allowed else HIGHEST


def _quantities(literal: Literal) -> Spans | None:
    one = literal.condition
    if not isinstance(one, ItemQuantity) or one.named:
        return None
    return spans_of([(each.low, each.high) for each in one.ranges])


def _amounts(literal: Literal, exponent: int) -> Spans | None:
    one = literal.condition
    if not isinstance(one, ReceiptAmount):
        return None
    return spans_of([(each.low, each.high) for each in one.ranges[exponent]])


# --- articles that nobody knows ---------------------------------------------------------------------------------------


def _unknown_articles(scene: Scene, row: ActionRow) -> Iterator[Finding]:
    tenant = scene.tenant
    called = f"The action {row.action_type} {row.sequence}"
    if tenant.keeps_articles:
        for field, numbers, set_name in _articles_of(row):
            unknown = [key for key in numbers if key not in tenant.articles]
            if unknown:
                message = (
                    f"{called} names articles that the master data do not hold: {named(unknown)}. Likely misspelt."
                )
                yield Finding("ARTICLE_UNKNOWN", WARNING, message, f"{set_name}/{field}", row.id)
            retired = [key for key in numbers if key in tenant.articles and not tenant.articles[key].is_active]
            if retired:
                message = f"{called} names articles that are not sold any more: {named(retired)}."
                yield Finding("ARTICLE_INACTIVE", WARNING, message, f"{set_name}/{field}", row.id)
    listed = [item.article_number for item in row.articles if item.article_number]
    barred = [key for key in listed if Barred(tenant, scene.given.groups).article(key) is not Cover.NOTHING]
    if barred and len(barred) < len(listed):
        message = f"{called} takes nothing off articles that are never discounted: {named(barred)}."
        yield Finding("NEVER_DISCOUNTED", WARNING, message, "ActionArticleListItems/articleNumber", row.id)
    if tenant.tree.parents:
        groups = [row.target_article_group_id, *[part.article_group_id for part in row.components]]
        missing = [key for key in dict.fromkeys(groups) if key and key not in tenant.tree.parents]
        if missing:
            message = (
                f"{called} names article groups that the master data do not hold: {named(missing)}. Likely misspelt."
            )
            yield Finding("ARTICLE_GROUP_UNKNOWN", WARNING, message, "DiscountActions/targetArticleGroupId", row.id)


def _articles_of(row: ActionRow) -> list[tuple[str, list[str], str]]:
    """(property, article numbers, entity set) wherever an action names articles."""
    free = row.free_item_article_number if row.action_type == "FREE_ITEM" else None
    return [
        ("targetArticleNumber", [row.target_article_number] if row.target_article_number else [], "DiscountActions"),
        ("freeItemArticleNumber", [free] if free else [], "DiscountActions"),
        (
            "articleNumber",
            [item.article_number for item in row.articles if item.article_number],
            "ActionArticleListItems",
        ),
        ("articleNumber", [part.article_number for part in row.components if part.article_number], "BundleComponents"),
    ]

"""Converts promotions of scenario files, in the wire names of the entities, into engine definitions.

The tables below are the vocabulary: wire name -> (attribute, converter). A key that no table knows is a
`ScenarioError`, so that a misspelled word cannot turn a scenario into one that checks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID, uuid5

from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ConditionRow,
    ExclusionGroupRow,
    ExclusionRow,
    LoyaltyRow,
    PilotRow,
    PriorityRow,
    PromotionDefinition,
    TierRow,
)

__all__ = [
    "Fields",
    "ScenarioError",
    "flag",
    "hundredths",
    "identify",
    "mapping",
    "moment",
    "pairs",
    "promotion",
    "rows_of",
    "scaled",
    "sequence",
    "take",
    "text",
    "texts",
    "thousandths",
    "whole",
]

Fields = Mapping[str, tuple[str, Callable[[Any], Any]]]


class ScenarioError(ValueError):
    """An invalid scenario file; the message names the file and the place."""


def identify(kind: str, name: str) -> str:
    """Return the stable lower-case UUID for a short readable name."""
    return str(uuid5(UUID("7a0b6d2e-6f43-5d0c-9a3e-0d8f6a1c2b3d"), f"{kind}:{name}"))


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ScenarioError(f"expected text, found {value!r}")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ScenarioError(f"expected true or false, found {value!r}")
    return value


def number(value: Any) -> Decimal:
    try:
        return Decimal(text(value))
    except InvalidOperation:
        raise ScenarioError(f"expected a number, found {value!r}") from None


def scaled(decimals: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        exact = number(value).scaleb(decimals)
        if exact != exact.to_integral_value():
            raise ScenarioError(f"{value} has more than {decimals} decimals")
        return int(exact)

    return convert


whole, hundredths, thousandths = scaled(0), scaled(2), scaled(3)


def moment(value: Any) -> datetime:
    at = datetime.fromisoformat(text(value))
    if at.tzinfo is None:
        raise ScenarioError(f"{value} names no time zone; write 2026-03-14T12:00:00Z")
    return at.astimezone(UTC)


def pairs(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((key, text(content)) for key, content in mapping(value).items())


def texts(value: Any) -> tuple[str, ...]:
    return tuple(text(entry) for entry in sequence(value))


def sequence(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ScenarioError(f"expected a list, found {value!r}")
    return value


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ScenarioError(f"expected a mapping, found {value!r}")
    return value


def names(kind: str) -> Callable[[Any], frozenset[str]]:
    return lambda value: frozenset(identify(kind, name) for name in texts(value))


def take(value: Any, where: str, fields: Fields, required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the stated fields as keyword arguments; an unknown or missing key is an error that names its place."""
    row = mapping(value)
    unknown = sorted(set(row) - set(fields))
    if unknown:
        raise ScenarioError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(fields)}")
    missing = [key for key in required if key not in row]
    if missing:
        raise ScenarioError(f"{where}: {', '.join(missing)} is missing")
    taken = {}
    for key, content in row.items():
        attribute, convert = fields[key]
        try:
            taken[attribute] = convert(content)
        except ValueError as error:
            raise ScenarioError(f"{where}.{key}: {error}") from error
    return taken


def rows_of(build: Callable[[Any, str, int], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a converter for a list of rows, each built with its place in the list."""
    return lambda value: tuple(build(row, f"[{index}]", index) for index, row in enumerate(sequence(value)))


ARTICLE_ITEM: Fields = {
    "articleNumber": ("article_number", text),
    "ean": ("ean", text),
    "fixedPrice": ("fixed_price_hundredths", hundredths),
}


def _article_row(value: Any, where: str, _: int) -> ArticleRow:
    return ArticleRow(**({"article_number": None} | take(value, where, ARTICLE_ITEM)))


ARTICLE_REFERENCE: Fields = {
    "articleNumber": ("article_number", text),
    "articleGroupId": ("article_group_id", text),
    "includeSubGroups": ("include_sub_groups", flag),
}
CONDITION: Fields = {
    **ARTICLE_REFERENCE,
    "logicalConnector": ("connector", text),
    "conditionType": ("condition_type", text),
    "operator": ("operator", text),
    "valueCategory": ("value_category", text),
    "value": ("value", text),
    "valueTo": ("value_to", text),
    "manufacturer": ("manufacturer", text),
    "fieldName": ("field_name", text),
    "minQuantity": ("min_quantity_thousandths", thousandths),
    "minAmount": ("min_amount_hundredths", hundredths),
    "timeFrom": ("time_from", lambda value: time.fromisoformat(text(value))),
    "timeTo": ("time_to", lambda value: time.fromisoformat(text(value))),
    "weekdays": ("weekdays", text),
    "dateFrom": ("date_from", lambda value: date.fromisoformat(text(value))),
    "dateTo": ("date_to", lambda value: date.fromisoformat(text(value))),
    "valueListItems": ("values", texts),
    "articleListItems": ("articles", rows_of(_article_row)),
}
TIER: Fields = {
    "thresholdAmount": ("threshold_hundredths", hundredths),
    "minQuantity": ("min_quantity_thousandths", thousandths),
    "discountType": ("discount_type", text),
    "discountValue": ("discount_value_hundredths", hundredths),
}
COMPONENT: Fields = {
    **ARTICLE_REFERENCE,
    "quantity": ("quantity_thousandths", thousandths),
    "discounted": ("discounted", flag),
}
EXCLUSION: Fields = {
    "exclusionType": ("exclusion_type", text),
    "articleNumber": ("article_number", text),
    "articleGroupId": ("article_group_id", text),
    "manufacturer": ("manufacturer", text),
    "articleListItems": ("articles", rows_of(_article_row)),
    "fieldName": ("field_name", text),
    "value": ("value", text),
}


def _condition(value: Any, where: str, index: int) -> ConditionRow:
    given: dict[str, Any] = {"id": "", "sequence": index, "connector": "AND"}
    return ConditionRow(**(given | take(value, where, CONDITION, ["conditionType"])))


def _tier(value: Any, where: str, index: int) -> TierRow:
    return TierRow(sequence=index, **take(value, where, TIER, ["discountType", "discountValue"]))


def _component(value: Any, where: str, index: int) -> ComponentRow:
    return ComponentRow(
        id=identify("component", str(index)), sequence=index, **take(value, where, COMPONENT, ["quantity"])
    )


def _exclusion(value: Any, where: str, _: int) -> ExclusionRow:
    return ExclusionRow(**take(value, where, EXCLUSION, ["exclusionType"]))


ACTION: Fields = {
    "actionType": ("action_type", text),
    "discountType": ("discount_type", text),
    "discountValue": ("discount_value_hundredths", hundredths),
    "maxDiscountAmount": ("max_discount_hundredths", hundredths),
    "targetArticleNumber": ("target_article_number", text),
    "targetArticleGroupId": ("target_article_group_id", text),
    "includeSubGroups": ("include_sub_groups", flag),
    "targetArticleList": ("target_article_list", flag),
    "selectionType": ("selection_type", text),
    "applicationQuantityMode": ("application_quantity_mode", text),
    "applicationQuantity": ("application_quantity_thousandths", thousandths),
    "targetCouponType": ("target_coupon_type_id", lambda value: identify("coupon type", text(value))),
    "distributionMode": ("distribution_mode", text),
    "maxBundles": ("max_bundles", whole),
    "freeItemArticleNumber": ("free_item_article_number", text),
    "freeItemQuantity": ("free_item_quantity_thousandths", thousandths),
    "restrictToOnePerBasket": ("restrict_to_one_per_basket", flag),
    "freeItemReferencePrice": ("free_item_reference_price_hundredths", hundredths),
    "maxFreeUnits": ("max_free_units_thousandths", thousandths),
    "scaledTiers": ("scaled_tiers", rows_of(_tier)),
    "quantityTiers": ("quantity_tiers", rows_of(_tier)),
    "bundleComponents": ("components", rows_of(_component)),
    "articleListItems": ("articles", rows_of(_article_row)),
    "exclusions": ("exclusions", rows_of(_exclusion)),
}
LOYALTY: Fields = {
    "actionType": ("action_type", text),
    "points": ("points_hundredths", hundredths),
    "multiplier": ("multiplier_thousandths", thousandths),
    "currencyAmount": ("currency_amount_hundredths", hundredths),
    "targetScope": ("target_scope", text),
    "targetArticleNumber": ("target_article_number", text),
    "targetArticleGroupId": ("target_article_group_id", text),
    "includeSubGroups": ("include_sub_groups", flag),
    "maxPoints": ("max_points_hundredths", hundredths),
    "articleListItems": ("articles", rows_of(_article_row)),
}


def _action(value: Any, where: str, index: int) -> ActionRow:
    return ActionRow(id="", sequence=index, **take(value, where, ACTION, ["actionType"]))


def _loyalty(value: Any, where: str, _: int) -> LoyaltyRow:
    return LoyaltyRow(id="", **take(value, where, LOYALTY, ["actionType"]))


def _priority_group(value: Any) -> PriorityRow:
    fields: Fields = {
        "code": ("group_id", lambda code: identify("priority group", text(code))),
        "priority": ("group_priority", whole),
        "sequence": ("sequence", whole),
    }
    return PriorityRow(**({"sequence": 0} | take(value, "priorityGroup", fields, ["code", "priority"])))


def _exclusion_group(value: Any) -> ExclusionGroupRow:
    fields: Fields = {
        "code": ("group_id", lambda code: identify("exclusion group", text(code))),
        "resolutionStrategy": ("resolution_strategy", text),
    }
    given = {"resolution_strategy": "HIGHEST_DISCOUNT"}
    return ExclusionGroupRow(**(given | take(value, "mutualExclusionGroup", fields, ["code"])))


def _pilot(value: Any) -> PilotRow:
    fields: Fields = {
        "pilotStartAt": ("starts_at", moment),
        "pilotEndAt": ("ends_at", moment),
        "pilotShare": ("share_hundredths", hundredths),
        "controlGroupSize": ("control_group_size", whole),
        "pilotPosGroups": ("pilot_pos_groups", names("POS group")),
        "controlPosGroups": ("control_pos_groups", names("POS group")),
    }
    given: dict[str, Any] = {
        "config_id": identify("pilot", "config"),
        "share_hundredths": 100,
        "control_group_size": 0,
        "pilot_pos_groups": frozenset(),
        "control_pos_groups": frozenset(),
    }
    return PilotRow(**(given | take(value, "pilot", fields, ["pilotStartAt", "pilotEndAt"])))


def _campaign(value: Any) -> dict[str, Any]:
    fields: Fields = {"startAt": ("start", moment), "endAt": ("end", moment), "status": ("status", text)}
    stated = take(value, "campaign", fields)
    return {
        "campaign_id": identify("campaign", "campaign"),
        "campaign_window": (stated.get("start"), stated.get("end")),
        "campaign_cancelled": stated.get("status") == "CANCELLED",
    }


def _calculation(value: Any) -> dict[str, Any]:
    fields: Fields = {
        "mode": ("calculation_mode", text),
        "rounding": ("rounding", text),
        "precision": ("precision", whole),
    }
    return take(value, "calculationConfig", fields)


def _pos_group(value: Any) -> str:
    return identify("POS group", text(value))


PROMOTION: Fields = {
    "id": ("id", text),
    "name": ("name", text),
    "code": ("code", text),
    "type": ("promotion_type", text),
    "status": ("status", text),
    "validFrom": ("valid_from", moment),
    "validTo": ("valid_to", moment),
    "priority": ("priority", whole),
    "exclusivityLevel": ("exclusivity", text),
    "currency": ("currency", text),
    "campaign": ("campaign", _campaign),
    "posGroups": ("pos_groups", names("POS group")),
    "priorityGroup": ("priority_group", _priority_group),
    "mutualExclusionGroup": ("exclusion_group", _exclusion_group),
    "calculationConfig": ("calculation", _calculation),
    "maxApplicationsPerTransaction": ("max_applications_per_transaction", whole),
    "maxApplicationsPerCustomer": ("max_applications_per_customer", whole),
    "maxApplicationsTotal": ("max_applications_total", whole),
    "isExperiment": ("is_experiment", flag),
    "controlGroupId": ("control_group_id", _pos_group),
    "experimentGroupId": ("experiment_group_id", _pos_group),
    "pilot": ("pilot", _pilot),
    "couponTypes": ("coupon_type_ids", names("coupon type")),
    "budgets": ("budget_ids", lambda value: tuple(identify("budget", name) for name in texts(value))),
    "conditions": ("conditions", rows_of(_condition)),
    "actions": ("actions", rows_of(_action)),
    "loyaltyActions": ("loyalty_actions", rows_of(_loyalty)),
    "countsTowardsThreshold": ("counts_barred", flag),
    "excludedCountsTowardsThreshold": ("counts_excluded", flag),
}


def promotion(value: Any, where: str, index: int) -> PromotionDefinition:
    """Build a promotion; without a stated priority it is processed in file order, so that no ID decides a tie."""
    stated = take(value, where, PROMOTION, ["id"])
    stated |= stated.pop("campaign", {})
    stated |= stated.pop("calculation", {})
    name = stated.pop("id")
    for kind in ("conditions", "actions", "loyalty_actions"):
        children = enumerate(stated.get(kind, ()))
        stated[kind] = tuple(replace(child, id=_child_id(f"{name}/{kind}", place)) for place, child in children)
    return PromotionDefinition(**({"id": identify("promotion", name), "name": name, "priority": 100 + index} | stated))


def _child_id(parent: str, place: int) -> str:
    """Return a UUID that sorts in file order, for rows that are processed by ID."""
    return f"{place:08x}{identify(parent, str(place))[8:]}"

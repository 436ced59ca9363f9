"""Made-up rows for every entity of the model, from its declaration alone: the data of the contract tests.

A row is a dict by wire name with JSON values (decimals as text), as the service returns it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from promenade import model
from promenade.model.declare import EntityType, Field, Kind, Link, Service
from promenade.model.edm import served_entities
from promenade.store.sales.log_parts import part_id

__all__ = ["BEGINNING", "ENTITIES", "identity", "in_order", "python_value", "seeded_row", "special", "subject", "value"]

BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
ENTITIES = {entity.set_name: entity for entity in served_entities(Service.PUBLIC)}

# Values that declarations cannot provide: those required by a rule about several properties.
_SPECIAL: dict[tuple[str, str], Callable[[int], Any]] = {
    ("WebhookSubscriptions", "callbackUrl"): lambda n: f"https://hooks.example.com/{n}",
    ("WebhookSubscriptions", "eventTypes"): lambda n: ["PROMOTION_UPDATED"],
    ("WebhookSubscriptions", "secret"): lambda n: f"whsec_{n:032}",
    ("Articles", "source"): lambda n: ("MANUAL", "IMPORTED")[n % 2],
    ("ArticleGroups", "source"): lambda n: ("MANUAL", "IMPORTED")[n % 2],
    ("RechargeContributions", "currency"): lambda n: None,
    ("ImportJobs", "callbackUrl"): lambda n: f"https://hooks.example.com/{n}",
    ("PosGroups", "timeZone"): lambda n: "Europe/Berlin",
    ("PosGroups", "country"): lambda n: "DE",
    ("Budgets", "currency"): lambda n: "EUR",
    ("Budgets", "totalAmount"): lambda n: f"{1000 + n}.50",
    ("BudgetStakeholders", "sharePercentage"): lambda n: f"{n % 20 + 1}.50",
    ("Conditions", "weekdays"): lambda n: "MON,TUE",
    ("TemplateConditions", "weekdays"): lambda n: "MON,TUE",
    ("CouponCodeConfigurations", "alphabet"): lambda n: "23456789ABCDEFGHJKLMNPQRSTUVWXYZ",
    ("CouponCodeConfigurations", "length"): lambda n: 14 + n % 7,
    ("CouponCodeBatches", "quantity"): lambda n: 10 + n,
    ("Promotions", "controlGroupId"): lambda n: None,
    ("Promotions", "experimentGroupId"): lambda n: None,
    ("PromotionPilotConfigs", "autoPromote"): lambda n: False,
    ("CouponTypes", "codeType"): lambda n: "INDIVIDUAL",
    ("CouponTypes", "genericCode"): lambda n: None,
    ("Clients", "scopes"): lambda n: ["svc.POSReader"],
    ("Clients", "secret"): lambda n: None,
    ("People", "userName"): lambda n: f"person-{n}",
    ("People", "scopes"): lambda n: ["svc.POSReader"],
    ("People", "invitation"): lambda n: None,
}


def special(set_name: str, wire: str) -> bool:
    """Return whether a property's made-up value is defined manually."""
    return (set_name, wire) in _SPECIAL


def identity(tenant: str, set_name: str, number: int) -> str:
    """Return the key of a seeded row; the only part of a log has its ID of it."""
    if set_name in ENTITIES and ENTITIES[set_name].packed:
        return part_id(set_name, identity(tenant, "CalculationLogs", number), 0)
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{tenant}/{set_name}/{number}"))


def value(entity: EntityType, field: Field, number: int) -> Any:
    """Return a valid JSON value of a field, different for each ``number``."""
    by_hand = _SPECIAL.get((entity.set_name, field.wire))
    if by_hand is not None:
        return by_hand(number)
    if field.code_list:
        codes = model.code_list(field.code_list).codes
        return codes[0] if field.wire == "status" else codes[number % len(codes)]
    if field.choices:
        return field.choices[number % len(field.choices)]
    return _VALUES[field.kind](field, number)


def _text(field: Field, number: int) -> str:
    return f"{field.label} {number}é"[-(field.length or 200) :].strip()


def _integer(field: Field, number: int) -> int:
    least = int(field.minimum) if field.minimum is not None else 1
    most = int(field.maximum) if field.maximum is not None else 10_000
    return min(least + number, most)


def _decimal(field: Field, number: int) -> str:
    scale = field.scale or 0
    made = Decimal(number % 90 + 1) + Decimal(number % 7) / 10**scale
    if field.maximum is not None:
        made = min(made, field.maximum)
    whole_digits = (field.precision or 10) - scale
    if made >= 10**whole_digits:
        made = Decimal(number % 9) / 10 if whole_digits == 0 else Decimal(number % 9)
    return f"{made:.{scale}f}"


def _moment(field: Field, number: int) -> str:
    hours = number + (24 * 30 if field.name.endswith(("to", "until", "end_at", "ends_at")) else 0)
    return (BEGINNING + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


_VALUES: dict[Kind, Callable[[Field, int], Any]] = {
    Kind.UUID: lambda field, number: str(uuid.uuid5(uuid.NAMESPACE_URL, f"{field.wire}/{number}")),
    Kind.TEXT: _text,
    Kind.INTEGER: _integer,
    Kind.LONG: _integer,
    Kind.DECIMAL: _decimal,
    Kind.BOOLEAN: lambda field, number: number % 2 == 0,
    Kind.TIMESTAMP: _moment,
    Kind.DATE: lambda field, number: (BEGINNING + timedelta(days=number)).date().isoformat(),
    Kind.TIME: lambda field, number: f"{number % 24:02d}:{number % 60:02d}:00",
    Kind.TEXTS: lambda field, number: [f"{field.label} {number}"],
}


def python_value(field: Field, given: Any) -> Any:
    """Convert a JSON value to the Python value for `insert_rows`."""
    if given is None:
        return None
    if field.kind is Kind.TIMESTAMP:
        return datetime.fromisoformat(given)
    if field.kind is Kind.DECIMAL:
        return Decimal(given)
    if field.kind is Kind.DATE:
        return datetime.fromisoformat(given).date()
    if field.kind is Kind.TIME:
        return datetime.fromisoformat(f"2026-01-01T{given}").time()
    return given


def in_order() -> Iterator[EntityType]:
    """Return every stored entity of tenants, referenced ones before those that refer to them."""
    waiting = {
        entity.set_name: entity
        for entity in model.entities()
        if entity.stored and entity.tenant_owned and entity.set_name != "RawPayloads"
    }
    while waiting:
        ready = [
            entity
            for entity in waiting.values()
            if all(link.target not in waiting or link.target == entity.set_name for link in entity.links)
        ]
        assert ready, f"a circle of links between {sorted(waiting)}"
        for entity in ready:
            yield waiting.pop(entity.set_name)


# The subjects of reports, which name them by ID in fields of their own.
_SUBJECTS = {
    "promotion_id": "Promotions",
    "budget_id": "Budgets",
    "stakeholder_id": "Stakeholders",
    "coupon_type_id": "CouponTypes",
    "pos_group_id": "PosGroups",
}


def subject(name: str) -> str | None:
    """Return the entity set whose IDs a report's field or column of this name holds."""
    return _SUBJECTS.get(name)


def seeded_row(tenant: str, entity: EntityType, number: int) -> dict[str, Any]:
    """Return the ``number``-th row of an entity, every field filled; links refer to rows of the same number.

    So do the keys of reports, which have no ID of their own.
    """
    row: dict[str, Any] = {"ID": identity(tenant, entity.set_name, number)} if entity.key == ("id",) else {}
    for field in entity.fields:
        if field.name in {"id", "tenant_id"} or field.virtual or field.kind is Kind.BLOB:
            continue
        if field.name in {"created_at", "modified_at", "created_by", "modified_by"}:
            continue
        about = subject(field.name) if field.kind is Kind.UUID else None
        if (field.name,) in entity.unique_everywhere:
            about = entity.set_name
        row[field.wire] = value(entity, field, number) if about is None else identity(tenant, about, number)
    for link in entity.links:
        row[link.property_wire] = _linked(tenant, entity, link, number)
    return row


def _linked(tenant: str, entity: EntityType, link: Link, number: int) -> str | None:
    if link.target != entity.set_name:
        return identity(tenant, link.target, number)
    return identity(tenant, link.target, number - 1) if number > 1 else None  # a chain, not a circle

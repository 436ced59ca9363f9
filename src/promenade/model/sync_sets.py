"""The data that stores replicate from the cloud: which entity sets, what belongs together, and the format of a row.

Both sides use it: the cloud's feed (``GET /sync/promotions``) and the store that applies it. Everything derives
from the declarations, so a new field is included automatically.

- An aggregate is sent as a whole: an upserted root row comes with all its child rows, which replace those that the
  store had. A delete names a root's ID; its children are deleted with it.
- A row is a JSON object of all stored columns by their wire names, and ``version``. Left out are the tenant, which
  differs at the store, and links to entities that no store has (a campaign's stakeholders). Decimals are texts,
  timestamps ISO 8601 with Z.
- Unknown members are ignored and missing ones take their default, so the two sides may differ by a version.
- What a store may spend is kept in columns of these rows and belongs to the store, see `SHARES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any

from promenade.model import entities, entity
from promenade.model.declare import EntityType, Field, Kind

CANDIDATES = ("ACTIVE", "PILOT")
"""Statuses of the promotions that stores hold; in another one it is as good as deleted for them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A set whose rows belong to rows of ``owner``, a root or another part; ``column`` is the link to the owner."""

    set_name: str
    owner: str
    column: str


@dataclass(frozen=True, slots=True)
class Root:
    """A set whose rows are identified by their ID, with its parts, owners before what they own."""

    set_name: str
    parts: tuple[Part, ...]


class Share(Enum):
    """How the store treats a column that belongs to it; see `SHARES`."""

    OWN = "OWN"
    """Never what the cloud has: a new row begins at 0, one that is there keeps its value."""
    LIMIT = "LIMIT"
    """Null as long as the cloud's is null. Else the store's part of the limit: 0 until the cloud has given some."""


SHARES: Mapping[str, Mapping[str, Share]] = MappingProxyType(
    {
        "Budgets": MappingProxyType(
            {"total_amount": Share.OWN, "consumed_amount": Share.OWN, "reserved_amount": Share.OWN}
        ),
        "CouponTypes": MappingProxyType({"max_redemptions": Share.LIMIT}),
        "Promotions": MappingProxyType({"applications_count": Share.OWN, "max_applications_total": Share.LIMIT}),
    }
)
"""By set, the columns (Python names) that a download does not simply overwrite."""

_ORDER = (
    "Tenants",
    "PosGroups",
    "ArticleGroups",
    "PriorityGroups",
    "MutualExclusionGroups",
    "CouponTypes",
    "Budgets",
    "Campaigns",
    "Articles",
    "Promotions",
)
# What pricing treats as part of a promotion, although it is not deleted with the promotion.
_BESIDE = {
    "Promotions": (
        "PriorityGroupPromotions",
        "PromotionPilotConfigs",
        "CouponTypePromotions",
        "BudgetPromotions",
    )
}
# The settings that pricing, reports and scheduled work of stores read, and the tenant's name; no addresses, no rights.
_OF_TENANTS = (
    "name",
    "enable_production_nudges",
    "combination_strategy",
    "counts_towards_threshold",
    "excluded_counts_towards_threshold",
    "points_per_currency_unit",
    "unmatched_returns",
    "significance_level",
    "default_currency",
    "idle_customer_days",
    "idle_points_lapse",
)


def _parts(owner: str) -> Iterator[Part]:
    for other in entities():
        set_name = other.set_name
        for link in other.links:
            is_beside = set_name in _BESIDE.get(owner, ()) and link.target == owner
            if (link.owner or is_beside) and link.target == owner:
                yield Part(set_name, owner, link.column)
                yield from _parts(set_name)


ROOTS: tuple[Root, ...] = tuple(Root(set_name, tuple(_parts(set_name))) for set_name in _ORDER)
"""In the order in which they refer to each other; a tree (PosGroups, ArticleGroups) refers to itself as well.

``Tenants`` is one row without an ID: the settings of the tenant. It is upserted and never deleted.
"""

SETS: tuple[str, ...] = tuple(
    name for root in ROOTS for name in (root.set_name, *(part.set_name for part in root.parts))
)
"""All sets that travel: roots, each followed by its parts."""


@dataclass(frozen=True, slots=True)
class Column:
    """A replicated column: its name, its wire name, and the default if a row lacks it."""

    name: str
    wire: str
    default: object
    read: Callable[[Any], Any]


@cache
def columns_of(set_name: str) -> tuple[Column, ...]:
    """Return the replicated columns of a set, ``version`` last."""
    one = entity(set_name)
    names = _OF_TENANTS if set_name == "Tenants" else None
    fields = [field for field in one.fields if _travels(one, field) and (names is None or field.name in names)]
    links = [link for link in one.links if link.target in SETS or link.soft]
    return (
        *(Column(field.name, field.wire, field.default, _READERS.get(field.kind, _same)) for field in fields),
        *(Column(link.column, link.property_wire, None, _same) for link in links),
        Column("version", "version", 1, _same),
    )


def values_of(set_name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a received row (decoded JSON) to values by column name for the store's table.

    The tenant is not included; for `SHARES` the values are the cloud's. Raises ValueError for a value that does not fit
    its column, such as a malformed timestamp.
    """
    found: dict[str, Any] = {}
    for column in columns_of(set_name):
        value = row.get(column.wire, column.default)
        try:
            found[column.name] = None if value is None else column.read(value)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(f"{set_name}.{column.wire} cannot be {value!r}") from error
    return found


def _travels(one: EntityType, field: Field) -> bool:
    return not field.virtual and field.name != "tenant_id" and one.stored


def _same(value: Any) -> Any:
    return value


def _moment(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _day(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(value)


def _time(value: Any) -> time:
    return value if isinstance(value, time) else time.fromisoformat(value)


def _number(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))


_READERS: Mapping[Kind, Callable[[Any], Any]] = MappingProxyType(
    {Kind.TIMESTAMP: _moment, Kind.DATE: _day, Kind.TIME: _time, Kind.DECIMAL: _number}
)

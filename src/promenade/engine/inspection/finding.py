"""Findings of a check, and the facts about the tenant that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from promenade.engine.view import NO_GROUPS, GroupTree

ERROR = "ERROR"
WARNING = "WARNING"
INFO = "INFO"

MESSAGE_MAX = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    ``severity``: ERROR, it certainly cannot run or gives nothing; WARNING, it needs a look (the message says where
    something is only likely); INFO. ``target`` is entity set and property in wire names, ``entity_id`` the row
    concerned, ``promotion_id`` the other promotion.
    """

    code: str
    severity: str
    message: str
    target: str | None = None
    entity_id: str | None = None
    promotion_id: str | None = None


def named(names: list[str] | tuple[str, ...], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(name if len(name) <= 60 else name[:57] + "..." for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


@dataclass(frozen=True, slots=True)
class PlaceSeen:
    """A POS group; an inactive one cannot ask for prices."""

    id: str
    code: str
    currency: str
    time_zone: str
    is_active: bool


@dataclass(frozen=True, slots=True)
class ArticleSeen:
    """Master data of an article; tills may send another group or manufacturer."""

    article_number: str
    ean: str | None = None
    article_group_id: str | None = None
    manufacturer_id: str | None = None
    is_active: bool = True
    never_discounted: str | None = None


@dataclass(frozen=True, slots=True)
class BudgetSeen:
    """A budget; ``status`` judged at the moment of the check, ``is_empty`` when less than a minor unit is left."""

    id: str
    name: str
    status: str
    currency: str
    is_empty: bool
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class CouponTypeSeen:
    """A coupon type. ``has_code``: a code that could be presented now; ``has_stock``: one that waits for activation."""

    id: str
    name: str
    status: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    has_code: bool = True
    has_stock: bool = False
    is_used_up: bool = False


@dataclass(frozen=True, slots=True)
class Tenant:
    """The facts a check uses besides the promotion itself.

    ``at`` is the moment of the check. ``articles`` and ``eans`` hold what is known of the requested ones (an article
    that is not in them is unknown); both mean nothing where ``keeps_articles`` is false: a tenant need not maintain
    articles.
    ``tree`` is the article group tree, ``applications`` how often the promotion was confirmed. ``barred_counts`` and
    ``excluded_counts`` are as in `Settings`.
    """

    at: datetime
    places: Mapping[str, PlaceSeen] = field(default_factory=dict)
    budgets: Mapping[str, BudgetSeen] = field(default_factory=dict)
    coupon_types: Mapping[str, CouponTypeSeen] = field(default_factory=dict)
    articles: Mapping[str, ArticleSeen] = field(default_factory=dict)
    eans: Mapping[str, ArticleSeen] = field(default_factory=dict)
    tree: GroupTree = NO_GROUPS
    keeps_articles: bool = False
    applications: int = 0
    strategy: str = "SEQUENTIAL"
    barred_counts: bool = True
    excluded_counts: bool = True

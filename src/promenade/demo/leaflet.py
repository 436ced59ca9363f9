"""The leaflet: a notebook with access to the assortment, so that an offer takes a few lines of code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from promenade.demo.assortment import Article, Assortment, ShelfGroup, Store
from promenade.demo.authoring import Notebook

_WEEKS, _WEEKS_PAST = 8, 5
_HEAD_OFFICE = ZoneInfo("Europe/Berlin")


def midnight(moment: datetime) -> datetime:
    """Return the moment when its day began."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Trial:
    """The probability that a basket holds an article on trial: ``chances`` by the code of the POS group."""

    article: Article
    chances: Mapping[str, float]


@dataclass(slots=True)
class Leaflet:
    """Shared data for later offer families and the sales generator."""

    book: Notebook
    assortment: Assortment
    now: datetime
    campaigns: dict[str, str] = field(default_factory=dict)  # code -> ID
    priority_groups: dict[str, str] = field(default_factory=dict)
    exclusion_groups: dict[str, str] = field(default_factory=dict)
    budgets: dict[str, str] = field(default_factory=dict)
    coupon_types: dict[str, str] = field(default_factory=dict)
    generic_codes: list[str] = field(default_factory=list)
    individual_codes: list[str] = field(default_factory=list)
    rewards: dict[str, str] = field(default_factory=dict)  # coupon types issued after a purchase
    favourites: list[Article] = field(default_factory=list)  # that shoppers buy for their offer
    trials: list[Trial] = field(default_factory=list)
    launched_at: datetime | None = None  # from then on shoppers in Germany buy more

    def week(self, number: int) -> dict[str, Any]:
        """Return the validity of a promotion for one week from a Monday on: most are over, two weeks are to come.

        Weeks begin at midnight on the clocks of the head office.
        """
        today = midnight(self.now.astimezone(_HEAD_OFFICE))
        begin = today + timedelta(weeks=number % _WEEKS - _WEEKS_PAST, days=-today.weekday())
        return {"validFrom": begin.astimezone(UTC), "validTo": (begin + timedelta(weeks=1)).astimezone(UTC)}

    def leaf(self, title: str) -> ShelfGroup:
        """Return a sub group by its title."""
        return next(leaf for leaf in self.assortment.leaves if leaf.name == title)

    def first(self, title: str, count: int = 1, *, skip: int = 0) -> tuple[Article, ...]:
        """Return the first articles of a sub group."""
        return self.assortment.by_leaf[self.leaf(title).group_id][skip : skip + count]

    def store(self, code: str) -> Store:
        """Return a POS group by its code."""
        return next(store for store in self.assortment.stores if store.code == code)

    def leaves(self, count: int, *, start: int, step: int = 7) -> Iterator[ShelfGroup]:
        """Return ``count`` sub groups spread over the tree."""
        leaves = self.assortment.leaves
        return (leaves[(start + place * step) % len(leaves)] for place in range(count))

    def articles(self, count: int, *, start: int, step: int = 37) -> Iterator[Article]:
        """Return ``count`` articles sold by the piece, spread over the assortment."""
        pieces = [article for article in self.assortment.articles[:3_000] if not article.by_weight]
        return (pieces[(start + place * step) % len(pieces)] for place in range(count))

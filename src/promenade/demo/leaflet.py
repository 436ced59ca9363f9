"""The leaflet: the notebook with the shelves at hand, so that an offer can be written in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from promenade.demo.assortment import Article, Assortment, ShelfGroup, Store
from promenade.demo.authoring import Notebook

__all__ = ["Leaflet", "Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """How often baskets hold an article that is tried out somewhere: ``chances`` by the code of the POS group."""

    article: Article
    chances: Mapping[str, float]


@dataclass(slots=True)
class Leaflet:
    """What later families and the sales generator need to find again."""

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
    trials: list[Trial] = field(default_factory=list)
    launched_at: datetime | None = None  # since when shoppers in Germany buy more

    def leaf(self, title: str) -> ShelfGroup:
        """A sub group by its title."""
        return next(leaf for leaf in self.assortment.leaves if leaf.name == title)

    def first(self, title: str, count: int = 1, *, skip: int = 0) -> tuple[Article, ...]:
        """The first articles of a sub group."""
        return self.assortment.by_leaf[self.leaf(title).group_id][skip : skip + count]

    def store(self, code: str) -> Store:
        """A POS group by its code."""
        return next(store for store in self.assortment.stores if store.code == code)

    def leaves(self, count: int, *, start: int, step: int = 7) -> Iterator[ShelfGroup]:
        """``count`` sub groups spread over the tree."""
        leaves = self.assortment.leaves
        return (leaves[(start + place * step) % len(leaves)] for place in range(count))

    def articles(self, count: int, *, start: int, step: int = 37) -> Iterator[Article]:
        """``count`` articles sold by the piece, spread over the shelves."""
        pieces = [article for article in self.assortment.articles[:3_000] if not article.by_weight]
        return (pieces[(start + place * step) % len(pieces)] for place in range(count))

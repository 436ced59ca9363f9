"""The demo retailer's shelves: article groups, articles with brands, EANs and prices, and its POS groups.

Everything is drawn from the ``random.Random`` handed in, so one seed is one retailer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, islice
from random import Random
from typing import Any
from uuid import UUID

from promenade.demo.data import DEPARTMENTS, FIRST_WORDS, POS_GROUPS, SIZES

__all__ = ["Article", "Assortment", "ShelfGroup", "Store", "build_assortment", "draw_id", "ean13", "shelf_price"]

Row = dict[str, Any]

# What an article at 1.00 EUR costs on the shelf elsewhere; yen prices are whole.
_EXCHANGE = {"EUR": Decimal("1"), "CHF": Decimal("1.15"), "JPY": Decimal("160")}


@dataclass(frozen=True, slots=True)
class ShelfGroup:
    """An article group; leaves carry the articles of ``brands`` priced between ``cents_min`` and ``cents_max``."""

    id: str
    group_id: str
    name: str
    parent: ShelfGroup | None
    by_weight: bool = False
    cents_min: int = 0
    cents_max: int = 0
    brands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    id: str
    article_number: str
    name: str
    ean: str
    brand: str
    manufacturer_id: str
    group: ShelfGroup
    base_price: Decimal  # EUR
    by_weight: bool


@dataclass(frozen=True, slots=True)
class Store:
    """A POS group. The parents (DE, CH, JP) are countries; tills stand in the children."""

    id: str
    code: str
    name: str
    parent: Store | None
    currency: str
    time_zone: str
    country: str


@dataclass(frozen=True, slots=True)
class Assortment:
    groups: tuple[ShelfGroup, ...]
    leaves: tuple[ShelfGroup, ...]
    articles: tuple[Article, ...]
    by_leaf: dict[str, tuple[Article, ...]]  # by group_id
    stores: tuple[Store, ...]

    def tills(self) -> tuple[Store, ...]:
        """The POS groups in which something is sold."""
        return tuple(store for store in self.stores if store.parent is not None)

    def rows(self) -> Iterator[tuple[str, list[Row]]]:
        """Rows by entity set in wire names, parents before children."""
        yield "ArticleGroups", [_group_row(group) for group in self.groups]
        yield "Articles", [_article_row(article) for article in self.articles]
        yield "PosGroups", [_store_row(store) for store in self.stores]


def draw_id(rng: Random) -> str:
    """A version 4 UUID out of the seeded source."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def ean13(number: int) -> str:
    """An EAN-13 in the German range with its check digit."""
    digits = f"40{number:010d}"
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return digits + str(-weighted % 10)


def shelf_price(article: Article, currency: str) -> Decimal:
    """What the till asks for the article (per kilogram when sold by weight), two decimals as the wire has it."""
    price = article.base_price * _EXCHANGE[currency]
    return price.quantize(Decimal("1")) if currency == "JPY" else price.quantize(Decimal("0.01"))


def build_assortment(rng: Random, articles: int = 20_000) -> Assortment:
    """The tree of 200 groups, ``articles`` articles spread evenly over its leaves, and the POS groups."""
    groups = tuple(_groups(rng))
    leaves = tuple(group for group in groups if group.brands)
    shelf = tuple(_articles(rng, leaves, articles))
    by_leaf: dict[str, list[Article]] = {leaf.group_id: [] for leaf in leaves}
    for article in shelf:
        by_leaf[article.group.group_id].append(article)
    return Assortment(groups, leaves, shelf, {key: tuple(value) for key, value in by_leaf.items()}, _stores(rng))


def _groups(rng: Random) -> Iterator[ShelfGroup]:
    department = category = None
    brands: tuple[str, ...] = ()
    cents = (0, 0)
    numbers = [0, 0]
    for line in DEPARTMENTS.strip().splitlines():
        if not line.startswith("  "):
            name, prices, brand_names = (part.strip() for part in line.split("|"))
            low, _, high = prices.partition("-")
            cents, brands = (int(low), int(high)), tuple(brand.strip() for brand in brand_names.split(","))
            numbers = [numbers[0] + 1, 0]
            department = ShelfGroup(draw_id(rng), f"G{numbers[0]:02d}", name, None)
            yield department
            continue
        assert department is not None  # noqa: S101 - the text above starts with a department
        name, _, leaf_names = line.strip().partition(":")
        numbers[1] += 1
        category = ShelfGroup(draw_id(rng), f"{department.group_id}{numbers[1]:02d}", name, department)
        yield category
        for place, leaf_name in enumerate(leaf_names.split(","), start=1):
            by_weight = leaf_name.endswith("*")
            leaf_id = f"{category.group_id}{place:02d}"
            title = leaf_name.strip().rstrip("*")
            yield ShelfGroup(draw_id(rng), leaf_id, title, category, by_weight, *cents, brands)


def _articles(rng: Random, leaves: tuple[ShelfGroup, ...], count: int) -> Iterator[Article]:
    for place, leaf in enumerate(islice(cycle(leaves), count)):
        brand = rng.choice(leaf.brands)
        size = "per kg" if leaf.by_weight else rng.choice(SIZES)
        cents = rng.randint(leaf.cents_min // 10, leaf.cents_max // 10) * 10 + 9  # prices end in 9
        yield Article(
            id=draw_id(rng),
            article_number=str(100_001 + place),
            name=f"{brand} {rng.choice(FIRST_WORDS)} {leaf.name}, {size}",
            ean=ean13(place + 1),
            brand=brand,
            manufacturer_id=f"M-{brand.upper().replace(' ', '-')}",
            group=leaf,
            base_price=Decimal(cents).scaleb(-2),
            by_weight=leaf.by_weight,
        )


def _stores(rng: Random) -> tuple[Store, ...]:
    stores: dict[str, Store] = {}
    for code, name, parent, currency, time_zone, country in POS_GROUPS:
        above = stores[parent] if parent else None
        stores[code] = Store(draw_id(rng), code, name, above, currency, time_zone, country)
    return tuple(stores.values())


def _group_row(group: ShelfGroup) -> Row:
    return {
        "ID": group.id,
        "groupId": group.group_id,
        "name": group.name,
        "type": "CATEGORY",
        "parent_ID": group.parent.id if group.parent else None,
        "source": "IMPORTED",
    }


def _article_row(article: Article) -> Row:
    return {
        "ID": article.id,
        "articleNumber": article.article_number,
        "name": article.name,
        "ean": article.ean,
        "manufacturer": article.brand,
        "manufacturerId": article.manufacturer_id,
        "category": article.group.name,
        "articleGroup_ID": article.group.id,
        "articleGroupId": article.group.group_id,
        "basePrice": article.base_price,
        "currency": "EUR",
        "unit": "KGM" if article.by_weight else "PCE",
        "source": "IMPORTED",
        "isActive": True,
    }


def _store_row(store: Store) -> Row:
    return {
        "ID": store.id,
        "code": store.code,
        "name": store.name,
        "parent_ID": store.parent.id if store.parent else None,
        "currency": store.currency,
        "timeZone": store.time_zone,
        "country": store.country,
        "isActive": True,
    }

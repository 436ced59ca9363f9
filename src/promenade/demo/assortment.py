"""The demo retailer's shelves: article groups, articles with brands, EANs and prices, and its POS groups.

Everything is drawn from the ``random.Random`` handed in, so one seed is one retailer.

A line of a department reads ``name | lowest price - highest price in cents | brands``; below it every category with
its sub groups. A sub group followed by ``*`` is sold by weight. Ten departments, forty categories and a hundred
and fifty sub groups make the tree of 200 article groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, islice
from random import Random
from typing import Any
from uuid import UUID

DEPARTMENTS = """
Fruit and vegetables | 79-599 | Gartenhof, Sonnentor, Verde, Obstwerk
  Fruit: Apples*, Bananas*, Berries, Citrus*
  Vegetables: Tomatoes*, Cucumbers, Carrots*, Peppers*
  Salads: Lettuce, Mixed salads, Herbs, Sprouts
  Prepared: Cut fruit, Smoothies, Vegetable snacks, Soups
Dairy and eggs | 69-899 | Almwiese, Milchquelle, Nordkuh, Frischling
  Milk: Fresh milk, Long-life milk, Plant drinks, Buttermilk
  Cheese: Hard cheese*, Soft cheese, Sliced cheese, Fresh cheese
  Yoghurt: Natural yoghurt, Fruit yoghurt, Skyr, Desserts
  Eggs and butter: Free-range eggs, Organic eggs, Butter
Meat and fish | 199-2999 | Metzgerhaus, Landgut, Hafenfang, Nordsee
  Beef and pork: Steaks*, Minced meat, Roasts*, Sausages
  Poultry: Chicken*, Turkey*, Duck, Marinated poultry
  Fish: Salmon*, White fish*, Shellfish, Smoked fish
  Cold cuts: Ham, Salami, Liver sausage
Bakery | 49-699 | Backstube, Kornkammer, Morgenrot, Ofenfrisch
  Bread: Rye bread, Wheat bread, Wholegrain bread, Gluten-free bread
  Rolls: Plain rolls, Seeded rolls, Pretzels, Baguettes
  Cakes: Cream cakes, Fruit cakes, Muffins, Doughnuts
  Biscuits: Shortbread, Wafers, Gingerbread
Pantry | 59-1299 | Hausmarke, Casa Roma, Reiskorn, Goldkorn, Feinkost Lenz
  Pasta and rice: Pasta, Rice, Couscous, Noodles
  Canned food: Canned tomatoes, Beans, Canned fish, Canned fruit
  Oils and spices: Olive oil, Vinegar, Spices, Salt
  Breakfast: Muesli, Cornflakes, Jam, Honey
Drinks | 49-2499 | Quellgrund, Bergbraeu, Rebenhang, Kaffeewerk, Teehaus
  Coffee: Ground coffee, Coffee beans, Coffee pods, Instant coffee
  Tea: Black tea, Green tea, Herbal tea, Iced tea
  Soft drinks: Mineral water, Juice, Cola, Energy drinks
  Beer and wine: Lager, Wheat beer, Red wine, White wine
Household | 99-1999 | Blitzblank, Reinfix, Papyrus, Klarwerk
  Laundry: Detergent, Fabric softener, Stain remover, Colour catcher
  Cleaning: Floor cleaner, Bathroom cleaner, Glass cleaner, Dish soap
  Paper: Toilet paper, Kitchen rolls, Tissues, Napkins
  Kitchen helpers: Foil, Freezer bags, Candles
Beauty and health | 99-3999 | Lavida, Hautnah, Mintfrisch, Purus
  Hair: Shampoo, Conditioner, Hair colour, Styling
  Body: Shower gel, Body lotion, Deodorant, Sun care
  Face: Day cream, Cleanser, Lip care, Make-up
  Mouth: Toothpaste, Toothbrushes, Mouthwash
Baby and pets | 79-3499 | Sternchen, Knuddel, Pfote, Bello
  Nappies: Newborn nappies, Junior nappies, Wipes, Training pants
  Baby food: Porridge, Purees, Baby drinks
  Dogs: Dry dog food, Wet dog food, Dog treats
  Cats: Dry cat food, Wet cat food, Cat litter
Home and leisure | 199-9999 | Wohnzeit, Werkfreund, Spielbrett, Trailhead
  Kitchenware: Pans, Knives, Storage boxes, Glasses
  Stationery: Pens, Notebooks, Wrapping paper
  Toys: Board games, Building blocks, Soft toys
  Garden: Flower pots, Seeds, Garden tools, Lanterns
"""

FIRST_WORDS = (
    "Classic", "Organic", "Mild", "Strong", "Fine", "Family", "Premium", "Light",
    "Country", "Original", "Fresh", "Selected", "Royal", "Little", "Bright", "Pure",
)  # fmt: skip

SIZES = ("200 g", "250 g", "400 g", "500 g", "750 g", "1 kg", "0.5 l", "1 l", "2 pieces", "6 pieces", "12 pieces")

# code, name, parent code, currency, time zone, country
POS_GROUPS = (
    ("DE", "Promenade Germany", None, "EUR", "Europe/Berlin", "DE"),
    ("DE-HAM", "Hamburg Jungfernstieg", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-BER", "Berlin Friedrichstrasse", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-MUC", "Munich Sendlinger Tor", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-WEB", "Webshop Germany", "DE", "EUR", "Europe/Berlin", "DE"),
    ("CH", "Promenade Switzerland", None, "CHF", "Europe/Zurich", "CH"),
    ("CH-ZRH", "Zurich Bahnhofstrasse", "CH", "CHF", "Europe/Zurich", "CH"),
    ("CH-GVA", "Geneva Rue du Rhone", "CH", "CHF", "Europe/Zurich", "CH"),
    ("CH-WEB", "Webshop Switzerland", "CH", "CHF", "Europe/Zurich", "CH"),
    ("JP", "Promenade Japan", None, "JPY", "Asia/Tokyo", "JP"),
    ("JP-TYO", "Tokyo Ginza", "JP", "JPY", "Asia/Tokyo", "JP"),
    ("JP-OSA", "Osaka Umeda", "JP", "JPY", "Asia/Tokyo", "JP"),
)


Row = dict[str, Any]

# Shelf price in other currencies of an article that costs 1.00 EUR; yen prices are whole.
_EXCHANGE = {"EUR": Decimal("1"), "CHF": Decimal("1.15"), "JPY": Decimal("160")}


@dataclass(frozen=True, slots=True)
class ShelfGroup:
    """An article group; leaves have the articles of ``brands`` priced between ``cents_min`` and ``cents_max``."""

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
    """A POS group. The parents (DE, CH, JP) are countries; tills belong to the children."""

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
        """Return the POS groups in which something is sold."""
        return tuple(store for store in self.stores if store.parent is not None)

    def rows(self) -> Iterator[tuple[str, list[Row]]]:
        """Return rows by entity set in wire names, parents before children."""
        yield "ArticleGroups", [_group_row(group) for group in self.groups]
        yield "Articles", [_article_row(article) for article in self.articles]
        yield "PosGroups", [_store_row(store) for store in self.stores]


def draw_id(rng: Random) -> str:
    """Return a version 4 UUID from the seeded source."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def ean13(number: int) -> str:
    """Return an EAN-13 in the German range with its check digit."""
    digits = f"40{number:010d}"
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return digits + str(-weighted % 10)


def shelf_price(article: Article, currency: str) -> Decimal:
    """Return the price of the article (per kilogram if sold by weight), with two decimals as on the wire."""
    price = article.base_price * _EXCHANGE[currency]
    return price.quantize(Decimal("1")) if currency == "JPY" else price.quantize(Decimal("0.01"))


def build_assortment(rng: Random, articles: int = 20_000) -> Assortment:
    """Build the tree of 200 groups, ``articles`` articles spread evenly over its leaves, and the POS groups."""
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

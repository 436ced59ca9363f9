"""The demo retailer's shelves: article groups, articles with brands, EANs and prices, and its POS groups.

Everything is drawn from the ``random.Random`` handed in, so one seed is one retailer.

A line of a department reads ``name | brands``; the next one, after ``=``, has the words that its articles are named
with. Below them comes every category, with brands of its own in brackets if it has any, and its sub groups: name, usual
price in cents of the smallest pack, and the packs. A sub group followed by ``*`` is sold by weight. Ten departments,
forty categories and a hundred and fifty sub groups make the tree of 200 article groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, islice
from random import Random
from typing import Any
from uuid import UUID

DEPARTMENTS = """
Fruit and vegetables | Gartenhof, Sonnentor, Verde, Obstwerk
  = Crisp, Organic, Sweet, Sunripe, Regional, Mild, Juicy, Early, Garden, Baby, Valley, Golden
  Fruit: Apples* 199; Bananas* 149; Berries 189 125 g/250 g/500 g; Citrus* 229
  Vegetables: Tomatoes* 299; Cucumbers 69 1 piece/2 pieces/3 pieces; Carrots* 119; Peppers* 399
  Salads: Lettuce 99 1 piece/2 pieces/3 pieces; Mixed salads 129 150 g/250 g/400 g; Herbs 119 20 g/40 g/60 g;
    Sprouts 99 75 g/100 g/200 g
  Prepared: Cut fruit 229 200 g/400 g/750 g; Smoothies 149 250 ml/500 ml/750 ml; Vegetable snacks 149 150 g/250 g/400 g;
    Soups 249 400 ml/500 ml/1 l
Dairy and eggs | Almwiese, Milchquelle, Nordkuh, Frischling
  = Alpine, Organic, Mild, Creamy, Farmhouse, Light, Meadow, Hearty, Family, Classic, Fine, Lactose-free
  Milk: Fresh milk 69 500 ml/1 l/1.5 l; Long-life milk 65 500 ml/1 l/2 l; Plant drinks 139 750 ml/1 l/1.5 l;
    Buttermilk 59 500 ml/750 ml/1 l
  Cheese: Hard cheese* 1499; Soft cheese 159 125 g/200 g/300 g; Sliced cheese 149 150 g/250 g/400 g;
    Fresh cheese 99 150 g/200 g/300 g
  Yoghurt: Natural yoghurt 49 150 g/500 g/1 kg; Fruit yoghurt 49 150 g/250 g/500 g; Skyr 89 150 g/400 g/500 g;
    Desserts 59 125 g/200 g/400 g
  Eggs and butter: Free-range eggs 199 6 pieces/10 pieces/12 pieces; Organic eggs 249 6 pieces/10 pieces/12 pieces;
    Butter 129 125 g/250 g/500 g
Meat and fish | Metzgerhaus, Landgut, Hausmarke, Feinkost Lenz
  = Country, Organic, Tender, Hearty, Regional, Classic, Fine, Marinated, Lean, Farmhouse, Coastal, Selected
  Beef and pork: Steaks* 1999; Minced meat 279 250 g/400 g/750 g; Roasts* 1199; Sausages 199 200 g/400 g/600 g
  Poultry: Chicken* 899; Turkey* 1099; Duck 749 500 g/1 kg/2 kg; Marinated poultry 349 300 g/500 g/750 g
  Fish (Hafenfang, Nordsee, Hausmarke, Feinkost Lenz): Salmon* 2499; White fish* 1799;
    Shellfish 449 150 g/250 g/400 g; Smoked fish 299 100 g/150 g/200 g
  Cold cuts: Ham 179 80 g/100 g/200 g; Salami 149 80 g/100 g/200 g; Liver sausage 129 100 g/125 g/200 g
Bakery | Backstube, Kornkammer, Morgenrot, Ofenfrisch
  = Country, Organic, Rustic, Hearty, Stone-baked, Classic, Light, Crusty, Village, Family, Grandma's, Fine
  Bread: Rye bread 199 500 g/750 g/1 kg; Wheat bread 169 500 g/750 g/1 kg; Wholegrain bread 199 500 g/750 g/1 kg;
    Gluten-free bread 299 300 g/400 g/500 g
  Rolls: Plain rolls 29 1 piece/4 pieces/6 pieces; Seeded rolls 49 1 piece/4 pieces/6 pieces;
    Pretzels 69 1 piece/2 pieces/4 pieces; Baguettes 119 250 g/300 g/400 g
  Cakes: Cream cakes 249 1 piece/2 pieces/4 pieces; Fruit cakes 219 1 piece/2 pieces/4 pieces;
    Muffins 149 2 pieces/4 pieces/6 pieces; Doughnuts 99 1 piece/2 pieces/4 pieces
  Biscuits: Shortbread 149 150 g/200 g/400 g; Wafers 119 150 g/200 g/250 g; Gingerbread 199 200 g/300 g/500 g
Pantry | Hausmarke, Casa Roma, Reiskorn, Goldkorn, Feinkost Lenz
  = Classic, Organic, Fine, Family, Premium, Country, Original, Selected, Traditional, Hearty, Mild, Sunny
  Pasta and rice: Pasta 99 500 g/1 kg/2 kg; Rice 159 500 g/1 kg/2 kg; Couscous 149 300 g/500 g/1 kg;
    Noodles 119 250 g/400 g/500 g
  Canned food: Canned tomatoes 79 400 g/800 g/1.2 kg; Beans 89 250 g/400 g/800 g; Canned fish 149 120 g/160 g/200 g;
    Canned fruit 139 250 g/400 g/800 g
  Oils and spices: Olive oil 499 500 ml/750 ml/1 l; Vinegar 129 500 ml/750 ml/1 l; Spices 149 30 g/50 g/100 g;
    Salt 49 250 g/500 g/1 kg
  Breakfast: Muesli 249 400 g/500 g/750 g; Cornflakes 199 375 g/500 g/750 g; Jam 179 220 g/340 g/450 g;
    Honey 349 250 g/350 g/500 g
Drinks | Hausmarke, Quellgrund, Verde, Kaffeewerk
  = Classic, Organic, Mild, Strong, Fine, Original, Light, Selected, Morning, Mountain, Premium, Family
  Coffee (Kaffeewerk, Hausmarke, Casa Roma, Bohnenglueck): Ground coffee 749 500 g/750 g/1 kg;
    Coffee beans 549 250 g/500 g/1 kg; Coffee pods 299 10 pieces/16 pieces/20 pieces;
    Instant coffee 399 100 g/150 g/200 g
  Tea (Teehaus, Hausmarke, Sonnentor, Goldkorn): Black tea 199 20 bags/25 bags/50 bags;
    Green tea 229 20 bags/25 bags/50 bags; Herbal tea 179 20 bags/25 bags/50 bags; Iced tea 99 500 ml/1 l/1.5 l
  Soft drinks (Quellgrund, Hausmarke, Obstwerk, Verde): Mineral water 49 500 ml/1 l/1.5 l; Juice 149 750 ml/1 l/1.5 l;
    Cola 89 500 ml/1 l/1.5 l; Energy drinks 119 250 ml/330 ml/500 ml
  Beer and wine (Bergbraeu, Rebenhang, Hausmarke, Feinkost Lenz): Lager 99 330 ml/500 ml/1 l;
    Wheat beer 109 330 ml/500 ml/1 l; Red wine 399 375 ml/750 ml/1 l; White wine 379 375 ml/750 ml/1 l
Household | Blitzblank, Reinfix, Papyrus, Klarwerk
  = Classic, Fresh, Gentle, Strong, Eco, Family, Sensitive, Power, Lemon, Alpine, Compact, Extra
  Laundry: Detergent 449 20 washes/40 washes/60 washes; Fabric softener 199 750 ml/1 l/1.5 l;
    Stain remover 299 500 ml/750 ml/1 l; Colour catcher 249 12 pieces/24 pieces/36 pieces
  Cleaning: Floor cleaner 169 750 ml/1 l/1.5 l; Bathroom cleaner 189 500 ml/750 ml/1 l;
    Glass cleaner 149 500 ml/750 ml/1 l; Dish soap 99 450 ml/500 ml/750 ml
  Paper: Toilet paper 299 8 rolls/10 rolls/16 rolls; Kitchen rolls 199 2 rolls/4 rolls/8 rolls;
    Tissues 99 10 packs/15 packs/30 packs; Napkins 149 20 pieces/50 pieces/100 pieces
  Kitchen helpers: Foil 199 10 m/20 m/30 m; Freezer bags 129 20 pieces/40 pieces/50 pieces;
    Candles 149 2 pieces/4 pieces/10 pieces
Beauty and health | Lavida, Hautnah, Mintfrisch, Purus
  = Classic, Fresh, Gentle, Repair, Sensitive, Natural, Intense, Pure, Moisture, Sport, Silk, Mint
  Hair: Shampoo 129 250 ml/300 ml/400 ml; Conditioner 169 200 ml/250 ml/300 ml;
    Hair colour 499 1 piece/2 pieces/3 pieces;
    Styling 249 150 ml/200 ml/250 ml
  Body: Shower gel 119 250 ml/300 ml/500 ml; Body lotion 249 250 ml/400 ml/500 ml; Deodorant 179 50 ml/100 ml/150 ml;
    Sun care 599 150 ml/200 ml/250 ml
  Face: Day cream 499 50 ml/75 ml/100 ml; Cleanser 249 150 ml/200 ml/250 ml; Lip care 149 1 piece/2 pieces/3 pieces;
    Make-up 499 15 ml/30 ml/40 ml
  Mouth: Toothpaste 99 75 ml/100 ml/125 ml; Toothbrushes 149 1 piece/2 pieces/3 pieces;
    Mouthwash 249 300 ml/500 ml/600 ml
Baby and pets | Sternchen, Knuddel, Hausmarke, Purus
  = Classic, Gentle, Organic, Sensitive, Soft, Natural, Family, Little, Happy, Mild, Premium, Extra
  Nappies: Newborn nappies 499 24 pieces/44 pieces/56 pieces; Junior nappies 599 24 pieces/40 pieces/52 pieces;
    Wipes 99 52 pieces/64 pieces/80 pieces; Training pants 599 18 pieces/24 pieces/36 pieces
  Baby food: Porridge 199 220 g/400 g/500 g; Purees 89 120 g/190 g/250 g; Baby drinks 129 250 ml/500 ml/750 ml
  Dogs (Bello, Pfote, Hausmarke, Landgut): Dry dog food 499 1 kg/2 kg/3 kg; Wet dog food 99 150 g/400 g/800 g;
    Dog treats 149 100 g/150 g/200 g
  Cats (Pfote, Bello, Hausmarke, Landgut): Dry cat food 349 800 g/1 kg/2 kg; Wet cat food 59 85 g/100 g/200 g;
    Cat litter 299 5 l/8 l/10 l
Home and leisure | Wohnzeit, Werkfreund, Spielbrett, Trailhead
  = Classic, Compact, Family, Sturdy, Light, Bright, Little, Country, Nordic, Natural, Royal, City
  Kitchenware: Pans 1499 20 cm/24 cm/28 cm; Knives 799 1 piece/2 pieces/3 pieces;
    Storage boxes 299 500 ml/1 l/2 l; Glasses 399 2 pieces/4 pieces/6 pieces
  Stationery: Pens 149 2 pieces/4 pieces/10 pieces; Notebooks 199 1 piece/2 pieces/3 pieces;
    Wrapping paper 199 2 m/4 m/8 m
  Toys: Board games 1299 1 piece/2 pieces/3 pieces; Building blocks 999 40 pieces/80 pieces/100 pieces;
    Soft toys 899 20 cm/30 cm/40 cm
  Garden: Flower pots 299 12 cm/16 cm/24 cm; Seeds 129 1 piece/2 pieces/3 pieces;
    Garden tools 899 1 piece/2 pieces/3 pieces;
    Lanterns 699 1 piece/2 pieces/3 pieces
"""

# What an article sold by weight can be besides its brand, and what it costs of the price of its sub group, in percent.
LOOSE = (("per kg", 100), ("regional, per kg", 115), ("organic, per kg", 135))

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
    """An article group; leaves have articles of ``brands``, named with ``words``, in packs that cost so many percent
    of ``cents``.
    """

    id: str
    group_id: str
    name: str
    parent: ShelfGroup | None
    by_weight: bool = False
    cents: int = 0
    packs: tuple[tuple[str, int], ...] = ()
    brands: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


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
    words: tuple[str, ...] = ()
    numbers = [0, 0]
    for line in DEPARTMENTS.strip().replace(";\n    ", "; ").splitlines():
        if not line.startswith("  "):
            name, brand_names = (part.strip() for part in line.split("|"))
            brands = _listed(brand_names)
            numbers = [numbers[0] + 1, 0]
            department = ShelfGroup(draw_id(rng), f"G{numbers[0]:02d}", name, None)
            yield department
            continue
        if line.startswith("  = "):
            words = _listed(line[4:])
            continue
        assert department is not None  # noqa: S101 - the text above starts with a department
        title, _, leaves = line.strip().partition(":")
        name, _, own_brands = title.rstrip(")").partition(" (")
        numbers[1] += 1
        category = ShelfGroup(draw_id(rng), f"{department.group_id}{numbers[1]:02d}", name, department)
        yield category
        for place, text in enumerate(leaves.split(";"), start=1):
            leaf_name, by_weight, cents, packs = _leaf(text)
            yield ShelfGroup(
                draw_id(rng),
                f"{category.group_id}{place:02d}",
                leaf_name,
                category,
                by_weight,
                cents,
                packs,
                _listed(own_brands) if own_brands else brands,
                words,
            )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(","))


def _leaf(text: str) -> tuple[str, bool, int, tuple[tuple[str, int], ...]]:
    """Read a sub group: its name, whether it is sold by weight, its price, and its packs with their part of it."""
    found = re.fullmatch(r"\s*(\D+?)(\*?) (\d+) ?(.*)", text)
    assert found is not None, text  # noqa: S101 - the text above is ours
    name, star, cents, packs = found.groups()
    if star:
        return name, True, int(cents), LOOSE
    sizes = packs.split("/")
    least = _amount(sizes[0])
    # The more in the pack, the cheaper what is in it.
    return name, False, int(cents), tuple((size, int(15 + 85 * _amount(size) / least)) for size in sizes)


def _amount(size: str) -> Decimal:
    number, unit = size.split(" ")
    return Decimal(number) * (1000 if unit in {"kg", "l"} else 1)


def _articles(rng: Random, leaves: tuple[ShelfGroup, ...], count: int) -> Iterator[Article]:
    ranges = {leaf.group_id: _range(rng, leaf) for leaf in leaves}
    for place, leaf in enumerate(islice(cycle(leaves), count)):
        brand, word, size, cents = next(ranges[leaf.group_id])
        yield Article(
            id=draw_id(rng),
            article_number=str(100_001 + place),
            name=f"{brand} {word} {leaf.name.lower()}, {size}",
            ean=ean13(place + 1),
            brand=brand,
            manufacturer_id=f"M-{brand.upper().replace(' ', '-')}",
            group=leaf,
            base_price=Decimal(cents).scaleb(-2),
            by_weight=leaf.by_weight,
        )


def _range(rng: Random, leaf: ShelfGroup) -> Iterator[tuple[str, str, str, int]]:
    """Return brand, word, size and price of the articles of a sub group, no two of the same name; prices end in 9."""
    dear = {brand: rng.randint(85, 125) for brand in leaf.brands}
    dearer = {word: rng.randint(90, 115) for word in leaf.words}
    every = [(brand, word, *pack) for brand in leaf.brands for word in leaf.words for pack in leaf.packs]
    rng.shuffle(every)
    for brand, word, size, percentage in cycle(every):
        cents = leaf.cents * dear[brand] * dearer[word] * percentage // 1_000_000
        yield brand, word, size, max(cents // 10 * 10 + 9, 29)


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

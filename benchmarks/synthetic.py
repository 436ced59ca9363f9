"""Catalogues and baskets generated from a seed: of any size, with a chosen number of promotions that match a basket.

A basket draws from the *front* shelf of articles, groups and manufacturers. Matching promotions are about the front
shelf, all others about the rest of the assortment; so the number of candidates is independent of the number of active
promotions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from promenade.engine.basket import ArticleFact, Basket, BasketLine, Facts, PosGroupFact, Settings
from promenade.engine.definition import ActionRow, ConditionRow, PromotionDefinition

__all__ = [
    "NOW",
    "SETTINGS",
    "Assortment",
    "basket",
    "catalogue",
    "facts",
    "make_assortment",
    "out_of_reach",
    "with_thresholds",
]

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
SETTINGS = Settings(now=NOW)
SHOP = PosGroupFact(id="00000000-0000-4000-8000-000000000001", code="SHOP", currency="EUR", time_zone="Europe/Berlin")
FRONT_GROUPS = 20
ARTICLES_PER_GROUP = 100
LINES_MAX = 60
_FIELDS = {6: "article_group_id", 7: "article_group_id", 8: "manufacturer_id"}  # of ten kinds; else the article number


@dataclass(frozen=True, slots=True)
class Assortment:
    """Leaf groups hang below a root per twenty; article n belongs to group n // ARTICLES_PER_GROUP."""

    articles: tuple[ArticleFact, ...]
    groups: dict[str, str | None]

    @property
    def front(self) -> tuple[ArticleFact, ...]:
        """The articles that baskets draw from."""
        return self.articles[: FRONT_GROUPS * ARTICLES_PER_GROUP]

    @property
    def back(self) -> tuple[ArticleFact, ...]:
        """The articles that are in no basket."""
        return self.articles[FRONT_GROUPS * ARTICLES_PER_GROUP :]


def make_assortment(seed: int, groups: int = 200) -> Assortment:
    """Create ``groups`` leaf groups of 100 articles; the front shelf has its own roots and manufacturers."""
    draw = random.Random(f"assortment {seed}")
    tree: dict[str, str | None] = {}
    articles: list[ArticleFact] = []
    for group in range(groups):
        root, leaf = f"R{group // FRONT_GROUPS:03}", f"G{group:04}"
        tree[root] = None
        tree[leaf] = root
        for place in range(ARTICLES_PER_GROUP):
            number = group * ARTICLES_PER_GROUP + place
            articles.append(
                ArticleFact(
                    article_number=f"A{number:07}",
                    ean=f"40{number:011}",
                    name=f"Article {number}",
                    article_group_id=leaf,
                    manufacturer_id=f"M{group * 3 + place % 3:05}",
                    unit="PCE",
                    base_price_hundredths=draw.randrange(49, 9_999),
                    currency="EUR",
                )
            )
    return Assortment(tuple(articles), tree)


def basket(assortment: Assortment, lines: int, number: int) -> Basket:
    """Return basket ``number`` of ``lines`` different front articles; longer ones start with shorter ones' lines."""
    draw = random.Random(f"basket {number}")
    chosen = draw.sample(assortment.front, LINES_MAX)[:lines]
    return Basket(
        transaction_id=f"bench-{lines}-{number}",
        lines=tuple(_line(position, article, draw) for position, article in enumerate(chosen, 1)),
        pos_group=SHOP,
    )


def facts(assortment: Assortment, bought: Basket) -> Facts:
    """Return the master data of the basket's articles as the store passes it on."""
    known = {article.article_number: article for article in assortment.articles[: len(assortment.front)]}
    return Facts(articles={line.article_number: known[line.article_number] for line in bought.lines})


def catalogue(
    assortment: Assortment, bought: tuple[Basket, ...], promotions: int, matching: int
) -> Iterator[PromotionDefinition]:
    """Return ``promotions`` active ones, of which ``matching`` match each of the baskets ``bought``.

    Of ten, six are about articles, two about groups, one about manufacturers, and one discounts those articles as a
    whole; all of them stack. The others are the same kinds of promotions on the rest of the assortment.
    """
    draw = random.Random(f"catalogue {promotions} {matching}")
    for number in range(matching):
        kind = number % 10
        yield _promotion(number, kind, [draw.choice(one.lines) for one in bought], draw)
    shelf = assortment.back
    for number in range(matching, promotions):
        articles = draw.sample(shelf, 3)
        yield _promotion(number, number % 10, [_line(1, article, draw) for article in articles], draw)


def with_thresholds(
    assortment: Assortment, bought: Basket, promotions: int, touching: int, applying: int
) -> Iterator[PromotionDefinition]:
    """Return ``promotions`` active ones, of which ``touching`` ask for a quantity or an amount of what is bought.

    ``applying`` of those are reached, and stack; the others ask for 1.2 to 6 times of what is there. One of four asks
    for any of three articles, groups or manufacturers.
    """
    draw = random.Random(f"thresholds {promotions} {touching} {applying}")
    reached = [number * touching // applying for number in range(applying)]
    for number in range(touching):
        kind = number % 10
        about = draw.sample(bought.lines, 3 if number % 4 == 0 else 1)
        made = _promotion(number, kind, about, draw)
        (condition,) = made.conditions
        held = [line for line in bought.lines if getattr(line, _FIELDS.get(kind, "article_number")) in condition.values]
        tenths = draw.randrange(1, 10) if number in reached else draw.randrange(12, 60)
        if number % 2:
            pieces = sum(line.quantity_thousandths for line in held)
            condition = replace(condition, min_quantity_thousandths=max(1, pieces * tenths // 10))
        else:
            amount = sum(line.quantity_thousandths * line.unit_price_hundredths for line in held) // 1_000
            condition = replace(condition, min_amount_hundredths=max(1, amount * tenths // 10))
        yield replace(made, conditions=(condition,))
    for number in range(touching, promotions):
        yield _promotion(number, number % 10, [_line(1, draw.choice(assortment.back), draw)], draw)


def out_of_reach(bought: Basket, promotions: int, first: int) -> Iterator[PromotionDefinition]:
    """Return promotions for purchases of 2.1 to 50 times the amount of this one; ``first`` is the number of one."""
    draw = random.Random(f"out of reach {promotions}")
    amount = sum(line.quantity_thousandths * line.unit_price_hundredths for line in bought.lines) // 100_000
    for number in range(first, first + promotions):
        made = _promotion(number, 9, list(bought.lines[:1]), draw)
        spend = str(amount * draw.randrange(21, 500) // 10)
        condition = ConditionRow(made.conditions[0].id, 0, "AND", "RECEIPT_AMOUNT", operator="GTE", value=spend)
        yield replace(made, conditions=(condition,))


def _line(position: int, article: ArticleFact, draw: random.Random) -> BasketLine:
    return BasketLine(
        reference=str(position),
        article_number=article.article_number,
        quantity_thousandths=1_000 * draw.choice((1, 1, 1, 2, 3, 6)),
        unit_price_hundredths=article.base_price_hundredths or 100,
        ean=article.ean,
        article_group_id=article.article_group_id,
        manufacturer_id=article.manufacturer_id,
    )


def _promotion(number: int, kind: int, about: list[BasketLine], draw: random.Random) -> PromotionDefinition:
    identity = f"{number:08x}-0000-4000-8000-{draw.getrandbits(48):012x}"
    return PromotionDefinition(
        id=identity,
        name=f"Promotion {number}",
        promotion_type="RECEIPT" if kind == 9 else "ARTICLE",
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_to=datetime(2027, 1, 1, tzinfo=UTC),
        priority=draw.randrange(1, 1_000),
        currency="EUR",
        conditions=(_condition(identity, kind, about),),
        actions=(
            ActionRow(
                id=f"{identity[:8]}-0000-4000-8001-000000000000",
                sequence=0,
                action_type="RECEIPT" if kind == 9 else "ARTICLE",
                discount_type="ABSOLUTE" if kind in {5, 9} else "PERCENTAGE",
                discount_value_hundredths=1 if kind in {5, 9} else draw.randrange(50, 200),
            ),
        ),
    )


def _condition(identity: str, kind: int, about: list[BasketLine]) -> ConditionRow:
    field = _FIELDS.get(kind, "article_number")
    condition_type = {6: "ARTICLE_GROUP", 7: "ARTICLE_GROUP", 8: "MANUFACTURER"}.get(kind, "ARTICLE")
    values = tuple(dict.fromkeys(getattr(line, field) for line in about))
    return ConditionRow(
        id=f"{identity[:8]}-0000-4000-8002-000000000000",
        sequence=0,
        connector="AND",
        condition_type=condition_type,
        values=values,
    )

"""Article facts, cached by each process until the tenant's articles change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import CompoundSelect, Row, Select, select, union

from promenade.engine.basket import ArticleFact, BasketLine
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

KNOWN_MAX = 50_000


class ArticleMemory:
    """A cache of lookups by article number and EAN, including failed ones; one that overflows begins anew."""

    __slots__ = ("_by_ean", "_by_number")

    def __init__(self) -> None:
        self._by_number: dict[str, ArticleFact | None] = {}
        self._by_ean: dict[str, ArticleFact | None] = {}

    def missing(self, lines: Iterable[BasketLine], others: Iterable[str] = ()) -> tuple[set[str], set[str]]:
        """Return the article numbers and EANs of the lines (and the other numbers) that are not cached yet."""
        by_number, by_ean = self._by_number, self._by_ean
        numbers = {line.article_number for line in lines if line.article_number not in by_number}
        numbers.update(number for number in others if number not in by_number)
        eans = {
            line.ean
            for line in lines
            if line.ean is not None and by_number.get(line.article_number) is None and line.ean not in by_ean
        }
        return numbers, eans

    def learn(self, numbers: Collection[str], eans: Collection[str], found: Sequence[ArticleFact]) -> None:
        """Store the result of a lookup of ``numbers`` and ``eans``."""
        if len(self._by_number) + len(numbers) > KNOWN_MAX or len(self._by_ean) + len(eans) > KNOWN_MAX:
            self._by_number.clear()
            self._by_ean.clear()
        self._by_number.update(dict.fromkeys(numbers))
        self._by_ean.update(dict.fromkeys(eans))
        for fact in found:
            if fact.article_number in numbers:
                self._by_number[fact.article_number] = fact
            if fact.ean in eans and fact.ean is not None and self._by_ean[fact.ean] is None:
                self._by_ean[fact.ean] = fact

    def facts(
        self, lines: Iterable[BasketLine], others: Iterable[str] = ()
    ) -> tuple[dict[str, ArticleFact], dict[str, ArticleFact]]:
        """Return the cached facts of the lines' articles, by number and, where the number is unknown, by EAN."""
        by_number: dict[str, ArticleFact] = {}
        by_ean: dict[str, ArticleFact] = {}
        for line in lines:
            fact = self._by_number.get(line.article_number)
            if fact is not None:
                by_number[line.article_number] = fact
            elif line.ean is not None and (fact := self._by_ean.get(line.ean)) is not None:
                by_ean[line.ean] = fact
        for number in others:
            fact = self._by_number.get(number)
            if fact is not None:
                by_number[number] = fact
        return by_number, by_ean


async def read_articles(
    session: Session, numbers: Collection[str], eans: Collection[str], group_keys: Mapping[str, str]
) -> list[ArticleFact]:
    """Read the facts of articles by number or EAN in one statement, ordered by number."""
    articles = table("Articles")
    columns = (
        articles.c.article_number,
        articles.c.ean,
        articles.c.name,
        articles.c.article_group_key,
        articles.c.article_group_id,
        articles.c.manufacturer_id,
        articles.c.manufacturer,
        articles.c.unit,
        articles.c.base_price,
        articles.c.currency,
        articles.c.never_discounted,
    )
    found: Select[Any] | CompoundSelect[Any] = select(*columns).where(articles.c.article_number.in_(list(numbers)))
    if eans:  # one query per index: for an OR of the two, SQLite scans all articles of the tenant
        found = union(found, select(*columns).where(articles.c.ean.in_(list(eans))))
    rows = await session.execute(found)
    return sorted((_fact(row, group_keys) for row in rows), key=lambda fact: fact.article_number)


def _fact(row: Row[Any], group_keys: Mapping[str, str]) -> ArticleFact:
    price: Decimal | None = row.base_price
    return ArticleFact(
        article_number=row.article_number,
        ean=row.ean,
        name=row.name,
        article_group_id=row.article_group_key or group_keys.get(row.article_group_id),
        manufacturer_id=row.manufacturer_id or row.manufacturer,
        unit=row.unit,
        base_price_hundredths=None if price is None else int(price * 100),
        currency=row.currency,
        never_discounted=row.never_discounted,
    )

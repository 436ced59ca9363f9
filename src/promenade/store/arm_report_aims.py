"""What promotions target, as far as it can be told of the lines in a log and of the articles' master data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from odata_server.sql.connection import Kept
from promenade.engine.benefits.targets import Exclusions
from promenade.engine.conditions.registry import IndexKey
from promenade.engine.index import LINE_KINDS
from promenade.engine.promotion import CompiledPromotion
from promenade.store.recurring import among
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Aim", "ArticleKeys", "aims_of", "group_members", "read_article_keys"]

_ARTICLES = table("Articles")
_GROUPS = table("ArticleGroups")
_LISTED_MAX = 64

Keys = frozenset[str]
_NONE: Keys = frozenset()


@dataclass(frozen=True, slots=True)
class ArticleKeys:
    """What names an article besides its number."""

    ean: str | None = None
    group: str | None = None
    manufacturer: str | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """The lines that one action of a promotion is about; article groups are those below them as well.

    ``everything``: any line that is not excluded.
    """

    everything: bool
    articles: Keys = _NONE
    eans: Keys = _NONE
    groups: Keys = _NONE
    manufacturers: Keys = _NONE
    not_articles: Keys = _NONE
    not_eans: Keys = _NONE
    not_groups: Keys = _NONE
    not_manufacturers: Keys = _NONE

    @property
    def asks_articles(self) -> bool:
        """Whether it takes more than the number of an article to tell."""
        others = (self.eans, self.groups, self.manufacturers)
        return any((*others, self.not_eans, self.not_groups, self.not_manufacturers))

    def hits(self, number: str, keys: ArticleKeys) -> bool:
        """Whether a line of this article is one of them."""
        if number in self.not_articles or keys.ean in self.not_eans or keys.group in self.not_groups:
            return False
        if keys.manufacturer in self.not_manufacturers:
            return False
        if self.everything or number in self.articles or keys.ean in self.eans:
            return True
        return keys.group in self.groups or keys.manufacturer in self.manufacturers


def aims_of(promotion: CompiledPromotion, members: Mapping[str, frozenset[str]]) -> tuple[Aim, ...]:
    """What the actions of a promotion are about: their own targets, else the lines that its conditions name."""
    qualifying = _qualifying(promotion)
    rows = sorted(promotion.definition.actions, key=lambda row: (row.sequence, row.id))
    found: dict[Aim, None] = {}
    for place, benefit in enumerate(promotion.benefits):
        keys = benefit.keys()
        excluded = Exclusions(rows[place].exclusions if place < len(rows) else ())
        found[_aim(qualifying if keys is None else keys, excluded, members)] = None
    return tuple(found)


def _qualifying(promotion: CompiledPromotion) -> Sequence[IndexKey] | None:
    """What the conditions name; None: any line may qualify."""
    found: list[IndexKey] = []
    for group in promotion.groups:
        named = [
            key for negated, condition in group if not negated for key in condition.keys() or () if key[0] in LINE_KINDS
        ]
        if not named:
            return None
        found += named
    return found or None


def _aim(keys: Sequence[IndexKey] | None, excluded: Exclusions, members: Mapping[str, frozenset[str]]) -> Aim:
    by_kind: dict[str, set[str]] = {}
    for kind, value in keys or ():
        by_kind.setdefault(kind, set()).add(value)
    return Aim(
        # Logs do not hold the additional fields of lines, so that any line may be one with the field.
        everything=keys is None or "field" in by_kind,
        articles=frozenset(by_kind.get("article", ())),
        eans=frozenset(by_kind.get("ean", ())),
        groups=frozenset(by_kind.get("group", ())) | _below(by_kind.get("tree", ()), members),
        manufacturers=frozenset(by_kind.get("manufacturer", ())),
        not_articles=excluded.articles,
        not_eans=excluded.eans,
        not_groups=_below(excluded.groups, members),
        not_manufacturers=excluded.manufacturers,
    )


def _below(groups: Iterable[str], members: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(members.get(one, frozenset((one,))) for one in groups))


async def group_members(session: Session) -> dict[str, frozenset[str]]:
    """For each article group (groupId) itself and all below it; a circle in the data ends where it closes."""
    rows = await session.execute(_ALL_GROUPS)
    keys = {row.id: row.group_id for row in rows}
    above = {row.group_id: keys.get(row.parent_id) for row in rows}
    found: dict[str, set[str]] = {key: {key} for key in above}
    for key, over in above.items():
        seen, parent = {key}, over
        while parent is not None and parent not in seen:
            found[parent].add(key)
            seen.add(parent)
            parent = above[parent]
    return {key: frozenset(members) for key, members in found.items()}


_ALL_GROUPS = Kept(select(_GROUPS.c.id, _GROUPS.c.group_id, _GROUPS.c.parent_id))


async def read_article_keys(session: Session, numbers: Sequence[str]) -> dict[str, ArticleKeys]:
    """The keys of the articles with these numbers, as far as they are known."""
    found: dict[str, ArticleKeys] = {}
    for start in range(0, len(numbers), _LISTED_MAX):
        part = numbers[start : start + _LISTED_MAX]
        for row in await session.execute(*among((_ARTICLES.c.article_number,), part, _select_keys)):
            found[row.article_number] = ArticleKeys(row.ean, row.group_key, row.manufacturer)
    return found


def _select_keys(condition: Any) -> Any:
    joined = _ARTICLES.outerjoin(
        _GROUPS, (_GROUPS.c.tenant_id == _ARTICLES.c.tenant_id) & (_GROUPS.c.id == _ARTICLES.c.article_group_id)
    )
    return (
        select(
            _ARTICLES.c.article_number,
            _ARTICLES.c.ean,
            func.coalesce(_ARTICLES.c.article_group_key, _GROUPS.c.group_id).label("group_key"),
            func.coalesce(_ARTICLES.c.manufacturer_id, _ARTICLES.c.manufacturer).label("manufacturer"),
        )
        .select_from(joined)
        .where(condition)
    )

"""Which lines a promotion may discount, and whether two promotions may meet on one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.free_item import FreeItem
from promenade.engine.benefits.registry import REWARDS_ONLY, IndexKey
from promenade.engine.conditions.article import NamedLines
from promenade.engine.inspection.finding import ArticleSeen, Tenant
from promenade.engine.promotion import CompiledPromotion
from promenade.engine.view import ArticleGroups

__all__ = ["Meeting", "Reach", "keys_of"]


class Meeting(IntEnum):
    """NO: they name different lines; LIKELY: by the master data, or by what cannot be compared; SURE."""

    NO = 0
    LIKELY = 1
    SURE = 2


def keys_of(promotion: CompiledPromotion) -> frozenset[IndexKey] | None:
    """What the lines that a promotion may discount are named by; None = any line. Empty: it gives rewards alone."""
    keys: set[IndexKey] = set()
    by_conditions: frozenset[IndexKey] | None = frozenset()
    is_known = False
    for benefit in promotion.benefits:
        if benefit.stage == REWARDS_ONLY:
            continue
        if isinstance(benefit, FreeItem):
            keys.add(("article", benefit.article_number))
            continue
        own = _own_keys(benefit) if isinstance(benefit, BundleDiscount) else benefit.keys()
        if own is None:
            if not is_known:
                by_conditions, is_known = _keys_of_conditions(promotion), True
            if by_conditions is None:
                return None
            keys |= by_conditions
        else:
            keys.update(own)
    return frozenset(keys)


def _own_keys(bundle: BundleDiscount) -> Iterable[IndexKey] | None:
    found: list[IndexKey] = []
    for part in bundle.components:
        keys = part.target.keys() if part.target.own else bundle.target.keys()
        if keys is None:
            return None
        found.extend(keys)
    return found


def _keys_of_conditions(promotion: CompiledPromotion) -> frozenset[IndexKey] | None:
    keys: set[IndexKey] = set()
    for group in promotion.groups:
        named = [one for negated, one in group if not negated and isinstance(one, NamedLines)]
        found = [one.keys() for one in named]
        if not found or None in found:
            return None
        for each in found:
            keys.update(each or ())
    return frozenset(keys) if promotion.groups else None


class Reach:
    """The lines that one promotion may discount, made ready to be compared with many others."""

    def __init__(self, keys: frozenset[IndexKey] | None, tenant: Tenant, groups: ArticleGroups) -> None:
        self._tenant = tenant
        self._groups = groups
        self.is_any = keys is None
        named = keys or frozenset()
        self.articles = frozenset([value for kind, value in named if kind == "article"])
        self.eans = frozenset([value for kind, value in named if kind == "ean"])
        self.exact = frozenset([value for kind, value in named if kind == "group"])
        self.trees = frozenset([value for kind, value in named if kind == "tree"])
        self.makers = frozenset([value for kind, value in named if kind == "manufacturer"])
        self.is_open = any(kind == "field" for kind, _ in named)
        self._above = frozenset([step for group in self.exact | self.trees for step in groups.path(group)])
        seen = [tenant.articles[one] for one in self.articles if one in tenant.articles]
        seen += [tenant.eans[one] for one in self.eans if one in tenant.eans]
        self._seen_numbers = frozenset([one.article_number for one in seen])
        self._seen_eans = frozenset([one.ean for one in seen if one.ean])
        self._seen_groups = frozenset([one.article_group_id for one in seen if one.article_group_id])
        self._seen_above = frozenset([step for group in self._seen_groups for step in groups.path(group)])
        self._seen_makers = frozenset([one.manufacturer_id for one in seen if one.manufacturer_id])

    @property
    def needs_articles(self) -> bool:
        """Whether to know the group and the maker of others' articles makes a difference."""
        return bool(self.eans or self.exact or self.trees or self.makers)

    def meets(self, keys: frozenset[IndexKey] | None) -> Meeting:
        """Whether a line may be discounted by both."""
        if keys is None:
            return Meeting.SURE if self.is_any or self._names_something() else Meeting.NO
        if self.is_any:
            return Meeting.SURE if keys else Meeting.NO
        best = Meeting.NO
        for kind, value in keys:
            best = max(best, self._meets(kind, value))
            if best is Meeting.SURE:
                break
        return best

    def _names_something(self) -> bool:
        return bool(self.articles or self.eans or self.exact or self.trees or self.makers or self.is_open)

    def _meets(self, kind: str, value: str) -> Meeting:
        if self.is_open or kind == "field":
            return Meeting.LIKELY
        if kind == "article":
            return self._meets_article(value)
        if kind == "ean":
            if value in self.eans:
                return Meeting.SURE
            return Meeting.LIKELY if value in self._seen_eans else self._meets_seen(self._tenant.eans.get(value))
        if kind == "manufacturer":
            if value in self.makers:
                return Meeting.SURE
            return Meeting.LIKELY if value in self._seen_makers or self._above else Meeting.NO
        return self._meets_group(value, with_sub_groups=kind == "tree")

    def _meets_article(self, number: str) -> Meeting:
        if number in self.articles:
            return Meeting.SURE
        return Meeting.LIKELY if number in self._seen_numbers else self._meets_seen(self._tenant.articles.get(number))

    def _meets_seen(self, article: ArticleSeen | None) -> Meeting:
        if article is None:
            return Meeting.NO
        group = article.article_group_id
        by_group = bool(group) and (group in self.exact or not self.trees.isdisjoint(self._groups.path(group or "")))
        by_ean = article.ean is not None and article.ean in self.eans
        return Meeting.LIKELY if by_group or by_ean or article.manufacturer_id in self.makers else Meeting.NO

    def _meets_group(self, group: str, *, with_sub_groups: bool) -> Meeting:
        if group in self.exact or not self.trees.isdisjoint(self._groups.path(group)):
            return Meeting.SURE
        if with_sub_groups and group in self._above:
            return Meeting.SURE
        by_articles = group in (self._seen_above if with_sub_groups else self._seen_groups)
        return Meeting.LIKELY if by_articles or self.makers else Meeting.NO

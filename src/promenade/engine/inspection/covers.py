"""How much of what an action is for is taken from it: by its exclusions, or as goods that are never discounted."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

from promenade.engine.benefits.targets import Exclusions, Targets
from promenade.engine.conditions.article import ArticleGroup, ArticleLines, Manufacturer, NamedLines
from promenade.engine.conditions.custom import AdditionalField
from promenade.engine.conditions.operators import TextTest
from promenade.engine.conditions.registry import Condition
from promenade.engine.inspection.finding import ArticleSeen, Tenant
from promenade.engine.view import ArticleGroups


class Cover(IntEnum):
    """NOTHING: something is or may be left; LIKELY: all of them by the master data; ALL: certainly all."""

    NOTHING = 0
    LIKELY = 1
    ALL = 2


class Taking(Protocol):
    """What takes goods from an action; each method tells how much of the goods so named."""

    def article(self, number: str) -> Cover: ...

    def ean(self, ean: str) -> Cover: ...

    def group(self, group: str) -> Cover: ...

    def manufacturer(self, name: str) -> Cover: ...

    def field(self, name: str, test: TextTest) -> Cover:
        """Of lines whose additional field passes the test."""
        ...


class Excluded:
    """The exclusions of an action."""

    def __init__(self, exclusions: Exclusions, tenant: Tenant, groups: ArticleGroups) -> None:
        self._exclusions = exclusions
        self._tenant = tenant
        self._groups = groups

    def article(self, number: str) -> Cover:
        return Cover.ALL if number in self._exclusions.articles else self._seen(self._tenant.articles.get(number))

    def ean(self, ean: str) -> Cover:
        return Cover.ALL if ean in self._exclusions.eans else self._seen(self._tenant.eans.get(ean))

    def group(self, group: str) -> Cover:
        """An excluded group takes the groups below it too."""
        return Cover.NOTHING if self._exclusions.groups.isdisjoint(self._groups.path(group)) else Cover.ALL

    def manufacturer(self, name: str) -> Cover:
        return Cover.ALL if name in self._exclusions.manufacturers else Cover.NOTHING

    def field(self, name: str, test: TextTest) -> Cover:
        is_exact = test.operator == "EQUALS"
        for excluded, value in self._exclusions.fields:
            if excluded == name and (value is None or (is_exact and all(value.holds(text) for text in test.texts))):
                return Cover.ALL
        return Cover.NOTHING

    def _seen(self, article: ArticleSeen | None) -> Cover:
        if article is None:
            return Cover.NOTHING
        group = article.article_group_id
        if group and self.group(group) is Cover.ALL:
            return Cover.LIKELY
        by_maker = article.manufacturer_id in self._exclusions.manufacturers
        return Cover.LIKELY if by_maker or article.ean in self._exclusions.eans else Cover.NOTHING


class Barred:
    """The goods that are never discounted (section 6)."""

    def __init__(self, tenant: Tenant, groups: ArticleGroups) -> None:
        self._tenant = tenant
        self._groups = groups

    def article(self, number: str) -> Cover:
        return self._seen(self._tenant.articles.get(number))

    def ean(self, ean: str) -> Cover:
        """Other articles may have the same EAN."""
        return min(self._seen(self._tenant.eans.get(ean)), Cover.LIKELY)

    def gift(self, number: str) -> Cover:
        """Of a gift the master data alone count, whatever a till sends."""
        return Cover.NOTHING if self.article(number) is Cover.NOTHING else Cover.ALL

    def group(self, group: str) -> Cover:
        return Cover.NOTHING if self._groups.why_barred(group) is None else Cover.ALL

    def manufacturer(self, name: str) -> Cover:
        return Cover.NOTHING

    def field(self, name: str, test: TextTest) -> Cover:
        return Cover.NOTHING

    def _seen(self, article: ArticleSeen | None) -> Cover:
        """An article that says so itself is barred whatever group a till sends."""
        if article is None:
            return Cover.NOTHING
        if article.never_discounted is not None:
            return Cover.ALL
        return Cover.LIKELY if self._groups.why_barred(article.article_group_id) is not None else Cover.NOTHING


def taken_of_targets(taking: Taking, targets: Targets) -> Cover:
    """How much is taken of an action's own targets."""
    covers = [taking.article(number) for number in targets.articles]
    covers += [taking.ean(ean) for ean in targets.eans]
    if targets.group is not None:
        covers.append(taking.group(targets.group))
    return min(covers, default=Cover.NOTHING)


def taken_of_named(taking: Taking, conditions: Sequence[Condition]) -> Cover:
    """How much is taken of the qualifying lines, which are those that an AND group's positive conditions name."""
    covers: list[Cover] = []
    for one in conditions:
        if isinstance(one, ArticleLines) and one.test is None:
            covers += [taking.article(number) for number in one.numbers]
            covers += [taking.ean(ean) for ean in one.eans]
        elif isinstance(one, ArticleGroup) and one.test is None:
            covers += [taking.group(group) for group in one.groups]
        elif isinstance(one, Manufacturer) and one.test is None:
            covers += [taking.manufacturer(name) for name in one.names]
        elif isinstance(one, AdditionalField):
            covers.append(taking.field(one.name, one.test))
        elif isinstance(one, NamedLines):
            return Cover.NOTHING
    return min(covers, default=Cover.NOTHING)

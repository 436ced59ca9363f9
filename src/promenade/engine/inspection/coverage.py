"""How much of what an action is for its exclusions take away."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from promenade.engine.benefits.targets import Exclusions, Targets
from promenade.engine.conditions.article import ArticleGroup, ArticleLines, Manufacturer, NamedLines
from promenade.engine.conditions.registry import Condition
from promenade.engine.inspection.finding import ArticleSeen, Tenant
from promenade.engine.inspection.scene import Scene
from promenade.engine.view import ArticleGroups

__all__ = ["Cover", "covers_named", "covers_targets"]


class Cover(IntEnum):
    """NOTHING: something is left, or may be; LIKELY: all by the master data; ALL: for certain."""

    NOTHING = 0
    LIKELY = 1
    ALL = 2


def covers_targets(exclusions: Exclusions, targets: Targets, tenant: Tenant, groups: ArticleGroups) -> Cover:
    """What they take of an action's own targets."""
    covers = [_article(exclusions, number, tenant, groups) for number in targets.articles]
    covers += [_ean(exclusions, ean, tenant, groups) for ean in targets.eans]
    if targets.group is not None:
        covers.append(_group(exclusions, targets.group, groups))
    return min(covers, default=Cover.NOTHING)


def covers_named(exclusions: Exclusions, conditions: Sequence[Condition], scene: Scene) -> Cover:
    """What they take of the qualifying lines, which are those that an AND group's positive conditions name."""
    tenant, groups = scene.tenant, scene.given.groups
    covers: list[Cover] = []
    for one in conditions:
        if isinstance(one, ArticleLines) and one.test is None:
            covers += [_article(exclusions, number, tenant, groups) for number in one.numbers]
            covers += [_ean(exclusions, ean, tenant, groups) for ean in one.eans]
        elif isinstance(one, ArticleGroup) and one.test is None:
            covers += [_group(exclusions, group, groups) for group in one.groups]
        elif isinstance(one, Manufacturer) and one.test is None:
            covers += [Cover.ALL if name in exclusions.manufacturers else Cover.NOTHING for name in one.names]
        elif isinstance(one, NamedLines):
            return Cover.NOTHING
    return min(covers, default=Cover.NOTHING)


def _article(exclusions: Exclusions, number: str, tenant: Tenant, groups: ArticleGroups) -> Cover:
    if number in exclusions.articles:
        return Cover.ALL
    return _seen(exclusions, tenant.articles.get(number), groups)


def _ean(exclusions: Exclusions, ean: str, tenant: Tenant, groups: ArticleGroups) -> Cover:
    if ean in exclusions.eans:
        return Cover.ALL
    return _seen(exclusions, tenant.eans.get(ean), groups)


def _seen(exclusions: Exclusions, article: ArticleSeen | None, groups: ArticleGroups) -> Cover:
    if article is None:
        return Cover.NOTHING
    group = article.article_group_id
    if group and not exclusions.groups.isdisjoint(groups.path(group)):
        return Cover.LIKELY
    by_maker = article.manufacturer_id in exclusions.manufacturers
    return Cover.LIKELY if by_maker or article.ean in exclusions.eans else Cover.NOTHING


def _group(exclusions: Exclusions, group: str, groups: ArticleGroups) -> Cover:
    """An excluded group takes the groups below it too."""
    return Cover.NOTHING if exclusions.groups.isdisjoint(groups.path(group)) else Cover.ALL

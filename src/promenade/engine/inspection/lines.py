"""Which sale lines a condition names are surely among those that another one names."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.conditions.article import ArticleGroup, ArticleLines, Manufacturer, NamedLines
from promenade.engine.conditions.custom import AdditionalField
from promenade.engine.inspection.texts import Outlook
from promenade.engine.view import ArticleGroups

__all__ = ["covers", "lines_outlook"]

PAIRS_MAX = 2_500


def lines_outlook(positive: Sequence[NamedLines], negative: Sequence[NamedLines], groups: ArticleGroups) -> Outlook:
    """Lines that must be there clash with lines that must not, where the first are among the second.

    Different articles never clash: a basket has many lines.
    """
    if len(positive) * len(negative) > PAIRS_MAX:
        return Outlook.POSSIBLE
    for wanted in positive:
        for unwanted in negative:
            if covers(unwanted, wanted, groups) and _brings(wanted, unwanted):
                return Outlook.NO
    return Outlook.POSSIBLE


def _brings(wanted: NamedLines, unwanted: NamedLines) -> bool:
    """Whether the least that is wanted is all that the other one needs to hold."""
    enough = max(1, wanted.min_quantity_thousandths) >= unwanted.min_quantity_thousandths
    return enough and max(0, wanted.min_amount_hundredths) >= unwanted.min_amount_hundredths


def covers(wide: NamedLines, narrow: NamedLines, groups: ArticleGroups) -> bool:
    """Whether every line that ``narrow`` names is one that ``wide`` names, for certain; minima do not matter here."""
    if isinstance(wide, ArticleLines) and isinstance(narrow, ArticleLines):
        return _covers_articles(wide, narrow)
    if isinstance(wide, ArticleGroup) and isinstance(narrow, ArticleGroup):
        return _covers_groups(wide, narrow, groups)
    if isinstance(wide, Manufacturer) and isinstance(narrow, Manufacturer):
        if wide.test is not None or narrow.test is not None:
            return wide.test == narrow.test
        return narrow.name_set <= wide.name_set
    if isinstance(wide, AdditionalField) and isinstance(narrow, AdditionalField):
        return wide.name == narrow.name and wide.test == narrow.test
    return False


def _covers_articles(wide: ArticleLines, narrow: ArticleLines) -> bool:
    if narrow.test is not None:
        return wide.test == narrow.test
    if wide.test is not None:
        return not narrow.eans and all(wide.test.holds(one) for one in narrow.numbers)
    return narrow.number_set <= wide.number_set and narrow.ean_set <= wide.ean_set


def _covers_groups(wide: ArticleGroup, narrow: ArticleGroup, groups: ArticleGroups) -> bool:
    if narrow.include_sub_groups and not wide.include_sub_groups:
        return False
    if wide.test is not None or narrow.test is not None:
        return wide.test == narrow.test
    if not wide.include_sub_groups:
        return narrow.group_set <= wide.group_set
    return all(not wide.group_set.isdisjoint(groups.path(one)) for one in narrow.groups)

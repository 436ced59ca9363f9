"""Which lines a benefit applies to: its own target, else the qualifying lines; minus its exclusions (section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from promenade.engine.conditions.operators import TextTest
from promenade.engine.definition import ActionRow, ArticleRow, DefinitionError, ExclusionRow, LoyaltyRow
from promenade.engine.view import BasketView, LineView

if TYPE_CHECKING:
    from promenade.engine.benefits.registry import IndexKey


@runtime_checkable
class MayBeBarred(Protocol):
    """What knows whether all that it would discount is never discounted, or is spared as the till has reduced it."""

    def is_barred(self, view: BasketView, qualifying: tuple[int, ...] | None) -> bool: ...

    def is_spared(self, view: BasketView, qualifying: tuple[int, ...]) -> bool: ...


class Exclusions:
    """Lines that an action never discounts; an excluded article group includes the groups below it."""

    __slots__ = ("articles", "better_reduced", "eans", "fields", "groups", "manufacturers", "reduced")

    def __init__(self, rows: tuple[ExclusionRow, ...]) -> None:
        for number, row in enumerate(rows, start=1):
            if not _names_something(row):
                raise DefinitionError(
                    f"exclusions({number})/exclusionType",
                    "EXCLUSION_NAMES_NOTHING",
                    f"An exclusion of type {row.exclusion_type} must say what it excludes.",
                )
        listed = [item for row in rows if row.exclusion_type == "ARTICLE_LIST" for item in row.articles]
        articles = {row.article_number for row in rows if row.exclusion_type == "ARTICLE"}
        articles.update([item.article_number for item in listed])
        self.articles = frozenset([one for one in articles if one])
        self.eans = frozenset([item.ean for item in listed if item.ean])
        groups = [row.article_group_id for row in rows if row.exclusion_type == "ARTICLE_GROUP"]
        self.groups = frozenset([one for one in groups if one])
        makers = [row.manufacturer for row in rows if row.exclusion_type == "MANUFACTURER"]
        self.manufacturers = frozenset([one for one in makers if one])
        self.fields: tuple[tuple[str, TextTest | None], ...] = tuple(
            [
                (row.field_name, TextTest.equal_to((row.value,)) if row.value else None)
                for row in rows
                if row.exclusion_type == "ADDITIONAL_FIELD" and row.field_name
            ]
        )
        kinds = [row.exclusion_type for row in rows]
        self.reduced = "REDUCED" in kinds
        self.better_reduced = "BETTER_REDUCED" in kinds  # heeded by the discount, see `discount_unless`

    def apply(self, view: BasketView, positions: Iterable[int], *, or_reduced: bool = False) -> tuple[int, ...]:
        """The positions that are not excluded; ``or_reduced``: with those that are because they are reduced."""
        kept: list[int] = []
        lines = view.lines
        heeds_till = self.reduced or self.fields
        for position in positions:
            line = lines[position]
            if line.article_number in self.articles or line.ean in self.eans:
                continue
            if line.manufacturer_id in self.manufacturers or not self.groups.isdisjoint(line.group_path):
                continue
            if heeds_till and self._is_by_till(line, or_reduced=or_reduced):
                continue
            kept.append(position)
        return tuple(kept)

    def found(self, view: BasketView) -> frozenset[int]:
        """The positions of sale lines that are excluded."""
        named = (
            (self.articles, view.by_article),
            (self.eans, view.by_ean),
            (self.groups, view.by_tree),
            (self.manufacturers, view.by_manufacturer),
        )
        found = [place for names, places in named for name in names for place in places.get(name, ())]
        if self.reduced or self.fields:
            found += [place for place in view.sale if self._is_by_till(view.lines[place])]
        return frozenset(found)

    def _is_by_till(self, line: LineView, *, or_reduced: bool = False) -> bool:
        """Whether what the till says of a line excludes it: its reduction, or a field."""
        if self.reduced and not or_reduced and line.reduction_hundredths:
            return True
        if not self.fields or not line.line.fields:
            return False
        sent = line.fields
        return any(name in sent and (test is None or test.holds(sent[name])) for name, test in self.fields)


def _names_something(row: ExclusionRow) -> bool:
    """Whether the row names anything; a repeated exclusion counts although it adds nothing."""
    named = {
        "ARTICLE": row.article_number,
        "ARTICLE_GROUP": row.article_group_id,
        "MANUFACTURER": row.manufacturer,
        "ARTICLE_LIST": any(item.article_number or item.ean for item in row.articles),
        "ADDITIONAL_FIELD": row.field_name,
        "REDUCED": True,
        "BETTER_REDUCED": True,
    }
    return bool(named.get(row.exclusion_type))


class Targets:
    """An action's own target (article, group, list: the union of what is named), or none: the qualifying lines."""

    __slots__ = ("articles", "eans", "exclusions", "group", "is_of_the_sum", "own", "sub_groups")

    def __init__(
        self,
        article_number: str | None,
        group: str | None,
        sub_groups: bool,
        rows: tuple[ArticleRow, ...],
        exclusions: tuple[ExclusionRow, ...] = (),
    ) -> None:
        articles = [row.article_number for row in rows if row.article_number]
        if article_number:
            articles.append(article_number)
        self.articles = tuple(dict.fromkeys(articles))
        self.eans = tuple(dict.fromkeys([row.ean for row in rows if row.ean]))
        self.group = group or None
        self.sub_groups = sub_groups
        self.own = bool(self.articles or self.eans or self.group)
        self.exclusions = Exclusions(exclusions) if exclusions else None
        self.is_of_the_sum = False  # of a discount on a sum, which also goods count for that are set apart

    def keys(self) -> tuple[IndexKey, ...] | None:
        """Index keys of the own target; None when it is the qualifying lines."""
        if not self.own:
            return None
        keys: list[IndexKey] = [("article", number) for number in self.articles]
        keys += [("ean", ean) for ean in self.eans]
        if self.group is not None:
            keys.append(("tree" if self.sub_groups else "group", self.group))
        return tuple(keys)

    def resolve(self, view: BasketView, qualifying: tuple[int, ...]) -> tuple[int, ...]:
        """Positions of sale lines, in basket order."""
        if not self.own:
            return self._open(view, qualifying)
        found = view.resolved.get(self)  # in a basket, an own target always means the same lines
        if found is None:
            found = view.resolved[self] = self._open(view, self._own(view))
        return found

    def is_barred(self, view: BasketView, qualifying: tuple[int, ...] | None) -> bool:
        """Whether there are such lines, and all of them are never discounted; None: it is unknown which qualify."""
        if qualifying is None and not self.own:
            return False
        lines = self.resolve(view, qualifying or ())
        return bool(lines) and view.barred.issuperset(lines)

    def is_spared(self, view: BasketView, qualifying: tuple[int, ...], exclusions: Exclusions | None = None) -> bool:
        """Whether there are such lines, and all of them are left out, some because the till has reduced them.

        ``exclusions``: those of the action, of a component that has none itself.
        """
        excluded = self.exclusions if exclusions is None else exclusions
        if excluded is None or not excluded.reduced:
            return False
        places = self._own(view) if self.own else qualifying
        return bool(excluded.apply(view, places, or_reduced=True)) and not excluded.apply(view, places)

    def _open(self, view: BasketView, positions: tuple[int, ...]) -> tuple[int, ...]:
        if view.apart and not self.is_of_the_sum:
            positions = tuple([position for position in positions if position not in view.apart])
        return positions if self.exclusions is None else self.exclusions.apply(view, positions)

    def _own(self, view: BasketView) -> tuple[int, ...]:
        found: list[int] = []
        for number in self.articles:
            found += view.by_article.get(number, ())
        for ean in self.eans:
            found += view.by_ean.get(ean, ())
        if self.group is not None:
            found += (view.by_tree if self.sub_groups else view.by_group).get(self.group, ())
        return tuple(sorted(set(found))) if len(found) > 1 else tuple(found)


def targets_of_action(row: ActionRow, *, is_by_unit: bool = False) -> Targets:
    """The targets a DiscountAction names; raises DefinitionError when its type requires one that is missing.

    ``is_by_unit``: each unit has its own discount, which can be compared with a reduction of the till.
    """
    for number, exclusion in enumerate(row.exclusions, start=1):
        if exclusion.exclusion_type == "BETTER_REDUCED" and not is_by_unit:
            raise DefinitionError(
                f"exclusions({number})/exclusionType",
                "NOT_ALLOWED",
                "Only a discount on each piece can be compared with a reduction of the till; exclude REDUCED here.",
            )
    if row.target_article_list and not row.articles:
        raise DefinitionError("articleListItems", "NO_ARTICLES", "An article list target needs articles.")
    for number, item in enumerate(row.articles, start=1):
        if not item.article_number and not item.ean:
            raise DefinitionError(
                f"articleListItems({number})/articleNumber", "NO_ARTICLE", "A list item must name an article or an EAN."
            )
    return Targets(
        row.target_article_number, row.target_article_group_id, row.include_sub_groups, row.articles, row.exclusions
    )


def targets_of_loyalty(row: LoyaltyRow) -> Targets:
    """The targets a LoyaltyAction's scope names; raises DefinitionError when the scope's field is empty."""
    scope = row.target_scope
    if scope == "ALL_ITEMS":
        return Targets(None, None, False, ())
    if scope == "ARTICLE" and row.target_article_number:
        return Targets(row.target_article_number, None, False, ())
    if scope == "ARTICLE_GROUP" and row.target_article_group_id:
        return Targets(None, row.target_article_group_id, row.include_sub_groups, ())
    if scope == "ARTICLE_LIST" and row.articles:
        return Targets(None, None, False, row.articles)
    field = {
        "ARTICLE": "targetArticleNumber",
        "ARTICLE_GROUP": "targetArticleGroupId",
        "ARTICLE_LIST": "articleListItems",
    }.get(scope, "targetScope")
    raise DefinitionError(field, "NO_TARGET", f"Target scope {scope} needs {field}.")

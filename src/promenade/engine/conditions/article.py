"""Conditions that name sale lines: articles, article groups, lists, manufacturers (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from promenade.engine.conditions.operators import TextTest
from promenade.engine.conditions.registry import Condition, IndexKey, condition
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import MINIMA, TESTED, Form
from promenade.engine.money import threshold_minor
from promenade.engine.thresholds import FINEST, Least, in_one_kind
from promenade.engine.verdict import Met, Missed, Trigger, Verdict
from promenade.engine.view import BasketView

NOT_IN_BASKET = Missed("NOT_IN_BASKET")


def positions_of(index: dict[str, list[int]], names: tuple[str, ...], known: frozenset[str]) -> tuple[int, ...]:
    """Positions under any of ``names`` (``known``: the same as a set), in basket order."""
    if len(names) == 1:
        found = index.get(names[0])
        return tuple(found) if found else ()
    if len(names) > len(index):
        names = tuple([name for name in index if name in known])
    positions: set[int] = set()
    for name in names:
        found = index.get(name)
        if found:
            positions.update(found)
    return tuple(sorted(positions))


@dataclass(frozen=True, slots=True)
class NamedLines(Condition):
    """Matching sale lines exist, and their summed quantity and original amount reach the minimum where one is set."""

    min_quantity_thousandths: int
    min_amount_hundredths: int

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        lines = self.matching(view)
        if not lines:
            return NOT_IN_BASKET
        if self.min_quantity_thousandths <= 0 and self.min_amount_hundredths <= 0:
            return Met(lines)
        return self._measure(view, lines)

    def least(self, beside: tuple[Condition, ...]) -> Least | None:
        quantity, amount = self.min_quantity_thousandths, self.min_amount_hundredths
        lines = in_one_kind(self.keys())
        if beside or lines is None or (quantity <= 0 and amount <= 0):
            return None
        return Least(quantity, amount * 10 ** (FINEST - 2), *lines)

    def missed(self, view: BasketView, quantity: int, amount: int, lines: tuple[int, ...]) -> Missed | None:
        if not lines:
            return NOT_IN_BASKET
        found: Missed | None = None
        wanted = self.min_quantity_thousandths
        if 0 < wanted > quantity:
            found = Missed("QUANTITY_TOO_LOW", (), "", "ITEM_QUANTITY", quantity, wanted, True, lines)
        if self.min_amount_hundredths > 0:
            worth = threshold_minor(self.min_amount_hundredths, view.exponent)
            # Of two shortfalls the greater one is reported: closing the lesser alone would change nothing.
            if amount < worth and (found is None or amount * wanted < quantity * worth):
                found = Missed("AMOUNT_TOO_LOW", (), "", "RECEIPT_AMOUNT", amount, worth, False, lines)
        return found

    def _measure(self, view: BasketView, lines: tuple[int, ...]) -> Verdict:
        quantity = sum([view.lines[position].quantity_thousandths for position in lines])
        amount = sum([view.lines[position].total_minor for position in lines])
        missed = self.missed(view, quantity, amount, lines)
        if missed is not None:
            return missed
        triggers: list[Trigger] = []
        if self.min_quantity_thousandths > 0:
            triggers.append(Trigger(lines, True, self.min_quantity_thousandths, quantity))
        if self.min_amount_hundredths > 0:
            worth = threshold_minor(self.min_amount_hundredths, view.exponent)
            triggers.append(Trigger(lines, False, worth, amount))
        return Met(lines, tuple(triggers))


def minima(row: ConditionRow) -> tuple[int, int]:
    """minQuantity and minAmount of a row, 0 where not set."""
    return row.min_quantity_thousandths or 0, row.min_amount_hundredths or 0


def shown(names: tuple[str, ...]) -> str:
    """The first few names, as a shopper reads them."""
    return " or ".join(names[:5]) + (" ..." if len(names) > 5 else "")


def required(target: str, row: ConditionRow) -> DefinitionError:
    """The error for a condition that names nothing."""
    return DefinitionError(
        target, "VALUE_REQUIRED", f"A {row.condition_type} condition must say which values it is about."
    )


def named_or_test(
    named: list[str], row: ConditionRow, target: str, *, also: bool = False
) -> tuple[tuple[str, ...], TextTest | None]:
    """The names in the named fields, else in value and value list; a test instead where the operator is another one.

    ``also``: something else already names lines, so no name is needed.
    """
    if named:
        return tuple(dict.fromkeys(named)), None
    if also:
        return (), None
    if not row.value and not row.values:
        raise required(target, row)
    test = TextTest.parse(row)
    if test.operator == "EQUALS":
        return tuple(dict.fromkeys(test.texts)), None
    return (), test


@dataclass(frozen=True, slots=True)
class ArticleLines(NamedLines):
    """Lines of certain articles, by article number or EAN."""

    names_lines: ClassVar[bool] = True

    numbers: tuple[str, ...]
    eans: tuple[str, ...]
    test: TextTest | None
    number_set: frozenset[str]
    ean_set: frozenset[str]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        named = [row.article_number] if row.article_number else []
        named += [item.article_number for item in row.articles if item.article_number]
        eans = tuple(dict.fromkeys([item.ean for item in row.articles if item.ean]))
        numbers, test = named_or_test(named, row, "articleNumber", also=bool(eans))
        return cls(*minima(row), numbers, eans, test, frozenset(numbers), frozenset(eans))

    def matching(self, view: BasketView) -> tuple[int, ...]:
        if self.test is not None:
            holds = self.test.holds
            return tuple([position for position in view.sale if holds(view.lines[position].article_number)])
        found = positions_of(view.by_article, self.numbers, self.number_set) if self.numbers else ()
        if not self.eans:
            return found
        by_ean = positions_of(view.by_ean, self.eans, self.ean_set)
        return tuple(sorted({*found, *by_ean})) if found else by_ean

    def keys(self) -> tuple[IndexKey, ...] | None:
        if self.test is not None:
            return None
        return tuple([("article", one) for one in self.numbers] + [("ean", one) for one in self.eans])

    def needs(self) -> str:
        return f"article {shown(self.numbers + self.eans) if self.test is None else self.test.phrase()}"


@condition(
    "ARTICLE",
    Form(
        family="basket",
        icon="product",
        fields=("articleNumber", *MINIMA),
        also=("articleListItems", *TESTED),
        needs=(("articleNumber", "articleListItems", "values"),),
    ),
)
@dataclass(frozen=True, slots=True)
class Article(ArticleLines):
    """Certain articles are in the basket."""


@condition(
    "ARTICLE_LIST",
    Form(
        family="basket",
        icon="list",
        fields=("articleListItems", *MINIMA),
        also=("articleNumber", *TESTED),
        needs=(("articleListItems", "articleNumber", "values"),),
    ),
)
@dataclass(frozen=True, slots=True)
class ArticleList(ArticleLines):
    """Articles of a list are in the basket; a list item names an article number, an EAN, or either."""


@condition(
    "ARTICLE_GROUP",
    Form(
        family="basket",
        icon="group-2",
        fields=("articleGroupId", "includeSubGroups", *MINIMA),
        also=TESTED,
        needs=(("articleGroupId", "values"),),
        begin=(("includeSubGroups", True),),
    ),
)
@dataclass(frozen=True, slots=True)
class ArticleGroup(NamedLines):
    """Articles of a group are in the basket, with includeSubGroups also those of the groups below it."""

    names_lines: ClassVar[bool] = True

    groups: tuple[str, ...]
    include_sub_groups: bool
    test: TextTest | None
    group_set: frozenset[str]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        named = [row.article_group_id] if row.article_group_id else []
        groups, test = named_or_test(named, row, "articleGroupId")
        return cls(*minima(row), groups, row.include_sub_groups, test, frozenset(groups))

    def matching(self, view: BasketView) -> tuple[int, ...]:
        if self.test is None:
            index = view.by_tree if self.include_sub_groups else view.by_group
            return positions_of(index, self.groups, self.group_set)
        holds, depth = self.test.holds, None if self.include_sub_groups else 1
        return tuple([place for place in view.sale if any(map(holds, view.lines[place].group_path[:depth]))])

    def keys(self) -> tuple[IndexKey, ...] | None:
        if self.test is not None:
            return None
        kind = "tree" if self.include_sub_groups else "group"
        return tuple([(kind, group) for group in self.groups])

    def needs(self) -> str:
        return f"article group {shown(self.groups) if self.test is None else self.test.phrase()}"


@condition(
    "MANUFACTURER",
    Form(
        family="basket",
        icon="factory",
        fields=("manufacturer", *MINIMA),
        also=TESTED,
        needs=(("manufacturer", "values"),),
    ),
)
@dataclass(frozen=True, slots=True)
class Manufacturer(NamedLines):
    """Articles of a manufacturer are in the basket."""

    names_lines: ClassVar[bool] = True

    names: tuple[str, ...]
    test: TextTest | None
    name_set: frozenset[str]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        names, test = named_or_test([row.manufacturer] if row.manufacturer else [], row, "manufacturer")
        return cls(*minima(row), names, test, frozenset(names))

    def matching(self, view: BasketView) -> tuple[int, ...]:
        if self.test is None:
            return positions_of(view.by_manufacturer, self.names, self.name_set)
        holds = self.test.holds
        return tuple([place for place in view.sale if holds(view.lines[place].manufacturer_id or "")])

    def keys(self) -> tuple[IndexKey, ...] | None:
        return None if self.test is not None else tuple([("manufacturer", name) for name in self.names])

    def needs(self) -> str:
        return f"manufacturer {shown(self.names) if self.test is None else self.test.phrase()}"

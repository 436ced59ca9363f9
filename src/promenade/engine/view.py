"""The basket as conditions and benefits see it: effective master data, positions, inverted maps.

Built once per evaluation. Everything that only some promotions need (maps, local time, field dictionaries) is
built on first use, so that a basket that nothing matches costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from promenade.engine.basket import ArticleFact, Basket, BasketLine, Customer, Payment, Settings
from promenade.engine.money import line_total_minor, minor_digits

DEFAULT_UNIT = "PCE"

# UN/ECE Recommendation 20 codes of mass, volume, length and area that goods are sold by, and the everyday
# abbreviations that master data carries instead. An article in one of them is weighed or measured, not counted.
# fmt: off
_MEASURES = frozenset((
    "KGM", "GRM", "MGM", "DTN", "TNE", "LBR", "ONZ", "STN",
    "LTR", "MLT", "CLT", "DLT", "HLT", "ONL", "GLL", "GLI", "PTI", "PTL", "QTL", "QTI", "OZA", "OZI",
    "MTQ", "CMQ", "DMQ", "FTQ", "INQ", "YDQ",
    "MTR", "CMT", "MMT", "DMT", "KMT", "FOT", "INH", "YRD",
    "MTK", "CMK", "DMK", "MMK", "FTK", "INK", "YDK",
    "KG", "G", "GR", "MG", "T", "LB", "OZ", "L", "ML", "CL", "DL", "HL", "M", "CM",
    "MM", "M2", "M3",
))
# fmt: on

_NO_PATH: tuple[str, ...] = ()


# All spellings are listed, so that the hot path need not fold case.
_MEASURED_UNITS = _MEASURES.union([unit.lower() for unit in _MEASURES], [unit.capitalize() for unit in _MEASURES])


def is_measure(unit: str) -> bool:
    """Whether a unit of measure code means weighing or measuring rather than counting."""
    return unit in _MEASURED_UNITS


class GroupTree(NamedTuple):
    """The parent of each article group, and why goods of some groups, and of those below them, are never discounted."""

    parents: Mapping[str, str | None]
    barred: Mapping[str, str] = {}


NO_GROUPS = GroupTree({})


class ArticleGroups:
    """The article group tree: for each group the path from itself up to its root.

    A cycle in the data ends the path instead of looping; unknown groups are roots of their own. ``barred``: groups
    whose goods, and those of all groups below, are never discounted, each with the reason.
    """

    __slots__ = ("_parents", "_paths", "barred")

    def __init__(
        self, parents: Mapping[str, str | None] | None = None, barred: Mapping[str, str] | None = None
    ) -> None:
        self._parents: Mapping[str, str | None] = {} if parents is None else dict(parents)
        self._paths: dict[str, tuple[str, ...]] = {}
        self.barred: Mapping[str, str] = {} if barred is None else dict(barred)

    def why_barred(self, group_id: str | None, article: ArticleFact | None = None) -> str | None:
        """Why goods are never discounted, by the article or the nearest group that says so; None: they may be."""
        if article is not None and article.never_discounted is not None:
            return article.never_discounted
        if not self.barred or not group_id:
            return None
        return next((self.barred[group] for group in self.path(group_id) if group in self.barred), None)

    def path(self, group_id: str) -> tuple[str, ...]:
        """The group and all its ancestors, nearest first."""
        found = self._paths.get(group_id)
        if found is None:
            steps = [group_id]
            parent = self._parents.get(group_id)
            while parent is not None and parent not in steps:
                steps.append(parent)
                parent = self._parents.get(parent)
            found = tuple(steps)
            if group_id in self._parents:
                # Only known groups are cached: requests may carry any text as a group.
                self._paths[group_id] = found
        return found


class LineView:
    """One basket line with its effective master data. Never changed after it is made.

    ``units`` is the count of pieces a benefit may choose from: 1 when weighed, 0 on a return line. ``total_minor``
    is below zero on a return line. ``article_group_id`` and ``manufacturer_id`` are effective (section 3): the
    line's own, else the article's.
    """

    __slots__ = (
        "article",
        "article_group_id",
        "article_number",
        "ean",
        "groups",
        "is_sale",
        "line",
        "manufacturer_id",
        "position",
        "quantity_thousandths",
        "total_minor",
        "unit_price_hundredths",
        "units",
        "weighed",
    )

    def __init__(
        self, position: int, line: BasketLine, article: ArticleFact | None, groups: ArticleGroups, exponent: int
    ) -> None:
        self.position = position
        self.line = line
        self.article = article
        self.article_number = line.article_number
        quantity = line.quantity_thousandths
        price = line.unit_price_hundredths
        self.quantity_thousandths = quantity
        self.unit_price_hundredths = price
        ean, group, manufacturer, unit = line.ean, line.article_group_id, line.manufacturer_id, None
        if article is not None:
            ean = ean or article.ean
            group = group or article.article_group_id
            manufacturer = manufacturer or article.manufacturer_id
            unit = article.unit
        self.ean = ean
        self.article_group_id = group
        self.groups = groups
        self.manufacturer_id = manufacturer
        if quantity > 0 and price >= 0 and exponent == 2:  # most lines: `line_total_minor` without its cases
            self.total_minor = (price * quantity + 500) // 1000
        else:
            self.total_minor = line_total_minor(price, quantity, exponent)
        self.is_sale = quantity > 0
        # A fraction of something counted in pieces cannot be divided into pieces either: it is one unit too.
        self.weighed = quantity % 1000 != 0 or (unit is not None and unit in _MEASURED_UNITS)
        self.units = 0 if quantity <= 0 else 1 if self.weighed else quantity // 1000

    @property
    def barred(self) -> str | None:
        """Why it is never discounted; None: it may be."""
        return self.groups.why_barred(self.article_group_id, self.article)

    @property
    def reduction_hundredths(self) -> int:
        """By how much the till has reduced the price of a unit already: the regular price is so much higher."""
        regular = self.line.regular_price_hundredths
        return 0 if regular is None else max(0, regular - self.unit_price_hundredths)

    def as_unsold(self) -> LineView:
        """The same line for a promotion that it does not count for: as if it were not sold."""
        other = object.__new__(LineView)
        for name in LineView.__slots__:
            setattr(other, name, getattr(self, name))
        other.is_sale = False
        return other

    @property
    def reference(self) -> str:
        return self.line.reference

    @property
    def group_path(self) -> tuple[str, ...]:
        """The effective article group and all its ancestors, nearest first; empty without a group."""
        group = self.article_group_id
        return self.groups.path(group) if group else _NO_PATH

    @property
    def unit(self) -> str:
        """The unit of measure shown: the article's, else PCE."""
        return (self.article.unit if self.article is not None else None) or DEFAULT_UNIT

    @property
    def fields(self) -> dict[str, str]:
        """additionalFields; of a repeated key the last one counts."""
        return dict(self.line.fields)


class Held(dict[str, tuple[int, int, tuple[int, ...]]]):
    """Quantity (thousandths), original amount (minor units) and positions of the lines under a name.

    They are added up when they are first asked for.
    """

    __slots__ = ("_lines", "places")

    def __init__(self, lines: Sequence[LineView], places: Mapping[str, Sequence[int]]) -> None:
        super().__init__()
        self._lines = lines
        self.places = places

    def __missing__(self, name: str) -> tuple[int, int, tuple[int, ...]]:
        quantity = amount = 0
        positions = self.places.get(name, ())
        for place in positions:
            line = self._lines[place]
            quantity += line.quantity_thousandths
            amount += line.total_minor
        found = self[name] = quantity, amount, tuple(positions)
        return found


_NONE: frozenset[int] = frozenset()


def _lines_of(
    basket: Basket,
    articles: Mapping[str, ArticleFact],
    articles_by_ean: Mapping[str, ArticleFact],
    groups: ArticleGroups,
    exponent: int,
) -> tuple[list[LineView], bool]:
    """The lines, and whether any may be never discounted."""
    lines: list[LineView] = []
    has_barred = bool(groups.barred)
    for position, line in enumerate(basket.lines):
        article = articles.get(line.article_number)
        if article is None and line.ean:
            article = articles_by_ean.get(line.ean)
        if article is not None and article.never_discounted is not None:
            has_barred = True
        lines.append(LineView(position, line, article, groups, exponent))
    return lines, has_barred


class BasketView:
    """Basket + article facts + article group tree, as conditions and benefits read it.

    ``basket`` is the request as sent; ``lines`` are what is priced, which `with_lines` may have changed. ``apart`` are
    the lines that no article-level benefit touches: goods of an amount that is only supposed (section 10). ``barred``
    are the sale lines that no benefit touches: goods that are never discounted (section 6).
    """

    __slots__ = (
        "_articles",
        "_articles_by_ean",
        "_by_article",
        "_by_ean",
        "_by_group",
        "_by_manufacturer",
        "_by_tree",
        "_groups",
        "_held",
        "_local_time",
        "_local_time_known",
        "_user_fields",
        "apart",
        "barred",
        "basket",
        "currency",
        "exponent",
        "lines",
        "others",
        "pos_group_id",
        "resolved",
        "sale",
        "sale_quantity_thousandths",
        "sale_total_minor",
        "settings",
    )

    def __init__(
        self,
        basket: Basket,
        articles: Mapping[str, ArticleFact],
        articles_by_ean: Mapping[str, ArticleFact],
        groups: ArticleGroups,
        settings: Settings,
        lines: list[LineView] | None = None,
    ) -> None:
        self.basket = basket
        self.settings = settings
        self._articles = articles
        self._articles_by_ean = articles_by_ean
        self._groups = groups
        pos_group = basket.pos_group
        self.pos_group_id = pos_group.id
        self.currency = pos_group.currency
        exponent = minor_digits(pos_group.currency)
        self.exponent = exponent
        if lines is None:
            lines, has_barred = _lines_of(basket, articles, articles_by_ean, groups, exponent)
        else:
            has_barred = bool([one for one in lines if one.barred is not None])
        sale: list[int] = []
        total = 0
        quantity = 0
        for seen in lines:
            if seen.is_sale:
                sale.append(seen.position)
                total += seen.total_minor
                quantity += seen.quantity_thousandths
        self.lines: tuple[LineView, ...] = tuple(lines)
        self.sale: tuple[int, ...] = tuple(sale)
        self.sale_total_minor = total
        self.sale_quantity_thousandths = quantity
        self._by_article: dict[str, list[int]] | None = None
        self._by_ean: dict[str, list[int]] | None = None
        self._by_group: dict[str, list[int]] | None = None
        self._by_tree: dict[str, list[int]] | None = None
        self._by_manufacturer: dict[str, list[int]] | None = None
        self._held: dict[str, Held] = {}
        self._user_fields: dict[str, str] | None = None
        self.others: dict[object, BasketView] = {}  # the sale without lines: by these, or by whom they do not count for
        self.apart: frozenset[int] = frozenset()
        self.barred: frozenset[int] = _NONE
        if has_barred:
            self.barred = frozenset([position for position in sale if lines[position].barred is not None])
        self.resolved: dict[object, tuple[int, ...]] = {}  # the lines of what benefits have asked for: see `Targets`
        self._local_time: datetime | None = None
        self._local_time_known = False

    def with_lines(self, changed: Mapping[int, BasketLine], added: Sequence[BasketLine], apart: int = 0) -> BasketView:
        """The same sale with other quantities or prices on some lines, and more lines at its end.

        The last ``apart`` of them are goods that no article-level benefit touches.
        """
        lines = list(self.lines)
        for position, line in changed.items():
            lines[position] = LineView(position, line, lines[position].article, self._groups, self.exponent)
        for line in added:
            article = self._articles.get(line.article_number) or self._articles_by_ean.get(line.ean or "")
            lines.append(LineView(len(lines), line, article, self._groups, self.exponent))
        other = BasketView(self.basket, self._articles, self._articles_by_ean, self._groups, self.settings, lines)
        if not added:
            other._by_article = self._by_article
            other._by_ean = self._by_ean
            other._by_group = self._by_group
            other._by_tree = self._by_tree
            other._by_manufacturer = self._by_manufacturer
        if apart:
            other.apart = frozenset(range(len(lines) - apart, len(lines)))
        return other

    def without(self, positions: frozenset[int]) -> BasketView:
        """The sale as a promotion sees it that these lines do not count for: they stay in their places, unsold."""
        if not positions:
            return self
        found = self.others.get(positions)
        if found is None:
            lines = [line.as_unsold() if line.position in positions else line for line in self.lines]
            found = BasketView(self.basket, self._articles, self._articles_by_ean, self._groups, self.settings, lines)
            found.apart = self.apart
            self.others[positions] = found
        return found

    @property
    def usual(self) -> BasketView:
        """The sale as most promotions see it: those that neither say themselves what counts nor exclude anything."""
        return self if self.settings.barred_counts else self.without(self.barred)

    def why_barred(self, article: ArticleFact) -> str | None:
        """Why an article is never discounted, whether it is in the basket or not; None: it may be."""
        return self._groups.why_barred(article.article_group_id, article)

    def with_payment(self, payment: Payment) -> BasketView:
        """The same sale paid otherwise."""
        basket = replace(self.basket, payment=payment)
        return BasketView(basket, self._articles, self._articles_by_ean, self._groups, self.settings, list(self.lines))

    # Inverted maps: positions of sale lines, in basket order. They are spelled out one by one, because most keys occur
    # once: with `setdefault` or a `defaultdict`, a basket that nothing applies to takes a tenth longer.

    @property
    def by_article(self) -> dict[str, list[int]]:
        """Sale positions by article number."""
        found = self._by_article
        if found is None:
            found = self._by_article = {}
            for line in self.lines:
                if line.is_sale:
                    number = line.article_number
                    if number in found:
                        found[number].append(line.position)
                    else:
                        found[number] = [line.position]
        return found

    @property
    def by_ean(self) -> dict[str, list[int]]:
        """Sale positions by EAN (the line's, else the article's)."""
        found = self._by_ean
        if found is None:
            found = self._by_ean = {}
            for line in self.lines:
                ean = line.ean
                if ean and line.is_sale:
                    if ean in found:
                        found[ean].append(line.position)
                    else:
                        found[ean] = [line.position]
        return found

    @property
    def by_group(self) -> dict[str, list[int]]:
        """Sale positions by exactly their article group."""
        found = self._by_group
        if found is None:
            found = self._by_group = {}
            for line in self.lines:
                group = line.article_group_id
                if group and line.is_sale:
                    if group in found:
                        found[group].append(line.position)
                    else:
                        found[group] = [line.position]
        return found

    @property
    def by_tree(self) -> dict[str, list[int]]:
        """Sale positions by their article group and by each of its ancestors."""
        found = self._by_tree
        if found is None:
            found = self._by_tree = {}
            path = self._groups.path
            for line in self.lines:
                if line.article_group_id and line.is_sale:
                    for group in path(line.article_group_id):
                        if group in found:
                            found[group].append(line.position)
                        else:
                            found[group] = [line.position]
        return found

    @property
    def by_manufacturer(self) -> dict[str, list[int]]:
        """Sale positions by manufacturer."""
        found = self._by_manufacturer
        if found is None:
            found = self._by_manufacturer = {}
            for line in self.lines:
                manufacturer = line.manufacturer_id
                if manufacturer and line.is_sale:
                    if manufacturer in found:
                        found[manufacturer].append(line.position)
                    else:
                        found[manufacturer] = [line.position]
        return found

    def held(self, kind: str) -> Held:
        """What the sale lines under each key of a kind of index keys hold.

        Of the kinds ``article``, ``ean``, ``group`` and ``manufacturer`` a line has one key at most, of ``tree`` some.
        """
        found = self._held.get(kind)
        if found is None:
            found = self._held[kind] = Held(self.lines, self.places(kind))
        return found

    def places(self, kind: str) -> dict[str, list[int]]:
        """Positions of sale lines under each key of a kind of index keys, as in `held`."""
        if kind == "article":
            return self.by_article
        if kind == "ean":
            return self.by_ean
        if kind == "group":
            return self.by_group
        return self.by_tree if kind == "tree" else self.by_manufacturer

    def article(self, number: str) -> ArticleFact | None:
        """The master data of an article, if it is known."""
        return self._articles.get(number)

    @property
    def customer(self) -> Customer | None:
        return self.basket.customer

    @property
    def payment(self) -> Payment | None:
        return self.basket.payment

    @property
    def channel(self) -> str | None:
        return self.basket.channel

    @property
    def coupons(self) -> tuple[str, ...]:
        """Coupon codes in the order presented."""
        return self.basket.coupons

    @property
    def user_fields(self) -> dict[str, str]:
        """userDefinedFields; of a repeated key the last counts."""
        found = self._user_fields
        if found is None:
            found = self._user_fields = dict(self.basket.user_fields)
        return found

    @property
    def local_time(self) -> datetime | None:
        """The evaluation's time on the POS group's clock; None when its time zone is unknown."""
        if not self._local_time_known:
            self._local_time_known = True
            try:
                self._local_time = self.settings.now.astimezone(ZoneInfo(self.basket.pos_group.time_zone))
            except (ZoneInfoNotFoundError, ValueError, OSError):
                self._local_time = None
        return self._local_time

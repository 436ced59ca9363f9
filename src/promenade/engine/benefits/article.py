"""ARTICLE, ARTICLE_GROUP, ARTICLE_LIST: a discount on each chosen unit (section 6)."""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.choice import Choice, Chosen, choice_of
from promenade.engine.benefits.fields import discount_of, maximum_of
from promenade.engine.benefits.per_unit import PerUnit, book_offers, discount_unless
from promenade.engine.benefits.registry import ARTICLE_LEVEL, IndexKey, Terms, benefit
from promenade.engine.benefits.targets import Targets, targets_of_action
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import ALL_KINDS_OF_DISCOUNT, Form
from promenade.engine.turn import Turn
from promenade.engine.verdict import Missed

_MORE = ("selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions")


@benefit(
    ARTICLE=Form(
        family="articles",
        icon="product",
        discount_types=ALL_KINDS_OF_DISCOUNT,
        fields=("discountType", "discountValue", "targetArticleNumber"),
        more=_MORE,
        also=("targetArticleGroupId", "includeSubGroups", "targetArticleList", "articleListItems"),
        needs=(("discountType",), ("discountValue",)),
    ),
    ARTICLE_GROUP=Form(
        family="articles",
        icon="group-2",
        discount_types=ALL_KINDS_OF_DISCOUNT,
        fields=("discountType", "discountValue", "targetArticleGroupId", "includeSubGroups"),
        more=_MORE,
        also=("targetArticleNumber", "targetArticleList", "articleListItems"),
        needs=(("discountType",), ("discountValue",)),
        begin=(("includeSubGroups", True),),
    ),
    ARTICLE_LIST=Form(
        family="articles",
        icon="list",
        discount_types=ALL_KINDS_OF_DISCOUNT,
        fields=("discountType", "discountValue", "articleListItems"),
        more=_MORE,
        also=("targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "targetArticleList"),
        needs=(("discountType",), ("discountValue",), ("articleListItems",)),
    ),
)
class ArticleDiscount:
    """PERCENTAGE or ABSOLUTE off each chosen unit, or a UNIT_PRICE it ends at; list items may carry a fixed price."""

    __slots__ = ("choice", "discount", "fixed", "fixed_by_ean", "maximum", "plain", "target")
    code: ClassVar[str] = "ARTICLE"
    stage: ClassVar[int] = ARTICLE_LEVEL

    def __init__(
        self,
        target: Targets,
        choice: Choice,
        discount: PerUnit | None,
        fixed: dict[str, PerUnit],
        fixed_by_ean: dict[str, PerUnit],
        maximum: int | None,
    ) -> None:
        self.target = target
        self.choice = choice
        self.discount = discount  # None: only items with a fixed price are discounted
        self.fixed = fixed
        self.fixed_by_ean = fixed_by_ean
        self.maximum = maximum
        self.plain = discount is not None and choice.is_all and maximum is None and not fixed and not fixed_by_ean

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without a discount, unless every list item has a fixed price."""
        target = targets_of_action(row, is_by_unit=True)
        if row.action_type == "ARTICLE_LIST" and not row.articles:
            raise DefinitionError("articleListItems", "NO_ARTICLES", "An article list needs articles.")
        fixed: dict[str, PerUnit] = {}
        fixed_by_ean: dict[str, PerUnit] = {}
        for number, item in enumerate(row.articles, start=1):
            price = item.fixed_price_hundredths
            if price is None:
                continue
            if price < 0:
                raise DefinitionError(
                    f"articleListItems({number})/fixedPrice", "OUT_OF_RANGE", "A fixed price must not be below zero."
                )
            if item.article_number:
                fixed[item.article_number] = PerUnit("UNIT_PRICE", price, terms)
            if item.ean:
                fixed_by_ean[item.ean] = PerUnit("UNIT_PRICE", price, terms)
        discount: PerUnit | None = None
        all_fixed = bool(row.articles) and all(item.fixed_price_hundredths is not None for item in row.articles)
        if row.discount_value_hundredths is not None or not all_fixed:
            kind, value = discount_of(row.discount_type, row.discount_value_hundredths, ALL_KINDS_OF_DISCOUNT)
            discount = discount_unless(kind, value, terms, target.exclusions)
        return cls(target, choice_of(row), discount, fixed, fixed_by_ean, maximum_of(row.max_discount_hundredths))

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.target.keys()

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return self.target.resolve(turn.view, turn.lines)

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def book(self, turn: Turn) -> None:
        positions = self.target.resolve(turn.view, turn.lines)
        discount = self.discount
        if self.plain and discount is not None:
            discount.book_all(turn, positions)
            return
        chosen = self.choice.choose(turn, positions)
        if discount is not None and not self.fixed and not self.fixed_by_ean:
            discount.book(turn, chosen, self.maximum)
            return
        offers: list[tuple[PerUnit, Chosen]] = []
        for one in chosen:
            line = turn.view.lines[one[0]]
            offer = self.fixed.get(line.article_number)
            if offer is None and line.ean:
                offer = self.fixed_by_ean.get(line.ean)
            offer = offer or discount
            if offer is not None:
                offers.append((offer, one))
        book_offers(turn, offers, self.maximum)

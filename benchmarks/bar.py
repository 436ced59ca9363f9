"""A fair baseline: sixty lines with dicts that price stacking discounts and do nothing else.

No verdicts, advice, exclusivity, units, distribution, caps, budgets, pilots, currencies or replay. What the engine
costs beyond this is the price of all its features.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from promenade.engine.basket import Basket
from promenade.engine.definition import PromotionDefinition

Rule = tuple[int, str, bool, int]


class Bar:
    """Promotions indexed by the value of their one condition."""

    def __init__(self, promotions: Iterable[PromotionDefinition]) -> None:
        self._by_article: dict[str, list[Rule]] = defaultdict(list)
        self._by_group: dict[str, list[Rule]] = defaultdict(list)
        self._by_manufacturer: dict[str, list[Rule]] = defaultdict(list)
        for promotion in promotions:
            condition, action = promotion.conditions[0], promotion.actions[0]
            rule = (
                promotion.priority,
                promotion.id,
                action.discount_type == "PERCENTAGE",
                action.discount_value_hundredths or 0,
            )
            index = {"ARTICLE": self._by_article, "ARTICLE_GROUP": self._by_group}
            for value in condition.values:
                index.get(condition.condition_type, self._by_manufacturer)[value].append(rule)

    def price(self, basket: Basket) -> tuple[int, list[tuple[int, list[tuple[str, int]]]]]:
        """Return the total, and per line its net and discounts, in cents."""
        total = 0
        lines = []
        for line in basket.lines:
            rules = [
                *self._by_article.get(line.article_number, ()),
                *self._by_group.get(line.article_group_id or "", ()),
                *self._by_manufacturer.get(line.manufacturer_id or "", ()),
            ]
            rules.sort()
            gross = (2 * line.unit_price_hundredths * line.quantity_thousandths + 1_000) // 2_000
            left = gross
            discounts = []
            for _, promotion, is_percentage, value in rules:
                amount = (2 * gross * value + 10_000) // 20_000 if is_percentage else value
                amount = min(left, amount)
                if amount > 0:
                    left -= amount
                    discounts.append((promotion, amount))
            total += left
            lines.append((left, discounts))
        return total, lines


Threshold = tuple[int, int, bool, int, int, int]


class ThresholdBar:
    """The same for promotions that ask for a quantity or an amount: a plain loop over what the lines lead to."""

    def __init__(self, promotions: Iterable[PromotionDefinition]) -> None:
        self._by_key: dict[str, list[Threshold]] = defaultdict(list)
        for number, promotion in enumerate(promotions):
            condition, action = promotion.conditions[0], promotion.actions[0]
            rule = (
                promotion.priority,
                number,
                action.discount_type == "PERCENTAGE",
                action.discount_value_hundredths or 0,
                condition.min_quantity_thousandths or 0,
                condition.min_amount_hundredths or 0,
            )
            for value in condition.values:
                self._by_key[value].append(rule)

    def price(self, basket: Basket) -> tuple[int, list[tuple[int, int]]]:
        """Return what is left of each line, in cents, and the discounts in their order."""
        found: dict[int, tuple[Threshold, list[int]]] = {}
        left = []
        for place, line in enumerate(basket.lines):
            left.append(line.unit_price_hundredths * line.quantity_thousandths // 1_000)
            for key in (line.article_number, line.article_group_id, line.manufacturer_id):
                for rule in self._by_key.get(key or "", ()):
                    known = found.get(rule[1])
                    if known is None:
                        found[rule[1]] = (rule, [place])
                    else:
                        known[1].append(place)
        gross = left.copy()
        discounts = []
        quantities = [line.quantity_thousandths for line in basket.lines]
        for (_, number, is_percentage, value, quantity, amount), places in sorted(found.values()):
            if sum([quantities[place] for place in places]) < quantity:
                continue
            if sum([gross[place] for place in places]) < amount:
                continue
            for place in places:
                off = min(left[place], (2 * gross[place] * value + 10_000) // 20_000 if is_percentage else value)
                left[place] -= off
                discounts.append((number, off))
        return sum(left), discounts

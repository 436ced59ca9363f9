"""A promise comes true: whoever buys what a promise names saves exactly so much more (section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from promenade.engine.basket import FIRST_RULES, ArticleFact, Basket, BasketLine, CouponFact, Facts, Payment, Settings
from promenade.engine.catalogue import Catalogue, RecordedCatalogue, definition_hash
from promenade.engine.definition import ExclusionRow, PromotionDefinition
from promenade.engine.evaluation import evaluate
from promenade.engine.money import minor_digits
from promenade.engine.outcome import Addition, MissedPromotion, Outcome
from tests.engine.near_misses import TREE, catalogue_rows, circumstances, sale
from tests.kit.examples import examples

APART = "goods that no article-level promotion touches"
ON_THE_SUM = ("RECEIPT", "SCALED_RECEIPT")


def catalogue_of(
    definitions: Iterable[PromotionDefinition],
    kind: type[Catalogue] = Catalogue,
    barred_groups: Mapping[str, str] | None = None,
) -> Catalogue:
    catalogue = kind(TREE, barred_groups)
    assert not catalogue.compile_all(definitions)
    return catalogue


def saved(outcome: Outcome) -> int:
    return outcome.discount_minor + sum([one.give_away_minor for one in outcome.applied])


class Sale:
    """One sale and what is told about it, to be tried otherwise."""

    def __init__(
        self,
        definitions: list[PromotionDefinition],
        basket: Basket,
        facts: Facts,
        told: Settings,
        barred_groups: Mapping[str, str],
    ) -> None:
        self.definitions, self.basket, self.facts, self.told = definitions, basket, facts, told
        self.barred_groups = barred_groups
        self.outcome = self.again()

    def again(
        self,
        basket: Basket | None = None,
        definitions: list[PromotionDefinition] | None = None,
        facts: Facts | None = None,
    ) -> Outcome:
        """Price another sale with the same settings."""
        catalogue = catalogue_of(definitions or self.definitions, barred_groups=self.barred_groups)
        return evaluate(catalogue, basket or self.basket, facts or self.facts, self.told)

    def with_goods(self, additions: Iterable[Addition]) -> Outcome:
        """Buy what is named besides."""
        lines = list(self.basket.lines)
        for one in additions:
            if one.line_reference is not None:
                (place,) = [place for place, line in enumerate(lines) if line.reference == one.line_reference]
                more = lines[place].quantity_thousandths + one.quantity_thousandths
                lines[place] = replace(lines[place], quantity_thousandths=more)
            else:
                lines.append(
                    BasketLine(
                        str(len(lines) + 1),
                        one.article_number or "",
                        one.quantity_thousandths,
                        one.unit_price_hundredths,
                        article_group_id=one.article_group_id,
                        manufacturer_id=APART if one.is_amount else None,
                    )
                )
        return self.again(replace(self.basket, lines=tuple(lines)), [set_apart(one) for one in self.definitions])

    def can_set_apart(self, additions: Iterable[Addition]) -> bool:
        """Whether exclusions can keep article-level promotions from the goods: gifts know none, and goods that are
        excluded may not count.
        """
        counts = [
            self.told.excluded_counts if one.counts_excluded is None else one.counts_excluded
            for one in self.definitions
        ]
        if not all(counts) and any(one.is_amount for one in additions):
            return False
        gifts = {row.free_item_article_number for one in self.definitions for row in one.actions}
        return not any(one.is_amount and one.article_number in gifts for one in additions if one.article_number)


def set_apart(definition: PromotionDefinition) -> PromotionDefinition:
    row = ExclusionRow("MANUFACTURER", manufacturer=APART)
    actions = [
        one if one.action_type in ON_THE_SUM else replace(one, exclusions=(*one.exclusions, row))
        for one in definition.actions
    ]
    return replace(definition, actions=tuple(actions))


def applied(outcome: Outcome) -> set[str]:
    return {one.promotion_id for one in outcome.applied}


def given_by(promotion_id: str, outcome: Outcome) -> int:
    return sum([one.discount_minor for one in outcome.applied if one.promotion_id == promotion_id])


def check_goods(one: Sale, promotion_id: str, additions: tuple[Addition, ...], saving: int) -> None:
    assert saving > 0
    assert additions
    if not one.can_set_apart(additions):
        return
    bought = one.with_goods(additions)
    assert saved(bought) - saved(one.outcome) == saving
    assert promotion_id in applied(bought)
    less = a_step_less(one.basket, additions)
    is_random = any(row.selection_type == "RANDOM" for each in one.definitions for row in each.actions)
    if less is not None and not is_random and promotion_id not in applied(one.outcome):
        almost = one.with_goods(less)
        (row,) = [row for each in one.definitions if each.id == promotion_id for row in each.actions]
        if len(row.quantity_tiers or row.scaled_tiers) > 1:  # a lower tier may give a little where it gave nothing
            assert given_by(promotion_id, almost) < given_by(promotion_id, bought)
        else:
            assert promotion_id not in applied(almost)


def a_step_less(basket: Basket, additions: tuple[Addition, ...]) -> tuple[Addition, ...] | None:
    """The only addition, smaller by a piece or by the smallest amount."""
    if len(additions) != 1:
        return None
    (one,) = additions
    if one.is_amount:
        digits = minor_digits(basket.pos_group.currency)
        price = one.unit_price_hundredths - (100 if digits == 0 else 1)
        return (replace(one, unit_price_hundredths=price),) if price > 0 else ()
    if one.quantity_thousandths % 1000:
        return None
    left = one.quantity_thousandths - 1000
    return (replace(one, quantity_thousandths=left),) if left > 0 else ()


def check_missed(one: Sale, missed: MissedPromotion) -> None:
    params = dict(missed.params)
    if missed.remedy is not None:
        assert missed.without
        gone = [identity for identity, _ in missed.without]
        kept = [definition for definition in one.definitions if definition.id not in gone]
        without = one.again(definitions=kept)
        assert missed.promotion_id in applied(without)
        assert missed.difference_minor == saved(one.outcome) - saved(without)
    saving = missed.potential_saving_minor
    if saving is None:
        return
    assert saving > 0
    if missed.missing is not None:
        check_goods(one, missed.promotion_id, missed.missing, saving)
        return
    if "couponTypeId" in params:
        presented = (*one.facts.coupons, CouponFact("another", params["couponTypeId"], "Another", "another"))
        basket = replace(one.basket, coupons=tuple([fact.code for fact in presented]))
        brought = one.again(basket, facts=replace(one.facts, coupons=presented))
    else:
        old = one.basket.payment or Payment()
        payment = replace(old, payment_means=params["paymentMeans"])
        brought = one.again(replace(one.basket, payment=payment))
    assert saved(brought) - saved(one.outcome) == saving
    assert missed.promotion_id in applied(brought)


def drawn(seed: int) -> Sale:
    draw = Random(seed)
    basket = sale(draw)
    facts, told = circumstances(draw, basket)
    basket = replace(basket, coupons=tuple([one.code for one in facts.coupons]))
    rows = catalogue_rows(draw)
    return barred(draw, rows, basket, facts, told) if draw.random() < 0.3 else Sale(rows, basket, facts, told, {})


def barred(draw: Random, rows: list[PromotionDefinition], basket: Basket, facts: Facts, told: Settings) -> Sale:
    """The sale, where some goods are never discounted or do not count."""
    groups = draw.choice(({}, {}, {"fruit": "TOBACCO"}, {"food": "TOBACCO"}, {"bread": "DEPOSIT"}))
    name = draw.choice("ABCDEW")
    fact = replace(facts.articles.get(name, ArticleFact(name)), never_discounted="FIXED_PRICE")
    own = (None, True, False)
    rows = [replace(one, counts_barred=draw.choice(own), counts_excluded=draw.choice((None, True))) for one in rows]
    told = replace(told, barred_counts=draw.random() < 0.5, excluded_counts=draw.random() < 0.7)
    return Sale(rows, basket, replace(facts, articles={**facts.articles, name: fact}), told, groups)


@settings(max_examples=examples(1200, thorough=5000), deadline=None)
@given(st.integers(0, 2**32))
@example(137904)  # three pieces make the bundle, as another promotion takes less of each piece in a larger basket
def test_every_promise_and_every_remedy_comes_true(seed: int) -> None:
    one = drawn(seed)
    barred = [one.outcome.lines[place] for place, _ in one.outcome.never_discounted]
    assert not any(line.discount_minor for line in barred)
    told = [gap.missing for gap in one.outcome.gaps]
    told += [missed.missing for missed in one.outcome.missed if missed.potential_saving_minor is not None]
    named = [more for missing in told for more in missing or ()]
    never = {key for key, fact in one.facts.articles.items() if fact.never_discounted is not None}
    assert never.isdisjoint([more.article_number for more in named])
    assert not {more.line_reference for more in named} & {line.reference for line in barred}
    for gap in one.outcome.gaps:
        assert gap.missing is not None
        check_goods(one, gap.promotion_id, gap.missing, gap.potential_saving_minor)
    promised = {(gap.promotion_id, gap.potential_saving_minor, gap.missing) for gap in one.outcome.gaps}
    assert len({gap.promotion_id for gap in one.outcome.gaps}) == len(one.outcome.gaps)
    for nudge in one.outcome.nudges:
        assert (nudge.promotion_id, nudge.potential_saving_minor, nudge.missing) in promised
    for missed in one.outcome.missed:
        check_missed(one, missed)


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 2**32))
def test_advice_is_the_same_when_only_the_recorded_definitions_are_known(seed: int) -> None:
    one = drawn(seed)
    by_hash = {definition_hash(definition): definition for definition in one.definitions}
    named = [by_hash[key] for key in one.outcome.candidate_hashes]
    catalogue = catalogue_of(named, RecordedCatalogue, one.barred_groups)
    assert evaluate(catalogue, one.basket, one.facts, one.told) == one.outcome


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32))
def test_advice_of_the_first_rules_has_no_fields_that_were_added_since(seed: int) -> None:
    one = drawn(seed)
    first = evaluate(catalogue_of(one.definitions), one.basket, one.facts, replace(one.told, rules=FIRST_RULES))
    assert all(gap.missing is None for gap in first.gaps)
    assert all(nudge.missing is None for nudge in first.nudges)
    assert all(missed.missing is None and missed.without is None for missed in first.missed)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(("SEQUENTIAL", "BEST_DEAL")))
@example(21, False, "BEST_DEAL")  # something may be given away without any goods
def test_a_basket_without_goods_to_buy_gets_no_discount_and_no_promise(
    seed: int, has_returns: bool, strategy: str
) -> None:
    one = drawn(seed)
    returned = [replace(line, quantity_thousandths=-abs(line.quantity_thousandths)) for line in one.basket.lines]
    basket = replace(one.basket, lines=tuple(returned) if has_returns else ())
    told = replace(one.told, strategy=strategy)
    outcome = evaluate(catalogue_of(one.definitions), basket, one.facts, told)
    assert (outcome.discount_minor, outcome.gaps, outcome.nudges) == (0, (), ())
    assert all(missed.potential_saving_minor is None for missed in outcome.missed)

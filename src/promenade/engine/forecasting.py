"""Forecasting: price past sales again with one more promotion, and compare.

Pure, like the engine itself. A sale brings the basket, settings and facts that it was priced with, the promotions that
were candidates for it, and its outcome. A promotion that was no candidate then could have had no effect, so its price
with the tried promotion depends only on those and on the tried promotion.

The `Tally` carries the state from sale to sale: money left in the budgets of the tried promotion, and how often it has
applied. Two worlds run side by side: *with* the promotion and *without* it. A budget of the promotion that is also
charged by other promotions has a balance in each of them; both start from the same amount.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from promenade.engine.basket import ArticleFact, Basket, BudgetFact, Facts, Settings, UsageFact
from promenade.engine.catalogue import CompiledPromotion, RecordedCatalogue
from promenade.engine.definition import PromotionDefinition
from promenade.engine.evaluation import price, select
from promenade.engine.index import request_keys, sale_keys
from promenade.engine.outcome import AppliedPromotion, Outcome
from promenade.engine.promotion import RequestFacts, admitted
from promenade.engine.view import ArticleGroups, BasketView

_SHORT = frozenset(("BUDGET_EXHAUSTED", "BUDGET_INSUFFICIENT"))


def as_if_it_ran(definition: PromotionDefinition) -> PromotionDefinition:
    """The promotion as it is tried: ACTIVE, valid at any time, its campaign neither over nor cancelled.

    Everything else stays: conditions, actions, POS groups (the campaign's too), priority, exclusions, limits, budgets,
    coupon types, and where an experiment runs. A pilot is tried as if it ran everywhere.
    """
    return replace(
        definition, status="ACTIVE", valid_from=None, valid_to=None, campaign_window=None, campaign_cancelled=False
    )


@dataclass(frozen=True, slots=True)
class PricedSale:
    """A confirmed sale and everything its price depended on.

    ``candidates`` are the compiled promotions that it was priced with; ``customer_id`` is the rewarded customer, None:
    unknown; ``day`` is the day of the sale on the clock of its POS group.
    """

    basket: Basket
    settings: Settings
    facts: Facts
    groups: ArticleGroups
    candidates: Sequence[CompiledPromotion]
    outcome: Outcome
    customer_id: str | None
    day: date


@dataclass(slots=True)
class CurrencyTally:
    """Sums over the sales in one currency, in its minor units."""

    exponent: int
    baskets: int = 0
    affected: int = 0
    discount_minor: int = 0  # of the tried promotion
    give_away_minor: int = 0
    discount_without_minor: int = 0  # of all promotions
    discount_with_minor: int = 0
    net_without_minor: int = 0
    net_with_minor: int = 0


@dataclass(slots=True)
class BudgetTally:
    """A budget of the promotion, in minor units of the budget's currency, with the rest in each of the two worlds."""

    name: str
    currency: str
    before_minor: int
    left_with_minor: int
    left_without_minor: int
    consumed_minor: int = 0  # by the tried promotion
    others_minor: int = 0  # by the others, in the world with it
    limited: int = 0
    exhausted_on: date | None = None


@dataclass(slots=True)
class OtherTally:
    """What another promotion lost to the tried one, and gained by it, in minor units of one currency."""

    name: str
    exponent: int
    lost: int = 0
    gained: int = 0
    lost_minor: int = 0
    gained_minor: int = 0


@dataclass(slots=True)
class Tally:
    """Totals of the sales so far. ``others`` is by currency, then by promotion."""

    budgets: dict[str, BudgetTally]
    baskets: int = 0
    skipped: int = 0
    affected: int = 0
    applications: int = 0
    points: int = 0
    currencies: dict[str, CurrencyTally] = field(default_factory=dict)
    others: dict[str, dict[str, OtherTally]] = field(default_factory=dict)


class _Candidates(RecordedCatalogue):
    """A catalogue of only the promotions that one sale can have; each is checked, without an index."""

    __slots__ = ("_among",)

    def __init__(self) -> None:
        super().__init__()
        self._among: Sequence[CompiledPromotion] = ()

    def of(self, groups: ArticleGroups, among: Sequence[CompiledPromotion]) -> _Candidates:
        """The same catalogue with different promotions in it."""
        self.article_groups = groups
        self._among = among
        return self

    def candidates(
        self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings
    ) -> list[CompiledPromotion]:
        asker = RequestFacts(view, frozenset(coupon_type_ids))
        return admitted(self._among, asker)


class Forecaster:
    """Tries one promotion on sale after sale, in the order in which they were confirmed.

    ``gifts`` are the articles that the promotion may give free, by number: sales do not carry them. ``uses`` counts the
    sales to which the promotion applied, by customer; the caller makes sure that it covers the customers of the sales,
    and stores it.
    """

    __slots__ = ("_catalogue", "_gifts", "_is_limited", "_promotion", "_tally", "_uses")

    def __init__(
        self,
        promotion: CompiledPromotion,
        gifts: Mapping[str, ArticleFact],
        tally: Tally,
        uses: dict[str, int],
    ) -> None:
        self._promotion = promotion
        self._gifts = gifts
        self._tally = tally
        self._uses = uses
        self._catalogue = _Candidates()
        definition = promotion.definition
        self._is_limited = (
            definition.max_applications_total is not None or definition.max_applications_per_customer is not None
        )

    def replay(self, sale: PricedSale) -> None:
        """Price a sale without the promotion and with it, and add the difference to the tally."""
        others = [one for one in sale.candidates if one.id != self._promotion.id]
        shares = any(not self._tally.budgets.keys().isdisjoint(one.definition.budget_ids) for one in others)
        settings = replace(sale.settings, include_missed=False, nudges=False)  # advice changes no price
        without = sale.outcome
        if shares or len(others) < len(sale.candidates):
            without = self._priced(sale, settings, others, self._facts(sale, is_with=False))
        outcome = without
        tried = self._may_matter(sale, settings)
        if shares or tried:
            among = [*others, self._promotion] if tried else others
            outcome = self._priced(sale, settings, among, self._facts(sale, is_with=True))
        self._add(sale, without, outcome)

    def _may_matter(self, sale: PricedSale, settings: Settings) -> bool:
        """Whether the promotion is a candidate for the sale, and something in the basket leads to it."""
        facts, promotion = sale.facts, self._promotion
        view = BasketView(sale.basket, facts.articles, facts.articles_by_ean, sale.groups, settings)
        types = frozenset(
            one.coupon_type_id for one in facts.coupons if one.refusal is None and one.coupon_type_id is not None
        )
        if promotion.refusal(RequestFacts(view, types)) is not None:
            return False
        entries = promotion.entries
        if entries is None or promotion.definition.coupon_type_ids:
            return True
        return not sale_keys(view).union(request_keys(view)).isdisjoint(entries)

    def _facts(self, sale: PricedSale, *, is_with: bool) -> Facts:
        """The facts of the sale, except for what the promotion itself has used and left by now."""
        facts, promotion, tally = sale.facts, self._promotion, self._tally
        budgets, usage, articles = facts.budgets, facts.usage, facts.articles
        if tally.budgets:
            budgets = {**budgets, **{key: _balance(key, one, is_with) for key, one in tally.budgets.items()}}
        if self._is_limited and is_with:
            customer = sale.basket.customer
            known = None if customer is None else customer.customer_id
            usage = {**usage, promotion.id: UsageFact(tally.affected, 0 if known is None else self._uses.get(known, 0))}
        if self._gifts and is_with:
            articles = {**self._gifts, **articles}
        return Facts(articles, facts.articles_by_ean, facts.coupons, budgets, usage)

    def _priced(
        self, sale: PricedSale, settings: Settings, among: Sequence[CompiledPromotion], facts: Facts
    ) -> Outcome:
        catalogue = self._catalogue.of(sale.groups, among)
        selection = select(catalogue, sale.basket, facts.articles, facts.articles_by_ean, facts.coupons, settings)
        return price(selection, facts)

    def _add(self, sale: PricedSale, without: Outcome, outcome: Outcome) -> None:
        tally, currency = self._tally, outcome.currency
        own = next((one for one in outcome.applied if one.promotion_id == self._promotion.id), None)
        tally.baskets += 1
        sums = tally.currencies.get(currency)
        if sums is None:
            sums = tally.currencies[currency] = CurrencyTally(outcome.exponent)
        sums.baskets += 1
        sums.discount_without_minor += without.discount_minor
        sums.discount_with_minor += outcome.discount_minor
        sums.net_without_minor += without.grand_total_minor
        sums.net_with_minor += outcome.grand_total_minor
        if own is not None:
            tally.affected += 1
            tally.applications += own.applications
            tally.points += own.points
            sums.affected += 1
            sums.discount_minor += own.discount_minor
            sums.give_away_minor += own.give_away_minor
            if sale.customer_id is not None:
                self._uses[sale.customer_id] = self._uses.get(sale.customer_id, 0) + 1
        self._charge(sale, without, outcome)
        if outcome is not without:
            self._compare(without, outcome)

    def _charge(self, sale: PricedSale, without: Outcome, outcome: Outcome) -> None:
        """Charge each promotion's discount to the budgets, in both worlds, and record the day on which one runs out."""
        budgets = self._tally.budgets
        if not budgets:
            return
        for one, budget in _charges(without, budgets):
            budget.left_without_minor -= one.discount_minor
        for one, budget in _charges(outcome, budgets):
            budget.left_with_minor -= one.discount_minor
            if one.promotion_id == self._promotion.id:
                budget.consumed_minor += one.discount_minor
            else:
                budget.others_minor += one.discount_minor
            if budget.left_with_minor <= 0 and budget.exhausted_on is None:
                budget.exhausted_on = sale.day
        limited = [one for one in outcome.budget_limited if one.promotion_id == self._promotion.id]
        if limited and limited[0].reason in _SHORT:
            # The discount is charged to all of them alike, so the one with the least left was insufficient.
            mine = [one for one in budgets.values() if one.currency == outcome.currency]
            least = min(mine, key=_left)
            least.limited += 1
            if least.exhausted_on is None:
                least.exhausted_on = sale.day

    def _compare(self, without: Outcome, outcome: Outcome) -> None:
        """Record what other promotions lost or gained."""
        before = {one.promotion_id: one for one in without.applied}
        after = {one.promotion_id: one for one in outcome.applied if one.promotion_id != self._promotion.id}
        for key, one in (before | after).items():
            was, now = before.get(key), after.get(key)
            change = (now.discount_minor if now else 0) - (was.discount_minor if was else 0)
            if was is not None and now is not None and not change:
                continue
            of_currency = self._tally.others.setdefault(outcome.currency, {})
            other = of_currency.get(key)
            if other is None:
                other = of_currency[key] = OtherTally(one.promotion_name, outcome.exponent)
            other.lost += now is None
            other.gained += was is None
            other.lost_minor += max(-change, 0)
            other.gained_minor += max(change, 0)


def _balance(key: str, budget: BudgetTally, is_with: bool) -> BudgetFact:
    left = budget.left_with_minor if is_with else budget.left_without_minor
    return BudgetFact(key, "ACTIVE" if left > 0 else "EXHAUSTED", left, budget.currency)


def _left(budget: BudgetTally) -> int:
    return budget.left_with_minor


def _charges(outcome: Outcome, budgets: Mapping[str, BudgetTally]) -> Iterable[tuple[AppliedPromotion, BudgetTally]]:
    """The part of an outcome that is charged to the budgets: each linked budget bears the whole discount."""
    for one in outcome.applied:
        for budget_id in one.budget_ids:
            budget = budgets.get(budget_id)
            if budget is not None and one.discount_minor:
                yield one, budget

"""What a basket in a store would use of its shares beyond what it holds: fetched from the cloud before it is refused.

The basket is priced as if the shares that refused something were larger; what it then uses of them is requested. If the
cloud cannot be asked, the facts say so, and the refusal's reason is SHARE_NOT_AVAILABLE.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from decimal import Decimal

from promenade.engine.basket import BudgetFact, Facts, UsageFact
from promenade.engine.evaluation import Selection, price
from promenade.engine.money import minor_digits
from promenade.engine.outcome import Outcome
from promenade.store.sync.shares import BUDGET, PROMOTION

Key = tuple[str, str]
"""Kind and ID of what stores have shares of."""
_PLENTY = 10**15
_SHORT = frozenset(("BUDGET_EXHAUSTED", "BUDGET_INSUFFICIENT"))


def lacking(selection: Selection, facts: Facts, outcome: Outcome) -> Mapping[Key, Decimal]:
    """Return what the sale would use of each budget (major units) and limited promotion that now refuses something."""
    refused = {one.promotion_id for one in outcome.budget_limited if one.reason in _SHORT}
    definitions = [one.promotion.definition for one in selection.candidates]
    budgets = {
        key: replace(facts.budgets[key], status="ACTIVE", remaining_minor=_PLENTY)
        for one in definitions
        if one.id in refused
        for key in one.budget_ids
        if key in facts.budgets
    }
    usage = {
        one.id: replace(facts.usage.get(one.id, UsageFact()), total=-1)
        for one in definitions
        if one.max_applications_total is not None
        and facts.usage.get(one.id, UsageFact()).total >= one.max_applications_total
    }
    if not budgets and not usage:
        return {}
    more = replace(facts, budgets={**facts.budgets, **budgets}, usage={**facts.usage, **usage})
    uses: dict[Key, Decimal] = {}
    for applied in price(selection, more).applied:
        if applied.promotion_id in usage:
            uses[PROMOTION, applied.promotion_id] = Decimal(1)
        amount = Decimal(applied.discount_minor).scaleb(-minor_digits(outcome.currency))
        for key in budgets.keys() & set(applied.budget_ids):
            uses[BUDGET, key] = uses.get((BUDGET, key), Decimal(0)) + amount
    return {key: use for key, use in uses.items() if use}


def with_unavailable(facts: Facts, missing: Collection[Key]) -> Facts:
    """Return the facts with a mark on what the cloud may have more of, but could not be asked for."""
    if not missing:
        return facts
    budgets: dict[str, BudgetFact] = {**facts.budgets}
    usage: dict[str, UsageFact] = {**facts.usage}
    for kind, key in missing:
        if kind == BUDGET and key in budgets:
            budgets[key] = replace(budgets[key], status="SHARE")
        elif kind == PROMOTION:
            usage[key] = replace(usage.get(key, UsageFact()), is_share=True)
    return replace(facts, budgets=budgets, usage=usage)

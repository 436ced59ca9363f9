"""What a return gives back of a sale that is priced again without the returned units (section 11, policy REPRICE).

Pure. What has been given back in the end is what was paid, less what the rest costs now. It never falls: what an
earlier return has given back stays given, so all returns together give back no more than the sale carried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from promenade.engine.basket import Basket, Refund, RefundShare
from promenade.engine.money import split_proportional
from promenade.engine.outcome import Outcome
from promenade.workflows.settlement.returns import BudgetCharge, GiveBack, Given, SaleRecord

__all__ = [
    "NOTHING_LEFT",
    "Rest",
    "basket_left",
    "charges_back",
    "discounts_of",
    "give_back_repriced",
    "given_after",
    "refunds_repriced",
    "rest_repriced",
]


@dataclass(frozen=True, slots=True)
class Rest:
    """What the customer keeps: its price, the discount in it by promotion, its points."""

    costs_minor: int
    off: Mapping[str, int]
    points: int

    @classmethod
    def priced(cls, outcome: Outcome) -> Rest:
        """Return the rest as it is priced now."""
        off = {one.promotion_id: one.discount_minor for one in outcome.applied}
        return cls(outcome.sale_subtotal_minor - outcome.discount_minor, off, outcome.points)


NOTHING_LEFT = Rest(0, {}, 0)


def basket_left(basket: Basket, returned: Mapping[str, int]) -> Basket | None:
    """Return the basket of a sale without its return lines and the returned thousandths; None: nothing is left."""
    left = [
        replace(line, quantity_thousandths=line.quantity_thousandths - returned.get(line.reference, 0))
        for line in basket.lines
        if line.quantity_thousandths > returned.get(line.reference, 0)
    ]
    return replace(basket, lines=tuple(left)) if left else None


def given_after(
    record: SaleRecord, given: Given, quantities: Mapping[str, int], rest: Rest, grosses: Mapping[str, int]
) -> Given:
    """Return what will have been given back once ``quantities`` have come back and ``rest`` is left.

    ``given`` has amounts. ``grosses`` is the price before discounts of what comes back now, by line: its lines share
    the refund in proportion to it.
    """
    paid = sum(line.worth_minor for line in record.lines)
    refunded = dict(given.refunded or {})
    more = max(0, paid - max(rest.costs_minor, 0) - sum(refunded.values()))
    lines = sorted(grosses)
    bases = [grosses[line] for line in lines]
    if not any(bases):
        bases = [1] * len(lines)
    for line, part in zip(lines, split_proportional(more, bases, [more] * len(lines)), strict=True):
        refunded[line] = refunded.get(line, 0) + part
    before = given.off or {}
    off = {
        promotion_id: max(before.get(promotion_id, 0), whole - max(rest.off.get(promotion_id, 0), 0))
        for promotion_id, whole in discounts_of(record).items()
    }
    return Given(quantities, refunded, off, max(given.points, record.points - max(rest.points, 0)))


def charges_back(
    record: SaleRecord, charged: Sequence[BudgetCharge], before: Given, after: Given
) -> tuple[BudgetCharge, ...]:
    """Return what goes back to budgets between two states, in proportion to the discount that is taken back."""
    return tuple(
        replace(charge, amount_minor=amount)
        for charge in charged
        if (amount := _charge_back(record, charge, after) - _charge_back(record, charge, before))
    )


def _charge_back(record: SaleRecord, charge: BudgetCharge, given: Given) -> int:
    whole = discounts_of(record).get(charge.promotion_id, 0)
    return charge.amount_minor * (given.off or {}).get(charge.promotion_id, 0) // whole if whole else 0


def give_back_repriced(
    transaction_id: str, record: SaleRecord, charged: Sequence[BudgetCharge], before: Given, after: Given
) -> GiveBack:
    """Return what a return gives back in points and to budgets."""
    charges = charges_back(record, charged, before, after)
    return GiveBack(transaction_id, record.customer_id, after.points - before.points, charges)


def rest_repriced(transaction_id: str, record: SaleRecord, charged: Sequence[BudgetCharge], given: Given) -> GiveBack:
    """Return all that a sale carried and its returns have not given back, as `returns.rest_of` does."""
    charges = tuple(replace(one, amount_minor=one.amount_minor - _charge_back(record, one, given)) for one in charged)
    return GiveBack(transaction_id, record.customer_id, record.points - given.points, charges)


def refunds_repriced(
    told: Sequence[tuple[str, Refund]],
    before: Given,
    after: Given,
    back: Sequence[BudgetCharge],
    currency: str,
) -> list[Refund]:
    """Return the refunds of a sale's return lines, of which ``told`` has each line of the sale and its status.

    A line of the sale that comes back in several lines is refunded in the first of them; discounts, points and budget
    money, which belong to the sale as a whole, are told there too.
    """
    found: list[Refund] = []
    refunded = _more(before.refunded, after.refunded)
    off = _more(before.off, after.off)
    points = after.points - before.points
    budget = sum(one.amount_minor for one in back if one.currency == currency)
    for reference, refund in told:
        shares = tuple(RefundShare(promotion_id, 1, minor) for promotion_id, minor in off.items() if minor)
        found.append(
            replace(
                refund,
                amount_minor=refunded.pop(reference, 0),
                discount_minor=sum(off.values()),
                shares=shares,
                points=points,
                budget_minor=budget,
            )
        )
        off, points, budget = {}, 0, 0
    return found


def _more(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int]:
    return {key: value - (before or {}).get(key, 0) for key, value in (after or {}).items()}


def discounts_of(record: SaleRecord) -> dict[str, int]:
    """Return the discount of each promotion on the whole sale."""
    found: dict[str, int] = {}
    for line in record.lines:
        for one in line.discounts:
            taken = sum(unit.count * unit.amount_minor for unit in one.units)
            found[one.promotion_id] = found.get(one.promotion_id, 0) + taken
    return found

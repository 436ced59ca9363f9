"""What a sale carried and what of it goes back when its lines are returned (pricing semantics, section 11).

Pure. A sale's record is written when it is confirmed; each return asks for the difference between what all returns
up to now bring back and what the ones before did. Both are the same monotone function of the returned quantities, so
that, however a sale is returned in parts, never more than it carried goes back, and a full return gives back all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from promenade.engine.basket import BasketLine
from promenade.engine.outcome import UnitShare
from promenade.engine.view import is_measure
from promenade.workflows.confirm_rules import SettledLine, Settlement

__all__ = [
    "BudgetCharge",
    "CarriedDiscount",
    "CarriedLine",
    "GiveBack",
    "SaleRecord",
    "add_returned",
    "give_back",
    "record_of",
    "returned_quantities",
]

ORIGINAL_TRANSACTION = "originalTransactionId"
ORIGINAL_LINE = "originalLineReference"


@dataclass(frozen=True, slots=True)
class CarriedDiscount:
    """The unit split of one discount of a line, as evaluated."""

    promotion_id: str
    units: tuple[UnitShare, ...]


@dataclass(frozen=True, slots=True)
class CarriedLine:
    """One sale line. ``is_weighed``: its units cannot be told apart, so shares go by quantity."""

    reference: str
    quantity_thousandths: int
    is_weighed: bool
    worth_minor: int  # what the customer paid
    total_minor: int  # before discounts: what points go by when nothing was paid
    discounts: tuple[CarriedDiscount, ...]


@dataclass(frozen=True, slots=True)
class BudgetCharge:
    """What one promotion took from one budget, or gives back to it, in minor units of ``currency``."""

    budget_id: str
    promotion_id: str
    amount_minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class SaleRecord:
    """What a confirmed sale carried. ``points`` is 0 where nobody was rewarded."""

    customer_id: str | None
    points: int
    lines: tuple[CarriedLine, ...]
    given_back: tuple[BudgetCharge, ...] = ()  # by the return lines of this very transaction


@dataclass(frozen=True, slots=True)
class GiveBack:
    """What one return brings back of one sale: points of its customer and money of its budgets.

    ``origin`` is who made the sale, where that is known.
    """

    transaction_id: str
    customer_id: str | None
    points: int
    charges: tuple[BudgetCharge, ...] = field(default=())
    origin: str | None = None


def record_of(settlement: Settlement, customer_id: str | None, given_back: Sequence[BudgetCharge]) -> SaleRecord:
    """The record of a confirmed sale: its sale lines with the discounts that were confirmed, and its points."""
    points = sum(entry.points for entry in settlement.points) if customer_id is not None else 0
    lines = tuple(_carried(line) for line in settlement.lines if line.priced.quantity_thousandths > 0)
    return SaleRecord(customer_id, points, lines, tuple(given_back))


def _carried(line: SettledLine) -> CarriedLine:
    priced = line.priced
    return CarriedLine(
        reference=priced.reference,
        quantity_thousandths=priced.quantity_thousandths,
        is_weighed=priced.quantity_thousandths % 1000 != 0 or is_measure(priced.unit),
        worth_minor=line.net_minor,
        total_minor=priced.total_minor,
        discounts=tuple(CarriedDiscount(one.promotion_id, one.units) for one in line.discounts),
    )


def returned_quantities(lines: Sequence[BasketLine], own_transaction_id: str) -> dict[str, dict[str, int]]:
    """Thousandths returned by original transaction and line, in the order of the original transactions' ids.

    Return lines that name no sale, or the transaction they are part of, give nothing back.
    """
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        if line.quantity_thousandths >= 0:
            continue
        names = dict(line.fields)
        transaction_id, reference = names.get(ORIGINAL_TRANSACTION), names.get(ORIGINAL_LINE)
        if not transaction_id or not reference or transaction_id == own_transaction_id:
            continue
        of_sale = found.setdefault(transaction_id, {})
        of_sale[reference] = of_sale.get(reference, 0) - line.quantity_thousandths
    return dict(sorted(found.items()))


def add_returned(sale: SaleRecord, before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Quantities returned of each line after this return: at most what the line sold; unknown lines are left out."""
    after: dict[str, int] = {}
    for line in sale.lines:
        quantity = min(line.quantity_thousandths, before.get(line.reference, 0) + now.get(line.reference, 0))
        if quantity:
            after[line.reference] = quantity
    return after


def give_back(
    transaction_id: str,
    sale: SaleRecord,
    charged: Sequence[BudgetCharge],
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> GiveBack:
    """What goes back between two states of returned quantities. ``charged`` is what the sale took from budgets."""
    charges = tuple(
        BudgetCharge(charge.budget_id, charge.promotion_id, amount, charge.currency)
        for charge in charged
        if (amount := _charge_back(sale, charge, after) - _charge_back(sale, charge, before))
    )
    points = _points_back(sale, after) - _points_back(sale, before)
    return GiveBack(transaction_id, sale.customer_id, points, charges)


def _points_back(sale: SaleRecord, returned: Mapping[str, int]) -> int:
    """Points in proportion to the value returned so far, rounded down."""
    worths = [line.worth_minor for line in sale.lines]
    if not any(worths):
        worths = [line.total_minor for line in sale.lines]
    if not any(worths):  # all of it was free: points go by its pieces
        worths = [line.quantity_thousandths for line in sale.lines]
    whole = sum(worths)
    if sale.points <= 0 or whole <= 0:
        return 0
    value = sum(
        Fraction(worth * returned.get(line.reference, 0), line.quantity_thousandths)
        for line, worth in zip(sale.lines, worths, strict=True)
    )
    return floor(sale.points * value / whole)


def _charge_back(sale: SaleRecord, charge: BudgetCharge, returned: Mapping[str, int]) -> int:
    """What the units returned so far carried of the discount; less where the budget did not cover all of it."""
    whole = part = 0
    for line in sale.lines:
        for discount in line.discounts:
            if discount.promotion_id == charge.promotion_id:
                whole += sum(unit.count * unit.amount_minor for unit in discount.units)
                part += _carried_by(line, discount.units, returned.get(line.reference, 0))
    return charge.amount_minor * part // whole if whole else 0


def _carried_by(line: CarriedLine, units: Sequence[UnitShare], returned: int) -> int:
    """What the first ``returned`` thousandths of a line carried of a discount, lowest units first (section 6)."""
    if line.is_weighed:
        return sum(unit.count * unit.amount_minor for unit in units) * returned // line.quantity_thousandths
    left = returned // 1000
    carried = 0
    for unit in units:
        taken = min(unit.count, left)
        carried += taken * unit.amount_minor
        left -= taken
    return carried

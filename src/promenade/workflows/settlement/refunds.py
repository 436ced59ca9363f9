"""Tell what a return line gives back: what was paid for its units, and what the sale carried (section 11).

Pure. Every figure is the difference between the same function of the returned quantities after a line and before it
(see `returns`), so that in however many parts a sale is returned, the refunds add up to what was paid.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from promenade.engine.basket import BasketLine, Refund, RefundShare
from promenade.engine.money import divide, split_proportional
from promenade.engine.outcome import UnitShare
from promenade.workflows.settlement.repricing import (
    Rest,
    charges_back,
    discounts_of,
    given_after,
    refunds_repriced,
)
from promenade.workflows.settlement.returns import (
    BudgetCharge,
    CarriedLine,
    Given,
    SaleRecord,
    carried_by,
    named_sale,
    not_owed,
    owed_by,
    points_worths,
    take_away,
)

__all__ = [
    "KnownSale",
    "PriceRest",
    "given_by_shares",
    "refunds_of",
    "repriced",
    "rest_by_shares",
    "unmatched",
    "with_amounts",
    "without",
]


PriceRest = Callable[[Mapping[str, int]], Rest]


@dataclass(frozen=True, slots=True)
class KnownSale:
    """A confirmed sale as the books have it: its record, what has been given back of it, and its budget charges.

    ``price_rest`` is set if it is priced again without what is returned (thousandths by line).
    """

    record: SaleRecord
    given: Given
    charges: Sequence[BudgetCharge]
    price_rest: PriceRest | None = None


@dataclass(frozen=True, slots=True)
class _Booked:
    """One discount of a line: its units as evaluated, and how much of it was confirmed."""

    promotion_id: str
    units: tuple[UnitShare, ...]
    evaluated_minor: int
    booked_minor: int

    def of(self, line: CarriedLine, returned: int) -> Fraction:
        """Return the confirmed discount on the first ``returned`` thousandths."""
        if not self.evaluated_minor:
            return Fraction(0)
        return Fraction(self.booked_minor * carried_by(line, self.units, returned), self.evaluated_minor)


def refunds_of(
    lines: Sequence[BasketLine],
    own_transaction_id: str,
    currency: str,
    sales: Mapping[str, KnownSale],
    unconfirmed: Collection[str],
) -> tuple[Refund, ...]:
    """Return the refund of each return line that names a sale, in the order of the basket.

    ``sales`` are the confirmed ones among those named, ``unconfirmed`` those that were only evaluated.
    """
    found: list[Refund] = []
    begun: dict[str, _Returning] = {}
    places: dict[str, list[tuple[int, str]]] = {}  # of the sales that are priced again
    for line in lines:
        names = named_sale(line)
        if names is None:
            continue
        transaction_id, reference = names
        sale = sales.get(transaction_id) if transaction_id != own_transaction_id else None
        if sale is None:
            is_priced = transaction_id in unconfirmed or transaction_id == own_transaction_id
            found.append(Refund(line.reference, "NOT_CONFIRMED" if is_priced else "UNKNOWN_SALE"))
            continue
        returning = begun.get(transaction_id)
        if returning is None:
            returning = begun[transaction_id] = _Returning(sale, currency)
        refund = returning.take(line.reference, reference, -line.quantity_thousandths)
        if sale.price_rest is not None and refund.amount_minor is not None:
            places.setdefault(transaction_id, []).append((len(found), reference))
        found.append(refund)
    for transaction_id, its_places in places.items():
        sale, quantities = sales[transaction_id], begun[transaction_id].returned
        if sale.price_rest is None:
            continue
        before, after = repriced(sale.record, sale.given, quantities, sale.price_rest(quantities))
        back = not_owed(charges_back(sale.record, sale.charges, before, after), owed_by(sale.record))
        told = [(reference, found[place]) for place, reference in its_places]
        for (place, _), refund in zip(its_places, refunds_repriced(told, before, after, back, currency), strict=True):
            found[place] = refund
    return tuple(found)


def repriced(record: SaleRecord, given: Given, quantities: Mapping[str, int], rest: Rest) -> tuple[Given, Given]:
    """Return what has been given back of a sale, and what will have been after ``quantities``, if ``rest`` is left."""
    before = with_amounts(record, given)
    grosses: dict[str, int] = {}
    for line in record.lines:
        so_far, then = before.quantities.get(line.reference, 0), quantities.get(line.reference, 0)
        if then > so_far:
            grosses[line.reference] = _gross(line, then) - _gross(line, so_far)
    return before, given_after(record, before, quantities, rest, grosses)


def with_amounts(record: SaleRecord, given: Given) -> Given:
    """Return what has been given back with its amounts; those by the shares of the units have none yet."""
    if given.is_repriced:
        return given
    booked = _booked_discounts(record)
    refunded: dict[str, int] = {}
    off: dict[str, int] = {}
    for line in record.lines:
        returned = given.quantities.get(line.reference, 0)
        if returned:
            refunded[line.reference] = _paid(line, booked[line.reference], returned)
        for one in booked[line.reference]:
            off[one.promotion_id] = off.get(one.promotion_id, 0) + floor(one.of(line, returned))
    told = refunded if given.refunded is None else given.refunded
    return Given(given.quantities, told, off, _Points(record, given.quantities).given)


def given_by_shares(record: SaleRecord, given: Given, quantities: Mapping[str, int]) -> Given:
    """Return what will have been given back by the shares of the units once ``quantities`` have come back.

    A line refunds what its returned units have cost, less what it has refunded.
    """
    if given.refunded is None:
        return Given(quantities)
    shares = with_amounts(record, Given(quantities)).refunded or {}
    refunded = dict(given.refunded)
    for reference, minor in shares.items():
        if quantities[reference] != given.quantities.get(reference, 0):
            refunded[reference] = max(minor, refunded.get(reference, 0))
    return _by_shares(quantities, refunded, shares)


def without(record: SaleRecord, given: Given, undone: Given) -> Given:
    """Return what has come back of a sale without one return, which was undone.

    The units that come back next may not be those that the undone return had: so what the others have refunded stays.
    """
    if given.is_repriced or undone.refunded is None:
        return take_away(given, undone)
    earlier = take_away(with_amounts(record, given), undone)
    shares = with_amounts(record, Given(earlier.quantities)).refunded or {}
    return _by_shares(earlier.quantities, earlier.refunded or {}, shares)


def _by_shares(quantities: Mapping[str, int], refunded: Mapping[str, int], shares: Mapping[str, int]) -> Given:
    is_told = all(refunded.get(line, 0) == shares.get(line, 0) for line in {*refunded, *shares})
    return Given(quantities) if is_told else Given(quantities, refunded)


def rest_by_shares(record: SaleRecord, quantities: Mapping[str, int]) -> Rest:
    """Return what is left of a sale if its units keep their shares."""
    given = with_amounts(record, Given(quantities))
    paid = sum(line.worth_minor for line in record.lines)
    off = {name: whole - (given.off or {}).get(name, 0) for name, whole in discounts_of(record).items()}
    return Rest(paid - sum((given.refunded or {}).values()), off, record.points - given.points)


def _gross(line: CarriedLine, returned: int) -> int:
    return divide(line.total_minor * returned, line.quantity_thousandths)


def unmatched(
    record: SaleRecord, before: Mapping[str, int], now: Mapping[str, int]
) -> tuple[str, str, int, int] | None:
    """Return the first line of which more comes back than is left: status, line, thousandths left, thousandths sold."""
    sold = {line.reference: line.quantity_thousandths for line in record.lines}
    for reference, quantity in now.items():
        if reference not in sold:
            return "UNKNOWN_LINE", reference, 0, 0
        left = sold[reference] - before.get(reference, 0)
        if quantity > left:
            return "OVER_RETURNED", reference, left, sold[reference]
    return None


class _Returning:
    """A sale of which lines come back one after the other."""

    __slots__ = (
        "_booked",
        "_charges",
        "_currency",
        "_is_foreign",
        "_lines",
        "_owed",
        "_parts",
        "_points",
        "_refunded",
        "_wholes",
        "returned",
    )

    def __init__(self, sale: KnownSale, currency: str) -> None:
        record = sale.record
        self._currency = currency
        self._is_foreign = bool(record.currency) and record.currency != currency
        self._lines = {line.reference: line for line in record.lines}
        self.returned = dict(sale.given.quantities)
        told = sale.given.refunded
        self._refunded = {} if told is None else {line.reference: told.get(line.reference, 0) for line in record.lines}
        self._booked = _booked_discounts(record)
        self._points = _Points(record, self.returned)
        self._charges = sale.charges
        self._owed = owed_by(record)
        self._wholes: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        for line in record.lines:
            for one in self._booked[line.reference]:
                self._wholes[one.promotion_id] = self._wholes.get(one.promotion_id, 0) + one.evaluated_minor
                part = carried_by(line, one.units, self.returned.get(line.reference, 0))
                self._parts[one.promotion_id] = self._parts.get(one.promotion_id, 0) + part

    def take(self, own_reference: str, reference: str, quantity: int) -> Refund:
        """Return ``quantity`` thousandths of a line, as much as is left of it."""
        line = self._lines.get(reference)
        if line is None:
            return Refund(own_reference, "UNKNOWN_LINE")
        before = self.returned.get(reference, 0)
        left = line.quantity_thousandths - before
        after = before + min(quantity, left)
        self.returned[reference] = after
        booked = self._booked[reference]
        refunded = self._refunded.get(reference)
        if refunded is None:
            refunded = _paid(line, booked, before)
        now = self._refunded[reference] = refunded if after == before else max(refunded, _paid(line, booked, after))
        shares = [share for one in booked for share in _shares(line, one, before, after)]
        is_over = quantity > left
        told = Refund(
            own_reference,
            "OVER_RETURNED" if is_over else "MATCHED",
            now - refunded,
            sum(share.count * share.amount_minor for share in shares),
            tuple(shares),
            self._points.take(line, after - before),
            self._budget_back(line, booked, before, after),
            left if is_over else None,
        )
        if not self._is_foreign:
            return told
        return Refund(own_reference, "WRONG_CURRENCY", points=told.points, left_thousandths=told.left_thousandths)

    def _budget_back(self, line: CarriedLine, booked: Sequence[_Booked], before: int, after: int) -> int:
        """Return what goes back to budgets of the basket's currency."""
        touched = {one.promotion_id for one in booked}
        charges = [one for one in self._charges if one.promotion_id in touched and one.currency == self._currency]
        so_far = [self._charge_back(charge) for charge in charges]
        for one in booked:
            more = carried_by(line, one.units, after) - carried_by(line, one.units, before)
            self._parts[one.promotion_id] += more
        back = [
            replace(charge, amount_minor=self._charge_back(charge) - earlier)
            for charge, earlier in zip(charges, so_far, strict=True)
        ]
        return sum(charge.amount_minor for charge in not_owed(back, self._owed))

    def _charge_back(self, charge: BudgetCharge) -> int:
        whole = self._wholes[charge.promotion_id]
        return charge.amount_minor * self._parts[charge.promotion_id] // whole if whole else 0


class _Points:
    """The points that have gone back so far; see `returns` for their proportion."""

    __slots__ = ("_points", "_value", "_whole", "_worths", "given")

    def __init__(self, record: SaleRecord, returned: Mapping[str, int]) -> None:
        self._points = record.points
        self._worths = dict(zip([line.reference for line in record.lines], points_worths(record), strict=True))
        self._whole = sum(self._worths.values())
        self._value = sum(
            (self._part(line, returned[line.reference]) for line in record.lines if line.reference in returned),
            start=Fraction(0),
        )
        self.given = self._so_far()

    def take(self, line: CarriedLine, quantity: int) -> int:
        self._value += self._part(line, quantity)
        before, self.given = self.given, self._so_far()
        return self.given - before

    def _part(self, line: CarriedLine, quantity: int) -> Fraction:
        return Fraction(self._worths[line.reference] * quantity, line.quantity_thousandths)

    def _so_far(self) -> int:
        if self._points <= 0 or self._whole <= 0:
            return 0
        return floor(self._points * self._value / self._whole)


def _booked_discounts(record: SaleRecord) -> dict[str, list[_Booked]]:
    """Return the discounts of each line; a promotion of which less was confirmed is split as the confirm split it."""
    places: dict[str, list[tuple[str, tuple[UnitShare, ...], int]]] = {}
    for line in record.lines:
        for one in line.discounts:
            evaluated = sum(unit.count * unit.amount_minor for unit in one.units)
            places.setdefault(one.promotion_id, []).append((line.reference, one.units, evaluated))
    found: dict[str, list[_Booked]] = {line.reference: [] for line in record.lines}
    for promotion_id, its_places in places.items():
        amounts = [evaluated for _, _, evaluated in its_places]
        reduced = record.reduced.get(promotion_id)
        parts = amounts if reduced is None else split_proportional(reduced, amounts, amounts)
        for (reference, units, evaluated), part in zip(its_places, parts, strict=True):
            found[reference].append(_Booked(promotion_id, units, evaluated, part))
    return found


def _paid(line: CarriedLine, booked: Sequence[_Booked], returned: int) -> int:
    """Return what was paid for the first ``returned`` thousandths of a line, in minor units; it never falls.

    Between two changes of the shares each unit costs the same, so only the amounts at the changes need to be compared.
    """
    quantity = line.quantity_thousandths
    if line.is_weighed:
        return divide(line.worth_minor * returned, quantity)
    units = returned // 1000
    ends = {units}
    for one in booked:
        end = 0
        for share in one.units:
            end += share.count
            if end < units:
                ends.add(end)
    most = max(
        Fraction(line.total_minor * end * 1000, quantity) - sum(one.of(line, end * 1000) for one in booked)
        for end in ends
    )
    return max(0, min(line.worth_minor, floor(most + Fraction(1, 2))))


def _shares(line: CarriedLine, one: _Booked, before: int, after: int) -> list[RefundShare]:
    """Return the discount on the units from ``before`` to ``after`` thousandths, unit by unit where they are whole."""
    if line.is_weighed or one.booked_minor != one.evaluated_minor:
        part = floor(one.of(line, after)) - floor(one.of(line, before))
        return [RefundShare(one.promotion_id, 1, part)] if part else []
    found: list[RefundShare] = []
    begin = 0
    for share in one.units:
        end = begin + share.count
        count = min(end, after // 1000) - max(begin, before // 1000)
        if count > 0 and share.amount_minor:
            found.append(RefundShare(one.promotion_id, count, share.amount_minor))
        begin = end
    return found

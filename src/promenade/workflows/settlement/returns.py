"""Compute the points and budget money given back for returned lines (pricing semantics, section 11).

Pure. A sale's record is written when it is confirmed. Each return takes the difference
between the total given back by all returns up to now and the total before it. Both totals are the same monotone
function of the returned quantities, so that, in however many parts a sale is returned, no more than it carried goes
back, and a full return gives back all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor

import msgspec

from promenade.engine.basket import BasketLine
from promenade.engine.outcome import UnitShare
from promenade.engine.value import value
from promenade.engine.view import is_measure
from promenade.workflows.settlement.rules import SettledLine, Settlement
from promenade.zstd import compressor, decompress

ORIGINAL_TRANSACTION = "originalTransactionId"
ORIGINAL_LINE = "originalLineReference"


@value(frozen=True, slots=True)
class CarriedDiscount:
    """The split of one discount of a line by units, as evaluated."""

    promotion_id: str
    units: tuple[UnitShare, ...]


@value(frozen=True, slots=True)
class CarriedLine:
    """One sale line. ``is_weighed``: it has no distinct units, so shares are proportional to the quantity."""

    reference: str
    quantity_thousandths: int
    is_weighed: bool
    worth_minor: int  # the amount the customer paid
    total_minor: int  # before discounts: the basis for points if nothing was paid
    discounts: tuple[CarriedDiscount, ...]


@dataclass(frozen=True, slots=True)
class BudgetCharge:
    """The amount one promotion takes from one budget, or gives back to it, in minor units of ``currency``."""

    budget_id: str
    promotion_id: str
    amount_minor: int
    currency: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The budget, the promotion and the currency."""
        return self.budget_id, self.promotion_id, self.currency


@dataclass(frozen=True, slots=True)
class Given:
    """What has come back of a sale, and what has been given back for it; or how much of it a return has added.

    ``refunded`` in minor units by line; None: as the shares of the returned units say. ``off`` is the discount taken
    back by promotion, if the sale was priced again; None: discounts, points and budget money as the shares say.
    """

    quantities: Mapping[str, int] = field(default_factory=dict)  # thousandths by line
    refunded: Mapping[str, int] | None = None
    off: Mapping[str, int] | None = None
    points: int = 0

    @property
    def is_repriced(self) -> bool:
        """Whether the sale was priced again for a return."""
        return self.off is not None


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """What a sale's own return lines brought back of another sale, amounts included."""

    origin: str
    transaction_id: str
    given: Given


@dataclass(frozen=True, slots=True)
class SaleRecord:
    """The record of a confirmed sale. ``points`` is 0 without a customer.

    ``reduced``: minor units of the promotions of which less was confirmed than evaluated. Records from before amounts
    were refunded have no ``currency``.
    """

    customer_id: str | None
    points: int
    lines: tuple[CarriedLine, ...]
    given_back: tuple[BudgetCharge, ...] = ()  # by the return lines of this same transaction
    currency: str = ""
    reduced: Mapping[str, int] = field(default_factory=dict)
    brought: tuple[BroughtBack, ...] = ()  # by these lines, of each sale; missing in older records
    owed: tuple[BudgetCharge, ...] = ()  # see `less_owed`


@dataclass(frozen=True, slots=True)
class GiveBack:
    """What one return gives back of one sale: points of its customer and money of its budgets.

    ``origin`` is the origin of the sale, if known; ``given`` is what the return adds to what has come back of it.
    """

    transaction_id: str
    customer_id: str | None
    points: int
    charges: tuple[BudgetCharge, ...] = field(default=())
    origin: str | None = None
    given: Given = Given()


def record_of(
    settlement: Settlement, currency: str, customer_id: str | None, given_back: Sequence[BudgetCharge]
) -> SaleRecord:
    """Build the record of a confirmed sale: its sale lines with their confirmed discounts, and its points."""
    reduced = {
        one.applied.promotion_id: one.booked_minor
        for one in settlement.promotions
        if one.booked_minor != one.applied.discount_minor
    }
    points = sum(entry.points for entry in settlement.points) if customer_id is not None else 0
    lines = tuple([_carried(line) for line in settlement.lines if line.priced.quantity_thousandths > 0])
    return SaleRecord(customer_id, points, lines, tuple(given_back), currency, reduced)


def _carried(line: SettledLine) -> CarriedLine:
    priced = line.priced
    return CarriedLine(
        reference=priced.reference,
        quantity_thousandths=priced.quantity_thousandths,
        is_weighed=priced.quantity_thousandths % 1000 != 0 or is_measure(priced.unit),
        worth_minor=line.net_minor,
        total_minor=priced.total_minor,
        discounts=tuple([CarriedDiscount(one.promotion_id, one.units) for one in line.discounts]),
    )


def with_brought(record: SaleRecord, brought: Sequence[GiveBack]) -> SaleRecord:
    """Return the record of a sale with what its return lines brought back, which a cancellation undoes."""
    parts = [BroughtBack(one.origin, one.transaction_id, one.given) for one in brought if one.origin is not None]
    return replace(record, brought=tuple(parts))


_GIVEN = msgspec.msgpack.Decoder(dict[str, int] | tuple[dict[str, int], dict[str, int], dict[str, int] | None, int])
_ENCODER = msgspec.msgpack.Encoder()


def encode_given(given: Given) -> bytes:
    """Encode it as it is stored with the sale: the quantities alone, if they tell the rest."""
    if given.refunded is None:
        return _ENCODER.encode(given.quantities)
    return _ENCODER.encode((given.quantities, given.refunded, given.off, given.points))


def decode_given(stored: bytes | None) -> Given:
    """Decode what is stored with a sale; None: nothing has come back."""
    if stored is None:
        return Given()
    found = _GIVEN.decode(stored)
    return Given(found) if isinstance(found, dict) else Given(*found)


_RECORD = msgspec.msgpack.Decoder(SaleRecord)
_COMPRESS = compressor(1)  # to make one takes as long as a record; whichever thread confirms uses it
_FRAME = b"\x28\xb5\x2f\xfd"  # how every frame of Zstandard begins, and no record in MessagePack


def encode_record(record: SaleRecord) -> bytes:
    """Encode a sale's record as stored with its confirmation: MessagePack, compressed to a sixth.

    Without the dictionary of the tenant's prices: confirmations are kept for longer.
    """
    return _COMPRESS(msgspec.msgpack.encode(record))


def decode_record(stored: bytes) -> SaleRecord:
    """Decode the record of a confirmation; older ones are not compressed."""
    return _RECORD.decode(_plain(stored))


def _plain(stored: bytes) -> bytes:
    return decompress(stored) if stored.startswith(_FRAME) else stored


class SharedUnits(msgspec.Struct, frozen=True):
    """An `UnitShare`, as read for many sales at once."""

    count: int
    amount_minor: int


class SharedDiscount(msgspec.Struct, frozen=True):
    """A `CarriedDiscount`, as read for many sales at once."""

    promotion_id: str
    units: tuple[SharedUnits, ...]


class SharedLine(msgspec.Struct, frozen=True):
    """What a `CarriedLine` says of its discounts."""

    reference: str
    discounts: tuple[SharedDiscount, ...]


class _SharedLines(msgspec.Struct, frozen=True):
    lines: tuple[SharedLine, ...]


_SHARED = msgspec.msgpack.Decoder(_SharedLines)


def decode_shared(stored: bytes) -> tuple[SharedLine, ...]:
    """Decode from the record of a confirmation only how discounts are split."""
    return _SHARED.decode(_plain(stored)).lines


def returned_quantities(lines: Sequence[BasketLine], own_transaction_id: str) -> dict[str, dict[str, int]]:
    """Return the returned thousandths by original transaction and line, ordered by original transaction ID.

    Return lines that name no sale, or their own transaction, give nothing back.
    """
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        transaction_id, reference = named_sale(line) or ("", "")
        if not reference or transaction_id == own_transaction_id:
            continue
        of_sale = found.setdefault(transaction_id, {})
        of_sale[reference] = of_sale.get(reference, 0) - line.quantity_thousandths
    return dict(sorted(found.items()))


def named_sale(line: BasketLine) -> tuple[str, str] | None:
    """Return the transaction and the line that a return line names, the latter empty if missing; None: it names none.

    None for a sale line too.
    """
    if line.quantity_thousandths >= 0 or not line.fields:
        return None
    names = dict(line.fields)
    transaction_id = names.get(ORIGINAL_TRANSACTION)
    return (transaction_id, names.get(ORIGINAL_LINE, "")) if transaction_id else None


def add_returned(sale: SaleRecord, before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return the total returned quantity per line, capped at the quantity sold; unknown lines are ignored."""
    after: dict[str, int] = {}
    for line in sale.lines:
        quantity = min(line.quantity_thousandths, before.get(line.reference, 0) + now.get(line.reference, 0))
        if quantity:
            after[line.reference] = quantity
    return after


def all_returned(sale: SaleRecord) -> dict[str, int]:
    """Return the quantities of a sale that is returned as a whole, as `add_returned` does."""
    return {line.reference: line.quantity_thousandths for line in sale.lines}


def added(before: Given, after: Given) -> Given:
    """Return what a return has added. Both have amounts."""
    return Given(
        _less(after.quantities, before.quantities),
        _less(after.refunded or {}, before.refunded or {}),
        _less(after.off or {}, before.off or {}),
        after.points - before.points,
    )


def take_away(given: Given, more: Given) -> Given:
    """Return what has come back without one return, which was undone; of amounts those that ``given`` has."""
    quantities = _less(given.quantities, more.quantities)
    refunded = None if given.refunded is None else _less(given.refunded, more.refunded or {})
    if given.off is None:
        return Given(quantities, refunded)
    return Given(quantities, refunded, _less(given.off, more.off or {}), given.points - more.points)


def _less(numbers: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    left = {key: number - others.get(key, 0) for key, number in numbers.items()}
    return {key: number for key, number in left.items() if number > 0}


def rest_of(
    transaction_id: str, sale: SaleRecord, charged: Sequence[BudgetCharge], returned: Mapping[str, int]
) -> GiveBack:
    """Return all that a sale carried and its returns have not given back; amounts of 0 are included.

    Together with the returns it gives back everything, also what belongs to no line.
    """
    charges = tuple(replace(one, amount_minor=one.amount_minor - _charge_back(sale, one, returned)) for one in charged)
    return GiveBack(transaction_id, sale.customer_id, sale.points - _points_back(sale, returned), charges)


def less_owed(back: GiveBack, sale: SaleRecord) -> tuple[GiveBack, SaleRecord]:
    """Return a give-back, and the sale's record, without what the sale owes to its budgets.

    When a return was undone, a budget could not be charged again for all that the return had given back. So much less
    is given back the next time.
    """
    if not sale.owed:
        return back, sale
    owed = owed_by(sale)
    charges = not_owed(back.charges, owed)
    left = tuple(BudgetCharge(*key[:2], amount, key[2]) for key, amount in owed.items() if amount)
    return replace(back, charges=charges), replace(sale, owed=left)


def owed_by(sale: SaleRecord) -> dict[tuple[str, str, str], int]:
    """Return what the sale owes, by budget, promotion and currency; see `less_owed`."""
    owed: dict[tuple[str, str, str], int] = {}
    for one in sale.owed:
        owed[one.key] = owed.get(one.key, 0) + one.amount_minor
    return owed


def not_owed(charges: Iterable[BudgetCharge], owed: dict[tuple[str, str, str], int]) -> tuple[BudgetCharge, ...]:
    """Return the charges less what is ``owed``, which falls by it."""
    kept: list[BudgetCharge] = []
    for one in charges:
        part = min(owed.get(one.key, 0), one.amount_minor)
        if part:
            owed[one.key] -= part
        kept.append(replace(one, amount_minor=one.amount_minor - part))
    return tuple(kept)


def give_back(
    transaction_id: str,
    sale: SaleRecord,
    charged: Sequence[BudgetCharge],
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> GiveBack:
    """Return what is given back between two states of returned quantities. ``charged`` is the sale's budget use."""
    charges = tuple(
        BudgetCharge(charge.budget_id, charge.promotion_id, amount, charge.currency)
        for charge in charged
        if (amount := _charge_back(sale, charge, after) - _charge_back(sale, charge, before))
    )
    points = _points_back(sale, after) - _points_back(sale, before)
    return GiveBack(transaction_id, sale.customer_id, points, charges)


def _points_back(sale: SaleRecord, returned: Mapping[str, int]) -> int:
    """Return the points proportional to the value returned so far, rounded down."""
    worths = points_worths(sale)
    whole = sum(worths)
    if sale.points <= 0 or whole <= 0:
        return 0
    value = sum(
        Fraction(worth * returned.get(line.reference, 0), line.quantity_thousandths)
        for line, worth in zip(sale.lines, worths, strict=True)
    )
    return floor(sale.points * value / whole)


def points_worths(sale: SaleRecord) -> list[int]:
    """Return what the points of a sale are proportional to, of each line: what was paid, if anything was."""
    worths = [line.worth_minor for line in sale.lines]
    if not any(worths):
        worths = [line.total_minor for line in sale.lines]
    if not any(worths):  # everything was free: points are proportional to quantities
        worths = [line.quantity_thousandths for line in sale.lines]
    return worths


def _charge_back(sale: SaleRecord, charge: BudgetCharge, returned: Mapping[str, int]) -> int:
    """Return the returned units' part of the discount; less if the budget did not cover all of it."""
    whole = part = 0
    for line in sale.lines:
        for discount in line.discounts:
            if discount.promotion_id == charge.promotion_id:
                whole += sum(unit.count * unit.amount_minor for unit in discount.units)
                part += carried_by(line, discount.units, returned.get(line.reference, 0))
    return charge.amount_minor * part // whole if whole else 0


def carried_by(line: CarriedLine, units: Sequence[UnitShare], returned: int) -> int:
    """Return the evaluated discount on the first ``returned`` thousandths of a line, lowest units first (section 6)."""
    if line.is_weighed:
        return sum(unit.count * unit.amount_minor for unit in units) * returned // line.quantity_thousandths
    left = returned // 1000
    carried = 0
    for unit in units:
        taken = min(unit.count, left)
        carried += taken * unit.amount_minor
        left -= taken
    return carried

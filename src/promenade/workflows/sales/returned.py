"""The sales that return lines name: what they give back, and what they would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from promenade.engine.basket import BasketLine, Refund
from promenade.engine.money import minor_digits
from promenade.errors import Conflict, Invalid
from promenade.store.budgets.charges import Consumed, Iteration, consumed_by
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import counted_transactions
from promenade.store.sales import confirmations
from promenade.store.sales.return_policies import repricing_promotions
from promenade.workflows.sales.recorded import read_recorded
from promenade.workflows.settlement.refunds import (
    KnownSale,
    PriceRest,
    given_by_shares,
    refunds_of,
    repriced,
    rest_by_shares,
    unmatched,
    with_amounts,
)
from promenade.workflows.settlement.repricing import (
    NOTHING_LEFT,
    Rest,
    basket_left,
    discounts_of,
    give_back_repriced,
)
from promenade.workflows.settlement.returns import (
    BudgetCharge,
    GiveBack,
    Given,
    SaleRecord,
    add_returned,
    added,
    decode_given,
    decode_record,
    encode_given,
    encode_record,
    give_back,
    less_owed,
    named_sale,
)
from promenade.workflows.settlement.rules import SaleIdentity

NAMED_MAX = 500
NAMED_LINES_MAX = 50_000
"""How many sales the return lines of one basket may name, and how many lines all of them may have."""
REPRICED_MAX = 20
REPRICED_LINES_MAX = 5_000
"""How many sales of one basket are priced again, and how many lines all of them have, at most; of the others the shares
of the units go back. So all of them cost about as much as evaluating one basket of the greatest size."""


async def read_refunds(
    session: Session, origin: str, lines: Sequence[BasketLine], own_transaction_id: str, currency: str
) -> tuple[Refund, ...]:
    """Return the refund of each return line that names a sale, by what the books say now.

    Five statements, whatever the number of lines, and two for each sale that is priced again, at most `REPRICED_MAX`;
    none if no line names a sale. Raises Invalid (TOO_MANY_SALES): they are more than `NAMED_MAX`, or have more lines
    than `NAMED_LINES_MAX`.
    """
    named = {names[0] for line in lines if (names := named_sale(line)) is not None}
    if not named:
        return ()
    if len(named) > NAMED_MAX:
        message = f"The return lines name {len(named)} sales; those of one basket may name {NAMED_MAX}."
        raise Invalid("TOO_MANY_SALES", message, "items")
    found = await confirmations.read_sales(session, origin, named)
    keys = {one.transaction_id: (one.origin, one.transaction_id, one.sale.transaction_counter) for one in found}
    consumed = await consumed_by(session, sorted(keys.values())) if keys else {}
    sales: dict[str, KnownSale] = {}
    records = _records(found)
    repricing = await _repricing(session, records.values())
    again = _Repriced()
    for one in sorted(found, key=lambda one: one.transaction_id):
        record, key = records[one.transaction_id], keys[one.transaction_id]
        given, price_rest = decode_given(one.sale.returned), None
        if _is_repriced(record, given, repricing):
            price_rest = await _price_rest(session, key, record, given, again)
        sales[one.transaction_id] = KnownSale(record, given, own_charges(record, consumed[key]), price_rest)
    others = named - sales.keys()
    unconfirmed = await counted_transactions(session, origin, others) if others else set()
    return refunds_of(lines, own_transaction_id, currency, sales, unconfirmed)


def _records(sales: Iterable[confirmations.NamedSale]) -> dict[str, SaleRecord]:
    """Return the record of each sale. Raises Invalid (TOO_MANY_SALES) as soon as they have too many lines."""
    records: dict[str, SaleRecord] = {}
    lines = 0
    for one in sales:
        record = records[one.transaction_id] = decode_record(one.sale.carried)
        lines += len(record.lines)
        if lines > NAMED_LINES_MAX:
            message = (
                f"The sales that the return lines name have more than {NAMED_LINES_MAX} lines; return fewer at once."
            )
            raise Invalid("TOO_MANY_SALES", message, "items")
    return records


async def take_back(
    session: Session, sale: SaleIdentity, returned: Mapping[str, Mapping[str, int]], *, is_strict: bool = False
) -> tuple[GiveBack, ...]:
    """Compute what the returned quantities (by transaction and line) give back of each sale.

    Each sale is locked until the unit of work ends, in the order of transaction IDs: concurrent returns of one sale run
    one after the other, and together give back no more than it carried. Which sale is meant: `chosen_origin`; an
    unknown one gives nothing back. ``is_strict``: raises Conflict (UNKNOWN_SALE, UNKNOWN_LINE, OVER_RETURNED) if a sale
    does not have, or no longer has, what is returned.
    """
    found: list[GiveBack] = []
    again = _Repriced()
    for transaction_id, quantities in returned.items():
        origin, held = await _lock(session, sale.origin, transaction_id)
        if held is None:
            if is_strict:
                message = f"There is no confirmed sale {transaction_id}, or it cannot be told which one is meant."
                raise Conflict("UNKNOWN_SALE", message, "items")
            continue
        record, given = decode_record(held.carried), decode_given(held.returned)
        if is_strict:
            _require_matched(transaction_id, unmatched(record, given.quantities, quantities))
        after = add_returned(record, given.quantities, quantities)
        if after == given.quantities:
            continue
        key = (origin, transaction_id, held.transaction_counter)
        charges = own_charges(record, (await consumed_by(session, [key]))[key])
        price_rest = None
        if _is_repriced(record, given, await _repricing(session, [record])):
            price_rest = await _price_rest(session, key, record, given, again)
        if price_rest is None:
            back = give_back(transaction_id, record, charges, given.quantities, after)
            now = given_by_shares(record, given, after)
            more = added(with_amounts(record, given), with_amounts(record, now))
        else:
            before, now = repriced(record, given, after, price_rest(after))
            back = give_back_repriced(transaction_id, record, charges, before, now)
            more = added(before, now)
        back, left = less_owed(back, record)
        if left != record:
            await confirmations.note_carried(session, origin, transaction_id, encode_record(left))
        found.append(replace(back, origin=origin, given=more))
        await confirmations.note_returned(session, origin, transaction_id, encode_given(now))
    return tuple(found)


async def _lock(session: Session, origin: str, transaction_id: str) -> tuple[str, confirmations.Sale | None]:
    """Lock the sale that is meant, if any, and return it with its origin."""
    held = await confirmations.lock_sale(session, origin, transaction_id)
    if held is None:
        chosen = confirmations.chosen_origin(origin, await confirmations.origins_of(session, transaction_id))
        if chosen is not None:
            return chosen, await confirmations.lock_sale(session, chosen, transaction_id)
    return origin, held


def require_lines_named(lines: Sequence[BasketLine], own_transaction_id: str) -> None:
    """Raise Conflict if a return line names its own transaction (UNKNOWN_SALE), or a sale without a line of it.

    The latter is UNKNOWN_LINE.
    """
    for place, line in enumerate(lines):
        transaction_id, reference = named_sale(line) or ("", "")
        if transaction_id == own_transaction_id:
            message = "It names its own transaction, which is not a sale yet."
            raise Conflict("UNKNOWN_SALE", message, f"items[{place}].additionalFields")
        if transaction_id and not reference:
            message = f"It names sale {transaction_id}, but not the line of it: originalLineReference is missing."
            raise Conflict("UNKNOWN_LINE", message, f"items[{place}].additionalFields")


def _require_matched(transaction_id: str, fault: tuple[str, str, int, int] | None) -> None:
    if fault is None:
        return
    status, reference, left, sold = fault
    if status == "UNKNOWN_LINE":
        raise Conflict("UNKNOWN_LINE", f"Sale {transaction_id} has no line {reference}.", "items")
    message = f"Of line {reference} of sale {transaction_id}, {_pieces(left)} of {_pieces(sold)} can be returned."
    raise Conflict("OVER_RETURNED", message, "items")


def _pieces(thousandths: int) -> str:
    return f"{thousandths // 1000}.{thousandths % 1000:03}".rstrip("0").rstrip(".")


# ---- sales that are priced again ------------------------------------------------------------------------------------


class _Repriced:
    """The sales of one basket that are priced again, counted."""

    __slots__ = ("_lines", "_sales")

    def __init__(self) -> None:
        self._sales = self._lines = 0

    def take(self, record: SaleRecord) -> bool:
        """Count a sale if it may be priced again too, and return whether it may."""
        lines = self._lines + len(record.lines)
        if self._sales >= REPRICED_MAX or lines > REPRICED_LINES_MAX:
            return False
        self._sales, self._lines = self._sales + 1, lines
        return True


async def _repricing(session: Session, records: Iterable[SaleRecord]) -> set[str]:
    """Return the promotions with the policy REPRICE among those that discounted these sales."""
    named = {one.promotion_id for record in records for line in record.lines for one in line.discounts}
    return await repricing_promotions(session, named) if named else set()


def _is_repriced(record: SaleRecord, given: Given, repricing: set[str]) -> bool:
    """Whether the sale is priced again: it was before, or one of its promotions asks for it.

    Not if the till confirmed less than was evaluated: then the price of the rest cannot be told.
    """
    if record.reduced:
        return False
    return given.is_repriced or any(one.promotion_id in repricing for line in record.lines for one in line.discounts)


async def _price_rest(
    session: Session, key: Iteration, record: SaleRecord, given: Given, again: _Repriced
) -> PriceRest | None:
    """Return what prices the rest of a sale; ``again`` are those of the same basket that are priced again too.

    None: by the shares of its units, because they are too many or its iteration is no longer stored. If it was priced
    again before, what the shares say is compared with what has been given back.
    """
    found = await read_recorded(session, *key) if again.take(record) else None
    if found is None:
        return partial(rest_by_shares, record) if given.is_repriced else None
    confirmed = discounts_of(record)
    withdrawn = {one.promotion_id for one in found.stored.outcome.applied if one.discount_minor} - confirmed.keys()
    catalogue = found.catalogue(withdrawn)
    settings = replace(found.stored.settings, nudges=False, include_missed=False)

    def price(returned: Mapping[str, int]) -> Rest:
        rest = basket_left(found.stored.basket, returned)
        return NOTHING_LEFT if rest is None else Rest.priced(found.price(catalogue, rest, settings))

    return price


def own_charges(record: SaleRecord, rows: Sequence[Consumed]) -> list[BudgetCharge]:
    """Return the sale's own charges: a consumption is net of what return lines of the same transaction gave back."""
    own: Counter[tuple[str, str]] = Counter()
    for one in record.given_back:  # a budget and promotion occur once for each returned sale
        own[one.budget_id, one.promotion_id] += one.amount_minor
    return [
        BudgetCharge(
            row.budget_id,
            row.promotion_id,
            int(row.amount.scaleb(minor_digits(row.currency))) + own[row.budget_id, row.promotion_id],
            row.currency,
        )
        for row in rows
    ]

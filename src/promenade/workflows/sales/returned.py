"""The sales that return lines name: what they give back, and what they would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from promenade.engine.basket import BasketLine, Refund
from promenade.engine.money import minor_digits
from promenade.errors import Conflict
from promenade.store.budgets.charges import Consumed, consumed_by
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import counted_transactions
from promenade.store.sales import confirmations
from promenade.workflows.settlement.refunds import KnownSale, refunds_of, unmatched
from promenade.workflows.settlement.returns import (
    BudgetCharge,
    GiveBack,
    SaleRecord,
    add_returned,
    decode_record,
    give_back,
    named_sale,
)
from promenade.workflows.settlement.rules import SaleIdentity

_QUANTITIES = msgspec.msgpack.Decoder(dict[str, int])
_ENCODER = msgspec.msgpack.Encoder()


async def read_refunds(
    session: Session, origin: str, lines: Sequence[BasketLine], own_transaction_id: str, currency: str
) -> tuple[Refund, ...]:
    """Return the refund of each return line that names a sale, by what the books say now.

    Three statements, whatever the number of lines; none if no line names a sale.
    """
    named = {names[0] for line in lines if (names := named_sale(line)) is not None}
    if not named:
        return ()
    found = await confirmations.read_sales(session, origin, named)
    keys = {one.transaction_id: (one.origin, one.transaction_id, one.sale.transaction_counter) for one in found}
    consumed = await consumed_by(session, sorted(keys.values())) if keys else {}
    sales: dict[str, KnownSale] = {}
    for one in found:
        record = decode_record(one.sale.carried)
        charges = _charged(record, consumed[keys[one.transaction_id]])
        sales[one.transaction_id] = KnownSale(record, _quantities(one.sale), charges)
    others = named - sales.keys()
    unconfirmed = await counted_transactions(session, origin, others) if others else set()
    return refunds_of(lines, own_transaction_id, currency, sales, unconfirmed)


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
    for transaction_id, quantities in returned.items():
        origin, held = await _lock(session, sale.origin, transaction_id)
        if held is None:
            if is_strict:
                message = f"There is no confirmed sale {transaction_id}, or it cannot be told which one is meant."
                raise Conflict("UNKNOWN_SALE", message, "items")
            continue
        record, before = decode_record(held.carried), _quantities(held)
        if is_strict:
            _require_matched(transaction_id, unmatched(record, before, quantities))
        after = add_returned(record, before, quantities)
        if after == before:
            continue
        key = (origin, transaction_id, held.transaction_counter)
        rows = (await consumed_by(session, [key]))[key]
        back = give_back(transaction_id, record, _charged(record, rows), before, after)
        found.append(replace(back, origin=origin))
        await confirmations.note_returned(session, origin, transaction_id, _ENCODER.encode(after))
    return tuple(found)


async def _lock(session: Session, origin: str, transaction_id: str) -> tuple[str, confirmations.Sale | None]:
    """Lock the sale that is meant, if any, and return it with its origin."""
    held = await confirmations.lock_sale(session, origin, transaction_id)
    if held is None:
        chosen = confirmations.chosen_origin(origin, await confirmations.origins_of(session, transaction_id))
        if chosen is not None:
            return chosen, await confirmations.lock_sale(session, chosen, transaction_id)
    return origin, held


def require_lines_named(lines: Sequence[BasketLine]) -> None:
    """Raise Conflict (UNKNOWN_LINE) if a return line names a sale but not the line of it."""
    for place, line in enumerate(lines):
        transaction_id, reference = named_sale(line) or ("", "")
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


def _quantities(sale: confirmations.Sale) -> dict[str, int]:
    return _QUANTITIES.decode(sale.returned) if sale.returned is not None else {}


def _charged(record: SaleRecord, rows: Sequence[Consumed]) -> list[BudgetCharge]:
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

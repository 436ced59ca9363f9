"""The sales that a confirm's return lines name: held, settled against what came back before, and noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from promenade.engine.money import minor_digits
from promenade.store import budgets, confirmations
from promenade.store.budgets import Consumed
from promenade.store.unit import Session
from promenade.workflows.confirm_rules import SaleIdentity
from promenade.workflows.returns import BudgetCharge, GiveBack, SaleRecord, add_returned, give_back

__all__ = ["encode_record", "take_back"]

_RECORD = msgspec.msgpack.Decoder(SaleRecord)
_QUANTITIES = msgspec.msgpack.Decoder(dict[str, int])
_ENCODER = msgspec.msgpack.Encoder()


def encode_record(record: SaleRecord) -> bytes:
    """A sale's record as it is kept with its confirmation."""
    return _ENCODER.encode(record)


async def take_back(
    session: Session, sale: SaleIdentity, returned: Mapping[str, Mapping[str, int]]
) -> tuple[GiveBack, ...]:
    """What the returned quantities (by transaction and line) bring back of each sale.

    Each sale is held until the unit of work ends, in the order of their transaction IDs: concurrent returns of one sale
    come one after the other, and together bring back no more than it carried. A sale is looked for among those of
    the same origin, then among all: a basket of a store may come back to another. Where several have made a sale of
    that name nobody knows which it was; it brings back nothing, as unknown ones do.
    """
    found: list[GiveBack] = []
    for transaction_id, quantities in returned.items():
        origin = sale.origin
        held = await confirmations.lock_sale(session, origin, transaction_id)
        if held is None:
            others = await confirmations.origins_of(session, transaction_id)
            if len(others) != 1:
                continue
            (origin,) = others
            held = await confirmations.lock_sale(session, origin, transaction_id)
        if held is None:
            continue
        record = _RECORD.decode(held.carried)
        before = _QUANTITIES.decode(held.returned) if held.returned is not None else {}
        after = add_returned(record, before, quantities)
        if after == before:
            continue
        rows = await budgets.consumed_by(session, origin, transaction_id, held.transaction_counter)
        back = give_back(transaction_id, record, _charged(record, rows), before, after)
        found.append(replace(back, origin=origin))
        await confirmations.note_returned(session, origin, transaction_id, _ENCODER.encode(after))
    return tuple(found)


def _charged(record: SaleRecord, rows: Sequence[Consumed]) -> list[BudgetCharge]:
    """What the sale itself took: a consumption is net of what return lines of the same transaction gave back."""
    own: Counter[tuple[str, str]] = Counter()
    for one in record.given_back:  # the same budget and promotion once for each sale that was returned
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

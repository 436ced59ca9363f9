"""Give a customer another ID in stored prices, as if the till had sent that one.

The price stays as it was: group, tier and balance, which conditions may ask for, stay too. The number of the loyalty
card goes, and in the till's own fields, values that are the ID or that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update

from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.packing import StoredRecord, compressed, packed_records
from promenade.zstd import Dictionary

_ITERATIONS = table("iterations")

_RECORD = msgspec.msgpack.Decoder(tuple[dict[str, Any], msgspec.Raw, msgspec.Raw, msgspec.Raw, msgspec.Raw])
_ENCODER = msgspec.msgpack.Encoder()


async def rename_in_prices(
    session: Session, transactions: Sequence[tuple[str, str]], old: str, new: str, dictionary: Dictionary | None
) -> int:
    """Replace the customer ``old`` in all iterations of these transactions (origin, ID); return how many it changed.

    No process may still hold one of them as the base of others: see `packing.BASE_FOR`. ``dictionary`` is the tenant's
    newest. What is written is read without other rows, because those are written too.
    """
    if not transactions:
        return 0
    key = (_ITERATIONS.c.origin, _ITERATIONS.c.transaction_id)
    columns = [_ITERATIONS.c[name] for name in StoredRecord._fields]
    rows = await session.execute(select(*columns).where(one_of(key, transactions)))
    packed = await packed_records(session, [StoredRecord.of(row) for row in rows])
    changed: list[dict[str, Any]] = []
    named: set[tuple[str, str]] = set()
    for row, one in zip(rows, packed, strict=True):
        if one is None:  # about to be purged
            continue
        record, is_named = _renamed(one.unpack(), old, new)
        if is_named:
            named.add((row.origin, row.transaction_id))
        changed.append(
            {
                "of_origin": row.origin,
                "of_transaction": row.transaction_id,
                "of_counter": row.transaction_counter,
                "new_record": record,
            }
        )
    # Others of the transaction may be stored as differences from those.
    changed = [values for values in changed if (values["of_origin"], values["of_transaction"]) in named]
    for values in changed:
        values["new_record"] = compressed(values["new_record"], dictionary)
    if changed:
        await session.execute_many(_REPLACING, changed)
    return len(changed)


_REPLACING = (
    update(_ITERATIONS)
    .where(
        _ITERATIONS.c.origin == bindparam("of_origin"),
        _ITERATIONS.c.transaction_id == bindparam("of_transaction"),
        _ITERATIONS.c.transaction_counter == bindparam("of_counter"),
    )
    .values(record=bindparam("new_record"), base_counter=None)
)


def _renamed(record: bytes, old: str, new: str) -> tuple[bytes, bool]:
    """Return a record with another customer, and whether it named ``old``."""
    basket, *others = _RECORD.decode(record)
    customer = basket.get("customer")
    if customer is None or customer.get("customer_id") not in (old, None):
        return record, False  # somebody else's basket, which the confirm has given to the customer
    known = customer.get("customer_id")
    secret = {old, customer.get("loyalty_card_number")} - {None}
    customer |= {"customer_id": known and new, "loyalty_card_number": None}
    basket["user_fields"] = _fields(basket.get("user_fields"), secret, new)
    for line in basket["lines"]:
        line["fields"] = _fields(line.get("fields"), secret, new)
    return _ENCODER.encode((basket, *others)), True


def _fields(fields: Sequence[Sequence[str]] | None, secret: set[str], new: str) -> list[tuple[str, str]]:
    return [(name, new if value in secret else value) for name, value in fields or ()]

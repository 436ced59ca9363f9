"""What this process has priced last, kept for the confirms that follow, which then read nothing.

The memory is never the authority. A confirm by an offer writes only if the iteration is stored as remembered and its
transaction is not confirmed yet (`store.sales.confirmations.insert_first`); otherwise it is done by what is stored. So
it does not matter what other processes have stored, confirmed or purged meanwhile.

Records are kept as bytes: the objects that a basket was priced with are hundreds, and an evaluation that does not get
its memory back from the one before takes a tenth longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from weakref import WeakKeyDictionary

import msgspec

from promenade.engine.basket import Basket, Facts
from promenade.engine.outcome import Outcome
from promenade.store.driver.unit import Database
from promenade.store.pricing.packing import TransactionKey

BYTES_MAX = 32 * 1024 * 1024  # of all records; one of 20 lines has 30 KB

_RECORD = msgspec.msgpack.Decoder(tuple[Basket, msgspec.Raw, Facts, str, Outcome])


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The part of a stored evaluation that a confirm needs."""

    transaction_counter: int
    receipt_id: str | None
    header_reference: str | None
    evaluated_at: datetime
    basket: Basket
    facts: Facts
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A stored evaluation; of all rows with its key, only its own was created then."""

    transaction_counter: int
    receipt_id: str | None
    header_reference: str | None
    evaluated_at: datetime
    created_at: datetime
    record: bytes

    def offer(self) -> Offer:
        """Decode the record."""
        basket, _, facts, _, outcome = _RECORD.decode(self.record)
        return Offer(
            transaction_counter=self.transaction_counter,
            receipt_id=self.receipt_id,
            header_reference=self.header_reference,
            evaluated_at=self.evaluated_at,
            basket=basket,
            facts=facts,
            outcome=outcome,
        )


class Offers:
    """The latest offer of each of the transactions that this process has priced last."""

    def __init__(self) -> None:
        self._offers: dict[TransactionKey, Remembered] = {}
        self._bytes = 0

    def put(self, key: TransactionKey, offer: Remembered) -> None:
        """Remember the latest offer of a transaction, and forget the oldest ones if they take too much memory."""
        self.forget(key)
        self._offers[key] = offer
        self._bytes += len(offer.record)
        while self._bytes > BYTES_MAX:
            self.forget(next(iter(self._offers)))

    def get(self, key: TransactionKey, counter: int) -> Remembered | None:
        """Return the transaction's latest offer, if it has this counter."""
        found = self._offers.get(key)
        return found if found is not None and found.transaction_counter == counter else None

    def forget(self, key: TransactionKey) -> None:
        """Forget what is remembered of a transaction."""
        found = self._offers.pop(key, None)
        if found is not None:
            self._bytes -= len(found.record)

    def clear(self) -> None:
        """Forget everything."""
        self._offers.clear()
        self._bytes = 0


_OFFERS: WeakKeyDictionary[Database, Offers] = WeakKeyDictionary()


def offers_of(database: Database) -> Offers:
    """Return what this process has priced last in a database."""
    return _OFFERS.setdefault(database, Offers())

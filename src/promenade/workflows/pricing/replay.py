"""Replay: price a stored iteration again, only from the data stored with it."""

from __future__ import annotations

from dataclasses import dataclass

from promenade.engine.outcome import Outcome
from promenade.errors import NotFound
from promenade.store.pricing.iterations import StoredIteration, encode_outcome
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration
from promenade.workflows.sales.recorded import read_recorded


@dataclass(frozen=True, slots=True)
class Replayed:
    """A stored iteration, and its price computed again; ``outcome_bytes`` are the encoded outcome (section 11)."""

    stored: StoredIteration
    outcome: Outcome
    outcome_bytes: bytes

    @property
    def is_same(self) -> bool:
        """Whether the price has the same bytes as the stored one."""
        return self.outcome_bytes == self.stored.outcome_bytes

    def before(self) -> PricedIteration:
        """The iteration as it was answered."""
        return as_answered(self.stored, self.stored.outcome)

    def after(self) -> PricedIteration:
        """The iteration as it would be answered now."""
        return as_answered(self.stored, self.outcome)


def as_answered(stored: StoredIteration, outcome: Outcome) -> PricedIteration:
    """Return a stored iteration as evaluate answers it, with this outcome."""
    return PricedIteration(
        transaction_id=stored.transaction_id,
        transaction_counter=stored.transaction_counter,
        receipt_id=stored.receipt_id,
        header_reference=stored.header_reference,
        evaluated_at=stored.evaluated_at,
        data_age=stored.data_age,
        outcome=outcome,
        is_simulation=False,
        refunds=stored.facts.refunds,
    )


async def replay(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int, *, origin: str | None = None
) -> Replayed:
    """Price a stored iteration again, by the rules it was priced by: the outcome has the same bytes (section 11).

    ``origin`` None: this instance's own. Raises NotFound (ITERATION_NOT_FOUND).
    """
    priced_by = context.origin if origin is None else origin

    found = await context.database.read(
        lambda session: read_recorded(session, priced_by, transaction_id, transaction_counter), tenant=tenant_id
    )
    if found is None:
        raise NotFound("ITERATION_NOT_FOUND", "There is no such iteration.")
    outcome = found.price(found.catalogue())
    return Replayed(found.stored, outcome, encode_outcome(outcome))

"""Replay: price a stored iteration again, only from the data stored with it."""

from __future__ import annotations

from promenade.engine.catalogue import RecordedCatalogue
from promenade.engine.evaluation import evaluate
from promenade.errors import NotFound
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import (
    StoredIteration,
    decode_definition,
    decode_tree,
    encode_outcome,
    find_iteration,
    load_definitions,
)
from promenade.workflows.context import Context


async def replay(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int, *, origin: str | None = None
) -> bytes:
    """Price a stored iteration again and return the encoded outcome: the same bytes as stored (section 11).

    ``origin`` None: this instance's own. Raises NotFound (ITERATION_NOT_FOUND).
    """
    priced_by = context.origin if origin is None else origin

    async def work(session: Session) -> tuple[StoredIteration, dict[str, bytes]]:
        stored = await find_iteration(session, priced_by, transaction_id, transaction_counter)
        if stored is None:
            raise NotFound("ITERATION_NOT_FOUND", "There is no such iteration.")
        return stored, await load_definitions(session, {*stored.outcome.candidate_hashes, stored.tree_hash})

    stored, bodies = await context.database.read(work, tenant=tenant_id)
    catalogue = RecordedCatalogue(decode_tree(bodies[stored.tree_hash]))
    for key in stored.outcome.candidate_hashes:
        catalogue.put(decode_definition(bodies[key]))
    return encode_outcome(evaluate(catalogue, stored.basket, stored.facts, stored.settings))

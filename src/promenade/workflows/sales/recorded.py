"""Stored iterations, ready to be priced again with the promotions that they were priced with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from promenade.engine.basket import Basket, Settings
from promenade.engine.catalogue import RecordedCatalogue
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import (
    StoredIteration,
    decode_definition,
    decode_tree,
    find_iteration,
    load_definitions,
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An iteration with its promotions and its article groups, encoded as they are stored."""

    stored: StoredIteration
    bodies: dict[str, bytes]

    def catalogue(self, without: Collection[str] = ()) -> RecordedCatalogue:
        """Return its promotions, except those with the IDs in ``without``."""
        catalogue = RecordedCatalogue(*decode_tree(self.bodies[self.stored.tree_hash]))
        for key in self.stored.outcome.candidate_hashes:
            definition = decode_definition(self.bodies[key])
            if definition.id not in without:
                catalogue.put(definition)
        return catalogue

    def price(
        self, catalogue: RecordedCatalogue, basket: Basket | None = None, settings: Settings | None = None
    ) -> Outcome:
        """Price the iteration's basket again, or another one, by its facts and its rules."""
        stored = self.stored
        return evaluate(catalogue, basket or stored.basket, stored.facts, settings or stored.settings)


async def read_recorded(
    session: Session, origin: str, transaction_id: str, transaction_counter: int
) -> Recorded | None:
    """Read an iteration; None: there is none, or no longer."""
    stored = await find_iteration(session, origin, transaction_id, transaction_counter)
    if stored is None:
        return None
    return Recorded(stored, await load_definitions(session, {*stored.outcome.candidate_hashes, stored.tree_hash}))

"""Sales as they were priced and stored before the rules changed: a replay must give the same bytes (section 11).

One file for each number of the rules, `rules-<number>.zst`, written by the code of then and never again: see `make`.
It is MessagePack, compressed: a list of `StoredSale`, encoded as iterations and definitions are in the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from promenade.engine.basket import Basket, Facts, StoredSettings
from promenade.engine.definition import PromotionDefinition
from promenade.zstd import decompress

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class StoredSale:
    """One sale, all promotions of its day, and its price then."""

    article_groups: dict[str, str | None]
    definitions: tuple[PromotionDefinition, ...]
    basket: Basket
    settings: StoredSettings
    facts: Facts
    outcome: msgspec.Raw  # bytes of the stored outcome


_DECODER = msgspec.msgpack.Decoder(list[StoredSale])


def stored_sales(rules: int) -> list[StoredSale]:
    """Return the sales that were priced by these rules when they were in force."""
    return _DECODER.decode(decompress((FOLDER / f"rules-{rules}.zst").read_bytes()))

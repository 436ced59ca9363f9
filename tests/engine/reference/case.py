"""One sale to price, as both implementations receive it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from promenade.engine.basket import Basket, Facts, Settings
from promenade.engine.definition import PromotionDefinition


@dataclass(frozen=True)
class Case:
    """One sale to price, and the promotions of its day."""

    definitions: tuple[PromotionDefinition, ...]
    basket: Basket
    facts: Facts
    settings: Settings
    never: Mapping[str, str] = field(default_factory=dict)  # groups that are never discounted, and why

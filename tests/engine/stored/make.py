"""Price varied sales by the rules in force, and write them to the file named.

`python -m tests.engine.stored.make tests/engine/stored/rules-N.zst`, with the last code of rules N, before the rules
change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import ActionRow, ConditionRow, PromotionDefinition, TierRow
from promenade.engine.evaluation import evaluate
from promenade.zstd import compressor
from tests.engine.reference.case import Case
from tests.engine.reference.made_up import ARTICLE_GROUPS, Maker, identity

SALES = 240
MANY = 24  # promotions of one in six sales: more than are priced without looking for those that matter
LEVEL = 19


def cases() -> Iterator[Case]:
    """Make sales of every kind: few and many promotions, both strategies, with and without advice, units that end up
    free early.
    """
    for seed in range(SALES):
        chance = Random(f"stored sale {seed}")
        maker = Maker(chance)
        case = maker.case()
        currency = case.basket.pos_group.currency
        definitions = list(case.definitions)
        if seed % 6 == 0:
            definitions = [maker.promotion(number, currency) for number in range(1, MANY + 1)]
        if seed % 2 == 0:
            definitions.insert(chance.randrange(len(definitions) + 1), maker.giver(99))
        if seed % 5 < 3:
            definitions.append(_nearly_met(maker, case))
        settings = replace(
            case.settings,
            strategy="BEST_DEAL" if seed % 3 == 0 else "SEQUENTIAL",
            include_missed=maker.odds(2),
            nudges=seed % 5 < 3,
        )
        yield replace(case, definitions=tuple([_drawn(maker, one) for one in definitions]), settings=settings)


def _nearly_met(maker: Maker, case: Case) -> PromotionDefinition:
    """Make a promotion that the sale misses by little."""
    lines = [line for line in case.basket.lines if line.quantity_thousandths > 0]
    pieces = sum(line.quantity_thousandths for line in lines) // 1000 + maker.one(1, 1, 2)
    amount = sum(line.quantity_thousandths * line.unit_price_hundredths for line in lines) // 100_000 + maker.one(1, 5)
    kind, value = maker.discount("PERCENTAGE", "ABSOLUTE")
    plain = ActionRow("a", 1, maker.one("ARTICLE", "RECEIPT"), kind, value)
    steps = (
        TierRow(1, kind, value, min_quantity_thousandths=1000),
        TierRow(2, "PERCENTAGE", 5000, min_quantity_thousandths=pieces * 1000),
    )
    ways: tuple[dict[str, Any], ...] = (
        {"conditions": (ConditionRow("c", 1, "AND", "ITEM_QUANTITY", value=str(pieces)),), "actions": (plain,)},
        {"conditions": (ConditionRow("c", 1, "AND", "RECEIPT_AMOUNT", value=str(amount)),), "actions": (plain,)},
        {"actions": (ActionRow("a", 1, "QUANTITY_TIER", quantity_tiers=steps),)},
    )
    return PromotionDefinition(
        identity(98), "Just missed", exclusivity=maker.one("NONE", "NONE", "PROMOTION"), **maker.one(*ways)
    )


def _drawn(maker: Maker, promotion: PromotionDefinition) -> PromotionDefinition:
    """Let some actions draw their line; the cases of the reference leave that out."""
    if not maker.odds(8):
        return promotion
    actions = tuple([replace(one, selection_type="RANDOM") for one in promotion.actions])
    return replace(promotion, actions=actions)


def stored(case: Case) -> Any:
    """Price a case and return it in the form of `StoredSale`."""
    catalogue = Catalogue(ARTICLE_GROUPS)
    refused = catalogue.compile_all(case.definitions)
    assert not refused, [f"{error.target}: {error.message}" for error in refused.values()]
    return {
        "article_groups": ARTICLE_GROUPS,
        "definitions": case.definitions,
        "basket": case.basket,
        "settings": case.settings,
        "facts": case.facts,
        "outcome": evaluate(catalogue, case.basket, case.facts, case.settings),
    }


if __name__ == "__main__":
    content = msgspec.msgpack.encode([stored(case) for case in cases()])
    Path(sys.argv[1]).write_bytes(compressor(LEVEL)(content))

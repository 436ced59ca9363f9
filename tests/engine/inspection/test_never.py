"""What is reported never to hold never holds, on thousands of sales; what holds once is never reported so."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.engine.inspection import PlaceSeen, Tenant, inspect
from promenade.engine.promotion import CompiledPromotion, microseconds
from promenade.engine.verdict import Met
from promenade.engine.view import BasketView, GroupTree
from tests.engine.given import promotion
from tests.engine.inspection.tempting import TREE, ZONES, conditions, sale

NEVER = {"CONDITION_NEVER_HOLDS", "CONDITIONS_CONTRADICT", "CONDITION_OUTSIDE_VALIDITY"}
PLACES = {f"pos-{zone}": PlaceSeen(f"pos-{zone}", zone, "EUR", zone, True) for zone in ZONES}
AT = datetime(2026, 3, 1, tzinfo=UTC)
TENANT = Tenant(at=AT, places=PLACES, tree=GroupTree(TREE))


def definition(draw: random.Random) -> PromotionDefinition:
    """Draw a valid promotion, with or without a validity period, in either mode."""
    while True:
        rows = conditions(draw)
        starts = datetime(2026, 3, 20, tzinfo=UTC) + timedelta(hours=draw.randrange(24 * 14))
        ends = starts + timedelta(hours=draw.choice((1, 12, 24, 72, 24 * 6)))
        made = promotion("p", *rows, calculation_mode=draw.choice(("ADDITIVE", "MULTIPLICATIVE")))
        if draw.random() < 0.5:
            made = replace(made, valid_from=starts, valid_to=ends)
        try:
            compile_promotion(made)
        except DefinitionError:
            continue
        return made


def never_applies(made: PromotionDefinition) -> bool:
    return any(one.severity == "ERROR" and one.code in {*NEVER, "NEVER_APPLIES"} for one in inspect(made, TENANT))


def holds(compiled: CompiledPromotion, view: BasketView, draw: random.Random) -> bool:
    """Return whether it qualifies for the sale, for any amount that earlier promotions may have left."""
    if not compiled.starts <= microseconds(view.settings.now) < compiled.ends:
        return False
    left = [view.sale_total_minor]
    if compiled.is_multiplicative:
        left += [0, draw.randint(0, view.sale_total_minor)]
    return any(isinstance(compiled.qualify(view, amount), Met) for amount in left)


def test_conditions_reported_as_impossible_never_hold_on_random_sales(seed: int) -> None:
    draw = random.Random(seed)
    said = 0
    for _ in range(1500):
        made = definition(draw)
        compiled = compile_promotion(made)
        is_dead = never_applies(made)
        said += is_dead
        for _ in range(60 if is_dead else 15):
            now = None
            if made.valid_from is not None and made.valid_to is not None and draw.random() < 0.7:
                now = made.valid_from + (made.valid_to - made.valid_from) * draw.randrange(100) // 100
            view = sale(draw, made.conditions, now)
            assert not (is_dead and holds(compiled, view, draw)), (made, view.basket, view.settings.now)
    assert said > 100  # otherwise nothing was tested

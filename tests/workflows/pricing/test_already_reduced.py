"""What the till has reduced already: exclusions from the back office to the price, the replay, and the next process."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.engine.basket import BasketLine
from promenade.store.driver.unit import Database
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.pricing.replay import replay
from tests.workflows.authoring.desk import TENANT, Desk
from tests.workflows.pricing.test_evaluate import NOW, a_context

COAT = BasketLine("coat", "coat", 1000, 4000, regular_price_hundredths=6000)
SHIRT = BasketLine("shirt", "shirt", 1000, 2700, fields=(("priceType", "2"),), regular_price_hundredths=3000)
HAT = BasketLine("hat", "hat", 1000, 1000, fields=(("priceType", "1"),))


@pytest.mark.parametrize(
    ("exclusion", "saved"),
    [
        ({"exclusionType": "REDUCED"}, {"hat": 200}),
        ({"exclusionType": "BETTER_REDUCED"}, {"shirt": 300, "hat": 200}),
        ({"exclusionType": "ADDITIONAL_FIELD", "fieldName": "priceType"}, {"coat": 800}),
        ({"exclusionType": "ADDITIONAL_FIELD", "fieldName": "priceType", "value": "2"}, {"coat": 800, "hat": 200}),
    ],
)
async def test_an_exclusion_leaves_out_what_it_says(
    database: Database, exclusion: dict[str, Any], saved: dict[str, int]
) -> None:
    await create_tenant(database, TENANT, settings={}, at=NOW, user="tests")
    desk = Desk(database)
    await desk.create("PosGroups", code="S1", name="Store", currency="EUR", timeZone="UTC")
    promotion = await desk.create("Promotions", code="TWENTY", name="20 % off", type="ARTICLE", currency="EUR")
    twenty = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 20}
    action = await desk.create("DiscountActions", promotion_ID=promotion, **twenty)
    await desk.create("ActionExclusions", action_ID=action, **exclusion)
    await desk.transition("Promotions", promotion, "activate")

    context = a_context(desk.database)
    request = PricingRequest(lines=(COAT, SHIRT, HAT), pos_group_code="S1", transaction_id="t1")
    priced = await evaluate(context, TENANT, request)
    assert {line.reference: line.discount_minor for line in priced.outcome.lines if line.discount_minor} == saved
    again = await replay(a_context(desk.database), TENANT, "t1", 1)
    assert again.is_same

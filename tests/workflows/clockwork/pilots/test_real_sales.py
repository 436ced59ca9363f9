"""From the till to the live promotion: arms as evaluation and confirm record them."""

from __future__ import annotations

import hashlib
import uuid
from decimal import Decimal

from promenade.engine.basket import BasketLine
from promenade.workflows.clockwork.pilots import SALES_MIN
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.workflows.authoring.desk import TENANT
from tests.workflows.clockwork.pilots.trial import Trial


async def _sell(trial: Trial, shop: str, cents: int) -> bool:
    """Sell a basket of one line; return whether the promotion applied."""
    request = PricingRequest(lines=(BasketLine("1", "A-1", 1000, cents),), pos_group_id=trial.groups[shop])
    priced = await evaluate(trial.context, TENANT, request)
    promotions = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
    fingerprint = hashlib.sha256(uuid.uuid4().bytes).digest()
    assert priced.transaction_counter is not None
    command = ConfirmCommand(priced.transaction_id, priced.transaction_counter, promotions, fingerprint)
    await confirm(trial.context, TENANT, command)
    return bool(promotions)


async def test_real_sales_make_a_pilot_go_live(trial: Trial) -> None:
    promotion = await trial.pilot(autoPromoteThreshold=Decimal("4.50"))  # 11.00 less 5 % is 10.45
    trial.later(minutes=1)
    for number in range(SALES_MIN):
        assert await _sell(trial, "TREATED", 1100 + 20 * (number % 2))
        assert not await _sell(trial, "CONTROL", 1000)
    trial.later(minutes=1)
    assert (await trial.run()).done == 1
    assert await trial.status(promotion) == "ACTIVE"
    assert await _sell(trial, "CONTROL", 1000)


async def test_baskets_that_it_leaves_alone_bring_the_average_down(trial: Trial) -> None:
    promotion = await trial.pilot(autoPromoteThreshold=Decimal("4.50"))
    await trial.office.given(
        "Conditions", promotion_ID=promotion, conditionType="RECEIPT_AMOUNT", minAmount=Decimal(10)
    )
    trial.later(minutes=1)
    for _ in range(SALES_MIN):
        assert await _sell(trial, "TREATED", 1100)
        assert not await _sell(trial, "TREATED", 500)
        for cents in (1000, 500):
            assert not await _sell(trial, "CONTROL", cents)
    trial.later(minutes=1)
    assert (await trial.run()).done == 0  # 7.73 to 7.50 are 3 %; the large baskets alone would be 39 %
    assert await trial.status(promotion) == "PILOT"

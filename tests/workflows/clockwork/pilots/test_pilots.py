"""Pilots that go live automatically: which, when, and with which events."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.store.clockwork.pilots import RunningPilot, sum_sales
from promenade.store.driver.unit import Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.workflows.clockwork import pilots
from promenade.workflows.reports.rebuilding import begin_rebuild
from tests.workflows.authoring.desk import NOON, TENANT
from tests.workflows.clockwork.pilots.trial import DAYS, Trial, around

OVER = DAYS * 24  # hours from NOON on; at that moment the period is over
ENOUGH = pilots.SALES_MIN

# threshold, hours since NOON, sales of the pilot arm, of the control arm, whether it goes live
CASES: dict[str, tuple[str, float, list[str], list[str], bool]] = {
    "the threshold is met to the cent": ("10", 1, around("11.00"), around("10.00"), True),
    "a cent is missing": ("10", 1, [*around("11.00", 28), "10.90", "11.09"], around("10.00"), False),
    "a cent too much in control": ("10", 1, around("11.00"), [*around("10.00", 28), "9.90", "10.11"], False),
    "a third of a percent is exact": ("33.33", 1, around("4.00"), around("3.00"), True),
    "and not more than it is": ("33.34", 1, around("4.00"), around("3.00"), False),
    "a threshold of zero admits what is surely higher": ("0", 1, around("10.10"), around("10.00"), True),
    "but nothing that chance explains": ("0", 1, around("10.01"), around("10.00"), False),
    "and no loss": ("-20", 1, around("9.00"), around("10.00"), False),
    "a threshold that one lucky basket reaches": ("10", 1, [*around("10.00"), "99.00"], around("10.00"), False),
    "equal baskets cannot be tested": ("10", 1, ["20.00"] * 30, ["10.00"] * 30, False),
    "29 sales in the pilot arm are too few": ("10", 1, ["99.00", *around("99.00", 28)], around("10.00"), False),
    "29 sales in control are too few": ("10", 1, around("99.00"), ["10.00", *around("10.00", 28)], False),
    "also when the window is over": ("10", OVER, ["99.00", *around("99.00", 28)], around("10.00"), False),
    "30 are enough then, too": ("10", OVER, around("99.00"), around("10.00"), True),
    "control that took nothing compares with nothing": ("10", OVER, around("11.00"), ["0.00"] * 30, False),
    "control below zero neither": ("10", OVER, around("11.00"), [*around("5.00"), "-600.00"], False),
    "a return is a transaction below zero": ("100", OVER, [*around("20.70"), "-1.00"], around("10.00"), True),
    "and can cost the threshold": ("100", OVER, [*around("20.70"), "-1.01"], around("10.00"), False),
    "returns do not make up the thirty": ("-500", 1, [*around("20.00", 28), "20.00", "-1.00"], around("10.00"), False),
}  # fmt: skip


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize("case", CASES)
async def test_a_pilot_goes_live_by_its_uplift(trial: Trial, case: str) -> None:
    threshold, hours, treated, control, goes_live = CASES[case]
    await trial.pilot(autoPromoteThreshold=Decimal(threshold))
    await trial.sold("PILOT", *treated)
    await trial.sold("CONTROL", *control)
    trial.later(hours=hours)
    assert (await trial.run()).done == int(goes_live)
    assert await trial.status() == ("ACTIVE" if goes_live else "PILOT")


async def _earned(trial: Trial, **config: Any) -> str:
    promotion = await trial.pilot(**config)
    await trial.sold("PILOT", *around("20.00"))
    await trial.sold("CONTROL", *around("10.00"))
    return promotion


async def _activations(trial: Trial, promotion: str) -> int:
    return [one["type"] for one in await trial.office.news(promotion)].count("PROMOTION_ACTIVATED")


async def test_an_automatic_promotion_has_the_same_effects_as_a_manual_one(trial: Trial) -> None:
    promotion = await _earned(trial)
    catalogues = Catalogues(trial.context.database)
    before = (await catalogues.current("tenant-a")).version
    trial.later(hours=1)
    await trial.run()
    assert sorted(await trial.office.trail(promotion)) == ["CREATE", "PROMOTE_TO_ACTIVE", "START_PILOT"]
    (row,) = [one for one in await trial.office.rows("AuditLogs") if one["action"] == "PROMOTE_TO_ACTIVE"]
    assert row["actor"] == "system"
    assert row["timestamp"] == NOON + timedelta(hours=1)
    assert (await trial.office.row("Promotions", promotion))["modifiedBy"] == "system"
    assert await _activations(trial, promotion) == 1
    catalogue = await catalogues.current("tenant-a")
    assert catalogue.version.promotions > before.promotions
    assert catalogue.definitions[promotion].status == "ACTIVE"


@pytest.mark.parametrize("config", [{"autoPromote": False}, {"pilotStartAt": NOON + timedelta(hours=2)}])
async def test_a_pilot_goes_live_only_after_its_window_and_if_configured(trial: Trial, config: dict[str, Any]) -> None:
    await _earned(trial, **config)
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    assert await trial.status() == "PILOT"


async def test_sales_outside_the_window_and_refused_confirms_do_not_count(trial: Trial) -> None:
    await trial.pilot()
    await trial.sold("PILOT", *around("10.00"))
    await trial.sold("CONTROL", *around("10.00"))
    end = NOON + timedelta(days=DAYS)
    await trial.sold("PILOT", "999.00", at=end)
    await trial.sold("PILOT", "999.00", at=NOON - timedelta(seconds=1))
    await trial.sold("PILOT", "999.00", status="FAILED")
    trial.later(hours=OVER + 1)
    assert (await trial.run()).done == 0
    await trial.sold("PILOT", *around("12.00"), at=end - timedelta(microseconds=1))  # the average is 11.00 now
    trial.later(days=1, seconds=1)  # sales reported so late are found when counting starts anew
    assert (await trial.run()).done == 1


async def test_sales_without_the_pilots_discount_count_in_the_pilot_arm(trial: Trial) -> None:
    """Otherwise a promotion for large baskets would be compared with control stores' baskets of all sizes."""
    await trial.pilot()
    await trial.sold("PILOT", *around("100.00"))
    await trial.sold(None, *["10.00"] * ENOUGH)
    await trial.sold(None, *["9999.00"] * ENOUGH, at=NOON - timedelta(hours=1))
    await trial.sold("CONTROL", *["100.00", "10.00"] * ENOUGH)
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.sold(None, *["1000.00"] * ENOUGH, shop="CONTROL")  # in no arm
    assert (await trial.run()).done == 0


async def test_sales_before_it_was_on_trial_are_not_of_its_arm(trial: Trial) -> None:
    trial.later(hours=2)
    await trial.pilot()
    await trial.sold(None, *["9999.00"] * ENOUGH, at=NOON + timedelta(hours=1))
    await trial.sold("PILOT", *around("10.00"))
    await trial.sold("CONTROL", *around("10.00"))
    trial.later(hours=1)
    assert (await trial.run()).done == 0


async def test_the_level_of_significance_is_the_tenants(trial: Trial) -> None:
    await trial.set_level("0.001")
    await trial.pilot(autoPromoteThreshold=Decimal(0))
    await trial.sold("PILOT", *around("10.06"))  # p = 0.026
    await trial.sold("CONTROL", *around("10.00"))
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.set_level("0.05")
    assert (await trial.run()).done == 1


async def test_shops_that_sold_more_before_have_not_earned_it(trial: Trial) -> None:
    await trial.sold_before(3, TREATED=around("20.00"), CONTROL=around("10.00"))
    await _earned(trial)  # 20.00 against 10.00, as before the pilot
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.sold("PILOT", *around("30.00"))  # 25.00 on average
    assert (await trial.run()).done == 1


async def test_shops_that_sold_less_before_can_earn_it(trial: Trial) -> None:
    await trial.sold_before(3, TREATED=around("10.00"), CONTROL=around("20.00"))
    await trial.sold_before(9, CONTROL=around("99.00"))  # the other shop had not opened yet
    await trial.pilot(autoPromoteThreshold=Decimal(30))
    await trial.sold("PILOT", *around("13.00", 60))
    await trial.sold("CONTROL", *around("20.00"))
    trial.later(hours=1)
    assert (await trial.run()).done == 1


async def test_nothing_goes_live_while_the_past_is_counted_anew(trial: Trial) -> None:
    await _earned(trial)
    await begin_rebuild(trial.context.database, TENANT)
    trial.later(hours=1)
    assert (await trial.run()).done == 0


async def test_currencies_are_judged_one_by_one(trial: Trial) -> None:
    """The pilot earned it in euros; what a yen is worth in euros is not asked."""
    await _earned(trial)
    await trial.sold("PILOT", "5000.00", currency="JPY")  # compared with nothing
    trial.later(hours=1)
    assert (await trial.run()).done == 1


async def test_a_pilot_must_succeed_in_every_currency_that_both_arms_sell_in(trial: Trial) -> None:
    await _earned(trial)
    await trial.sold("PILOT", *around("900.00"), currency="JPY")
    await trial.sold("CONTROL", *around("1000.00"), currency="JPY")
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.sold("PILOT", *around("2000.00"), currency="JPY")
    assert (await trial.run()).done == 1


async def test_of_a_promotion_with_a_currency_its_own_counts(trial: Trial) -> None:
    await _earned(trial)
    for arm in ("PILOT", "CONTROL"):
        await trial.sold(arm, "5000.00", currency="JPY")
    trial.later(hours=1)
    assert (await trial.run()).done == 0
    await trial.office.update("Promotions", trial.promotion, currency="EUR")
    assert (await trial.run()).done == 1


async def test_concurrent_workers_promote_a_pilot_once(trial: Trial) -> None:
    promotion = await _earned(trial)
    trial.later(hours=1)
    ran = await asyncio.gather(*(trial.run() for _ in range(4)))
    assert sum(one.done for one in ran) == 1
    assert (await trial.office.trail(promotion)).count("PROMOTE_TO_ACTIVE") == 1
    assert await _activations(trial, promotion) == 1


async def test_a_pilot_that_cannot_run_stays_and_stops_no_other(trial: Trial) -> None:
    over = await _earned(trial)
    await trial.office.update("Promotions", over, validTo=NOON + timedelta(minutes=30))
    other = await _earned(trial)
    trial.later(hours=1)
    ran = await trial.run()
    assert ran.done == 1
    assert over in (ran.trouble or "")
    assert await trial.status(over) == "PILOT"
    assert await trial.status(other) == "ACTIVE"
    assert (await trial.run()).done == 0


async def test_a_pilot_whose_sales_cannot_be_counted_stops_no_other(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, well = sorted([await _earned(trial), await _earned(trial)])

    async def fail_for_one(session: Session, pilot: RunningPilot, *how: Any) -> Any:
        if pilot.promotion_id == broken:
            raise ArithmeticError("what nobody has foreseen")
        return await sum_sales(session, pilot, *how)

    monkeypatch.setattr(pilots, "sum_sales", fail_for_one)
    trial.later(hours=1)
    ran = await trial.run()
    assert (ran.done, ran.more) == (1, False)
    assert broken in (ran.trouble or "")
    assert [await trial.status(one) for one in (broken, well)] == ["PILOT", "ACTIVE"]
    monkeypatch.undo()
    assert (await trial.run()).done == 1


async def test_a_pilot_of_a_locked_campaign_still_goes_live(trial: Trial) -> None:
    """A lock prevents people from changing a plan; going live at this uplift is part of the plan."""
    promotion = await _earned(trial)
    campaign = await trial.office.given("Campaigns")
    await trial.office.update("Promotions", promotion, campaign_ID=campaign)
    await trial.office.move("Campaigns", campaign, "lock")
    trial.later(hours=1)
    assert (await trial.run()).done == 1
    assert await trial.status() == "ACTIVE"


async def test_a_pilot_changed_while_it_was_counted_is_evaluated_again(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    promotion = await _earned(trial)
    (config,) = await trial.office.rows("PromotionPilotConfigs")
    trial.later(hours=1)
    judged, changed = pilots._go_live, [False]

    async def after_a_change(*arguments: Any) -> Any:
        if not changed[0]:
            await trial.office.update("PromotionPilotConfigs", config["ID"], autoPromoteThreshold=Decimal(200))
            changed[0] = True
        return await judged(*arguments)

    monkeypatch.setattr(pilots, "_go_live", after_a_change)
    assert (await trial.run()).done == 0
    assert changed[0]
    assert await trial.status(promotion) == "PILOT"
    assert (await trial.run()).done == 0

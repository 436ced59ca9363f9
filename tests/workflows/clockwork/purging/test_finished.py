"""Finished side effects and secrets no longer used for signing are deleted; others are kept."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from promenade.errors import NotFound
from promenade.workflows.clockwork import purges
from promenade.workflows.context import Retention
from promenade.workflows.reports.aggregating import aggregate_all
from promenade.workflows.sales.side_effects import side_effects_status
from tests.workflows.clockwork.purging.attic import Attic
from tests.workflows.shop import NOON, identity, open_shop

YEARS = timedelta(days=401)


async def side_effects(attic: Attic, name: str, status: str, age: timedelta, *, reported: bool = True) -> str:
    await attic.shop.put(
        "side_effect_jobs", id=identity(name), origin="pos", transaction_id=name, transaction_counter=1, status=status,
        payload=b"", enqueued_at=NOON - age, due_at=NOON - age, attempts=1, coupons_redeemed=0, budgets_consumed=0,
        loyalty_points_earned=0, reported=reported,
    )  # fmt: skip
    return identity(name)


async def test_finished_side_effects_are_deleted_with_the_evaluation_of_their_sale(attic: Attic) -> None:
    cases = list(product(("PENDING", "RUNNING", "COMPLETED", "FAILED"), (YEARS, timedelta(days=399))))
    ids = {case: await side_effects(attic, f"T{number}", *case) for number, case in enumerate(cases)}
    waits = await side_effects(attic, "waits", "COMPLETED", YEARS, reported=False)  # until reports count the sale
    assert await attic.purge("jobs") == 2
    gone = {ids["COMPLETED", YEARS], ids["FAILED", YEARS]}
    assert await attic.ids("side_effect_jobs") == {*ids.values(), waits} - gone


async def test_the_operator_says_how_long_they_are_kept_and_many_go_in_small_units(
    attic: Attic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purges, "UNIT_ROWS", 4)
    attic.retention = Retention(sales=2)
    for number in range(13):
        await side_effects(attic, f"T{number}", "COMPLETED", timedelta(days=3))
    kept = await side_effects(attic, "young", "COMPLETED", timedelta(days=1))
    assert await attic.purge("jobs") == 13
    assert await attic.ids("side_effect_jobs") == {kept}


async def test_a_sale_whose_side_effects_were_deleted_is_unknown(attic: Attic) -> None:
    await attic.sell("T-1")
    shop = attic.shop
    assert (await side_effects_status(shop.context, shop.tenant, "T-1", 1)).status == "PENDING"
    await shop.work()
    await aggregate_all(shop.context, shop.tenant)
    shop.later(days=401)
    await attic.purge("jobs")
    with pytest.raises(NotFound) as caught:
        await side_effects_status(shop.context, shop.tenant, "T-1", 1)
    assert caught.value.code == "ITERATION_NOT_FOUND"


async def test_secrets_no_longer_used_for_signing_are_deleted_for_all_tenants(attic: Attic) -> None:
    other = await open_shop(attic.shop.context.database, "tenant-b")
    for name, shop, until in (
        ("over", attic.shop, NOON),
        ("signs", attic.shop, NOON + timedelta(seconds=1)),
        ("theirs", other, NOON - timedelta(days=1)),
        ("never", attic.shop, None),
    ):
        await shop.put(
            "WebhookSubscriptions", id=identity(name), callback_url="https://example.com", event_types=["*"],
            secret="now", is_active=True, previous_secret=until and "before", previous_secret_until=until,
        )  # fmt: skip
    before = {row.id: row for row in await attic.every("WebhookSubscriptions")}
    assert await attic.purge("secrets") == 2
    after = {row.id: row for row in await attic.every("WebhookSubscriptions")}
    assert {row.id for row in after.values() if row.previous_secret} == {identity("signs")}
    for key, row in after.items():  # nothing visible has changed
        assert {**row._mapping, "previous_secret": 0} == {**before[key]._mapping, "previous_secret": 0}

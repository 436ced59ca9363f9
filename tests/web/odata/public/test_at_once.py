"""Many clients change the same rows at the same time: each is served, and no change is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier
from typing import Any

from tests.web.odata.public.conftest import Api

CLIENTS = 8


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return the responses to calls that are made at the same moment."""
    start = Barrier(len(calls))

    def make(call: Callable[[], Any]) -> Any:
        start.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls))


def test_change_sets_that_touch_the_same_rows_in_any_order_are_all_carried_out(api: Api, seed: int) -> None:
    """Without an order of locking, each would hold what the other waits for."""
    campaign = api.campaign()["ID"]
    rows = [f"Promotions({api.promotion()['ID']})" for _ in range(3)] + [f"Campaigns({campaign})"]
    api.token("integrator")
    random = Random(seed)

    def change_sets() -> list[int]:
        statuses: list[int] = []
        for _ in range(4):
            parts = [
                {
                    "id": str(number), "atomicityGroup": "g", "method": "PATCH", "url": row,
                    "headers": {"content-type": "application/json"}, "body": {"description": str(random.random())},
                }
                for number, row in enumerate(random.sample(rows, len(rows)))
            ]  # fmt: skip
            answer = api.post("$batch", {"requests": parts})
            statuses += [one["status"] for one in answer.json()["responses"]]
        return statuses

    answers = at_once(*[change_sets] * CLIENTS)
    assert {status for each in answers for status in each} == {204}


def test_conditional_changes_lose_no_update(api: Api) -> None:
    promotion = api.promotion(priority=0)["ID"]
    api.token("integrator")

    def count_up() -> int:
        counted = 0
        for _ in range(6):
            seen = api.get(f"Promotions({promotion})")
            answer = api.patch(
                f"Promotions({promotion})", {"priority": seen.json()["priority"] + 1}, if_match=seen.headers["etag"]
            )
            assert answer.status_code in (204, 412), answer.text
            counted += answer.status_code == 204
        return counted

    counted = sum(at_once(*[count_up] * CLIENTS))
    assert counted > 0
    assert api.read(f"Promotions({promotion})")["priority"] == counted


def test_changes_of_different_properties_all_count(api: Api) -> None:
    promotion = api.promotion()["ID"]
    values: dict[str, Any] = {
        "code": api.unique(), "description": "a", "priority": 3, "currency": "EUR", "externalReference": "b",
        "maxApplicationsTotal": 4, "maxApplicationsPerCustomer": 5, "validTo": "2030-01-01T00:00:00Z",
    }  # fmt: skip
    api.token("integrator")

    def change(name: str) -> Callable[[], int]:
        return lambda: api.patch(f"Promotions({promotion})", {name: values[name]}).status_code

    assert set(at_once(*[change(name) for name in values])) == {204}
    read = api.read(f"Promotions({promotion})")
    assert {name: read[name] for name in values} == values


def test_a_deleted_entity_leaves_no_parts_behind(api: Api) -> None:
    """Children, links and a campaign are added during the deletion: each is complete or absent, never partial."""
    api.token("integrator")
    for _ in range(3):
        promotion, campaign = api.promotion()["ID"], api.campaign()["ID"]
        group = api.make("PriorityGroups", code=api.unique(), name="First")["ID"]
        answers = at_once(
            lambda p=promotion: api.delete(f"Promotions({p})"),  # type: ignore[misc]
            lambda p=promotion: api.post("Conditions", {"promotion_ID": p, "conditionType": "CHANNEL"}),  # type: ignore[misc]
            lambda p=promotion: api.post("DiscountActions", {"promotion_ID": p, "actionType": "ARTICLE"}),  # type: ignore[misc]
            lambda p=promotion, g=group: api.post(  # type: ignore[misc]
                "PriorityGroupPromotions", {"promotion_ID": p, "priorityGroup_ID": g}
            ),
            lambda p=promotion, c=campaign: api.patch(f"Promotions({p})", {"campaign_ID": c}),  # type: ignore[misc]
            lambda c=campaign: api.delete(f"Campaigns({c})"),  # type: ignore[misc]
        )
        assert {one.status_code for one in answers} <= {201, 204, 400, 404, 409}, [one.text for one in answers]
        is_there = api.get(f"Promotions({promotion})").status_code == 200
        assert is_there == (answers[0].status_code == 409)
        for set_name, answer in zip(("Conditions", "DiscountActions"), answers[1:3], strict=True):
            found = api.read(f"{set_name}?$filter=promotion_ID eq {promotion}")["value"]
            assert len(found) == (1 if is_there and answer.status_code == 201 else 0)

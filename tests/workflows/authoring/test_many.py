"""Many rows at once take as many statements as a few, obey the same rules, and errors name the faulty rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring, planning
from tests.workflows.authoring.desk import Desk, writable_sets
from tests.workflows.authoring.test_every_entity import faults, refused


async def statements(desk: Desk, work: Callable[[Authoring], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of statements of a unit."""
    count = 0

    def counting(method: Any) -> Any:
        async def counted(self: Session, *args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            return await method(self, *args, **kwargs)

        return counted

    with monkeypatch.context() as patched:
        for name in ("execute", "rowcount", "execute_many"):
            patched.setattr(Session, name, counting(getattr(Session, name)))
        await desk.unit(work)
    return count


@pytest.mark.parametrize("set_name", ["Articles", "Promotions", "Budgets", "Conditions", "PosGroups", "CouponTypes"])
async def test_a_thousand_rows_take_as_many_statements_as_three(
    desk: Desk, set_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = await desk.sample(set_name)
    if set_name == "Promotions":
        sample["status"] = "ACTIVE"
    numbers = iter(range(10_000))
    keys = [name for name in ("code", "articleNumber") if name in sample]

    def rows(count: int) -> list[dict[str, Any]]:
        return [sample | {key: f"{key}-{number}" for key in keys} for number, _ in zip(numbers, range(count))]  # noqa: B905

    async def cost(count: int) -> int:
        return await statements(desk, lambda one: one.create_many(set_name, rows(count)), monkeypatch)

    few = await cost(3)
    assert await cost(1000) == few
    assert few < 60
    assert len(await desk.rows(set_name)) == 1003


async def test_nested_rows_take_statements_per_level_and_not_per_row(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    promotion = await desk.given("Promotions")

    def rows(count: int) -> list[dict[str, Any]]:
        items = [{"value": str(number)} for number in range(count)]
        return [{"promotion_ID": promotion, "conditionType": "CHANNEL", "valueListItems": items} for _ in range(count)]

    async def cost(count: int) -> int:
        return await statements(desk, lambda one: one.create_many("Conditions", rows(count)), monkeypatch)

    assert await cost(2) == await cost(30)
    (first, *_) = await desk.rows("Conditions")

    async def update(count: int) -> int:
        changes = {"valueListItems": [{"value": f"new {number}"} for number in range(count)]}
        return await statements(desk, lambda one: one.update("Conditions", first["ID"], changes), monkeypatch)

    assert await update(3) == await update(300)


async def test_a_fault_names_the_faulty_row(desk: Desk) -> None:
    taken = await desk.given("PosGroups", code="TAKEN")
    rows: list[dict[str, Any]] = [
        {"code": "A", "name": "a", "currency": "EUR"},
        {"code": "B", "name": "", "currency": "XXX"},
        {
            "code": "C",
            "name": "c",
            "currency": "EUR",
            "parent_ID": taken.replace(taken[0], "f" if taken[0] != "f" else "e"),
        },
    ]
    error = await refused(desk, Invalid, desk.create_many("PosGroups", rows))
    assert faults(error) == {
        ("REQUIRED", "1/name"), ("UNKNOWN_CODE", "1/currency"), ("UNKNOWN_REFERENCE", "2/parent_ID"),
    }  # fmt: skip
    rows = [{"code": code, "name": "x", "currency": "EUR"} for code in ("A", "TAKEN", "B", "A")]
    error = await refused(desk, Conflict, desk.create_many("PosGroups", rows))
    assert faults(error) == {("ALREADY_EXISTS", "1/code"), ("ALREADY_EXISTS", "3/code")}
    assert len(await desk.rows("PosGroups")) == 1


async def test_a_request_cannot_write_more_rows_than_the_limit(desk: Desk) -> None:
    row = {"articleListItems": [{"ean": "1"}] * 5000, "exclusions": [{"exclusionType": "ARTICLE"}] * 5001}
    error = await refused(desk, Invalid, desk.create_row("DiscountActions", await desk.sample("DiscountActions") | row))
    assert error.code == "TOO_MANY_ROWS"


async def test_a_change_set_cannot_write_more_rows_than_the_limit(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import may write more."""
    monkeypatch.setattr(planning, "UNIT_ROWS_MAX", 7)
    condition = await desk.sample("Conditions") | {"valueListItems": [{"value": "1"}, {"value": "2"}]}

    async def three_times(authoring: Authoring) -> None:
        for _ in range(3):
            await authoring.create("Conditions", condition)

    error = await refused(desk, Invalid, desk.unit(three_times))
    assert error.code == "TOO_MANY_ROWS"
    assert await desk.rows("Conditions") == []
    await desk.unit(three_times, importing=True)
    assert len(await desk.rows("Conditions")) == 3


async def test_keys_of_many_columns_are_looked_up_within_the_limits_of_the_database(desk: Desk) -> None:
    """A single statement with ten thousand keys would exceed the database's limits."""
    places = [{"posGroup_ID": f"00000000-0000-4000-8000-{number:012}"} for number in range(9990)]
    error = await refused(desk, Invalid, desk.create_row("Promotions", {"name": "Everywhere", "posGroups": places}))
    assert (error.code, error.target) == ("UNKNOWN_REFERENCE", "posGroups/0/posGroup_ID")


async def test_every_faulty_row_is_reported(desk: Desk) -> None:
    error = await refused(desk, Invalid, desk.create_many("Articles", [{} for _ in range(200)]))
    assert len(error.details) == 200


async def test_an_upsert_creates_new_rows_and_changes_existing_ones(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.create_many("Articles", [{"articleNumber": str(number), "ean": "1"} for number in range(0, 600, 2)])
    rows = [{"articleNumber": str(number), "name": "new"} for number in range(600)]
    small = await statements(desk, lambda one: one.upsert_many("Articles", rows[:10]), monkeypatch)
    assert await statements(desk, lambda one: one.upsert_many("Articles", rows), monkeypatch) == small
    stored = await desk.rows("Articles")
    assert {(row["name"], row["ean"]) for row in stored} == {("new", "1"), ("new", None)}
    assert len(stored) == 600
    twice = [{"articleNumber": "1"}, {"articleNumber": "1"}, {"articleNumber": "x"}, {"articleNumber": "x"}]
    error = await refused(desk, Conflict, desk.unit(lambda one: one.upsert_many("Articles", twice)))
    assert faults(error) == {("ALREADY_EXISTS", "1/articleNumber"), ("ALREADY_EXISTS", "3/articleNumber")}


async def test_many_changes_take_as_many_statements_as_a_few(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = await desk.given("Campaigns")
    made = await desk.create_many("Promotions", [{"name": "p"} for _ in range(500)])

    async def cost(ids: list[str]) -> int:
        changes = {key: {"campaign_ID": campaign} for key in ids}
        return await statements(desk, lambda one: one.update_many("Promotions", changes), monkeypatch)

    assert await cost(made[:2]) == await cost(made[2:])
    assert len(await desk.rows("Promotions", campaign_ID=campaign)) == 500
    changes: dict[str, dict[str, Any]] = {made[0]: {"priority": 1}, made[1]: {"type": "NOTHING"}}
    error = await refused(desk, Invalid, desk.unit(lambda one: one.update_many("Promotions", changes)))
    assert error.target == "1/type"


async def test_many_rows_can_be_created_at_once_in_every_set(desk: Desk) -> None:
    for set_name in writable_sets():
        rows = [await desk.sample(set_name) for _ in range(2)]
        assert len(await desk.create_many(set_name, rows)) == 2

"""The cost of drafts: statements depend on the declaration, rows are limited, and old drafts are removed."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.errors import Invalid
from promenade.store.drafts import ownership as stored_drafts
from promenade.workflows.authoring import Delta, planning
from promenade.workflows.clockwork import clock_jobs, paced
from promenade.workflows.clockwork import drafts as by_the_clock
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.drafts import editing as drafting
from tests.workflows.authoring.desk import OTHER
from tests.workflows.counting import count_statements
from tests.workflows.drafts.editor import Editor, refusal
from tests.workflows.shop import Shop

ITEMS = "TemplateConditionValueListItems"


def conditions(rows: int, values: int) -> list[dict[str, Any]]:
    items = [{"value": str(number)} for number in range(values)]
    return [{"conditionType": "CHANNEL", "valueListItems": items} for _ in range(rows)]


async def test_three_hundred_rows_cost_as_many_statements_as_three(
    ann: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = count_statements(monkeypatch)

    async def costs(rows: int, values: int) -> list[int]:
        """Return the statements of each step of a draft, for a template with this many conditions of this many
        values.
        """
        steps: list[int] = []

        async def step(work: Any) -> Any:
            before = counted()
            answer = await work
            steps.append(counted() - before)
            return answer

        key = await step(ann.begin("PromotionTemplates", name="Pack", conditions=conditions(rows, values)))
        await step(ann.activate("PromotionTemplates", key))
        await step(ann.edit("PromotionTemplates", key))
        there = [row["ID"] for row in await ann.rows("TemplateConditions", template_ID=key)]
        gone = [row["ID"] for row in await ann.rows(ITEMS, condition_ID=there[0])][:-1]
        deltas = tuple(
            {"ID": one, "fieldName": f"name {place}", "valueListItems": conditions(1, values)[0]["valueListItems"]}
            for place, one in enumerate(there)
        )
        await step(ann.change("PromotionTemplates", key, conditions=Delta(deltas)))
        await step(ann.change("PromotionTemplates", key, conditions=Delta((), tuple(there[1:]))))
        await step(ann.prepare("PromotionTemplates", key))
        await step(ann.activate("PromotionTemplates", key))
        assert not {row["ID"] for row in await ann.rows(ITEMS)} & set(gone)
        await step(ann.edit("PromotionTemplates", key))
        await step(ann.change("PromotionTemplates", key, conditions=[]))
        await step(ann.activate("PromotionTemplates", key))
        return steps

    few = await costs(2, 2)
    assert await costs(15, 20) == few
    assert max(few) < 80


async def test_an_edit_of_a_plain_row_is_a_few_statements(ann: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await ann.given("Articles")
    counted = count_statements(monkeypatch)
    await ann.edit("Articles", key)
    edited = counted()
    await ann.change("Articles", key, name="New")
    changed = counted()
    assert (edited, changed - edited) <= (10, 6)


async def test_a_draft_has_no_more_rows_than_one_request_may_write(
    ann: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await ann.given("PromotionTemplates", conditions=conditions(2, 3))  # 9 rows
    for module in (planning, drafting):
        monkeypatch.setattr(module, "ROWS_MAX", 8)
    assert (await refusal(ann.edit("PromotionTemplates", key), Invalid)).code == "TOO_MANY_ROWS"
    assert await ann.drafts() == []
    for module in (planning, drafting):
        monkeypatch.setattr(module, "ROWS_MAX", 9)
    await ann.edit("PromotionTemplates", key)
    more = ann.begin("TemplateConditions", template_ID=key)
    assert (await refusal(more, Invalid)).code == "TOO_MANY_ROWS"
    new = await ann.begin("PromotionTemplates", conditions=conditions(2, 2))
    await ann.change("PromotionTemplates", new, conditions=Delta(({}, {})))
    too_many = ann.change("PromotionTemplates", new, conditions=Delta(({},)))
    assert (await refusal(too_many, Invalid)).code == "TOO_MANY_ROWS"
    assert len(await ann.draft_rows("TemplateConditions")) == 2 + 4


async def test_replaced_rows_do_not_count_against_the_limit(ann: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    new = await ann.begin("PromotionTemplates", name="Pack", conditions=conditions(2, 3))
    monkeypatch.setattr(drafting, "ROWS_MAX", 9)
    await ann.change("PromotionTemplates", new, conditions=conditions(2, 3))
    assert len(await ann.draft_rows("TemplateConditions")) == 2
    too_many = ann.change("PromotionTemplates", new, conditions=conditions(3, 3))
    assert (await refusal(too_many, Invalid)).code == "TOO_MANY_ROWS"
    await ann.activate("PromotionTemplates", new)
    await ann.edit("PromotionTemplates", new)
    copied = ann.change("PromotionTemplates", new, conditions=conditions(2, 3))
    assert (await refusal(copied, Invalid)).code == "TOO_MANY_ROWS"


async def test_untouched_drafts_are_deleted_after_thirty_days(ann: Editor, bob: Editor) -> None:
    left = await ann.begin("Promotions", posGroups=[{}])
    ann.later(seconds=1)
    kept = await ann.begin("Campaigns")
    bob.later(days=30)
    await bob.begin("Stakeholders")
    assert {one["root_id"] for one in await ann.drafts()} >= {left, kept}
    bob.later(seconds=1)
    active = await bob.given("PosGroups")
    await bob.edit("PosGroups", active)
    assert left not in {one["root_id"] for one in await ann.drafts()}
    assert kept in {one["root_id"] for one in await ann.drafts()}
    assert await ann.draft_rows("Promotions") == []
    assert await ann.draft_rows("PromotionPosGroups") == []


async def test_the_worker_clears_up_for_all_tenants_in_bounded_rounds(
    shop: Shop, ann: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = Editor(shop.context.database, OTHER, user="eve")
    for editor in (ann, stranger):
        editor.now = shop.context.clock()
        editor.later(days=-31)
        for _ in range(3):
            await editor.begin("Promotions", posGroups=[{}])
        editor.later(days=2)
    kept = await stranger.begin("Campaigns")
    for module in (stored_drafts, by_the_clock):
        monkeypatch.setattr(module, "PURGED_MAX", 2)
    assert await by_the_clock.purge(shop.context, None) == JobResult(6)
    assert await by_the_clock.purge(shop.context, None) == JobResult(0)
    assert [one["root_id"] for one in await stranger.drafts()] == [kept]
    assert await ann.drafts() == await ann.draft_rows("PromotionPosGroups") == []


async def test_beginning_a_draft_clears_up_a_little_and_the_clock_the_rest(
    shop: Shop, ann: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.now = shop.context.clock()
    ann.later(days=-31)
    for _ in range(stored_drafts.PURGED_MAX * 6):
        await ann.begin("Promotions")
    ann.later(days=31)
    await ann.begin("Promotions")
    left = len(await ann.drafts()) - 1
    assert left == stored_drafts.PURGED_MAX * 5
    monkeypatch.setattr(paced, "RUN_SECONDS", 0.01)  # the limit after which a run ends and reports that there is more
    runs = [await clock_jobs()["drafts.purge"].run(shop.context, None)]
    while runs[-1].more:
        runs.append(await clock_jobs()["drafts.purge"].run(shop.context, None))
    assert len(runs) > 1
    assert sum(run.done for run in runs) == left
    assert len(await ann.drafts()) == 1

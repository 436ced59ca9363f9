"""A draft belongs to its user; an active row has at most one, of any user, and its lock lasts a quarter of an hour."""

from __future__ import annotations

from typing import Any

from promenade.errors import Conflict, Forbidden, NotFound
from promenade.store.driver.unit import Database
from tests.workflows.authoring.desk import OTHER
from tests.workflows.drafts.editor import Editor, refusal

LOCKED, EXISTS = "DRAFT_LOCKED_BY_ANOTHER_USER", "DRAFT_ALREADY_EXISTS"


async def test_a_user_cannot_touch_another_users_draft(ann: Editor, bob: Editor) -> None:
    key = await ann.begin("Promotions", name="Hers", posGroups=[{}])
    (part,) = await ann.draft_rows("PromotionPosGroups")
    before = await ann.drafts(), await ann.draft_rows("Promotions"), await ann.draft_rows("PromotionPosGroups")
    for work in (
        bob.change("Promotions", key, name="His"),
        bob.replace("Promotions", key, name="His"),
        bob.discard("Promotions", key),
        bob.activate("Promotions", key),
        bob.prepare("Promotions", key),
        bob.begin("PromotionPosGroups", promotion_ID=key),
        bob.change("PromotionPosGroups", part["ID"], posGroup_ID=key),
        bob.discard("PromotionPosGroups", part["ID"]),
        bob.draft_unit(lambda drafts: drafts.hold("Promotions", key)),
        bob.draft_unit(lambda drafts: drafts.refuse_foreign("Promotions", key)),
        bob.draft_unit(lambda drafts: drafts.refuse_foreign("PromotionPosGroups", part["ID"])),
    ):
        assert (await refusal(work, Forbidden)).code == LOCKED
    assert (
        await ann.drafts(),
        await ann.draft_rows("Promotions"),
        await ann.draft_rows("PromotionPosGroups"),
    ) == before
    await ann.draft_unit(lambda drafts: drafts.refuse_foreign("Promotions", key))
    await ann.draft_unit(lambda drafts: drafts.refuse_foreign("Promotions", part["ID"]))  # there is no such draft
    assert await ann.draft_unit(lambda drafts: drafts.hold("PromotionPosGroups", part["ID"])) == 1


async def test_a_draft_is_invisible_to_another_tenant(ann: Editor, database: Database) -> None:
    key = await ann.begin("Promotions", name="Hers")
    stranger = Editor(database, OTHER, user="ann")
    await stranger.draft_unit(lambda drafts: drafts.refuse_foreign("Promotions", key))
    for work in (stranger.change("Promotions", key, name="x"), stranger.activate("Promotions", key)):
        await refusal(work, NotFound)
    assert await stranger.begin("Promotions", ID=key, name="Theirs") == key
    await stranger.discard("Promotions", key)
    assert (await ann.draft_row("Promotions", key))["name"] == "Hers"


async def test_an_active_row_has_one_draft_as_long_as_its_lock_holds(ann: Editor, bob: Editor) -> None:
    key = await ann.given("Promotions", name="Old", posGroups=[{"posGroup_ID": await ann.given("PosGroups")}])
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, name="Hers")
    bob.later(minutes=14, seconds=59)
    ann.now = bob.now
    for editor in (ann, bob):
        for preserve in (True, False):
            assert (await refusal(editor.edit("Promotions", key, preserve=preserve), Conflict)).code == EXISTS
    bob.later(seconds=1)
    assert (await refusal(bob.edit("Promotions", key, preserve=True), Conflict)).code == EXISTS
    assert (await ann.draft_row("Promotions", key))["name"] == "Hers"
    await bob.edit("Promotions", key, preserve=False)
    row = await bob.draft_row("Promotions", key)
    assert (row["name"], row["draft_owner"]) == ("Old", "bob")
    assert [row["draft_owner"] for row in await bob.draft_rows("PromotionPosGroups")] == ["bob"]
    assert (await refusal(ann.change("Promotions", key, name="x"), Forbidden)).code == LOCKED


async def test_what_is_not_active_cannot_be_edited_and_its_draft_stays(ann: Editor, bob: Editor) -> None:
    new = await ann.begin("Promotions", name="Hers")
    bob.later(hours=1)
    for preserve in (True, False):
        assert (await refusal(bob.edit("Promotions", new, preserve=preserve), NotFound)).code == "NOT_FOUND"
    assert (await ann.draft_row("Promotions", new))["name"] == "Hers"


async def test_every_change_renews_the_lock(ann: Editor, bob: Editor) -> None:
    key = await ann.given("Promotions", name="Old", posGroups=[{"posGroup_ID": await ann.given("PosGroups")}])
    (part,) = await ann.rows("PromotionPosGroups")
    await ann.edit("Promotions", key)
    changes: list[Any] = [
        lambda: ann.change("Promotions", key, name="Old"),
        lambda: ann.begin("PromotionPosGroups", promotion_ID=key),
        lambda: ann.change("PromotionPosGroups", part["ID"], posGroup_ID=None),
        lambda: ann.discard("PromotionPosGroups", part["ID"]),
    ]
    for change in changes:
        ann.later(minutes=14)
        await change()
        bob.now = ann.now
        bob.later(minutes=14)
        assert (await refusal(bob.edit("Promotions", key, preserve=False), Conflict)).code == EXISTS


async def test_an_active_row_with_a_draft_is_not_written_past_it(ann: Editor, bob: Editor) -> None:
    key = await ann.given("Promotions")

    async def admit(editor: Editor, set_name: str, row_id: str, *, removing: bool) -> None:
        await editor.draft_unit(lambda drafts: drafts.admit_active_write(set_name, row_id, removing=removing))

    for removing in (True, False):
        await admit(ann, "Promotions", key, removing=removing)
        await admit(ann, "Conditions", key, removing=removing)  # has no drafts
        error = await refusal(admit(ann, "PromotionPosGroups", key, removing=removing), Forbidden)
        assert error.code == "ONLY_THROUGH_DRAFT"
    await ann.edit("Promotions", key)
    ann.later(hours=1)
    bob.now = ann.now
    for editor in (ann, bob):
        assert (await refusal(admit(editor, "Promotions", key, removing=False), Conflict)).code == EXISTS
    assert (await refusal(admit(ann, "Promotions", key, removing=True), Forbidden)).code == "DRAFT_EXISTS"
    assert (await refusal(admit(bob, "Promotions", key, removing=True), Forbidden)).code == LOCKED
    await ann.discard("Promotions", key)
    await admit(bob, "Promotions", key, removing=True)

"""Several users at once: one of them succeeds, the others get errors, and there are no deadlocks."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from promenade.errors import Conflict, Forbidden, Invalid, NotFound, PromenadeError
from promenade.store.driver.unit import Database
from promenade.workflows.authoring import Authoring, Delta
from promenade.workflows.drafts import Drafts
from tests.workflows.authoring.desk import Desk
from tests.workflows.drafts.editor import Editor

UNITS = 500
PARTS = "PromotionPosGroups"


async def outcomes(*works: Awaitable[Any]) -> list[Any]:
    """Run all works concurrently; return each one's result, or the code of its refusal."""
    found = await asyncio.gather(*works, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException) and not isinstance(one, PromenadeError):
            raise one
    return [one.code if isinstance(one, PromenadeError) else one for one in found]


async def test_only_one_of_several_concurrent_edits_of_a_row_succeeds(ann: Editor, bob: Editor) -> None:
    place = await ann.given("PosGroups")
    for _ in range(5):
        key = await ann.given("Promotions", posGroups=[{"posGroup_ID": place}])
        found = await outcomes(*(one.edit("Promotions", key, preserve=False) for one in (ann, bob, ann, bob)))
        assert sorted(found, key=str) == ["DRAFT_ALREADY_EXISTS"] * 3 + [None]
        (row,) = await ann.draft_rows(PARTS, promotion_ID=key)
        winner = ann if found.index(None) in (0, 2) else bob
        assert row["draft_owner"] == winner.user


async def test_only_one_of_several_users_replaces_an_abandoned_draft(ann: Editor, bob: Editor) -> None:
    for _ in range(5):
        key = await ann.given("Promotions")
        await ann.edit("Promotions", key)
        ann.later(minutes=16)
        bob.now = ann.now
        found = await outcomes(*(one.edit("Promotions", key, preserve=False) for one in (ann, bob, ann, bob)))
        assert sorted(found, key=str) == ["DRAFT_ALREADY_EXISTS"] * 3 + [None]


async def test_only_one_of_several_concurrent_creates_with_an_id_succeeds(ann: Editor, bob: Editor) -> None:
    for _ in range(5):
        key, part = str(uuid.uuid4()), str(uuid.uuid4())
        found = await outcomes(
            *(one.begin("Promotions", ID=key) for one in (ann, bob)),
            *(one.begin("Promotions", posGroups=[{"ID": part}]) for one in (ann, bob)),
        )
        assert sorted(found[:2]) == sorted([key, "ALREADY_EXISTS"])
        assert found[2:].count("ALREADY_EXISTS") == 1


async def test_concurrent_activation_and_change_of_a_draft_leave_a_consistent_state(ann: Editor) -> None:
    for _ in range(5):
        key = await ann.given("Promotions", name="Old")
        await ann.edit("Promotions", key)
        await ann.change("Promotions", key, name="New")
        found = await outcomes(
            ann.activate("Promotions", key),
            ann.change("Promotions", key, description="late"),
            ann.activate("Promotions", key),
            ann.begin(PARTS, promotion_ID=key, posGroup_ID=await ann.given("PosGroups")),
            ann.discard("Promotions", key),
        )
        assert [one is False for one in found].count(True) == (1 if found[4] == "NOT_FOUND" else 0)
        assert found[2] in ("NOT_FOUND", False)
        assert await ann.drafts() == await ann.draft_rows("Promotions") == await ann.draft_rows(PARTS) == []
        row = await ann.row("Promotions", key)
        assert (row["name"], row["version"]) in (("New", 2), ("Old", 1))


async def test_a_concurrent_activation_and_direct_change_both_take_effect(ann: Editor, database: Database) -> None:
    public = Desk(database)
    places = [await ann.given("PosGroups") for _ in range(3)]
    for _ in range(5):
        key = await ann.given("Promotions", name="Old", posGroups=[{"posGroup_ID": places[0]}])
        await ann.edit("Promotions", key)
        await ann.change("Promotions", key, name="Hers", posGroups=Delta(({"posGroup_ID": places[1]},)))
        await asyncio.gather(
            ann.activate("Promotions", key),
            public.update("Promotions", key, priority=7, posGroups=Delta(({"posGroup_ID": places[2]},))),
        )
        row = await ann.row("Promotions", key)
        assert (row["name"], row["priority"], row["version"]) == ("Hers", 7, 3)
        assert {one["posGroup_ID"] for one in await ann.rows(PARTS, promotion_ID=key)} == set(places)


async def test_a_draft_is_copied_from_one_consistent_state(ann: Editor, database: Database) -> None:
    """A concurrent unit that changes the row and its parts is included completely or not at all."""
    public = Desk(database)
    places = [await ann.given("PosGroups") for _ in range(2)]
    key = await ann.given("Promotions", priority=0, posGroups=[{"posGroup_ID": places[0]}])
    numbers = iter(range(1, 100))
    for _ in range(10):
        updates = [
            public.update("Promotions", key, priority=one, posGroups=[{"posGroup_ID": places[one % 2]}])
            for one in islice(numbers, 6)
        ]
        await asyncio.gather(*updates, ann.edit("Promotions", key))
        row, (part,) = await ann.draft_row("Promotions", key), await ann.draft_rows(PARTS)
        assert part["posGroup_ID"] == places[row["priority"] % 2]
        await ann.discard("Promotions", key)


Step = Callable[[Drafts, Authoring, str], Awaitable[Any]]
_OFTEN = {"edit": 4, "change": 3, "activate": 3, "past it": 2, "make": 4, "unlock": 6, "move": 3, "prepare": 3}
_IMPORTANT = {"edit", "change", "activate", "past it", "prepare", "lock", "add", "remove"}


class _Crowd:
    """Users who perform every operation on the same few promotions and their campaign, concurrently."""

    def __init__(self, database: Database, seed: int, keys: list[str], campaign: str, places: list[str]) -> None:
        self.users = [Editor(database, user=name) for name in ("ann", "bob")]
        self.keys, self.campaign, self.places = keys, campaign, places
        self.parts = [str(uuid.UUID(int=number)) for number in range(3)]
        self.random = Random(seed)
        self.units = 0
        self.done: dict[str, int] = {}

    async def member(self) -> None:
        """Perform operations until the crowd has done enough, and each of the important ones."""
        while self.units < UNITS or not self.done.keys() >= _IMPORTANT:
            steps = self.steps()
            (name,) = self.random.choices(list(steps), [_OFTEN.get(name, 1) for name in steps])
            user, key = self.random.choice(self.users), self.random.choice(self.keys)
            user.later(minutes=self.random.choice((0, 0, 0, 5)))
            try:
                self.units += 1
                await user.draft_unit(partial(self._carry_out, steps[name], key))
            except (Conflict, Forbidden, Invalid, NotFound):
                continue
            self.done[name] = self.done.get(name, 0) + 1

    async def _carry_out(self, step: Step, key: str, drafts: Drafts) -> None:
        await step(drafts, drafts._authoring, key)

    def steps(self) -> dict[str, Step]:
        random, number = self.random, self.random.randrange(1000)
        part, place = random.choice(self.parts), random.choice(self.places)
        parts = [{"posGroup_ID": one} for one in random.sample(self.places, 2)]
        whole = random.choice((parts, Delta(({"posGroup_ID": place},))))
        return {
            "edit": lambda drafts, _, key: drafts.edit("Promotions", key, preserve=False),
            "edit campaign": lambda drafts, _, key: drafts.edit("Campaigns", self.campaign, preserve=False),
            "change": lambda drafts, _, key: drafts.change("Promotions", key, {"priority": number, "posGroups": whole}),
            "change campaign": lambda drafts, _, key: drafts.change("Campaigns", self.campaign, {"name": str(number)}),
            "add": lambda drafts, _, key: drafts.create(PARTS, {"ID": part, "promotion_ID": key, "posGroup_ID": place}),
            "move": lambda drafts, _, key: drafts.change(PARTS, part, {"posGroup_ID": place}),
            "take": lambda drafts, _, key: drafts.remove(PARTS, part),
            "activate": lambda drafts, _, key: drafts.activate("Promotions", key),
            "activate campaign": lambda drafts, _, key: drafts.activate("Campaigns", self.campaign),
            "prepare": lambda drafts, _, key: drafts.prepare("Promotions", key),
            "discard": lambda drafts, _, key: drafts.remove("Promotions", key),
            "past it": lambda _, authoring, key: authoring.update(
                "Promotions", key, {"name": str(number), "posGroups": parts, "campaign_ID": self.campaign}
            ),
            "remove": lambda _, authoring, key: authoring.remove("Promotions", key),
            "make": lambda _, authoring, key: authoring.create("Promotions", {"ID": key, "name": str(number)}),
            "lock": lambda _, authoring, key: authoring.transition("Campaigns", self.campaign, "lock"),
            "unlock": lambda _, authoring, key: authoring.transition("Campaigns", self.campaign, "unlock"),
        }


async def test_many_concurrent_users_cause_no_deadlock(ann: Editor, database: Database, seed: int) -> None:
    """Rolled-back work is repeated; eight users must not cause that."""
    campaign = await ann.given("Campaigns")
    keys = [await ann.given("Promotions", campaign_ID=campaign) for _ in range(3)]
    crowd = _Crowd(database, seed, keys, campaign, [await ann.given("PosGroups") for _ in range(9)])
    await asyncio.gather(*(crowd.member() for _ in range(8)))
    assert sum(user.attempts for user in crowd.users) == crowd.units
    roots = {one["draft_uuid"]: one["root_id"] for one in await ann.drafts() if one["set_name"] == "Promotions"}
    assert {row["draft_uuid"]: row["ID"] for row in await ann.draft_rows("Promotions")} == roots
    for row in await ann.draft_rows(PARTS):
        assert roots[row["draft_uuid"]] == row["promotion_ID"]

"""Random histories of several people: whatever they do, only content that somebody else has approved runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from promenade.errors import PromenadeError
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions.campaigns import add_promotions, remove_promotion
from tests.workflows.authoring.desk import NOON
from tests.workflows.promotions.approvals.house import House

AUTHORS, OTHERS = ("ann", "bob"), ("zoe", "tom", "eve")
VERBS = ("activate", "submit", "approve", "reject", "deactivate")
USUAL = {"DRAFT": "submit", "REJECTED": "submit", "PENDING_APPROVAL": "approve", "APPROVED": "activate"}
EDITS = ("edit", "link", "unlink", "campaign", "prolong", "draft", "write", "both")


@dataclass
class Oracle:
    """What has been approved, told from outside: by the content before and after each step, and who took it."""

    approved: set[tuple[str, str]] = field(default_factory=set)
    authors: dict[str, set[str]] = field(default_factory=dict)
    submitters: dict[str, str] = field(default_factory=dict)
    ran: int = 0


class History:
    def __init__(self, house: House, random: Random, keys: list[str], campaign: str, links: tuple[str, str]) -> None:
        self.house, self.random, self.keys, self.campaign = house, random, keys, campaign
        self.coupon_type, self.budget = links
        self.oracle = Oracle(authors={key: {"ann"} for key in keys})

    async def step(self) -> None:
        random = self.random
        user, key = random.choice(random.choice((AUTHORS, OTHERS))), random.choice(self.keys)
        verb = random.choice(VERBS if user in OTHERS and random.random() < 0.9 else (*VERBS, *EDITS))
        if random.random() < 0.5:  # else it seldom gets anywhere
            verb = USUAL.get(await self.house.status(key), verb)
        await self.take_and_look(user, key, verb)

    async def take_and_look(self, user: str, key: str, verb: str) -> None:
        """Take a step, and check what may run after it."""
        house, oracle = self.house, self.oracle
        before, was = await house.contents(), {one: await house.status(one) for one in self.keys}
        with suppress(PromenadeError):
            await self.take(user, key, verb)
        after = await house.contents()
        for one in self.keys:
            status = await house.status(one)
            if before[one] != after[one]:
                oracle.authors[one].add(user)
            if status == "PENDING_APPROVAL" != was[one]:
                oracle.submitters[one] = user
            if status == "APPROVED" != was[one]:
                assert user not in oracle.authors[one] | {oracle.submitters[one]}, "an author has approved"
                oracle.authors[one] = {"ann"}
                oracle.approved.add((one, after[one]))
            if status in ("ACTIVE", "PILOT"):
                oracle.ran += 1
                assert (one, after[one]) in oracle.approved, f"{verb} by {user} got past the approval"

    async def move_in(self, authoring: Authoring, session: Session) -> None:
        await add_promotions(authoring, session, self.campaign, self.keys)

    async def move_out(self, authoring: Authoring, session: Session) -> None:
        await remove_promotion(authoring, session, self.campaign, self.keys[0])

    async def take(self, user: str, key: str, verb: str) -> None:
        house, value = self.house, self.random.randrange(3)
        match verb:
            case "edit":
                await house.update(user, "Promotions", key, priority=value)
            case "draft":
                status = self.random.choice(({}, {"status": "ACTIVE"}))
                await house.by_draft(user, key, {"priority": value, **status})
            case "write":
                await house.update(
                    user, "Promotions", key, status=self.random.choice(("ACTIVE", "APPROVED", "INACTIVE"))
                )
            case "link":
                await house.create(user, "CouponTypePromotions", promotion_ID=key, couponType_ID=self.coupon_type)
            case "unlink":
                for link in await house.desk.rows("CouponTypePromotions", promotion_ID=key):
                    await house.remove(user, "CouponTypePromotions", link["ID"])
            case "campaign":
                await house.act(user, self.move_in if self.random.random() < 0.5 else self.move_out)
            case "prolong":
                await house.update(user, "Campaigns", self.campaign, endAt=NOON + timedelta(days=100 + value))
            case "both":

                async def step(authoring: Authoring, _: Session) -> None:
                    await authoring.update("Promotions", key, {"priority": value})
                    await authoring.transition("Promotions", key, "activate")

                await house.act(user, step)
            case _:
                await house.move(user, key, verb, reason="Because.")


@pytest.mark.parametrize("number", range(3))
async def test_only_approved_content_runs(house: House, seed: int, number: int) -> None:
    keys = [await house.promotion() for _ in range(2)]
    campaign = await house.create("ann", "Campaigns", code="C", name="C", endAt=NOON + timedelta(days=100))
    links = (await house.desk.given("CouponTypes"), await house.desk.given("Budgets"))
    history = History(house, Random(seed + number), keys, campaign, links)
    for user, verb in (("ann", "submit"), ("zoe", "approve"), ("tom", "activate")):
        await history.take_and_look(user, keys[0], verb)
    assert history.oracle.ran > 0  # something runs, that later steps could change without an approval
    for _ in range(150):
        await history.step()

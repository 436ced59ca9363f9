"""Campaigns changed by several users at once: nothing is linked twice, and a lock prevents every change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from promenade.errors import Conflict, Invalid, NotFound, PromenadeError
from promenade.model.declare import Service
from promenade.store.driver.session import Database, Session, open_database
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions.campaigns import add_promotions, remove_promotion
from tests.kit.databases import Databases
from tests.store.pricing.written import NOW, TENANT, author, promotions, uuid
from tests.workflows.authoring.desk import Desk

SPRING, AUTUMN = uuid(2, 1), uuid(2, 2)
Step = Callable[[Authoring, Session], Awaitable[Any]]


async def set_up(database: Database) -> None:
    campaigns = [{"ID": SPRING, "code": "S", "name": "Spring"}, {"ID": AUTUMN, "code": "A", "name": "Autumn"}]
    await author(database, "Promotions", {"Campaigns": campaigns} | promotions(*range(1, 21)))


async def carry_out(database: Database, step: Step) -> None:
    async def unit(session: Session) -> None:
        authoring = Authoring(session, user="ann", at=NOW, new_id=lambda: str(uuid4()), service=Service.ADMIN)
        await step(authoring, session)
        await authoring.finish()

    await database.write(unit, tenant=TENANT)


def adding(campaign_id: str, *numbers: int) -> Step:
    ids = [uuid(3, number) for number in numbers]
    return lambda authoring, session: add_promotions(authoring, session, campaign_id, ids)


def removing(campaign_id: str, number: int) -> Step:
    return lambda authoring, session: remove_promotion(authoring, session, campaign_id, uuid(3, number))


def locking(campaign_id: str) -> Step:
    return lambda authoring, _: authoring.transition("Campaigns", campaign_id, "lock")


async def campaigns_of(database: Database) -> list[str | None]:
    return [row["campaign_ID"] for row in await Desk(database, TENANT).rows("Promotions")]


async def test_promotions_that_many_link_at_once_are_linked_once(database: Database, seed: int) -> None:
    await set_up(database)
    random = Random(seed)
    lists = [random.sample(range(1, 21), 15) for _ in range(12)]
    await asyncio.gather(*(carry_out(database, adding(SPRING, *numbers)) for numbers in lists))
    wanted = {number for numbers in lists for number in numbers}
    rows = await Desk(database, TENANT).rows("Promotions")
    for number, row in enumerate(rows, 1):
        expected = (SPRING, 2) if number in wanted else (None, 1)
        assert (row["campaign_ID"], row["version"]) == expected
    trail = await Desk(database, TENANT).rows("AuditLogs", entityType="Promotions")
    assert sorted(row["entityId"] for row in trail) == sorted(uuid(3, number) for number in wanted)


async def test_two_campaigns_that_want_the_same_promotions_take_turns(database: Database, seed: int) -> None:
    await set_up(database)
    random = Random(seed)
    steps = [adding(random.choice((SPRING, AUTUMN)), *random.sample(range(1, 21), 15)) for _ in range(12)]
    steps += [removing(SPRING, 1), removing(AUTUMN, 1)]
    await asyncio.gather(*(carry_out(database, step) for step in steps))
    rows = await Desk(database, TENANT).rows("Promotions")
    trail = await Desk(database, TENANT).rows("AuditLogs", entityType="Promotions")
    # INVARIANT: one version and one audit row for each change.
    assert sum(row["version"] - 1 for row in rows) == len(trail)


async def test_a_lock_comes_before_or_after_but_never_between(database: Database) -> None:
    await set_up(database)
    steps = [*(adding(SPRING, number, 20 - number) for number in range(1, 6)), locking(SPRING)]
    outcomes = await asyncio.gather(*(carry_out(database, step) for step in steps), return_exceptions=True)
    found = await campaigns_of(database)
    for number, outcome in enumerate(outcomes[:-1], 1):
        expected = SPRING if outcome is None else None
        assert outcome is None or (isinstance(outcome, Conflict) and outcome.code == "LOCKED")
        assert (found[number - 1], found[20 - number - 1]) == (expected, expected)
    assert outcomes[-1] is None


@pytest.fixture
async def postgres(databases: Databases) -> AsyncIterator[Database]:
    """PostgreSQL alone: on SQLite no unit can stand in the middle while another one writes."""
    url = databases.create("postgresql")
    opened = await open_database(url)
    yield opened
    await opened.close()
    databases.drop(url)


def deleting(set_name: str, key: str) -> Step:
    return lambda authoring, _: authoring.remove(set_name, key)


@pytest.mark.parametrize(
    ("first", "second", "refusal"),
    [
        (adding(SPRING, 1), locking(SPRING), None),
        (removing(SPRING, 9), locking(SPRING), None),
        (adding(AUTUMN, 9), locking(SPRING), None),
        (locking(SPRING), adding(SPRING, 1), (Conflict, "LOCKED", None)),
        (locking(SPRING), removing(SPRING, 9), (Conflict, "LOCKED", None)),
        (locking(SPRING), adding(AUTUMN, 1, 9), (Conflict, "LOCKED", "promotionIds/1")),
        (deleting("Campaigns", AUTUMN), adding(AUTUMN, 1), (NotFound, "NOT_FOUND", None)),
        (deleting("Promotions", uuid(3, 2)), adding(SPRING, 1, 2), (Invalid, "UNKNOWN_REFERENCE", "promotionIds/1")),
    ],
    ids=[
        "added then locked", "removed then locked", "moved then locked", "locked then added", "locked then removed",
        "locked then moved", "campaign deleted", "promotion deleted",
    ],
)  # fmt: skip
async def test_the_second_user_waits_and_sees_the_changes_of_the_first(
    postgres: Database, first: Step, second: Step, refusal: tuple[type[PromenadeError], str, str | None] | None
) -> None:
    await set_up(postgres)
    await carry_out(postgres, adding(SPRING, 9))
    waiting: list[asyncio.Task[None]] = []

    async def first_then_second(authoring: Authoring, session: Session) -> None:
        await first(authoring, session)
        waiting.append(asyncio.create_task(carry_out(postgres, second)))
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        assert not done

    await carry_out(postgres, first_then_second)
    if refusal is None:
        await waiting[0]
    else:
        with pytest.raises(PromenadeError) as caught:
            await waiting[0]
        assert (type(caught.value), caught.value.code, caught.value.target) == refusal

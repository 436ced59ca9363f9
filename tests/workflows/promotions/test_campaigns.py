"""Campaigns: promotions are linked and unlinked all at once or not at all."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from promenade.errors import Conflict, Invalid, NotFound, PromenadeError
from promenade.model.declare import Service
from promenade.store.driver.session import Database, Session
from promenade.store.pricing.catalogue import Catalogues
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions.campaigns import add_promotions, remove_promotion
from tests.store.pricing.written import NOW, TENANT, Rows, author, promotions, uuid
from tests.workflows.authoring.desk import Desk
from tests.workflows.counting import count_statements

CAMPAIGN = uuid(2)
LATER = NOW + timedelta(days=14)


def campaign(**fields: Any) -> Rows:
    return {"Campaigns": [{"ID": CAMPAIGN, "code": "SPRING", "name": "Spring"} | fields]}


Verb = Callable[..., Awaitable[Any]]


async def carry_out(
    database: Database, verb: Verb, *arguments: Any, finished: bool = True, tenant: str = TENANT
) -> Any:
    """Run one unit of work of a user of the tenant."""

    async def unit(session: Session) -> Any:
        authoring = Authoring(session, user="ann", at=LATER, new_id=lambda: str(uuid4()))
        answer = await verb(authoring, session, *arguments)
        if finished:
            await authoring.finish()
        return answer

    return await database.write(unit, tenant=tenant)


async def lock(database: Database, campaign_id: str) -> None:
    async def unit(session: Session) -> None:
        authoring = Authoring(session, user="bob", at=LATER, new_id=lambda: str(uuid4()), service=Service.ADMIN)
        await authoring.transition("Campaigns", campaign_id, "lock")
        await authoring.finish()

    await database.write(unit, tenant=TENANT)


async def linked(database: Database, campaign_id: str = CAMPAIGN) -> list[str]:
    """Return the promotions of a campaign, by ID."""
    rows = await Desk(database, TENANT).rows("Promotions", campaign_ID=campaign_id)
    return [row["ID"] for row in rows]


async def trail(database: Database) -> list[tuple[str, str, str]]:
    """Return the audit trail."""
    rows = await Desk(database, TENANT).rows("AuditLogs")
    return sorted((row["entityType"], row["action"], row["entityId"]) for row in rows)


async def events(database: Database) -> list[str]:
    rows = await Desk(database, TENANT).system_rows("outbox_events")
    return sorted(
        json.loads(row["payload"])["data"]["promotionId"] for row in rows if row["kind"] == "PROMOTION_UPDATED"
    )


async def a_campaign_and_three_promotions(database: Database) -> None:
    await author(database, "Promotions", campaign(startAt=NOW) | promotions(1, 2, 3))


async def test_promotions_are_linked_to_a_campaign(database: Database) -> None:
    await a_campaign_and_three_promotions(database)
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 3), uuid(3, 1).upper(), uuid(3, 3)])
    assert await linked(database) == [uuid(3, 1), uuid(3, 3)]
    first, second, _ = await Desk(database, TENANT).rows("Promotions")
    assert (first["version"], first["modifiedBy"], first["modifiedAt"]) == (2, "ann", LATER)
    assert (second["version"], second["modifiedBy"], second["campaign_ID"]) == (1, "author", None)
    assert await trail(database) == [
        ("Campaigns", "ADD_PROMOTIONS", CAMPAIGN),
        ("Promotions", "UPDATE", uuid(3, 1)),
        ("Promotions", "UPDATE", uuid(3, 3)),
    ]
    assert await events(database) == [uuid(3, 1), uuid(3, 3)]
    (row,) = await Desk(database, TENANT).rows("Campaigns")
    assert row["version"] == 1


async def test_promotions_already_linked_do_not_change(database: Database) -> None:
    await a_campaign_and_three_promotions(database)
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1)])
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1)])
    assert len(await trail(database)) == 2
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1), uuid(3, 2)])
    rows = await Desk(database, TENANT).rows("Promotions")
    assert [row["version"] for row in rows] == [2, 2, 1]
    assert await events(database) == [uuid(3, 1), uuid(3, 2)]


async def test_a_promotion_moves_from_one_campaign_to_another(database: Database) -> None:
    autumn = {"ID": uuid(2, 2), "code": "AUTUMN", "name": "Autumn"}
    await author(database, "Promotions", {"Campaigns": [*campaign()["Campaigns"], autumn]} | promotions(1))
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1)])
    await carry_out(database, add_promotions, uuid(2, 2), [uuid(3, 1)])
    assert (await linked(database), await linked(database, uuid(2, 2))) == ([], [uuid(3, 1)])


async def test_a_linked_promotion_is_priced_within_the_campaigns_window(database: Database) -> None:
    await a_campaign_and_three_promotions(database)
    catalogues = Catalogues(database)
    assert (await catalogues.current(TENANT)).definitions[uuid(3, 1)].campaign_window is None
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1)])
    assert (await catalogues.current(TENANT)).definitions[uuid(3, 1)].campaign_window == (NOW, None)
    await carry_out(database, remove_promotion, CAMPAIGN, uuid(3, 1))
    assert (await catalogues.current(TENANT)).definitions[uuid(3, 1)].campaign_window is None


async def refused(database: Database, verb: Verb, *arguments: Any, tenant: str = TENANT) -> PromenadeError:
    """Return the error of a verb, which must change nothing."""
    before = await Desk(database, TENANT).rows("Promotions"), await trail(database)
    with pytest.raises(PromenadeError) as caught:
        await carry_out(database, verb, *arguments, tenant=tenant)
    assert (await Desk(database, TENANT).rows("Promotions"), await trail(database)) == before
    return caught.value


@pytest.mark.parametrize(
    ("ids", "code", "target"),
    [
        (None, "REQUIRED", "promotionIds"),
        ([], "EMPTY", "promotionIds"),
        ([uuid(3, 1)] * 1001, "TOO_MANY_IDS", "promotionIds"),
        ([uuid(3, 1), uuid(3, 77)], "UNKNOWN_REFERENCE", "promotionIds/1"),
        ([uuid(3, 1), uuid(4, 1)], "UNKNOWN_REFERENCE", "promotionIds/1"),  # another tenant's
        (["three for two"], "UNKNOWN_REFERENCE", "promotionIds/0"),
        (["\0"], "UNKNOWN_REFERENCE", "promotionIds/0"),
        ([None], "UNKNOWN_REFERENCE", "promotionIds/0"),
    ],
)
async def test_nothing_is_linked_when_one_id_is_wrong(database: Database, ids: Any, code: str, target: str) -> None:
    await a_campaign_and_three_promotions(database)
    theirs = await Desk(database, "other").create("Promotions", ID=uuid(4, 1), name="Theirs")
    assert theirs == uuid(4, 1)
    error = await refused(database, add_promotions, CAMPAIGN, ids)
    assert (type(error), error.code, error.target, error.details) == (Invalid, code, target, ())


async def test_every_wrong_id_is_named(database: Database) -> None:
    await a_campaign_and_three_promotions(database)
    ids = [uuid(3, 90), uuid(3, 1), uuid(3, 91), uuid(3, 90)]
    error = await refused(database, add_promotions, CAMPAIGN, ids)
    assert [one.target for one in error.details] == ["promotionIds/0", "promotionIds/2"]
    many = await refused(database, add_promotions, CAMPAIGN, [uuid(3, n) for n in range(4, 1004)])
    assert len(many.details) == 50


@pytest.mark.parametrize("verb", [add_promotions, remove_promotion])
@pytest.mark.parametrize("campaign_id", [uuid(2, 99), "spring", "\0"])
async def test_a_missing_campaign_is_reported_before_missing_promotions(
    database: Database, verb: Verb, campaign_id: str
) -> None:
    await a_campaign_and_three_promotions(database)
    error = await refused(database, verb, campaign_id, None)
    assert (type(error), error.code) == (NotFound, "NOT_FOUND")
    foreign = await refused(database, verb, CAMPAIGN, None, tenant="other")
    assert (foreign.code, foreign.message) == (error.code, error.message)


async def test_a_locked_campaign_refuses_adding_and_removing_promotions(database: Database) -> None:
    other = {"ID": uuid(2, 2), "code": "AUTUMN", "name": "Autumn"}
    rows = {"Campaigns": [*campaign()["Campaigns"], other]} | promotions(1, 2, 3)
    await author(database, "Promotions", rows)
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1)])
    await lock(database, CAMPAIGN)
    for verb, argument in (
        (add_promotions, [uuid(3, 2)]),
        (add_promotions, [uuid(3, 1)]),  # changes nothing, but is refused all the same
        (remove_promotion, uuid(3, 1)),
        (remove_promotion, uuid(3, 2)),
    ):
        error = await refused(database, verb, CAMPAIGN, argument)
        assert (type(error), error.code, error.target) == (Conflict, "LOCKED", None)
        assert "SPRING" in error.message
    taken = await refused(database, add_promotions, uuid(2, 2), [uuid(3, 2), uuid(3, 1)])
    assert (type(taken), taken.code, taken.target) == (Conflict, "LOCKED", "promotionIds/1")
    # Errors of the request come before errors of the state.
    both = await refused(database, add_promotions, CAMPAIGN, [uuid(3, 88)])
    assert both.code == "UNKNOWN_REFERENCE"


async def test_a_promotion_is_taken_out_of_a_campaign(database: Database) -> None:
    await a_campaign_and_three_promotions(database)
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, 1), uuid(3, 2)])
    await carry_out(database, remove_promotion, CAMPAIGN, uuid(3, 1).upper())
    assert await linked(database) == [uuid(3, 2)]
    assert ("Campaigns", "REMOVE_PROMOTION", CAMPAIGN) in await trail(database)
    assert await events(database) == [uuid(3, 1), uuid(3, 1), uuid(3, 2)]


async def test_a_promotion_that_is_not_in_the_campaign_stays_as_it_is(database: Database) -> None:
    other = {"ID": uuid(2, 2), "code": "AUTUMN", "name": "Autumn"}
    await author(database, "Promotions", {"Campaigns": [*campaign()["Campaigns"], other]} | promotions(1, 2))
    await carry_out(database, add_promotions, uuid(2, 2), [uuid(3, 1)])
    before = await trail(database)
    for promotion_id in (uuid(3, 1), uuid(3, 2)):
        await carry_out(database, remove_promotion, CAMPAIGN, promotion_id)
    assert await trail(database) == before
    assert await linked(database, uuid(2, 2)) == [uuid(3, 1)]


@pytest.mark.parametrize(
    ("promotion_id", "code"),
    [(None, "REQUIRED"), ("", "REQUIRED"), (uuid(3, 77), "UNKNOWN_REFERENCE"), (uuid(4, 1), "UNKNOWN_REFERENCE")],
)
async def test_a_promotion_that_is_not_there_cannot_be_taken_out(
    database: Database, promotion_id: str | None, code: str
) -> None:
    await a_campaign_and_three_promotions(database)
    await Desk(database, "other").create("Promotions", ID=uuid(4, 1), name="Theirs")
    error = await refused(database, remove_promotion, CAMPAIGN, promotion_id)
    assert (type(error), error.code, error.target) == (Invalid, code, "promotionId")


async def test_a_thousand_promotions_cost_as_many_statements_as_two(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await author(database, "Promotions", campaign() | promotions(*range(1, 1003)) | {"DiscountActions": []})
    counted = count_statements(monkeypatch)
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, n) for n in (1, 2)], finished=False)
    two = counted()
    await carry_out(database, add_promotions, CAMPAIGN, [uuid(3, n) for n in range(3, 1003)], finished=False)
    assert counted() - two == two
    assert len(await linked(database)) == 1002

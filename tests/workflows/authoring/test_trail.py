"""What the audit trail tells of a change: old and new values, by names that people know, and never a secret."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import Any

from promenade.errors import Conflict
from promenade.model.declare import Service
from promenade.store.authoring.trail import CHANGES_MAX, VALUE_MAX
from tests.workflows.authoring.desk import NOON, Desk, writable_sets


async def told(desk: Desk, entity_id: str, action: str) -> list[dict[str, Any]]:
    """Return the changes that the entries of a row and an action tell."""
    rows = await desk.rows("AuditLogs", entityId=entity_id, action=action)
    return [one for row in rows for one in json.loads(row["changes"] or "[]")]


async def test_an_update_tells_old_and_new_value_of_every_field_and_names_what_is_referred_to(desk: Desk) -> None:
    spring = await desk.given("Campaigns", name="Spring")
    autumn = await desk.given("Campaigns", name="Autumn")
    promotion = await desk.given("Promotions", campaign_ID=spring, validFrom=NOON, priority=5)
    later = NOON + timedelta(days=1)
    await desk.update("Promotions", promotion, campaign_ID=autumn, validFrom=later, priority=5, description="New")
    assert sorted(await told(desk, promotion, "UPDATE"), key=lambda one: str(one["property"])) == [
        {"property": "campaign_ID", "from": "Spring", "to": "Autumn", "target": "Campaigns",
         "fromId": spring, "toId": autumn},
        {"property": "description", "to": "New"},
        {"property": "validFrom", "from": NOON.isoformat(), "to": later.isoformat()},
    ]  # fmt: skip


async def test_the_stores_of_a_promotion_are_told_by_name_when_they_come_and_go(desk: Desk) -> None:
    berlin = await desk.given("PosGroups", name="Berlin")
    bern = await desk.given("PosGroups", name="Bern")
    promotion = await desk.given("Promotions", posGroups=[{"posGroup_ID": berlin}])
    await desk.update("Promotions", promotion, posGroups=[{"posGroup_ID": bern}])
    found = {(one["part"], one["act"], one["name"]) for one in await told(desk, promotion, "UPDATE")}
    assert found == {("PromotionPosGroups", "DELETE", "Berlin"), ("PromotionPosGroups", "CREATE", "Bern")}
    await desk.update("Promotions", promotion, posGroups=[])
    assert {"part": "PromotionPosGroups", "act": "DELETE"} in await told(desk, promotion, "UPDATE")


async def test_a_rule_is_told_on_the_page_of_its_promotion_by_what_it_says(desk: Desk) -> None:
    promotion = await desk.given("Promotions", name="Spring")
    rule = await desk.create("Conditions", promotion_ID=promotion, conditionType="CHANNEL", value="app")
    await desk.update("Conditions", rule, value="web", valueListItems=[{"value": "shop"}])
    await desk.remove("Conditions", rule)
    rows = {row["action"]: row for row in await desk.rows("AuditLogs", entityId=rule)}
    assert {(row["ownerType"], row["ownerId"], row["ownerName"]) for row in rows.values()} == {
        ("Promotions", promotion, "Spring")
    }
    names = {action: row["entityName"] for action, row in rows.items()}
    assert names == {"CREATE": "Channel: app", "UPDATE": "Channel: web", "DELETE": "Channel: web"}
    assert {"property": "value", "from": "web"} in await told(desk, rule, "DELETE")
    changes = await told(desk, rule, "UPDATE")
    assert {"property": "value", "from": "app", "to": "web"} in changes
    assert [(one["part"], one["name"]) for one in changes if "part" in one] == [("ConditionValueListItems", "shop")]


async def test_what_is_about_a_promotion_is_told_on_its_page(desk: Desk) -> None:
    promotion = await desk.given("Promotions", name="Spring")
    pilot = await desk.given("PromotionPilotConfigs", promotion_ID=promotion)
    (row,) = await desk.rows("AuditLogs", entityId=pilot)
    assert (row["ownerType"], row["ownerId"], row["ownerName"]) == ("Promotions", promotion, "Spring")
    assert row["entityName"] == "Spring"


async def test_a_campaign_tells_which_promotions_were_added(desk: Desk) -> None:
    campaign = await desk.given("Campaigns", name="Spring")
    await desk.unit(lambda one: _recorded(one, campaign))
    (row,) = await desk.rows("AuditLogs", action="ADD_PROMOTIONS")
    assert (row["entityName"], row["note"]) == ("Spring", "A, B")


async def _recorded(authoring: Any, campaign: str) -> None:
    authoring.record("Campaigns", {"id": campaign, "name": "Spring"}, "addPromotions", "A, B")


async def test_an_entry_is_bounded_however_much_changes(desk: Desk) -> None:
    promotion = await desk.given("Promotions")
    rule = await desk.create("Conditions", promotion_ID=promotion, conditionType="CHANNEL")
    items = [{"value": f"customer {number}"} for number in range(CHANGES_MAX + 20)]
    await desk.update("Conditions", rule, valueListItems=items)
    changes = await told(desk, rule, "UPDATE")
    assert len(changes) == CHANGES_MAX + 1
    assert changes[-1] == {"more": 20}
    await desk.update("Promotions", promotion, description="x" * 1000)
    (change,) = await told(desk, promotion, "UPDATE")
    assert len(change["to"]) == VALUE_MAX


async def test_an_entry_exists_only_if_its_change_does(desk: Desk) -> None:
    promotion = await desk.given("Promotions", code="A")

    async def work(authoring: Any) -> None:
        await authoring.update("Promotions", promotion, {"description": "x"})
        raise Conflict("LATE", "It fails after all.")

    before = len(await desk.rows("AuditLogs"))
    with suppress(Conflict):
        await desk.unit(work)
    assert len(await desk.rows("AuditLogs")) == before


async def test_no_secret_is_told(desk: Desk) -> None:
    secrets = {"WebhookSubscriptions": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    made = await desk.given("WebhookSubscriptions", secret=secrets["WebhookSubscriptions"])
    office = Desk(desk.database, desk.tenant, service=Service.ADMIN)
    client = await office.create("Clients", name="Shop", scopes=["svc.POSReader"])
    secret = office.shown["Clients"][client]["secret"]
    digests = await office.row("Clients", client)
    await office.update("Clients", client, secret=None, name="Web shop")
    await desk.remove("WebhookSubscriptions", made)
    hidden = {*secrets.values(), secret, digests["secret"], (await office.row("Clients", client))["secret"]}
    for row in await desk.rows("AuditLogs"):
        assert not [one for one in hidden if one in str(row)], row
    assert {"property": "name", "from": "Shop", "to": "Web shop"} in await told(desk, client, "UPDATE")


async def test_every_set_tells_its_values_when_it_is_made_changed_and_deleted(desk: Desk) -> None:
    for set_name in writable_sets():
        made = await desk.create_row(set_name, await desk.sample(set_name, full=True))
        await desk.remove(set_name, made)
        for action, end in (("CREATE", "to"), ("DELETE", "from")):
            changes = await told(desk, made, action)
            assert changes, (set_name, action)
            assert all(end in one for one in changes), (set_name, changes)

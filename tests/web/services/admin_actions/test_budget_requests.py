"""Requests for a budget: who may ask and answer, what a grant does to a promotion and to a draft of it, and bounds."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.store.drafts.ownership import delete_draft, find_draft
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import budget_requests
from tests.web.conftest import run
from tests.web.services.admin.conftest import NOBODY, OWN, Admin, active, draft, fault
from tests.web.services.admin_actions.test_approvals import OFF, settle, submitted
from tests.web.services.admin_actions.test_moves import act, refused

ASKED = {"amount": 1000, "currency": "EUR", "reason": "The leaflet of May."}
PLANNER, CONTROLLER = "promoter", "treasurer"


def erase_drafts(admin: Admin, promotion_id: str) -> None:
    """Delete the draft of a promotion, as time does with those that nobody touches."""

    async def change() -> None:
        database = await open_database(admin.database_url)
        try:
            await database.write(erase, tenant=OWN)
        finally:
            await database.close()

    async def erase(session: Session) -> None:
        left = await find_draft(session, "Promotions", promotion_id)
        assert left is not None
        await delete_draft(session, left)

    run(change())


def ask(admin: Admin, address: str, *, client: str = PLANNER, **changes: Any) -> dict[str, Any]:
    """Ask for a budget for what is at an address."""
    answer = admin.post(f"{address}/AdminService.askForBudget", {**ASKED, **changes}, client=client)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def asked(admin: Admin, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a promotion and the planner's request for a budget for it."""
    promotion = admin.promotion(client=PLANNER)
    return promotion, ask(admin, active("Promotions", promotion), **changes)


def drafted(admin: Admin) -> dict[str, Any]:
    """Return the draft of a promotion that was never saved."""
    return admin.make("Promotions", client=PLANNER, name="Only a draft")


def answer(admin: Admin, request: dict[str, Any], verb: str, body: object = None, **how: Any) -> dict[str, Any]:
    done = admin.post(f"BudgetRequests({request['ID']})/AdminService.{verb}", body or {}, **how)
    assert done.status_code == 200, done.text
    return dict(done.json())


def denied(admin: Admin, request: dict[str, Any], verb: str, body: object = None, **how: Any) -> tuple[Any, ...]:
    return fault(admin.post(f"BudgetRequests({request['ID']})/AdminService.{verb}", body or {}, **how))


def budget(admin: Admin, **values: Any) -> str:
    row: dict[str, Any] = {"code": admin.unique("B"), "name": "House", "totalAmount": 5000, "currency": "EUR"}
    return str(admin.make("Budgets", IsActiveEntity=True, status="ACTIVE", **row | values)["ID"])


def charged(admin: Admin, promotion: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the budgets that a promotion is charged to."""
    links = admin.read(f"BudgetPromotions?$filter=promotion_ID eq {promotion['ID']}&$expand=budget")["value"]
    return [one["budget"] for one in links]


def status(admin: Admin, request: dict[str, Any], **how: Any) -> str:
    return str(admin.read(f"BudgetRequests({request['ID']})", **how)["status"])


def verbs(admin: Admin, request: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    rows = admin.read(f"AuditLogs?$filter=entityId eq '{request['ID']}'&$orderby=timestamp")["value"]
    return [(row["action"], row["actor"], row["note"]) for row in rows]


def test_a_grant_makes_the_budget_that_was_asked_for_and_charges_the_promotion(admin: Admin) -> None:
    promotion, request = asked(admin)
    told = {
        name: request[name] for name in ("promotion_ID", "promotionName", "reason", "status", "askedBy", "budget_ID")
    }
    assert told == {
        "promotion_ID": promotion["ID"], "promotionName": "Ten off", "reason": "The leaflet of May.", "status": "OPEN",
        "askedBy": PLANNER, "budget_ID": None,
    }  # fmt: skip
    granted = answer(admin, request, "grant")
    assert (granted["status"], granted["answeredBy"]) == ("GRANTED", "admin")
    (made,) = charged(admin, promotion)
    assert made["ID"] == granted["budget_ID"]
    assert (made["name"], made["totalAmount"], made["currency"], made["status"]) == ("Ten off", 1000, "EUR", "ACTIVE")
    assert made["code"].startswith("TEN-OFF-")
    assert verbs(admin, request) == [
        ("ASK", PLANNER, None),
        ("GRANT", "admin", "status, answeredAt, answeredBy, budget_ID"),
    ]


def test_a_controller_grants_a_budget_that_there_is_and_makes_none(admin: Admin) -> None:
    promotion, request = asked(admin)
    there = budget(admin)
    assert denied(admin, request, "grant", client=CONTROLLER)[:2] == (403, "MISSING_SCOPE")
    assert denied(admin, request, "grant", {"budgetId": there}, client=PLANNER)[:2] == (403, "MISSING_SCOPE")
    assert charged(admin, promotion) == []
    granted = answer(admin, request, "grant", {"budgetId": there}, client=CONTROLLER)
    assert (granted["status"], granted["answeredBy"], granted["budget_ID"]) == ("GRANTED", CONTROLLER, there)
    assert [one["ID"] for one in charged(admin, promotion)] == [there]


def test_a_budget_that_the_promotion_is_already_charged_to_is_granted_once(admin: Admin) -> None:
    promotion, request = asked(admin)
    there = budget(admin)
    admin.make("BudgetPromotions", budget_ID=there, promotion_ID=promotion["ID"])
    answer(admin, request, "grant", {"budgetId": there})
    assert [one["ID"] for one in charged(admin, promotion)] == [there]


def test_a_grant_leaves_a_draft_to_its_planner_and_is_charged_when_it_is_saved(admin: Admin) -> None:
    promotion = drafted(admin)
    request = ask(admin, draft("Promotions", promotion))
    assert request["promotionName"] == "Only a draft"
    granted = answer(admin, request, "grant")
    assert charged(admin, promotion) == []
    changed = admin.patch(draft("Promotions", promotion), {"name": "Still mine"}, client=PLANNER)
    assert changed.status_code == 200, changed.text
    assert admin.activate("Promotions", promotion["ID"], client=PLANNER).status_code in (200, 201)
    assert [one["ID"] for one in charged(admin, promotion)] == [granted["budget_ID"]]
    trail = admin.read(f"AuditLogs?$filter=entityType eq 'BudgetPromotions' and ownerId eq '{promotion['ID']}'")[
        "value"
    ]
    assert [(row["action"], row["actor"]) for row in trail] == [("CREATE", PLANNER)]


def test_a_draft_of_a_saved_promotion_is_no_obstacle(admin: Admin) -> None:
    promotion = admin.promotion(client=PLANNER)
    assert admin.edit("Promotions", promotion["ID"], client=PLANNER).status_code == 201
    request = ask(admin, draft("Promotions", promotion))
    granted = answer(admin, request, "grant")
    assert [one["ID"] for one in charged(admin, promotion)] == [granted["budget_ID"]]
    assert admin.activate("Promotions", promotion["ID"], client=PLANNER).status_code == 200
    assert [one["ID"] for one in charged(admin, promotion)] == [granted["budget_ID"]]


def test_a_refusal_needs_a_reason_which_the_planner_reads(admin: Admin) -> None:
    promotion, request = asked(admin)
    for body in ({}, {"reason": None}, {"reason": "  "}):
        assert denied(admin, request, "decline", body, client=CONTROLLER) == (400, "REQUIRED", "reason")
    assert denied(admin, request, "decline", {"reason": "x" * 1001}, client=CONTROLLER)[0] == 400
    assert denied(admin, request, "decline", {"reason": "No."}, client=PLANNER)[:2] == (403, "MISSING_SCOPE")
    answer(admin, request, "decline", {"reason": "Too much."}, client=CONTROLLER)
    row = admin.read(f"BudgetRequests({request['ID']})", client=PLANNER)
    assert (row["status"], row["answer"], row["answeredBy"]) == ("DECLINED", "Too much.", CONTROLLER)
    assert verbs(admin, request)[-1] == ("DECLINE", CONTROLLER, "Too much.")
    assert charged(admin, promotion) == []


def test_only_who_asked_takes_a_request_back(admin: Admin) -> None:
    _, request = asked(admin)
    for client in ("admin", CONTROLLER):
        assert denied(admin, request, "withdraw", client=client)[:2] == (403, "OTHERS_REQUEST")
    assert answer(admin, request, "withdraw", client=PLANNER)["status"] == "WITHDRAWN"


@pytest.mark.parametrize("verb", ["grant", "decline", "withdraw"])
def test_what_is_answered_stays_answered(admin: Admin, verb: str) -> None:
    body = {"reason": "No."} if verb == "decline" else {}
    asker = "admin"
    for before, values in (("grant", {}), ("decline", {"reason": "No."}), ("withdraw", {})):
        promotion = admin.promotion()
        request = ask(admin, active("Promotions", promotion), client=asker)
        answer(admin, request, before, values)
        then = status(admin, request), charged(admin, promotion)
        assert denied(admin, request, verb, body)[:2] == (409, "INVALID_TRANSITION")
        assert (status(admin, request), charged(admin, promotion)) == then


@pytest.mark.parametrize(
    ("changes", "code", "target"),
    [
        ({"amount": 0}, "OUT_OF_RANGE", "amount"),
        ({"amount": -1}, "OUT_OF_RANGE", "amount"),
        ({"currency": "XXQ"}, "UNKNOWN_CODE", "currency"),
        ({"currency": " "}, "REQUIRED", "currency"),
        ({"reason": "x" * 1001}, None, "reason"),
        ({"reason": "a\0b"}, "ILLEGAL_CHARACTER", "reason"),
        ({"amount": None}, None, "amount"),
    ],
)
def test_what_is_wrong_with_a_request_names_its_field(
    admin: Admin, changes: dict[str, Any], code: str | None, target: str
) -> None:
    address = active("Promotions", admin.promotion(client=PLANNER))
    refusal = fault(admin.post(f"{address}/AdminService.askForBudget", {**ASKED, **changes}, client=PLANNER))
    assert (refusal[0], refusal[2]) == (400, target)
    assert refusal[1] == (code or refusal[1])


def test_only_planners_ask_and_only_for_what_is_there_and_theirs(admin: Admin) -> None:
    promotion = admin.promotion()
    assert refused(admin, "Promotions", promotion, "askForBudget", ASKED, client=CONTROLLER)[:2] == (
        403, "MISSING_SCOPE",
    )  # fmt: skip
    assert refused(admin, "Promotions", {"ID": NOBODY}, "askForBudget", ASKED, client=PLANNER)[:2] == (404, "NOT_FOUND")
    theirs = drafted(admin)
    address = f"{draft('Promotions', theirs)}/AdminService.askForBudget"
    assert fault(admin.post(address, ASKED, client="admin"))[0] in (403, 404)
    assert admin.read(f"BudgetRequests?$filter=promotion_ID eq {theirs['ID']}")["value"] == []


def test_another_tenant_neither_sees_nor_answers_a_request(admin: Admin) -> None:
    promotion, request = asked(admin)
    foreign = {"client": "stranger"}
    assert admin.get(f"BudgetRequests({request['ID']})", **foreign).status_code == 404
    assert admin.read(f"BudgetRequests?$filter=promotion_ID eq {promotion['ID']}", **foreign)["value"] == []
    for verb, body in (("grant", {}), ("decline", {"reason": "No."}), ("withdraw", {})):
        assert denied(admin, request, verb, body, **foreign)[:2] == (404, "NOT_FOUND")
    assert refused(admin, "Promotions", promotion, "askForBudget", ASKED, **foreign)[:2] == (404, "NOT_FOUND")
    theirs = budget(admin, client="stranger")
    assert denied(admin, request, "grant", {"budgetId": theirs}) == (400, "UNKNOWN_REFERENCE", "budgetId")
    assert status(admin, request) == "OPEN"


def test_a_budget_of_another_currency_is_not_granted(admin: Admin) -> None:
    promotion, request = asked(admin)
    other = budget(admin, currency="CHF")
    assert denied(admin, request, "grant", {"budgetId": other}) == (400, "CURRENCY_MISMATCH", "budgetId")
    assert (status(admin, request), charged(admin, promotion)) == ("OPEN", [])


def test_a_promotion_has_one_open_request_at_a_time(admin: Admin) -> None:
    promotion, request = asked(admin)
    again = refused(admin, "Promotions", promotion, "askForBudget", ASKED, client=PLANNER)
    assert again[:2] == (409, "ALREADY_ASKED")
    answer(admin, request, "decline", {"reason": "Later."})
    assert ask(admin, active("Promotions", promotion))["status"] == "OPEN"


def test_a_tenant_has_so_many_open_requests_and_no_more(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    _, request = asked(admin)
    count = admin.read("BudgetRequests?$filter=status eq 'OPEN'&$count=true&$top=0")["@odata.count"]
    monkeypatch.setattr(budget_requests, "OPEN_MAX", count)
    other = admin.promotion(client=PLANNER)
    full = refused(admin, "Promotions", other, "askForBudget", ASKED, client=PLANNER)
    assert full[:2] == (409, "TOO_MANY_REQUESTS")
    answer(admin, request, "withdraw", client=PLANNER)
    assert ask(admin, active("Promotions", other))["status"] == "OPEN"


def test_requests_end_with_the_promotion_that_they_are_for(admin: Admin) -> None:
    promotion, request = asked(admin)
    assert admin.delete(active("Promotions", promotion), client=PLANNER).status_code == 204
    assert status(admin, request) == "WITHDRAWN"
    assert verbs(admin, request)[-1][:2] == ("WITHDRAW", PLANNER)
    unsaved = drafted(admin)
    request = ask(admin, draft("Promotions", unsaved))
    assert admin.delete(draft("Promotions", unsaved), client=PLANNER).status_code == 204
    assert status(admin, request) == "WITHDRAWN"
    saved, request = asked(admin)
    assert admin.edit("Promotions", saved["ID"], client=PLANNER).status_code == 201
    assert admin.delete(draft("Promotions", saved), client=PLANNER).status_code == 204
    assert status(admin, request) == "OPEN"


def test_the_rules_for_charging_a_promotion_hold_for_a_grant(admin: Admin) -> None:
    campaign = admin.campaign()
    promotion = admin.promotion(client=PLANNER, campaign_ID=campaign["ID"])
    request = ask(admin, active("Promotions", promotion))
    act(admin, "Campaigns", campaign, "lock")
    assert denied(admin, request, "grant")[:2] == (409, "LOCKED")
    assert (status(admin, request), charged(admin, promotion)) == ("OPEN", [])
    act(admin, "Campaigns", campaign, "unlock")
    answer(admin, request, "grant")
    assert len(charged(admin, promotion)) == 1


def test_a_grant_does_not_get_past_binding_approval(admin: Admin) -> None:
    settle(admin, approval="BINDING")
    try:
        waiting = submitted(admin)
        answer(admin, ask(admin, active("Promotions", waiting)), "grant")
        assert admin.read(active("Promotions", waiting))["status"] == "DRAFT"
        running = submitted(admin)
        act(admin, "Promotions", running, "approve")
        act(admin, "Promotions", running, "activate", client=PLANNER)
        request = ask(admin, active("Promotions", running))
        assert denied(admin, request, "grant")[:2] == (409, "APPROVAL_REQUIRED")
        assert (status(admin, request), charged(admin, running)) == ("OPEN", [])
    finally:
        settle(admin, **OFF)


def test_a_request_for_a_promotion_that_is_gone_is_declined(admin: Admin) -> None:
    unsaved = drafted(admin)
    request = ask(admin, draft("Promotions", unsaved))
    erase_drafts(admin, unsaved["ID"])
    assert denied(admin, request, "grant")[:2] == (409, "PROMOTION_GONE")
    assert status(admin, request) == "OPEN"
    assert answer(admin, request, "decline", {"reason": "It is gone."})["status"] == "DECLINED"

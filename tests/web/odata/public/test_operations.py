"""The public API's actions and functions (specification, Public API actions)."""

from __future__ import annotations

import uuid

import icalendar
import pytest

from tests.web.odata.public.conftest import LOGGED, ODATA, Api, odata_fault, problem

NOBODY = "99999999-9999-4999-8999-999999999999"


@pytest.mark.parametrize("name", ["addPromotions", "PublicAPI.addPromotions"])
def test_promotions_are_added_to_a_campaign(api: Api, name: str) -> None:
    campaign, first, second = api.campaign(), api.promotion(), api.promotion()
    body = {"promotionIds": [first["ID"], second["ID"]]}
    for _ in range(2):
        answer = api.post(f"Campaigns({campaign['ID']})/{name}", body)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["ID"], answer.json()["minorVersion"]) == (campaign["ID"], 13)
        assert answer.json()["@context"].endswith("$metadata#Campaigns/$entity")
    linked = api.read(f"Campaigns({campaign['ID']})/promotions")["value"]
    assert {one["ID"] for one in linked} == {first["ID"], second["ID"]}


def test_removing_a_promotion_from_a_campaign_can_be_repeated(api: Api) -> None:
    campaign = api.campaign()
    promotion = api.promotion(campaign_ID=campaign["ID"])
    for _ in range(2):
        answer = api.post(f"Campaigns({campaign['ID']})/removePromotion", {"promotionId": promotion["ID"]})
        assert (answer.status_code, answer.json()["ID"]) == (200, campaign["ID"])
    assert api.read(f"Promotions({promotion['ID']})")["campaign_ID"] is None


@pytest.mark.parametrize("body", [{}, {"promotionIds": []}, {"promotionIds": None}, {"promotionIds": "x"}])
def test_adding_an_empty_list_of_promotions_is_refused(api: Api, body: dict[str, object]) -> None:
    status, _, target = problem(api.post(f"Campaigns({api.campaign()['ID']})/addPromotions", body))
    assert (status, target) == (400, "promotionIds")


def test_an_unknown_promotion_among_those_to_add_adds_none(api: Api) -> None:
    campaign, own = api.campaign(), api.promotion()
    foreign = api.promotion(client="stranger")
    for other in (foreign["ID"], NOBODY):
        answer = api.post(f"Campaigns({campaign['ID']})/addPromotions", {"promotionIds": [own["ID"], other]})
        assert problem(answer)[::2] == (400, "promotionIds/1")
    assert api.read(f"Campaigns({campaign['ID']})/promotions")["value"] == []


def test_a_locked_campaign_keeps_its_promotions(api: Api) -> None:
    key = LOGGED.format(1)
    answer = api.post(f"Campaigns({key})/addPromotions", {"promotionIds": [api.promotion()["ID"]]})
    assert problem(answer)[:2] == (409, "LOCKED")
    answer = api.post(f"Campaigns({api.campaign()['ID']})/addPromotions", {"promotionIds": [key]})
    assert problem(answer)[:2] == (409, "LOCKED")
    assert problem(api.post(f"Campaigns({key})/removePromotion", {"promotionId": key}))[:2] == (409, "LOCKED")


@pytest.mark.parametrize("name", ["exportICS", "exportICS()", "PublicAPI.exportICS", "PublicAPI.exportICS()"])
def test_a_campaign_is_exported_as_one_event(api: Api, name: str) -> None:
    campaign = api.campaign(name="Spring", startAt="2026-03-01T00:00:00Z", endAt="2026-04-01T00:00:00Z")
    answer = api.get(f"Campaigns({campaign['ID']})/{name}")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["minorVersion"] == 13
    calendar = icalendar.Calendar.from_ical(body["value"])
    (event,) = calendar.walk("VEVENT")
    assert (str(event["SUMMARY"]), event.decoded("DTSTART").isoformat()) == ("Spring", "2026-03-01T00:00:00+00:00")
    raw = api.get(f"Campaigns({campaign['ID']})/{name}", accept="text/calendar")
    assert raw.headers["content-type"].startswith("text/calendar")
    assert raw.text.startswith("BEGIN:VCALENDAR\r\n")


def test_a_promotion_is_made_from_a_template_each_time(api: Api) -> None:
    template = api.make(
        "PromotionTemplates",
        code=api.unique(),
        name="Three for two",
        discountActions=[{"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}],
        conditions=[{"conditionType": "ARTICLE", "articleNumber": "A-1"}],
    )
    made = set()
    for _ in range(2):
        answer = api.post("createPromotionFromTemplate", {"templateId": template["ID"]})
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["minorVersion"] == 13
        made.add(str(uuid.UUID(body["value"])))
    assert len(made) == 2
    key = made.pop()
    promotion = api.read(f"Promotions({key})")
    assert (promotion["name"], promotion["status"]) == ("Three for two", "DRAFT")
    (action,) = api.read(f"DiscountActions?$filter=promotion_ID eq {key}")["value"]
    assert action["discountValue"] == 10


@pytest.mark.parametrize("body", [{}, {"templateId": None}, {"templateId": "x"}])
def test_a_template_must_be_named(api: Api, body: dict[str, object]) -> None:
    assert problem(api.post("createPromotionFromTemplate", body))[::2] == (400, "templateId")


def test_an_unknown_template_is_not_there(api: Api) -> None:
    assert problem(api.post("createPromotionFromTemplate", {"templateId": NOBODY}))[0] == 404
    assert odata_fault(api.post("createPromotionFromTemplate", {"templateId": NOBODY}, **ODATA))[0] == 404


def test_actions_need_the_write_scope_and_functions_the_read_scope(api: Api) -> None:
    campaign = api.campaign()
    address = f"Campaigns({campaign['ID']})"
    for path, body in (
        (f"{address}/addPromotions", {"promotionIds": [NOBODY]}),
        (f"{address}/removePromotion", {"promotionId": NOBODY}),
        ("createPromotionFromTemplate", {"templateId": NOBODY}),
    ):
        assert problem(api.post(path, body, client="reader"))[:2] == (403, "MISSING_SCOPE"), path
    assert api.get(f"{address}/exportICS", client="reader").status_code == 200
    assert problem(api.get(f"{address}/exportICS", client="writer"))[:2] == (403, "MISSING_SCOPE")


@pytest.mark.parametrize("name", ["lock", "unlock", "activate", "startPilot", "promoteToActive"])
def test_operations_of_administrators_do_not_exist_in_the_public_api(api: Api, name: str) -> None:
    for address in (f"Campaigns({api.campaign()['ID']})", f"Promotions({api.promotion()['ID']})"):
        assert problem(api.post(f"{address}/{name}", {}))[0] == 404

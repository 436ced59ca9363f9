"""Rows of another tenant appear not to exist, however they are requested."""

from __future__ import annotations

import json

from tests.web.odata.public.conftest import Api, problem


def strange(api: Api) -> dict[str, str]:
    """Create rows of the other tenant, linked with each other."""
    campaign = api.campaign(client="stranger", name="Strange")
    promotion = api.promotion(client="stranger", campaign_ID=campaign["ID"], name="Strange")
    pos_group = api.make("PosGroups", client="stranger", code=api.unique(), name="Strange", currency="EUR")
    template = api.make("PromotionTemplates", client="stranger", code=api.unique(), name="Strange")
    return {
        "Campaigns": campaign["ID"],
        "Promotions": promotion["ID"],
        "PosGroups": pos_group["ID"],
        "PromotionTemplates": template["ID"],
    }


def test_a_foreign_row_is_404_in_every_verb_and_navigation(api: Api) -> None:
    rows = strange(api)
    for name, key in rows.items():
        address = f"{name}({key})"
        assert problem(api.get(address))[0] == 404, name
        assert problem(api.patch(address, {"name": "Mine"}))[0] == 404, name
        assert problem(api.call("PUT", address, {"name": "Mine"}))[0] == 404, name
        assert problem(api.delete(address))[0] == 404, name
        assert problem(api.get(f"{address}/name"))[0] == 404, name
        assert problem(api.get(f"{address}/name/$value"))[0] == 404, name
    for path in (
        f"Campaigns({rows['Campaigns']})/promotions",
        f"Campaigns({rows['Campaigns']})/posGroups",
        f"Campaigns({rows['Campaigns']})/statusText",
        f"Promotions({rows['Promotions']})/campaign",
        f"Promotions({rows['Promotions']})/calculationConfig",
        f"Campaigns({rows['Campaigns']})/exportICS",
    ):
        assert problem(api.get(path))[0] == 404, path
    for path, body in (
        (f"Campaigns({rows['Campaigns']})/addPromotions", {"promotionIds": [rows["Promotions"]]}),
        (f"Campaigns({rows['Campaigns']})/removePromotion", {"promotionId": rows["Promotions"]}),
        (f"Campaigns({rows['Campaigns']})/posGroups", {"posGroup_ID": rows["PosGroups"]}),
        ("createPromotionFromTemplate", {"templateId": rows["PromotionTemplates"]}),
    ):
        assert problem(api.post(path, body))[0] == 404, path
    assert api.read(f"Campaigns({rows['Campaigns']})", client="stranger")["name"] == "Strange"


def test_foreign_rows_are_in_no_list_count_search_or_filter(api: Api) -> None:
    rows = strange(api)
    for path in (
        "Campaigns?$count=true&$filter=name eq 'Strange'",
        "Campaigns?$count=true&$search=Strange",
        f"Campaigns?$count=true&$filter=ID eq {rows['Campaigns']}",
        f"Promotions?$count=true&$filter=campaign_ID eq {rows['Campaigns']}",
        "Promotions?$count=true&$filter=campaign/name eq 'Strange'",
        "Campaigns?$count=true&$filter=promotions/any(p:p/name eq 'Strange')",
        "Campaigns?$count=true&$filter=promotions/$count gt 0 and name eq 'Strange'",
        "PromotionsCalendar?$count=true&$filter=promotionName eq 'Strange'",
    ):
        page = api.read(path)
        assert (page["value"], page["@count"]) == ([], 0), path
    assert api.read("Campaigns?$apply=filter(name eq 'Strange')/aggregate($count as n)")["value"] in ([], [{"n": 0}])
    assert api.get("Campaigns/$count?$filter=name eq 'Strange'").text == "0"


def test_a_foreign_row_cannot_be_referred_to(api: Api) -> None:
    """The response is the same as for a row that does not exist."""
    rows = strange(api)
    unknown = "99999999-9999-4999-8999-999999999999"
    own = api.promotion()
    for set_name, body, name in (
        ("Promotions", {"name": "X"}, "campaign_ID"),
        ("Conditions", {"conditionType": "ARTICLE", "articleNumber": "A"}, "promotion_ID"),
        ("PromotionPosGroups", {"promotion_ID": own["ID"]}, "posGroup_ID"),
    ):
        target = {"campaign_ID": "Campaigns", "promotion_ID": "Promotions", "posGroup_ID": "PosGroups"}[name]
        refused = [problem(api.post(set_name, {**body, name: key})) for key in (rows[target], unknown)]
        assert refused[0] == refused[1] == (400, refused[0][1], name), set_name


def test_a_foreign_id_is_free_to_be_used(api: Api) -> None:
    key = strange(api)["Campaigns"]
    assert api.campaign(ID=key, name="Mine")["ID"] == key
    assert api.read(f"Campaigns({key})")["name"] == "Mine"
    assert api.read(f"Campaigns({key})", client="stranger")["name"] == "Strange"


def test_a_batch_cannot_see_foreign_rows(api: Api) -> None:
    rows = strange(api)
    batch = {
        "requests": [
            {"id": "1", "method": "GET", "url": f"Campaigns({rows['Campaigns']})"},
            {"id": "2", "method": "GET", "url": "Campaigns?$filter=name eq 'Strange'"},
            {
                "id": "3",
                "method": "PATCH",
                "url": f"Campaigns({rows['Campaigns']})",
                "headers": {"content-type": "application/json"},
                "body": {"name": "Mine"},
            },
        ]
    }
    answer = api.post("$batch", batch)
    assert answer.status_code == 200, answer.text
    first, second, third = answer.json()["responses"]
    assert (first["status"], second["body"]["value"], third["status"]) == (404, [], 404)
    assert "Strange" not in json.dumps(first)

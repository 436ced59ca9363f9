"""Rows of another tenant requested by OData-specific means: same responses as for rows that never existed."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.web.odata.public.conftest import Api
from tests.web.odata.public.test_tenants import strange

UNKNOWN = "99999999-9999-4999-8999-999999999999"
SECRET = "Strange"


def outcome(answer: Any, key: str) -> tuple[int, str]:
    """Return status and body without what differs between requests: the requested ID and timestamps."""
    return answer.status_code, answer.text.replace(key, "<key>")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("GET", "Campaigns({})", None, {"if-match": "*"}),
        ("GET", "Campaigns({})", None, {"if-none-match": "*"}),
        ("GET", "Campaigns({})", None, {"if-none-match": 'W/"1"'}),
        ("PATCH", "Campaigns({})", {"name": "x"}, {"if-match": 'W/"1"'}),
        ("PATCH", "Campaigns({})", {"name": "x"}, {"if-match": 'W/"2"'}),
        ("PATCH", "Campaigns({})", {"name": "x"}, {"if-none-match": "*"}),
        ("DELETE", "Campaigns({})", None, {"if-match": 'W/"1"'}),
        ("DELETE", "Campaigns({})", None, {"if-match": 'W/"2"'}),
        ("PUT", "Campaigns({})/name", {"value": "x"}, {}),
        ("GET", "Campaigns({})/promotions/$count", None, {}),
        ("GET", "Campaigns({})/promotions/$ref", None, {}),
        ("GET", "Campaigns({})/$ref", None, {}),
        ("GET", "Campaigns({})?$expand=promotions", None, {}),
        ("GET", "$entity?$id=Campaigns({})", None, {}),
        ("POST", "Campaigns({})/$query", None, {"content-type": "text/plain"}),
        ("GET", "Campaigns/$filter(ID eq {})/$count", None, {}),
        ("GET", "Campaigns?$apply=filter(ID eq {})/aggregate($count as n)", None, {}),
        ("GET", "Promotions?$filter=campaign/ID eq {}", None, {}),
        ("GET", "Campaigns?$filter=ID in ({})&$expand=promotions($expand=campaign)", None, {}),
        ("GET", "Campaigns?$filter=promotions/any(p:p/campaign/ID eq {})&$count=true", None, {}),
        ("GET", "Campaigns?$filter=promotions/$count($filter=campaign_ID eq {}) gt 0&$count=true", None, {}),
        ("GET", "Promotions?$orderby=campaign/name&$filter=campaign_ID eq {}", None, {}),
        ("POST", "Promotions", {"name": "x", "campaign_ID": "{}"}, {}),
        ("POST", "Promotions", {"name": "x", "campaign@odata.bind": "Campaigns({})"}, {}),
        ("POST", "Promotions", {"name": "x", "campaign": {"@id": "/api/v1/Campaigns({})"}}, {}),
        ("POST", "Promotions", {"name": "x", "campaign": {"ID": "{}"}}, {}),
    ],
)
def test_a_foreign_key_is_answered_like_an_unknown_one(
    api: Api, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    key = strange(api)["Campaigns"]
    found = []
    for one in (key, UNKNOWN):
        content = None if body is None else json.loads(json.dumps(body).replace("{}", one))
        if headers.get("content-type") == "text/plain":
            content = b"$select=name"
        answer = api.call(method, path.replace("{}", one), content, **headers)
        found.append(outcome(answer, one))
        assert answer.status_code < 500
        assert SECRET not in answer.text
    assert found[0] == found[1]
    assert found[0][0] in {200, 400, 404, 412}
    assert api.read(f"Campaigns({key})", client="stranger")["name"] == SECRET


def test_links_to_foreign_rows_are_refused_like_links_to_missing_rows(api: Api) -> None:
    rows = strange(api)
    promotion = api.promotion()["ID"]
    for one in (rows["Campaigns"], UNKNOWN):
        refused = api.call("PUT", f"Promotions({promotion})/campaign/$ref", {"@id": f"Campaigns({one})"})
        assert refused.status_code in {400, 404}, refused.text
    foreign = f"Promotions({rows['Promotions']})/campaign/$ref"
    own = api.campaign()["ID"]
    assert api.call("PUT", foreign, {"@id": f"Campaigns({own})"}).status_code == 404
    assert api.delete(foreign).status_code == 404
    kept = api.read(f"Promotions({rows['Promotions']})", client="stranger")
    assert kept["campaign_ID"] == rows["Campaigns"]


def test_a_deep_update_takes_no_foreign_child(api: Api) -> None:
    pos_group = api.make("PosGroups", code=api.unique(), name="Own", currency="EUR")["ID"]
    foreign_group = api.make("PosGroups", client="stranger", code=api.unique(), name="S", currency="EUR")["ID"]
    theirs = api.campaign(client="stranger", posGroups=[{"posGroup_ID": foreign_group}])
    child = api.read(f"Campaigns({theirs['ID']})/posGroups", client="stranger")["value"][0]["ID"]
    campaign = api.campaign()["ID"]
    answers = []
    for one in (child, UNKNOWN):
        body = {"posGroups": [{"ID": one, "posGroup_ID": pos_group}]}
        answer = api.patch(f"Campaigns({campaign})", body)
        answers.append(outcome(answer, one))
        api.patch(f"Campaigns({campaign})", {"posGroups": []})
    assert answers[0] == answers[1]
    for one in (child, UNKNOWN):
        delta: dict[str, Any] = {"posGroups@delta": [{"@removed": {}, "ID": one}]}
        answers.append(outcome(api.patch(f"Campaigns({campaign})", delta), one))
    assert answers[2] == answers[3]
    refused = api.patch(f"Campaigns({campaign})", {"posGroups": [{"posGroup_ID": foreign_group}]})
    assert refused.status_code in {400, 404}
    (kept,) = api.read(f"Campaigns({theirs['ID']})/posGroups", client="stranger")["value"]
    assert (kept["ID"], kept["posGroup_ID"]) == (child, foreign_group)


def test_a_skip_token_of_a_foreign_list_shows_none_of_its_rows(api: Api) -> None:
    prefix = api.unique("page")
    for number in range(3):
        api.campaign(client="stranger", code=f"{prefix}-{number}", name=SECRET)
    path = f"Campaigns?$filter=startswith(code,'{prefix}')&$orderby=code"
    link = api.read(path, client="stranger", prefer="maxpagesize=1")["@nextLink"]
    answer = api.get(link.partition("/api/v1/")[2])
    assert answer.status_code in {200, 400}
    assert answer.json().get("value", []) == []
    assert SECRET not in answer.text


def test_references_of_a_batch_lead_to_no_foreign_row(api: Api) -> None:
    key = strange(api)["Campaigns"]
    head = {"content-type": "application/json"}
    requests = [
        {"id": "1", "method": "PATCH", "url": f"Campaigns({key})", "headers": head, "body": {"name": "x"}},
        {"id": "2", "method": "GET", "url": "$1"},
        {"id": "3", "method": "GET", "url": f"Campaigns({key})", "headers": {"if-none-match": 'W/"1"'}},
        {"id": "4", "method": "POST", "url": "Promotions", "headers": head, "body": {
            "name": "x", "campaign@odata.bind": f"Campaigns({key})"
        }},
        {"id": "5", "method": "GET", "url": f"Campaigns?$filter=code eq {quote(chr(39))}a{quote(chr(39))}"},
    ]  # fmt: skip
    answer = api.post("$batch", {"requests": requests})
    assert [one["status"] for one in answer.json()["responses"]] == [404, 424, 404, 400, 200]
    assert SECRET not in answer.text

"""`$batch` with drafts: atomic change sets, references to new drafts, both formats."""

from __future__ import annotations

import json
from email.parser import BytesParser
from typing import Any

import httpx2

from tests.web.services.admin.conftest import Admin, active, draft


def asked(number: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    """Return one request of a JSON batch."""
    return {"id": number, "method": method, "url": url, **({} if body is None else {"body": body}), **more}


def carried_out(admin: Admin, *requests: dict[str, Any]) -> dict[str, Any]:
    """Return the responses by their ids."""
    answer = admin.post("$batch", {"requests": list(requests)})
    assert answer.status_code == 200, answer.text
    return {one["id"]: one for one in answer.json()["responses"]}


def test_a_new_draft_is_made_filled_and_activated_in_one_change_set(admin: Admin) -> None:
    shop = admin.pos_group()
    found = carried_out(
        admin,
        asked("1", "POST", "Promotions", {"name": "All at once"}, atomicityGroup="g"),
        asked("2", "POST", "$1/posGroups", {"posGroup_ID": shop}, atomicityGroup="g"),
        asked("3", "PATCH", "$1", {"description": "x"}, atomicityGroup="g"),
        asked("4", "POST", "$1/AdminService.draftPrepare", {}, atomicityGroup="g"),
        asked("5", "POST", "$1/AdminService.draftActivate", {}, atomicityGroup="g"),
        asked("6", "POST", "$5/AdminService.draftEdit", {"PreserveChanges": True}),
    )
    assert [found[number]["status"] for number in "123456"] == [201, 201, 200, 200, 201, 201]
    made = found["1"]["body"]
    assert made["IsActiveEntity"] is False
    assert found["1"]["headers"]["location"].endswith(draft("Promotions", made))
    assert found["2"]["body"]["promotion_ID"] == made["ID"]
    assert found["5"]["body"]["IsActiveEntity"] is True
    assert found["6"]["body"]["HasActiveEntity"] is True
    assert admin.read(active("Promotions", made))["description"] == "x"


def test_a_change_set_that_fails_leaves_no_draft(admin: Admin) -> None:
    name = admin.unique("undone")
    found = carried_out(
        admin,
        asked("1", "POST", "Promotions", {"name": name}, atomicityGroup="g"),
        asked("2", "PATCH", "$1", {"name": 7}, atomicityGroup="g"),
    )
    assert found["2"]["status"] == 400
    assert found["1"]["status"] == 424
    assert admin.read(f"Promotions?$filter=IsActiveEntity eq false and name eq '{name}'")["value"] == []


def test_a_refused_activation_rolls_back_its_change_set(admin: Admin) -> None:
    made = admin.make("Promotions", description="before")
    found = carried_out(
        admin,
        asked("1", "PATCH", draft("Promotions", made), {"description": "after"}, atomicityGroup="g"),
        asked("2", "POST", f"{draft('Promotions', made)}/AdminService.draftActivate", {}, atomicityGroup="g"),
    )
    assert (found["2"]["status"], found["2"]["body"]["error"]["target"]) == (400, "in/name")
    assert admin.read(draft("Promotions", made))["description"] == "before"


def test_entities_without_drafts_are_grouped_as_one(admin: Admin) -> None:
    promotion = admin.promotion()
    condition = {"promotion_ID": promotion["ID"], "sequence": 1, "conditionType": "ARTICLE", "articleNumber": "A-1"}
    action = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}
    found = carried_out(
        admin,
        asked("1", "POST", "Conditions", condition, atomicityGroup="g"),
        asked("2", "POST", "DiscountActions", {**action, "promotion_ID": promotion["ID"]}, atomicityGroup="g"),
    )
    assert [found[number]["status"] for number in "12"] == [201, 201], found
    rows = admin.read(f"Conditions?$filter=promotion_ID eq {promotion['ID']}")["value"]
    assert [row["articleNumber"] for row in rows] == ["A-1"]
    found = carried_out(
        admin,
        asked("1", "DELETE", f"Conditions({rows[0]['ID']})", atomicityGroup="g"),
        asked("2", "POST", "DiscountActions", {**action, "discountType": "NONSENSE"}, atomicityGroup="g"),
    )
    assert found["2"]["status"] == 400
    assert admin.get(f"Conditions({rows[0]['ID']})").status_code == 200


def multipart(*parts: str) -> bytes:
    """Return a batch whose parts are written in full except for the boundary."""
    return ("".join(f"--b\r\n{part}\r\n" for part in parts) + "--b--\r\n").encode()


def http(method: str, url: str, body: str = "", *, content_id: str = "", **headers: str) -> str:
    """Return one part that is a request."""
    head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    head += f"Content-ID: {content_id}\r\n" if content_id else ""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"{head}\r\n{method} {url} HTTP/1.1\r\nContent-Type: application/json\r\n{lines}\r\n{body}"


def change_set(*parts: str) -> str:
    inner = "".join(f"--c\r\n{part}\r\n" for part in parts)
    return f"Content-Type: multipart/mixed;boundary=c\r\n\r\n{inner}--c--\r\n"


def answers(response: httpx2.Response) -> list[tuple[str | None, int, dict[str, str], Any]]:
    """Return Content-ID, status, headers and body of each part, including those in change sets."""
    head = f"content-type: {response.headers['content-type']}\r\n\r\n".encode()
    found: list[tuple[str | None, int, dict[str, str], Any]] = []
    for part in BytesParser().parsebytes(head + response.content).walk():
        if part.get_content_type() != "application/http":
            continue
        top, _, body = str(part.get_payload()).replace("\r\n", "\n").partition("\n\n")
        status, *lines = top.split("\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        found.append((part["Content-ID"], int(status.split()[1]), headers, json.loads(body) if body.strip() else None))
    return found


def test_the_batch_of_fiori_elements_for_a_new_object_works(admin: Admin) -> None:
    """What Fiori elements sends when a new object is created: the draft, its list and their parents, in one request."""
    sent = multipart(
        change_set(http("POST", "Promotions", "{}", content_id="0.0", Prefer="return=representation")),
        http("GET", "Promotions?$count=true&$top=3&$filter=IsActiveEntity%20eq%20false"),
    )
    answer = admin.post("$batch", sent, content_type="multipart/mixed; boundary=b", odata_maxversion="4.0")
    (content_id, status, headers, made), (_, listed, _, page) = answers(answer)
    assert (answer.status_code, content_id, status, listed) == (200, "0.0", 201, 200)
    assert headers["odata-version"] == "4.0"
    assert headers["location"].endswith(draft("Promotions", made))
    assert made["ID"] in {row["ID"] for row in page["value"]} or page["@odata.count"] > 3
    sent = multipart(
        change_set(
            http("PATCH", draft("Promotions", made), '{"name":"One"}', content_id="1.0", If_Match=made["@odata.etag"])
        ),
        change_set(
            http("POST", f"{draft('Promotions', made)}/AdminService.draftPrepare", "{}", content_id="2.0"),
            http("POST", f"{draft('Promotions', made)}/AdminService.draftActivate", "{}", content_id="3.0"),
        ),
        http("GET", active("Promotions", made)),
    )
    answer = admin.post("$batch", sent, content_type="multipart/mixed; boundary=b")
    found = answers(answer)
    assert [(one[0], one[1]) for one in found] == [("1.0", 200), ("2.0", 200), ("3.0", 201), (None, 200)]
    assert [one["code"] for one in json.loads(found[2][2]["sap-messages"])] == ["SAVED"]
    assert found[3][3]["name"] == "One"


def test_a_multipart_set_refers_to_its_new_draft(admin: Admin) -> None:
    campaign = http("POST", "Campaigns", json.dumps({"code": admin.unique(), "name": "x"}), content_id="1")
    bound = http(
        "POST", "CampaignPosGroups", json.dumps({"campaign@odata.bind": "$1", "posGroup_ID": admin.pos_group()}),
        content_id="2",
    )  # fmt: skip
    sent = multipart(change_set(campaign, bound, http("POST", "$1/AdminService.draftActivate", "{}", content_id="3")))
    answer = admin.post("$batch", sent, content_type="multipart/mixed; boundary=b")
    found = answers(answer)
    assert [one[1] for one in found] == [201, 201, 201], answer.text
    assert len(admin.read(f"{active('Campaigns', found[2][3])}/posGroups")["value"]) == 1

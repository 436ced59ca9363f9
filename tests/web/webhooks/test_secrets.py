"""Secrets over HTTP: returned once to their creator, for every kind of client, and never again."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from standardwebhooks import Webhook

from tests.web.services.admin.conftest import Admin, fault
from tests.web.webhooks.conftest import Integration

SET = "WebhookSubscriptions"
PUBLIC = f"/api/v1/{SET}"
BODY: dict[str, Any] = {"callbackUrl": "https://example.com/hook", "eventTypes": ["*"]}
GIVEN = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def _made(admin: Admin, **values: Any) -> str:
    return str(admin.make(SET, **BODY, **values)["ID"])


def _secret(answer: httpx2.Response, status: int) -> str:
    """Return the secret in a response."""
    assert answer.status_code == status, answer.text
    secret = str(answer.json()["secret"])
    Webhook(secret)
    return secret


def test_a_create_with_return_minimal_still_returns_a_generated_secret(admin: Admin) -> None:
    """Without it the row would be useless, since the secret is never returned again."""
    for path, client in ((PUBLIC, "integrator"), (PUBLIC, "writer"), (SET, "admin")):
        answer = admin.post(path, BODY, client=client, prefer="return=minimal")
        _secret(answer, 201)
        told = {name for name in answer.json() if "@" not in name}
        assert told <= {"ID", "secret", "minorVersion"}
        assert "preference-applied" not in answer.headers
        assert answer.json()["ID"] in answer.headers["location"]
        assert admin.get(answer.headers["location"].partition(admin.service.url)[2], client=client if client != "writer"
                         else "integrator").json()["ID"] == answer.json()["ID"]  # fmt: skip
    answer = admin.post(PUBLIC, BODY | {"secret": GIVEN}, client="integrator", prefer="return=minimal")
    assert (answer.status_code, answer.content) == (204, b"")


def test_clearing_the_secret_returns_a_newly_generated_one(admin: Admin) -> None:
    made = _made(admin, secret=GIVEN)
    address = f"{PUBLIC}({made})"
    body = {"secret": None, "name": "Renamed"}
    seen = [GIVEN]
    for client, headers in (
        ("integrator", {}),
        ("integrator", {"prefer": "return=representation"}),
        ("writer", {"prefer": "return=minimal"}),
        ("integrator", {"odata_maxversion": "4.0"}),
    ):
        answer = admin.patch(address, body, client=client, **headers)
        seen.append(_secret(answer, 200))
        told = {name for name in answer.json() if "@" not in name}
        is_whole = headers.get("prefer") == "return=representation"
        assert ("callbackUrl" in told) is is_whole, "a writer is told of nothing but what was made for it"
        assert is_whole or told == {"ID", "secret", "minorVersion"}
        assert answer.headers["etag"]
    answer = admin.patch(f"{SET}({made})", body)
    assert "callbackUrl" in answer.json()
    seen.append(_secret(answer, 200))
    seen.append(_secret(admin.patch(f"{SET}({made})", body, prefer="return=minimal"), 200))
    assert len(set(seen)) == len(seen)


def test_changing_to_a_chosen_secret_does_not_return_it(admin: Admin) -> None:
    made = _made(admin)
    answer = admin.patch(f"{PUBLIC}({made})", {"secret": GIVEN}, client="integrator")
    assert (answer.status_code, answer.content) == (204, b"")
    answer = admin.patch(f"{SET}({made})", {"name": "x"})
    assert (answer.status_code, "secret" in answer.json()) == (200, False)
    assert answer.json()["previousSecretUntil"]


def test_a_generated_secret_is_also_returned_in_a_batch(admin: Admin) -> None:
    made = _made(admin, secret=GIVEN)
    entries = [
        {"id": "1", "atomicityGroup": "a", "method": "POST", "url": SET, "body": BODY,
         "headers": {"content-type": "application/json", "prefer": "return=minimal"}},
        {"id": "2", "atomicityGroup": "a", "method": "PATCH", "url": f"{SET}({made})", "body": {"secret": None},
         "headers": {"content-type": "application/json"}},
        {"id": "3", "method": "GET", "url": f"{SET}({made})"},
    ]  # fmt: skip
    answers = {
        one["id"]: one
        for one in admin.post("/api/v1/$batch", {"requests": entries}, client="integrator").json()["responses"]
    }
    assert (answers["1"]["status"], answers["2"]["status"]) == (201, 200)
    assert answers["1"]["body"]["secret"] != answers["2"]["body"]["secret"]
    assert "secret" not in answers["3"]["body"]


@pytest.mark.parametrize("secret", ["short", "whsec_", "not base64, whatever it is", "x" * 256, 7, ["x"], {"a": 1}])
def test_an_unreadable_secret_is_refused_and_not_repeated(admin: Admin, secret: Any) -> None:
    made = _made(admin, secret=GIVEN)
    body = BODY | {"secret": secret}
    for answer in (admin.post(SET, body), admin.patch(f"{SET}({made})", {"secret": secret})):
        status, code, target = fault(answer)
        assert (status, target) == (400, "secret")
        assert code == ("INVALID_SECRET" if isinstance(secret, str) and len(secret) < 256 else code)
        assert json.dumps(secret) == "7" or str(secret) == "whsec_" or str(secret) not in answer.text


def test_no_url_reads_a_secret(admin: Integration) -> None:
    """Nor to the previous one; neither by reading nor by filtering on its beginning."""
    made = _made(admin, secret=GIVEN)
    admin.patch(f"{SET}({made})", {"secret": None})
    for root, client in (("/admin", "admin"), ("/api/v1", "integrator")):
        for path in (
            f"{SET}({made})/secret", f"{SET}({made})/secret/$value", f"{SET}({made})?$select=secret",
            f"{SET}?$filter=startswith(secret,'w')", f"{SET}?$orderby=secret", f"{SET}?$compute=secret as x",
            f"{SET}?$filter=previousSecret ne null", f"{SET}({made})/previousSecret", f"{SET}?$search=whsec",
            f"{SET}?$apply=groupby((secret))", "NotificationLogs?$filter=subscription/secret ne null",
            "NotificationLogs?$expand=subscription($select=secret)", f"{SET}?$expand=*", "AuditLogs?$top=1000",
        ):  # fmt: skip
            answer = admin.get(f"{root}/{path}", client=client)
            assert answer.status_code < 500
            for secret in ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '"previousSecret":', '"secret":'):
                assert secret not in answer.text, path
        for method, body in (("PUT", {"value": None}), ("PUT", {"value": GIVEN}), ("DELETE", None)):
            answer = admin.call(method, f"{root}/{SET}({made})/secret", body, client=client)
            assert answer.status_code == 404, "a secret made at this address would be told to nobody"
    assert "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" not in admin.service.output()


def test_a_subscription_of_another_tenant_is_not_there(admin: Admin) -> None:
    foreign = str(admin.make(SET, client="stranger", **BODY)["ID"])
    nobody = "99999999-9999-4999-8999-999999999999"
    for root, client in (("/admin", "admin"), ("/api/v1", "integrator")):
        for body in (
            {"secret": None},
            {"secret": GIVEN},
            {"isActive": False},
            {"callbackUrl": "https://evil.example/"},
        ):
            answers = [admin.patch(f"{root}/{SET}({key})", body, client=client) for key in (foreign, nobody)]
            assert [one.status_code for one in answers] == [404, 404]
            assert answers[0].text.replace(foreign, nobody) == answers[1].text
        assert admin.delete(f"{root}/{SET}({foreign})", client=client).status_code == 404
        assert foreign not in admin.get(f"{root}/{SET}?$top=1000", client=client).text
    assert admin.read(f"{SET}({foreign})", client="stranger")["previousSecretUntil"] is None


def test_oversized_bodies_are_refused_at_once(admin: Admin) -> None:
    many = [f"NO_SUCH_EVENT_{number}" for number in range(200_000)]
    assert fault(admin.post(SET, BODY | {"eventTypes": many}))[:2] == (413, "BODY_TOO_LARGE")
    assert fault(admin.post(SET, BODY | {"eventTypes": many[:10_000]})) == (400, "UNKNOWN_CODE", "eventTypes")
    assert admin.post(SET, BODY | {"eventTypes": ["*"] * 10_000}).json()["eventTypes"] == ["*"]
    assert fault(admin.post(SET, BODY | {"secret": "A" * 5_000_000}))[:2] == (400, "TOO_LONG")
    assert fault(admin.post(SET, BODY | {"callbackUrl": "https://example.com/" + "x" * 5_000_000}))[:2] == (
        400, "TOO_LONG",
    )  # fmt: skip
    assert admin.post(SET, BODY | {"eventTypes": [None]}).status_code == 400
    assert admin.post(SET, BODY | {"eventTypes": None}).status_code == 400
    assert admin.post(SET, b'{"eventTypes":["*"],"name":"' + b"x" * 11_000_000 + b'"}').status_code == 413

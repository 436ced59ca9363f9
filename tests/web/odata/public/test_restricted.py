"""Coupon codes, import jobs and secrets: what is shown, accepted and kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.odata.public.conftest import ENDED, LOGGED, ODATA, Api, odata_fault, problem

KEY = LOGGED.format(1)
SPECIFIED = {
    "ID", "couponType_ID", "status", "customerId", "reservationRef", "source", "issuedAt", "issuingPromotionId",
    "issuingTransactionId", "issuanceChannel", "tenantId", "minorVersion",
}  # fmt: skip


def test_coupon_codes_are_shown_without_the_code(api: Api) -> None:
    code = api.read(f"CouponCodes({KEY})?$expand=couponType,statusText")
    assert set(code) > SPECIFIED
    assert (code["couponType"]["name"], code["statusText"]["code"]) == ("Seeded", "ACTIVE")
    for path in (
        "CouponCodes", f"CouponCodes({KEY})", f"CouponTypes({KEY})/codes", f"CouponTypes({KEY})?$expand=codes",
        "CouponTypes", "AuditLogs", "$metadata",
    ):  # fmt: skip
        text = api.get(path).text
        assert "SECRET" not in text.replace("TEST", ""), path


@pytest.mark.parametrize(
    "path",
    [
        "CouponCodes?$filter=code eq 'SECRET-1'", "CouponCodes?$orderby=code", "CouponCodes?$select=code",
        f"CouponCodes({KEY})/code", "CouponTypes?$filter=codes/any(c:startswith(c/code,'S'))",
        "CouponTypes?$filter=genericCode eq 'TOPSECRET'", "CouponTypes?$orderby=genericCode",
        "CouponTypes?$select=genericCode", f"CouponTypes({KEY})/genericCode",
        "WebhookSubscriptions?$filter=startswith(secret,'w')", "WebhookSubscriptions?$orderby=secret",
        "CouponCodes?$apply=groupby((code))", "CouponTypes?$apply=filter(genericCode eq 'TOPSECRET')",
        "CouponTypes?$apply=aggregate(genericCode with max as x)", "CouponCodes?$compute=code as x&$select=x",
        "RedemptionLogs?$apply=groupby((couponCode/code))", "CouponCodes?$filter=concat(code,'') eq 'SECRET-1'",
    ],
)  # fmt: skip
def test_a_secret_is_neither_shown_nor_filterable(api: Api, path: str) -> None:
    assert problem(api.get(path))[0] in {400, 404}


def test_a_search_finds_no_secret(api: Api) -> None:
    for name in ("CouponCodes", "CouponTypes"):
        for word in ("SECRET-1", "TOPSECRET"):
            assert api.read(f'{name}?$search="{word}"')["value"] == [], (name, word)


def test_coupon_codes_are_neither_made_nor_deleted(api: Api) -> None:
    body = {"couponType_ID": KEY, "code": "X"}
    for headers in ({}, ODATA):
        for method, path in (("POST", "CouponCodes"), ("DELETE", f"CouponCodes({KEY})")):
            answer = api.call(method, path, body if method == "POST" else None, **headers)
            assert answer.status_code == 405, (method, headers)
            assert "GET" in answer.headers["allow"]
    assert api.get(f"CouponCodes({KEY})").status_code == 200


@pytest.mark.parametrize("body", [{"customerId": "c"}, {"issuedAt": None}, {"status": "ACTIVE", "source": "EXTERNAL"}])
def test_only_the_status_of_a_coupon_code_can_be_changed(api: Api, body: dict[str, object]) -> None:
    assert problem(api.patch(f"CouponCodes({KEY})", body))[:2] == (400, "NOT_CHANGEABLE")


def test_a_coupon_code_is_cancelled_and_does_not_come_back(api: Api) -> None:
    assert problem(api.patch(f"CouponCodes({KEY})", {"status": "REDEEMED"}))[:2] == (409, "INVALID_TRANSITION")
    assert api.patch(f"CouponCodes({KEY})", {"status": "CANCELLED"}).status_code == 204
    assert api.read(f"CouponCodes({KEY})")["status"] == "CANCELLED"
    assert problem(api.patch(f"CouponCodes({KEY})", {"status": "ACTIVE"}))[:2] == (409, "INVALID_TRANSITION")


def test_only_the_callback_url_of_an_import_job_can_be_changed(api: Api) -> None:
    assert problem(api.patch(f"ImportJobs({KEY})", {"status": "SUCCEEDED"})) == (400, "NOT_CHANGEABLE", "status")
    answer = api.patch(f"ImportJobs({KEY})", {"callbackUrl": "https://example.com/done"})
    assert answer.status_code == 204, answer.text
    assert api.read(f"ImportJobs({KEY})")["callbackUrl"] == "https://example.com/done"


def test_import_jobs_are_not_made_and_only_deleted_when_they_have_ended(api: Api) -> None:
    assert problem(api.post("ImportJobs", {"entity": "Articles"}))[0] == 405
    assert problem(api.delete(f"ImportJobs({KEY})"))[0] == 409
    assert odata_fault(api.delete(f"ImportJobs({KEY})", **ODATA))[0] == 409


def test_an_import_job_that_has_ended_is_deleted(api: Api) -> None:
    assert problem(api.delete(f"ImportJobs({ENDED.format(2)})"))[0] == 404
    assert api.delete(f"ImportJobs({ENDED.format(1)})").status_code == 204
    assert problem(api.get(f"ImportJobs({ENDED.format(1)})"))[0] == 404


@pytest.mark.parametrize("literal", [f"'{KEY}'", KEY])
def test_errors_of_a_job_are_found_by_its_id_in_quotes_or_without(api: Api, literal: str) -> None:
    (error,) = api.read(f"ImportJobErrors?$filter=job_ID eq {literal}")["value"]
    assert (error["rowNumber"], error["code"]) == (1, "TOO_LONG")


def test_a_webhook_secret_is_shown_once_if_the_service_made_it(api: Api) -> None:
    body: dict[str, Any] = {"callbackUrl": "https://example.com/hook", "eventTypes": ["*"]}
    made = api.make("WebhookSubscriptions", **body)
    assert made["secret"]
    assert "secret" not in api.read(f"WebhookSubscriptions({made['ID']})")
    given = api.make("WebhookSubscriptions", **body, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert "secret" not in given
    entry = {"id": "1", "method": "POST", "url": "WebhookSubscriptions?$select=name", "body": body,
             "headers": {"content-type": "application/json"}}  # fmt: skip
    (batched,) = api.post("$batch", {"requests": [entry]}).json()["responses"]
    assert batched["body"]["secret"]
    patched = api.patch(f"WebhookSubscriptions({made['ID']})", {"name": "X"}, prefer="return=representation")
    assert patched.status_code == 200
    assert "secret" not in patched.json()


@pytest.mark.parametrize(
    "host", ["hooks.internal", "HOOKS.internal:8443", "10.1.2.3", "elsewhere.internal", "11.1.2.3"]
)
def test_plain_http_is_for_the_hosts_that_the_operator_allows(api: Api, host: str) -> None:
    answer = api.post("WebhookSubscriptions", {"callbackUrl": f"http://{host}/hook", "eventTypes": ["*"]})
    if "elsewhere" in host or host.startswith("11."):
        assert problem(answer) == (400, "HTTPS_REQUIRED", "callbackUrl")
    else:
        assert answer.status_code == 201, answer.text


def test_a_generic_code_is_accepted_and_never_returned(api: Api) -> None:
    made = api.make(
        "CouponTypes", code=api.unique(), name="Spring", codeType="GENERIC", genericCode=api.unique("SPRING")
    )
    assert "genericCode" not in made
    assert "SPRING-" not in api.get(f"CouponTypes({made['ID']})").text


def test_a_promotion_has_one_pilot(api: Api) -> None:
    body = {
        "promotion_ID": api.promotion()["ID"],
        "pilotStartAt": "2026-01-01T00:00:00Z",
        "pilotEndAt": "2026-02-01T00:00:00Z",
    }
    made = api.make("PromotionPilotConfigs", **body)
    assert (made["pilotShare"], made["controlGroupSize"], made["autoPromote"]) == (1.0, 0, False)
    assert problem(api.post("PromotionPilotConfigs", body))[0] == 409


def test_a_second_pilot_is_a_conflict_whoever_owns_the_promotion(api: Api) -> None:
    """The only fact about another tenant that is revealed (specification, Public API actions, rule 5)."""
    foreign = api.promotion(client="stranger")["ID"]
    body = {"promotion_ID": foreign, "pilotStartAt": "2026-01-01T00:00:00Z", "pilotEndAt": "2026-02-01T00:00:00Z"}
    assert problem(api.post("PromotionPilotConfigs", body))[::2] == (400, "promotion_ID")
    api.make("PromotionPilotConfigs", client="stranger", **body)
    assert problem(api.post("PromotionPilotConfigs", body))[0] == 409


@pytest.mark.parametrize(("name", "value"), [("pilotShare", 1.01), ("pilotShare", -0.01), ("controlGroupSize", -1),
                                             ("controlGroupSize", 1_000_000)])  # fmt: skip
def test_a_pilot_is_within_its_ranges(api: Api, name: str, value: float) -> None:
    body = {
        "promotion_ID": api.promotion()["ID"],
        "pilotStartAt": "2026-01-01T00:00:00Z",
        "pilotEndAt": "2026-02-01T00:00:00Z",
        name: value,
    }
    assert problem(api.post("PromotionPilotConfigs", body))[::2] == (400, name)

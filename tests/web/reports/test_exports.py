"""`POST /reporting/exportCsv` over HTTP: the five reports, refusals, and tenants."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from promenade.model.declare import REPORTING
from promenade.model.edm import edm_for
from promenade.model.reports.operations import REPORT_TYPES
from promenade.workflows.reports import exports
from tests.contract.made_up import identity
from tests.web.reports.conftest import ODATA, OTHER, OWN, ROLES, Reporting, fault
from tests.web.reports.test_every_report import FIELDS

FILES = {
    "promotionPerformance": ("promotion-performance.csv", "PromotionPerformance"),
    "stakeholderCost": ("stakeholder-cost.csv", "StakeholderCostBreakdown"),
    "budgetUtilization": ("budget-utilization.csv", "BudgetUtilization"),
    "couponAnalytics": ("coupon-analytics.csv", "CouponAnalytics"),
    "abTestResults": ("ab-test-results.csv", "ABTestResults"),
}
"""As the specification names them, and the entities whose fields they have."""
COUNTS_ONLY = {"couponAnalytics"}
NOBODY = "99999999-9999-4999-8999-999999999999"


def order(report_type: str | int | None = "couponAnalytics", **changes: Any) -> dict[str, Any]:
    asked = {"reportType": report_type, "dateFrom": "2026-03-01T00:00:00Z", "dateTo": "2026-04-01T00:00:00Z", **changes}
    return {name: given for name, given in asked.items() if given is not None}


def test_the_reports_are_those_of_the_specification() -> None:
    assert set(exports()) == set(REPORT_TYPES) == set(FILES)


@pytest.mark.parametrize("report_type", REPORT_TYPES)
def test_each_report_is_a_file_with_the_fields_of_its_entity(reporting: Reporting, report_type: str) -> None:
    filename, entity = FILES[report_type]
    for client in ROLES:
        answer = reporting.post("exportCsv", order(report_type), client=client)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert list(body) == ["filename", "contentType", "data"]
        assert (body["filename"], body["contentType"]) == (filename, "text/csv")
        assert body["data"].endswith("\r\n")
        header, *rows = csv.reader(io.StringIO(body["data"], newline=""), strict=True)
        specified = FIELDS[entity].split()
        known = {one.name for one in edm_for(REPORTING).entity_types[entity].properties}
        assert header[: len(specified)] == specified
        assert set(header) <= known
        assert ("currency" in header) == (report_type not in COUNTS_ONLY)
        assert all(len(row) == len(header) for row in rows)


def test_an_odata_client_gets_the_export_with_its_context(reporting: Reporting) -> None:
    body = reporting.post("exportCsv", order(), **ODATA).json()
    assert list(body) == ["@odata.context", "filename", "contentType", "data"]
    assert body["@odata.context"].endswith("/reporting/$metadata#ReportingService.CsvExport")
    body = reporting.post("exportCsv", order(), OData_MaxVersion="4.01").json()
    assert "@context" in body
    answer = reporting.post("exportCsv", order(), **ODATA, Accept="application/json;odata.metadata=none")
    assert "@odata.context" not in answer.json()


@pytest.mark.parametrize(
    ("asked", "code", "target"),
    [
        ({}, "MULTIPLE_ERRORS", None),
        (order(None), "REQUIRED", "reportType"),
        (order("sales"), "UNKNOWN_CODE", "reportType"),
        (order(7), "TYPE_MISMATCH", "reportType"),
        (order(dateFrom=None), "REQUIRED", "dateFrom"),
        (order(dateFrom="01.03.2026"), "TYPE_MISMATCH", "dateFrom"),
        (order(dateFrom="2026-02-30T00:00:00Z"), "TYPE_MISMATCH", "dateFrom"),
        (order(dateTo="2026-03-02T00:00:00"), "TYPE_MISMATCH", "dateTo"),
        (order(dateTo=1772323200), "TYPE_MISMATCH", "dateTo"),
        (order(dateTo="2026-03-01T00:00:00Z"), "PERIOD_EMPTY", "dateTo"),
        (order(dateTo="2026-02-01T00:00:00Z"), "PERIOD_EMPTY", "dateTo"),
        (order(dateTo="2026-03-01T01:00:00+02:00"), "PERIOD_EMPTY", "dateTo"),
        (order(promotionId="17"), "TYPE_MISMATCH", "promotionId"),
        (order(stakeholderId="x" * 36), "TYPE_MISMATCH", "stakeholderId"),
        (order(promotion=NOBODY), "UNKNOWN_PARAMETER", "promotion"),
        ([], "MALFORMED_BODY", None),
        (b"{", "MALFORMED_BODY", None),
        (b"\xff", "MALFORMED_BODY", None),
        (b"", "MULTIPLE_ERRORS", None),
    ],
)  # fmt: skip
def test_a_faulty_export_request_is_refused_with_its_fault(
    reporting: Reporting, asked: Any, code: str, target: str | None
) -> None:
    answer = reporting.post("exportCsv", asked)
    assert fault(answer)[:2] == (400, code), answer.text
    if target is not None:
        assert fault(answer)[2] == target


def test_all_faults_of_an_export_request_are_reported_at_once(reporting: Reporting) -> None:
    answer = reporting.post("exportCsv", order("sales", dateTo="2026-02-01T00:00:00Z"))
    details = {(one["code"], one["target"]) for one in answer.json()["error"]["details"]}
    assert details == {("UNKNOWN_CODE", "reportType"), ("PERIOD_EMPTY", "dateTo")}


@pytest.mark.parametrize(
    ("name", "entity"), [("promotionId", "Promotions"), ("stakeholderId", "Stakeholders")], ids=str
)
def test_an_export_refuses_ids_of_other_tenants(reporting: Reporting, name: str, entity: str) -> None:
    own, theirs = (identity(tenant, entity, 1) for tenant in (OWN, OTHER))
    for report_type in REPORT_TYPES:
        for given in (own, own.upper()):
            assert reporting.post("exportCsv", order(report_type, **{name: given})).status_code == 200
        answers = [reporting.post("exportCsv", order(report_type, **{name: given})) for given in (theirs, NOBODY)]
        assert {(*fault(one), one.text) for one in answers} == {(404, "NOT_FOUND", name, answers[0].text)}
    assert reporting.post("exportCsv", order(**{name: theirs}), client="stranger").status_code == 200


def test_a_deleted_promotion_can_still_be_exported(reporting: Reporting) -> None:
    log = reporting.read("CalculationLogPromotions?$top=1")["value"][0]
    assert reporting.post("exportCsv", order(promotionId=log["promotion_ID"])).status_code == 200


def test_any_valid_period_can_be_exported(reporting: Reporting) -> None:
    for report_type in REPORT_TYPES:
        for since, until in (
            ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
            ("2026-03-01T00:00:00+14:00", "2026-03-01T00:00:00-11:00"),
            ("2026-03-01T00:00:00.000001Z", "2026-03-01T00:00:00.000002Z"),
            ("0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"),
            ("9999-12-30T00:00:00Z", "9999-12-31T00:00:00Z"),
        ):
            answer = reporting.post("exportCsv", order(report_type, dateFrom=since, dateTo=until))
            assert answer.status_code == 200, (report_type, since, answer.text)


def test_exporting_needs_the_right_to_read_reports(reporting: Reporting) -> None:
    for client in ("till", "integrator", "store"):
        assert fault(reporting.post("exportCsv", order(), client=client))[:2] == (403, "MISSING_SCOPE")
    assert fault(reporting.post("exportCsv", order(), client=None))[:2] == (401, "UNAUTHORIZED")


def test_exporting_is_an_action_with_a_json_body(reporting: Reporting) -> None:
    answer = reporting.get("exportCsv")
    assert (fault(answer)[:2], answer.headers["allow"]) == ((405, "METHOD_NOT_ALLOWED"), "POST")
    answer = reporting.post("exportCsv", b"a=b", content_type="application/x-www-form-urlencoded")
    assert fault(answer)[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert fault(reporting.post("exportCsv", order(), accept="text/csv"))[:2] == (406, "NOT_ACCEPTABLE")
    assert fault(reporting.post("exportCsv?$top=1", order()))[:2] == (400, "OPTION_NOT_APPLICABLE")
    assert fault(reporting.post("exportCsv/more", order()))[0] in {400, 404}
    answer = reporting.post("exportCsv", order(), x_correlation_id="exported-1")
    assert answer.headers["x-correlation-id"] == "exported-1"

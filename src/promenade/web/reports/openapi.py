"""Reporting as an OpenAPI 3.1 document, generated from its model, and the page that shows it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec

from odata_server.hooks import Access
from odata_server.openapi.document import render_openapi
from odata_server.openapi.parts import Security
from odata_server.openapi.values import ref
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.reports.operations import EXPORT_CSV, EXPORT_FILE, REPORT_TYPES
from promenade.web.access.roles import ADMIN, BUDGET_MANAGER, PROMOTION_MANAGER, REPORT_READER, REPORTS
from promenade.web.http.endpoint import Endpoint
from promenade.web.http.reader_pages import document_endpoints, reader_endpoints
from promenade.web.odata.openapi import allowed_values, enum_names, example_rows
from promenade.web.odata.sheets import with_files

VERSION = "1.0.0"
_ROOT = "/reporting"
_REPORT_TYPE = f"{EXPORT_CSV}-reportType"
_REFUSALS = (400, 401, 403, 404, 406, 413, 415, 429)
_DESCRIPTION = inspect.cleandoc(
    """
    What came of promotions, budgets, coupons and experiments: OData V4, read only. Figures come from confirmed sales
    and are up to date within a minute. Every collection takes `$filter`, `$orderby`, `$top`, `$skip`, `$count`,
    `$select`, `$expand` and `$apply`; `POST /exportCsv` gives a report of a period as a file.

    Each of the scopes `svc.ReportReader`, `svc.Admin`, `svc.PromotionManager` and `svc.BudgetManager` reads everything;
    in a store, the session of its administrator does. Rows of other tenants do not exist: they are 404.

    Properties one by one (`/CalculationLogs({ID})/status`) and links (`/$ref`) are served and not listed here.
    """
)


def reporting_documents() -> list[Endpoint]:
    """Return the documents, and the page at `/reporting/docs` that shows the shorter one; no token is required."""
    return [*document_endpoints(_ROOT, render_reporting_openapi), *reader_endpoints(_ROOT, "Reporting")]


def render_reporting_openapi(*, whole: bool = False) -> bytes:
    """Return the document as JSON, identical in every run. ``whole``: include the paths that only OData clients use."""
    document = render_openapi(
        edm_for(Service.REPORTING),
        title="Promenade reporting",
        version=VERSION,
        base_url=_ROOT,
        description=_DESCRIPTION,
        security=Security(
            token_url="/oauth/token",  # noqa: S106 - an address
            scopes={
                ADMIN: "Administrators.",
                PROMOTION_MANAGER: "Who manages promotions.",
                BUDGET_MANAGER: "Who manages budgets.",
                REPORT_READER: "Programs that only read reports.",
            },
            needed=_scopes,
        ),
        error_content={"application/json": ref("ErrorResponse")},
        allowed_values=allowed_values(),
        enum_names=enum_names(),
        examples=example_rows(Service.REPORTING),
        whole=whole,
    )
    _finish(document["paths"][f"/{EXPORT_CSV}"]["post"], document["components"]["schemas"])
    return msgspec.json.encode(with_files(document))


def _scopes(access: Access) -> Sequence[str]:
    return REPORTS


def _finish(export: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Add what the model does not contain about the export: its reports and its errors."""
    body = export["requestBody"]["content"]["application/json"]["schema"]["properties"]
    schemas[_REPORT_TYPE] = {"type": "string", "enum": list(REPORT_TYPES)}
    described = {name: text for name, text in body["reportType"].items() if name in ("title", "description")}
    body["reportType"] = {**described, **ref(_REPORT_TYPE)}
    export["responses"] = {
        "200": {"description": "The file.", "content": {"application/json": {"schema": ref(EXPORT_FILE)}}},
        **{str(status): ref(str(status), "responses") for status in _REFUSALS},
    }

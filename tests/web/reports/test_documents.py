"""Reporting's description of itself: its metadata, its OpenAPI document, and the page that shows it."""

from __future__ import annotations

import re

from promenade import model
from promenade.model.declare import REPORTING
from promenade.model.edm import edm_for
from promenade.model.reports.operations import REPORT_TYPES
from tests.web.reports.conftest import Reporting

SETS = edm_for(REPORTING).entity_sets


def test_the_metadata_names_every_report_and_the_export(reporting: Reporting) -> None:
    text = reporting.get("$metadata").text
    assert 'Namespace="ReportingService"' in text
    assert re.search(r'<edmx:Edmx [^>]*Version="4.0"', text)
    assert {f'EntitySet Name="{name}"' for name in SETS} <= set(re.findall(r'EntitySet Name="\w+"', text))
    assert 'ActionImport Name="exportCsv"' in text
    assert 'Property Name="promotion_ID" Type="Edm.Guid"' in text
    document = reporting.get("$metadata?$format=json", OData_MaxVersion="4.01").json()
    assert set(SETS) <= set(document["ReportingService"]["EntityContainer"])


def test_the_description_needs_no_token_and_names_what_is_served(reporting: Reporting) -> None:
    document = reporting.get("openapi.json", client=None).json()
    assert document["servers"] == [{"url": "/reporting"}]
    reports = {f"/{name}" for name in SETS if name not in model.code_lists()}
    assert {"/exportCsv", "/$batch", *reports} <= set(document["paths"])
    methods = {(path, method) for path, item in document["paths"].items() for method in item if method != "parameters"}
    assert {path for path, method in methods if method != "get"} == {"/$batch", "/exportCsv"}
    order = document["paths"]["/exportCsv"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert order["properties"]["reportType"]["$ref"] == "#/components/schemas/exportCsv-reportType"
    assert document["components"]["schemas"]["exportCsv-reportType"]["enum"] == list(REPORT_TYPES)
    assert set(order["required"]) == {"reportType", "dateFrom", "dateTo"}


def test_the_page_shows_the_description_beside_it(reporting: Reporting) -> None:
    page = reporting.get("docs", client=None)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Reporting" in page.text
    for name in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert reporting.get(name.removeprefix("/reporting/"), client=None).status_code == 200, name
    assert reporting.get("docs/nothing", client=None).status_code == 404

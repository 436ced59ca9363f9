"""Lists as files for spreadsheets and data frames: what a list holds, by ``$format`` or Accept."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from lxml import etree

from tests.web.odata.public.conftest import Api, problem

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def _cells(content: bytes) -> list[list[tuple[str | None, str]]]:
    """Return the cells of a workbook as their types and texts."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        sheet = etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    return [[(cell.get("t"), "".join(cell.itertext())) for cell in row] for row in sheet.iter(f"{_X}row")]


def _articles(api: Api, *values: dict[str, Any]) -> str:
    """Make articles and return the condition that only they meet."""
    start = api.unique("S")
    for number, one in enumerate(values):
        api.make("Articles", articleNumber=f"{start}{number}", **one)
    return f"startswith(articleNumber,'{start}')"


def test_a_csv_file_has_exact_values_and_no_formulas(api: Api) -> None:
    mine = _articles(
        api, {"name": '=HYPERLINK("http://x.example")', "basePrice": 12.5}, {"name": 'Käse, "alt"', "basePrice": 0.10}
    )
    asked = f"Articles?$filter={mine}&$orderby=articleNumber desc&$select=name,basePrice,createdAt&$format=csv"
    answer = api.get(asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["odata-version"] == "4.01"
    name = answer.headers["content-disposition"].removeprefix("attachment; filename=")
    assert re.fullmatch(r'"Articles-\d{4}-\d\d-\d\d\.csv"', name)
    assert answer.content.startswith("\ufeffname,basePrice,createdAt\r\n".encode())
    as_json = api.read(asked.removesuffix("&$format=csv"))["value"]
    assert _rows(answer.content) == [
        {"name": 'Käse, "alt"', "basePrice": "0.10", "createdAt": as_json[0]["createdAt"]},
        {"name": '\'=HYPERLINK("http://x.example")', "basePrice": "12.50", "createdAt": as_json[1]["createdAt"]},
    ]
    assert datetime.fromisoformat(as_json[0]["createdAt"]).tzinfo == UTC


@pytest.mark.parametrize(
    ("option", "accept", "kind"),
    [
        ("$format=csv", "*/*", "text/csv; charset=utf-8"),
        ("format=CSV", "application/json", "text/csv; charset=utf-8"),
        ("$format=text/csv", "*/*", "text/csv; charset=utf-8"),
        ("", "text/csv", "text/csv; charset=utf-8"),
        ("", "text/html, text/csv;q=0.5, */*;q=0.1", "text/csv; charset=utf-8"),
        ("$format=xlsx", "*/*", XLSX),
        ("", XLSX, XLSX),
        (f"$format={XLSX}", "text/csv", XLSX),
        ("$format=json", "text/csv", "application/json"),
        ("", "application/json, text/csv", "application/json"),
        ("", "text/csv;q=0, */*", "application/json"),
    ],
)
def test_the_format_is_that_of_the_address_or_else_that_of_the_client(
    api: Api, option: str, accept: str, kind: str
) -> None:
    answer = api.get(f"Articles?$top=1&{option}".rstrip("&"), accept=accept)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(kind)


def test_the_mark_of_the_byte_order_is_left_out_on_request(api: Api) -> None:
    for option, accept in (("$format=csv;bom=false", "*/*"), ("", "text/csv; bom=false")):
        answer = api.get(f"Articles?$top=0&$select=name&{option}".rstrip("&"), accept=accept)
        assert answer.content == b"name\r\n"


def test_a_workbook_has_typed_cells(api: Api) -> None:
    campaign = api.campaign()
    api.promotion(campaign_ID=campaign["ID"], name="=1+1", validFrom="2026-07-01T10:00:00Z", priority=7)
    asked = f"$filter=campaign_ID eq {campaign['ID']}&$select=name,priority,validFrom,validTo,isExperiment&$format=xlsx"
    heads, row = _cells(api.get(f"Promotions?{asked}").content)
    assert [text for _, text in heads] == ["name", "priority", "validFrom", "validTo", "isExperiment"]
    assert row[:2] == [("inlineStr", "=1+1"), (None, "7")]
    assert float(row[2][1]) == pytest.approx(46204 + 10 / 24, abs=1e-5)
    assert row[3:] == [(None, ""), ("b", "0")]


def test_columns_are_all_properties_in_the_order_of_the_model(api: Api) -> None:
    mine = _articles(api, {"name": "One"})
    (as_json,) = api.read(f"Articles?$filter={mine}")["value"]
    (row,) = _rows(api.get(f"Articles?$filter={mine}&$format=csv").content)
    assert list(row) == [name for name in as_json if not name.startswith("@")]


def test_what_a_row_leads_to_is_in_columns_of_its_own(api: Api) -> None:
    campaign = api.campaign(name="Spring")
    for name, owner in (("A", campaign["ID"]), ("B", None)):
        api.promotion(name=name, code=f"{campaign['code']}{name}", campaign_ID=owner)
    asked = (
        f"Promotions?$filter=startswith(code,'{campaign['code']}')&$orderby=code&$select=name,status"
        "&$expand=campaign($select=name;$expand=statusText($select=name)),statusText($select=name)&$format=csv"
    )
    assert _rows(api.get(asked).content) == [
        {"name": "A", "status": "DRAFT", "campaign/name": "Spring", "campaign/statusText/name": "Draft",
         "statusText/name": "Draft"},
        {"name": "B", "status": "DRAFT", "campaign/name": "", "campaign/statusText/name": "",
         "statusText/name": "Draft"},
    ]  # fmt: skip


@pytest.mark.parametrize("expand", ["promotions", "*", "statusText($levels=2)", "posGroups/$count"])
def test_what_does_not_fit_into_a_cell_is_refused(api: Api, expand: str) -> None:
    answer = api.get(f"Campaigns?$expand={expand}&$format=csv")
    assert problem(answer) == (400, "EXPAND_NOT_FLAT", "$expand")


def test_more_than_a_page_comes_in_one_file(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odata_server.hooks.Hooks.page_size", 2)
    mine = _articles(api, *({"name": f"Row {number}"} for number in range(7)))
    asked = f"Articles?$filter={mine}&$orderby=articleNumber&$select=name&$count=true"
    names = [row["name"] for row in _rows(api.get(f"{asked}&$format=csv").content)]
    assert names == [f"Row {number}" for number in range(7)]
    part = api.get(f"{asked}&$skip=1&$top=4&$format=csv")
    assert [row["name"] for row in _rows(part.content)] == names[1:5]
    assert len(_cells(api.get(f"{asked}&$format=xlsx").content)) == 8


def test_what_is_wrong_is_told_as_for_json(api: Api) -> None:
    assert problem(api.get("Articles?$filter=nothing eq 1&$format=csv"))[:2] == (400, "UNKNOWN_PROPERTY")
    assert problem(api.get("Articles?$select=nothing&$format=xlsx"))[:2] == (400, "UNKNOWN_PROPERTY")
    assert problem(api.get("Articles?$expand=nothing&$format=csv"))[:2] == (400, "UNKNOWN_PROPERTY")
    assert problem(api.get("Nothings?$format=csv"))[:2] == (404, "NOT_FOUND")
    assert problem(api.get("Articles?$format=csv", client="writer"))[:2] == (403, "MISSING_SCOPE")
    assert problem(api.get("Articles?$format=csv", client=None))[:2] == (401, "UNAUTHORIZED")
    assert problem(api.get("Articles?$format=pdf"))[:2] == (400, "QUERY_SYNTAX")
    assert problem(api.get("Articles?$format=application/pdf"))[:2] == (406, "NOT_ACCEPTABLE")


def test_only_a_list_is_a_file(api: Api) -> None:
    made = api.make("Articles", articleNumber=api.unique(), name="One")
    assert problem(api.get(f"Articles({made['ID']})?$format=csv")) == (406, "NOT_ACCEPTABLE", "$format")
    for path in (f"Articles({made['ID']})", f"Articles({made['ID']})/name", "$metadata", ""):
        assert problem(api.get(path, accept=XLSX))[:2] == (406, "NOT_ACCEPTABLE"), path
    assert api.get("Articles/$count", accept="text/csv").text.isdigit()
    assert api.post("Articles?$format=csv", {"articleNumber": api.unique(), "name": "Two"}).status_code == 400


def test_a_head_tells_of_the_file_without_it(api: Api) -> None:
    answer = api.call("HEAD", "Articles?$format=csv")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"


def test_a_file_has_the_rows_of_its_own_tenant_alone(api: Api) -> None:
    number = api.unique()
    for client in ("integrator", "stranger"):
        api.make("Articles", client=client, articleNumber=number, name=client)
    asked = f"Articles?$filter={quote(f'articleNumber eq {number!r}')}&$select=name&$format=csv"
    for client in ("integrator", "stranger"):
        assert [row["name"] for row in _rows(api.get(asked, client=client).content)] == [client]


def test_the_service_says_that_it_has_these_formats(api: Api) -> None:
    found = etree.fromstring(api.get("$metadata").content)
    (formats,) = found.iterfind(".//{*}Annotation[@Term='Capabilities.SupportedFormats']")
    assert [one.text for one in formats.iter("{*}String")] == ["application/json", "text/csv", XLSX]


def test_only_a_file_of_several_pages_takes_one_of_the_places(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promenade.web.http.downloads.EXPORTS_MAX", 0)
    mine = _articles(api, {"name": "One"}, {"name": "Two"})
    asked = f"Articles?$filter={mine}&$select=name&$format=csv"
    assert len(_rows(api.get(asked).content)) == 2
    monkeypatch.setattr("odata_server.hooks.Hooks.page_size", 1)
    answer = api.get(asked)
    assert problem(answer)[:2] == (429, "TOO_MANY_EXPORTS")
    assert answer.headers["retry-after"] == "5"

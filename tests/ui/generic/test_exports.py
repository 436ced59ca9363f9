"""Lists are saved as files for spreadsheets: with their filters, in the person's words and their region's signs."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.ui.desk import Desk


def _saved(page: Page, button: str, item: str) -> tuple[str, bytes]:
    """Save the list and return the name of the file and what is in it."""
    page.get_by_role("button", name=re.compile(f"^{button}\\b")).click()  # the name ends with the sign of the menu
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.smoke
def test_a_filtered_list_is_saved_as_csv_for_the_region(desk: Desk) -> None:
    with desk.shop.http() as http:
        wanted = http.get("/admin/Articles?$filter=basePrice gt 1&$orderby=articleNumber&$top=1").json()["value"][0]
    asked = quote(json.dumps({"search": wanted["articleNumber"]}))
    page = desk.sit(address=f"/list/Articles?q={asked}", language="de")
    page.get_by_role("gridcell", name=wanted["articleNumber"]).wait_for()
    name, file = _saved(page, "Exportieren", "CSV-Datei")
    assert name == "Artikel.csv"
    rows = list(csv.DictReader(io.StringIO(file.decode("utf-8-sig")), delimiter=";"))
    assert [row["Artikelnummer"] for row in rows] == [wanted["articleNumber"]]
    assert rows[0]["Grundpreis"].replace(",", ".") == f"{wanted['basePrice']:.2f}"
    assert rows[0]["Aktiv"] == "Ja"


def test_promotions_and_the_audit_trail_are_saved_as_workbooks(desk: Desk) -> None:
    with desk.shop.http() as http:
        row = {"IsActiveEntity": True, "code": "SAVED", "name": "Saved", "currency": "EUR", "timeZone": "UTC"}
        assert http.post("/admin/PosGroups", json=row).status_code == 201
    page = desk.sit(address="/promotions")
    for address, title in (("/promotions", "Promotions"), ("/list/AuditLogs", "Audit logs")):
        page.goto(f"{page.url.split('#')[0]}#{address}")
        page.get_by_role("gridcell").first.wait_for()
        name, file = _saved(page, "Export", "Excel workbook (XLSX)")
        assert name == f"{title}.xlsx"
        with zipfile.ZipFile(io.BytesIO(file)) as archive:
            sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        assert sheet.count("<row>") > 1

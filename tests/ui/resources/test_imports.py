"""Imports: a file becomes a job, and its faulty rows can be downloaded for correction."""

from __future__ import annotations

import csv
import json
import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from promenade.web.http.workbooks import Workbook
from tests.ui.desk import Desk, Held, choose, let_through

JOB = "promenade---imports--job"
UPLOAD = "promenade---imports--upload"


def _mark() -> str:
    """Return a prefix for a test's numbers that sorts after all of the demo's, the first of which other tests read."""
    return f"UI-{uuid4().hex[:8]}"


def _bread(mark: str) -> str:
    """Return five articles as in a German user's spreadsheet; three of them cannot be stored."""
    return (
        "Article number;Name;Base price;currency;Colour\r\n"
        f"{mark}-1;Brot, groß;2,49;EUR;braun\r\n"
        f"{mark}-2;Brötchen;billig;EUR;\r\n"
        f"{mark}-3;Croissant;0,999;EUR;\r\n"
        ";Namenlos;1,20;EUR;\r\n"
        f"{mark}-5;Kuchen;1.003,10;EUR;\r\n"
    )


def _upload(page: Page, name: str, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


def _told(page: Page, text: str) -> None:
    page.locator(".sapMMsgStrip", has_text=text).wait_for()


def _figures(page: Page, **expected: str) -> None:
    for name, text in expected.items():
        expect(page.locator(f"#{JOB}--{name}-text")).to_have_text(text)


def _ended(page: Page) -> None:
    page.locator(f"#{JOB}--state:not(.sapMMsgStripInformation)").wait_for()


def test_faulty_rows_of_an_imported_file_can_be_downloaded_and_corrected(either_desk: Desk, tmp_path: Path) -> None:
    desk = either_desk
    mark = _mark()
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "bread.csv", _bread(mark).encode("windows-1252"))
    _told(page, "5 rows, and in 3 of them something is wrong.")
    _told(page, "Columns that no field is known for, and that are not imported: Colour")
    expect(page.locator(f"#{UPLOAD}--preview")).to_contain_text("Base price: is not a number")
    expect(page.locator(f"#{UPLOAD}--preview")).to_contain_text("Brot, groß")
    page.get_by_role("button", name="Import 5 Rows").click()
    _ended(page)
    _figures(page, succeeded="2", failed="3", total="5")
    errors = page.locator(f"#{JOB}--errors tbody tr.sapMListTblRow")
    expect(errors).to_have_count(3)
    expect(errors.nth(1)).to_contain_text(re.compile(r"At most 2 decimals are allowed.*0\.999", re.DOTALL))
    with desk.shop.http() as http:
        stored = http.get(f"/admin/Articles?$filter=articleNumber eq '{mark}-5'&$select=basePrice").json()["value"]
    assert [one["basePrice"] for one in stored] == [1003.1]

    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    kept = tmp_path / "errors.csv"
    download.value.save_as(kept)
    rows = list(csv.DictReader(kept.read_text("utf-8-sig").splitlines()))
    assert [(one["_row"], one["_code"]) for one in rows] == [
        ("2", "TYPE_MISMATCH"), ("3", "TOO_MANY_DIGITS"), ("4", "REQUIRED"),
    ]  # fmt: skip
    assert rows[0]["basePrice"] == "billig"

    mended = (
        kept.read_text("utf-8-sig")
        .replace("billig", "0.35")
        .replace("0.999", "0.99")
        .replace(",,Nam", f",{mark}-4,Nam")
    )
    page.get_by_role("button", name="Import Another File").click()
    _upload(page, "mended.csv", mended.encode())
    _told(page, "3 rows, in which nothing is wrong")
    page.get_by_role("button", name="Import 3 Rows").click()
    _told(page, "3 of 3 rows were imported.")


WRITTEN = {
    '=HYPERLINK("http://evil.example")': '\'=HYPERLINK("http://evil.example")',
    "+cmd|x": "'+cmd|x",
    "-2+3": "'-2+3",
    "@SUM(A1)": "'@SUM(A1)",
    "x;=1+1": "x;'=1+1",
    'x,"=1"': 'x,\'"=1"',
    "'=1": "''=1",
    "x\n-y": "x\n'-y",
    "-5": "-5",
}
"""Names that a spreadsheet would compute, or would if it cut them where its own country separates lists; as written."""


@pytest.mark.parametrize("language", ["en", "de"])
def test_failed_rows_are_downloaded_unchanged_and_without_formulas(desk: Desk, tmp_path: Path, language: str) -> None:
    mark = _mark()
    wrong = {"basePrice": -1.5, "currency": "EURO"}
    rows = [{"articleNumber": f"{mark}-{one}", "name": name, **wrong} for one, name in enumerate(WRITTEN)]
    page = desk.sit(address="/imports?upload=Articles", language=language)
    _upload(page, "names.json", json.dumps(rows).encode())
    page.locator(f"#{UPLOAD}--send").click()
    _ended(page)
    with page.expect_download() as download:
        page.locator(f"#{JOB}--download").click()
    kept = tmp_path / "errors.csv"
    download.value.save_as(kept)
    separator, price = (",", "-1.5") if language == "en" else (";", "-1,5")
    with kept.open(encoding="utf-8-sig", newline="") as file:
        failed = list(csv.DictReader(file, delimiter=separator))
    assert [row["basePrice"] for row in failed] == [price] * len(WRITTEN)
    assert [row["name"] for row in failed] == [*WRITTEN.values()]

    page.evaluate("location.hash = '/imports?upload=Articles'")
    page.locator(f"#{UPLOAD}--dropText").wait_for()
    expect(page.locator(f"#{UPLOAD}--send")).to_be_hidden()  # the page has dropped the file before
    mended = kept.read_text("utf-8-sig").replace(price, price[1:]).replace("EURO", "EUR")
    _upload(page, "mended.csv", mended.encode())
    page.locator(f"#{UPLOAD}--send").click()
    page.locator(f"#{JOB}--succeeded-text", has_text=re.compile(rf"^{len(WRITTEN)}$")).wait_for()
    with desk.shop.http() as http:
        found = http.get(f"/admin/Articles?$filter=startswith(articleNumber,'{mark}')&$orderby=articleNumber").json()
    assert [row["name"] for row in found["value"]] == [*WRITTEN]


@pytest.mark.smoke
def test_all_or_none_keeps_nothing_of_a_file_with_a_bad_row(desk: Desk) -> None:
    mark = _mark()
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "bread.csv", _bread(mark).encode())
    page.get_by_text("All or none").click()
    page.get_by_role("button", name="Import 5 Rows").click()
    _told(page, "Nothing was imported, because of row 2")
    _figures(page, succeeded="0", failed="1")
    with desk.shop.http() as http:
        found = http.get(f"/admin/Articles?$filter=startswith(articleNumber,'{mark}')").json()["value"]
    assert not found


@pytest.mark.smoke
def test_json_holds_rows_with_their_parts(desk: Desk) -> None:
    mark = _mark()
    rows = [
        {"code": f"{mark}-A", "name": "First", "calculationConfig": {"rounding": "ROUND_DOWN"}},
        {"code": f"{mark}-B", "name": "Second", "priority": "high"},
        {"code": f"{mark}-C", "nome": "Third"},
    ]
    page = desk.sit(address="/imports?upload=Promotions")
    _upload(page, "promotions.json", json.dumps({"rows": rows}).encode())
    _told(page, "3 rows, and in 2 of them something is wrong.")
    expect(page.locator(f"#{UPLOAD}--preview")).to_contain_text("nome: is not a field · Name: is needed")
    page.get_by_role("button", name="Import 3 Rows").click()
    _told(page, "1 of 3 rows were imported, 2 failed.")
    with desk.shop.http() as http:
        found = http.get(f"/admin/Promotions?$filter=code eq '{mark}-A'&$expand=calculationConfig").json()["value"]
    assert [one["calculationConfig"]["rounding"] for one in found] == ["ROUND_DOWN"]


def _workbook(labels: list[str], *rows: list[Any]) -> bytes:
    book = Workbook("Articles", labels)
    return b"".join([book.begin(), *(book.add(row) for row in rows), book.end()])


@pytest.mark.smoke
def test_a_workbook_is_imported_to_the_last_digit(desk: Desk) -> None:
    mark = _mark()
    file = _workbook(
        ["Article number", "Name", "EAN", "Base price", "Currency"],
        [f"{mark}-1", "00123", 4001234567890, Decimal("0.10"), "EUR"],
        [f"{mark}-2", "'=1+1", "0012345678905", Decimal("1234.50"), "EUR"],
        [f"{mark}-3", date(2026, 3, 1), None, Decimal("0.999"), "EUR"],
    )
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "articles.xlsx", file)
    page.get_by_text("Preview: the first 3 of 3 rows of the sheet Articles").first.wait_for()
    expect(page.locator(f"#{UPLOAD}--preview")).to_contain_text("Base price: has too many decimals")
    expect(page.locator(f"#{UPLOAD}--options")).to_be_hidden()
    page.get_by_role("button", name="Import 3 Rows").click()
    _ended(page)
    _figures(page, succeeded="2", failed="1")
    with desk.shop.http() as http:
        asked = f"$filter=startswith(articleNumber,'{mark}')&$orderby=articleNumber&$select=name,ean,basePrice"
        found = http.get(f"/admin/Articles?{asked}").json()["value"]
    assert [(one["name"], one["ean"], one["basePrice"]) for one in found] == [
        ("00123", "4001234567890", 0.1), ("'=1+1", "0012345678905", 1234.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text"), [("en", "This is no Excel workbook."), ("de", "Das ist keine Excel-Arbeitsmappe.")]
)
def test_a_workbook_that_cannot_be_read_is_refused_with_a_code(desk: Desk, language: str, text: str) -> None:
    page = desk.sit(address="/imports?upload=Articles", language=language)
    good = _workbook(["Article number"], ["1"])
    for content, code in ((b"article\r\n1\r\n", "FILE_NOT_A_WORKBOOK"), (good[:-40], "FILE_BROKEN")):
        _upload(page, f"{code}.xlsx", content)
        _told(page, f"({code})")
        expect(page.locator(f"#{UPLOAD}--send")).to_be_hidden()
        if code == "FILE_NOT_A_WORKBOOK":
            _told(page, text)


@pytest.mark.parametrize("language", ["en", "de"])
def test_columns_of_other_systems_are_guessed_shown_and_can_be_changed(desk: Desk, language: str) -> None:
    mark = _mark()
    rows = f"{mark}-1;Brot;4006381333931;2,49;EUR;braun;Bäcker\r\n"
    file = f"ARTIKEL_NR;Bezeichnung;GTIN;Preis;Währung;Farbe;Lieferant\r\n{rows}"
    page = desk.sit(address="/imports?upload=Articles", language=language)
    _upload(page, "others.csv", file.encode())
    mapping = page.locator(f"#{UPLOAD}--mapping")
    rows_shown = mapping.locator("tbody tr.sapMListTblRow")
    for at, field in enumerate(("articleNumber", "name", "ean", "basePrice", "currency")):
        expect(rows_shown.nth(at)).to_contain_text(f"({field})")
    left = "and that are not imported: " if language == "en" else "und die nicht importiert werden: "
    _told(page, f"{left}Farbe, Lieferant")
    manufacturer = "Manufacturer (manufacturer)" if language == "en" else "Hersteller (manufacturer)"
    choose(mapping.get_by_role("combobox", name="Lieferant"), manufacturer)
    expect(page.locator(f"#{UPLOAD}--state")).not_to_contain_text("Lieferant")
    _told(page, f"{left}Farbe")
    page.locator(f"#{UPLOAD}--send").click()
    _ended(page)
    with desk.shop.http() as http:
        asked = f"$filter=articleNumber eq '{mark}-1'&$select=name,ean,basePrice,currency,manufacturer"
        (found,) = http.get(f"/admin/Articles?{asked}").json()["value"]
    expected = ("Brot", "4006381333931", 2.49, "EUR", "Bäcker")
    assert tuple(found[one] for one in ("name", "ean", "basePrice", "currency", "manufacturer")) == expected


def _only_strip(page: Page, kind: str, text: str) -> None:
    strip = page.locator(".sapMMsgStrip:visible")
    expect(strip).to_have_count(1)
    expect(strip).to_contain_text(text)
    expect(strip).to_have_class(re.compile(rf"\bsapMMsgStrip{kind}\b"))


def test_one_strip_tells_the_state_of_the_import_from_the_file_to_its_end(desk: Desk) -> None:
    mark = _mark()
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "none.csv", b"articleNumber;name\r\n")
    _only_strip(page, "Error", "There are no rows in the file.")
    _upload(page, "colours.csv", f"articleNumber;name;Colour\r\n{mark}-1;;\r\n;;x\r\n".encode())
    _only_strip(page, "Warning", "2 rows, and in 1 of them something is wrong.")
    _only_strip(page, "Warning", "no field is known for, and that are not imported: Colour")
    _upload(page, "good.csv", f"articleNumber;name\r\n{mark}-1;Bread\r\n{mark}-2;Cake\r\n".encode())
    _only_strip(page, "Success", "2 rows, in which nothing is wrong")

    sending = Held(page, "**/Articles:bulk-import")
    send = page.get_by_role("button", name="Import 2 Rows")
    send.click()
    _only_strip(page, "Information", "Sending:")
    refusal = {"error": {"code": "TOO_MANY_JOBS", "message": "Four imports have not ended."}}
    sending.wait_for_one().fulfill(status=429, json=refusal)
    _only_strip(page, "Error", "Four imports have not ended.")
    desk.forgive("429 POST")
    let_through(page, "**/Articles:bulk-import")

    states = ["QUEUED", "RUNNING"]

    def under_way(route: Route) -> None:
        answer = route.fetch()
        told = {"status": states[0], "rowsSucceeded": 1, "message": None} if states else {}
        route.fulfill(response=answer, json={**answer.json(), **told})

    page.route("**/admin/ImportJobs(*", under_way)
    send.click()
    _only_strip(page, "Information", "The import waits for its turn.")
    states.pop(0)
    _only_strip(page, "Information", "The import is running: 1 of 2 rows are done.")
    states.pop(0)
    _only_strip(page, "Success", "2 of 2 rows were imported.")


def test_rows_with_the_same_key_name_each_other(desk: Desk) -> None:
    """On the page before the import, and for what may exist only once in its errors."""
    mark = _mark()
    rows = "".join(f"{mark}-{one};Group {at}\r\n" for at, one in enumerate("ABCB"))
    page = desk.sit(address="/imports?upload=PriorityGroups")
    _upload(page, "groups.csv", f"code;name\r\n{rows}".encode())
    _told(page, "4 rows, and in 1 of them something is wrong.")
    expect(page.locator(f"#{UPLOAD}--preview")).to_contain_text(f"Code: is the same as in row 2: {mark}-B")
    page.get_by_role("button", name="Import 4 Rows").click()
    _ended(page)
    expect(page.locator(f"#{JOB}--errors")).to_contain_text(f"Rows 2 and 4 have the same code: {mark}-B.")
    _figures(page, succeeded="3", failed="1")

    page.evaluate("location.hash = '/imports?upload=Articles'")
    page.locator(f"#{UPLOAD}--dropText").wait_for()
    articles = "".join(f"{mark}-{one};Article {at}\r\n" for at, one in enumerate("ABA"))
    _upload(page, "articles.csv", f"articleNumber;name\r\n{articles}".encode())
    page.get_by_role("button", name="Import 3 Rows").click()
    told = f"so that the later row counts: {mark}-A (rows 1 and 3)."
    _told(page, told)


def test_the_user_chooses_the_target_and_format_of_each_column(desk: Desk) -> None:
    mark = _mark()
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "odd.csv", f"No,What\n{mark}-1,Bread\n{mark}-2,Cake\n".encode())
    _told(page, "Fields that a new row needs and that no column fills: Article number")
    for column, field in (("No", "Article number * (articleNumber)"), ("What", "Name (name)")):
        choose(page.locator(f"#{UPLOAD}--mapping").get_by_role("combobox", name=column), field)
    _told(page, "2 rows, in which nothing is wrong")
    page.get_by_role("button", name="Import 2 Rows").click()
    _told(page, "2 of 2 rows were imported.")
    page.locator(f"#{JOB}").get_by_role("button", name="Back to all imports").click()
    expect(page.locator("#promenade---imports--jobs--table")).to_contain_text("Articles")


def test_a_file_over_the_limits_is_refused_before_it_is_sent(desk: Desk, tmp_path: Path) -> None:
    page = desk.sit(address="/imports?upload=Articles")
    _upload(page, "long.csv", b"articleNumber\n" + b"".join(b"%d\n" % one for one in range(10_001)))
    _told(page, "The file has more than 10,000 rows")
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    page.locator("input[type=file]").set_input_files(large)
    _told(page, "The import would have 65 MiB; at most 64 MiB can be sent at once.")
    expect(page.get_by_role("button", name=re.compile("^Import .*Rows"))).to_have_count(0)


def test_a_template_has_the_columns_that_the_service_takes(desk: Desk, tmp_path: Path) -> None:
    page = desk.sit(address="/imports?upload=CouponCodes")
    with page.expect_download() as download:
        page.get_by_text("Download an empty CSV file with all columns").click()
    download.value.save_as(tmp_path / "template.csv")
    columns = (tmp_path / "template.csv").read_text("utf-8-sig").strip().split(",")
    assert set(columns) == {"code", "status", "customerId", "validFrom", "validUntil", "couponType_ID"}


def test_users_who_may_not_import_see_the_missing_right_and_the_jobs(desk: Desk) -> None:
    page = desk.sit("planner", address="/imports")
    _told(page, "To send files, the person needs the scopes PublicApi.Read and PublicApi.Write")
    expect(page.get_by_role("button", name="Import a File")).to_have_count(0)
    page.get_by_role("heading", name="Import jobs").wait_for()


def test_imports_are_shown_in_german(desk: Desk) -> None:
    page = desk.sit(address="/imports?upload=Articles", language="de", colours="dark")
    _upload(page, "bread.csv", _bread(_mark()).encode())
    _told(page, "5 Zeilen, und mit 3 davon stimmt etwas nicht.")
    page.get_by_role("button", name="5 Zeilen importieren").click()
    page.get_by_role("button", name="Als CSV herunterladen").wait_for()
    page.get_by_role("heading", name="Fehlerhafte Zeilen").wait_for()

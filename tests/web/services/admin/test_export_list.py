"""Lists as files for spreadsheets: what a list shows, as CSV and as a workbook, page by page."""

from __future__ import annotations

import csv
import io
import json
import secrets
import zipfile
from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from lxml import etree

from promenade.ids import new_id
from promenade.store.driver.session import open_database
from promenade.web.http.downloads import send_pieces
from promenade.web.odata import export
from promenade.workflows.coupons.generation import make_portion
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.web.conftest import run
from tests.web.services.admin.conftest import MADE, OWN, Admin, fault, served

GERMAN = {"separator": ";", "decimal": ",", "language": "de", "timeZone": "Europe/Berlin"}
COLUMNS = [
    {"path": path, "label": path}
    for path in ("code", "name", "priority", "statusText/name", "validFrom", "isExperiment", "campaign/name")
]
_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _order(code: str, **more: Any) -> dict[str, Any]:
    # As a list asks for its rows: it selects and counts for itself.
    asked = quote(f"startswith(code,'{code}')")
    query = f"$count=true&$select=ID&$filter={asked}&$orderby=code&$skip=0&$top=100"
    return {"url": f"Promotions?{query}", "columns": COLUMNS, **more}


def _promotions(admin: Admin, code: str, *names: str) -> None:
    campaign = admin.campaign(name="Spring")
    for number, name in enumerate(names):
        values = {"code": f"{code}-{number}", "name": name, "validFrom": "2026-07-01T10:00:00Z"}
        admin.promotion(campaign_ID=campaign["ID"], **values)


def test_a_csv_file_is_what_spreadsheets_of_the_region_read(admin: Admin) -> None:
    code = admin.unique("X")
    _promotions(admin, code, "Straße", '=HYPERLINK("http://x.example")')
    answer = admin.post("exportList", _order(code, **GERMAN))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="Promotions-' in answer.headers["content-disposition"]
    assert answer.content.startswith(b"\xef\xbb\xbfcode;name;")
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig")), delimiter=";"))
    assert rows[1] == [f"{code}-0", "Straße", "100", "Entwurf", "2026-07-01 12:00:00", "Nein", "Spring"]
    assert rows[2][1].startswith("'=")


@pytest.mark.parametrize(("zone", "end"), [("Europe/Berlin", "23:59:58"), ("America/New_York", "18:59:58")])
def test_a_validity_without_an_end_in_sight_is_exported(admin: Admin, zone: str, end: str) -> None:
    code = admin.unique("X")
    admin.promotion(code=code, validFrom="2026-07-01T10:00:00Z", validTo="9999-12-31T23:59:58Z")
    columns = [{"path": path, "label": path} for path in ("code", "validTo")]
    for form in ("csv", "xlsx"):
        asked = {"url": f"Promotions?$filter=code eq '{code}'", "columns": columns, "format": form, "timeZone": zone}
        answer = admin.post("exportList", asked)
        assert answer.status_code == 200
        if form == "csv":
            assert answer.text.splitlines()[1] == f"{code},9999-12-31 {end}"
        else:
            with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                assert archive.testzip() is None


def test_a_decimal_number_has_the_sign_of_the_region(admin: Admin) -> None:
    number = admin.unique("X")
    admin.make("Articles", articleNumber=number, basePrice=12.5, IsActiveEntity=True)
    columns = [{"path": "basePrice", "label": "Preis"}]
    asked = {"url": f"Articles?$filter=articleNumber eq '{number}'", "columns": columns}
    texts = [
        admin.post("exportList", asked | signs).content.decode("utf-8-sig") for signs in (dict[str, str](), GERMAN)
    ]
    assert texts == ["Preis\r\n12.50\r\n", "Preis\r\n12,50\r\n"]


def test_a_workbook_has_numbers_and_times_as_such_and_texts_that_are_never_computed(admin: Admin) -> None:
    code = admin.unique("X")
    _promotions(admin, code, "=1+1", "A & <B>\x07")
    answer = admin.post("exportList", _order(code, format="xlsx", timeZone="UTC"))
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert "[Content_Types].xml" in archive.namelist()
        sheet = etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
        styles = etree.fromstring(archive.read("xl/styles.xml"))
        assert all(len(fill) == 1 for fill in styles.iter(f"{_X}fill"))  # an empty one breaks openpyxl, and so pandas
        assert b'name="Promotions"' in archive.read("xl/workbook.xml")
    rows = [list(row) for row in sheet.iter(f"{_X}row")]
    assert ["".join(one.itertext()) for one in rows[0]] == [one["label"] for one in COLUMNS]
    first = rows[1]
    assert (first[1].get("t"), "".join(first[1].itertext())) == ("inlineStr", "=1+1")
    assert (first[2].get("t"), first[2][0].text) == (None, "100")
    assert float(first[4][0].text or 0) == pytest.approx(46204 + 10 / 24, abs=1e-5)
    assert "".join(rows[2][1].itertext()) == "A & <B>"
    assert sheet.find(f".//{_X}f") is None


def test_a_list_longer_than_a_page_is_exported_to_its_end(admin: Admin) -> None:
    code = admin.unique("X")
    count = 1203
    rows = [{"articleNumber": f"{code}{number:05}", "name": f"Row {number}"} for number in range(count)]
    for start in range(0, count, 100):
        batch = [
            {"id": str(n), "method": "POST", "url": "Articles", "headers": {"content-type": "application/json"},
             "body": {**row, "IsActiveEntity": True}, "atomicityGroup": "g"}
            for n, row in enumerate(rows[start : start + 100])
        ]  # fmt: skip
        answer = admin.post("$batch", {"requests": batch})
        assert {one["status"] for one in answer.json()["responses"]} == {201}
    columns = [{"path": "articleNumber", "label": "n"}]
    asked = {"url": f"Articles?$filter=startswith(articleNumber,'{code}')&$orderby=articleNumber", "columns": columns}
    lines = admin.post("exportList", asked).content.decode("utf-8-sig").splitlines()
    assert lines == ["n", *(row["articleNumber"] for row in rows)]


def test_a_wide_list_is_sent_a_few_rows_at_a_time(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    number, count = admin.unique("W"), 8
    for one in range(count):
        admin.make("Articles", articleNumber=f"{number}{one}", description="long " * 200, IsActiveEntity=True)
    sizes: list[int] = []

    async def measured(pieces: AsyncIterator[bytes], *args: Any) -> None:
        async def noted() -> AsyncIterator[bytes]:
            async for piece in pieces:
                sizes.append(len(piece))
                yield piece

        await send_pieces(noted(), *args)

    monkeypatch.setattr(export, "send_pieces", measured)
    columns = [{"path": "description", "label": "d"}] * 100
    asked = {"url": f"Articles?$filter=startswith(articleNumber,'{number}')", "columns": columns}
    answer = admin.post("exportList", asked)
    row = 100 * 1000
    assert len(answer.content) > count * row
    assert max(sizes) < 2 * row


def test_an_export_of_coupon_codes_is_in_the_audit_trail(admin: Admin) -> None:
    columns = [{"path": "code", "label": "Code"}]
    answer = admin.post("exportList", {"url": "CouponCodes?$filter=customerId eq 'nobody'", "columns": columns})
    assert answer.status_code == 200, answer.text
    assert _last_export(admin) == ("CouponCodes", "CouponCodes?$filter=customerId eq 'nobody'")


@pytest.mark.parametrize("beside", ["x=\0", "x=" + "y" * 2500], ids=["no text", "padded"])
def test_the_audit_trail_tells_which_codes_were_exported_whatever_else_was_sent(admin: Admin, beside: str) -> None:
    asked = f"customerId eq '{admin.unique()}'"
    columns = [{"path": "code", "label": "Code"}]
    answer = admin.post("exportList", {"url": f"CouponCodes?{beside}&$filter={asked}", "columns": columns})
    assert answer.status_code == 200, answer.text
    assert _last_export(admin) == ("CouponCodes", f"CouponCodes?$filter={asked}")


def test_an_export_of_what_leads_to_coupon_codes_is_in_the_audit_trail_too(admin: Admin) -> None:
    asked = f"RedemptionLogs?$filter=customerId eq '{admin.unique()}'"
    for path in ("couponCode/status", "couponCode/code"):
        before = _last_export(admin)
        answer = admin.post("exportList", {"url": asked, "columns": [{"path": path, "label": "x"}]})
        assert answer.status_code == 200, answer.text
        after = _last_export(admin)
        assert (after != before, after == ("CouponCodes", asked)) == (path.endswith("/code"),) * 2


def _last_export(admin: Admin) -> tuple[str, str] | None:
    trail = admin.read("AuditLogs?$filter=action eq 'EXPORT'&$orderby=timestamp desc&$top=1")["value"]
    return (trail[0]["entityType"], trail[0]["note"]) if trail else None


CODES = [{"path": "code", "label": "Code"}, {"path": "status", "label": "Status"}]


def _made(admin: Admin, number: int) -> dict[str, Any]:
    kind = admin.make("CouponTypes", code=admin.unique(), name="Thanks", status="ACTIVE", IsActiveEntity=True)
    path = f"CouponTypes(ID={kind['ID']},IsActiveEntity=true)/AdminService.generateCodes"
    for _ in range(2):  # the codes of the first are not in the file of the second
        made = admin.post(path, {"numberOfCodes": number})
    batch: dict[str, Any] = made.json()
    assert batch["status"] == "COMPLETED"
    return batch


def _downloads(admin: Admin, batch: dict[str, Any]) -> list[tuple[str, str, str]]:
    asked = f"AuditLogs?$filter=ownerId eq '{batch['ID']}' and action eq 'EXPORT'&$orderby=timestamp"
    return [(one["actor"], one["entityName"], one["note"]) for one in admin.read(asked)["value"]]


def test_the_codes_of_a_batch_are_downloaded_and_each_download_is_in_its_history(admin: Admin) -> None:
    batch = _made(admin, 1000)
    kept = {one["code"] for one in admin.read(f"CouponCodes?$filter=batch_ID eq {batch['ID']}&$top=1000")["value"]}
    asked = {"url": f"CouponCodeBatches({batch['ID']})/codes", "columns": CODES}
    lines = admin.post("exportList", asked).content.decode("utf-8-sig").splitlines()
    assert (lines[0], len(lines), {one.partition(",")[0] for one in lines[1:]}) == ("Code,Status", 1001, kept)
    admin.make("CouponCodeBatches", couponType_ID=batch["couponType_ID"], quantity=1)
    admin.patch(f"CouponCodeBatches({batch['ID']})", {"name": "Flyer"})
    some = {**asked, "format": "xlsx", "url": f"{asked['url']}?$filter=status eq 'ACTIVE'"}
    assert admin.post("exportList", some, client="treasurer").status_code == 200
    first, second = _downloads(admin, batch)
    assert first[1:] == ("Thanks", "CSV")
    assert second[1:] == ("Flyer", "XLSX, $filter=status eq 'ACTIVE'")
    assert first[0] != second[0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_batch_that_is_being_generated_says_so_instead_of_giving_a_part(
    databases: Databases, dialect: Dialect
) -> None:
    with served(databases, dialect, has_worker=False) as admin:
        kind = admin.make("CouponTypes", code=admin.unique(), name="Thanks", status="ACTIVE", IsActiveEntity=True)
        batch = admin.make("CouponCodeBatches", couponType_ID=kind["ID"], quantity=3)
        asked = {"url": f"CouponCodeBatches({batch['ID']})/codes", "columns": CODES}
        for there in range(3):
            answer = admin.post("exportList", asked)
            assert fault(answer)[:2] == (409, "BATCH_UNFINISHED")
            assert f"{there} of 3" in answer.json()["error"]["message"]
            run(_make_one(admin.database_url, batch["ID"]))
        assert _downloads(admin, batch) == []
        assert len(admin.post("exportList", asked).content.splitlines()) == 4


async def _make_one(database_url: str, batch_id: str) -> None:
    database = await open_database(database_url)
    try:
        made = partial(make_portion, batch_id=batch_id, size=1, at=MADE, new_id=new_id, draw=secrets.choice)
        assert await database.write(made, tenant=OWN)
    finally:
        await database.close()


def test_nobody_downloads_a_batch_of_another_tenant_or_without_a_role_of_administration(admin: Admin) -> None:
    batch = _made(admin, 1)
    asked = {"url": f"CouponCodeBatches({batch['ID']})/codes", "columns": CODES}
    assert admin.post("exportList", asked, client="stranger").status_code == 404
    for client in ("till", "integrator"):
        assert admin.post("exportList", asked, client=client).status_code == 403
    assert _downloads(admin, batch) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"url": "Nothings"}, "MALFORMED_BODY"),
        ({"url": "Promotions?$filter=nothing eq 1"}, "UNKNOWN_PROPERTY"),
        ({"url": "../oauth/token"}, "MALFORMED_BODY"),
        ({"columns": []}, "MALFORMED_BODY"),
        ({"columns": [{"path": "nothing", "label": "x"}]}, "UNKNOWN_PROPERTY"),
        ({"columns": [{"path": "nothing/name", "label": "x"}]}, "UNKNOWN_PROPERTY"),
        ({"format": "pdf"}, "MALFORMED_BODY"),
        ({"timeZone": "Mars/Base"}, "UNKNOWN_TIME_ZONE"),
        ({"timeZone": "../../etc/passwd"}, "UNKNOWN_TIME_ZONE"),
        ({"more": 1}, "MALFORMED_BODY"),
    ],
    ids=lambda one: json.dumps(one) if isinstance(one, dict) else one,
)
def test_a_faulty_order_is_refused_with_its_fault(admin: Admin, change: dict[str, Any], code: str) -> None:
    answer = admin.post("exportList", _order("X") | change)
    assert fault(answer)[:2] == (400, code), answer.text


def test_only_roles_of_administration_export(admin: Admin) -> None:
    assert admin.post("exportList", _order("X"), client="till").status_code == 403


def test_a_list_of_administration_is_a_file_by_its_address(admin: Admin) -> None:
    code = admin.unique("X")
    _promotions(admin, code, "Straße")
    asked = f"Promotions?$filter=startswith(code,'{code}')&$select=name&$expand=campaign($select=name)&$format=csv"
    answer = admin.get(asked)
    assert answer.content.decode("utf-8-sig") == "name,campaign/name\r\nStraße,Spring\r\n"
    assert admin.get(asked, client="till").status_code == 403


def test_codes_taken_by_an_address_are_in_the_audit_trail(admin: Admin) -> None:
    customer = admin.unique()
    asked = f"CouponCodes?$filter=customerId eq '{customer}'"
    for select in ("status", "code"):
        answer = admin.get(f"{asked}&$select={select}&$format=csv")
        assert answer.status_code == 200, answer.text
        assert (_last_export(admin) == ("CouponCodes", asked)) == (select == "code")
    batch = _made(admin, 3)
    codes = admin.get(f"CouponCodeBatches({batch['ID']})/codes?$select=code&$format=csv").content.splitlines()
    assert len(codes) == 4
    assert [one[1:] for one in _downloads(admin, batch)] == [("Thanks", "CSV")]

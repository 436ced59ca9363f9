"""Messages over SOAP 1.1: what is accepted and stored, and the faults for everything else."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.web.imports.master_data.conftest import SOAP, Ingest, accepted, fault
from tests.web.imports.master_data.messages import ENVELOPE, ITEM, REQUEST, envelope, item


def test_an_accepted_message_is_a_job_of_its_rows_and_is_kept_as_it_came(ingest: Ingest) -> None:
    body = envelope(item("A-1", Description="Milk") + item("A-2", "03") + item("A-3"), message_id="m-7")
    accepted(ingest.soap(body, media_type="text/xml; charset=UTF-8"))
    (job,) = ingest.jobs()
    assert {name: job[name] for name in job if name != "id"} == {
        "entity": "Articles",
        "source": "MASTER_DATA_SOAP",
        "status": "QUEUED",
        "total_rows": 3,
        "rows_skipped": 1,
        "rows_succeeded": 0,
        "rows_failed": 0,
        "continue_on_error": True,
        "idempotency_key": "m-7",
        "created_by": ingest.name,
    }
    assert ingest.payloads() == [("m-7", body.encode(), "text/xml; charset=UTF-8", job["id"])]
    assert ingest.rows() == {1: {"articleNumber": "A-1", "name": "Milk"}, 3: {"articleNumber": "A-3"}}


def test_a_message_that_comes_again_is_one_job(ingest: Ingest) -> None:
    accepted(ingest.send(item()))
    accepted(ingest.send(item()), 200)
    code, kind, text = fault(ingest.send(item("A-2")))
    assert (code, kind) == (409, "Client")
    assert "m-1" not in text
    assert len(ingest.jobs()) == len(ingest.payloads()) == 1


def test_two_tenants_may_use_the_same_message_identifier(ingest: Ingest, served: Ingest) -> None:
    neighbour = served.of(f"t{next(served.numbers)}")
    accepted(ingest.send(item()))
    accepted(neighbour.send(item("B-1")))
    assert neighbour.rows() == {1: {"articleNumber": "B-1"}}


def test_an_identifier_is_known_for_a_day(ingest: Ingest) -> None:
    accepted(ingest.send(item()))
    try:
        ingest.clock.move(hours=23, minutes=59)
        accepted(ingest.send(item()), 200)
        ingest.clock.move(minutes=2)
        accepted(ingest.send(item()))
    finally:
        ingest.clock.move(hours=-24, minutes=-1)
    assert len(ingest.jobs()) == 2


def test_thirty_two_at_once_are_one_job(ingest: Ingest) -> None:
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda _: ingest.send(item()), range(32)))
    assert sorted(answer.status_code for answer in answers) == [200] * 31 + [202]
    assert len(ingest.jobs()) == len(ingest.payloads()) == len(ingest.rows()) == 1


@pytest.mark.parametrize("media_type", ["text/xml", "application/soap+xml"])
def test_an_answer_is_in_the_media_type_of_its_request(ingest: Ingest, media_type: str) -> None:
    body = envelope(item(), message_id="m-1")
    accepted(ingest.soap(body, media_type=f'{media_type}; charset="utf-8"'), media_type=media_type)
    assert fault(ingest.soap("<a/>", media_type=media_type), media_type)[:2] == (400, "Client")


# ---- what is read of a message --------------------------------------------------------------------------------------


def _product(inside: str, attribute: str = "") -> str:
    return f"<{ITEM}><Product{attribute}>{inside}</Product></{ITEM}>"


ALL = {
    "articleNumber": "A-1",
    "name": "Milk & honey",
    "ean": "4006381333931",
    "manufacturer": "Acme",
    "articleGroupId": "G-1",
    "unit": "PCE",
}


@pytest.mark.parametrize(
    ("written", "row"),
    [
        (
            _product(
                "<ActionCode>04</ActionCode><ProductID>A-1</ProductID><Description>Milk &amp; honey</Description>"
                "<GTIN>4006381333931</GTIN><ManufacturerName>Acme</ManufacturerName>"
                "<MerchandiseCategoryID>G-1</MerchandiseCategoryID><BaseUnitOfMeasure>PCE</BaseUnitOfMeasure>"
            ),
            ALL,
        ),
        (
            _product(
                "<InternalID>A-1</InternalID><Name>Milk &#38; honey</Name>"
                "<GlobalTradeItemNumber>4006381333931</GlobalTradeItemNumber><Brand>Acme</Brand>"
                "<ProductGroup>G-1</ProductGroup><BaseMeasureUnitCode>PCE</BaseMeasureUnitCode>",
                ' actionCode="04"',
            ),
            ALL,
        ),
        (_product("<InternalID>B</InternalID><ProductID>A</ProductID>", ' ActionCode="04"'), {"articleNumber": "A"}),
        (
            _product('<p:ProductID xmlns:p="urn:other">\n A-1 </p:ProductID><Name/><Brand> </Brand>',
                     ' ActionCode="04"'),
            {"articleNumber": "A-1"},
        ),
        (_product("<ProductID>A-1</ProductID>", ' xmlns:p="urn:other" p:ActionCode="04"'), {"articleNumber": "A-1"}),
        (
            _product("<ProductID>A-1</ProductID><Name>Milk<!-- fresh --> &lt;<![CDATA[<?new?> <!DOCTYPE &]]></Name>",
                     ' ActionCode="04"'),
            {"articleNumber": "A-1", "name": "Milk <<?new?> <!DOCTYPE &"},
        ),
        (
            _product('<ProductID>A-1</ProductID><Description languageCode="EN">Milk</Description>'
                     '<Description languageCode="DE">Milch</Description><Tax><Name>Full</Name></Tax>',
                     ' ActionCode="04"'),
            {"articleNumber": "A-1", "name": "Milk"},
        ),
        (_product("<Name>No number</Name>", ' ActionCode="04"'), {"name": "No number"}),
    ],
    ids=["elements", "other-names", "first-wins", "any-namespace", "any-attribute", "comments-and-cdata", "languages",
         "no-number"],
)  # fmt: skip
def test_a_product_in_xml_becomes_a_row(ingest: Ingest, written: str, row: dict[str, str]) -> None:
    accepted(ingest.send(written))
    assert ingest.rows() == {1: row}


@pytest.mark.parametrize(
    "written",
    [
        *(item(code=code) for code in ("01", "02", "03", "05", "06")),
        _product("<ActionCode>03</ActionCode><ProductID>A</ProductID>", ' ActionCode="03"'),
    ],
)
def test_items_other_than_upserts_are_counted_and_skipped(ingest: Ingest, written: str) -> None:
    accepted(ingest.send(written))
    (job,) = ingest.jobs()
    assert (job["total_rows"], job["rows_skipped"]) == (1, 1)
    assert ingest.rows() == {}
    assert len(ingest.payloads()) == 1


@pytest.mark.parametrize(
    ("written", "row"),
    [
        (item(code="99"), {"ActionCode": "99", "articleNumber": "A-1"}),
        (item(code="4"), {"ActionCode": "4", "articleNumber": "A-1"}),
        (item(code=""), {"ActionCode": "", "articleNumber": "A-1"}),
        (item(code=None), {"ActionCode": "", "articleNumber": "A-1"}),
        (
            _product("<ActionCode>03</ActionCode><ProductID>A</ProductID>", ' ActionCode="04"'),
            {"ActionCode": "03, 04", "articleNumber": "A"},
        ),
        (f"<{ITEM}><MessageHeader/></{ITEM}>", {"ActionCode": ""}),
    ],
)
def test_items_without_a_known_action_code_are_rows_to_refuse(ingest: Ingest, written: str, row: Any) -> None:
    accepted(ingest.send(written))
    assert [(job["total_rows"], job["rows_skipped"]) for job in ingest.jobs()] == [(1, 0)]
    assert ingest.rows() == {1: row}


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("<MessageHeader><UUID>u-1</UUID><ID> m-1\n</ID></MessageHeader>", "m-1"),
        ("<MessageHeader><ID></ID><UUID>u-1</UUID></MessageHeader>", "u-1"),
        ('<x:MessageHeader xmlns:x="urn:x"><x:ID>m-2</x:ID></x:MessageHeader>', "m-2"),
    ],
)
def test_the_identifier_is_the_ID_or_else_the_UUID(ingest: Ingest, header: str, key: str) -> None:
    accepted(ingest.soap(envelope(header + item())))
    assert ingest.jobs()[0]["idempotency_key"] == key


_ENCODED = "Käse €"


@pytest.mark.parametrize(
    ("codec", "declared", "charset"),
    [
        ("utf-8", None, None),
        ("utf-8", "UTF-8", "utf-8"),
        ("utf-8-sig", "utf-8", None),
        ("utf-16", "UTF-16", None),
        ("utf-16", None, "utf-16"),
        ("iso-8859-1", "ISO-8859-1", None),
        ("iso-8859-1", None, "iso-8859-1"),
        ("us-ascii", "US-ASCII", "us-ascii"),
    ],
)
def test_declared_encodings_are_decoded(ingest: Ingest, codec: str, declared: str | None, charset: str | None) -> None:
    declaration = "" if declared is None else f'<?xml version="1.0" encoding="{declared}" standalone="yes"?>\n'
    body = envelope(item("A-1", Name=_ENCODED), message_id="m-1", declaration=declaration)
    media_type = "text/xml" if charset is None else f"text/xml; charset={charset}"
    accepted(ingest.soap(body.encode(codec, "xmlcharrefreplace"), media_type=media_type))
    assert ingest.rows() == {1: {"articleNumber": "A-1", "name": _ENCODED}}


def test_an_optional_envelope_header_is_ignored(ingest: Ingest) -> None:
    header = '<soap:Header><t:Trace xmlns:t="urn:t"><ID>x</ID></t:Trace></soap:Header>'
    accepted(ingest.soap(envelope(item(), message_id="m-1", header=header)))
    assert ingest.jobs()[0]["idempotency_key"] == "m-1"


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (envelope(item()), "Client"),
        (envelope(item(), message_id="x" * 256), "Client"),
        (envelope(item(), message_id="a&#7f;"), "Client"),
        (envelope(item(), message_id="a&#x85;b"), "Client"),
        (envelope("", message_id="m-1"), "Client"),
        (envelope(item().replace("<Product", "<Product/><Product"), message_id="m-1"), "Client"),
        (envelope(item(), message_id="m-1").replace(REQUEST, "AnotherRequest"), "Client"),
        (envelope(item(), message_id="m-1").replace("</soap:Body>", "<more/></soap:Body>"), "Client"),
        (envelope(item(), message_id="m-1").replace("</soap:Body>", "</soap:Body><soap:Body/>"), "Client"),
        (envelope(item(), message_id="m-1").replace(ENVELOPE, "http://www.w3.org/2003/05/soap-envelope"),
         "VersionMismatch"),
        (f'<soap:Envelope xmlns:soap="{ENVELOPE}"><soap:Body/></soap:Envelope>', "Client"),
        (f'<soap:Envelope xmlns:soap="{ENVELOPE}"/>', "Client"),
        ("<Envelope/>", "VersionMismatch"),
        ("<a/>", "Client"),
        ("", "Client"),
        ("no XML", "Client"),
        (envelope(item(), message_id="m-1", header='<soap:Header><x soap:mustUnderstand="1"/></soap:Header>'),
         "MustUnderstand"),
    ],
)  # fmt: skip
def test_an_invalid_message_gets_a_fault(ingest: Ingest, body: str, code: str) -> None:
    assert fault(ingest.soap(body))[:2] == (400, code)
    assert not ingest.jobs()
    assert not ingest.payloads()


@pytest.mark.parametrize("media_type", ["application/xml", "application/json", "", "text/xml; charset=a; charset=b"])
def test_a_wrong_content_type_gets_a_fault(ingest: Ingest, media_type: str) -> None:
    assert fault(ingest.soap(envelope(item(), message_id="m-1"), media_type=media_type))[:2] == (400, "Client")


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("", 401, "Client"),
        ("stranger", 403, "Client"),
        ("unreachable", 500, "Server"),
        ("broken", 500, "Server"),
    ],
)
def test_a_fault_reveals_nothing_about_tenants_or_the_service(
    ingest: Ingest, name: str, status: int, code: str
) -> None:
    answer = ingest.soap(envelope(item(), message_id="m-1"), name=name)
    assert fault(answer)[:2] == (status, code)
    assert ("www-authenticate" in answer.headers) == (status == 401)


def test_other_methods_are_refused(ingest: Ingest) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        answer = ingest.http.request(method, SOAP)
        assert fault(answer)[:2] == (405, "Client")
        assert "POST" in answer.headers["allow"]
    assert fault(ingest.http.get(f"{SOAP}?xsd"))[0] == 405


def test_an_address_that_is_too_long_is_a_fault(ingest: Ingest) -> None:
    assert fault(ingest.http.post(f"{SOAP}?{'x' * 9000}"))[:2] == (400, "Client")


@pytest.mark.parametrize("is_told", [True, False])
def test_more_than_twenty_mebibytes_are_refused_while_they_come(ingest: Ingest, is_told: bool) -> None:
    body = envelope(item(Name="x" * (20 * 2**20)), message_id="m-1").encode()
    content = body if is_told else (body[start : start + 2**16] for start in range(0, len(body), 2**16))
    headers = {"content-type": "text/xml", "x-common-name": ingest.name}
    assert fault(ingest.http.post(SOAP, content=content, headers=headers))[:2] == (413, "Client")
    with contextlib.suppress(httpx2.TransportError):  # an endless body gets a response and is then cut off
        endless = iter(lambda: b" " * 2**20, b"")
        assert fault(ingest.http.post(SOAP, content=endless, headers=headers))[:2] == (413, "Client")
    assert ingest.payloads() == []

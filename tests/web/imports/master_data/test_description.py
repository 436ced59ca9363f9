"""The WSDL, and a client generated from nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import zeep.exceptions
import zeep.transports
from lxml import etree

from tests.web.imports.master_data.conftest import SOAP, Ingest
from tests.web.imports.master_data.messages import ITEM, REQUEST, product

XS = "{http://www.w3.org/2001/XMLSchema}"
Client: Any = zeep.Client  # zeep has no type annotations
Transport: Any = zeep.transports.Transport
WSDL = "{http://schemas.xmlsoap.org/wsdl/}"


def client_of(url: str, session: requests.Session) -> Callable[..., Any]:
    """Return the operation for a client that has only read the description.

    It returns the response, because this client treats any 202 with a body as an unknown fault.
    """
    client = Client(f"{url}{SOAP}?wsdl", transport=Transport(session=session))
    client.settings.raw_response = True
    operation = getattr(client.service, REQUEST)
    return lambda items, **header: operation(MessageHeader=header, **{ITEM: items})


def described(url: str, ingest: Ingest) -> Callable[..., Any]:
    session = requests.Session()
    session.headers["x-common-name"] = ingest.name
    return client_of(url, session)


def test_the_wsdl_is_served_without_authentication(ingest: Ingest) -> None:
    for query in ("wsdl", "WSDL", "wsdl="):
        answer = ingest.http.get(f"{SOAP}?{query}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/xml; charset=utf-8"
        root = etree.fromstring(answer.content)
        assert root.tag == f"{WSDL}definitions"
        (operation,) = root.iterfind(f"{WSDL}portType/{WSDL}operation")
        assert [one.tag for one in operation] == [f"{WSDL}input"]  # one-way operation
        (address,) = root.iter("{http://schemas.xmlsoap.org/wsdl/soap/}address")
        assert address.get("location") == f"{ingest.service.url}{SOAP}"


def test_the_types_of_the_wsdl_are_complete(ingest: Ingest) -> None:
    root = etree.fromstring(ingest.http.get(f"{SOAP}?wsdl").content)
    schema = etree.XMLSchema(next(root.iter(f"{XS}schema")))
    session = requests.Session()
    client = Client(f"{ingest.service.url}{SOAP}?wsdl", transport=Transport(session=session))
    sent = client.create_message(
        client.service, REQUEST, MessageHeader={"ID": "m-1"}, **{ITEM: [product(Brand="Acme"), product(None, "99")]}
    )
    request = sent[0][0]
    assert not schema.validate(request)  # no such action code exists
    request.remove(request[-1])
    schema.assertValid(request)


def test_messages_of_a_client_generated_from_the_wsdl_are_accepted(ingest: Ingest) -> None:
    send = described(ingest.service.url, ingest)
    items = [
        {
            "MessageHeader": {"ID": "i-1"},
            "Product": {
                "ActionCode": "04",
                "ProductID": "A-1",
                "Description": [{"_value_1": "Milk & honey", "languageCode": "EN"}, {"_value_1": "Milch"}],
                "GTIN": "4006381333931",
                "ManufacturerName": "Acme",
                "MerchandiseCategoryID": "G-1",
                "BaseUnitOfMeasure": "PCE",
            },
        },
        {"Product": {"attr__ActionCode": "02", "ProductID": "A-2"}},
        {"Product": {"attr__ActionCode": "04", "InternalID": "A-3", "Brand": "Acme", "ProductGroup": "G-2"}},
    ]
    header = {"ID": "m-1", "CreationDateTime": datetime(2026, 1, 1, tzinfo=UTC), "SenderBusinessSystemID": "ERP"}
    assert send(items, **header).status_code == 202
    assert send(items, **header).status_code == 200
    assert [(job["total_rows"], job["rows_skipped"]) for job in ingest.jobs()] == [(3, 1)]
    assert ingest.rows() == {
        1: {
            "articleNumber": "A-1",
            "name": "Milk & honey",
            "ean": "4006381333931",
            "manufacturer": "Acme",
            "articleGroupId": "G-1",
            "unit": "PCE",
        },
        3: {"articleNumber": "A-3", "manufacturer": "Acme", "articleGroupId": "G-2"},
    }


def test_a_client_generated_from_the_wsdl_understands_faults(ingest: Ingest) -> None:
    session = requests.Session()
    transport = Transport(session=session)
    client = Client(f"{ingest.service.url}{SOAP}?wsdl", transport=transport)
    operation = getattr(client.service, REQUEST)
    with pytest.raises(zeep.exceptions.Fault) as unknown:
        operation(MessageHeader={"ID": "m-1"}, **{ITEM: [product()]})
    assert (unknown.value.code, unknown.value.message) == ("soap:Client", "A valid client certificate is needed.")
    session.headers["x-common-name"] = ingest.name
    assert ingest.send("<x/>").status_code == 400
    described(ingest.service.url, ingest)([product()], ID="m-1")
    assert operation(MessageHeader={"ID": "m-1"}, **{ITEM: [product()]}) is None  # a replay
    with pytest.raises(zeep.exceptions.Fault, match="Another message with this identifier"):
        operation(MessageHeader={"ID": "m-1"}, **{ITEM: [product("A-2")]})

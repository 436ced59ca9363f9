"""Whatever bytes come, a decoder answers: with a refusal that names a code, never with a failure of the program.

Messages that were once good are changed byte by byte and word by word. A soak tries thousands of changes of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promenade.errors import PromenadeError
from promenade.web.imports.master_data_json import read_json_message
from promenade.web.imports.master_data_xml import read_soap_message
from promenade.workflows.documents.yaml_text import Malformed, read_documents
from tests.kit.databases import Databases
from tests.kit.examples import examples
from tests.kit.in_process import InProcess
from tests.kit.tenants import make_clients
from tests.web.conftest import PROMOTION_ID, TENANT, basket, furnish, item, run
from tests.web.imports.master_data.messages import envelope, message, product
from tests.web.imports.master_data.messages import item as xml_item

RECORDED = Path(__file__).parent.parent / "sync/peers/older.json"
INTERNAL = ("Traceback", "sqlalchemy", "sqlite3", "asyncpg", "msgspec", "site-packages", 'File "', "object at 0x")
FAILURES = {500, 502}
WORDS = [
    *(b"null", b"true", b"-0", b"1e999", b"1E-400", b"9" * 40, b"NaN", b"[]", b"{}", b'""', b"[" * 70, b"a" * 300),
    *(rb'"\ud800"', rb'"\u0000"', b"\0", b"\xff", b"\xc0\xaf", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xf0\x9f\x90\xb4"),
    *(b"\r\n", b"'", b"''", b"%00", b"%", b"..", b"/", b"&", b"=1+1", b"$it", b"not not ", b"&a *a", b"!!python/none"),
    *(b"<", b"]]>", b"<!DOCTYPE a>", b"&#0;", b"&x;"),
    *(b"2026-02-30", b"0001-01-01T00:00:00Z", b"99999-01-01", b"ffffffff-ffff-ffff-ffff-ffffffffffff"),
]
BATCH = b"""--b\r\nContent-Type: application/http\r\n\r\nGET Promotions?$top=1 HTTP/1.1\r\n\r\n\r\n--b\r
Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 1\r\n\r
POST Articles HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{"articleNumber": "B-1"}\r\n--c--\r\n--b--\r\n"""


@st.composite
def changed(draw: st.DrawFn, sample: bytes) -> bytes:
    """Return a message with a few changes: bytes replaced, left out or doubled, and words where they do not belong."""
    made = sample
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(made)))
        end = min(len(made), at + draw(st.integers(0, 12)))
        part = draw(st.sampled_from(WORDS) | st.binary(max_size=6))
        how = draw(st.integers(0, 4))
        if how < 3:
            made = made[:at] + part + made[end:]
        elif how == 3:
            made = made[:at] + made[at:end] * 2 + made[end:]
        else:
            values = list(re.finditer(rb'"[^"]*"|[-\d.]+|>[^<]*<', made))
            if values:
                found = values[at % len(values)]
                made = made[: found.start()] + part + made[found.end() :]
    return made


@dataclass
class Door:
    """A service, and a message that it takes at each of its doors."""

    http: httpx2.Client
    clients: dict[str, tuple[str, str]]
    samples: dict[str, tuple[str, str, str, bytes]] = field(default_factory=dict)
    """Name -> client, path, media type and body."""

    def headers(self, client: str, kind: str) -> dict[str, str]:
        form = dict(zip(("client_id", "client_secret"), self.clients[client], strict=True))
        if client not in self._tokens:
            answer = self.http.post("/oauth/token", data={"grant_type": "client_credentials", **form})
            self._tokens[client] = answer.json()["access_token"]
        return {"authorization": f"Bearer {self._tokens[client]}", "content-type": kind}

    _tokens: dict[str, str] = field(default_factory=dict)

    def post(self, name: str, body: bytes) -> httpx2.Response:
        client, path, kind, _ = self.samples[name]
        headers = {"content-type": kind} if name == "token" else self.headers(client, kind)
        return self.http.post(path, content=body, headers=headers)


SALE = {"header": {"transactionId": "F-1", "transactionCounter": 1}, "transactionId": "F-1"}
ARTICLE = {"articleNumber": "F-1", "name": "Tea", "basePrice": 1.99}
JSON = {
    "evaluate": ("till", "/pos/v2/evaluate", basket(
        header={"transactionId": "F-1"}, items=[item(), item(quantity=-1, lineReference="2", tax={"rate": 19})],
        coupons=[{"code": "SAVE-1"}], customer={"customerId": "C-1", "loyalty": {"tier": "GOLD", "points": 5}},
    )),
    "simulate": ("till", "/pos/v2/simulate", basket(at="2026-03-01T12:00:00+01:00")),
    "prices": ("till", "/pos/v2/prices", basket(items=[{"articleNumber": "F-1"}, {"articleNumber": "2", "ean": "3"}])),
    "confirm": ("till", "/pos/v2/confirm", {"request": SALE | {"appliedPromotions": [{"promotionId": PROMOTION_ID}]}}),
    "cancel": ("till", "/pos/v2/cancel", {"transactionId": "F-1", "transactionCounter": 1}),
    "coupon": ("till", "/pos/coupons/validate", {"code": "SAVE-1", "posGroupCode": "BERLIN", "customerId": "C-1"}),
    "reserve": ("till", "/pos/coupons/reserve", {"code": "SAVE-1", "transactionId": "F-1", "ttlSeconds": 60}),
    "issue": ("till", "/pos/coupons/issue", {"couponTypeName": "SAVE", "quantity": 1}),
    "article": ("erp", "/api/v1/Articles", ARTICLE),
    "condition": ("erp", "/api/v1/Conditions", {
        "promotion_ID": PROMOTION_ID, "conditionType": "ARTICLE_LIST", "minQuantity": 2,
        "articleListItems": [{"articleNumber": "F-1"}, {"articleNumber": "F-2"}],
    }),
    "import": ("erp", "/api/v1/Articles:bulk-import", {
        "header": {"continueOnError": True}, "rows": [ARTICLE, ARTICLE],
    }),
    "batch": ("erp", "/api/v1/$batch", {"requests": [
        {"id": "1", "method": "GET", "url": "Articles?$top=1"},
        {"id": "2", "atomicityGroup": "g", "method": "POST", "url": "Articles", "body": ARTICLE, "dependsOn": ["1"]}]}),
    "draft": ("admin", "/admin/Promotions", {"name": "F", "priority": 5}),
    "document": ("admin", "/admin/Promotions/AdminService.compareDocument", {"document": "code: F\nname: F\n"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def door(databases: Databases) -> Iterator[Door]:
    url = databases.create("sqlite")
    roles = {
        "till": ("svc.POSReader",),
        "erp": ("PublicApi.Read", "PublicApi.Write"),
        "admin": ("svc.Admin",),
        "store": ("svc.Sync",),
    }
    clients = make_clients(url, TENANT, roles, is_new=True)
    run(furnish(url))
    with InProcess(url, has_worker=False) as service, service.client() as http:
        opened = Door(http, clients)
        for name, (client, path, body) in JSON.items():
            opened.samples[name] = (client, path, "application/json", json.dumps(body).encode())
        opened.samples["multipart"] = ("erp", "/api/v1/$batch", "multipart/mixed; boundary=b", BATCH)
        form = b"grant_type=client_credentials&client_id=a%20b&client_secret=c&scope=d+e"
        opened.samples["token"] = ("erp", "/oauth/token", "application/x-www-form-urlencoded", form)
        add_recorded(opened)
        yield opened
    databases.drop(url)


def add_recorded(door: Door) -> None:
    """Add what a store has once sent to its cloud, in the name of a store that is registered here."""
    for one in json.loads(RECORDED.read_text())["exchanges"]:
        name, body = one["path"].rpartition("/")[2], json.dumps(one.get("body")).encode()
        if one["method"] != "POST" or name in door.samples:
            continue
        if name == "register":
            former = str(one["answer"]["deploymentId"])
            door.samples[name] = ("store", one["path"], "application/json", body)
            own = str(door.post(name, body).json()["deploymentId"])
        door.samples[name] = ("store", one["path"], "application/json", body.replace(former.encode(), own.encode()))


NAMES = [*JSON, "multipart", "token", "register", "heartbeat", "budget-grants", "coupon-leases", "transactions"]


def check(answer: httpx2.Response) -> None:
    """Assert that this is no failure, and tells nothing about the program."""
    assert answer.status_code not in FAILURES, answer.text
    assert not [word for word in INTERNAL if word in answer.text], answer.text
    if answer.status_code >= 400 and "json" in answer.headers["content-type"]:
        said = answer.json()
        assert said.get("code") or said["error"], said


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_are_understood(door: Door, name: str) -> None:
    answer = door.post(name, door.samples[name][3])
    assert answer.status_code < 500
    code = answer.json().get("error", {}) if "json" in answer.headers["content-type"] else {}
    assert "MALFORMED" not in str(code), "what is changed below has to be read first"


@pytest.mark.parametrize("name", NAMES)
def test_a_member_with_half_a_character_in_its_name_is_answered(door: Door, name: str) -> None:
    half = b'"\\ud800": 1'
    nul = half.replace(b"d800", b"d800\\u0000")
    for members in (half, b"%b, %b" % (half, half), nul, b"%b, %b" % (nul, half)):
        for body in (b"{%b}", b'{"request": {%b}}', b'{"rows": [{%b}]}', b'{"requests": [{"id": "1", "body": {%b}}]}'):
            check(door.post(name, body % members))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=examples(24, thorough=2_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_message_is_answered(door: Door, name: str, data: st.DataObject) -> None:
    check(door.post(name, data.draw(changed(door.samples[name][3]))))


QUERIES = [
    "$filter=contains(name,'a') and priority gt 1 or not (status eq 'ACTIVE')",
    "$filter=conditions/any(c:c/minQuantity gt 2)&$expand=conditions($select=ID;$top=2)",
    "$orderby=name desc,priority&$top=2&$skip=1&$count=true&$select=ID,name",
    "$apply=filter(priority gt 1)/groupby((status),aggregate($count as n))",
    "$search=tea AND NOT coffee&$format=json",
]


@pytest.mark.parametrize("query", QUERIES)
@given(data=st.data())
@settings(max_examples=examples(24, thorough=2_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_query_is_answered(door: Door, query: str, data: st.DataObject) -> None:
    made = data.draw(changed(query.encode()))
    address = f"/api/v1/Promotions?{quote(made, safe='=&$(),/;:')}"
    check(door.http.get(address, headers=door.headers("erp", "text/plain")))


@given(data=st.data())
@settings(max_examples=examples(60, thorough=5_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_cursor_is_answered(door: Door, data: st.DataObject) -> None:
    cursors = {
        "/api/v1/Promotions?$top=1&$skiptoken=": b"W1siMGEwMDAwMDAtMDAwMC00MDAwLTgwMDAtMDAwMDAwMDAwMDAxIl1d",
        "/sync/promotions?deploymentId=x&cursor=": b"lwHEBjayoQBE_5MBAc8ABkdIRiBAAMLAAKA",
    }
    path = data.draw(st.sampled_from(sorted(cursors)))
    made = quote(data.draw(changed(cursors[path])), safe="")
    check(door.http.get(path + made, headers=door.headers("store" if "sync" in path else "erp", "text/plain")))


@given(data=st.data())
@settings(max_examples=examples(200, thorough=20_000))
def test_changed_master_data_are_read_or_refused(data: st.DataObject) -> None:
    as_xml = envelope(xml_item(Description="Tea & more", ValidityEndDate="2026-01-01"), message_id="m-1").encode()
    with suppress(PromenadeError):
        read_soap_message(data.draw(changed(as_xml)), data.draw(st.sampled_from([None, "utf-8", "utf-16", "x"])))
    with suppress(PromenadeError):
        read_json_message(data.draw(changed(message([product(Description="Tea")], "m-1"))))


@given(data=st.data())
@settings(max_examples=examples(200, thorough=20_000))
def test_a_changed_document_is_read_or_refused(data: st.DataObject) -> None:
    text = b"code: F\nname: 'Tea: two'\nrules:\n- type: ARTICLE\n  note: |\n    a\n    b\n- [1, true]\n---\nx: 1.5\n"
    with suppress(Malformed):
        read_documents(data.draw(changed(text)), "f.yaml")

"""Every family of routes over a real connection. Their responses are tested in the tests' own process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, Shop

SCOPES = {
    "integrator": ("PublicApi.Read", "PublicApi.Write"),
    "author": ("svc.Admin",),
    "analyst": ("svc.PromotionManager",),
}


class Line:
    """Calls as one of the shop's clients, over the connections that the shop's client keeps open."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop

    def call(self, client: str, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        sent = {"authorization": f"Bearer {self.shop.token(client)}", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if body is None or isinstance(body, bytes | str | Iterator) else json.dumps(body)
        return self.shop.http.request(method, path, content=content, headers=sent)

    def made(self, client: str, path: str, body: Any) -> Any:
        answer = self.call(client, "POST", path, body)
        assert answer.status_code == 201, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def line(shop: Shop) -> Line:
    shop.clients |= make_clients(shop.database_url, TENANT, SCOPES)
    return Line(shop)


def requests_of(answer: httpx2.Response) -> list[int]:
    """Return the statuses in a batch response."""
    assert answer.status_code == 200, answer.text
    return [one["status"] for one in answer.json()["responses"]]


def test_the_public_api_works_over_a_real_connection(line: Line) -> None:
    root = "/api/v1"
    answer = line.call("integrator", "POST", f"{root}/Campaigns", {"code": "network", "name": "Käse"})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"].startswith(f"{line.shop.url}{root}/Campaigns(")
    assert "date" in answer.headers
    assert "server" not in answer.headers
    address = answer.headers["location"]
    read = line.call("integrator", "GET", address)
    assert (read.status_code, read.json()["name"]) == (200, "Käse")
    tag = read.headers["etag"]
    unchanged = line.call("integrator", "GET", address, if_none_match=tag)
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    headed = line.call("integrator", "HEAD", address)
    assert (headed.status_code, headed.content) == (200, b"")
    in_pieces = iter([b'{"name": ', b'"In pieces"', b"}"])
    assert line.call("integrator", "PATCH", address, in_pieces, if_match=tag).status_code == 204
    assert line.call("integrator", "PATCH", address, {"name": "Late"}, if_match=tag).status_code == 412
    asked = f"{root}/Campaigns?$filter=name eq 'In pieces'&$select=code"
    assert [one["code"] for one in line.call("integrator", "GET", asked).json()["value"]] == ["network"]
    batch = {
        "requests": [
            {"id": "1", "method": "GET", "url": "Campaigns?$top=1"},
            {"id": "2", "method": "PATCH", "url": "Campaigns(nobody)", "body": {"name": "x"}},
        ]
    }
    assert requests_of(line.call("integrator", "POST", f"{root}/$batch", batch))[0] == 200
    assert line.call("integrator", "DELETE", address).status_code == 204
    gone = line.call("integrator", "GET", address)
    assert gone.status_code == 404
    assert gone.headers["content-type"].startswith("application/problem+json")
    metadata = line.call("integrator", "GET", f"{root}/$metadata", accept_encoding="identity")
    assert int(metadata.headers["content-length"]) == len(metadata.content) > 64 * 1024
    assert line.call("till", "GET", f"{root}/Campaigns").status_code == 403


def test_the_administration_and_its_drafts_work_over_a_real_connection(line: Line) -> None:
    root = "/admin"
    made = line.made("author", f"{root}/Promotions", {"name": "Over the network"})
    draft = f"Promotions(ID={made['ID']},IsActiveEntity=false)"
    parts = [
        ["--outer", "Content-Type: multipart/mixed;boundary=inner", "", "--inner", *_part(f"PATCH {draft}", "0")],
        ["Content-Type: application/json", "", '{"priority": 7}', "--inner--"],
        ["--outer", *_part(f"GET {draft}?$select=priority"), "", "", "--outer--", ""],
    ]
    body = "\r\n".join(text for part in parts for text in part)
    answer = line.call("author", "POST", f"{root}/$batch", body, content_type="multipart/mixed;boundary=outer")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("multipart/mixed")
    assert '"priority":7' in answer.text
    activated = line.call("author", "POST", f"{root}/{draft}/AdminService.draftActivate", {})
    assert activated.status_code == 201, activated.text
    active = f"{root}/Promotions(ID={made['ID']},IsActiveEntity=true)"
    assert line.call("author", "GET", active).json()["priority"] == 7
    assert line.call("author", "GET", f"{root}/{draft}").status_code == 404
    assert line.call("integrator", "GET", active).status_code == 403


def _part(request: str, content_id: str | None = None) -> list[str]:
    head = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    head += [] if content_id is None else [f"Content-ID: {content_id}"]
    return [*head, "", f"{request} HTTP/1.1"]


def test_reporting_works_over_a_real_connection(line: Line) -> None:
    root = "/reporting"
    rows = line.call("analyst", "GET", f"{root}/PromotionPerformance?$top=1&$count=true")
    assert rows.status_code == 200, rows.text
    batch = {"requests": [{"id": "1", "method": "GET", "url": "CouponAnalytics?$top=1"}]}
    assert requests_of(line.call("analyst", "POST", f"{root}/$batch", batch)) == [200]
    order = {"reportType": "couponAnalytics", "dateFrom": "2026-03-01T00:00:00Z", "dateTo": "2026-04-01T00:00:00Z"}
    export = line.call("analyst", "POST", f"{root}/exportCsv", order)
    assert export.status_code == 200, export.text
    assert export.json()["filename"] == "coupon-analytics.csv"
    assert line.call("till", "GET", f"{root}/PromotionPerformance").status_code == 403


def test_coupon_operations_work_over_a_real_connection(line: Line) -> None:
    kind = {"code": "NET", "name": "Net", "status": "ACTIVE", "codeType": "GENERIC", "genericCode": "NET-1"}
    line.made("integrator", "/api/v1/CouponTypes", kind)
    root = "/pos/coupons"
    assert line.call("till", "POST", f"{root}/validate", {"code": "NET-1"}).json()["valid"] is True
    held = line.call("till", "POST", f"{root}/reserve", {"code": "NET-1", "transactionId": "T1"}).json()
    assert held["reserved"] is True
    taken = {"reservationId": held["reservationId"], "transactionId": "T1"}
    assert line.call("till", "POST", f"{root}/redeem", taken).json()["redeemed"] is True
    assert line.call("till", "POST", f"{root}/reserve", {}).status_code == 400


def test_invalid_tokens_are_refused_over_a_real_connection(line: Line) -> None:
    for shown in ("Bearer nonsense", f"Bearer {line.shop.token('till')}x", "Basic dTpw", "Bearer"):
        refused = line.shop.http.get("/api/v1/Campaigns", headers={"authorization": shown})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith(shown.split()[0])

"""The endpoints that each scope does and does not allow, by every method (interface decisions)."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from promenade.model.access.clients import SCOPES
from tests.web.access.tokens.conftest import Trusting

ADMIN, PROMOTIONS, BUDGETS, TILL = "svc.Admin", "svc.PromotionManager", "svc.BudgetManager", "svc.POSReader"
READ, WRITE, CUSTOMERS, SYNC = "PublicApi.Read", "PublicApi.Write", "PublicApi.Customers", "svc.Sync"
NOBODY = "0a000000-0000-4000-8000-00000000ffff"
TILLS = (TILL, ADMIN)
ROLES = (ADMIN, PROMOTIONS, BUDGETS)

POS = [
    *(("POST", f"/pos/{name}", TILLS) for name in (
        "v2/evaluate", "v2/simulate", "v2/confirm", "evaluate", "PosService.evaluate", "coupons/validate",
        "coupons/reserve", "coupons/redeem", "coupons/cancel", "coupons/activate", "coupons/issue", "articles/import",
        "articles/import-batch", "importArticles",
    )),
    ("GET", "/pos/heartbeat", TILLS),
    ("GET", "/pos/$metadata", TILLS),
    ("GET", "/pos/v2/transactions/T/1/side-effects", TILLS),
    ("POST", "/pos/v2/transactions/T/1/side-effects/requeue", (ADMIN,)),
]  # fmt: skip
ADMINISTRATION = [
    ("GET", "/admin/", ROLES),
    ("GET", "/admin/$metadata", ROLES),
    ("POST", "/admin/$batch", SCOPES),  # each part needs its own scope
    *(("GET", f"/admin/{name}", ROLES) for name in ("Promotions", "Budgets", "Articles", "AuditLogs", "PosGroups")),
    *(
        (method, f"/admin/{name}{'' if method == 'POST' else f'({NOBODY})'}", (ADMIN, PROMOTIONS))
        for name in ("Promotions", "Campaigns", "PromotionTemplates", "PosGroups", "ArticleGroups", "CouponTypes")
        for method in ("POST", "PATCH", "DELETE")
    ),
    ("PATCH", f"/admin/Budgets({NOBODY})", (ADMIN, BUDGETS)),
    ("POST", "/admin/Budgets", (ADMIN,)),
    ("DELETE", f"/admin/Budgets({NOBODY})", (ADMIN,)),
    ("PATCH", f"/admin/BudgetStakeholders({NOBODY})", (ADMIN, BUDGETS)),
    ("PATCH", f"/admin/Conditions({NOBODY})", (ADMIN, PROMOTIONS)),
    ("POST", "/admin/Articles", (ADMIN,)),
    ("PATCH", f"/admin/Articles({NOBODY})", (ADMIN,)),
    ("POST", "/admin/WebhookSubscriptions", (ADMIN,)),
]
PUBLIC = [
    ("GET", "/api/v1/", (READ, WRITE)),
    ("GET", "/api/v1/$metadata", (READ, WRITE)),
    ("POST", "/api/v1/$batch", SCOPES),
    *(
        (method, f"/api/v1/{name}{path}", (READ,))
        for name in ("Promotions", "Budgets", "Articles", "CouponCodes", "AuditLogs")
        for method, path in (("GET", ""), ("HEAD", ""), ("GET", f"({NOBODY})"), ("GET", "/$count"))
    ),
    *(
        (method, f"/api/v1/{name}{path}", (WRITE,))
        for name in ("Promotions", "Budgets", "Articles")
        for method, path in (("POST", ""), ("PATCH", f"({NOBODY})"), ("DELETE", f"({NOBODY})"))
    ),
    ("POST", "/api/v1/Articles:bulk-import", (WRITE,)),
    ("POST", "/api/v1/Articles/PublicAPI.bulkImport", (WRITE,)),
    ("GET", f"/api/v1/jobs/{NOBODY}", (READ, WRITE)),
    ("GET", "/api/v1/customer-erasures", (CUSTOMERS,)),
    ("POST", "/api/v1/customer-erasures", (CUSTOMERS,)),
    ("POST", "/api/v1/customer-exports", (CUSTOMERS,)),
]
SYNCING = [
    ("GET", "/sync/promotions", (SYNC,)),
    ("GET", "/sync/erasures", (SYNC,)),
    *(
        ("POST", f"/sync/{name}", (SYNC,))
        for name in ("register", "heartbeat", "transactions", "budget-grants", "coupon-leases")
    ),
]
MATRIX = [*POS, *ADMINISTRATION, *PUBLIC, *SYNCING]
HELD: list[Any] = [None, "", "openid", *SCOPES]
"""What a token carries, one after the other."""


def said(trusting: Trusting, method: str, path: str, token: str | None) -> httpx2.Response:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    content = b"{}" if method in {"POST", "PATCH"} else None
    if content is not None:
        headers["content-type"] = "application/json"
    return trusting.http.request(method, path, content=content, headers=headers)


def lacks_scope(answer: httpx2.Response) -> bool:
    """Return whether the request was refused for a missing scope, in the error format of its API."""
    assert answer.status_code < 500, answer.text
    assert answer.status_code != 401, answer.text
    if answer.status_code != 403:
        return False
    return not answer.content or code_of(answer) == "MISSING_SCOPE"


def code_of(answer: httpx2.Response) -> str:
    told = answer.json()
    return str(told["error"]["code"] if "error" in told else told["code"])


@pytest.fixture(scope="module")
def tokens(serving: Trusting) -> dict[Any, str]:
    """Return a token for each entry of `HELD`, and one whose tenant does not exist."""
    serving.know_its_issuer()
    made = {held: serving.token(scope=held) for held in HELD}
    return {**made, "unknown": serving.token(scope=list(SCOPES), zid="unknown")}


@pytest.mark.parametrize(("method", "path", "accepted"), MATRIX, ids=[f"{one[0]} {one[1]}" for one in MATRIX])
def test_a_scope_allows_only_its_own_endpoints(
    serving: Trusting, tokens: dict[Any, str], method: str, path: str, accepted: tuple[str, ...]
) -> None:
    is_batch = path.endswith("$batch")
    for held in HELD:
        is_open = held in accepted or is_batch
        assert lacks_scope(said(serving, method, path, tokens[held])) == (not is_open), held
    assert said(serving, method, path, None).status_code == 401
    refused = said(serving, method, path, tokens["unknown"])
    assert refused.status_code == 403
    assert not refused.content or code_of(refused) == "UNKNOWN_TENANT"


@pytest.mark.parametrize("prefix", ["myapp.", "myapp!t1.", "my-app!b12345|promenade!b1.", "a_b!t9."])
@pytest.mark.parametrize("is_list", [True, False], ids=["list", "text"])
def test_an_applications_prefix_does_not_count(serving: Trusting, prefix: str, is_list: bool) -> None:
    for method, path, accepted in (MATRIX[0], ADMINISTRATION[0], PUBLIC[3], PUBLIC[-1], SYNCING[0]):
        for scope in SCOPES:
            carried = ["openid", f"{prefix}{scope}"] if is_list else f"openid {prefix}{scope}"
            answer = said(serving, method, path, serving.token(scope=carried))
            assert lacks_scope(answer) == (scope not in accepted), (path, scope)


@pytest.mark.parametrize(
    "carried",
    ["svc", "svc.", "svc.Admin.", "svc.AdminX", "SVC.ADMIN", "svc_Admin", "svc/Admin", "svc.Admin,svc.POSReader",
     "evil.svc.x.Admin", "*", "svc.*", [["svc.Admin"]], [{"svc.Admin": 1}], {"svc.Admin": True}, 1, True,
     ["svc.Admin svc.POSReader"], "a.b.svc.Admin"],
    ids=str,
)  # fmt: skip
def test_a_text_that_resembles_a_scope_allows_nothing(serving: Trusting, carried: Any) -> None:
    token = serving.token(scope=carried)
    for method, path in (("GET", "/pos/heartbeat"), ("GET", "/admin/Promotions"), ("GET", "/api/v1/Promotions")):
        assert lacks_scope(said(serving, method, path, token)), path


def test_each_part_of_a_batch_needs_its_own_scope(serving: Trusting) -> None:
    parts: list[dict[str, Any]] = [
        {"id": "read", "method": "GET", "url": "Articles"},
        {
            "id": "write",
            "method": "POST",
            "url": "Articles",
            "body": {},
            "headers": {"content-type": "application/json"},
        },
    ]

    def statuses(scope: str, root: str = "/api/v1") -> dict[str, int]:
        headers = {"authorization": f"Bearer {serving.token(scope=scope)}", "prefer": "continue-on-error"}
        answer = serving.http.post(f"{root}/$batch", json={"requests": parts}, headers=headers)
        assert answer.status_code == 200, answer.text
        return {one["id"]: one["status"] for one in answer.json()["responses"]}

    assert statuses(READ) == {"read": 200, "write": 403}
    assert statuses(WRITE) == {"read": 403, "write": 400}
    assert statuses(f"{READ} {WRITE}") == {"read": 200, "write": 400}
    assert statuses(ADMIN) == statuses(SYNC) == {"read": 403, "write": 403}
    for scope, allowed in ((ADMIN, 201), (PROMOTIONS, 403), (BUDGETS, 403)):
        assert statuses(scope, "/admin") == {"read": 200, "write": allowed}
    assert statuses(f"{READ} {WRITE}", "/admin") == {"read": 403, "write": 403}


def test_public_endpoints_need_no_token(serving: Trusting) -> None:
    for path in ("/health", "/api/v1/openapi.json", "/pos/openapi.json", "/api/v1/master-data/soap?wsdl"):
        assert serving.http.get(path).status_code == 200, path

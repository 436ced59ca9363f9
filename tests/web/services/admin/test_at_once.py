"""Many users working on the same few promotions at the same moment."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.web.services.admin.conftest import Admin, active, draft

EXPECTED = {
    "edit": {201, 409},
    "patch": {200, 403, 404},
    "activate": {200, 403, 404},
    "discard": {204, 403, 404},
    "prepare": {200, 403, 404},
    "direct": {200, 409},
    "stop": {200},
    "batch": {200},
}


def test_concurrent_requests_never_fail_with_an_internal_error(admin: Admin, seed: int) -> None:
    """In any order: none fails with an internal error, and the result can still be edited."""
    rows = [admin.promotion(posGroups=[{"posGroup_ID": admin.pos_group()}]) for _ in range(2)]
    tokens = {client: admin.token(client) for client in ("admin", "promoter")}

    def work(number: int) -> list[tuple[str, int]]:
        chance = random.Random(seed + number)
        client = ("admin", "promoter")[number % 2]
        with admin.service.client() as http:
            own = Admin(service=admin.service, database_url=admin.database_url, http=http, tokens=tokens)
            return [_one(own, chance.choice(list(EXPECTED)), chance.choice(rows), client) for _ in range(25)]

    with ThreadPoolExecutor(6) as pool:
        found = [one for each in pool.map(work, range(6)) for one in each]
    for what, status in found:
        assert status in EXPECTED[what], (what, status)
    for row in rows:
        for client in ("admin", "promoter"):
            admin.delete(draft("Promotions", row), client=client)
        assert admin.edit("Promotions", row["ID"]).status_code == 201


def _one(admin: Admin, what: str, row: dict[str, Any], client: str) -> tuple[str, int]:
    old, new = active("Promotions", row), draft("Promotions", row)
    requests: dict[str, tuple[str, str, Any]] = {
        "edit": ("POST", f"{old}/draftEdit", {}),
        "patch": ("PATCH", new, {"name": "Changed"}),
        "activate": ("POST", f"{new}/draftActivate", {}),
        "discard": ("DELETE", new, None),
        "prepare": ("POST", f"{new}/draftPrepare", {}),
        "direct": ("PATCH", old, {"name": "Direct"}),
        "stop": ("POST", f"{old}/deactivate", {}),
        "batch": ("POST", "$batch", {"requests": [
            {"id": "1", "atomicityGroup": "g", "method": "POST", "url": f"{old}/draftEdit", "body": {}},
            {"id": "2", "atomicityGroup": "g", "method": "POST", "url": f"{new}/draftActivate", "body": {}},
        ]}),
    }  # fmt: skip
    method, path, body = requests[what]
    return what, admin.call(method, path, body, client=client).status_code

"""The POS service, tested with requests from its own OpenAPI document.

No failure, no response outside the document, and nothing of a rival whose shop, coupons and sales have the same codes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import httpx2
import pytest

from promenade.web.services.pos_openapi import render_pos_openapi
from tests.schemas.conftest import Served
from tests.schemas.nearly_sound import PosRequests
from tests.schemas.running import Findings, run_schemathesis


@cache
def _document() -> Mapping[str, Any]:
    """Return the whole document, and as rules what it says in words: which of two members has to be there.

    That it is not null is left out: then schemathesis only generates requests of a wrong type, silently; without that
    it generates hundreds, some of them with null.
    """
    document: dict[str, Any] = json.loads(render_pos_openapi(whole=True))
    schemas = document["components"]["schemas"]
    schemas["EvaluateRequest"]["anyOf"] = [{"required": [one]} for one in ("posGroupId", "posGroupCode")]
    schemas["IssueCouponsRequest"] |= {
        "anyOf": [
            {"required": [name], "properties": {name: {"type": "string", "minLength": 1}}}
            for name in ("couponTypeId", "couponTypeName")
        ],
        "not": {
            "required": ["customerId", "customerIds"],
            "properties": {"customerId": {"type": "string", "minLength": 1}, "customerIds": {"type": "array"}},
        },
    }
    return document


def _one_address_each(seed: int) -> set[str]:
    """Return one of each operation's paths, varying by session: all lead to the same code."""
    addresses: dict[str, list[str]] = {}
    for path, item in _document()["paths"].items():
        for operation in item.values():
            addresses.setdefault(operation["operationId"].partition(".")[0], []).append(path)
    drawn = random.Random(seed)
    return {drawn.choice(paths) for paths in addresses.values()}


def _is_one_of(addresses: set[str], _method: str, path: str) -> bool:
    return path in addresses


def _run(
    served: Served, seed: int, *, examples: int, choose: Callable[[str, str], bool] = lambda _method, _path: True
) -> Findings:
    """Send a run's requests as a till of its own: too many unknown codes of a till are refused for a minute."""
    token = served.new_till_token()
    with httpx2.Client(base_url=served.service.url, headers={"authorization": f"Bearer {token}"}) as till:

        def send(operation: str, body: dict[str, Any]) -> dict[str, Any]:
            answer: dict[str, Any] = till.post(f"/pos/v2/{operation}", json=body).raise_for_status().json()
            return answer

        requests = PosRequests(seed, send)
        return run_schemathesis(
            _document(),
            f"{served.service.url}/pos",
            token,
            seed=seed,
            examples=examples,
            coverage=True,
            choose=choose,
            prepare=requests.prepare,
            judge=requests.judge,
        )


@pytest.mark.timeout(900)
def test_every_operation_answers_as_its_document_says(served: Served, seed: int) -> None:
    addresses = _one_address_each(seed)

    silent = addresses
    found = Findings()
    # There is a small chance that all requests of an operation are refused; then others are drawn, for it alone.
    for drawing in range(seed, seed + 6):
        more = _run(served, drawing, examples=6, choose=partial(_is_one_of, silent))
        more.assert_none(served.service.output())
        found.answers.update(more.answers)
        asked = {label for label, _ in found.answers if not label.endswith("/requeue")}
        silent = {label.partition(" ")[2] for label in asked if not found.succeeded(label)}
        if not silent:
            break
    assert {label.partition(" ")[2] for label, _ in found.answers} == addresses
    assert silent == set(), "these were never answered with success"


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_many_random_requests_are_answered_as_documented(served: Served, seed: int) -> None:
    found = _run(served, seed, examples=1000)

    found.assert_none(served.service.output())

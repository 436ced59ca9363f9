"""The POS service under requests made from its own OpenAPI document: no failure, no answer outside of it."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from promenade.web.pos_openapi import render_pos_openapi
from tests.schemas.conftest import Served
from tests.schemas.nearly_sound import PosRequests
from tests.schemas.running import Findings, run_schemathesis


def _run(served: Served, seed: int, *, examples: int) -> Findings:
    with httpx2.Client(base_url=served.service.url, headers={"authorization": f"Bearer {served.till_token}"}) as till:

        def evaluate(body: dict[str, Any]) -> dict[str, Any]:
            answer: dict[str, Any] = till.post("/pos/v2/evaluate", json=body).raise_for_status().json()
            return answer

        return run_schemathesis(
            json.loads(render_pos_openapi()),
            f"{served.service.url}/pos",
            served.till_token,
            seed=seed,
            examples=examples,
            coverage=True,
            prepare=PosRequests(seed, evaluate).prepare,
        )


@pytest.mark.timeout(900)
def test_every_address_answers_as_its_document_says(served: Served, seed: int) -> None:
    found = _run(served, seed, examples=6)

    found.assert_none(served.service.output())
    for_tills = {label for label, _ in found.answers if not label.endswith("/requeue")}
    silent = [label for label in for_tills if not found.succeeded(label)]
    assert silent == [], "these were never answered with success"


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_all_of_it_at_length(served: Served, seed: int) -> None:
    found = _run(served, seed, examples=1000)

    found.assert_none(served.service.output())

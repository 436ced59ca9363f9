"""Reporting, tested with requests from its OpenAPI document: no failure, no undocumented response, no leak."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from promenade.model.reports.operations import REPORT_TYPES
from promenade.web.reports.openapi import render_reporting_openapi
from tests.contract.conftest import MINE, ROWS, THEIRS
from tests.contract.made_up import identity
from tests.schemas.conftest import Served
from tests.schemas.nearly_sound import PublicRequests
from tests.schemas.running import run_schemathesis
from tests.schemas.test_public_api import _is_turn

_SUBJECTS = {
    "promotionId": "Promotions",
    "promotion_ID": "Promotions",
    "budgetId": "Budgets",
    "stakeholderId": "Stakeholders",
    "couponTypeId": "CouponTypes",
}


class ReportingRequests(PublicRequests):
    """Inserts keys of existing reports, and export requests that may be valid."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._drawn = random.Random(seed)

    def prepare(self, case: Any) -> None:
        super().prepare(case)
        if case.operation.path.endswith("/$ref"):  # only the 4.01 formats are documented
            case.headers = {**dict(case.headers or {}), "OData-MaxVersion": "4.01"}
        given = case.path_parameters or {}
        named = {name: self._subject(about) for name, about in _SUBJECTS.items() if name in given}
        if named:
            case.path_parameters = dict(given) | named
        if case.operation.path == "/exportCsv" and isinstance(case.body, dict) and self._drawn.random() < 0.9:
            sound = {"reportType": self._drawn.choice(REPORT_TYPES), "dateFrom": "2020-01-01T00:00:00Z"}
            sound |= {"dateTo": "2030-01-01T00:00:00Z"}
            kept = {name: case.body[name] for name in case.body if self._drawn.random() < 0.2}
            case.body = sound | kept

    def _subject(self, about: str) -> str:
        tenant = MINE if self._drawn.random() < 0.9 else THEIRS
        return identity(tenant, about, self._drawn.randint(1, ROWS))


@pytest.mark.timeout(600)
def test_every_report_answers_as_its_document_says(served: Served, seed: int) -> None:
    """Half of all paths on one of the databases, the others on the other; in another session the other way round."""
    requests = ReportingRequests(seed)
    found = run_schemathesis(
        json.loads(render_reporting_openapi()),
        f"{served.service.url}/reporting",
        served.manager_token,
        seed=seed,
        examples=1,
        choose=lambda _method, path: "Text" not in path and _is_turn(served, path, 4),
        prepare=requests.prepare,
        judge=requests.judge,
    )
    found.assert_none(served.service.output())


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_random_requests_to_reporting_are_answered_as_documented(served: Served, seed: int) -> None:
    requests = ReportingRequests(seed)
    found = run_schemathesis(
        json.loads(render_reporting_openapi(whole=True)),
        f"{served.service.url}/reporting",
        served.manager_token,
        seed=seed,
        examples=10,
        coverage=True,
        prepare=requests.prepare,
        judge=requests.judge,
    )
    found.assert_none(served.service.output())

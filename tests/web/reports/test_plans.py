"""``planTrial`` as it is served: who may ask, what it answers, what it refuses."""

from __future__ import annotations

import pytest

from tests.web.reports.conftest import Reporting, fault

NOBODY = "99999999-9999-4999-8999-999999999999"


def promotion(reporting: Reporting) -> str:
    found: str = reporting.read("ABTestResults?$top=1")["value"][0]["promotionId"]
    return found


@pytest.mark.parametrize("client", ["admin", "promoter", "treasurer"])
def test_who_reads_reports_may_plan_trials(reporting: Reporting, client: str) -> None:
    answer = reporting.get(f"planTrial(promotionId={promotion(reporting)},difference=7.5)", client=client)
    assert answer.status_code == 200, answer.text
    plan = answer.json()
    assert (plan["difference"], plan["power"]) == (7.5, 0.8)
    assert {"trial", "currency", "baskets", "days", "basketsSoFar", "moreBaskets", "moreDays"} <= plan.keys()


def test_a_plan_that_cannot_be_made_is_refused(reporting: Reporting) -> None:
    asked = promotion(reporting)
    assert fault(reporting.get(f"planTrial(promotionId={asked},difference=0)")) == (400, "OUT_OF_RANGE", "difference")
    assert fault(reporting.get(f"planTrial(promotionId={NOBODY},difference=5)"))[:2] == (404, "NOT_FOUND")
    assert fault(reporting.get(f"planTrial(promotionId={asked},difference=5)", client="stranger"))[:2] == (
        404,
        "NOT_FOUND",
    )
    assert reporting.get(f"planTrial(promotionId={asked},difference=5)", client="till").status_code == 403

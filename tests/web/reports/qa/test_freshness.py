"""Conditional requests: a client that has read a report is told of later changes."""

from __future__ import annotations

from promenade import model
from promenade.model.declare import ADMIN, NONE, PUBLIC
from tests.contract.made_up import identity
from tests.web.reports.conftest import OWN, Reporting
from tests.web.reports.test_every_report import REPORTS, key_of

ANY = 'W/"1"'  # the version of rows that are written only once


def test_a_renamed_promotion_is_not_answered_as_unchanged(reporting: Reporting) -> None:
    promotion_id = identity(OWN, "Promotions", 1)
    path = f"PromotionPerformance({promotion_id})"
    before = reporting.get(path)
    assert before.status_code == 200
    name = before.json()["promotionName"]
    promotion = f"/api/v1/Promotions({promotion_id})"
    try:
        changed = reporting.patch(promotion, {"name": "Another name"}, client="integrator")
        assert changed.status_code == 204, changed.text
        after = reporting.get(path, if_none_match=before.headers.get("etag", ANY))
        assert (after.status_code, after.text and after.json()["promotionName"]) == (200, "Another name")
    finally:
        assert reporting.patch(promotion, {"name": name}, client="integrator").status_code == 204


def test_reports_have_no_etag(reporting: Reporting) -> None:
    for name in REPORTS:
        if model.entity(name).mode(ADMIN) is NONE and model.entity(name).mode(PUBLIC) is NONE:
            rows = reporting.read(f"{name}?$top=1")["value"]
            assert not any("@odata.etag" in row for row in rows), name
            for row in rows:
                assert reporting.get(name + key_of(name, row), if_none_match=ANY).status_code == 200, name


def test_an_immutable_log_is_cached_by_etag(reporting: Reporting) -> None:
    row = reporting.read("CalculationLogs?$top=1")["value"][0]
    answer = reporting.get(f"CalculationLogs({row['ID']})", if_none_match=row["@odata.etag"])
    assert answer.status_code == 304

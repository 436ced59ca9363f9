"""Stores download their pricing data over HTTP."""

from __future__ import annotations

import gzip
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from promenade.store.pricing.changes import Version
from promenade.workflows.sync.cursors import Cursor, Place, write_cursor
from tests.web.sync.down.conftest import ARTICLES, CANARY, OWN, Cloud, fault
from tests.web.sync.down.replica import Replica

NOBODY = "99999999-9999-4999-8999-999999999999"


@pytest.fixture
def deployment(cloud: Cloud) -> str:
    return cloud.register(cloud.unique("S"))


def seen_by_integrators(cloud: Cloud, set_name: str, choice: str = "") -> dict[str, dict[str, Any]]:
    """Return every row of a public API collection, by ID."""
    found: dict[str, dict[str, Any]] = {}
    path: str | None = f"/api/v1/{set_name}{choice}"
    while path:
        page = cloud.read(path, client="integrator")
        found |= {row["ID"]: row for row in page["value"]}
        path = page.get("@nextLink")
        path = path and path.replace(str(cloud.service.url), "")
    return found


def same(replica: Replica, set_name: str, shown: dict[str, dict[str, Any]]) -> None:
    """Check that the replica has what integrators see, in the properties that both receive."""
    held = replica.rows[set_name]
    assert held.keys() == shown.keys(), set_name
    for key, row in shown.items():
        for name in ("name", "code", "status", "articleNumber", "description", "promotion_ID", "campaign_ID"):
            if name in row and name in held[key]:
                assert held[key][name] == row[name], (set_name, key, name)


def test_a_store_gets_everything_in_pages_while_it_is_changed(cloud: Cloud, deployment: str, seed: int) -> None:
    draw, made = random.Random(seed), [cloud.author("Promotions", name="First", status="ACTIVE")]
    replica = Replica()
    pages = 0
    while True:
        page = cloud.promotions(deployment, replica.cursor).json()
        assert sum(len(rows) for rows in page["upserts"].values()) < 1500
        replica.take(page)
        pages += 1
        if not page["hasMore"]:
            break
        for _ in range(draw.randrange(3)):
            article = draw.choice(sorted(replica.rows["Articles"])) if replica.rows["Articles"] else None
            if article is not None:
                cloud.patch(f"/api/v1/Articles({article})", {"name": cloud.unique("n")}, client="integrator")
            made.append(cloud.author("Promotions", name=cloud.unique("p"), status="ACTIVE"))
            cloud.delete(f"/api/v1/Promotions({made.pop(0)})", client="integrator")
            cloud.author("Articles", articleNumber=cloud.unique("N"))
    assert pages >= 3
    assert replica.fulls == 1
    for set_name in ("Articles", "PosGroups", "Campaigns", "CouponTypes", "Budgets"):
        same(replica, set_name, seen_by_integrators(cloud, set_name))
    running = "?$filter=status in ('ACTIVE','PILOT')"
    same(replica, "Promotions", seen_by_integrators(cloud, "Promotions", running))
    assert len(replica.rows["Articles"]) >= ARTICLES


def test_a_promotion_is_sent_and_deleted_with_all_its_parts(cloud: Cloud, deployment: str) -> None:
    replica = Replica()
    cloud.follow(deployment, replica)
    budget = cloud.author("Budgets", code=cloud.unique("B"), name="B", totalAmount=100.50, currency="EUR")
    kind = cloud.author("CouponTypes", code=cloud.unique("T"), name="T", codeType="GENERIC", genericCode="HELLO10",
                        status="ACTIVE", maxRedemptions=100)  # fmt: skip
    promotion = cloud.author(
        "Promotions", name="Ten off", status="ACTIVE", validFrom="2026-01-01T00:00:00Z", maxApplicationsTotal=5,
        calculationConfig={"mode": "ADDITIVE"},
    )  # fmt: skip
    action = cloud.author("DiscountActions", promotion_ID=promotion, actionType="RECEIPT",
                          discountType="PERCENTAGE", discountValue=12.5)  # fmt: skip
    tier = cloud.author("ActionScaledTiers", action_ID=action, thresholdAmount=50, discountType="PERCENTAGE",
                        discountValue=15)  # fmt: skip
    cloud.author("BudgetPromotions", budget_ID=budget, promotion_ID=promotion)
    cloud.author("CouponTypePromotions", couponType_ID=kind, promotion_ID=promotion)
    page = cloud.promotions(deployment, replica.cursor).json()
    assert {name: len(rows) for name, rows in page["upserts"].items()} == {
        "CouponTypes": 1, "Budgets": 1, "Promotions": 1, "DiscountActions": 1, "ActionScaledTiers": 1,
        "BudgetPromotions": 1, "CouponTypePromotions": 1, "CalculationConfigs": 1,
    }  # fmt: skip
    assert page["deletes"] == {}
    (row,) = page["upserts"]["Promotions"]
    assert row["validFrom"] == "2026-01-01T00:00:00Z"
    assert (row["maxApplicationsTotal"], row["applicationsCount"], row["ID"]) == (5, 0, promotion)
    assert page["upserts"]["ActionScaledTiers"][0]["thresholdAmount"] == "50.00"
    assert page["upserts"]["Budgets"][0]["totalAmount"] == "100.500"
    assert page["upserts"]["CouponTypes"][0]["genericCode"] == "HELLO10"
    replica.take(page)
    cloud.delete(f"/api/v1/ActionScaledTiers({tier})", client="integrator")
    cloud.follow(deployment, replica)
    assert tier not in replica.rows["ActionScaledTiers"]
    assert action in replica.rows["DiscountActions"]
    cloud.patch(f"/api/v1/Promotions({promotion})", {"status": "INACTIVE"}, client="integrator")
    page = cloud.promotions(deployment, replica.cursor).json()
    assert (page["upserts"], page["deletes"]) == ({}, {"Promotions": [promotion]})


def test_imported_articles_come_without_the_rest(cloud: Cloud, deployment: str) -> None:
    replica = Replica()
    cloud.follow(deployment, replica)
    rows = [{"articleNumber": f"A-{n}", "name": "Renamed"} for n in range(300)]
    rows += [{"articleNumber": cloud.unique("I"), "name": "Imported"} for _ in range(40)]
    rows.append({"articleNumber": "A-300", "name": CANARY.replace("globex", "acme")})  # unchanged
    body = {"header": {"continueOnError": True}, "rows": rows}
    job = cloud.post("/api/v1/Articles:bulk-import", body, client="integrator")
    assert job.status_code == 202, job.text
    ended = time.monotonic() + 90
    while cloud.read(f"/api/v1/jobs/{job.json()['jobId']}", client="integrator")["status"] != "SUCCEEDED":
        assert time.monotonic() < ended
    changed = Replica(cursor=replica.cursor)
    cloud.follow(deployment, changed)
    assert changed.fulls == 0
    assert len(changed.rows["Articles"]) == 340
    assert {row["name"] for row in changed.rows["Articles"].values()} == {"Renamed", "Imported"}


def test_a_download_without_changes_is_small(cloud: Cloud, deployment: str) -> None:
    replica = Replica()
    cloud.follow(deployment, replica)
    answer = cloud.promotions(deployment, replica.cursor)
    assert answer.json() == {
        "cursor": replica.cursor, "full": False, "upserts": {}, "deletes": {}, "hasMore": False,
    }  # fmt: skip


def test_answers_are_compressed_for_clients_that_accept_it(cloud: Cloud, deployment: str) -> None:
    plain = cloud.promotions(deployment, accept_encoding="identity")
    assert "content-encoding" not in plain.headers
    refused = cloud.promotions(deployment, accept_encoding="gzip;q=0, identity")
    assert "content-encoding" not in refused.headers
    with cloud.http.stream(
        "GET",
        f"/sync/promotions?deploymentId={deployment}",
        headers={"authorization": f"Bearer {cloud.token('store')}", "accept-encoding": "br, gzip"},
    ) as answer:
        packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed)) == plain.json()
    assert len(packed) < len(plain.content) // 3


def test_the_query_of_a_download_is_validated(cloud: Cloud, deployment: str) -> None:
    for query, code, target in (
        ("", "REQUIRED", "deploymentId"),
        ("?deploymentId=", "REQUIRED", "deploymentId"),
        ("?deploymentId=x", "NOT_A_UUID", "deploymentId"),
        (f"?deploymentId={deployment}&deploymentId={deployment}", "VALIDATION_FAILED", "deploymentId"),
        (f"?deploymentId={deployment}&cursor={'x' * 201}", "TOO_LONG", "cursor"),
        (f"?deploymentId={deployment}&cursor=a&cursor=b", "VALIDATION_FAILED", "cursor"),
        ("?deploymentId=%FF", "VALIDATION_FAILED", None),
    ):
        assert fault(cloud.get(f"promotions{query}")) == (400, code, target), query


def test_an_unknown_or_foreign_cursor_starts_a_full_download(cloud: Cloud, deployment: str) -> None:
    foreign = Replica()
    cloud.follow(cloud.register(cloud.unique("S"), client="stranger"), foreign, client="stranger")
    nowhere = write_cursor(Cursor(Version(0, 0, None), full=True, place=Place(5, "\0")), OWN)
    for cursor in ("x", "A" * 200, "%00", "%C3%BC", foreign.cursor, nowhere):
        page = cloud.promotions(deployment, cursor).json()
        assert page["full"], cursor
        assert len(page["upserts"]["Articles"]) > 900


def test_a_download_has_no_rows_of_another_tenant(cloud: Cloud, deployment: str) -> None:
    cursor: str | None = None
    while True:
        answer = cloud.promotions(deployment, cursor)
        assert CANARY not in answer.text
        assert "globex" not in answer.text
        cursor = answer.json()["cursor"]
        if not answer.json()["hasMore"]:
            break
    stranger = cloud.register(cloud.unique("S"), client="stranger")
    theirs = Replica()
    cloud.follow(stranger, theirs, client="stranger")
    assert {row["name"] for row in theirs.rows["Articles"].values()} == {CANARY}
    assert theirs.rows["Promotions"] == {}


def test_many_stores_may_download_at_once(cloud: Cloud) -> None:
    stores = [cloud.register(cloud.unique("S")) for _ in range(12)]
    replicas = [Replica() for _ in stores]
    with ThreadPoolExecutor(12) as pool:
        assert min(pool.map(cloud.follow, stores, replicas)) >= 3
    assert all(replica.rows == replicas[0].rows for replica in replicas)

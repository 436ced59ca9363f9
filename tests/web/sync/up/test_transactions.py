"""`POST /sync/transactions` with real requests (specification, Authentication; reliability T1, S1, S2, X1)."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from promenade.engine.basket import CouponFact
from promenade.workflows.replica.uploads import SoldCommand, SoldPromotion, UploadedSale
from tests.web.sync.up.conftest import OTHER, OWN, Cloud, named, sale

ACCEPTED, DUPLICATE = ("accepted", None), ("duplicate", None)


def fresh() -> str:
    """Return an unused transaction."""
    return f"T-{uuid.uuid4()}"[:36]


def test_each_sale_gets_its_result_and_is_stored_once(cloud: Cloud) -> None:
    first, second = fresh(), fresh()
    wrong = {"transactionId": "broken"}
    assert cloud.results(sale(first), wrong, sale(second)) == [ACCEPTED, ("rejected", "SALE_MALFORMED"), ACCEPTED]
    assert cloud.results(sale(second), sale(first)) == [DUPLICATE, DUPLICATE]
    logs = [row for row in cloud.rows("CalculationLogs") if row.transaction_id in {first, second}]
    assert [(row.status, row.source, row.origin) for row in logs] == [
        ("CALCULATED", "local-store", named(OWN, "store"))
    ] * 2


def test_an_uploaded_sale_is_no_longer_pending_before_the_next_heartbeat(cloud: Cloud) -> None:
    store = named(OWN, "store")
    beat = {"deploymentId": store, "status": "UP", "version": "1.4.1", "pendingTransactions": 3}
    assert cloud.post("heartbeat", beat).status_code == 200
    sales = [sale(fresh()), sale(fresh())]
    left = []
    for _ in range(2):  # the first answer may have been lost
        assert cloud.send(*sales).status_code == 200
        (row,) = cloud.rows("LocalDeployments", id=store)
        left.append(row.pending_transactions)
    assert left == [1, 1]
    assert cloud.post("heartbeat", beat | {"pendingTransactions": 1}).status_code == 200
    assert cloud.send(sale(fresh()), sale(fresh())).status_code == 200  # two, as one was sold since the heartbeat
    (row,) = cloud.rows("LocalDeployments", id=store)
    assert row.pending_transactions == 0


def test_a_portion_sent_on_four_connections_at_once_is_stored_once(cloud: Cloud) -> None:
    sales = [sale(fresh()) for _ in range(6)]
    cloud.token("store")
    with ThreadPoolExecutor(4) as pool:
        told = [one for answer in pool.map(lambda _: cloud.results(*sales), range(4)) for one in answer]
    assert (told.count(ACCEPTED), told.count(DUPLICATE)) == (6, 18)
    names = {one.transaction_id for one in sales}
    assert len([row for row in cloud.rows("BudgetConsumptions") if row.transaction_id in names]) == 6


def test_another_sale_with_the_same_id_is_refused(cloud: Cloud) -> None:
    name = fresh()
    assert cloud.results(sale(name)) == [ACCEPTED]
    later = sale(name)
    later = msgspec.structs.replace(later, confirmed_at=later.confirmed_at + timedelta(hours=1))
    assert cloud.results(later) == [("rejected", "CONFIRM_MISMATCH")]
    counted = msgspec.structs.replace(sale(name), transaction_counter=2)
    assert cloud.results(counted) == [("rejected", "TRANSACTION_ALREADY_CONFIRMED")]


def test_no_more_is_booked_than_was_granted(cloud: Cloud) -> None:
    name = fresh()
    promised = SoldCommand([SoldPromotion(named(OWN, "promotion"), amount=Decimal(900))], "f" * 64)
    assert cloud.results(msgspec.structs.replace(sale(name), confirm=promised)) == [ACCEPTED]
    (booked,) = cloud.rows("BudgetConsumptions", transaction_id=name)
    assert booked.amount == 2
    for amount in ("-1", "NaN", "Infinity", "1e400"):
        document = json.loads(msgspec.json.encode(sale(fresh())))
        document["confirm"]["promotions"][0]["amount"] = amount
        assert cloud.results(document) == [("rejected", "INVALID_AMOUNT")]


def test_only_stores_may_send(cloud: Cloud) -> None:
    body = {"deploymentId": named(OWN, "store"), "transactions": []}
    assert cloud.post("transactions", body, client=None).status_code == 401
    assert cloud.post("transactions", body, client="everything").status_code == 403
    assert cloud.get("transactions").status_code == 405
    assert cloud.post("transactions", body).json() == {"results": [], "coupons": [], "cancellations": []}


def test_a_store_of_another_tenant_is_as_unknown_as_one_that_is_not(cloud: Cloud) -> None:
    for deployment_id in (named(OTHER, "store"), str(uuid.uuid4())):
        answer = cloud.send(sale(fresh()), deploymentId=deployment_id)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "DEPLOYMENT_NOT_FOUND"


def test_nobody_waits_in_the_name_of_a_store_that_there_is_not(cloud: Cloud) -> None:
    told = []
    for deployment_id in (str(uuid.uuid4()), named(OTHER, "store"), named(OWN, "store")):
        address = f"/sync/transactions?deploymentId={deployment_id}"
        headers = {"Authorization": f"Bearer {cloud.token('store')}"}
        told.append(cloud.http.post(address, content=b"this is read later", headers=headers).status_code)
    assert told == [404, 404, 400]


def test_an_upload_never_touches_rows_of_another_tenant(cloud: Cloud) -> None:
    before = foreign(cloud)
    name = fresh()
    assert cloud.results(sale(name, OTHER)) == [ACCEPTED]  # the sale happened; the budget is not this tenant's
    assert cloud.rows("BudgetConsumptions", transaction_id=name) == []
    assert cloud.results(with_coupon(sale(fresh()), OTHER)) == [("rejected", "COUPON_ALREADY_CLAIMED")]
    event = {
        "logId": str(uuid.uuid4()),
        "action": "REDEEMED",
        "couponTypeId": named(OTHER, "type"),
        "couponId": named(OTHER, "code"),
        "transactionId": fresh(),
        "occurredAt": "2026-11-01T12:00:00Z",
    }
    answer = cloud.send(coupons=[event, {**event, "logId": str(uuid.uuid4()), "action": "ISSUED"}])
    told = [(one["status"], one["reason"]) for one in answer.json()["coupons"]]
    assert told == [("rejected", "COUPON_TYPE_NOT_FOUND"), ("rejected", "COUPON_NOT_HELD")]
    assert foreign(cloud) == before
    assert OTHER not in answer.text


def foreign(cloud: Cloud) -> list[Any]:
    """Return everything that the other tenant has."""
    sets = ("Budgets", "Promotions", "CouponTypes", "CouponCodes", "coupon_usage", "promotion_usage", "RedemptionLogs")
    return [[tuple(row) for row in cloud.rows(name, OTHER)] for name in (*sets, "CalculationLogs", "outbox_events")]


def with_coupon(upload: UploadedSale, tenant: str) -> UploadedSale:
    """Return the same sale, triggered by a tenant's coupon."""
    code = f"CODE-{tenant}"
    request, result = upload.request, upload.result
    fact = CouponFact(code, named(tenant, "type"), "T", named(tenant, "code"))
    return msgspec.structs.replace(
        upload,
        request=msgspec.structs.replace(
            request, basket=replace(request.basket, coupons=(code,)), facts=replace(request.facts, coupons=(fact,))
        ),
        result=replace(result, applied=(replace(result.applied[0], coupon_code=code),)),
    )


def test_an_upload_whose_coupon_contradicts_itself_is_rejected(cloud: Cloud) -> None:
    upload = with_coupon(sale(fresh()), OWN)
    document = json.loads(msgspec.json.encode(upload))
    document["request"]["facts"]["coupons"][0]["coupon_type_id"] = str(uuid.uuid4())
    assert cloud.results(document) == [("rejected", "COUPON_MISMATCH")]
    document["request"]["facts"]["coupons"][0].update(coupon_type_id=named(OWN, "type"), coupon_id=None)
    assert cloud.results(document) == [("rejected", "COUPON_MISMATCH")]


@pytest.mark.parametrize("days", [-3000, 3000])
def test_sales_with_wrong_clocks_are_accepted(cloud: Cloud, days: int) -> None:
    name = fresh()
    upload = sale(name)
    at = upload.confirmed_at + timedelta(days=days)
    assert cloud.results(msgspec.structs.replace(upload, confirmed_at=at)) == [ACCEPTED]
    (log,) = cloud.rows("CalculationLogs", transaction_id=name)
    assert log.confirmed_at == at if days < 0 else log.confirmed_at <= datetime.now(UTC)


def test_ten_megabytes_are_read_while_tills_go_on(cloud: Cloud) -> None:
    large = sale(fresh(), lines=4_000)
    junk = {"transactionId": "junk", "request": {"basket": [[0] * 1000] * 50}}
    cloud.token("everything")
    with ThreadPoolExecutor(2) as pool:
        sending = [pool.submit(cloud.results, large), pool.submit(cloud.results, *[junk] * 60)]
        while not all(one.done() for one in sending):
            assert cloud.http.get("/health").status_code == 200
    assert sending[0].result() == [ACCEPTED]
    assert sending[1].result() == [("rejected", "SALE_MALFORMED")] * 60
    too_long = b'{"deploymentId": "%s"' % named(OWN, "store").encode() + b" " * 10 * 2**20
    assert cloud.post("transactions", too_long + b"}").status_code == 413

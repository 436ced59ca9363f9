"""A customer's points as the back office reads them."""

from __future__ import annotations

import uuid
from typing import Any

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.sales.loyalty import PointsRow, book_points
from tests.web.conftest import OPENED, PROMOTION_ID, TENANT, Shop, run

LATEST = "/admin/LoyaltyTransactions?$filter=customerId eq '{}'&$orderby=awardedAt desc&$top=1"


def book(shop: Shop, customer: str, transaction: str, *points: tuple[str | None, int]) -> None:
    """Book points as a worker does: all at the same instant."""

    async def work(session: Session) -> None:
        rows = [PointsRow(str(uuid.uuid4()), promotion, number) for promotion, number in points]
        await book_points(
            session, customer, rows, origin="cloud", transaction_id=transaction, transaction_counter=1, at=OPENED
        )

    async def opened() -> None:
        database = await open_database(shop.database_url)
        try:
            await database.write(work, tenant=TENANT)
        finally:
            await database.close()

    run(opened())


def latest(shop: Shop, customer: str) -> list[dict[str, Any]]:
    answer = shop.call(LATEST.format(customer), client="administrator")
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["value"]
    return rows


def test_the_latest_booking_of_a_customer_has_the_balance(shop: Shop) -> None:
    assert latest(shop, "L-1") == []
    for number in range(1, 4):
        book(shop, "L-1", f"loyal-{number}", (None, 5), (PROMOTION_ID, 7))
        book(shop, "L-2", f"loyal-other-{number}", (None, 1))
        (row,) = latest(shop, "L-1")
        assert (row["balanceAfter"], row["points"], row["promotion_ID"]) == (12 * number, 7, PROMOTION_ID)
    book(shop, "L-1", "loyal-back", (None, -40))
    (row,) = latest(shop, "L-1")
    assert (row["points"], row["balanceAfter"], row["transactionId"]) == (-40, -4, "loyal-back")


def test_loyalty_points_are_read_only_in_the_administration(shop: Shop) -> None:
    book(shop, "L-3", "loyal-read", (None, 5))
    (row,) = latest(shop, "L-3")
    headers = {name: f"Bearer {shop.token(name)}" for name in ("administrator", "planner", "till")}
    address = f"/admin/LoyaltyTransactions({row['ID']})"
    assert shop.http.get(address, headers={"authorization": headers["planner"]}).status_code == 200
    assert shop.http.get(address, headers={"authorization": headers["till"]}).status_code == 403
    for method in ("PATCH", "DELETE"):
        answer = shop.http.request(
            method, address, json={"points": 1}, headers={"authorization": headers["administrator"]}
        )
        assert answer.status_code in {403, 405}, answer.text
    assert latest(shop, "L-3") == [row]


def test_loyalty_points_are_read_only_in_the_public_api(shop: Shop) -> None:
    book(shop, "L-4", "loyal-public", (None, 5))
    address = "/api/v1/LoyaltyTransactions"
    found = shop.call(f"{address}?$filter=customerId eq 'L-4'", client="planner").json()["value"]
    assert [(row["points"], row["balanceAfter"]) for row in found] == [(5, 5)]
    refused = shop.call(address, {"customerId": "L-4", "points": 1}, client="planner")
    assert refused.status_code in {403, 405}
    assert shop.call(address, client="till").status_code == 403

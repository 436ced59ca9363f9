"""Running means running now: what begins later is scheduled, and what is over has ended."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop
from tests.ui.test_everywhere import judge

DAY = timedelta(days=1)


def active(shop: Shop, name: str, **fields: Any) -> str:
    """Create an active promotion; return its ID."""
    with shop.http() as http:
        made = http.post("/admin/Promotions", json={"name": name, "IsActiveEntity": True, **fields})
        assert made.status_code == 201, made.text
        key = str(made.json()["ID"])
        rule = {"promotion_ID": key, "actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 1}
        assert http.post("/admin/DiscountActions", json=rule).status_code == 201
        moved = http.post(f"/admin/Promotions(ID={key},IsActiveEntity=true)/activate", json={})
        assert moved.status_code == 200, moved.text
    return key


def shown(page: Page, status: str, *names: str) -> None:
    """Choose a state and expect these promotions, each with that state as its badge."""
    page.get_by_role("tab", name=re.compile(rf"^{status}\b")).click()
    rows = page.locator("#promenade---promotions--table td a.sapMLnk:visible")
    expect(rows).to_have_text(list(names))
    expect(page.locator("#promenade---promotions--table td .sapMObjStatusText:visible")).to_have_text(
        [status] * len(names)
    )


def running(shop: Shop, now: datetime) -> int:
    """Return how many promotions run now: active, within their own time and within that of their campaign."""
    query = "$filter=IsActiveEntity eq true and status eq 'ACTIVE'&$expand=campaign&$top=1000"
    with shop.http() as http:
        rows = http.get(f"/admin/Promotions?{query}").json()["value"]
    moment = now.isoformat()

    def runs(begin: str | None, end: str | None) -> bool:
        return (begin is None or begin <= moment) and (end is None or end > moment)

    return sum(
        runs(row["validFrom"], row["validTo"])
        and ((campaign := row["campaign"]) is None or runs(campaign["startAt"], campaign["endAt"]))
        and (campaign is None or campaign["status"] != "CANCELLED")
        for row in rows
    )


def test_running_scheduled_and_ended_are_states_of_the_list(either_desk: Desk) -> None:
    desk, mark, now = either_desk, uuid4().hex[:8], datetime.now(UTC)
    window = {"startAt": (now - 9 * DAY).isoformat(), "endAt": (now - 5 * DAY).isoformat()}
    with desk.shop.http() as http:
        over = http.post("/admin/Campaigns", json={"code": mark, "name": mark, "IsActiveEntity": True, **window})
    assert over.status_code == 201, over.text
    active(desk.shop, f"{mark} now", validFrom=(now - DAY).isoformat(), validTo=(now + DAY).isoformat())
    active(desk.shop, f"{mark} always")
    active(desk.shop, f"{mark} later", validFrom=(now + DAY).isoformat())
    active(desk.shop, f"{mark} past", campaign_ID=over.json()["ID"])

    page = desk.sit(address=f"promotions?search={mark}&sort=name")
    shown(page, "Running", f"{mark} always", f"{mark} now")
    page.wait_for_url("**status=RUNNING**")
    shown(page, "Scheduled", f"{mark} later")
    shown(page, "Ended", f"{mark} past")
    assert not judge(page)
    for tab in ("All (4)", "Running (2)", "Scheduled (1)", "Ended (1)"):
        expect(page.get_by_role("tab", name=tab)).to_have_count(1)

    page.locator("#promenade---shell--navigation").get_by_text("Overview", exact=True).click()
    figure = page.locator("#promenade---home--running .promFigureValue")
    expect(figure).to_have_text(re.compile(r"^\d+$"))
    count = running(desk.shop, now)
    expect(figure).to_have_text(str(count))
    figure.click()
    page.get_by_role("tab", name=f"Running ({count})").wait_for()

"""Background work is followed wherever it is shown, to its end, without anybody asking again."""

from __future__ import annotations

import re
from uuid import uuid4

from playwright.sync_api import expect

from tests.ui.desk import Desk

QUANTITY = 20_000


def test_a_list_of_batches_follows_the_one_that_another_tab_has_begun(desk: Desk) -> None:
    mark = uuid4().hex[:8]
    body = {"code": mark, "name": mark, "status": "ACTIVE", "IsActiveEntity": True}
    with desk.shop.http() as http:
        key = http.post("/admin/CouponTypes", json=body).json()["ID"]
    one = desk.sit(address=f"object/CouponTypes/{key}")
    one.get_by_text("No batch of codes has been made here yet.").wait_for()
    two = desk.tab(one, address="list/CouponCodeBatches")
    heading = two.get_by_role("heading", level=1, name=re.compile(r"\(\d+\)"))
    before = int(re.findall(r"\d+", heading.inner_text())[-1])
    one.get_by_role("button", name="Generate Codes").click()
    dialog = one.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(str(QUANTITY))
    dialog.get_by_role("button", name="Generate codes").click()
    expect(heading).to_contain_text(f"({before + 1})")
    expect(one.get_by_text("Done", exact=True)).to_be_visible()
    row = two.get_by_role("row").filter(has=two.get_by_text(re.compile(r"^20[.,]?000$"))).first
    expect(row).to_contain_text("Completed", ignore_case=True)

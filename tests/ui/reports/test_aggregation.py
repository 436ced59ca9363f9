"""UI5's own aggregation over the reports: grand totals and groups that open, with the model that the product ships."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

from tests.ui.desk import Desk
from tests.ui.reports.pages import Reports

# Reads a report as a table with groups does: the first page, then what the first group opens to.
READ = """({token, set, currency, aggregation}) => new Promise((resolve, reject) => {
  sap.ui.require(["sap/ui/model/Filter", "sap/ui/model/odata/v4/ODataModel"], async (Filter, ODataModel) => {
    try {
      const httpHeaders = {Authorization: `Bearer ${token}`};
      const model = new ODataModel({serviceUrl: "/reporting/", operationMode: "Server", httpHeaders});
      const filters = currency ? [new Filter("currency", "EQ", currency)] : [];
      const list = model.bindList(`/${set}`, undefined, [], filters, {$$aggregation: aggregation, $count: true});
      const contexts = await list.requestContexts(0, 1000);
      const closed = contexts.map((one) => one.getObject());
      const group = contexts.find((one) => one.isExpanded() === false);
      await group.expand();
      const open = (await list.requestContexts(0, 1000)).map((one) => one.getObject());
      resolve({closed, group: group.getObject(), open});
    } catch (error) {
      reject(error);
    }
  });
})"""
LEVEL, IS_TOTAL = "@$ui5.node.level", "@$ui5.node.isTotal"


def _read(desk: Desk, report: str, currency: str, **aggregation: Any) -> Any:
    page = desk.sit(address="reports/performance")
    arguments = {"token": desk.shop.token("administrator"), "set": report, "currency": currency}
    return page.evaluate(READ, {**arguments, "aggregation": aggregation})


def _every_row(reports: Reports, **options: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while page := reports.rows("PromotionUsageByDay", skip=str(len(rows)), **options):
        rows += page
    return rows


def _sums(rows: list[dict[str, Any]], by: str, of: str) -> dict[str, Decimal]:
    found: Counter[str] = Counter()
    for row in rows:
        found[row[by]] += Decimal(str(row[of]))  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def test_the_days_of_promotions_have_totals_that_add_up(desk: Desk, reports: Reports) -> None:
    rows = _every_row(reports, filter="currency eq 'EUR'")
    discounts, applied = (_sums(rows, "promotionName", of) for of in ("totalDiscount", "applications"))
    assert len(discounts) > 5
    total = {"grandTotal": True, "subtotals": True}
    found = _read(
        desk,
        "PromotionUsageByDay",
        "EUR",
        aggregate={"totalDiscount": {**total, "unit": "currency"}, "applications": total},
        group={"day": {}, "promotionName": {}},
        groupLevels=["promotionName"],
    )
    grand, *groups = found["closed"]
    assert grand[IS_TOTAL]
    assert (Decimal(grand["totalDiscount"]), grand["currency"]) == (sum(discounts.values()), "EUR")
    assert int(grand["applications"]) == sum(applied.values())
    assert {one["promotionName"]: Decimal(one["totalDiscount"]) for one in groups} == discounts
    assert {one["promotionName"]: int(one["applications"]) for one in groups} == applied
    assert {one["currency"] for one in groups} == {"EUR"}
    leaves = [one for one in found["open"] if one[LEVEL] == 2]
    own = [row for row in rows if row["promotionName"] == found["group"]["promotionName"]]
    assert {one["day"]: Decimal(one["totalDiscount"]) for one in leaves} == _sums(own, "day", "totalDiscount")


def test_amounts_of_several_currencies_have_no_total_and_counts_have(desk: Desk, reports: Reports) -> None:
    rows = _every_row(reports)
    currencies = {row["currency"] for row in rows}
    assert len(currencies) > 1
    found = _read(
        desk,
        "PromotionUsageByDay",
        "",
        aggregate={
            "totalDiscount": {"grandTotal": True, "subtotals": True, "unit": "currency"},
            "applications": {"grandTotal": True, "subtotals": True},
        },
        group={"currency": {}, "promotionName": {}},
        groupLevels=["currency"],
    )
    grand, *groups = found["closed"]
    assert (grand["totalDiscount"], grand["currency"]) == (None, None)
    assert int(grand["applications"]) == sum(row["applications"] for row in rows)
    by_currency = {one["currency"]: Decimal(one["totalDiscount"]) for one in groups}
    assert by_currency == _sums(rows, "currency", "totalDiscount")

"""What holds for every reporting collection: who may read it, how it is queried, and whose rows it contains."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote

from odata_server.edm import Primitive, Property
from odata_server.sql.units import unit_path
from promenade import model
from promenade.model.declare import REPORTING
from promenade.model.edm import edm_for
from tests.contract.made_up import identity
from tests.web.reports.conftest import ODATA, OTHER, OWN, ROLES, Reporting, fault
from tests.web.reports.made_up import ROWS

EDM = edm_for(REPORTING)
REPORTS = tuple(name for name in EDM.entity_sets if name not in model.code_lists())
SPECIFIED = (
    "PromotionPerformance", "StakeholderCostBreakdown", "BudgetUtilization", "CouponAnalytics", "ABTestResults",
    "PromotionUsageByDay", "PromotionUsageByHour", "PromotionUsageByDayOfWeek", "PromotionDiscountDistribution",
    "PromotionTopPosGroups", "PromotionTopArticles", "ThresholdGapROI", "NearMissROI", "SavingsSummaryROI",
    "ProgressiveNudgesROI", "ABTestROI", "AggregatorRuns", "DailyThresholdGapAggregates", "DailyNearMissAggregates",
    "DailySavingsSummaryAggregates", "DailyNudgesAggregates", "DailyABTestAggregates", "DailyFreeItemAggregates",
    "PromotionUpliftAnalysis", "PromotionPostMortemTopStores", "PromotionPostMortemTopArticles", "PromotionHourOfDay",
    "PromotionAbComparison", "PilotComparisonReports", "CalculationLogs", "PromotionUpliftByCurrency",
    "PromotionPerformanceByCurrency", "ABTestResultsByCurrency", "PromotionUsageByDayAndHour",
)  # fmt: skip
FIELDS = {
    "PromotionPerformance": "promotionId promotionName promotionStatus promotionType applicationsCount "
    "totalDiscountGiven avgDiscountPerTx firstAppliedAt lastAppliedAt",
    "StakeholderCostBreakdown": "stakeholderId budgetId stakeholderName stakeholderType budgetName sharePercentage "
    "totalBudgetCost stakeholderCost contributionsTotal netBalance linkedPromotions",
    "BudgetUtilization": "budgetId budgetName status totalAmount consumedAmount remainingAmount currency "
    "utilizationPct dailyBurnRate projectedExhaustion transactionCount linkedPromotions",
    "CouponAnalytics": "couponTypeId couponTypeName totalIssued totalActive totalReserved totalRedeemed totalExpired "
    "totalCancelled redemptionRate",
    "ABTestResults": "promotionId promotionName controlAvgBasket experimentAvgBasket revenueUplift revenueTStatistic "
    "revenuePValue revenueIsSignificant controlConversionRate experimentConversionRate uplift chiSquared pValue "
    "isSignificant",
}
"""As the specification lists them."""
UNQUOTED = {
    Primitive.GUID, Primitive.BOOLEAN, Primitive.INT32, Primitive.INT64, Primitive.DECIMAL, Primitive.DATE,
    Primitive.DATE_TIME_OFFSET, Primitive.TIME_OF_DAY, Primitive.DOUBLE,
}  # fmt: skip
NUMBERS = {Primitive.DECIMAL, Primitive.INT32, Primitive.INT64}
CODE_LISTS = ("PromotionStatuses", "BudgetStatuses")  # of all existing codes, the same for every tenant
NOBODY = "99999999-9999-4999-8999-999999999999"


def properties(name: str) -> tuple[Property, ...]:
    """Return the properties that can be filtered and sorted by."""
    found = EDM.entity_types[EDM.entity_sets[name].entity_type].properties
    return tuple(one for one in found if one.filterable and not one.write_only and not one.collection)


def literal(one: Property, given: Any) -> str:
    """Return a value as a URL literal."""
    if given is None:
        return "null"
    if isinstance(given, bool):
        return str(given).lower()
    text = str(given) if one.type in UNQUOTED else "'" + str(given).replace("'", "''") + "'"
    return quote(text, safe="")


def key_of(name: str, row: dict[str, Any] | None = None) -> str:
    """Return the key of a row in parentheses; without a row, a key that does not exist."""
    type_ = EDM.entity_types[EDM.entity_sets[name].entity_type]
    made_up: dict[Any, Any] = {
        Primitive.GUID: NOBODY, Primitive.DATE: "1999-01-01", Primitive.STRING: "XXX", Primitive.INT32: 77,
        Primitive.INT64: 77, Primitive.DECIMAL: 77,
    }  # fmt: skip
    parts = []
    for key in type_.key:
        one = type_.property_by_name[key]
        parts.append(f"{key}={literal(one, made_up[one.type] if row is None else row[key])}")
    return f"({','.join(parts)})"


def rows_of(reporting: Reporting, name: str, **how: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = reporting.read(name, **how)["value"]
    return found


def test_every_entity_of_the_specification_is_there(reporting: Reporting) -> None:
    document = reporting.read("")
    assert set(SPECIFIED) <= {one["name"] for one in document["value"]}
    for name, fields in FIELDS.items():
        named = [one.name for one in EDM.entity_types[name].properties]
        assert named[: len(fields.split())] == fields.split(), name


def test_a_report_is_read_as_odata_4_0_with_its_count(reporting: Reporting) -> None:
    for name in EDM.entity_sets:
        answer = reporting.get(f"{name}?$top=2&$count=true")
        assert answer.status_code == 200, (name, answer.text)
        assert answer.headers["odata-version"] == "4.0"
        page = answer.json()
        assert page["@odata.context"].endswith(f"/reporting/$metadata#{name}")
        assert page["@odata.count"] >= len(page["value"]) <= 2
        assert int(reporting.get(f"{name}/$count").text) == page["@odata.count"]
    page = reporting.read("AggregatorRuns?$count=true", OData_MaxVersion="4.01")
    assert page["@count"] == ROWS


def test_sample_rows_appear_in_their_reports(reporting: Reporting) -> None:
    """Make sure that the tests below have data: each stored report has all made-up rows, all of the tenant."""
    for name in REPORTS:
        if model.entity(name).stored:
            assert len(rows_of(reporting, name)) == ROWS, name
            assert len(rows_of(reporting, name, client="stranger")) == ROWS, name


def test_a_row_is_read_by_its_key(reporting: Reporting) -> None:
    for name in REPORTS:
        for row in rows_of(reporting, f"{name}?$top=1"):
            alone = reporting.read(f"{name}{key_of(name, row)}")
            assert {key: value for key, value in alone.items() if key != "@odata.context"} == row, name
        assert fault(reporting.get(f"{name}{key_of(name)}"))[:2] == (404, "NOT_FOUND"), name


def test_every_property_can_be_filtered(reporting: Reporting) -> None:
    asked: list[tuple[str, Property, Any]] = []
    everything = dict(zip(REPORTS, reporting.many(REPORTS), strict=True))
    for name in REPORTS:
        asked += [(name, one, everything[name][0][one.name]) for one in properties(name) if everything[name]]
    found = reporting.many([f"{name}?$filter={one.name}%20eq%20{literal(one, given)}" for name, one, given in asked])
    for (name, one, given), rows in zip(asked, found, strict=True):
        assert rows == [row for row in everything[name] if row[one.name] == given], (name, one.name, given)


def test_every_property_can_be_ordered_by_and_selected(reporting: Reporting) -> None:
    asked = [(name, one) for name in REPORTS for one in properties(name)]
    paths = [f"{name}?$orderby={one.name}%20desc&$select={one.name}" for name, one in asked]
    for (name, one), rows in zip(asked, reporting.many(paths), strict=True):
        known = [_sortable(row[one.name]) for row in rows if row[one.name] is not None]
        assert known == sorted(known, reverse=True), (name, one.name)


def _sortable(given: Any) -> Any:
    return given.encode() if isinstance(given, str) else given


def test_pages_have_the_requested_size(reporting: Reporting) -> None:
    for name in REPORTS:
        everything = rows_of(reporting, name)
        assert rows_of(reporting, f"{name}?$top=1&$skip=1") == everything[1:2], name
        assert rows_of(reporting, f"{name}?$top=0") == []
        pages = reporting.read(name, Prefer="maxpagesize=2")
        assert pages["value"] == everything[:2]
        assert ("@odata.nextLink" in pages) == (len(everything) > 2), name


def test_every_report_can_be_grouped_and_totalled(reporting: Reporting) -> None:
    everything = dict(zip(REPORTS, reporting.many(REPORTS), strict=True))
    for name, counted in zip(
        REPORTS, reporting.many([f"{name}?$apply=aggregate($count as n)" for name in REPORTS]), strict=True
    ):
        assert [row["n"] for row in counted] == [len(everything[name])], name
    asked = [(name, one) for name in REPORTS for one in properties(name)]
    paths = [f"{name}?$apply=groupby(({one.name}),aggregate($count as n))" for name, one in asked]
    for (name, one), groups in zip(asked, reporting.many(paths), strict=True):
        assert sum(group["n"] for group in groups) == len(everything[name]), (name, one.name)
        assert len(groups) == len({str(row[one.name]) for row in everything[name]}), (name, one.name)
    asked = [(name, one) for name, one in asked if one.type in NUMBERS and everything[name]]
    paths = [f"{name}?$apply={totalled(one)}" for name, one in asked]
    for (name, one), totals in zip(asked, reporting.many(paths), strict=True):
        values = [Decimal(str(row[one.name])) for row in everything[name] if row[one.name] is not None]
        assert sum(Decimal(str(row["total"] or 0)) for row in totals) == sum(values), (name, one.name)


def test_a_custom_aggregate_is_the_total_unless_currencies_differ(reporting: Reporting) -> None:
    asked = [(name, one) for name in REPORTS for one in properties(name) if one.aggregate == "sum"]
    assert len({name for name, _ in asked}) > 10
    everything = dict(zip(REPORTS, reporting.many(REPORTS), strict=True))
    found = reporting.many([f"{name}?$apply=aggregate({one.name})" for name, one in asked])
    for (name, one), [total] in zip(asked, found, strict=True):
        rows, value = everything[name], total[one.name]
        unit = unit_path(one)
        if unit is not None and len({row[unit[0]] for row in rows}) != 1:
            assert value is None, (name, one.name)
        else:
            values = [Decimal(str(row[one.name])) for row in rows]
            assert (value if value is None else Decimal(str(value))) == (sum(values) if rows else None), (
                name,
                one.name,
            )
    twice = {("PromotionUsageByDay", "transactions"), ("PromotionTopArticles", "applications")}
    assert not twice & {(name, one.name) for name, one in asked}  # a sale may be in several of their rows


def totalled(one: Property) -> str:
    """Return what adds up a property: an amount for each currency."""
    total, currency = f"aggregate({one.name} with sum as total)", unit_path(one)
    return total if currency is None else f"groupby(({'/'.join(currency)}),{total})"


def test_every_navigation_can_be_expanded(reporting: Reporting) -> None:
    for name in REPORTS:
        assert reporting.get(f"{name}?$expand=*&$top=1").status_code == 200, name


def test_the_audit_trail_is_read_by_key_with_its_lines_and_promotions(reporting: Reporting) -> None:
    key = identity(OWN, "CalculationLogs", 2)
    log = reporting.read(f"CalculationLogs({key})?$expand=items,promotions")
    for name, target in (("items", "CalculationLogItems"), ("promotions", "CalculationLogPromotions")):
        walked = rows_of(reporting, f"CalculationLogs({key})/{name}")
        assert [row["ID"] for row in walked] == [identity(OWN, target, 2)]
        assert log[name] == walked
    found = rows_of(reporting, f"CalculationLogs?$filter=items/any(i:i/ID eq {log['items'][0]['ID']})")
    assert [row["ID"] for row in found] == [key]


# ---- who ----------------------------------------------------------------------------------------------------------


def test_each_of_the_three_roles_reads_everything(reporting: Reporting) -> None:
    for name in ("", "$metadata", *REPORTS, *CODE_LISTS):
        for client in ROLES:
            assert reporting.get(name, client=client).status_code == 200, (name, client)


def test_other_scopes_are_refused(reporting: Reporting) -> None:
    for client in ("till", "integrator", "store"):
        for path in ("", "$metadata", *REPORTS, *CODE_LISTS):
            assert fault(reporting.get(path, client=client))[:2] == (403, "MISSING_SCOPE"), (client, path)
    for path in ("", *REPORTS, *CODE_LISTS):
        answer = reporting.get(path, client=None)
        assert fault(answer)[:2] == (401, "UNAUTHORIZED")
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_reports_are_read_only(reporting: Reporting) -> None:
    for name in (*REPORTS, *CODE_LISTS):
        key = "('NOTHING')" if name in model.code_lists() else key_of(name)
        for method, path in (("POST", name), ("PATCH", name + key), ("PUT", name + key), ("DELETE", name + key)):
            body: Any = None if method == "DELETE" else {}
            answer = reporting.call(method, path, body, client="admin")
            assert (fault(answer)[:2], answer.headers["allow"]) == ((405, "READ_ONLY"), "GET"), (method, name)
            answer = reporting.call(method, path, body, client="admin", **ODATA)
            assert fault(answer)[:2] == (403, "READ_ONLY"), (method, name)


def test_reports_of_another_tenant_are_not_there(reporting: Reporting) -> None:
    for name in REPORTS:
        own, theirs = rows_of(reporting, name), rows_of(reporting, name, client="stranger")
        ids = {OWN: _ids(own), OTHER: _ids(theirs)}
        assert not ids[OWN] & ids[OTHER], name
        type_ = EDM.entity_types[name]
        for row in theirs:
            identified = any(type_.property_by_name[key].type is Primitive.GUID for key in type_.key)
            assert not identified or fault(reporting.get(f"{name}{key_of(name, row)}"))[0] == 404, name
        named = [one.name for one in properties(name) if one.type is Primitive.GUID]
        paths = [f"{name}?$filter={one} eq {theirs[0][one]}" for one in named if theirs and theirs[0][one] is not None]
        assert not any(reporting.many(paths)), name


def _ids(rows: list[dict[str, Any]]) -> set[str]:
    return {given for row in rows for given in row.values() if isinstance(given, str) and given.count("-") == 4}


def test_a_batch_is_read_and_writes_nothing(reporting: Reporting) -> None:
    requests = [
        {"id": "1", "method": "get", "url": "AggregatorRuns?$count=true"},
        {"id": "2", "method": "post", "url": "AggregatorRuns", "headers": {"content-type": "application/json"},
         "body": {}},
        {"id": "3", "method": "post", "url": "exportCsv", "headers": {"content-type": "application/json"},
         "body": {"reportType": "couponAnalytics", "dateFrom": "2026-03-01T00:00:00Z",
                  "dateTo": "2026-03-02T00:00:00Z"}},
    ]  # fmt: skip
    answer = reporting.post("$batch", {"requests": requests}, Prefer="continue-on-error")
    read, written, exported = answer.json()["responses"]
    assert (read["status"], read["body"]["@odata.count"]) == (200, ROWS)
    assert (written["status"], written["body"]["error"]["code"]) == (403, "READ_ONLY")
    assert (exported["status"], exported["body"]["error"]["code"]) == (501, "NOT_IMPLEMENTED")

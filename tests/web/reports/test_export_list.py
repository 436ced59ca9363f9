"""Lists of reporting are streamed as files for spreadsheets, as those of administration are."""

from __future__ import annotations

import csv
import io

from tests.web.reports.conftest import Reporting

COLUMNS = [{"path": "promotionName", "label": "Promotion"}, {"path": "totalDiscountGiven", "label": "Discount"}]


def test_a_filtered_list_is_a_file_for_the_region(reporting: Reporting) -> None:
    wanted = reporting.read("PromotionPerformance?$filter=applicationsCount ge 1&$orderby=promotionId desc&$top=1")
    row = wanted["value"][0]
    order = {
        "url": f"PromotionPerformance?$filter=promotionId eq {row['promotionId']}&$orderby=promotionId",
        "columns": COLUMNS,
        "separator": ";",
        "decimal": ",",
    }
    answer = reporting.post("exportList", order)
    assert answer.status_code == 200, answer.text
    assert answer.content.startswith("\ufeff".encode())
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")), delimiter=";"))
    assert [one["Promotion"] for one in rows] == [row["promotionName"]]
    assert float(rows[0]["Discount"].replace(",", ".")) == row["totalDiscountGiven"]


def test_a_file_has_the_rows_of_its_caller_alone_and_needs_a_role(reporting: Reporting) -> None:
    order = {"url": "PromotionPerformance", "columns": [{"path": "promotionId", "label": "ID"}]}
    of_both = {}
    for client in ("treasurer", "stranger"):
        answer = reporting.post("exportList", order, client=client)
        own = {row["promotionId"] for row in reporting.read("PromotionPerformance", client=client)["value"]}
        of_both[client] = set(answer.content.decode("utf-8-sig").split()[1:])
        assert of_both[client] == own
    assert of_both["treasurer"].isdisjoint(of_both["stranger"])
    assert reporting.post("exportList", order, client="till").status_code == 403
    assert reporting.post("exportList", order | {"url": "Promotions"}).status_code == 400


def test_sums_of_a_report_are_a_file_by_its_address(reporting: Reporting) -> None:
    applied = "groupby((promotionId,currency),aggregate(totalDiscountGiven with sum as total,$count as rows))"
    path = f"PromotionPerformance?$apply={applied}/compute(total mul 2 as twice)&$orderby=promotionId"
    rows = list(csv.DictReader(io.StringIO(reporting.get(f"{path}&$format=csv").content.decode("utf-8-sig"))))
    wanted = reporting.read(path)["value"]
    assert wanted
    assert list(rows[0]) == ["promotionId", "currency", "total", "rows", "twice"]
    assert [(one["promotionId"], float(one["total"]), int(one["rows"])) for one in rows] == [
        (one["promotionId"], one["total"], one["rows"]) for one in wanted
    ]
    other = f"{path.partition('?')[0]}?$apply=concat(aggregate($count as rows),identity)&$format=csv"
    assert reporting.get(other).json()["error"]["code"] == "CONCAT_NOT_FLAT"

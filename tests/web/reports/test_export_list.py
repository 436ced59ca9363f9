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

"""Tools that read: each answers what the interfaces know, to whom they tell it, and not more than a result may hold."""

from __future__ import annotations

import json

import pytest

from promenade.web.agents import reading
from promenade.web.agents.tool import schema_of
from promenade.web.agents.tools import TOOLS
from tests.web.agents.conftest import Agents
from tests.web.services.admin_actions.test_moves import ten_off


def test_an_agent_is_told_for_whom_it_works(agents: Agents) -> None:
    me = agents.use("who_am_i")
    assert (me["user"], me["tenantId"], me["scopes"]) == ("promoter", "acme", ["svc.PromotionManager"])
    assert me["approvalIsBinding"] is False


def test_promotions_are_found_by_their_texts_status_type_and_campaign(agents: Agents) -> None:
    campaign = agents.campaign()
    word = agents.unique("Zebra").replace("-", "")
    one = agents.promotion(client="promoter", name=f"{word} days", code=agents.unique("P"), type="RECEIPT",
                           campaign_ID=campaign["ID"])  # fmt: skip
    other = agents.promotion(client="promoter", name=f"{word} nights")
    both = agents.use("search_promotions", text=word)
    assert [row["ID"] for row in both["promotions"]] == [other["ID"], one["ID"]]
    assert (both["total"], both["more"]) == (2, False)
    first = agents.use("search_promotions", text=word, limit=1)
    assert ([row["ID"] for row in first["promotions"]], first["total"], first["more"]) == ([other["ID"]], 2, True)
    for asked in ({"type": "RECEIPT"}, {"campaign": campaign["code"]}, {"text": f"{word} days"}):
        found = agents.use("search_promotions", **{"text": word, **asked})
        assert [row["ID"] for row in found["promotions"]] == [one["ID"]], asked
    assert agents.use("search_promotions", text=word, status="ACTIVE")["promotions"] == []


def test_words_of_a_search_are_only_words(agents: Agents) -> None:
    for text in ("NOT x", 'a" OR "b', "(", "'"):
        assert agents.use("search_promotions", text=text)["total"] == 0, text
    assert agents.refusal("search_promotions", text='"') == ("INVALID_ARGUMENTS", "text")


def test_a_promotion_is_read_as_the_document_that_export_writes(agents: Agents) -> None:
    made = ten_off(agents, "A-1", client="promoter", name="Ten off A-1", code=agents.unique("P"))
    by_code = agents.use("read_promotion", promotion=made["code"])
    assert by_code["ID"] == made["ID"]
    assert f"code: {made['code']}\nname: Ten off A-1\n" in by_code["document"]
    assert "discountActions:" in by_code["document"]
    assert agents.use("read_promotion", promotion=made["ID"]) == by_code
    assert agents.refusal("read_promotion", promotion="nowhere") == ("NO_SUCH_PROMOTION", "promotion")


def test_a_document_larger_than_a_result_is_refused_whole(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    made = agents.promotion(client="promoter", name="Large", code=agents.unique("P"))
    size = len(agents.use("read_promotion", promotion=made["ID"])["document"])
    monkeypatch.setattr(reading, "RESULT_BYTES_MAX", size - 1)
    assert agents.refusal("read_promotion", promotion=made["ID"])[0] == "DOCUMENT_TOO_LARGE"


def test_reports_are_listed_with_their_fields_and_read_row_by_row(agents: Agents) -> None:
    listed = {one["name"]: one for one in agents.use("list_reports")["reports"]}
    assert "totalDiscountGiven" in listed["PromotionPerformanceByCurrency"]["fields"]
    assert "PromotionStatuses" not in listed
    assert agents.use("read_report", report="PromotionPerformance") == {"rows": [], "more": False}
    refused = agents.refusal("read_report", report="PromotionPerformance", filter="nothing eq 1")
    assert refused[0] == "UNKNOWN_PROPERTY"
    assert agents.refusal("read_report", report="Clients") == ("INVALID_ARGUMENTS", "report")


def test_who_may_not_read_is_refused_by_the_service(agents: Agents) -> None:
    assert agents.refusal("search_promotions", client="till") == ("MISSING_SCOPE", None)
    assert agents.refusal("read_report", client="integrator", report="PromotionPerformance")[0] == "MISSING_SCOPE"


def test_another_tenants_promotions_are_not_there(agents: Agents) -> None:
    made = agents.promotion(client="promoter", name="Our secret", code=agents.unique("P"))
    assert agents.use("search_promotions", client="stranger", text="Our secret")["total"] == 0
    for name in (made["ID"], made["code"]):
        assert agents.refusal("read_promotion", client="stranger", promotion=name)[0] == "NO_SUCH_PROMOTION"


def test_wrong_arguments_are_named(agents: Agents) -> None:
    assert agents.refusal("search_promotions", limit=1000) == ("INVALID_ARGUMENTS", "limit")
    assert agents.refusal("search_promotions", colour="red") == ("INVALID_ARGUMENTS", None)
    assert agents.refusal("read_promotion") == ("INVALID_ARGUMENTS", None)


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_says_what_it_takes_and_returns(name: str) -> None:
    tool = TOOLS[name]
    for schema in (schema_of(tool.arguments), schema_of(tool.result)):
        assert schema["type"] == "object"
        assert json.dumps(schema)
    assert schema_of(tool.arguments)["additionalProperties"] is False

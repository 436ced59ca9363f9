"""Virtual fields of the administration: sentences, colours, shares; over drafts as well."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade import model
from promenade.engine.conditions import condition_codes
from promenade.model.declare import ADMIN
from promenade.model.texts.conditions import CONDITIONS as RULES
from promenade.model.ui.criticality import CRITICALITY
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import draft_table
from promenade.store.driver.session import Database, Session
from promenade.store.odata.services import COMPUTED, columns_of, rows_of
from tests.store.pricing.written import NOW, TENANT, uuid

Rows = dict[str, list[dict[str, Any]]]

PROMOTION, CONDITION = uuid(3), uuid(4)
ARTICLE, GROUP = uuid(6), uuid(7)
MASTER_DATA: Rows = {
    "ArticleGroups": [{"ID": GROUP, "groupId": "10", "name": "Drinks"}],
    "Articles": [{"ID": ARTICLE, "articleNumber": "4711", "name": "Whole milk"}],
}
PROMOTIONS: Rows = {"Promotions": [{"ID": PROMOTION, "name": "P"}]}

CONDITIONS: list[tuple[dict[str, Any], str]] = [
    # The contents of the basket.
    ({"conditionType": "ARTICLE", "articleNumber": "4711"}, "Basket holds article 4711 (Whole milk)"),
    ({"conditionType": "ARTICLE", "article_ID": ARTICLE}, "Basket holds article 4711 (Whole milk)"),
    ({"conditionType": "ARTICLE", "articleNumber": "4712"}, "Basket holds article 4712"),
    ({"conditionType": "ARTICLE", "value": "4711"}, "Basket holds article 4711"),
    ({"conditionType": "ARTICLE"}, "Basket holds article (not given)"),
    (
        {"conditionType": "ARTICLE", "articleNumber": "4711", "minQuantity": Decimal("3.000")},
        "Basket holds at least 3 pieces of article 4711 (Whole milk)",
    ),
    (
        {"conditionType": "ARTICLE", "articleNumber": "8", "minQuantity": Decimal("0.5"), "minAmount": Decimal(20)},
        "Basket holds at least 0.5 pieces of article 8 worth at least 20.00",
    ),
    (
        {"conditionType": "ARTICLE", "operator": "STARTS_WITH", "value": "47", "minQuantity": Decimal(1)},
        "Basket holds at least 1 piece of articles whose number starts with 47",
    ),
    (
        {"conditionType": "ARTICLE_LIST", "articles": ["A1", "A2"], "eans": ["4000001"]},
        "Basket holds any of the articles 4000001, A1, A2",
    ),
    (
        {"conditionType": "ARTICLE_LIST", "articles": [f"A{n}" for n in range(10, 18)], "minAmount": Decimal("9.90")},
        "Basket holds any of the articles A10, A11, A12, A13, A14 and 3 more worth at least 9.90",
    ),
    (
        {"conditionType": "ARTICLE_GROUP", "articleGroupId": "10", "includeSubGroups": True},
        "Basket holds an article of article group 10 (Drinks) or a group below",
    ),
    (
        {"conditionType": "ARTICLE_GROUP", "articleGroup_ID": GROUP, "minQuantity": Decimal(2)},
        "Basket holds at least 2 pieces of articles of article group 10 (Drinks)",
    ),
    (
        {"conditionType": "ARTICLE_GROUP", "values": ["10", "20"]},
        "Basket holds an article of the article groups 10, 20",
    ),
    ({"conditionType": "MANUFACTURER", "manufacturer": "ACME"}, "Basket holds an article of manufacturer ACME"),
    (
        {"conditionType": "MANUFACTURER", "operator": "CONTAINS", "value": "Foods"},
        "Basket holds an article of a manufacturer whose name contains Foods",
    ),
    (
        {"conditionType": "ADDITIONAL_FIELD", "fieldName": "colour", "value": "red"},
        "Basket holds an article whose field colour is red",
    ),
    # Its value.
    ({"conditionType": "RECEIPT_AMOUNT", "value": "50"}, "Basket is worth at least 50.00"),
    ({"conditionType": "RECEIPT_AMOUNT", "minAmount": Decimal("49.9")}, "Basket is worth at least 49.90"),
    ({"conditionType": "RECEIPT_AMOUNT", "operator": "LESS_THAN", "value": "1.125"}, "Basket is worth less than 1.125"),
    (
        {"conditionType": "RECEIPT_AMOUNT", "operator": "BETWEEN", "value": "50", "valueTo": "100.5"},
        "Basket is worth between 50.00 and 100.50",
    ),
    ({"conditionType": "RECEIPT_AMOUNT"}, "Basket is worth at least (not given)"),
    ({"conditionType": "ITEM_QUANTITY", "operator": "GTE", "value": "3"}, "Basket holds at least 3 pieces"),
    ({"conditionType": "ITEM_QUANTITY", "operator": "EQUALS", "value": "1"}, "Basket holds exactly 1 piece"),
    ({"conditionType": "ITEM_QUANTITY", "minQuantity": Decimal("2.500")}, "Basket holds at least 2.5 pieces"),
    # The buyer.
    ({"conditionType": "CUSTOMER", "value": "C1"}, "Customer is C1"),
    ({"conditionType": "CUSTOMER_GROUP", "values": ["SILVER", "GOLD"]}, "Customer group is one of GOLD, SILVER"),
    (
        {"conditionType": "CUSTOMER_GROUP", "value": "VIP", "values": list("FEDCBA")},
        "Customer group is one of VIP, A, B, C, D and 2 more",
    ),
    (
        {"conditionType": "CUSTOMER_GROUP", "logicalConnector": "NOT", "value": "STAFF"},
        "Not: Customer group is STAFF",
    ),
    ({"conditionType": "LOYALTY_ACCOUNT", "value": "GOLD"}, "Loyalty tier is GOLD"),
    ({"conditionType": "LOYALTY_ACCOUNT", "value": "1000"}, "Customer has at least 1000 loyalty points"),
    (
        {"conditionType": "LOYALTY_ACCOUNT", "operator": "BETWEEN", "value": "100", "valueTo": "200"},
        "Customer has between 100 and 200 loyalty points",
    ),
    # Payment and channel.
    ({"conditionType": "PAYMENT_MEANS", "value": "CASH"}, "Means of payment is CASH"),
    ({"conditionType": "PAYMENT_CARD", "values": ["VISA", "MAESTRO"]}, "Kind of card is one of MAESTRO, VISA"),
    ({"conditionType": "CREDIT_CARD_BIN", "value": "4000"}, "Card number starts with 4000"),
    (
        {"conditionType": "CREDIT_CARD_BIN", "operator": "BETWEEN", "value": "4000", "valueTo": "4999"},
        "The first digits of the card number are between 4000 and 4999",
    ),
    ({"conditionType": "CHANNEL", "value": "APP"}, "Channel is APP"),
    (
        {"conditionType": "USER_DEFINED", "fieldName": "weather", "operator": "CONTAINS", "value": "sun"},
        "Field weather of the sale contains sun",
    ),
    ({"conditionType": "MANUAL_DISCOUNT"}, "The till gave a manual discount"),
    (
        {"conditionType": "MANUAL_DISCOUNT", "values": ["DAMAGED", "OLD"]},
        "The till gave a manual discount whose reason is one of DAMAGED, OLD",
    ),
    # The time.
    (
        {
            "conditionType": "TIME_WINDOW", "weekdays": "MON,TUE", "timeFrom": dt.time(8), "timeTo": dt.time(12)
        },
        "Mondays and Tuesdays between 08:00 and 12:00",
    ),
    ({"conditionType": "TIME_WINDOW", "weekdays": "FRI,MON,TUE,WED,THU"}, "Mondays to Fridays"),
    (
        {"conditionType": "TIME_WINDOW", "weekdays": "FRI", "timeFrom": dt.time(22), "timeTo": dt.time(2)},
        "Fridays from 22:00 until 02:00 on the next day",
    ),
    ({"conditionType": "TIME_WINDOW", "timeFrom": dt.time(17, 30)}, "Every day from 17:30 until midnight"),
    (
        {"conditionType": "TIME_PERIOD", "dateFrom": dt.date(2026, 5, 1), "dateTo": dt.date(2026, 5, 31)},
        "From 1 May 2026 until 31 May 2026",
    ),
    ({"conditionType": "TIME_PERIOD", "dateFrom": dt.date(2026, 5, 1)}, "From 1 May 2026 on"),
]  # fmt: skip


async def store(database: Database, *several: Mapping[str, list[dict[str, Any]]]) -> None:
    async def work(session: Session) -> None:
        for rows in several:
            for set_name, of_set in rows.items():
                await insert_rows(session, set_name, of_set, at=NOW, by="author")

    await database.write(work, tenant=TENANT)


async def read(database: Database, set_name: str, *names: str, where: str = "", at_least: Any = None) -> list[Any]:
    """Return the values of properties by ID, filtered by a minimum of one of them."""
    entity = model.entity(set_name)
    rows, columns = rows_of(entity).alias(), columns_of(entity, ADMIN)

    def column(name: str) -> sa.ColumnElement[Any]:
        found = columns[name]
        return rows.c[found] if isinstance(found, str) else found(rows)

    statement = sa.select(*(column(name).label(name) for name in names)).select_from(rows).order_by(rows.c.id)
    if where:
        statement = statement.where(column(where) >= at_least)

    async def work(session: Session) -> list[Any]:
        return [tuple(row) if len(names) > 1 else row[0] for row in await session.execute(statement)]

    return await database.read(work, tenant=TENANT)


def test_every_virtual_field_is_computed() -> None:
    virtual = {(one.set_name, field.name) for one in model.entities() for field in one.fields if field.virtual}
    assert virtual == set(COMPUTED)


# ---- conditions in words ------------------------------------------------------------------------------------------


def as_rows(conditions: list[dict[str, Any]]) -> Rows:
    """Return conditions with their lists; the IDs follow their order."""
    rows: Rows = {"Conditions": [], "ConditionValueListItems": [], "ConditionArticleListItems": []}
    for at, one in enumerate(conditions):
        key = uuid(4, at)
        lists = {"values": ("ConditionValueListItems", "value"),
                 "articles": ("ConditionArticleListItems", "articleNumber"),
                 "eans": ("ConditionArticleListItems", "ean")}  # fmt: skip
        rows["Conditions"].append(
            {"ID": key, "promotion_ID": PROMOTION, "sequence": at} | {k: v for k, v in one.items() if k not in lists}
        )
        for name, (set_name, wire) in lists.items():
            for item in one.get(name, ()):
                items = rows[set_name]
                items.append({"ID": uuid(5, len(items) + 1000 * at), "condition_ID": key, wire: item})
    return {name: of_set for name, of_set in rows.items() if of_set}


async def test_conditions_are_described_in_words(database: Database) -> None:
    await store(database, MASTER_DATA, PROMOTIONS, as_rows([given for given, _ in CONDITIONS]))

    told = await read(database, "Conditions", "parameterSummary")

    assert told == [expected for _, expected in CONDITIONS]


def test_every_sentence_of_its_own_has_an_example() -> None:
    """A type without an example only names itself and its comparison, as CHANNEL does."""
    types = {given["conditionType"] for given, _ in CONDITIONS}
    plain = {
        code for code, words in RULES.items() if not words.summary and words.en.says == f"{words.en.name} {{test}}"
    }
    assert set(condition_codes()) - plain <= types <= set(condition_codes())


async def test_a_conditions_description_uses_master_data_of_its_own_tenant_only(database: Database) -> None:
    await store(database, PROMOTIONS, as_rows([{"conditionType": "ARTICLE", "articleNumber": "4711"}]))

    async def work(session: Session) -> None:
        await insert_rows(session, "Articles", MASTER_DATA["Articles"], at=NOW, by="author")

    await database.write(work, tenant="other")
    assert await read(database, "Conditions", "parameterSummary") == ["Basket holds article 4711"]


async def test_all_condition_descriptions_are_read_by_one_statement(database: Database) -> None:
    """One statement for any number of conditions: it includes the lists."""
    conditions = [{"conditionType": "CUSTOMER_GROUP", "values": [f"G{n}" for n in range(at % 9)]} for at in range(300)]
    await store(database, PROMOTIONS, as_rows(conditions))

    told = await read(database, "Conditions", "parameterSummary")

    assert len(told) == 300
    assert told[8] == "Customer group is one of G0, G1, G2, G3, G4 and 3 more"


# ---- colours ------------------------------------------------------------------------------------------------------


def test_every_status_has_a_colour() -> None:
    for entity in model.entities():
        for field in entity.fields:
            if field.name == "status":
                codes = model.code_list(field.code_list).codes if field.code_list else field.choices
                assert set(codes) <= set(CRITICALITY), entity.set_name


async def test_a_status_is_coloured_and_found_by_its_colour(database: Database) -> None:
    statuses = ["DRAFT", "SCHEDULED", "ACTIVE", "EXHAUSTED", "EXPIRED"]
    budgets = [budget(at, status=status) for at, status in enumerate(statuses)]
    await store(database, {"Budgets": budgets})

    assert await read(database, "Budgets", "statusCriticality") == [0, 2, 3, 1, 1]
    assert await read(database, "Budgets", "status", where="statusCriticality", at_least=2) == ["SCHEDULED", "ACTIVE"]


async def test_jobs_are_coloured_by_their_status_and_their_failures(database: Database) -> None:
    jobs = [
        {"ID": uuid(9, at), "status": status, "failedArticles": failed}
        for at, (status, failed) in enumerate([("QUEUED", 0), ("RUNNING", 0), ("SUCCEEDED", 2), ("FAILED", 5)])
    ]
    await store(database, {"ArticleImportJobs": jobs})

    coloured = await read(database, "ArticleImportJobs", "statusCriticality", "failedCriticality")

    assert coloured == [(0, 3), (2, 3), (3, 1), (1, 1)]


# ---- shares -------------------------------------------------------------------------------------------------------


def budget(number: int, total: str = "100", consumed: str = "0", **fields: Any) -> dict[str, Any]:
    return {
        "ID": uuid(8, number), "code": f"B{number}", "name": "B", "currency": "EUR", "totalAmount": Decimal(total),
        "consumedAmount": Decimal(consumed),
    } | fields  # fmt: skip


USES = [
    ("100", "0", "0.00"), ("100", "12.345", "12.35"), ("3", "1", "33.33"), ("3", "2", "66.67"), ("0", "0", "0.00"),
    ("200", "0.009", "0.00"), ("200", "0.01", "0.01"), ("100", "100", "100.00"),
    ("9999999999999.99", "9999999999999.98", "100.00"), ("9999999999999.99", "4999999999999.99", "50.00"),
]  # fmt: skip


async def test_the_utilization_of_a_budget_is_exact(database: Database) -> None:
    await store(database, {"Budgets": [budget(at, total, used) for at, (total, used, _) in enumerate(USES)]})

    shown = await read(database, "Budgets", "utilization")

    assert [str(one) for one in shown] == [expected for _, _, expected in USES]


async def test_budgets_can_be_filtered_by_their_utilization(database: Database) -> None:
    await store(database, {"Budgets": [budget(1, "100", "49.99"), budget(2, "100", "50"), budget(3, "1", "1")]})

    found = await read(database, "Budgets", "code", where="utilization", at_least=Decimal(50))

    assert found == ["B2", "B3"]


async def test_the_shares_of_a_stakeholder_are_summed_up(database: Database) -> None:
    payers = [{"ID": uuid(2, number), "code": f"S{number}", "name": "S"} for number in (1, 2)]
    shares = [
        {"ID": uuid(10, at), "budget_ID": uuid(8, at), "stakeholder_ID": uuid(2, 1), "sharePercentage": Decimal(share)}
        for at, share in enumerate(["99.99", "50.02"])
    ]
    await store(database, {"Budgets": [budget(0), budget(1)], "Stakeholders": payers, "BudgetStakeholders": shares})

    shown = await read(database, "Stakeholders", "totalShareAcrossBudgets")
    found = await read(database, "Stakeholders", "code", where="totalShareAcrossBudgets", at_least=Decimal("150.01"))

    assert [str(one) for one in shown] == ["150.01", "0.00"]
    assert found == ["S1"]


# ---- drafts -------------------------------------------------------------------------------------------------------


async def of_drafts(database: Database, set_name: str, names: list[str], values: dict[str, Any]) -> tuple[Any, ...]:
    """Return virtual fields over the only row of a table of drafts."""
    key, moment = uuid(8, 1), datetime(2026, 5, 4, tzinfo=UTC)
    rows = draft_table(set_name).alias()
    columns: list[Column] = [COMPUTED[set_name, name] for name in names]

    async def work(session: Session) -> tuple[Any, ...]:
        draft = {"draft_uuid": uuid(1), "set_name": set_name, "root_id": key, "created_at": moment, "created_by": "me"}
        await session.execute(sa.insert(draft_table("drafts")).values(**draft, changed_at=moment))
        row = {"id": key, "draft_uuid": uuid(1), "draft_owner": "me"} | values
        await session.execute(sa.insert(draft_table(set_name)).values(**row))
        shown = sa.select(*(one(rows) for one in columns if not isinstance(one, str))).select_from(rows)
        return tuple(next(iter(await session.execute(shown))))

    return await database.write(work, tenant=TENANT)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, (0, "0.00")),
        ({"status": "ACTIVE", "total_amount": Decimal(10), "consumed_amount": Decimal(4)}, (3, "40.00")),
        ({"status": "EXPIRED", "total_amount": Decimal(1), "consumed_amount": Decimal(4000)}, (1, "999.99")),
    ],
    ids=["incomplete", "usual", "overdrawn"],
)
async def test_a_budget_draft_shows_its_colour_and_utilization(
    database: Database, values: dict[str, Any], expected: tuple[int, str]
) -> None:
    colour, use = await of_drafts(database, "Budgets", ["status_criticality", "utilization"], values)

    assert (colour, str(use)) == expected


async def test_a_stakeholder_draft_shows_its_shares(database: Database) -> None:
    assert await of_drafts(database, "Stakeholders", ["total_share_across_budgets"], {}) == (Decimal("0.00"),)

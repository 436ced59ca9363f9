"""Conditions: what must hold for a promotion to apply."""

from __future__ import annotations

from promenade.model.declare import (
    PLAIN,
    PUBLIC,
    REPORTING,
    RW,
    Entity,
    Fields,
    boolean,
    calendar_date,
    children,
    code_of,
    integer,
    money,
    parent,
    pieces,
    text,
    time_of_day,
    to_one,
)

__all__ = [
    "ArticleListItemFields",
    "ConditionArticleListItems",
    "ConditionFields",
    "ConditionValueListItemFields",
    "ConditionValueListItems",
    "Conditions",
]


class ConditionFields(Fields):
    """The fields of a condition, in a promotion and in a template alike."""

    sequence = integer("Its place among the conditions: lower comes first.", default=0)
    logical_connector = code_of("LogicalConnectors", "How it joins the conditions before it.", default="AND")
    condition_type = code_of("ConditionTypes", "What it is about.", required=True)
    operator = code_of("ComparisonOperators", "How it compares; null: GTE for amounts, quantities and points, else "
                       "EQUALS.")  # fmt: skip
    value_category = code_of("ConditionValueCategories", "What the value names.")
    value = text(255, "What is compared with; for several values see the value list.", searchable=True)
    value_to = text(255, "The upper end of BETWEEN, included.")
    article_number = text(50, "The article.", searchable=True)
    article_group_key = text(20, "groupId of the article group.", wire="articleGroupId", label="Article group ID")
    include_sub_groups = boolean("Whether groups below the article group count.")
    manufacturer = text(255, "The manufacturer.", searchable=True)
    field_name = text(100, "Key of the additional or user-defined field.")
    min_quantity = pieces("Matching lines must add up to this quantity.")
    min_amount = money("Matching lines must add up to this original amount.")
    time_from = time_of_day("From when in the day on, included, on the POS group's clock.")
    time_to = time_of_day("Until when in the day, not included; before timeFrom: past midnight.")
    weekdays = text(27, "On which weekdays, such as `MON,TUE`; null: on all.")
    date_from = calendar_date("From which day on, included.")
    date_to = calendar_date("Until which day, included.")
    article = to_one("Articles", "The article, from master data.")
    article_group = to_one("ArticleGroups", "The article group, from master data.")


class ConditionValueListItemFields(Fields):
    """One of several values of a condition."""

    value = text(255, "The value; any of the list makes the condition hold.", required=True, searchable=True)
    value_category = code_of("ConditionValueCategories", "What the value names.")


class ArticleListItemFields(Fields):
    """An article of a list, by number or EAN."""

    article_number = text(50, "Number of the article.", searchable=True)
    ean = text(18, "EAN of the article, instead of its number.", searchable=True)


class Conditions(ConditionFields, Entity, public=RW, admin=PLAIN, importable=True):
    """One condition of a promotion.

    In the order of their sequence, conditions form groups: AND and NOT join the current group, OR starts a new
    one. The promotion qualifies when all conditions of one group hold; without conditions it always does.
    """

    promotion = parent("Promotions", "The promotion.")
    parameter_summary = text(
        None, "The condition in words.", virtual=True, filterable=False, hidden_from=frozenset({PUBLIC, REPORTING})
    )
    value_list_items = children("ConditionValueListItems", "Values of which any will do.", by="condition")
    article_list_items = children("ConditionArticleListItems", "Articles of which any will do.", by="condition")


class ConditionValueListItems(ConditionValueListItemFields, Entity, public=RW, admin=PLAIN):
    """One of several values of a condition; any of them is sufficient."""

    condition = parent("Conditions", "The condition.")


class ConditionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """One of several articles of a condition; any of them is sufficient."""

    condition = parent("Conditions", "The condition.")

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
    """The fields of a condition, in promotions and templates."""

    sequence = integer("Position among the conditions: lower numbers come first.", default=0)
    logical_connector = code_of("LogicalConnectors", "How it is combined with the conditions before it.", default="AND")
    condition_type = code_of("ConditionTypes", "Type of the condition.", required=True)
    operator = code_of("ComparisonOperators", "How it compares; null: GTE for amounts, quantities and points, else "
                       "EQUALS.")  # fmt: skip
    value_category = code_of("ConditionValueCategories", "Kind of the value.")
    value = text(255, "The comparison value; for several values, use the value list.", searchable=True)
    value_to = text(255, "The upper bound of BETWEEN, inclusive.")
    article_number = text(50, "Number of the article.", searchable=True)
    article_group_key = text(20, "groupId of the article group.", wire="articleGroupId", label="Article group ID")
    include_sub_groups = boolean("Whether groups below the article group count, too.")
    manufacturer = text(255, "The manufacturer.", searchable=True)
    field_name = text(100, "Key of the additional or user-defined field.")
    min_quantity = pieces("Minimum total quantity of the matching lines.")
    min_amount = money("Minimum total amount of the matching lines, before discounts.")
    time_from = time_of_day("Start time of day, inclusive, in the POS group's time zone.")
    time_to = time_of_day("End time of day, exclusive; if it is before timeFrom, the window runs past midnight.")
    weekdays = text(27, "The weekdays, such as `MON,TUE`; null: all.")
    date_from = calendar_date("First day, inclusive.")
    date_to = calendar_date("Last day, inclusive.")
    article = to_one("Articles", "The article, from master data.")
    article_group = to_one("ArticleGroups", "The article group, from master data.")


class ConditionValueListItemFields(Fields):
    """One of several values of a condition."""

    value = text(
        255, "The value; the condition holds if any value of the list matches.", required=True, searchable=True
    )
    value_category = code_of("ConditionValueCategories", "Kind of the value.")


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
        None,
        "A description of the condition as a sentence.",
        virtual=True,
        filterable=False,
        hidden_from=frozenset({PUBLIC, REPORTING}),
    )
    value_list_items = children("ConditionValueListItems", "Alternative values: any one is sufficient.", by="condition")
    article_list_items = children(
        "ConditionArticleListItems", "Alternative articles: any one is sufficient.", by="condition"
    )


class ConditionValueListItems(ConditionValueListItemFields, Entity, public=RW, admin=PLAIN):
    """One of several values of a condition; any of them is sufficient."""

    condition = parent("Conditions", "The condition.")


class ConditionArticleListItems(ArticleListItemFields, Entity, public=RW, admin=PLAIN):
    """One of several articles of a condition; any of them is sufficient."""

    condition = parent("Conditions", "The condition.")

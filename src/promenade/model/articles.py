"""Articles and the tree of article groups.

An article group's business key is ``groupId``. Where an entity has both an association ``articleGroup``
(column ``article_group_id``, a UUID) and the business key ``articleGroupId``, the key's Python name is
``article_group_key``.
"""

from __future__ import annotations

from promenade.model.declare import DRAFT, RW, Entity, back, boolean, code_of, currency_code, money, text, to_one

__all__ = ["ArticleGroups", "Articles"]


class ArticleGroups(Entity, public=RW, admin=DRAFT, importable=True, import_upserts=True, natural_key=("group_id",)):
    """A group of articles: a category, a brand or a group of the retailer's own; groups form a tree."""

    group_id = text(20, "Unique number of the group, which tills send as articleGroupId.", required=True,
                    searchable=True)  # fmt: skip
    name = text(255, "Name of the group.", searchable=True)
    description = text(1000, "Description of the group.", searchable=True)
    type = code_of("GroupTypes", "Kind of the group.", default="CUSTOM")
    source = code_of("ArticleSources", "Origin of the group.", default="MANUAL")
    never_discounted = code_of(
        "NeverDiscountedReasons",
        "Why no promotion may take anything off goods of this group and of all groups below; null: promotions may.",
    )
    parent = to_one("ArticleGroups", "The group directly above it; cycles are refused.")
    children = back("ArticleGroups", "The groups directly below it.", by="parent")
    articles = back("Articles", "The articles in it.", by="article_group")


class Articles(
    Entity,
    public=RW,
    admin=DRAFT,
    importable=True,
    import_upserts=True,
    natural_key=("article_number",),
    indexes=(("name",), ("ean",), ("article_group_key",)),
    text_index=True,
):
    """An article for sale."""

    article_number = text(50, "Unique number of the article.", required=True, searchable=True)
    name = text(255, "Name of the article.", searchable=True)
    description = text(1000, "Description of the article.", searchable=True)
    ean = text(18, "Its EAN or GTIN; articles of one product may share it.", searchable=True)
    manufacturer = text(255, "Name of the manufacturer.", searchable=True)
    manufacturer_id = text(255, "ID of the manufacturer, as tills send it.", searchable=True)
    category = text(100, "Its category in the retailer's own words.", searchable=True)
    article_group_key = text(20, "groupId of its article group.", wire="articleGroupId", label="Article group ID")
    base_price = money("The usual price.")
    currency = currency_code("The currency of the base price.")
    unit = text(10, "Unit of its quantities; a measure such as KGM makes it a weighed article.", default="PCE")
    source = code_of("ArticleSources", "Origin of the article.", default="MANUAL")
    is_active = boolean("Whether it is for sale.", default=True)
    never_discounted = code_of(
        "NeverDiscountedReasons",
        "Why no promotion may take anything off it; null: promotions may, unless its group says otherwise.",
    )
    article_group = to_one("ArticleGroups", "The article group it belongs to.")

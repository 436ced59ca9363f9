"""Groups and loyalty tiers of customers: the codes that tills send, with names for those who plan promotions."""

from __future__ import annotations

from promenade.model.declare import DRAFT, RW, Entity, text

__all__ = ["CustomerGroups", "LoyaltyTiers"]

CODE_LENGTH_MAX = 50


class CustomerGroups(Entity, public=RW, admin=DRAFT, natural_key=("code",)):
    """A group of customers, such as families. Prices follow the code that the till sends, listed or not."""

    code = text(CODE_LENGTH_MAX, "The group as tills send it, character by character.", required=True, searchable=True)
    name = text(255, "What the group is called.", required=True, searchable=True)
    description = text(1000, "Who is in it, or what for.", searchable=True)


class LoyaltyTiers(Entity, public=RW, admin=DRAFT, natural_key=("code",)):
    """A tier of the loyalty programme, such as gold. Prices follow the code that the till sends, listed or not."""

    code = text(CODE_LENGTH_MAX, "The tier as tills send it, character by character.", required=True, searchable=True)
    name = text(255, "What the tier is called.", required=True, searchable=True)
    description = text(1000, "How customers reach it.", searchable=True)

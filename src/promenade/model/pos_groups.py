"""POS groups: shops, regions, banners and channels, in a tree."""

from __future__ import annotations

from promenade.model.declare import DRAFT, RW, Entity, back, boolean, currency_code, text, to_one

__all__ = ["PosGroups"]


class PosGroups(Entity, public=RW, admin=DRAFT, importable=True, import_upserts=True, natural_key=("code",)):
    """A group of points of sale that sells in one currency and one time zone.

    A reference to a group also applies to the groups below it.
    """

    code = text(20, "Short unique code of the group; tills may name it instead of its ID.", required=True,
                searchable=True)  # fmt: skip
    name = text(255, "Name of the group.", required=True, searchable=True)
    description = text(1000, "Description of the group.", searchable=True)
    currency = currency_code("The currency of its prices.", required=True)
    time_zone = text(64, "IANA time zone of the group.", default="UTC")
    country = text(2, "ISO 3166 code of its country.")
    is_active = boolean("Whether its tills may request prices.", default=True)
    parent = to_one("PosGroups", "The group directly above it.")
    children = back("PosGroups", "The groups directly below it.", by="parent")

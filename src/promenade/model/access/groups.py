"""Groups of an outside token issuer, and the scopes that the people in them have here."""

from __future__ import annotations

from dataclasses import dataclass

from promenade.model.declare import PLAIN, Entity, text, texts

__all__ = ["GROUPS_MAX", "GROUP_NAME_LENGTH_MAX", "GroupRoles", "Outside"]

GROUP_NAME_LENGTH_MAX = 255
GROUPS_MAX = 1_000
"""Groups of a tenant: all of them are read at once."""


class GroupRoles(Entity, admin=PLAIN, unique=(("issuer", "group_name"),)):
    """A group of the outside token issuer: whose token names it has these scopes, beside those in the token."""

    group_name = text(GROUP_NAME_LENGTH_MAX, "The group as tokens name it, character by character; some issuers write "
                      "an ID.", required=True, searchable=True, label="Group")  # fmt: skip
    description = text(255, "Who is in the group, or what for.", searchable=True)
    scopes = texts("Scopes that the people in it have.", required=True)
    issuer = text(500, "Whose group it is: it counts only in tokens of this issuer.", required=True, read_only=True)


@dataclass(frozen=True, slots=True)
class Outside:
    """What the token of an outside ``issuer`` says of a caller itself: scopes, and groups."""

    issuer: str
    scopes: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

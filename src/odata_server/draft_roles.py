"""The parts that entity types and navigations play in edit drafts."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["DraftRole", "DraftWay"]


class DraftRole(StrEnum):
    """What an entity type is to edit drafts, see `odata_server.draft`."""

    ROOT = "root"
    """Drafts are begun, activated and discarded here."""
    NODE = "node"
    """Part of a root, edited with its draft."""


class DraftWay(StrEnum):
    """Where a navigation leads that starts at an entity with drafts, or ends at one."""

    ACTIVE = "active"
    """To the active entity, wherever it starts."""
    SAME = "same"
    """From a draft to what belongs to the draft, from an active entity to what is active."""
    SIBLING = "sibling"
    """From a draft to the active entity that it will replace, and back."""

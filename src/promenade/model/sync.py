"""Stores that price offline, and how they stay in sync with the cloud."""

from __future__ import annotations

from promenade.model.declare import ADMIN, PUBLIC, REPORTING, RO, Entity, back, choice, integer, text, timestamp, to_one
from promenade.model.ui.criticality import status_criticality

__all__ = ["LocalDeployments", "SyncHistory"]

_EVERYWHERE = frozenset({ADMIN, PUBLIC, REPORTING})


class LocalDeployments(Entity, public=RO, admin=RO, natural_key=("store_code",)):
    """A store's own instance of the service."""

    store_code = text(50, "Short unique code of the store.", required=True, read_only=True, searchable=True)
    name = text(255, "What the store is called.", read_only=True, searchable=True)
    # Not `version`: that is the counter of every row.
    program_version = text(20, "Version of its program.", read_only=True, wire="version", label="Version")
    status = choice("ONLINE", "OFFLINE", doc="Whether it is heard of.", default="OFFLINE", read_only=True)
    status_criticality = status_criticality()
    last_heartbeat_at = timestamp("When it was last heard of.", read_only=True)
    last_sync_at = timestamp("When it last took up changes.", read_only=True)
    pending_transactions = integer("Sales that it has not sent yet.", default=0, read_only=True)
    pos_group = to_one("PosGroups", "The POS group that it serves.", read_only=True)
    instance_id = text(36, "What its answers say in meta.instanceId.", read_only=True, hidden_from=_EVERYWHERE)
    sync_history = back("SyncHistory", "Its exchanges with the cloud.", by="deployment")


class SyncHistory(Entity, public=RO, admin=RO, indexes=(("deployment_id", "started_at"),)):
    """One exchange between a store and the cloud."""

    deployment = to_one("LocalDeployments", "The store.", required=True, read_only=True)
    direction = choice("DOWN", "UP", doc="DOWN: promotions to the store. UP: sales to the cloud.", required=True,
                       read_only=True)  # fmt: skip
    started_at = timestamp("When it began.", required=True, read_only=True)
    completed_at = timestamp("When it ended.", read_only=True)
    promotions = integer("Promotions sent.", default=0, read_only=True)
    transactions = integer("Sales sent.", default=0, read_only=True)
    status = choice("RUNNING", "SUCCEEDED", "FAILED", doc="How it ended.", default="RUNNING", read_only=True)
    status_criticality = status_criticality()
    message = text(1000, "What went wrong.", read_only=True)

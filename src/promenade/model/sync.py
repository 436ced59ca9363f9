"""Stores that price offline, and how they stay in sync with the cloud."""

from __future__ import annotations

from promenade.model.declare import ADMIN, PUBLIC, REPORTING, RO, Entity, back, choice, integer, text, timestamp, to_one
from promenade.model.ui.criticality import status_criticality

__all__ = ["LocalDeployments", "SyncHistory"]

_EVERYWHERE = frozenset({ADMIN, PUBLIC, REPORTING})


class LocalDeployments(Entity, public=RO, admin=RO, natural_key=("store_code",)):
    """A store's own instance of the service."""

    store_code = text(50, "Short unique code of the store.", required=True, read_only=True, searchable=True)
    name = text(255, "Name of the store.", read_only=True, searchable=True)
    # Not `version`: that is the counter of every row.
    program_version = text(20, "Version of the store's program.", read_only=True, wire="version", label="Version")
    status = choice(
        "ONLINE",
        "OFFLINE",
        doc="Whether the cloud currently receives heartbeats from the store.",
        default="OFFLINE",
        read_only=True,
    )
    status_criticality = status_criticality()
    last_heartbeat_at = timestamp("Time of the last heartbeat.", read_only=True)
    last_sync_at = timestamp("Time at which it was last fully synchronized.", read_only=True)
    pending_transactions = integer("Number of sales that it has not uploaded yet.", default=0, read_only=True)
    pos_group = to_one("PosGroups", "The POS group that it serves.", read_only=True)
    cloned_at = timestamp(
        "Time at which two machines were last noticed that both said they are this store; null: never.", read_only=True
    )
    runs = text(4000, "The runs of its program that have spoken for it.", read_only=True, hidden_from=_EVERYWHERE)
    epoch = integer("How often some were fenced off.", default=0, read_only=True, hidden_from=_EVERYWHERE)
    instance_id = text(36, "ID of the instance, returned as meta.instanceId.", read_only=True, hidden_from=_EVERYWHERE)
    sync_history = back("SyncHistory", "Its data exchanges with the cloud.", by="deployment")


class SyncHistory(Entity, public=RO, admin=RO, indexes=(("deployment_id", "started_at"),)):
    """A data exchange between a store and the cloud."""

    deployment = to_one("LocalDeployments", "The store.", required=True, read_only=True)
    direction = choice("DOWN", "UP", doc="DOWN: promotions to the store. UP: sales to the cloud.", required=True,
                       read_only=True)  # fmt: skip
    started_at = timestamp("Time at which it started.", required=True, read_only=True)
    completed_at = timestamp("Time at which it ended.", read_only=True)
    promotions = integer("Number of promotions sent.", default=0, read_only=True)
    transactions = integer("Number of sales sent.", default=0, read_only=True)
    status = choice("RUNNING", "SUCCEEDED", "FAILED", doc="Status of the exchange.", default="RUNNING", read_only=True)
    status_criticality = status_criticality()
    message = text(1000, "Error message, if it failed.", read_only=True)

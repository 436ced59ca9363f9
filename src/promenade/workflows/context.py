"""What every workflow works with; built once, by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from promenade.settings import WEBHOOK_RETRY_SCHEDULE
from promenade.store.cache import Cache
from promenade.store.catalogue import Catalogues
from promenade.store.unit import Database
from promenade.workflows.tills import Tills
from promenade.workflows.uplink import Uplink

__all__ = ["CLOUD", "Context", "Retention"]

CLOUD = "cloud"


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many days things are kept that nobody needs for ever."""

    iterations: int = 30
    sales: int = 400
    events: int = 30
    imports: int = 400


@dataclass(frozen=True, slots=True)
class Context:
    """The service's parts, its clock and its source of identities.

    ``source`` is meta.source (``btp`` or ``local-store``), ``origin`` who prices: ``cloud``, or the deployment ID of
    the store; it is part of the key of everything a till's transaction ID identifies. ``clock`` gives aware UTC times,
    ``new_id`` lower-case UUIDs. ``webhook_allow`` are the hosts, host:port and networks that callbacks may reach by
    http; ``webhook_retry_schedule`` are the seconds before each further attempt of a delivery. ``jobs_ready`` is set
    when a confirm has left work for the worker of this process, ``imports_ready`` when an import was accepted.
    ``tills`` knows whether tills ask this process for prices; what can wait makes way for them. ``uplink`` is a store's
    link to the cloud, which is there without being configured; None in the cloud.
    """

    database: Database
    catalogues: Catalogues
    cache: Cache
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    source: str
    instance_id: str
    origin: str = CLOUD
    webhook_allow: frozenset[str] = frozenset()
    webhook_retry_schedule: tuple[int, ...] = WEBHOOK_RETRY_SCHEDULE
    retention: Retention = Retention()
    jobs_ready: asyncio.Event = field(default_factory=asyncio.Event)
    imports_ready: asyncio.Event = field(default_factory=asyncio.Event)
    tills: Tills = field(default_factory=Tills)
    uplink: Uplink | None = None

    @property
    def is_store(self) -> bool:
        """Whether this is a store that works on its own and reports to a cloud."""
        return self.uplink is not None

    @property
    def shown_instance_id(self) -> str:
        """meta.instanceId: what the cloud has called a store, else its own."""
        return (self.uplink.instance_id if self.uplink is not None else None) or self.instance_id

    def shown_tenant_id(self, tenant_id: str) -> str:
        """meta.tenantId: of a store, the tenant that it belongs to in the cloud, once it knows."""
        return (self.uplink.cloud_tenant_id if self.uplink is not None else None) or tenant_id

    def data_age(self, changed_at: datetime | None) -> datetime | None:
        """meta.dataAge: the last write, or of a store its last sync if that was later."""
        synced = self.uplink.last_sync_at if self.uplink is not None else None
        return changed_at if synced is None or (changed_at is not None and changed_at > synced) else synced

"""The context that all workflows share; built once, by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from promenade.settings import WEBHOOK_RETRY_SCHEDULE, BrokerAddress, Settings
from promenade.store.driver.cache import Cache
from promenade.store.driver.unit import Database
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.pricing.iterations import CLOUD
from promenade.workflows.tills import Tills
from promenade.workflows.uplink import Uplink


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days data is kept that is not kept forever."""

    iterations: int = 30
    sales: int = 400
    events: int = 30
    imports: int = 400

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """Return what the operator has set."""
        return cls(
            iterations=settings.keep_iterations_days,
            sales=settings.keep_sales_days,
            events=settings.keep_events_days,
            imports=settings.keep_imports_days,
        )


@dataclass(frozen=True, slots=True)
class Context:
    """The service's parts, its clock and its ID generator.

    ``source`` is meta.source (``btp`` or ``local-store``). ``origin`` says who prices: ``cloud``, or the deployment ID
    of the store; it is part of the key of everything that a till's transaction ID identifies. ``clock`` returns aware
    UTC times, ``new_id`` lower-case UUIDs. ``webhook_allow`` contains the hosts, host:port and networks that callbacks
    may reach by http; ``webhook_retry_schedule`` the seconds before each further attempt of a delivery;
    ``events_to`` the broker that events are published to. ``jobs_ready`` is set when a confirm has created work for the
    worker of this process, ``imports_ready`` when an import was accepted.
    ``tills`` knows whether tills send pricing requests to this process; work that can wait gives way to them.
    ``uplink`` is a store's link to the cloud, present even if not configured; None in the cloud. ``replica`` is a copy
    of the database that reports are read from; None: they are read from the database.
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
    events_to: BrokerAddress | None = None
    retention: Retention = Retention()
    jobs_ready: asyncio.Event = field(default_factory=asyncio.Event)
    imports_ready: asyncio.Event = field(default_factory=asyncio.Event)
    tills: Tills = field(default_factory=Tills)
    uplink: Uplink | None = None
    replica: Database | None = None

    @property
    def is_store(self) -> bool:
        """Whether this is a store that works autonomously and reports to a cloud."""
        return self.uplink is not None

    @property
    def shown_instance_id(self) -> str:
        """meta.instanceId: the ID that the cloud assigned to a store, else its own."""
        return (self.uplink.instance_id if self.uplink is not None else None) or self.instance_id

    def shown_tenant_id(self, tenant_id: str) -> str:
        """meta.tenantId: in a store, the tenant it belongs to in the cloud, once known."""
        return (self.uplink.cloud_tenant_id if self.uplink is not None else None) or tenant_id

    def data_age(self, changed_at: datetime | None) -> datetime | None:
        """meta.dataAge: the last write, or in a store its last sync if that was later."""
        synced = self.uplink.last_sync_at if self.uplink is not None else None
        return changed_at if synced is None or (changed_at is not None and changed_at > synced) else synced

"""A store's link to the cloud as the rest of the store sees it: its state, and a client for requests to the cloud.

The link itself is maintained by `worker.uplink`; pricing never waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from promenade.errors import PromenadeError, Unavailable
from promenade.store.replica.link import Link


class CloudUnreachable(Unavailable):
    """The cloud did not answer, or sent an answer that cannot be parsed; to be retried later."""


class CloudBusy(CloudUnreachable):
    """The cloud answers, and asks to be left alone for some ``seconds``."""

    def __init__(self, seconds: int) -> None:
        super().__init__("CLOUD_BUSY", f"The cloud is busy: it asks to come back in {seconds} seconds.")
        self.seconds = seconds


class CloudRefused(PromenadeError):
    """The cloud refused the request; ``status`` is the HTTP status."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Reserve:
    """How often a store halves its reserve of something, and what one sale uses of it where the store does not know."""

    halvings: int
    piece: Decimal


@dataclass(frozen=True, slots=True)
class Searching:
    """How far a search for erased customers is: the key of their digests, how many were told of when it began, and the
    place, by the number of the table and the last ID.
    """

    secret: bytes = field(repr=False)
    told: int
    table: int = 0
    after: str = field(default="", repr=False)


class CloudClient(Protocol):
    """A client for authenticated requests to the cloud's `/sync`; it raises CloudUnreachable and CloudRefused."""

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """GET a path such as ``/sync/promotions``; return the JSON answer, decoded with Decimals."""
        ...

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """POST ``body`` as JSON; ``key`` is sent as the header Idempotency-Key, ``seconds`` limits the whole
        exchange.
        """
        ...


@dataclass(slots=True)
class Uplink:
    """The state of a store's link. Read anywhere, written by `worker.uplink`, on the event loop only."""

    client: CloudClient | None = None  # None: no link is configured
    is_connected: bool = False
    deployment_id: str | None = None
    instance_id: str | None = None  # assigned by the cloud
    cloud_tenant_id: str | None = None
    last_sync_at: datetime | None = None
    pending: int = 0  # sales not yet uploaded
    upload_after: float = 0.0  # by the event loop's clock: the cloud is busy until then
    run_id: str | None = None  # of this run of the program; two runs at the same time are two machines
    epoch: int | None = None  # of the store, as the cloud said last
    heard_at: str | None = None  # the cloud's clock when it last told of reserves
    reserves: dict[tuple[str, str], Reserve] = field(default_factory=dict)  # as the cloud told, by kind and ID
    searching: Searching | None = None  # for customers who were erased in the cloud, if it goes on with the next round

    def lose(self) -> None:
        """Note that a request has failed: until one succeeds in a round, tills are not made to wait for the cloud."""
        self.is_connected = False

    def recall(self, link: Link | None) -> None:
        """Take over the last known state of the configured link; without one there is none."""
        if link is None or link.deployment_id != self.deployment_id:  # what was heard was told to another store
            self.upload_after, self.epoch, self.heard_at, self.reserves = 0.0, None, None, {}
        self.deployment_id = link.deployment_id if link is not None else None
        self.instance_id = link.instance_id if link is not None else None
        self.cloud_tenant_id = link.cloud_tenant_id if link is not None else None
        self.last_sync_at = link.last_sync_at if link is not None else None

"""A store's link to the cloud, as the rest of the store sees it: how it is, and how to ask the cloud something.

The link itself is kept by `worker.uplink`; pricing never waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from promenade.errors import PromenadeError, Unavailable

__all__ = ["CloudClient", "CloudRefused", "CloudUnreachable", "Uplink"]


class CloudUnreachable(Unavailable):
    """The cloud did not answer, or not with what can be understood: it is tried again later."""


class CloudRefused(PromenadeError):
    """The cloud answered that it does not want this; ``status`` is the HTTP status."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.status = status


class CloudClient(Protocol):
    """Requests to the cloud's `/sync`, authenticated; both raise CloudUnreachable and CloudRefused."""

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """GET a path such as ``/sync/promotions``; the JSON answer, decoded with Decimals."""
        ...

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """POST ``body`` as JSON; ``key`` becomes the header Idempotency-Key, ``seconds`` bounds the whole exchange."""
        ...


@dataclass(slots=True)
class Uplink:
    """What a running store knows of its link. Read by all, written by `worker.uplink`, on the event loop only."""

    client: CloudClient | None = None  # None: no link is configured
    is_connected: bool = False
    deployment_id: str | None = None
    instance_id: str | None = None  # given by the cloud
    cloud_tenant_id: str | None = None
    last_sync_at: datetime | None = None
    pending: int = 0  # sales that the cloud has not taken yet

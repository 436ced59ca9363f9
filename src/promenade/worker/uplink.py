"""A store's link to its cloud, maintained beside all other work: periodic rounds, and uploads of sales at once.

Changed settings of the link take effect while the store runs. Times are in seconds of the event loop's clock, so that
jumps of the wall clock do not matter.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from promenade.errors import PromenadeError, Unavailable
from promenade.log import Logger
from promenade.store.access.clients import secret_of
from promenade.store.access.local_store import read_store_tenant
from promenade.store.driver.unit import Session
from promenade.store.replica.link import Link, count_uploads, read_link
from promenade.worker.loop import keep_going, wait
from promenade.workflows.context import Context
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient
from promenade.workflows.replica.exchanging import exchange, send_heartbeat, upload_all
from promenade.workflows.replica.own_secret import keep_secret
from promenade.workflows.replica.uploading import count_pending
from promenade.workflows.uplink import CloudRefused, CloudUnreachable, Uplink

LOOK_SECONDS = 1.0  # how long new sales and changed settings may wait
BEAT_SECONDS = 60.0  # the cloud considers the store online for three of them
BACKOFF_SECONDS_MAX = 300.0
REFUSED_SECONDS = 30.0  # before sales are sent again after the cloud refused all of them
_PARTS = 1000

_log = Logger(__name__)

Draw = Callable[[int], int]
"""A number from 0 up to below the one given."""


class UplinkWorker:
    """Maintains the link until stopped; does nothing in the cloud. ``draw`` spreads the rounds of many stores."""

    def __init__(self, context: Context, *, look_seconds: float = LOOK_SECONDS, draw: Draw = secrets.randbelow) -> None:
        self._context = context
        self._look_seconds = look_seconds
        self._draw = draw

    async def run(self, stop: asyncio.Event) -> None:
        """Maintain the link until ``stop`` is set; running work is cancelled then, and resumed at the next start."""
        uplink = self._context.uplink
        if uplink is None:
            return
        await keep_going("uplink", stop, lambda: self._with_one_link(uplink, stop))

    async def _with_one_link(self, uplink: Uplink, stop: asyncio.Event) -> None:
        """Work with the current configuration of the link until it changes."""
        tenant_id, link = await self._look()
        client = _client(link, uplink)
        _take_up(uplink, link, client)
        rounds: asyncio.Task[None] | None = None
        try:
            if tenant_id is not None:
                rounds = asyncio.create_task(self._rounds(uplink, tenant_id, link, client), name="uplink")
            now = (tenant_id, link and link.changed_at)
            while not stop.is_set() and not (rounds is not None and rounds.done()):
                await wait(self._look_seconds, stop)
                tenant_id, link = await self._look()
                if (tenant_id, link and link.changed_at) != now:
                    break
        finally:
            if rounds is not None:
                rounds.cancel()
                with suppress(asyncio.CancelledError):
                    await rounds
            if client is not None:
                await client.close()

    async def _look(self) -> tuple[str | None, Link | None]:
        async def work(session: Session) -> tuple[str | None, Link | None]:
            return await read_store_tenant(session), await read_link(session)

        return await self._context.database.read(work, system=True)

    async def _rounds(self, uplink: Uplink, tenant_id: str, link: Link | None, client: HttpCloudClient | None) -> None:
        """Run rounds forever; without a link, only count what is waiting for one."""
        now = asyncio.get_running_loop().time
        next_round = next_beat = next_upload = now() if link is not None else float("inf")
        failures = 0
        while True:
            uplink.pending = await count_pending(self._context, tenant_id)
            waiting, _ = await self._context.database.read(count_uploads, tenant=tenant_id)
            if link is not None and now() >= next_round:
                if client is not None:
                    await keep_secret(self._context.database, client, partial(secret_of, self._context.new_id))
                await exchange(self._context, tenant_id, link)
                failures = 0 if uplink.is_connected else failures + 1
                next_round = now() + (self._backoff(failures) if failures else self._spread(link))
                next_beat = now() + BEAT_SECONDS
            elif link is not None and uplink.is_connected and now() >= next_beat:
                done = await send_heartbeat(self._context, tenant_id, link)
                next_beat = now() + BEAT_SECONDS
                next_round = now() if done.is_behind else next_round
            elif waiting and uplink.is_connected and now() >= next_upload:
                next_upload = now() + await self._upload(uplink, tenant_id)
            if link is not None and not uplink.is_connected and not failures:  # whatever detected the failure
                failures = 1
                next_round = min(next_round, now() + self._backoff(failures))
            await asyncio.sleep(max(0.0, min(self._look_seconds, next_round - now())))

    async def _upload(self, uplink: Uplink, tenant_id: str) -> float:
        """Send what is queued; return the seconds to wait before the next upload."""
        try:
            await upload_all(self._context, tenant_id)
        except CloudUnreachable as error:
            _log.warning("uplink.lost", reason=error.message)
            uplink.is_connected = False
        except Unavailable:
            raise
        except (CloudRefused, PromenadeError) as error:
            _log.warning("uplink.refused", reason=error.message)
            return REFUSED_SECONDS
        return 0.0

    def _backoff(self, failures: int) -> float:
        return backoff(failures, self._draw(_PARTS) / _PARTS)

    def _spread(self, link: Link) -> float:
        """Return the interval plus or minus a tenth, so that stores started together do not stay in step."""
        return link.settings.interval_seconds * (0.9 + 0.2 * self._draw(_PARTS) / _PARTS)


def backoff(failures: int, drawn: float) -> float:
    """Return the delay after consecutive failures: 1 to 2, 2 to 4 ... seconds, five minutes at most."""
    return min(BACKOFF_SECONDS_MAX, 2.0 ** min(failures, 20)) * (0.5 + 0.5 * drawn)


def _client(link: Link | None, uplink: Uplink) -> HttpCloudClient | None:
    if link is None:
        return None
    settings = link.settings
    access = CloudAccess(settings.url, settings.auth_url, settings.client_id, settings.client_secret)
    return HttpCloudClient(access, lose=uplink.lose)


def _take_up(uplink: Uplink, link: Link | None, client: HttpCloudClient | None) -> None:
    """Publish the link's configuration and last state to the rest of the store."""
    uplink.client = client
    uplink.is_connected = False
    uplink.recall(link)

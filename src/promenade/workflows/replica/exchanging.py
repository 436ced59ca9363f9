"""One exchange of a store with its cloud: register, upload sales, download changes, maintain its shares, hear of
erased customers.

Each step may fail independently: sales that the cloud refuses do not stop downloads, and vice versa.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

import msgspec

from promenade import __version__
from promenade.errors import Conflict, PromenadeError, Unavailable
from promenade.log import Logger
from promenade.store.driver.unit import Session
from promenade.store.replica.link import (
    Link,
    add_page,
    page_numbers,
    read_link,
    read_page,
    restart_download,
    write_attempt,
    write_identity,
    write_synced,
)
from promenade.workflows.context import Context
from promenade.workflows.replica.applying import PageUnreadable, apply_pages, read_staged
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.replica.erasing import keep_erased
from promenade.workflows.replica.filling import compare_again
from promenade.workflows.replica.holding import keep_shares
from promenade.workflows.replica.uploading import count_pending, upload_portion
from promenade.workflows.uplink import CloudBusy, CloudClient, CloudRefused, CloudUnreachable, Reserve, Uplink

_EVER = "2000-01-01T00:00:00Z"
DEPLOYMENT_NOT_FOUND = "DEPLOYMENT_NOT_FOUND"
DEPLOYMENT_CLONED = "DEPLOYMENT_CLONED"
UPLOAD_SECONDS = 20.0
PAGES_MAX = 100_000  # per download: a cloud whose pages never end is not followed forever

T = TypeVar("T")

_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The result of an exchange: ``error`` is the first failed step's error as a sentence; None: all succeeded.

    ``is_connected``: the cloud answered and knows the store. ``is_behind``: it has changes that the store lacks.
    ``is_fenced``: the cloud prefers another machine that is the same store.
    """

    is_connected: bool
    error: str | None = None
    uploaded: int = 0
    is_behind: bool = False
    is_fenced: bool = False


class Registered(msgspec.Struct, frozen=True, rename="camel"):
    """The response of ``POST /sync/register``."""

    deployment_id: str
    instance_id: str
    tenant_id: str | None = None


class _Reserve(msgspec.Struct, frozen=True, rename="camel"):
    """How stores size their reserve of something."""

    kind: str
    entity_id: str
    halvings: int
    piece: Decimal = Decimal(0)


class _HeartbeatAnswer(msgspec.Struct, frozen=True, rename="camel"):
    """The response of ``POST /sync/heartbeat``."""

    latest_cursor: str | None = None
    server_time: str | None = None
    reserves: list[_Reserve] = []
    epoch: int = 0


async def exchange(context: Context, tenant_id: str, link: Link) -> Exchanged:
    """Run one exchange with the client of ``context.uplink``; results are kept there and in the database.

    Only raises Unavailable, if the store's own database is unreachable.
    """
    steps = _Steps(context, tenant_id)
    # A complete download can be applied without the cloud.
    await steps.attempt("apply", partial(_apply, context, tenant_id))
    heard = await send_heartbeat(context, tenant_id, link)
    uploaded = 0
    if heard.is_fenced:  # what it has sold is booked all the same
        await steps.attempt("upload", partial(upload_all, context, tenant_id))
    if heard.is_connected:
        uploaded = await steps.attempt("upload", partial(upload_all, context, tenant_id)) or 0
        if await steps.attempt("download", partial(_download, context, tenant_id)):
            await steps.attempt("shares", partial(keep_shares, context, tenant_id))
        await steps.attempt("erasures", partial(_erase, context, tenant_id))
    error = heard.error or steps.error
    await _note(context, tenant_id, error)
    return replace(heard, error=error, uploaded=uploaded)


async def send_heartbeat(context: Context, tenant_id: str, link: Link) -> Exchanged:
    """Register if necessary and send a heartbeat to the cloud; only raises Unavailable."""
    uplink = _uplink(context)
    steps = _Steps(context, tenant_id)
    latest = await steps.attempt("heartbeat", partial(_report, context, tenant_id, link))
    uplink.is_connected = latest is not None
    if latest is None:
        if steps.code == DEPLOYMENT_CLONED:
            await end_shares(context, all_of_them=True)
        await _note(context, tenant_id, steps.error)
        return Exchanged(False, steps.error, is_fenced=steps.code == DEPLOYMENT_CLONED)
    here = await context.database.read(read_link, system=True)
    return Exchanged(True, is_behind=bool(latest) and here is not None and here.cursor != latest)


async def upload_all(context: Context, tenant_id: str) -> int:
    """Upload portions for at most `UPLOAD_SECONDS`; return how many entries the cloud has processed.

    The time is limited so that changes are also downloaded during a long upload, as after a week offline. While the
    cloud is busy with other stores, nothing is sent until the time it has named. Raises CloudUnreachable and
    CloudRefused.
    """
    now = asyncio.get_running_loop().time
    end = now() + UPLOAD_SECONDS
    total = 0
    while now() >= _uplink(context).upload_after:
        try:
            portion = await upload_portion(context, tenant_id)
        except CloudBusy as busy:
            _uplink(context).upload_after = now() + busy.seconds
            break
        total += portion.sent
        _uplink(context).pending = await count_pending(context, tenant_id)
        if not portion.sent or not portion.left or now() >= end:
            break
    return total


class _Steps:
    """Runs steps that may each fail, and remembers the first error."""

    def __init__(self, context: Context, tenant_id: str) -> None:
        self._context = context
        self.error: str | None = None
        self.code: str | None = None  # of the last refusal

    async def attempt(self, name: str, step: Callable[[], Awaitable[Any]]) -> Any:
        """Return the step's result, True if it returned None; None: it failed."""
        try:
            found = await step()
        except CloudUnreachable as error:
            _uplink(self._context).is_connected = False
            self._failed(name, error.message)
        except CloudRefused as error:
            self.code = error.code
            self._failed(name, error.message)
        except Unavailable:
            raise  # our own database: nothing works without it
        except (PromenadeError, PageUnreadable) as error:
            self._failed(name, str(error))
        except Exception as error:
            _log.exception("sync.failed", step=name)
            self._failed(name, f"It failed with an internal error ({type(error).__name__}); the log says more.")
        else:
            return True if found is None else found
        return None

    def _failed(self, name: str, reason: str) -> None:
        _log.warning("sync.failed", step=name, reason=reason)
        self.error = self.error or reason


async def _note(context: Context, tenant_id: str, error: str | None) -> None:
    """Record the time and error of the last attempt, for the display of the link's state."""
    uplink, at = _uplink(context), context.clock()
    uplink.pending = await count_pending(context, tenant_id)
    note = partial(write_attempt, at=at, error=error)
    await context.database.write(note, system=True, durable=False)


# --- being known ------------------------------------------------------------------------------------------------------


async def register_at(client: CloudClient, link: Link) -> Registered:
    """Register the store with the cloud; may be repeated. Raises CloudUnreachable and CloudRefused."""
    settings = link.settings
    body = {
        "storeCode": settings.store_code,
        "name": settings.store_name or settings.store_code,
        "posGroupCode": settings.pos_group_code,
        "version": __version__,
    }
    return _read(await client.post("/sync/register", body), Registered)


async def report_at(
    client: CloudClient,
    deployment_id: str,
    *,
    promotions: int,
    pending: int,
    status: str = "UP",
    since: str | None = None,
    run_id: str | None = None,
) -> _HeartbeatAnswer:
    """Send a heartbeat; ``since``: the cloud's clock when it last told of reserves.

    Raises CloudUnreachable, and CloudRefused, with DEPLOYMENT_NOT_FOUND if the store is unknown, and DEPLOYMENT_CLONED
    if another machine is the store.
    """
    body = {
        "deploymentId": deployment_id,
        "status": status,
        "version": __version__,
        "promotionsLoaded": promotions,
        "pendingTransactions": pending,
        "reservesSince": since or _EVER,
        "runId": run_id,
    }
    return _read(await client.post("/sync/heartbeat", body), _HeartbeatAnswer)


def _read(answer: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise CloudUnreachable("CLOUD_UNREACHABLE", f"The cloud's answer cannot be read: {error}.") from error


async def _report(context: Context, tenant_id: str, link: Link) -> str:
    """Send a heartbeat and return the cloud's latest cursor; empty if it sends none."""
    uplink, client = _uplink(context), _client(context)
    if uplink.deployment_id is None:
        await _register(context, client, link)
    promotions = len((await context.catalogues.current(tenant_id)).definitions)
    pending = uplink.pending = await count_pending(context, tenant_id)
    try:
        heard = await report_at(
            client,
            _deployment(uplink),
            promotions=promotions,
            pending=pending,
            since=uplink.heard_at,
            run_id=uplink.run_id,
        )
    except CloudRefused as error:
        if error.code != DEPLOYMENT_NOT_FOUND:
            raise
        await _register(context, client, link)
        heard = await report_at(
            client, _deployment(uplink), promotions=promotions, pending=pending, run_id=uplink.run_id
        )
    if uplink.epoch not in (None, heard.epoch):
        compare_again(context.database)
    uplink.epoch = heard.epoch
    uplink.reserves |= {(one.kind, one.entity_id): Reserve(one.halvings, one.piece) for one in heard.reserves}
    uplink.heard_at = heard.server_time
    return heard.latest_cursor or ""


async def _register(context: Context, client: CloudClient, link: Link) -> None:
    registered = await register_at(client, link)
    known = (registered.deployment_id, registered.instance_id, registered.tenant_id)

    async def work(session: Session) -> None:
        await write_identity(session, *known)

    await context.database.write(work, system=True)
    uplink = _uplink(context)
    uplink.deployment_id, uplink.instance_id, uplink.cloud_tenant_id = known
    _log.info("sync.registered", deployment=registered.deployment_id)


# --- taking up changes ------------------------------------------------------------------------------------------------


async def _download(context: Context, tenant_id: str) -> bool:
    """Download and apply the changes after the last download."""
    client, uplink, database = _client(context), _uplink(context), context.database
    query = {"deploymentId": _deployment(uplink)}
    cursor, pages = await _download_progress(context, tenant_id)
    for _ in range(PAGES_MAX):
        answer = await client.get("/sync/promotions", query | ({} if cursor is None else {"cursor": cursor}))
        body = await asyncio.to_thread(msgspec.json.encode, answer)
        page = read_staged(body)
        if page.full:
            pages = 0
        if not page.upserts and not page.deletes and not pages and not page.has_more and not page.full:
            await _note_up_to_date(context, page.cursor)
            return True
        await database.write(partial(add_page, page=pages, body=body, at=context.clock()), tenant=tenant_id)
        pages += 1
        cursor = page.cursor
        if not page.has_more:
            await _apply(context, tenant_id)
            await _note_up_to_date(context, None)
            return True
    await database.write(restart_download, tenant=tenant_id)
    raise CloudUnreachable("CLOUD_UNREACHABLE", f"The cloud's changes fill more than {PAGES_MAX} pages.")


async def _apply(context: Context, tenant_id: str) -> None:
    """Apply a complete download; if that fails, start over with a full download."""
    try:
        await apply_pages(context, tenant_id)
    except (Unavailable, Conflict):  # can be retried as it is
        raise
    except Exception:
        await context.database.write(restart_download, tenant=tenant_id)
        raise


async def _download_progress(context: Context, tenant_id: str) -> tuple[str | None, int]:
    """Return the cursor to continue from, and how many pages of an interrupted download are stored."""

    async def work(session: Session) -> tuple[str | None, int, bytes | None]:
        link, numbers = await read_link(session), await page_numbers(session)
        last = await read_page(session, numbers[-1]) if numbers else None
        return link.cursor if link is not None else None, len(numbers), last

    cursor, pages, last = await context.database.read(work, tenant=tenant_id)
    return (cursor, 0) if last is None else (read_staged(last).cursor, pages)


async def _note_up_to_date(context: Context, cursor: str | None) -> None:
    """Note that the store has all changes, up to ``cursor``; None: applying them has already written it."""
    at = context.clock()
    if cursor is not None:
        await context.database.write(partial(write_synced, cursor=cursor, at=at), system=True, durable=False)
    _uplink(context).last_sync_at = at


async def _erase(context: Context, tenant_id: str) -> None:
    await keep_erased(context, tenant_id, _client(context), _deployment(_uplink(context)))


# --- the parts --------------------------------------------------------------------------------------------------------


def _uplink(context: Context) -> Uplink:
    if context.uplink is None:
        raise RuntimeError("the cloud has no uplink")
    return context.uplink


def _client(context: Context) -> CloudClient:
    client = _uplink(context).client
    if client is None:
        raise CloudUnreachable("LINK_NOT_CONFIGURED", "No link to a cloud is configured.")
    return client


def _deployment(uplink: Uplink) -> str:
    if uplink.deployment_id is None:
        raise CloudUnreachable("NOT_REGISTERED", "This store is not registered with the cloud yet.")
    return uplink.deployment_id

"""Operator functions for a store's link: set, show and test it, and send again what the cloud refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from promenade.errors import Invalid, NotFound
from promenade.store.access.local_store import read_store_tenant
from promenade.store.access.tenants import read_tenants
from promenade.store.driver.unit import Database, Session
from promenade.store.replica.applying import count_roots
from promenade.store.replica.link import Link, LinkSettings, count_uploads, read_link, read_rejected, write_settings
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient, require_address
from promenade.workflows.replica.exchanging import Registered, register_at
from promenade.workflows.replica.own_secret import replace_secret
from promenade.workflows.replica.uploading import requeue_rejected

INTERVAL_SECONDS = 60
INTERVAL_SECONDS_MAX = 86_400
REJECTED_SHOWN = 100
_QUIET = timedelta(minutes=10)  # a link that backs off tries at least every five minutes

_LENGTHS = {"url": 2000, "auth_url": 2000, "client_id": 255, "client_secret": 1000, "store_code": 50,
            "store_name": 255, "pos_group_code": 20}  # fmt: skip
_NEEDED = ("url", "client_id", "client_secret", "store_code")


@dataclass(frozen=True, slots=True)
class LinkChange:
    """Settings of the link to be changed; None: unchanged, or the default."""

    url: str | None = None
    auth_url: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    store_code: str | None = None
    store_name: str | None = None
    pos_group_code: str | None = None
    interval_seconds: int | None = None
    next_secret: str | None = field(default=None, repr=False)
    """The store's own secret, which is to replace ``client_secret``: that is an enrolment code."""


async def set_link(database: Database, change: LinkChange, *, at: datetime) -> None:
    """Configure the link, or change the settings in ``change``. A running store adopts them within two seconds.

    Raises Invalid (BAD_LINK, BAD_ADDRESS) naming the option, and NotFound (NOT_A_STORE).
    """
    _check(change)

    async def work(session: Session) -> None:
        await _require_no_cloud(session)
        link = await read_link(session)
        before = link.settings if link is not None else None
        after = _merged(before, change)
        forget = _begins_anew(before, after)
        # A running store detects a change by its timestamp.
        moment = at if link is None or at > link.changed_at else link.changed_at + timedelta(microseconds=1)
        is_other = change.client_id is not None or change.client_secret is not None
        following = change.next_secret if link is None or is_other else link.next_secret
        await write_settings(session, after, at=moment, forget=forget, next_secret=following)

    await database.write(work, system=True)


def _begins_anew(before: LinkSettings | None, after: LinkSettings) -> bool:
    """Another cloud, or another store of it, starts from scratch; new credentials belong to the same store."""
    return before is None or (before.url, before.store_code) != (after.url, after.store_code)


async def find_replaced(database: Database, change: LinkChange) -> Mapping[str, int]:
    """Count by entity set the rows that the first download after ``change`` will replace or delete.

    There are none if the store goes on with what it has. Raises as `set_link` does.
    """
    _check(change)

    async def look(session: Session) -> tuple[bool, str | None]:
        await _require_no_cloud(session)
        link = await read_link(session)
        before = link.settings if link is not None else None
        return _begins_anew(before, _merged(before, change)), await read_store_tenant(session)

    is_new, tenant_id = await database.read(look, system=True)
    if not is_new or tenant_id is None:
        return {}
    return await database.read(count_roots, tenant=tenant_id)


async def _require_no_cloud(session: Session) -> None:
    """Refuse a database with tenants that was never a store's: it is a cloud's, named by mistake or by a variable."""
    if await read_store_tenant(session) is None and await read_tenants(session):
        raise NotFound("NOT_A_STORE", "This database belongs to a cloud, not to a store.")


def _check(change: LinkChange) -> None:
    for name, length in _LENGTHS.items():
        value = getattr(change, name)
        if value is not None and not (0 < len(value) <= length and value.isprintable()):
            raise Invalid("BAD_LINK", f"{_option(name)} must have 1 to {length} printable characters.", name)
    for name in ("url", "auth_url"):
        if (value := getattr(change, name)) is not None:
            require_address(value, _option(name))
    seconds = change.interval_seconds
    if seconds is not None and not 1 <= seconds <= INTERVAL_SECONDS_MAX:
        text = f"--interval must be from 1 to {INTERVAL_SECONDS_MAX} seconds."
        raise Invalid("BAD_LINK", text, "interval_seconds")


def _merged(before: LinkSettings | None, change: LinkChange) -> LinkSettings:
    names = [one.name for one in fields(LinkSettings)]
    given = {name: getattr(change, name) for name in names if getattr(change, name) is not None}
    if before is not None:
        if "url" in given and before.auth_url == before.url:  # if the cloud is its own issuer, that address changes too
            given = {"auth_url": given["url"], **given}
        return replace(before, **given)
    for name in _NEEDED:
        if name not in given:
            raise Invalid("BAD_LINK", f"There is no link yet: {_option(name)} is needed.", name)
    usual: dict[str, Any] = {
        "auth_url": given["url"],
        "store_name": None,
        "pos_group_code": None,
        "interval_seconds": INTERVAL_SECONDS,
    }
    return LinkSettings(**(usual | given))


def _option(name: str) -> str:
    return {"store_name": "--name"}.get(name, "--" + name.replace("_", "-"))


async def show_link(database: Database, *, at: datetime) -> dict[str, Any]:
    """Return the link's settings and state, without its secret. Raises NotFound (NOT_A_STORE).

    ``state`` is NOT_CONFIGURED, WAITING (no attempt yet), CONNECTED, FAILING (see ``lastError``) or QUIET (no attempt
    for a long time: is the store running?).
    """

    async def work(session: Session) -> tuple[Link | None, str | None]:
        await _require_no_cloud(session)
        return await read_link(session), await read_store_tenant(session)

    link, tenant_id = await database.read(work, system=True)
    waiting, rejected = 0, 0
    refused: list[dict[str, Any]] = []
    if tenant_id is not None:

        async def uploads(session: Session) -> tuple[tuple[int, int], list[dict[str, Any]]]:
            rows = await read_rejected(session, REJECTED_SHOWN)
            return await count_uploads(session), [
                {
                    "kind": one.kind,
                    "id": one.subject_id,
                    "transactionId": one.transaction_id,
                    "transactionCounter": one.transaction_counter,
                    "rejectedAt": _shown(one.rejected_at),
                    "reason": one.reason,
                }
                for one in rows
            ]

        (waiting, rejected), refused = await database.read(uploads, tenant=tenant_id)
    shown = {"state": "NOT_CONFIGURED"} if link is None else _described(link, at)
    return {**shown, "pending": waiting, "rejected": rejected, "rejectedUploads": refused}


def _described(link: Link, at: datetime) -> dict[str, Any]:
    settings = link.settings
    return {
        "state": link_state(link, at),
        "url": settings.url,
        "authUrl": settings.auth_url,
        "clientId": settings.client_id,
        "storeCode": settings.store_code,
        "storeName": settings.store_name,
        "posGroupCode": settings.pos_group_code,
        "intervalSeconds": settings.interval_seconds,
        "deploymentId": link.deployment_id,
        "instanceId": link.instance_id,
        "tenantId": link.cloud_tenant_id,
        "lastSyncAt": _shown(link.last_sync_at),
        "lastAttemptAt": _shown(link.last_attempt_at),
        "lastError": link.last_error,
    }


def link_state(link: Link, at: datetime) -> str:
    """Return WAITING (no attempt yet), CONNECTED, FAILING or QUIET (no attempt for a long time)."""
    if link.last_attempt_at is None:
        return "WAITING"
    quiet = max(_QUIET, 3 * timedelta(seconds=link.settings.interval_seconds))
    if at - link.last_attempt_at > quiet:
        return "QUIET"
    return "CONNECTED" if link.last_error is None else "FAILING"


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")


async def test_link(database: Database) -> Registered:
    """Request a token and register the store; return the cloud's names for it.

    Changes nothing in the store, but for a secret whose replacement was begun, such as that of an enrolment code.
    Raises NotFound (LINK_NOT_CONFIGURED), CloudUnreachable and CloudRefused.
    """
    link = await database.read(read_link, system=True)
    if link is None:
        raise NotFound("LINK_NOT_CONFIGURED", "No link is configured: use `promenade sync-link set`.")
    settings = link.settings
    client = HttpCloudClient(CloudAccess(settings.url, settings.auth_url, settings.client_id, settings.client_secret))
    try:
        if link.next_secret is not None:
            await replace_secret(database, client)
        return await register_at(client, link)
    finally:
        await client.close()


async def retry_rejected(database: Database) -> int:
    """Queue everything the cloud has refused again; return how many entries. Raises NotFound (NOT_A_STORE)."""
    tenant_id = await database.read(read_store_tenant, system=True)
    if tenant_id is None:
        raise NotFound("NOT_A_STORE", "This database does not belong to a store that was started before.")
    return await requeue_rejected(database, tenant_id)

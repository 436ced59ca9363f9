"""A store's single link to its cloud, and the pages of an incomplete download.

The link belongs to no tenant; reading and writing it needs no tenant either. Pages belong to the session's tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.zstd import compressor, decompress

ERROR_LENGTH_MAX = 1000

_NAME = "link"
_LINK = table("sync_link")
_PAGES = table("sync_pages")
_UPLOADS = table("sync_uploads")
_LEVEL = 1  # rows resemble each other: a higher level hardly reduces the size


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """The operator's settings of the link; see the columns of ``sync_link``."""

    url: str
    auth_url: str
    client_id: str
    client_secret: str = field(repr=False)
    store_code: str
    store_name: str | None
    pos_group_code: str | None
    interval_seconds: int


@dataclass(frozen=True, slots=True)
class Link:
    """The link: its settings, the IDs that the cloud assigned, and its progress."""

    settings: LinkSettings
    changed_at: datetime
    deployment_id: str | None
    instance_id: str | None
    cloud_tenant_id: str | None
    cursor: str | None
    last_sync_at: datetime | None
    last_attempt_at: datetime | None
    last_error: str | None
    next_secret: str | None = field(default=None, repr=False)  # see the column


@dataclass(frozen=True, slots=True)
class Rejected:
    """A sale (``subject_id``: its calculation log) or coupon event (its redemption log) that the cloud rejected."""

    kind: str
    subject_id: str
    transaction_id: str | None
    transaction_counter: int
    rejected_at: datetime
    reason: str | None


_SETTINGS = ("url", "auth_url", "client_id", "client_secret", "store_code", "store_name", "pos_group_code",
             "interval_seconds")  # fmt: skip
_STATE = ("changed_at", "deployment_id", "instance_id", "cloud_tenant_id", "cursor", "last_sync_at", "last_attempt_at",
          "last_error", "next_secret")  # fmt: skip
_READ = select(*(_LINK.c[name] for name in (*_SETTINGS, *_STATE))).where(_LINK.c.name == _NAME)


async def read_link(session: Session) -> Link | None:
    """Return the link; None: there is none."""
    rows = await session.execute(_READ)
    if not rows:
        return None
    settings = LinkSettings(*rows[0][: len(_SETTINGS)])
    return Link(settings, *rows[0][len(_SETTINGS) :])


async def write_settings(
    session: Session, settings: LinkSettings, *, at: datetime, forget: bool, next_secret: str | None = None
) -> None:
    """Write the settings of the link, with the secret that is to replace its present one. Needs a system session.

    ``forget``: the link now leads to another cloud or another store there, so that the IDs that the old one
    assigned, the progress and the downloaded pages are discarded.
    """
    given: dict[str, Any] = {name: getattr(settings, name) for name in _SETTINGS} | {"changed_at": at}
    given |= {"next_secret": next_secret}
    forgotten = dict.fromkeys(("deployment_id", "instance_id", "cloud_tenant_id", "cursor", "last_sync_at"))
    kept = forgotten if forget else {}
    cleared = {"last_attempt_at": None, "last_error": None}
    writing = upsert(session.dialect, _LINK).on_conflict_do_update(
        index_elements=[_LINK.c.name], set_=given | kept | cleared
    )
    await session.rowcount(writing, {"name": _NAME, **given})
    if forget:
        await session.rowcount(delete(_PAGES))


async def begin_secret(session: Session, client_id: str, present: str, following: str) -> None:
    """Write the secret that is to replace the present one, unless another was written or the settings have changed."""
    same = (_LINK.c.client_id == client_id, _LINK.c.client_secret == present, _LINK.c.next_secret.is_(None))
    await session.rowcount(update(_LINK).where(*same).values(next_secret=following))


async def end_secret(session: Session, client_id: str, following: str) -> None:
    """Make the next secret the present one, unless the settings have changed."""
    same = (_LINK.c.client_id == client_id, _LINK.c.next_secret == following)
    await session.rowcount(update(_LINK).where(*same).values(client_secret=following, next_secret=None))


async def write_identity(session: Session, deployment_id: str, instance_id: str, cloud_tenant_id: str | None) -> None:
    """Write the IDs that the cloud assigned; a new deployment starts with a full download."""
    await session.rowcount(
        update(_LINK).where(_LINK.c.deployment_id.is_distinct_from(deployment_id)).values(cursor=None)
    )
    await session.rowcount(
        update(_LINK).values(deployment_id=deployment_id, instance_id=instance_id, cloud_tenant_id=cloud_tenant_id)
    )


async def write_attempt(session: Session, *, at: datetime, error: str | None) -> None:
    """Write the time of a contact with the cloud and its error; None: it succeeded."""
    short = None if error is None else error[:ERROR_LENGTH_MAX]
    await session.rowcount(update(_LINK).values(last_attempt_at=at, last_error=short))


async def write_synced(session: Session, cursor: str | None, *, at: datetime) -> None:
    """Write the cursor of the changes applied, up to date as of ``at``; None: start over."""
    await session.rowcount(update(_LINK).values(cursor=cursor, last_sync_at=at))


async def restart_download(session: Session) -> None:
    """Reset the progress and delete downloaded pages: the next download is a full one."""
    await session.rowcount(update(_LINK).values(cursor=None))
    await drop_pages(session)


async def count_uploads(session: Session) -> tuple[int, int]:
    """Return how many of the tenant's sales and coupons wait to be sent, and how many the cloud rejected."""
    rows = await session.execute(select(func.count(), func.count(_UPLOADS.c.rejected_at)).select_from(_UPLOADS))
    total, rejected = tuple(rows[0])
    return total - rejected, rejected


async def oldest_upload(session: Session) -> datetime | None:
    """Return when the first of what waits to be sent happened; None: nothing waits."""
    first = select(_UPLOADS.c.happened_at).where(_UPLOADS.c.rejected_at.is_(None)).order_by(_UPLOADS.c.number)
    rows = await session.execute(first.limit(1))
    return rows[0][0] if rows else None


async def read_rejected(session: Session, limit: int) -> Sequence[Rejected]:
    """Return up to ``limit`` rejected uploads, oldest first; they are not sent again automatically."""
    names = ("kind", "subject_id", "transaction_id", "transaction_counter", "rejected_at", "reason")
    columns = [_UPLOADS.c[name] for name in names]
    refused = select(*columns).where(_UPLOADS.c.rejected_at.is_not(None)).order_by(_UPLOADS.c.number).limit(limit)
    return [Rejected(*tuple(row)) for row in await session.execute(refused)]


# --- pages ------------------------------------------------------------------------------------------------------------


async def add_page(session: Session, page: int, body: bytes, *, at: datetime) -> None:
    """Store a page, counted from 0; page 0 replaces all earlier pages."""
    if page == 0:
        await drop_pages(session)
    packed = compressor(_LEVEL)(body)
    await session.rowcount(insert(_PAGES), {"page": page, "body": packed, "received_at": at})


async def page_numbers(session: Session) -> Sequence[int]:
    """Return the numbers of the stored pages, in order."""
    return [row[0] for row in await session.execute(select(_PAGES.c.page).order_by(_PAGES.c.page))]


async def read_page(session: Session, page: int) -> bytes:
    """Return a stored page as it was received. Raises LookupError."""
    rows = await session.execute(select(_PAGES.c.body).where(_PAGES.c.page == page))
    if not rows:
        raise LookupError(f"there is no page {page}")
    return decompress(rows[0][0])


async def drop_pages(session: Session) -> None:
    """Delete all pages."""
    await session.rowcount(delete(_PAGES))

"""The one link of a store to its cloud, as the database has it, and the pages of a download that is not complete.

The link belongs to no tenant; what reads and writes it needs no tenant either. Pages are the tenant's of the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import zstandard
from sqlalchemy import delete, func, insert, select, update

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "ERROR_LENGTH_MAX",
    "Link",
    "LinkSettings",
    "Rejected",
    "add_page",
    "count_uploads",
    "drop_pages",
    "page_numbers",
    "read_link",
    "read_page",
    "read_rejected",
    "write_anew",
    "write_attempt",
    "write_identity",
    "write_settings",
    "write_synced",
]

ERROR_LENGTH_MAX = 1000

_NAME = "link"
_LINK = table("sync_link")
_PAGES = table("sync_pages")
_UPLOADS = table("sync_uploads")
_LEVEL = 1  # rows repeat each other: more work hardly makes them shorter


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What an operator says of the link; see the columns of ``sync_link``."""

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
    """The link: its settings, what the cloud has called the store, and how far it is."""

    settings: LinkSettings
    changed_at: datetime
    deployment_id: str | None
    instance_id: str | None
    cloud_tenant_id: str | None
    cursor: str | None
    last_sync_at: datetime | None
    last_attempt_at: datetime | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A sale (``subject_id`` is its calculation log) or a coupon event (its redemption log) that the cloud refused."""

    kind: str
    subject_id: str
    transaction_id: str | None
    transaction_counter: int
    rejected_at: datetime
    reason: str | None


_SETTINGS = ("url", "auth_url", "client_id", "client_secret", "store_code", "store_name", "pos_group_code",
             "interval_seconds")  # fmt: skip
_STATE = ("changed_at", "deployment_id", "instance_id", "cloud_tenant_id", "cursor", "last_sync_at", "last_attempt_at",
          "last_error")  # fmt: skip
_READ = select(*(_LINK.c[name] for name in (*_SETTINGS, *_STATE))).where(_LINK.c.name == _NAME)


async def read_link(session: Session) -> Link | None:
    """The link; None: there is none."""
    rows = await session.execute(_READ)
    if not rows:
        return None
    settings = LinkSettings(*rows[0][: len(_SETTINGS)])
    return Link(settings, *rows[0][len(_SETTINGS) :])


async def write_settings(session: Session, settings: LinkSettings, *, at: datetime, forget: bool) -> None:
    """Write the settings of the link; ``forget``: it leads to another cloud or another store there, so that what the
    old one has called this store, how far it was and what was downloaded of it is worth nothing. Needs a system
    session."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _SETTINGS} | {"changed_at": at}
    forgotten = dict.fromkeys(("deployment_id", "instance_id", "cloud_tenant_id", "cursor", "last_sync_at"))
    kept = forgotten if forget else {}
    cleared = {"last_attempt_at": None, "last_error": None}
    writing = upsert(session.dialect, _LINK).on_conflict_do_update(
        index_elements=[_LINK.c.name], set_=given | kept | cleared
    )
    await session.rowcount(writing, {"name": _NAME, **given})
    if forget:
        await session.rowcount(delete(_PAGES))


async def write_identity(session: Session, deployment_id: str, instance_id: str, cloud_tenant_id: str | None) -> None:
    """What the cloud has called the store; a new deployment begins with everything."""
    await session.rowcount(
        update(_LINK).where(_LINK.c.deployment_id.is_distinct_from(deployment_id)).values(cursor=None)
    )
    await session.rowcount(
        update(_LINK).values(deployment_id=deployment_id, instance_id=instance_id, cloud_tenant_id=cloud_tenant_id)
    )


async def write_attempt(session: Session, *, at: datetime, error: str | None) -> None:
    """That the cloud was asked, and what went wrong; None: nothing."""
    short = None if error is None else error[:ERROR_LENGTH_MAX]
    await session.rowcount(update(_LINK).values(last_attempt_at=at, last_error=short))


async def write_synced(session: Session, cursor: str | None, *, at: datetime) -> None:
    """How far the store has taken up changes, which it was up to date with ``at`` some time; None: it begins anew."""
    await session.rowcount(update(_LINK).values(cursor=cursor, last_sync_at=at))


async def write_anew(session: Session) -> None:
    """Forget how far the store is, and what it has downloaded: the next download brings everything."""
    await session.rowcount(update(_LINK).values(cursor=None))
    await drop_pages(session)


async def count_uploads(session: Session) -> tuple[int, int]:
    """How many of the tenant's sales and coupons wait to be sent, and how many the cloud has refused."""
    rows = await session.execute(select(func.count(), func.count(_UPLOADS.c.rejected_at)).select_from(_UPLOADS))
    total, rejected = tuple(rows[0])
    return total - rejected, rejected


async def read_rejected(session: Session, limit: int) -> Sequence[Rejected]:
    """What the cloud has refused, the oldest first, up to ``limit``: it is not sent again by itself."""
    names = ("kind", "subject_id", "transaction_id", "transaction_counter", "rejected_at", "reason")
    columns = [_UPLOADS.c[name] for name in names]
    refused = select(*columns).where(_UPLOADS.c.rejected_at.is_not(None)).order_by(_UPLOADS.c.number).limit(limit)
    return [Rejected(*tuple(row)) for row in await session.execute(refused)]


# --- pages ------------------------------------------------------------------------------------------------------------


async def add_page(session: Session, page: int, body: bytes, *, at: datetime) -> None:
    """Keep a page, counted from 0; 0 takes the place of all that were there."""
    if page == 0:
        await drop_pages(session)
    packed = zstandard.ZstdCompressor(level=_LEVEL).compress(body)
    await session.rowcount(insert(_PAGES), {"page": page, "body": packed, "received_at": at})


async def page_numbers(session: Session) -> Sequence[int]:
    """The pages that are kept, in order."""
    return [row[0] for row in await session.execute(select(_PAGES.c.page).order_by(_PAGES.c.page))]


async def read_page(session: Session, page: int) -> bytes:
    """A page that is kept, as it was received. Raises LookupError."""
    rows = await session.execute(select(_PAGES.c.body).where(_PAGES.c.page == page))
    if not rows:
        raise LookupError(f"there is no page {page}")
    return zstandard.decompress(rows[0][0])


async def drop_pages(session: Session) -> None:
    """Forget all pages."""
    await session.rowcount(delete(_PAGES))

"""Handwritten pages in the form that a cloud sends; names stand for IDs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from promenade.model.sync_sets import ROOTS, columns_of
from promenade.store.driver.unit import Session
from promenade.store.replica.link import LinkSettings, add_page, write_settings
from promenade.workflows.replica.applying import apply_pages
from tests.workflows.shop import NOON, Shop, identity

__all__ = ["LONG_AGO", "apply", "article", "coupon_type", "link", "page", "promotion", "row", "stage"]

LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
PARTS = {part.set_name for root in ROOTS for part in root.parts}

SETTINGS = LinkSettings("https://cloud.example", "https://cloud.example", "client", "secret", "S1", None, "SHOP", 60)


def row(set_name: str, name: str, /, **members: Any) -> dict[str, Any]:
    """Return a row by its wire names, with defaults for missing ones; members that end in _ID name rows."""
    usual: dict[str, Any] = {column.wire: column.default for column in columns_of(set_name)}
    given = {key: identity(value) if key.endswith("_ID") else value for key, value in members.items()}
    stamps: dict[str, Any] = {key: LONG_AGO for key in ("createdAt", "modifiedAt") if key in usual}
    assert given.keys() <= usual.keys(), given.keys() - usual.keys()
    key = {} if set_name == "Tenants" else {"ID": identity(name)}
    return {**usual, **stamps, **key, **given}


def promotion(name: str, /, *, code: str | None = None, **members: Any) -> dict[str, Any]:
    return row("Promotions", name, **{"code": code or name, "name": name, "status": "ACTIVE", **members})


def article(name: str, /, **members: Any) -> dict[str, Any]:
    return row("Articles", name, **{"articleNumber": name, "name": name, **members})


def coupon_type(name: str, /, **members: Any) -> dict[str, Any]:
    return row("CouponTypes", name, **{"code": name, "name": name, "status": "ACTIVE", **members})


def page(
    cursor: str,
    upserts: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    deletes: Mapping[str, Sequence[str]] | None = None,
    *,
    full: bool = False,
    more: bool = False,
) -> bytes:
    """Return an answer of ``GET /sync/promotions``; ``deletes`` by names."""
    gone = {set_name: [identity(name) for name in names] for set_name, names in (deletes or {}).items()}
    return msgspec.json.encode(
        {"cursor": cursor, "full": full, "upserts": upserts or {}, "deletes": gone, "hasMore": more}
    )


async def link(shop: Shop, **changes: Any) -> None:
    """Configure a link."""

    async def work(session: Session) -> None:
        await write_settings(session, SETTINGS, at=NOON, forget=False)

    await shop.context.database.write(work, system=True)


async def stage(shop: Shop, *pages: bytes) -> None:
    """Stage pages as a download does."""

    async def work(session: Session) -> None:
        for number, body in enumerate(pages):
            await add_page(session, number, body, at=NOON)

    await shop.context.database.write(work, tenant=shop.tenant)


async def apply(shop: Shop, *pages: bytes) -> bool:
    """Stage pages and apply them."""
    await stage(shop, *pages)
    return await apply_pages(shop.context, shop.tenant)

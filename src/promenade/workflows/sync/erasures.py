"""What stores are told of erased customers, so that they erase them, too: the key of the digests, and digests.

Erasures are told in the order in which they were asked for. The number of all of them tells a store whether it has
missed one, or one was forgotten; then it hears all of them again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from promenade.errors import Forbidden
from promenade.store.access.tenants import tenant_is_known
from promenade.store.driver.types import from_microseconds, to_microseconds
from promenade.store.driver.unit import Session
from promenade.store.sync import deployments
from promenade.store.sync.erasures import Place, count_erasures, read_after, read_key
from promenade.workflows.context import Context
from promenade.workflows.sync.cursors import CURSOR_LENGTH_MAX
from promenade.workflows.sync.deployments import no_deployment

DIGESTS_MAX = 1000
"""Digests on a page."""
_FORM = 1  # of the cursor
_Written = tuple[int, bytes, int, str]


@dataclass(frozen=True, slots=True)
class ErasuresPage:
    """A page of erasures. ``key`` is None if there are no digests on it, ``total`` the number of all erasures.

    ``full``: it is the first page of all of them. Digests are HMAC-SHA-256 of customers' IDs, in hexadecimal digits.
    """

    key: bytes | None
    full: bool
    digests: Sequence[str]
    cursor: str
    has_more: bool
    total: int


async def erasures_after(context: Context, tenant_id: str, deployment_id: str, cursor: str | None) -> ErasuresPage:
    """Return the erasures that follow a cursor; one that cannot be read is none.

    Raises NotFound (DEPLOYMENT_NOT_FOUND), and Forbidden (UNKNOWN_TENANT) while the tenant is being deleted.
    """
    if not await deployments.is_deployment(context.database.look, tenant_id, deployment_id):
        raise no_deployment()

    async def work(session: Session) -> ErasuresPage:
        if not await tenant_is_known(session, tenant_id):
            raise Forbidden("UNKNOWN_TENANT", "The store's tenant is not known here.")
        key = await read_key(session)
        after = _read_cursor(cursor, key)
        found = await read_after(session, after, DIGESTS_MAX + 1)
        page = found[:DIGESTS_MAX]
        until = page[-1] if page else after
        return ErasuresPage(
            key if page else None,
            after is None,
            [one.digest for one in page],
            "" if until is None or key is None else _write_cursor(until, key),
            len(found) > DIGESTS_MAX,
            await count_erasures(session),
        )

    return await context.database.read(work, tenant=tenant_id)


def _write_cursor(place: Place, key: bytes) -> str:
    written: _Written = (_FORM, _mark(key), to_microseconds(place.requested_at), place.digest)
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(written)).rstrip(b"=").decode()


def _read_cursor(text: str | None, key: bytes | None) -> Place | None:
    """Parse a text that `_write_cursor` returned with the same key; return None for any other text."""
    if not text or key is None or len(text) > CURSOR_LENGTH_MAX or not text.isascii():
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        form, mark, at, digest = msgspec.msgpack.decode(raw, type=_Written)
        if form != _FORM or mark != _mark(key) or "\0" in digest:
            return None
        return Place(from_microseconds(at), digest)
    except (ValueError, OverflowError, msgspec.MsgspecError):
        return None


def _mark(key: bytes) -> bytes:
    """Return a mark by which a cursor is recognised that belongs to other digests."""
    return hmac.digest(key, b"cursor", hashlib.sha256)[:6]

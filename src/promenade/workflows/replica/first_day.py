"""How far a store is on its first day: its link, the first download, a till's key, a first basket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from promenade.store.access.till_keys import read_till_keys
from promenade.store.driver.unit import Session
from promenade.store.replica.link import Link, count_uploads, page_numbers, read_link
from promenade.store.sales.transactions import has_iterations
from promenade.store.sync.deployments import has_pos_group
from promenade.workflows.context import Context
from promenade.workflows.replica.linking import link_state

NOT_CONFIGURED = "NOT_CONFIGURED"
LINK, DOWNLOAD, POS_GROUP, TILL, UPLOADS = "LINK", "DOWNLOAD", "POS_GROUP", "TILL", "UPLOADS"


@dataclass(frozen=True, slots=True)
class StoreState:
    """What a store has and lacks; ``pages``: downloaded and not applied yet, ``waits``: what is missing, in order."""

    link: Link | None
    link_state: str
    pages: int
    promotions: int
    has_pos_group: bool
    till_keys: int
    till_seen_at: datetime | None
    has_priced: bool
    waiting: int
    rejected: int

    @property
    def download_state(self) -> str:
        """Return NOT_NEEDED (no link), WAITING, RUNNING or DONE."""
        if self.link is None:
            return "NOT_NEEDED"
        if self.link.last_sync_at is not None:
            return "DONE"
        return "RUNNING" if self.pages else "WAITING"

    @property
    def waits(self) -> Sequence[str]:
        """What does not work yet; empty: nothing."""
        missing = {
            LINK: self.link_state in ("WAITING", "FAILING", "QUIET"),
            DOWNLOAD: self.download_state in ("WAITING", "RUNNING"),
            POS_GROUP: not self.has_pos_group,  # without one no basket is priced
            TILL: not self.has_priced and self.till_seen_at is None,
            UPLOADS: self.link is not None and bool(self.waiting or self.rejected),
        }
        return [name for name, is_missing in missing.items() if is_missing]


async def read_state(context: Context, tenant_id: str) -> StoreState:
    """Return how far the store is. Raises Unavailable."""

    async def of_store(session: Session) -> tuple[Link | None, Sequence[datetime | None]]:
        return await read_link(session), [one.last_used_at for one in await read_till_keys(session)]

    async def of_tenant(session: Session) -> tuple[int, tuple[int, int], bool, bool]:
        uploads = await count_uploads(session)
        return len(await page_numbers(session)), uploads, await has_iterations(session), await has_pos_group(session)

    link, used = await context.database.read(of_store, system=True)
    pages, (waiting, rejected), has_priced, has_group = await context.database.read(of_tenant, tenant=tenant_id)
    return StoreState(
        link=link,
        link_state=NOT_CONFIGURED if link is None else link_state(link, context.clock()),
        pages=pages,
        promotions=len((await context.catalogues.current(tenant_id)).definitions),
        has_pos_group=has_group,
        till_keys=len(used),
        till_seen_at=max((one for one in used if one is not None), default=None),
        has_priced=has_priced,
        waiting=waiting,
        rejected=rejected,
    )

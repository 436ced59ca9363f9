"""Which scopes the groups of an outside issuer's tokens give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from promenade.store.access.groups import read_groups
from promenade.store.driver.unit import Database, Session


class GroupDirectory:
    """Knows the scopes of each tenant's groups of ``issuer``; what it knows is at most half a minute old."""

    SECONDS_KEPT = 30.0

    def __init__(self, database: Database, clock: Callable[[], datetime], issuer: str) -> None:
        self._database = database
        self._clock = clock
        self.issuer = issuer
        self._known: dict[str, tuple[Mapping[str, frozenset[str]], float]] = {}  # scopes by group, known until

    async def scopes_of(self, tenant_id: str, groups: frozenset[str]) -> frozenset[str]:
        """Return the scopes that these groups give in a tenant that exists."""
        now = self._clock().timestamp()
        known = self._known.get(tenant_id)
        # If the clock was set back, what is known would stay for longer.
        if known is None or not 0 < known[1] - now <= self.SECONDS_KEPT:
            known = await self._read(tenant_id), now + self.SECONDS_KEPT
            self._known[tenant_id] = known
        return frozenset().union(*(known[0].get(group, ()) for group in groups))

    async def _read(self, tenant_id: str) -> Mapping[str, frozenset[str]]:
        async def work(session: Session) -> Mapping[str, frozenset[str]]:
            return {row.group_name: frozenset(row.scopes) for row in await read_groups(session, self.issuer)}

        return await self._database.read(work, tenant=tenant_id)

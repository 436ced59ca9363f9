"""Whether tokens of the built-in issuer have been withdrawn: of clients, and of people's sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from promenade.store.driver.unit import Database
from promenade.workflows.access.clients import ClientDirectory
from promenade.workflows.access.person_sessions import SessionDirectory


class TokenDirectory:
    """Tells whether a token is still accepted; what it knows is at most half a minute old."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._clients = ClientDirectory(database, clock)
        self._sessions = SessionDirectory(database, clock)

    async def accepts(self, tenant_id: str, client_id: str, session_id: str | None, issued_at: float) -> bool:
        """Return whether a token is accepted that a client got at this time, or a person in a session."""
        if session_id is None:
            return await self._clients.accepts(tenant_id, client_id, issued_at)
        return await self._sessions.accepts(tenant_id, session_id, issued_at)

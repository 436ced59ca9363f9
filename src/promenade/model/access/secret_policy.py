"""How old a client's secret may become: what a tenant's settings say of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from promenade.model.access.clients import OVERLAP_HOURS

_SPREAD = 5  # secrets are due in the last fifth of the time that they have
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """A tenant's `secretDays`, `secretOverlapHours` and `secretGraceDays`."""

    days: int | None = None
    overlap_hours: int | None = None
    grace_days: int | None = None

    @property
    def overlap(self) -> timedelta:
        """How long the former secret is accepted."""
        return timedelta(hours=OVERLAP_HOURS if self.overlap_hours is None else self.overlap_hours)

    def overdue_at(self, since: datetime) -> datetime | None:
        """Return when a secret from ``since`` is as old as it may become; None: it may have any age."""
        return None if self.days is None else since + timedelta(days=self.days)

    def due_at(self, client_id: str, since: datetime) -> datetime | None:
        """Return when its client should replace it: before it is overdue, and at another time than other clients.

        Ten thousand clients that were made in one minute replace their secrets spread over a fifth of `days`. The time
        follows from the client and from ``since``, so it is the same whoever asks, and another one in the next round.
        """
        latest = self.overdue_at(since)
        if latest is None or self.days is None:
            return None
        digest = hashlib.sha256(f"{client_id} {since.timestamp():.6f}".encode()).digest()
        seconds = self.days * _DAY_SECONDS // _SPREAD
        return latest - timedelta(seconds=int.from_bytes(digest[:8], "big") % seconds)

    def refused_at(self, since: datetime) -> datetime | None:
        """Return when it gets no more tokens; None: never."""
        latest = self.overdue_at(since)
        return None if latest is None or self.grace_days is None else latest + timedelta(days=self.grace_days)


NO_POLICY = SecretPolicy()
"""Of a tenant that has set none."""

"""One compiled catalogue per tenant, kept fresh."""

from __future__ import annotations

from promenade.store.unit import Database, Session

__all__ = ["Catalogues", "record_change"]


class Catalogues:
    """The compiled catalogues of this process, one per tenant, loaded at first need."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def record_change(session: Session, kind: str, *entity_ids: str) -> None:
    """Note in the session's transaction that entities of the set ``kind`` (``Promotions``) changed.

    Without IDs everything of that kind may have changed. Every authoring write calls this.
    """
    raise NotImplementedError

"""Articles sent by a till: stored during the request, or accepted as a batch that a job stores."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from types import TracebackType

from promenade.store.authoring.statements import insert_rows
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Session
from promenade.store.imports.parts import NumberedRow, pack
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import Accepted, ImportOrder, accept_import, check_room
from promenade.workflows.imports.importing import Portion, RowFault, RowImporter, Stored
from promenade.workflows.imports.rows import importer_for
from promenade.workflows.pace import Rest

# The changes of a portion make every till of the tenant reload its catalogue: hence few portions rather than small
# ones, and time for pricing after each.
PORTION_ROWS = 100
BESIDE_TILLS = Rest(times=3.0, seconds_min=0.06, seconds_max=1.0)
UNFINISHED_BATCHES_MAX = 16
_ENTITY = "Articles"
_CALL, _BATCH = "POS", "POS_BATCH"
_NAME_MAX = 255


@dataclass(slots=True)
class ImportedArticles:
    """The results of a call's articles, each list ordered by number; an article may have several faults."""

    stored: list[Stored] = field(default_factory=list)
    faults: list[RowFault] = field(default_factory=list)


class ImportTurns:
    """Serializes the portions that calls of one tenant store in this process.

    Without it the portions of concurrent calls would fill each other's rests, leaving no time for pricing.
    """

    __slots__ = ("_turns",)

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}

    def of(self, tenant_id: str) -> _Turn:
        """Return the turns of an existing tenant."""
        return self._turns.setdefault(tenant_id, _Turn())


class _Turn:
    """A lock held while a portion is stored; granted in order of arrival, after the rest for tills."""

    __slots__ = ("_began", "_lock", "_rested_at")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._began = self._rested_at = float("-inf")

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        try:
            # The rest comes before the next portion, not after the last, so that no call waits for a needless rest.
            await asyncio.sleep(max(0.0, self._rested_at - time.monotonic()))
        except BaseException:
            self._lock.release()
            raise
        self._began = time.monotonic()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def rest(self) -> None:
        """Give tills their time after this portion."""
        now = time.monotonic()
        self._rested_at = now + BESIDE_TILLS.after(now - self._began)


async def import_articles(
    context: Context, tenant_id: str, user: str, articles: Iterable[bytes], turns: ImportTurns
) -> ImportedArticles:
    """Store articles, each a JSON text that succeeds or fails on its own, one portion per unit of work.

    If this raises Unavailable, earlier portions may be stored; sending everything again is harmless.
    """
    importer = importer_for(_ENTITY, context, tenant_id=tenant_id, user=user, source=_CALL)
    call = _Call(context, tenant_id, user, importer, context.new_id())
    done = ImportedArticles()
    turn = turns.of(tenant_id)
    for rows in _portions(articles):
        await asyncio.to_thread(importer.prepare, rows)
        async with turn:
            portion = await call.store(rows)
            if portion.stored and context.tills.are_there():
                turn.rest()
        done.stored += portion.stored
        done.faults += portion.faults
    return done


def _portions(articles: Iterable[bytes]) -> Iterator[Sequence[NumberedRow]]:
    rows = (NumberedRow(number, text) for number, text in enumerate(articles, start=1))
    while portion := list(islice(rows, PORTION_ROWS)):
        yield portion


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a till; ``id`` identifies it in the audit trail."""

    context: Context
    tenant_id: str
    user: str
    importer: RowImporter
    id: str

    async def store(self, rows: Sequence[NumberedRow]) -> Portion:
        """Store a portion in a unit of its own, with an audit entry."""
        at = self.context.clock()

        async def work(session: Session) -> Portion:
            portion = await self.importer.store(session, rows, at=at, keep_good=True)
            if portion.stored:
                await self._record(session, portion, at)
            return portion

        return await self.context.database.write(work, tenant=self.tenant_id)

    async def _record(self, session: Session, portion: Portion, at: datetime) -> None:
        created = sum(one.is_new for one in portion.stored)
        note = f"{created} created, {len(portion.stored) - created} updated."
        call = Subject(_ENTITY, self.id, _CALL)
        await write_trail(session, [trail_entry(self.context.new_id(), at, self.user, "IMPORT", call, note=note)])


async def require_room(context: Context, tenant_id: str) -> None:
    """Check quickly whether another batch is allowed. Raises TooMany (TOO_MANY_JOBS)."""
    await check_room(context, tenant_id, _BATCH, UNFINISHED_BATCHES_MAX)


async def accept_article_batch(
    context: Context, tenant_id: str, user: str, name: str | None, articles: Iterable[bytes], *, count: int
) -> Accepted:
    """Create a job from ``count`` articles, each a JSON text. It is durable when this returns.

    The job has the same ID in ImportJobs and in ArticleImportJobs. Raises TooMany (TOO_MANY_JOBS).
    """
    at = context.clock()

    async def also(session: Session, job_id: str) -> None:
        job = {
            "id": job_id,
            "name": name,
            "status": "QUEUED",
            "total_articles": count,
            "processed_articles": 0,
            "failed_articles": 0,
            "created_at": at,
            "created_by": user[:_NAME_MAX],
            "modified_at": at,
            "modified_by": user[:_NAME_MAX],
        }
        await insert_rows(session, "ArticleImportJobs", [job])

    order = ImportOrder(_ENTITY, _BATCH, user, continue_on_error=True, unfinished_max=UNFINISHED_BATCHES_MAX)
    return await accept_import(context, tenant_id, order, pack(articles), also)

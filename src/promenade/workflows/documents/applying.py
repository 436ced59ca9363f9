"""Apply documents to a tenant: each is one unit of authoring, which changes all that it says or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Protocol

from promenade.errors import Detail, PromenadeError, Unavailable
from promenade.store.driver.unit import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.documents.comparing import pairs_of
from promenade.workflows.documents.exporting import require_tenant
from promenade.workflows.documents.normal import Document, Row
from promenade.workflows.documents.planning import Plan, Pool, plan_documents, pool_of
from promenade.workflows.documents.shape import PROMOTIONS, STATUS, Node, Part, node_of
from promenade.workflows.documents.yaml_text import Mistake
from promenade.workflows.promotions.lifecycle import move_promotion

_VERBS = {"ACTIVE": "activate", "INACTIVE": "deactivate"}


class Permit(Protocol):
    """What decides whether an author may write an entity set."""

    def __call__(self, set_name: str, *, changes: bool) -> None:
        """Raise if the author may not change rows of the set, or else create and delete them."""
        ...


class _Undone(Exception):
    """Ends the unit of a trial."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who applies documents, and when."""

    user: str
    at: datetime
    new_id: Callable[[], str]


async def plan_all(
    database: Database, tenant: str, documents: Sequence[Document], *, at: datetime, keeps_states: bool = False
) -> list[Plan]:
    """Compare documents with a tenant, and change nothing."""
    await require_tenant(database, tenant)
    pool = pool_of(documents)
    return await database.read(
        lambda session: plan_documents(session, documents, pool, at=at, keeps_states=keeps_states), tenant=tenant
    )


async def apply_all(
    database: Database,
    tenant: str,
    documents: Sequence[Document],
    author: Author,
    *,
    is_trial: bool = False,
    keeps_states: bool = False,
) -> list[Plan]:
    """Apply documents in their order, each whole or not at all; return what became of them.

    A plan with faults was not applied. ``is_trial``: check by the same rules what would happen, and change nothing.
    """
    pool = pool_of(documents)
    plans = await plan_all(database, tenant, documents, at=author.at, keeps_states=keeps_states)
    done: list[Plan] = []
    for plan in plans:
        if plan.is_needless or plan.faults:
            done.append(plan)
        else:
            unit = _Unit(plan, pool, author, is_trial=is_trial, keeps_states=keeps_states)
            done.append(await unit.run(database, tenant))
    return done


async def plan_document(
    session: Session, document: Document, pool: Pool | None = None, *, at: datetime, keeps_states: bool = False
) -> Plan:
    """Compare a document with the session's tenant; ``pool``: what may be created for it, by default what it defines.

    It holds for as long as nobody else writes.
    """
    of_itself = pool_of([document]) if pool is None else pool
    (plan,) = await plan_documents(session, [document], of_itself, at=at, keeps_states=keeps_states)
    return plan


async def write_plan(
    session: Session, authoring: Authoring, plan: Plan, author: Author, permit: Permit | None = None
) -> str:
    """Write what a plan without faults says, in a unit that goes on; return the ID of the promotion.

    ``permit`` is asked before each entity set is written, and raises if the author may not. Raises the errors of
    authoring.
    """
    return await _Writer(authoring, session, plan, author, permit or _permit_all).write()


def _permit_all(set_name: str, *, changes: bool) -> None:
    """Permit what an operator does at the database."""


@dataclass(slots=True)
class _Unit:
    """The unit of one document; it compares again, because a document before it may have created what it needs."""

    plan: Plan
    pool: Pool
    author: Author
    is_trial: bool
    keeps_states: bool

    async def run(self, database: Database, tenant: str) -> Plan:
        """Return what became of the document. Raises Unavailable if the database does not answer."""
        try:
            await database.write(self._work, tenant=tenant)
        except _Undone:
            pass
        except Unavailable:
            raise
        except PromenadeError as error:
            details = error.details or (Detail(error.code, error.message, error.target),)
            self.plan.faults += [_fault(self.plan.document, one) for one in details]
        return self.plan

    async def _work(self, session: Session) -> None:
        author = self.author
        authoring = Authoring(session, user=author.user, at=author.at, new_id=author.new_id)
        await authoring.begin(alone=True)
        document = self.plan.document
        self.plan = await plan_document(session, document, self.pool, at=author.at, keeps_states=self.keeps_states)
        if self.plan.faults:
            return
        await write_plan(session, authoring, self.plan, author)
        await authoring.finish()
        if self.is_trial:
            raise _Undone


def _fault(document: Document, detail: Detail) -> Mistake:
    """Return a fault of authoring as one of the document: a reference has no ``_ID`` there."""
    path = "/".join(one.removesuffix("_ID") for one in (detail.target or "").split("/") if one)
    return document.parsed.at(path, detail.message)


class _Writer:
    """Writes what a plan says through authoring."""

    def __init__(self, authoring: Authoring, session: Session, plan: Plan, author: Author, permit: Permit) -> None:
        self._authoring = authoring
        self._session = session
        self._plan = plan
        self._author = author
        self._permit = permit
        self._ids = dict(plan.ids)

    async def write(self) -> str:
        """Create the definitions, then write the promotion, then its state; return its ID."""
        plan = self._plan
        for key, row in plan.made.items():
            own = row.path if plan.document.definitions.get(key) is row else ""
            self._ids[key] = await self._create(node_of(key[0]), row, own)
        if plan.stored is None:
            content = Row(plan.document.content)
            content[STATUS] = plan.wished
            return await self._create(node_of(PROMOTIONS), content, "")
        promotion_id = plan.stored.id
        await self._update(node_of(PROMOTIONS), promotion_id, plan.stored.document.content, plan.document.content)
        if plan.wished is not None:
            verb = _VERBS[plan.wished]
            self._permit(PROMOTIONS, changes=True)
            await move_promotion(self._authoring, self._session, promotion_id, verb, self._author.at)
        return promotion_id

    async def _create(self, node: Node, row: Row, path: str) -> str:
        self._permit(node.set_name, changes=False)
        new_id = await self._authoring.create(node.set_name, self._whole(node, row), path=path and f"{path}/")
        for part in node.parts.values():
            if part.is_beside:
                await self._create_beside(
                    part, new_id, self._added(part, [new for _, new in pairs_of(part, Row({}), row)])
                )
        return new_id

    async def _create_beside(self, part: Part, owner: str, rows: Sequence[tuple[Row, dict[str, Any]]]) -> None:
        if rows:
            written = [one | {part.link.property_wire: owner} for _, one in rows]
            paths = [f"{row.path or part.key}/" for row, _ in rows]
            self._permit(part.node.set_name, changes=False)
            await self._authoring.create_many(part.node.set_name, written, paths=paths)

    async def _update(self, node: Node, row_id: str, before: Row, after: Row) -> None:
        changes = self._changes(node, before, after)
        changes.pop(STATUS, None)
        if changes:
            self._permit(node.set_name, changes=True)
            await self._authoring.update(node.set_name, row_id, changes)
        for part in node.parts.values():
            if part.is_beside and before.get(part.key) != after.get(part.key):
                await self._update_beside(part, row_id, before, after)

    async def _update_beside(self, part: Part, owner: str, before: Row, after: Row) -> None:
        kept, added, gone = self._paired(part, before, after)
        for row in gone:
            self._permit(part.node.set_name, changes=False)
            await self._authoring.remove(part.node.set_name, row.id)
        changes = {old.id: (new, self._changes(part.node, old, new)) for old, new in kept if old != new}
        if changes:
            self._permit(part.node.set_name, changes=True)
            written = {row_id: one for row_id, (_, one) in changes.items()}
            paths = [f"{row.path}/" for row, _ in changes.values()]
            await self._authoring.update_many(part.node.set_name, written, paths=paths)
        await self._create_beside(part, owner, self._added(part, added))

    def _paired(self, part: Part, before: Row, after: Row) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
        """Return the rows that are kept, those that are new, and those that are gone.

        Rows of one sequence are in the order of their IDs. Where that would not be the order of the document, all of
        them are written anew.
        """
        pairs = pairs_of(part, before, after)
        kept = [(old, new) for old, new in pairs if old is not None and new is not None]
        added = [new for old, new in pairs if old is None and new is not None]
        gone = [old for old, new in pairs if old is not None and new is None]
        if part.many and part.node.is_ordered and not _stays_in_order(part.node, pairs):
            return [], [new for _, new in pairs if new is not None], [old for old, _ in pairs if old is not None]
        return kept, added, gone

    def _added(self, part: Part, rows: Iterable[Row | None]) -> list[tuple[Row, dict[str, Any]]]:
        """Return new rows as they are written; their IDs ascend, which keeps them in their order."""
        given = [row for row in rows if row is not None]
        ids: Sequence[str | None] = [None] * len(given)
        if part.many and part.node.is_ordered:
            ids = sorted(self._author.new_id() for _ in given)
        return [
            (row, self._whole(part.node, row) | ({} if row_id is None else {"ID": row_id}))
            for row, row_id in zip(given, ids, strict=True)
        ]

    def _whole(self, node: Node, row: Row) -> dict[str, Any]:
        """Return a new row by its properties; what is left out gets its default."""
        found = {key: row[key] for key in node.values if row.get(key) is not None}
        found |= {one.wire: self._id(one.target, row[key]) for key, one in node.references.items() if key in row}
        for key, part in node.parts.items():
            if not part.is_beside and key in row:
                rows = [one for _, one in self._added(part, row[key] if part.many else [row[key]])]
                found[key] = rows if part.many else rows[0]
        return found

    def _changes(self, node: Node, before: Row, after: Row) -> dict[str, Any]:
        """Return the properties that change; a composition is given whole, its rows by their IDs."""
        found = {
            key: after.get(key, field.default)
            for key, field in node.values.items()
            if before.get(key, field.default) != after.get(key, field.default)
        }
        for key, one in node.references.items():
            if before.get(key) != after.get(key):
                found[one.wire] = self._id(one.target, after[key]) if key in after else None
        for key, part in node.parts.items():
            if not part.is_beside and before.get(key) != after.get(key):
                rows = self._composed(part, before, after)
                found[key] = rows if part.many else (rows[0] if rows else None)
        return found

    def _composed(self, part: Part, before: Row, after: Row) -> list[dict[str, Any]]:
        kept, added, _ = self._paired(part, before, after)
        rows = [{**self._changes(part.node, old, new), "ID": old.id} for old, new in kept]
        return rows + [one for _, one in self._added(part, added)]

    def _id(self, target: str, code: str) -> str:
        return self._ids[target, code]


def _stays_in_order(node: Node, pairs: Iterable[tuple[Row | None, Row | None]]) -> bool:
    """Return whether rows keep the order of a document: new ones get IDs that nobody knows yet."""
    usual = node.values["sequence"].default
    places = [(new.get("sequence", usual), "" if old is None else old.id) for old, new in pairs if new is not None]
    return all(last != here or (a == b == "") or ("" < a < b) for (last, a), (here, b) in pairwise(places))

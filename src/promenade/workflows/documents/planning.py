"""What a document would change in a tenant, and what it lacks there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from promenade import model
from promenade.store.authoring.statements import find_keys
from promenade.store.driver.unit import Session
from promenade.workflows.documents.comparing import described, differences, state, summary
from promenade.workflows.documents.normal import Document, Key, Row
from promenade.workflows.documents.shape import PROMOTIONS, STATUS, definition_nodes, natural_key, node_of
from promenade.workflows.documents.stored import Stored, find_promotions, read_definitions, read_stored, references
from promenade.workflows.documents.yaml_text import Mistake

Pool = Mapping[Key, Row]
"""The rows that the documents of one run define, whichever of them does."""


@dataclass(slots=True)
class Plan:
    """What becomes of one document: ``stored`` is the promotion as the tenant has it, None if it is new.

    ``ids``: the IDs of what it refers to; ``made``: the definitions that have to be created, each after those that it
    refers to; ``faults``: why it cannot be applied. ``wished``: the state that it has to get.
    """

    document: Document
    stored: Stored | None
    ids: dict[Key, str] = field(default_factory=dict)
    made: dict[Key, Row] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[Mistake] = field(default_factory=list)
    wished: str | None = None

    @property
    def is_new(self) -> bool:
        return self.stored is None

    def made_lines(self) -> dict[Key, str]:
        """Return what is created for it besides, in words."""
        nodes = {key: node_of(key[0]) for key in self.made}
        return {
            key: f"{node.entity.label}: {key[1]} is new: {summary(node, self.made[key])}" for key, node in nodes.items()
        }

    @property
    def is_needless(self) -> bool:
        """Whether the tenant has all of it."""
        return not (self.is_new or self.changes or self.faults)


def pool_of(documents: Iterable[Document]) -> Pool:
    """Return what documents define."""
    return {key: row for one in documents for key, row in one.definitions.items()}


async def plan_documents(
    session: Session, documents: Sequence[Document], pool: Pool, *, at: datetime, keeps_states: bool = False
) -> list[Plan]:
    """Compare documents with the session's tenant, in a constant number of statements.

    ``keeps_states``: the states that documents wish for do not count.
    """
    found = await find_promotions(session, {one.identity for one in documents})
    stored = {one.id: one for one in await read_stored(session, {key for ids in found.values() for key in ids})}
    plans = []
    for one in documents:
        ids = found.get(one.identity, [])
        plan = Plan(one, stored[ids[0]] if ids else None)
        if len(ids) > 1:
            message = f"The tenant has {len(ids)} promotions of this name without a code: give them codes first."
            plan.faults.append(one.parsed.at("name", message))
        plans.append(plan)
    await _resolve(session, plans, pool)
    for plan in plans:
        _compare(plan, at, keeps_states=keeps_states)
    return plans


async def _resolve(session: Session, plans: Sequence[Plan], pool: Pool) -> None:
    """Find what the documents refer to: rows of the tenant, else of the pool."""
    wanted = {key for plan in plans for key in _all_references(plan.document.content, pool)}
    there: dict[Key, str] = {}
    for target in sorted({set_name for set_name, _ in wanted}):
        column = natural_key(model.entity(target)).name
        codes = {(code,) for set_name, code in wanted if set_name == target}
        there |= {(target, code): row_id for row_id, (code,) in await find_keys(session, target, (column,), codes)}
    defined = await read_definitions(session, pool.keys() & there.keys())
    for plan in plans:
        _take(plan, references(node_of(PROMOTIONS), plan.document.content), there, pool)
        for key, row in plan.document.definitions.items():
            if key in defined and key in plan.ids:
                node = node_of(key[0])
                for line in differences(node, defined[key], row):
                    plan.notes.append(f"{node.entity.label}: {key[1]} stays as it is: {line}")


def _all_references(row: Row, pool: Pool) -> set[Key]:
    found: set[Key] = set()
    waiting = [*references(node_of(PROMOTIONS), row)]
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            if key in pool:
                waiting += references(node_of(key[0]), pool[key])
    return found


def _take(plan: Plan, wanted: Mapping[Key, str], there: Mapping[Key, str], pool: Pool) -> None:
    """Note the IDs of what a row refers to, what has to be created for it, and what is missing."""
    for key, path in sorted(wanted.items()):
        set_name, code = key
        if key in there:
            plan.ids[key] = there[key]
        elif key in pool:
            if key not in plan.made:
                _take(plan, references(node_of(set_name), pool[key]), there, pool)
                plan.made[key] = pool[key]
        else:
            plan.faults.append(plan.document.parsed.at(path, _missing(set_name, code)))


def _missing(set_name: str, code: str) -> str:
    entity = model.entity(set_name)
    can_be_defined = any(one.set_name == set_name for one in definition_nodes().values())
    advice = "and no document defines it" if can_be_defined else "and it is imported, not defined by documents"
    return f"{entity.label} of the tenant have none with {natural_key(entity).wire} {code}, {advice}."


def _compare(plan: Plan, at: datetime, *, keeps_states: bool) -> None:
    document, stored, node = plan.document, plan.stored, node_of(PROMOTIONS)
    wished = document.content.get(STATUS)
    if keeps_states and wished is not None:
        if stored is None or not _is_granted(wished, stored, document.content, at):
            plan.notes.append(f"{_status_label()}: {state(wished)} does not count here")
        wished = None
    if stored is None:
        plan.wished = wished
        plan.changes += described(node, document.content, but=("code", STATUS))
        if wished is not None:
            plan.changes.append(f"{_status_label()} {state(wished)}")
        return
    plan.changes += differences(node, stored.document.content, document.content, but=(STATUS,))
    if wished is not None and not _is_granted(wished, stored, document.content, at):
        plan.wished = wished
        plan.changes.append(f"{_status_label()}: {state(stored.status)} -> {state(wished)}")


def _is_granted(wished: str, stored: Stored, content: Row, at: datetime) -> bool:
    """Return whether a promotion is in a state, or was until its validity ended."""
    ends: Any = content.get("validTo")
    return stored.status == wished or (
        stored.status == "EXPIRED" and wished == "ACTIVE" and ends is not None and ends <= at
    )


def _status_label() -> str:
    return model.entity(PROMOTIONS).field(STATUS).label

"""The promotions of a tenant as documents: read in sets, in as many statements for a thousand of them as for one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from promenade import model
from promenade.errors import NotFound
from promenade.store.authoring.statements import Columns, find_keys, read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.documents.normal import Document, Key, Row, in_order
from promenade.workflows.documents.shape import (
    PROMOTIONS,
    STATUS,
    Node,
    Reference,
    definition_nodes,
    natural_key,
    node_of,
    statuses,
)

Identity = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Stored:
    """A promotion as it is stored: its document, and the state that it is in, which a document may not be able to say.

    `Row.id` of the document's rows are their IDs.
    """

    document: Document
    status: str

    @property
    def id(self) -> str:
        return self.document.content.id


async def find_promotions(session: Session, identities: Collection[Identity]) -> dict[Identity, list[str]]:
    """Return the IDs of the promotions with these codes, or with these names and no code."""
    found: dict[Identity, list[str]] = {}
    codes = {(code,) for code, _ in identities if code is not None}
    for row_id, (code,) in await find_keys(session, PROMOTIONS, ("code",), codes) if codes else ():
        found.setdefault((code, ""), []).append(row_id)
    names = {name for code, name in identities if code is None}
    for row in await read_rows(session, PROMOTIONS, "name", names) if names else ():
        if row["code"] is None:
            found.setdefault((None, row["name"]), []).append(row["id"])
    return found


async def read_stored(session: Session, ids: Collection[str], *, with_definitions: bool = False) -> list[Stored]:
    """Return promotions by their IDs, in the order of their codes, then of their names.

    ``with_definitions``: the documents define what they refer to, unless it is master data. Raises NotFound
    (DANGLING_REFERENCE) for a reference to a row that is gone.
    """
    reading = _Reading(session)
    trees = await reading.trees(node_of(PROMOTIONS), "id", ids)
    rows = await reading.rows(node_of(PROMOTIONS), trees)
    definitions = await _read_definitions(session, rows) if with_definitions else {}
    found = [
        Stored(Document(row, _needed(row, definitions)), tree.columns[STATUS])
        for tree, row in zip(trees, rows, strict=True)
    ]
    return sorted(found, key=lambda one: (one.document.identity[0] is None, one.document.name, one.id))


async def read_definitions(session: Session, keys: Collection[Key]) -> dict[Key, Row]:
    """Return those of the rows with these natural keys that the tenant has, as documents define them."""
    found: dict[Key, Row] = {}
    for node in definition_nodes().values():
        codes = {code for set_name, code in keys if set_name == node.set_name}
        if codes:
            reading, key = _Reading(session), natural_key(node.entity)
            trees = await reading.trees(node, key.name, codes)
            for tree, row in zip(trees, await reading.rows(node, trees), strict=True):
                found[node.set_name, tree.columns[key.name]] = row
    return found


async def _read_definitions(session: Session, rows: Iterable[Row]) -> dict[Key, Row]:
    """Return what rows refer to, and what that refers to in turn."""
    found: dict[Key, Row] = {}
    wanted = {key for row in rows for key in references(node_of(PROMOTIONS), row)}
    while wanted:
        more = await read_definitions(session, wanted)
        found |= more
        wanted = {
            key for (set_name, _), row in more.items() for key in references(node_of(set_name), row)
        } - found.keys()
    return found


def _needed(row: Row, definitions: Mapping[Key, Row]) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    wanted = list(references(node_of(PROMOTIONS), row))
    while wanted:
        key = wanted.pop()
        if key in definitions and key not in found:
            found[key] = definitions[key]
            wanted += references(node_of(key[0]), definitions[key])
    return found


def references(node: Node, row: Row) -> dict[Key, str]:
    """Return what a row and its parts refer to, with the path at which they first do."""
    found: dict[Key, str] = {}
    for key, one in node.references.items():
        if key in row:
            path = row.path if node.code is one else "/".join(filter(None, (row.path, key)))
            found.setdefault((one.target, row[key]), path)
    for key, part in node.parts.items():
        for below in row.get(key, ()) if part.many else filter(None, (row.get(key),)):
            found = references(part.node, below) | found
    return found


@dataclass(slots=True)
class _Tree:
    columns: Columns
    parts: dict[str, list[_Tree]] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    session: Session
    wanted: dict[str, set[str]] = field(default_factory=dict)  # IDs of what is referred to, by set

    async def trees(self, node: Node, column: str, values: Collection[str]) -> list[_Tree]:
        """Read rows with their parts, by ID: that is the order of rows of one sequence, as pricing has it."""
        found = [_Tree(row) for row in await read_rows(self.session, node.set_name, column, values)]
        for one in node.references.values():
            ids = {tree.columns[one.column] for tree in found} - {None}
            self.wanted.setdefault(one.target, set()).update(ids)
        owners = {tree.columns["id"]: tree for tree in found}
        for key, part in node.parts.items():
            for tree in await self.trees(part.node, part.link.column, owners) if owners else ():
                owners[tree.columns[part.link.column]].parts.setdefault(key, []).append(tree)
        return found

    async def rows(self, node: Node, trees: Iterable[_Tree]) -> list[Row]:
        """Return trees in their normal form."""
        codes = {target: await _codes(self.session, target, ids) for target, ids in self.wanted.items() if ids}
        return [_row(node, tree, codes) for tree in trees]


async def _codes(session: Session, target: str, ids: Collection[str]) -> dict[str, str]:
    key = natural_key(model.entity(target)).name
    return {row["id"]: row[key] for row in await read_rows(session, target, "id", ids)}


def _row(node: Node, tree: _Tree, codes: Mapping[str, Mapping[str, str]]) -> Row:
    columns = tree.columns
    values = {key: columns[field.name] for key, field in node.values.items() if not field.write_only}
    if STATUS in values and values[STATUS] not in statuses(node.set_name):
        del values[STATUS]
    kept = {key: one for key, one in values.items() if one is not None and one != node.values[key].default}
    row = Row(kept, row_id=columns["id"])
    for key, one in node.references.items():
        if columns[one.column] is not None:
            row[key] = _code(one, columns[one.column], codes)
    for key, part in node.parts.items():
        below = in_order(part.node, [_row(part.node, one, codes) for one in tree.parts.get(key, ())])
        if below:
            row[key] = below if part.many else below[0]
    return row


def _code(reference: Reference, row_id: Any, codes: Mapping[str, Mapping[str, str]]) -> str:
    try:
        return codes[reference.target][row_id]
    except KeyError:
        message = f"{reference.label} refers to a row of {reference.target} that does not exist: {row_id}."
        raise NotFound("DANGLING_REFERENCE", message, reference.key) from None

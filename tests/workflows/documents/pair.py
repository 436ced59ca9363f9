"""Two tenants with the same master data: promotions are written in one, and go to the other as documents."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from promenade import model
from promenade.model.declare import EntityType
from promenade.store.driver.unit import Database
from promenade.workflows.documents.applying import Author, apply_all
from promenade.workflows.documents.checking import check_document, check_together
from promenade.workflows.documents.exporting import export_promotions
from promenade.workflows.documents.normal import Document
from promenade.workflows.documents.planning import Plan
from promenade.workflows.documents.yaml_text import read_documents
from tests.workflows.authoring.desk import OTHER, Desk

__all__ = ["ARTICLES", "GROUPS", "PLACES", "Pair", "documents_of", "lines_of", "open_pair"]

PLACES = ("WIEN", "GRAZ: Nord", "no")
ARTICLES = ("0815", "1e3", "x #1")
GROUPS = ("F", "F-1")
Row = dict[str, Any]


def documents_of(*texts: str) -> list[Document]:
    """Return documents that have nothing wrong with them."""
    found = []
    for number, text in enumerate(texts, 1):
        for parsed in read_documents(text.encode(), f"{number}.yaml"):
            document, faults = check_document(parsed)
            assert document is not None, lines_of(faults)
            found.append(document)
    assert not check_together(found)
    return found


def lines_of(faults: Sequence[Any]) -> list[str]:
    """Return faults as they are printed."""
    return [str(one) for one in faults]


class Pair:
    """A tenant to write promotions in, and one to apply them to. ``ids``: of what exists, by set and natural key."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.source = Desk(database)
        self.target = Desk(database, OTHER)
        self.ids: dict[tuple[str, str], str] = {}

    async def furnish(self) -> None:
        """Create both tenants with places, articles and groups."""
        for desk in (self.source, self.target):
            await desk.put("Tenants", tenant_id=desk.tenant, name=desk.tenant, created_by="x", modified_by="x")
            for code in PLACES:
                await self.make(desk, "PosGroups", code=code, name=code, currency="EUR")
            for code in GROUPS:
                await self.make(desk, "ArticleGroups", groupId=code)
            for code in ARTICLES:
                await self.make(desk, "Articles", articleNumber=code)

    async def make(self, desk: Desk, set_name: str, **row: Any) -> str:
        """Create a row, and remember its ID in the source tenant."""
        made = await desk.create(set_name, **row)
        if desk is self.source:
            entity = model.entity(set_name)
            self.ids[set_name, row[entity.field(entity.natural_key[0]).wire]] = made
        return made

    async def export(self, desk: Desk, *codes: str, definitions: bool = False) -> list[str]:
        """Return promotions of a tenant as texts."""
        found = await export_promotions(self.database, desk.tenant, codes, with_definitions=definitions)
        return [one.text for one in found]

    async def apply(self, *texts: str, desk: Desk | None = None, user: str = "cli", **options: Any) -> list[Plan]:
        """Apply documents to the target tenant."""
        tenant = (desk or self.target).tenant
        author = Author(user, self.target.now, lambda: str(uuid.uuid4()))
        return await apply_all(self.database, tenant, documents_of(*texts), author, **options)

    async def applied(self, *texts: str, **options: Any) -> list[Plan]:
        """Apply documents that are accepted."""
        plans = await self.apply(*texts, **options)
        assert not [line for plan in plans for line in lines_of(plan.faults)]
        return plans

    async def stored(self, desk: Desk, code: str) -> Row:
        """Return all that a tenant stores of a promotion, without what differs between tenants: IDs, times, users."""
        (row,) = await desk.rows("Promotions", code=code)
        return await _Witness(desk).whole(model.entity("Promotions"), row)


class _Witness:
    """Reads what belongs to a row, and names rows by their natural keys; on its own, without documents."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._names: dict[str, dict[str, str]] = {}

    async def whole(self, entity: EntityType, row: Mapping[str, Any]) -> Row:
        kept = {one.wire for one in entity.fields if not (one.read_only or one.virtual or one.name == "id")}
        found = {wire: row[wire] for wire in kept - {"status"}}
        for field in entity.fields:
            if field.refers_to is not None:
                found[field.wire] = await self._name(field.refers_to, row[field.wire])
        for link in entity.links:
            if link.target != "Promotions" and link is not entity.owner:
                found[link.wire] = await self._name(link.target, row[link.property_wire])
        for other in model.entities():
            for link in other.links:
                if link.target == entity.set_name and other.public.value == "RW" and _belongs(entity, link):
                    below = await self._desk.rows(other.set_name, **{link.property_wire: row["ID"]})
                    rows = [await self.whole(other, one) for one in below]
                    in_order = [
                        whole for _, whole in sorted(zip(below, rows, strict=True), key=lambda pair: _place(*pair))
                    ]
                    found[other.set_name] = in_order
        return found

    async def _name(self, target: str, row_id: str | None) -> str | None:
        if row_id is None:
            return None
        if target not in self._names:
            entity = model.entity(target)
            key = entity.field(entity.natural_key[0]).wire
            self._names[target] = {row["ID"]: row[key] for row in await self._desk.rows(target)}
        return self._names[target][row_id]


def _belongs(entity: EntityType, link: Any) -> bool:
    return link.owner or (entity.set_name == "Promotions" and link.required)


def _place(row: Row, whole: Row) -> tuple[Any, ...]:
    """Return what orders a row: its sequence, then its ID, as pricing has it; else what it says."""
    return (row["sequence"], row["ID"]) if "sequence" in row else (repr(sorted(whole.items(), key=str)),)


async def open_pair(database: Database) -> Pair:
    """Return two furnished tenants."""
    pair = Pair(database)
    await pair.furnish()
    return pair

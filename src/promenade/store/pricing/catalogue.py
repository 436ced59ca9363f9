"""One compiled catalogue per tenant and process, loaded on first use and updated incrementally.

A catalogue is valid for the version at which it was read. evaluate notices that it is stale when its storing statement
finds another version; `Catalogues.refresh` then recompiles what changed. Compiling runs in a thread, so that it does
not block other tenants' evaluations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.log import Logger
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.articles import ArticleMemory
from promenade.store.pricing.changes import Changes, Version, read_changes, read_version
from promenade.store.pricing.definitions import PromotionRows, read_promotions
from promenade.store.pricing.surroundings import Surroundings, load_surroundings, tree_hash

_log = Logger(__name__)

STEP = 50  # promotions compiled before yielding to the event loop
RELOAD_MIN = 2000  # if more promotions changed than this, a full reload is faster


@dataclass(slots=True)
class TenantCatalogue:
    """The data of one tenant cached by this process, as of ``version``. Used and changed on the event loop only."""

    version: Version = field(default_factory=Version)
    surroundings: Surroundings = field(default_factory=Surroundings)
    compiled: Catalogue = field(default_factory=lambda: Catalogue({}))
    tree_hash: str = ""
    definitions: dict[str, PromotionDefinition] = field(default_factory=dict)
    by_hash: dict[str, PromotionDefinition] = field(default_factory=dict)  # only those that compile
    gifts: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by promotion: the articles that it gives away
    pieces: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by promotion: the articles that its bundles name
    skipped: set[str] = field(default_factory=set)  # promotions whose definition does not compile
    linked: dict[str, set[str]] = field(default_factory=dict)  # Articles.ID -> promotions that refer to it
    articles: ArticleMemory = field(default_factory=ArticleMemory)
    known_hashes: set[str] = field(default_factory=set)  # definitions and trees known to be stored in the database
    is_changing: bool = False  # during an update, and permanently if the update was cancelled

    def is_still(self, version: Version) -> bool:
        """Return whether everything read from here since ``version`` was checked belongs to that version."""
        return not self.is_changing and self.version == version

    def put(self, definition: PromotionDefinition) -> None:
        """Compile a definition into the catalogue; one that does not compile is skipped with a warning."""
        self.remove(definition.id)
        self.definitions[definition.id] = definition
        try:
            self.compiled.put(definition)
        except DefinitionError as error:
            self.skipped.add(definition.id)
            _log.warning("promotion left out", promotion=definition.id, target=error.target, code=error.code)
        else:
            self.by_hash[self._hash(definition.id)] = definition
            gifts = tuple(one.free_item_article_number for one in definition.actions if one.free_item_article_number)
            if gifts:
                self.gifts[definition.id] = gifts
            parts = [part for one in definition.actions for part in one.components]
            pieces = tuple(part.article_number for part in parts if part.article_number)
            if pieces:
                self.pieces[definition.id] = pieces

    def remove(self, promotion_id: str) -> None:
        """Remove a promotion if it is present."""
        if promotion_id in self.compiled:
            self.by_hash.pop(self._hash(promotion_id), None)
            self.compiled.remove(promotion_id)
        self.definitions.pop(promotion_id, None)
        self.gifts.pop(promotion_id, None)
        self.pieces.pop(promotion_id, None)
        self.skipped.discard(promotion_id)

    async def trial(self, *tried: PromotionDefinition) -> TenantCatalogue:
        """Return a private copy with ``tried`` in place of their present versions; later changes do not reach it."""
        promotions, groups = self.compiled.promotions(), self.compiled.article_groups
        copy = replace(
            self,
            definitions=dict(self.definitions),
            by_hash={},
            gifts=dict(self.gifts),
            pieces=dict(self.pieces),
            skipped=set(self.skipped),
            linked={},
        )

        def fill() -> None:
            copy.compiled = Catalogue.compiled(promotions, groups)
            for definition in tried:
                copy.put(definition)

        await asyncio.to_thread(fill)
        return copy

    def _hash(self, promotion_id: str) -> str:
        compiled = self.compiled.get(promotion_id)
        return "" if compiled is None else compiled.hash


@dataclass(frozen=True, slots=True)
class _Update:
    """The data read by one refresh. ``ids`` None: everything was reloaded."""

    version: Version
    surroundings: Surroundings
    ids: frozenset[str] | None
    promotions: PromotionRows | None
    forget_articles: bool


class Catalogues:
    """The compiled catalogues of this process. ``on_load`` is called after each full load."""

    def __init__(self, database: Database, on_load: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._on_load = on_load
        self._tenants: dict[str, TenantCatalogue] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def loaded(self) -> Mapping[str, TenantCatalogue]:
        """Return the catalogues in memory by tenant, for heartbeat and metrics."""
        return self._tenants

    async def get(self, tenant_id: str) -> TenantCatalogue:
        """Return the tenant's catalogue as cached; changes committed since may be missing."""
        found = self._tenants.get(tenant_id)
        return found if found is not None else await self._catch_up(tenant_id, None)

    async def current(self, tenant_id: str) -> TenantCatalogue:
        """Return the tenant's catalogue at the database's current version; costs one read more than `get`."""
        found = await self.get(tenant_id)
        version = await read_version(self._database.look, tenant_id)
        return found if found.is_still(version) else await self._catch_up(tenant_id, found.version)

    async def refresh(self, tenant_id: str, stale: Version) -> TenantCatalogue:
        """Update the tenant's catalogue after ``stale`` turned out to be outdated; concurrent callers share one
        refresh.
        """
        return await self._catch_up(tenant_id, stale)

    async def _catch_up(self, tenant_id: str, stale: Version | None) -> TenantCatalogue:
        async with self._locks.setdefault(tenant_id, asyncio.Lock()):
            found = self._tenants.get(tenant_id)
            if found is not None and found.version != stale:
                return found  # another task has refreshed it already
            update = await self._database.read(_Reading(tenant_id, found).work, tenant=tenant_id)
            if found is None or update.ids is None:
                found = await asyncio.to_thread(_built, update, found)
                self._tenants[tenant_id] = found
                self._on_load()
            else:
                await _apply(found, update, update.ids)
            return found


class _Reading:
    """One read of what is needed to bring ``known`` (None: nothing yet) up to date."""

    def __init__(self, tenant_id: str, known: TenantCatalogue | None) -> None:
        self._tenant_id = tenant_id
        self._known = known

    async def work(self, session: Session) -> _Update:
        version = await read_version(session.hot, self._tenant_id)
        known = self._known
        if known is None:
            return await self._everything(session, version)
        changes = await read_changes(session, known.version, version)
        if not changes.complete or changes.by_kind.get("Promotions", ()) is None:
            return await self._everything(session, version)
        kinds = changes.by_kind.keys()
        surroundings = known.surroundings
        if kinds & {"ArticleGroups", "CouponTypes", "PosGroups", "Tenants"}:
            surroundings = await load_surroundings(session)
        if not _same_places(known.surroundings, surroundings):
            return await self._everything(session, version)
        ids = _touched(known, changes)
        if len(ids) > RELOAD_MIN:
            return await self._everything(session, version)
        rows = await read_promotions(session, sorted(ids)) if ids else None
        return _Update(version, surroundings, frozenset(ids), rows, "Articles" in kinds or "ArticleGroups" in kinds)

    async def _everything(self, session: Session, version: Version) -> _Update:
        return _Update(version, await load_surroundings(session), None, await read_promotions(session), True)


def _same_places(old: Surroundings, new: Surroundings) -> bool:
    """Return whether references resolve as before: new groups do not matter, moved or renamed ones do."""
    known = old.places.group_keys.items() <= new.places.group_keys.items()
    return known and old.places.below == new.places.below


def _touched(known: TenantCatalogue, changes: Changes) -> set[str]:
    """Return the promotions whose definition the changes may have altered."""
    ids = set(changes.by_kind.get("Promotions") or ())
    owners: dict[str, Callable[[PromotionDefinition], str | None]] = {
        "Campaigns": lambda one: one.campaign_id,
        "PriorityGroups": lambda one: one.priority_group.group_id if one.priority_group else None,
        "MutualExclusionGroups": lambda one: one.exclusion_group.group_id if one.exclusion_group else None,
    }
    for kind, owner in owners.items():
        if kind in changes.by_kind:
            changed = changes.by_kind[kind]
            for one in known.definitions.values():
                belongs_to = owner(one)
                if belongs_to is not None and (changed is None or belongs_to in changed):
                    ids.add(one.id)
    if "Articles" in changes.by_kind:
        articles = changes.by_kind["Articles"]
        for article, promotions in known.linked.items():
            if articles is None or article in articles:
                ids |= promotions
    return ids


def _built(update: _Update, before: TenantCatalogue | None) -> TenantCatalogue:
    """Build a complete catalogue; runs in a thread, on data that the event loop does not use."""
    tree = update.surroundings.article_tree
    built = TenantCatalogue(
        version=update.version,
        surroundings=update.surroundings,
        compiled=Catalogue(*tree),
        tree_hash=tree_hash(tree),
        known_hashes=set() if before is None else before.known_hashes,
    )
    if update.promotions is not None:
        for definition in update.promotions.definitions(update.surroundings.places).values():
            built.put(definition)
        built.linked = update.promotions.linked()
    if built.skipped:
        _log.warning("promotions left out", count=len(built.skipped))
    return built


async def _apply(known: TenantCatalogue, update: _Update, ids: Iterable[str]) -> None:
    """Update a catalogue in place, in steps.

    Between two steps it is neither old nor new. An evaluation that runs in between uses the old version, which its
    storing statement rejects; a simulation checks `TenantCatalogue.is_still`.
    """
    known.is_changing = True
    if update.surroundings.article_tree != known.surroundings.article_tree:
        known.compiled.set_article_groups(*update.surroundings.article_tree)
        known.tree_hash = tree_hash(update.surroundings.article_tree)
    known.surroundings = update.surroundings
    if update.forget_articles:
        known.articles = ArticleMemory()
    definitions = {} if update.promotions is None else update.promotions.definitions(update.surroundings.places)
    for step, promotion_id in enumerate(ids, 1):
        definition = definitions.get(promotion_id)
        if definition is None:
            known.remove(promotion_id)
        else:
            known.put(definition)
        if step % STEP == 0:
            await asyncio.sleep(0)
    if update.promotions is not None:
        for article, promotions in update.promotions.linked().items():
            known.linked.setdefault(article, set()).update(promotions)
    known.version = update.version
    known.is_changing = False

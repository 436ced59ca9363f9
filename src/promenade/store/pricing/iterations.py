"""Iterations: each evaluation with everything its price depended on, by (tenant, origin, transaction, counter).

``record`` is MessagePack of (Basket, Settings, Facts, hash of the article group tree, Outcome), compressed with
Zstandard as a whole, because the outcome repeats parts of the basket; and with the tenant's dictionary once it has one
(see `dictionaries`), because records of a tenant repeat its promotions and articles. Where a till prices much the same
basket again, the record is stored as the difference from an earlier one of the transaction, its base. What reports
count of the outcome is beside it (see `shown`). Definitions and trees are stored once, by their hash; rows of
`promotion_definitions` are never changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Select, String, select

from odata_server.sql.connection import Kept
from promenade.engine.basket import Basket, Facts, Settings, StoredSettings
from promenade.engine.definition import PromotionDefinition
from promenade.engine.outcome import Outcome
from promenade.engine.view import GroupTree
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Database, Session
from promenade.store.driver.upsert import upsert
from promenade.store.pricing.changes import Version
from promenade.store.pricing.dictionaries import newest_dictionary
from promenade.store.pricing.offers import Offer, Remembered, offers_of
from promenade.store.pricing.packing import (
    Base,
    PackedRecord,
    Packing,
    StoredRecord,
    bases_of,
    compressed,
    packed_records,
    unpacked,
)
from promenade.store.pricing.shape import shaped
from promenade.store.pricing.shown import digest_of
from promenade.zstd import Dictionary

CLOUD = "cloud"
"""The origin of what the cloud prices; that of a store is the ID of its deployment."""

Input = tuple[Basket, Settings, Facts, str]

_ENCODER = msgspec.msgpack.Encoder()
_RECORD = msgspec.msgpack.Decoder(tuple[Basket, StoredSettings, Facts, str, msgspec.Raw])
_OUTCOME = msgspec.msgpack.Decoder(Outcome)
_DEFINITION = msgspec.msgpack.Decoder(PromotionDefinition)
_TREE = msgspec.msgpack.Decoder(dict[str, str | None] | tuple[dict[str, str | None], dict[str, str]])


@dataclass(frozen=True, slots=True)
class PricedRecord:
    """The input of a price, and the price. ``tree_hash`` identifies the article group tree that was used."""

    basket: Basket
    settings: StoredSettings
    facts: Facts
    tree_hash: str
    outcome: Outcome
    outcome_bytes: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIteration(Offer):
    """A stored evaluation; ``tree_hash`` identifies the article group tree that was used."""

    transaction_id: str
    pos_group_id: str
    data_age: datetime | None
    settings: StoredSettings
    tree_hash: str
    outcome_bytes: bytes


async def store_iteration(
    database: Database,
    *,
    tenant_id: str,
    origin: str,
    version: Version,
    must_be_current: bool = True,
    input_: Input,
    outcome: Outcome,
    receipt_id: str | None,
    header_reference: str | None,
    created_at: datetime,
    data_age: datetime | None = None,
) -> int | None:
    """Store the next iteration of the basket's transaction and return its counter, counted from 1 without gaps.

    ``data_age`` is meta.dataAge, if it differs from the last change of ``version``.

    Returns None and stores nothing if the tenant's articles are no longer at ``version``, or if ``must_be_current`` and
    the promotions are not. One statement, one round trip; a second one every few minutes, see `newest_dictionary`.
    INVARIANT: if the row refers to a base, that is stored. What was stored is remembered for the confirm.
    """
    basket, settings = input_[0], input_[1]
    key = (tenant_id, origin, basket.transaction_id)
    bases = bases_of(database)
    record, digest = _ENCODER.encode((*input_, shaped(outcome))), digest_of(outcome)
    dictionary = await newest_dictionary(database, tenant_id, created_at)
    packing = Packing(record, digest, dictionary, bases.get(key, created_at))
    row = (
        *key,
        version.promotions if must_be_current else None,  # a comparison with NULL never fails
        version.articles,  # article facts are read after the catalogue and must be of the same version
        basket.pos_group.id,
        receipt_id,
        header_reference,
        settings.now,
        data_age or version.changed_at,
        created_at,
    )
    rows = await _store(database, row, packing)
    if not rows and packing.base is not None:  # or is the base no longer stored?
        packing.base = None
        rows = await _store(database, row, packing)
    if not rows:
        return None
    counter = int(rows[0][0])
    if packing.packed.base_counter is None:
        bases.put(key, Base(counter, record, len(packing.packed.frame), created_at, digest))
    offer = Remembered(
        transaction_counter=counter,
        receipt_id=receipt_id,
        header_reference=header_reference,
        evaluated_at=settings.now,
        created_at=created_at,
        record=record,
    )
    offers_of(database).put(key, offer)
    return counter


async def _store(database: Database, row: tuple[Any, ...], packing: Packing) -> Sequence[Sequence[Any]]:
    if database.dialect == "sqlite":  # the statement itself compresses the record, in its thread
        return await database.hot("store iteration", (*row, packing))
    return await database.hot("store iteration", (*row, *packing.run()))


_NEXT_COUNTER = """
    INSERT INTO iteration_counters (tenant_id, origin, transaction_id, last_counter)
    SELECT ?1, ?2, ?3, 1 WHERE NOT EXISTS (
        SELECT 1 FROM catalogue_versions WHERE tenant_id = ?1 AND (promotions <> ?4 OR articles <> ?5)
    )
    ON CONFLICT (tenant_id, origin, transaction_id) DO UPDATE SET last_counter = last_counter + 1
    RETURNING last_counter
"""
_IS_STORED = """
    SELECT 1 FROM iterations
    WHERE tenant_id = ? AND origin = ? AND transaction_id = ? AND transaction_counter = ? AND created_at = ?
"""
_INSERT = """
    INSERT INTO iterations (tenant_id, origin, transaction_id, transaction_counter, pos_group_id, receipt_id,
        header_reference, evaluated_at, data_age, created_at, record, advice, base_counter)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@hot_statement(
    "store iteration",
    postgresql="""
    WITH counted AS (
        INSERT INTO iteration_counters AS counter (tenant_id, origin, transaction_id, last_counter)
        SELECT $1::varchar, $2::varchar, $3::varchar, 1 WHERE NOT EXISTS (
            SELECT 1 FROM catalogue_versions
            WHERE tenant_id = $1::varchar AND (promotions <> $4::bigint OR articles <> $5::bigint)
        ) AND ($14::integer IS NULL OR EXISTS (
            SELECT 1 FROM iterations WHERE tenant_id = $1::varchar AND origin = $2::varchar
                AND transaction_id = $3::varchar AND transaction_counter = $14::integer
                AND created_at = $15::timestamptz
        ))
        ON CONFLICT (tenant_id, origin, transaction_id) DO UPDATE SET last_counter = counter.last_counter + 1
        RETURNING last_counter
    )
    INSERT INTO iterations (tenant_id, origin, transaction_id, transaction_counter, pos_group_id, receipt_id,
        header_reference, evaluated_at, data_age, created_at, record, advice, base_counter)
    SELECT $1::varchar, $2::varchar, $3::varchar, last_counter, $6::varchar, $7::varchar, $8::varchar,
        $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::bytea, $13::bytea, $14::integer
    FROM counted
    RETURNING transaction_counter
    """,
)
def _store_iteration(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    counted = connection.execute(_NEXT_COUNTER, params[:5]).fetchall()
    if counted:
        *_, pos_group_id, receipt_id, reference, now, data_age, created_at, packing = params
        base = packing.base
        if base is not None:
            known = (*params[:3], base.counter, to_microseconds(base.stored_at))
            if not connection.execute(_IS_STORED, known).fetchall():
                packing.base = None
        packed = packing.run()
        connection.execute(
            _INSERT,
            (
                *params[:3],
                counted[0][0],
                pos_group_id,
                receipt_id,
                reference,
                to_microseconds(now),
                None if data_age is None else to_microseconds(data_age),
                to_microseconds(created_at),
                packed.frame,
                packed.advice,
                packed.base_counter,
            ),
        )
    return counted


async def insert_iteration(
    session: Session, origin: str, priced: StoredIteration, *, dictionary: Dictionary | None, created_at: datetime
) -> None:
    """Store an iteration priced and numbered elsewhere; an existing one is not changed.

    ``dictionary`` is the tenant's newest, see `newest_dictionary`.
    """
    values = (priced.basket, priced.settings, priced.facts, priced.tree_hash, shaped(priced.outcome))
    digest = digest_of(priced.outcome)
    row = {
        "origin": origin,
        "transaction_id": priced.transaction_id,
        "transaction_counter": priced.transaction_counter,
        "pos_group_id": priced.pos_group_id,
        "receipt_id": priced.receipt_id,
        "header_reference": priced.header_reference,
        "evaluated_at": priced.evaluated_at,
        "data_age": priced.data_age,
        "record": compressed(_ENCODER.encode(values), dictionary),
        "advice": None if digest is None else digest.stored(),
        "base_counter": None,
        "created_at": created_at,
    }
    await session.rowcount(_inserting(session.dialect), {f"given_{name}": value for name, value in row.items()})


@cache
def _inserting(dialect: str) -> Kept:
    rows = table("iterations")
    names = [column.name for column in rows.c if column.name != "tenant_id"]
    given = {name: parameter(f"given_{name}", rows.c[name].type) for name in names}
    return Kept(upsert(dialect, rows).values(**given).on_conflict_do_nothing())


@cache  # built once: building the statement takes longer than running it
def _finding() -> Kept:
    rows = table("iterations")
    return Kept(
        select(rows).where(
            rows.c.origin == parameter("given_origin", rows.c.origin.type),
            rows.c.transaction_id == parameter("given_transaction", rows.c.transaction_id.type),
            rows.c.transaction_counter == parameter("given_counter", rows.c.transaction_counter.type),
        )
    )


async def find_iteration(
    session: Session, origin: str, transaction_id: str, transaction_counter: int
) -> StoredIteration | None:
    """Return the session tenant's stored iteration, decoded; None: there is none, or its base has been purged."""
    given = {"given_origin": origin, "given_transaction": transaction_id, "given_counter": transaction_counter}
    rows = await session.execute(_finding(), given)
    if not rows:
        return None
    row = rows[0]
    (packed,) = await packed_records(session, [StoredRecord.of(row)])
    if packed is None:
        return None
    record = decode_record(packed)
    return StoredIteration(
        transaction_id=transaction_id,
        transaction_counter=transaction_counter,
        pos_group_id=row.pos_group_id,
        receipt_id=row.receipt_id,
        header_reference=row.header_reference,
        evaluated_at=row.evaluated_at,
        data_age=row.data_age,
        basket=record.basket,
        settings=record.settings,
        facts=record.facts,
        tree_hash=record.tree_hash,
        outcome=record.outcome,
        outcome_bytes=record.outcome_bytes,
    )


async def find_baskets(
    session: Session, evaluations: Sequence[tuple[str, str, int]]
) -> dict[tuple[str, str, int], Basket]:
    """Return the baskets of these evaluations (origin, transaction ID, counter) by the same, of those that are kept."""
    rows = table("iterations")
    key = (rows.c.origin, rows.c.transaction_id, rows.c.transaction_counter)
    found = await read_among(session, key, evaluations, _whole().where)
    records = await packed_records(session, [StoredRecord.of(row) for row in found])
    kept = [(row, record) for row, record in zip(found, records, strict=True) if record is not None]
    contents = unpacked(record for _, record in kept)
    return {
        (row.origin, row.transaction_id, row.transaction_counter): _RECORD.decode(content)[0]
        for (row, _), content in zip(kept, contents, strict=True)
    }


@cache
def _whole() -> Select[Any]:
    return select(table("iterations"))


async def counted_transactions(session: Session, origin: str, transaction_ids: Collection[str]) -> set[str]:
    """Return those of the transactions that have been evaluated."""
    counters = table("iteration_counters")
    its_own = select(counters.c.transaction_id).where(counters.c.origin == parameter("given_origin", String()))
    rows = await read_among(
        session, (counters.c.transaction_id,), sorted(transaction_ids), its_own.where, given_origin=origin
    )
    return {row.transaction_id for row in rows}


def encode_outcome(outcome: Outcome) -> bytes:
    """Encode a result as it is stored."""
    return _ENCODER.encode(shaped(outcome))


def decode_record(record: PackedRecord) -> PricedRecord:
    """Decode an iteration's column ``record``; needs no session and may run in a thread."""
    basket, settings, facts, tree, priced = _RECORD.decode(record.unpack())
    outcome = bytes(priced)
    return PricedRecord(basket, settings, facts, tree, _OUTCOME.decode(outcome), outcome)


async def keep_definitions(
    session: Session, bodies: Mapping[str, PromotionDefinition | GroupTree], at: datetime
) -> None:
    """Store definitions and trees under their hashes; existing ones are not changed."""
    definitions = table("promotion_definitions")
    await session.execute_many(
        upsert(session.dialect, definitions).on_conflict_do_nothing(),
        [{"hash": key, "body": encode_definition(body), "created_at": at} for key, body in sorted(bodies.items())],
    )


async def load_definitions(session: Session, hashes: Collection[str]) -> dict[str, bytes]:
    """Read bodies by hash; see `decode_definition` and `decode_tree`. Unknown hashes are left out."""
    definitions = table("promotion_definitions")
    rows = await session.execute(
        select(definitions.c.hash, definitions.c.body).where(definitions.c.hash.in_(list(hashes)))
    )
    return {row.hash: row.body for row in rows}


async def known_definitions(session: Session, hashes: Collection[str]) -> set[str]:
    """Return those of the hashes whose definitions are stored."""
    definitions = table("promotion_definitions")
    rows = await session.execute(select(definitions.c.hash).where(definitions.c.hash.in_(list(hashes))))
    return {row.hash for row in rows}


def encode_definition(body: PromotionDefinition | GroupTree) -> bytes:
    """Encode a promotion or a tree for storage; see `decode_definition` and `decode_tree`."""
    # A tree without goods that are never discounted has the form that it had before there were such goods.
    return _ENCODER.encode(body.parents if isinstance(body, GroupTree) and not body.barred else body)


def decode_definition(body: bytes) -> PromotionDefinition:
    """Decode a stored promotion."""
    return _DEFINITION.decode(body)


def decode_tree(body: bytes) -> GroupTree:
    """Decode a stored article group tree."""
    tree = _TREE.decode(body)
    return GroupTree(tree) if isinstance(tree, dict) else GroupTree(*tree)

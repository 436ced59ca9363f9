"""The tables that no service shows: freshness, iterations, confirmations, jobs, usage, clients and keys.

*origin* says who priced a transaction: ``cloud``, or the deployment of the store that did. It is part of every
key that holds a till's transaction ID, because two stores may give the same one.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.store.types import Json, Timestamp, string

__all__ = ["declare"]

# Short rows that every evaluate writes: on SQLite they are in the tree of their key, which is a page less to write.
_KEPT_IN_THEIR_KEY = frozenset({"iteration_counters"})


def declare(metadata: sa.MetaData) -> dict[str, sa.Table]:
    """Add the system tables to ``metadata``; the answer maps their names to them."""
    declared: dict[str, sa.Table] = {}
    for name, doc, tenant_owned, items in _definitions():
        tenant = (_tenant(),) if tenant_owned else ()
        declared[name] = sa.Table(
            name,
            metadata,
            *tenant,
            *items,
            info={"doc": doc, "tenant_owned": tenant_owned},
            sqlite_with_rowid=name not in _KEPT_IN_THEIR_KEY,
        )
    return declared


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", string(36), nullable=False, doc="The tenant that owns the row.")


def _text(name: str, length: int | None, doc: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, string(length), nullable=nullable, doc=doc)


def _id(name: str, doc: str, *, nullable: bool = False) -> sa.Column[str]:
    return _text(name, 36, doc, nullable=nullable)


def _moment(name: str, doc: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, Timestamp(), nullable=nullable, doc=doc)


def _bytes(name: str, doc: str, *, nullable: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=nullable, doc=doc)


def _count(name: str, doc: str, *, default: int | None = 0, big: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger() if big else sa.Integer(), nullable=False, default=default, doc=doc)


def _iteration(*, counter: bool = True) -> tuple[sa.Column[object], ...]:
    """The identity of a transaction, or of one iteration of it."""
    columns: list[sa.Column[object]] = [
        sa.Column("origin", string(36), nullable=False, doc="cloud, or the deployment that priced it."),
        sa.Column("transaction_id", string(50), nullable=False, doc="The till's transaction."),
    ]
    if counter:
        columns.append(
            sa.Column("transaction_counter", sa.Integer(), nullable=False, doc="The iteration, counted from 1.")
        )
    return tuple(columns)


def _key(table: str, *columns: str, tenant: bool = True) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*(("tenant_id",) if tenant else ()), *columns, name=f"pk_{table}__key")


_Definition = tuple[str, str, bool, tuple[SchemaItem, ...]]


def _definitions() -> Iterator[_Definition]:
    yield from _catalogue()
    yield from _transactions()
    yield from _work()
    yield from _forecasts()
    yield from _usage()
    yield from _customers()
    yield from _access()


def _catalogue() -> Iterator[_Definition]:
    yield (
        "catalogue_versions",
        "How fresh a catalogue in memory must be: every authoring write raises one of the counters.",
        True,
        (
            _count("promotions", "Raised by writes to promotions and all that decides their effect.", big=True),
            _count("articles", "Raised by writes to articles and article groups.", big=True),
            _moment("changed_at", "When either was last raised.", nullable=True),
            _key("catalogue_versions"),
        ),
    )
    yield (
        "catalogue_changes",
        "What each version of the catalogue changed, so that a process recompiles only that.",
        True,
        (
            _text("kind", 30, "Entity set of what changed; Articles belong to one counter, the rest to the other."),
            _count("version", "The value that the counter was raised to.", default=None, big=True),
            _text("entity_id", 50, "What changed; empty when everything may have."),
            _key("catalogue_changes", "kind", "version", "entity_id"),
        ),
    )
    yield (
        "promotion_definitions",
        "Promotions as they were when they priced something, by the hash of their content.",
        True,
        (
            _text("hash", 64, "SHA-256 of the body, in hexadecimal."),
            _bytes("body", "The definition that the engine compiles."),
            _moment("created_at", "When it was first needed."),
            _key("promotion_definitions", "hash"),
        ),
    )


def _transactions() -> Iterator[_Definition]:
    yield (
        "iteration_counters",
        "The last iteration of each transaction; raised in the statement that stores the iteration.",
        True,
        (
            *_iteration(counter=False),
            _count("last_counter", "The counter given last.", default=None),
            _key("iteration_counters", "origin", "transaction_id"),
        ),
    )
    yield (
        "iterations",
        "Every evaluation, with all that its price depended on, so that it can be replayed to the same bytes.",
        True,
        (
            *_iteration(),
            _id("pos_group_id", "The POS group that asked."),
            _text("receipt_id", 50, "header.receiptId, echoed.", nullable=True),
            _text("header_reference", 100, "header.headerReference, echoed.", nullable=True),
            _moment("evaluated_at", "The time that validity was judged at."),
            _moment("data_age", "meta.dataAge: the last sync or write behind the price.", nullable=True),
            _bytes("record", "Basket, settings, facts and the engine's outcome, as MessagePack, compressed."),
            _moment("created_at", "When it was stored."),
            _key("iterations", "origin", "transaction_id", "transaction_counter"),
        ),
    )
    yield (
        "confirmations",
        "The first confirm of each transaction, which wins, and the answer that repeats of it are given.",
        True,
        (
            *_iteration(),
            _bytes("fingerprint", "SHA-256 of the canonical request: another body is no replay."),
            _bytes("response", "The body answered."),
            _id("log_id", "Its calculation log.", nullable=True),
            _bytes(
                "sale", "What it carried: lines, unit split of each discount, points; as MessagePack.", nullable=True
            ),
            _bytes("returned", "Quantities returned of its lines so far, as MessagePack.", nullable=True),
            _moment("confirmed_at", "When it was confirmed."),
            _key("confirmations", "origin", "transaction_id"),
        ),
    )


def _work() -> Iterator[_Definition]:
    waiting = sa.text("dispatched_at IS NULL")
    yield (
        "side_effect_jobs",
        "The asynchronous stage of each confirmed transaction: its order, its lease and its result.",
        True,
        (
            _id("id", "Key of the job."),
            *_iteration(),
            _text("status", 10, "PENDING, RUNNING, COMPLETED or FAILED."),
            _bytes("payload", "What there is to do, as MessagePack."),
            _moment("enqueued_at", "When the transaction was confirmed."),
            _moment("due_at", "Not to be taken before; later than enqueued_at after a failed attempt."),
            _moment("started_at", "When it was first taken.", nullable=True),
            _moment("completed_at", "When it ended, well or not.", nullable=True),
            _count("attempts", "How often it was taken."),
            _text("lease_owner", 100, "The worker that holds it; its token for writing the result.", nullable=True),
            _moment("lease_until", "After this another worker may take it.", nullable=True),
            _count("coupons_redeemed", "Coupon redemptions finished."),
            _count("budgets_consumed", "Budget consumptions booked by the confirm."),
            _count("loyalty_points_earned", "Points awarded.", big=True),
            sa.Column(
                "post_purchase_coupons", Json(), nullable=True, doc="Coupons issued, as the endpoint shows them."
            ),
            _text("reason", 1000, "Why the last attempt failed.", nullable=True),
            _key("side_effect_jobs", "id"),
            sa.UniqueConstraint(
                "tenant_id", "origin", "transaction_id", "transaction_counter", name="uq_side_effect_jobs__iteration"
            ),
            sa.CheckConstraint(
                "status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED')", name="ck_side_effect_jobs__status"
            ),
            # Workers look across tenants for what is due, or was left by a worker that died.
            sa.Index("ix_side_effect_jobs__due", "status", "due_at"),
        ),
    )
    yield (
        "outbox_events",
        "Events that were committed with what they tell of; the delivery worker sends them on.",
        True,
        (
            _id("id", "Identity of the event: the webhook-id of every delivery."),
            _text("kind", 60, "Kind of the event, such as BUDGET_EXHAUSTED."),
            _bytes("payload", "The body to deliver, envelope included, as JSON; signed and sent as it is."),
            _moment("created_at", "When it happened."),
            _moment("dispatched_at", "When its deliveries were planned.", nullable=True),
            _key("outbox_events", "id"),
            sa.Index("ix_outbox_events__waiting", "created_at", "id", sqlite_where=waiting, postgresql_where=waiting),
        ),
    )


def _forecasts() -> Iterator[_Definition]:
    yield (
        "forecast_jobs",
        "Forecasts that are not finished: how far each is, and who is at it.",
        True,
        (
            _id("forecast_id", "The forecast."),
            _count("slot", "Its place among the tenant's unfinished forecasts, which bounds their number."),
            _bytes("plan", "The promotion and the facts that it is tried with, as MessagePack."),
            _bytes("tally", "What the sales so far came to, as MessagePack."),
            _moment("recorded_until", "Sales recorded later do not count."),
            _moment("cursor_at", "When the last sale so far was confirmed.", nullable=True),
            _id("cursor_id", "The calculation log of the last sale so far.", nullable=True),
            _moment("due_at", "Not to be taken before."),
            _count("attempts", "How often it was taken since it last came on."),
            _text("lease_owner", 100, "The worker that holds it; its token for writing what it did.", nullable=True),
            _moment("lease_until", "After this another worker may take it.", nullable=True),
            _key("forecast_jobs", "forecast_id"),
            sa.UniqueConstraint("tenant_id", "slot", name="uq_forecast_jobs__slot"),
        ),
    )
    yield (
        "forecast_customers",
        "Customers to whose sales the promotion of an unfinished forecast applied, and to how many.",
        True,
        (
            _id("forecast_id", "The forecast."),
            _text("customer_id", 50, "The customer."),
            _count("sales", "To how many."),
            _key("forecast_customers", "forecast_id", "customer_id"),
        ),
    )


def _usage() -> Iterator[_Definition]:
    yield (
        "promotion_usage",
        "Confirmed transactions in which a promotion applied: of each customer, and of all (customer_id empty).",
        True,
        (
            _id("promotion_id", "The promotion."),
            _text("customer_id", 50, "The customer; empty for all together."),
            _count("count", "Confirmed transactions."),
            _key("promotion_usage", "promotion_id", "customer_id"),
            sa.CheckConstraint("count >= 0", name="ck_promotion_usage__count"),
        ),
    )
    yield (
        "coupon_usage",
        "Redemptions of a coupon type: of each customer, and of all (customer_id empty).",
        True,
        (
            _id("coupon_type_id", "The coupon type."),
            _text("customer_id", 50, "The customer; empty for all together."),
            _count("count", "Redemptions, claimed ones included."),
            _key("coupon_usage", "coupon_type_id", "customer_id"),
            sa.CheckConstraint("count >= 0", name="ck_coupon_usage__count"),
        ),
    )


def _customers() -> Iterator[_Definition]:
    yield (
        "coupon_claims",
        "A code spent by a confirmed transaction; the key lets an individual code be claimed once only.",
        True,
        (
            _id("coupon_code_id", "The code."),
            _count("slot", "0 for an individual code; a generic code counts its claims.", default=None),
            _id("coupon_type_id", "The type of the code."),
            *_iteration(),
            _text("customer_id", 50, "Who spent it.", nullable=True),
            _id("promotion_id", "The promotion that it triggered."),
            _moment("claimed_at", "When the transaction was confirmed."),
            _moment("redeemed_at", "When the worker finished the redemption.", nullable=True),
            _key("coupon_claims", "coupon_code_id", "slot"),
            sa.Index("ix_coupon_claims__transaction", "tenant_id", "origin", "transaction_id"),
        ),
    )
    yield (
        "loyalty_balances",
        "Points of each customer: the sum of the customer's LoyaltyTransactions.",
        True,
        (
            _text("customer_id", 50, "The customer."),
            _count("points", "Whole points.", big=True),
            _moment("updated_at", "When they last changed.", nullable=True),
            _key("loyalty_balances", "customer_id"),
        ),
    )


def _access() -> Iterator[_Definition]:
    yield (
        "clients",
        "Clients of the built-in token issuer. Looked up before a tenant is known.",
        False,
        (
            _text("client_id", 100, "Public name of the client."),
            _id("tenant_id", "The tenant its tokens speak for."),
            _text("name", 255, "What the client is for.", nullable=True),
            _text("secret_hash", 255, "Hash of its secret, which is shown once and not kept."),
            sa.Column("scopes", Json(), nullable=False, doc="Scopes its tokens carry, a list."),
            _moment("created_at", "When it was made."),
            _moment("disabled_at", "Since when it gets no tokens.", nullable=True),
            _key("clients", "client_id", tenant=False),
            sa.Index("ix_clients__tenant_id", "tenant_id"),
        ),
    )
    yield (
        "signing_keys",
        "Keys of the built-in token issuer; retired ones stay until their tokens have expired.",
        False,
        (
            _text("kid", 64, "Key ID in the header of tokens."),
            _text("algorithm", 10, "RS256 or ES256."),
            _text("private_key", None, "The private key, as PEM."),
            _moment("created_at", "Since when it signs."),
            _moment("retired_at", "Since when it no longer signs.", nullable=True),
            _key("signing_keys", "kid", tenant=False),
        ),
    )
    yield (
        "instances",
        "Server processes on this database; meta.instanceId names one.",
        False,
        (
            _id("instance_id", "Identity of the installation's process."),
            _text("edition", 20, "cloud or local-store."),
            _text("version", 20, "Version of the program."),
            _moment("started_at", "When it started."),
            _moment("seen_at", "When it last gave a sign of life."),
            _key("instances", "instance_id", tenant=False),
        ),
    )

"""The internal tables, which no service exposes: freshness, iterations, jobs, usage, keys and others.

*origin* is who priced a transaction: ``cloud``, or the deployment of the store that did. It is part of every key
that contains a till's transaction ID, because two stores may use the same one.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from promenade.store.driver.tables.after_sale import after_sales
from promenade.store.driver.tables.columns import (
    Definition,
    content,
    count,
    identity,
    iteration,
    key,
    moment,
    partial_index,
    text,
)
from promenade.store.driver.tables.imports import import_definitions
from promenade.store.driver.tables.reports import report_tables
from promenade.store.driver.tables.sync import sync_definitions
from promenade.store.driver.types import Json, PackedJson, string

# Short rows that every evaluation or sale writes: on SQLite stored WITHOUT ROWID, in the key's B-tree, which saves
# writing a page.
_KEPT_IN_THEIR_KEY = frozenset({"iteration_counters", "calculation_log_blocks"})


def declare(metadata: sa.MetaData) -> dict[str, sa.Table]:
    """Add the system tables to ``metadata``; return them by name."""
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


def set_index_conditions(metadata: sa.MetaData) -> None:
    """Repeat the conditions of partial indexes for PostgreSQL, see `partial_index`."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_options["postgresql"]["where"] = index.info["where"]


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", string(36), nullable=False, doc="The tenant that owns the row.")


def _definitions() -> Iterator[Definition]:
    yield from _catalogue()
    yield from _transactions()
    yield from _confirmed()
    yield from _logs()
    yield from _work()
    yield from _outbox()
    yield from _approvals()
    yield from _forecasts()
    yield from _usage()
    yield from after_sales()
    yield from import_definitions()
    yield from sync_definitions()
    yield from report_tables()
    yield from _access()
    yield (
        "schema_compatibility",
        "One row: the oldest schema revision whose programs still work on these tables.",
        False,
        (
            text("works_with", 32, "The revision; see `store.driver.migrations`."),
            key("schema_compatibility", "works_with", tenant=False),
        ),
    )


def _catalogue() -> Iterator[Definition]:
    yield (
        "catalogue_versions",
        "How fresh a catalogue in memory must be: every authoring write raises one of the counters.",
        True,
        (
            count("promotions", "Raised by writes to promotions and all that decides their effect.", big=True),
            count("articles", "Raised by writes to articles and article groups.", big=True),
            moment("changed_at", "When either was last raised.", nullable=True),
            key("catalogue_versions"),
        ),
    )
    yield (
        "catalogue_changes",
        "What each version of the catalogue changed, so that a process recompiles only that.",
        True,
        (
            text("kind", 30, "Entity set of what changed; Articles belong to one counter, the rest to the other."),
            count("version", "The value that the counter was raised to.", default=None, big=True),
            text("entity_id", 50, "What changed; empty when everything may have."),
            content("others", "What an import has changed as well: UUIDs, 16 bytes each.", nullable=True),
            key("catalogue_changes", "kind", "version", "entity_id"),
        ),
    )
    yield (
        "promotion_definitions",
        "Promotions as they were when they priced something, by the hash of their content.",
        True,
        (
            text("hash", 64, "SHA-256 of the body, in hexadecimal."),
            content("body", "The definition that the engine compiles."),
            moment("created_at", "When it was first needed."),
            key("promotion_definitions", "hash"),
        ),
    )
    yield (
        "record_dictionaries",
        "What the records of a tenant's iterations have in common: each is stored without what its dictionary has.",
        True,
        (
            count("id", "In the dictionary itself and in each record made with it.", default=None, big=True),
            content("content", "The dictionary, as Zstandard makes it from records."),
            moment("created_at", "When it was made; iterations are stored with the newest."),
            key("record_dictionaries", "id"),
        ),
    )


def _transactions() -> Iterator[Definition]:
    condemned = sa.text("transaction_counter < 0")
    yield (
        "iteration_counters",
        "The last iteration of each transaction; raised in the statement that stores the iteration.",
        True,
        (
            *iteration(counter=False),
            count("last_counter", "The counter given last.", default=None),
            key("iteration_counters", "origin", "transaction_id"),
        ),
    )
    yield (
        "iterations",
        "Every evaluation, with all that its price depended on, so that it can be replayed to the same bytes.",
        True,
        (
            *iteration(),
            identity("pos_group_id", "The POS group that asked."),
            text("receipt_id", 50, "header.receiptId, echoed.", nullable=True),
            text("header_reference", 100, "header.headerReference, echoed.", nullable=True),
            moment("evaluated_at", "The time that validity was judged at."),
            moment("data_age", "meta.dataAge: the last sync or write behind the price.", nullable=True),
            content(
                "advice", "What reports count of it, see `store.pricing.shown`; null: ask the record.", nullable=True
            ),
            content(
                "record", "Basket, settings, facts and the engine's outcome, as MessagePack, compressed by Zstandard."
            ),
            sa.Column(
                "base_counter",
                sa.Integer(),
                nullable=True,
                doc="The iteration of this transaction whose record this one is stored as the difference from.",
            ),
            moment("created_at", "When it was stored, or condemned."),
            key("iterations", "origin", "transaction_id", "transaction_counter"),
            # Of what is about to be purged (see `store.clockwork.purging`): no evaluation adds to it.
            partial_index("ix_iterations__condemned", "created_at", where=condemned),
            # By age; on SQLite the rowids have that order, and the index stays empty.
            sa.Index("ix_iterations__created_at", "created_at", sqlite_where=sa.text("0")),
        ),
    )


def _confirmed() -> Iterator[Definition]:
    yield (
        "confirmations",
        "The first confirm of each transaction, which wins, and the answer that repeats of it are given.",
        True,
        (
            *iteration(),
            content("fingerprint", "SHA-256 of the canonical request: another body is no replay."),
            content("response", "The body answered."),
            identity("log_id", "Its calculation log.", nullable=True),
            content(
                "sale",
                "What it carried: lines, unit split of each discount, points; MessagePack, compressed.",
                nullable=True,
            ),
            content("returned", "Quantities returned of its lines so far, as MessagePack.", nullable=True),
            moment("confirmed_at", "When it was confirmed."),
            key("confirmations", "transaction_id", "origin"),  # a return may name a sale of another origin
        ),
    )
    yield (
        "cancellations",
        "Confirmed sales that were cancelled, and the answer that repeats of a cancel are given.",
        True,
        (
            *iteration(),
            identity("id", "The cancellation."),
            text("reason", 255, "Why, as the till said.", nullable=True),
            content("response", "The body answered."),
            identity("log_id", "The calculation log of the sale.", nullable=True),
            moment("cancelled_at", "When."),
            sa.Column(
                "reported", sa.Boolean(), nullable=False, default=False, doc="Whether reports have left the sale out."
            ),
            key("cancellations", "origin", "transaction_id"),
            partial_index("ix_cancellations__unreported", "tenant_id", "cancelled_at", where=sa.text("NOT reported")),
        ),
    )


def _logs() -> Iterator[Definition]:
    yield (
        "calculation_log_parts",
        "The lines and promotions of each calculation log, which the services show as entities of their own.",
        True,
        (
            identity("log_id", "The calculation log."),
            count("block", "Some 32 logs of a process share it, so that its promotions are noted once.", default=None),
            sa.Column("lines", PackedJson(), nullable=False, doc="Its lines, see `store.sales.log_parts`."),
            sa.Column("promotions", PackedJson(), nullable=False, doc="Its promotions."),
            moment("created_at", "When the sale was confirmed."),
            text("created_by", 255, "The user or client that created the log.", nullable=True),
            key("calculation_log_parts", "log_id"),
            sa.ForeignKeyConstraint(
                ("tenant_id", "log_id"),
                ("calculation_logs.tenant_id", "calculation_logs.id"),
                name="fk_calculation_log_parts__log_id",
                ondelete="CASCADE",
            ),
            sa.Index("ix_calculation_log_parts__block", "tenant_id", "block"),
        ),
    )
    yield (
        "calculation_log_blocks",
        "The blocks of calculation logs that a promotion occurs in: the index over the promotions of logs.",
        True,
        (
            identity("promotion_id", "The promotion."),
            count("block", "The block.", default=None),
            identity("log_id", "A log of the block that has the promotion."),
            key("calculation_log_blocks", "promotion_id", "block", "log_id"),
        ),
    )


def _work() -> Iterator[Definition]:
    unreported = sa.text("NOT reported")
    yield (
        "side_effect_jobs",
        "The asynchronous stage of each confirmed transaction: its order, its lease and its result.",
        True,
        (
            identity("id", "Key of the job."),
            *iteration(),
            text("status", 10, "PENDING, RUNNING, COMPLETED, FAILED, or CANCELLED with its sale."),
            content("payload", "What there is to do, as MessagePack."),
            moment("enqueued_at", "When the transaction was confirmed."),
            moment("due_at", "Not to be taken before; later than enqueued_at after a failed attempt."),
            moment("started_at", "When it was first taken.", nullable=True),
            moment("completed_at", "When it ended, well or not.", nullable=True),
            count("attempts", "How often it was taken."),
            text("lease_owner", 100, "The worker that holds it; its token for writing the result.", nullable=True),
            moment("lease_until", "After this another worker may take it.", nullable=True),
            count("coupons_redeemed", "Coupon redemptions finished."),
            count("budgets_consumed", "Budget consumptions booked by the confirm."),
            count("loyalty_points_earned", "Points awarded.", big=True),
            sa.Column(
                "post_purchase_coupons", Json(), nullable=True, doc="Coupons issued, as the endpoint shows them."
            ),
            text("reason", 1000, "Why the last attempt failed.", nullable=True),
            sa.Column("reported", sa.Boolean(), nullable=False, default=False, doc="Whether reports count the sale."),
            text("traceparent", 55, "The recorded trace that the confirm belongs to.", nullable=True),
            key("side_effect_jobs", "id"),
            sa.UniqueConstraint(
                "tenant_id", "origin", "transaction_id", "transaction_counter", name="uq_side_effect_jobs__iteration"
            ),
            sa.CheckConstraint(
                "status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')",
                name="ck_side_effect_jobs__status",
            ),
            # Workers search across tenants for jobs that are due, or were left behind by a crashed worker.
            sa.Index("ix_side_effect_jobs__due", "status", "due_at"),
            partial_index(
                "ix_side_effect_jobs__unreported",
                "tenant_id",
                "enqueued_at",
                where=unreported,
            ),
        ),
    )


def _outbox() -> Iterator[Definition]:
    waiting = sa.text("dispatched_at IS NULL")
    yield (
        "outbox_events",
        "Events that were committed with what they tell of; the delivery worker sends them on.",
        True,
        (
            identity("id", "Identity of the event: the webhook-id of every delivery."),
            text("kind", 60, "Kind of the event, such as BUDGET_EXHAUSTED."),
            content("payload", "The body to deliver in the standard envelope, as JSON; others are made of it."),
            text("callback_url", 2000, "Where it is sent besides: the callbackUrl of a job.", nullable=True),
            moment("created_at", "When it happened."),
            moment("dispatched_at", "When its deliveries were planned.", nullable=True),
            text("traceparent", 55, "The recorded trace that it belongs to.", nullable=True),
            key("outbox_events", "id"),
            # Events that a subscription missed are searched for by time.
            sa.Index("ix_outbox_events__created", "tenant_id", "created_at", "kind"),
            partial_index("ix_outbox_events__waiting", "created_at", "id", where=waiting),
        ),
    )


def _approvals() -> Iterator[Definition]:
    yield (
        "promotion_authors",
        "Who has changed the content of a promotion since it was last approved: they may not approve it.",
        True,
        (
            identity("promotion_id", "The promotion."),
            text("author", 255, "The user."),
            key("promotion_authors", "promotion_id", "author"),
        ),
    )


def _forecasts() -> Iterator[Definition]:
    yield (
        "forecast_jobs",
        "Forecasts that are not finished: how far each is, and who is at it.",
        True,
        (
            identity("forecast_id", "The forecast."),
            count("slot", "Its place among the tenant's unfinished forecasts, which bounds their number."),
            content("plan", "The promotion and the facts that it is tried with, as MessagePack."),
            content("tally", "What the sales so far came to, as MessagePack."),
            moment("recorded_until", "Sales recorded later do not count."),
            moment("cursor_at", "When the last sale so far was confirmed.", nullable=True),
            identity("cursor_id", "The calculation log of the last sale so far.", nullable=True),
            moment("due_at", "Not to be taken before."),
            count("attempts", "How often it was taken since it last came on."),
            text("lease_owner", 100, "The worker that holds it; its token for writing what it did.", nullable=True),
            moment("lease_until", "After this another worker may take it.", nullable=True),
            key("forecast_jobs", "forecast_id"),
            sa.UniqueConstraint("tenant_id", "slot", name="uq_forecast_jobs__slot"),
        ),
    )
    yield (
        "forecast_customers",
        "Customers to whose sales the promotion of an unfinished forecast applied, and to how many.",
        True,
        (
            identity("forecast_id", "The forecast."),
            text("customer_id", 50, "The customer."),
            count("sales", "To how many."),
            key("forecast_customers", "forecast_id", "customer_id"),
        ),
    )


def _usage() -> Iterator[Definition]:
    yield (
        "promotion_usage",
        "Confirmed transactions in which a promotion applied: of each customer, and of all (customer_id empty).",
        True,
        (
            identity("promotion_id", "The promotion."),
            text("customer_id", 50, "The customer; empty for all together."),
            count("count", "Confirmed transactions."),
            key("promotion_usage", "promotion_id", "customer_id"),
            sa.Index("ix_promotion_usage__customer_id", "tenant_id", "customer_id", "promotion_id"),
            sa.CheckConstraint("count >= 0", name="ck_promotion_usage__count"),
        ),
    )
    yield (
        "coupon_usage",
        "Redemptions of a coupon type: of each customer, and of all (customer_id empty).",
        True,
        (
            identity("coupon_type_id", "The coupon type."),
            text("customer_id", 50, "The customer; empty for all together."),
            count("count", "Redemptions, claimed ones included."),
            key("coupon_usage", "coupon_type_id", "customer_id"),
            sa.Index("ix_coupon_usage__customer_id", "tenant_id", "customer_id", "coupon_type_id"),
            sa.CheckConstraint("count >= 0", name="ck_coupon_usage__count"),
        ),
    )


def _access() -> Iterator[Definition]:
    yield (
        "signing_keys",
        "Keys of the built-in token issuer; retired ones stay until their tokens have expired.",
        False,
        (
            text("kid", 64, "Key ID in the header of tokens."),
            text("algorithm", 10, "RS256 or ES256."),
            text("private_key", None, "The private key, as PEM."),
            moment("created_at", "Since when it signs."),
            moment("retired_at", "Since when it no longer signs.", nullable=True),
            key("signing_keys", "kid", tenant=False),
        ),
    )
    yield from _issued()
    yield (
        "cache_keys",
        "The random key by which names of callers, addresses and others become names in a shared cache.",
        False,
        (
            text("purpose", 20, "What it is for: names."),
            content("secret", "The key: 32 random bytes."),
            moment("created_at", "When a process with a shared cache first needed it."),
            key("cache_keys", "purpose", tenant=False),
        ),
    )
    yield (
        "instances",
        "Server processes on this database; meta.instanceId names one.",
        False,
        (
            identity("instance_id", "Identity of the installation's process."),
            text("edition", 20, "cloud or local-store."),
            text("version", 20, "Version of the program."),
            moment("started_at", "When it started."),
            moment("seen_at", "When it last gave a sign of life."),
            key("instances", "instance_id", tenant=False),
        ),
    )


def _issued() -> Iterator[Definition]:
    yield (
        "authorization_codes",
        "What a page of the back office changes for a token, once and within a minute of the login.",
        False,
        (
            text("code_hash", 64, "SHA-256 of the code, in hexadecimal; the code itself is not kept."),
            text("client_id", 100, "The client that has logged in; of a person the back office."),
            identity("session_id", "The session of the person who has logged in.", nullable=True),
            text("redirect_uri", 2000, "Where the code was sent."),
            text("challenge", 43, "SHA-256 of what the page alone knows, in base64url (PKCE); empty: it was used."),
            moment("ends_at", "When it is worth nothing any more; if it was used, until when that is remembered."),
            key("authorization_codes", "code_hash", tenant=False),
        ),
    )
    yield (
        "person_sessions",
        "People who are signed in to the back office, in all tabs of one browser.",
        True,
        (
            identity("id", "The session, a part of the SHA-256 of the key in its cookie."),
            identity("person_id", "Who has signed in."),
            text("secret_digest", 64, "SHA-256 of what the browser's cookie proves it with, new time and again."),
            text("former_digest", 64, "The one before.", nullable=True),
            moment("former_until", "Until when that is accepted, for tabs that ask at once.", nullable=True),
            moment("began_at", "When the person signed in."),
            moment("renewed_at", "When a tab last got a token."),
            moment("ends_at", "When it ends, however much it is used."),
            text("browser", 40, "The browser and its system, such as Firefox, Windows.", nullable=True),
            key("person_sessions", "id"),
            sa.Index("ix_person_sessions__id", "id"),  # a cookie names no tenant
            sa.Index("ix_person_sessions__person_id", "tenant_id", "person_id"),
        ),
    )

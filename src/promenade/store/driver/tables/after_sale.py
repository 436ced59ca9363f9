"""System tables for what follows a sale: coupon claims and reservations, points, deliveries, and scheduled jobs."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

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


def after_sales() -> Iterator[Definition]:
    """Yield the definitions of all these tables."""
    yield from _customers()
    yield from _erasures()
    yield from _retention()
    yield from _coupons()
    yield from _deliveries()
    yield from _clockwork()


def _customers() -> Iterator[Definition]:
    yield (
        "coupon_claims",
        "A code spent by a confirmed transaction; the key lets an individual code be claimed once only.",
        True,
        (
            identity("coupon_code_id", "The code."),
            count("slot", "0 for an individual code; a generic code counts its claims.", default=None),
            identity("coupon_type_id", "The type of the code."),
            *iteration(counter=False),
            sa.Column(
                "transaction_counter",
                sa.Integer(),
                nullable=True,
                doc="The confirmed iteration; null while the till has redeemed the code but not confirmed.",
            ),
            text("customer_id", 50, "Who spent it.", nullable=True),
            identity("promotion_id", "The promotion that it triggered; null where a till redeemed it.", nullable=True),
            moment("claimed_at", "When the transaction was confirmed, or a till redeemed the code."),
            moment("redeemed_at", "When the redemption was finished.", nullable=True),
            key("coupon_claims", "coupon_code_id", "slot"),
            sa.Index("ix_coupon_claims__transaction", "tenant_id", "origin", "transaction_id"),
            _of_customers("coupon_claims"),
        ),
    )
    yield (
        "loyalty_balances",
        "Points of each customer: the sum of the customer's LoyaltyTransactions.",
        True,
        (
            text("customer_id", 50, "The customer."),
            count("points", "Whole points.", big=True),
            moment("updated_at", "When they last changed.", nullable=True),
            key("loyalty_balances", "customer_id"),
        ),
    )


def _of_customers(name: str) -> sa.Index:
    """An index of the rows that name a customer, who may ask for them or have them erased."""
    named = sa.text("customer_id IS NOT NULL")
    return partial_index(f"ix_{name}__customer_id", "tenant_id", "customer_id", where=named)


def _erasures() -> Iterator[Definition]:
    yield (
        "customer_erasures",
        "Customers who were erased, or are about to be; what still comes under their IDs is erased too.",
        True,
        (
            text("digest", 64, "HMAC-SHA-256 of the ID, with the tenant's key."),
            identity("id", "The erasure, by which operators know it."),
            text("customer_id", 50, "The ID, until it is erased.", nullable=True),
            text("pseudonym", 50, "What replaces it, until all of it is replaced.", nullable=True),
            text("status", 10, "PENDING or COMPLETED."),
            moment("requested_at", "When it was asked for, or something came under the ID once more."),
            moment("due_at", "Not to be gone on with before."),
            moment("completed_at", "When the last row was changed.", nullable=True),
            count("changed_rows", "Rows that were changed.", big=True),
            sa.Column(
                "cloud_walk",
                sa.Integer(),
                nullable=True,
                doc="In a store: the full list of its cloud that last named it, see the keys; null: asked for here.",
            ),
            moment("idle_since", "Nothing was heard of the customer since; null: it was asked for.", nullable=True),
            key("customer_erasures", "digest"),
            sa.CheckConstraint("status IN ('PENDING', 'COMPLETED')", name="ck_customer_erasures__status"),
            partial_index("ix_customer_erasures__due", "due_at", where=sa.text("status = 'PENDING'")),
            sa.Index("ix_customer_erasures__requested_at", "tenant_id", "requested_at", "digest"),
        ),
    )
    yield (
        "customer_erasure_keys",
        "The key by which a tenant's erased customers are recognised; in a store also its cloud's, and how far it is.",
        True,
        (
            content("secret", "32 random bytes."),
            moment("created_at", "When the tenant erased its first customer, or heard of one."),
            content("cloud_secret", "In a store: the key of the cloud's digests.", nullable=True),
            text("cloud_cursor", 200, "In a store: how far it has heard of the cloud's erasures.", nullable=True),
            sa.Column("cloud_walk", sa.Integer(), nullable=True, doc="In a store: full lists that it began to hear."),
            sa.Column("cloud_told", sa.BigInteger(), nullable=True, doc="In a store: erasures that were new to it."),
            sa.Column(
                "cloud_searched",
                sa.BigInteger(),
                nullable=True,
                doc="In a store: how many of them all its customers' IDs were compared with.",
            ),
            key("customer_erasure_keys"),
        ),
    )


def _retention() -> Iterator[Definition]:
    yield (
        "retention_marks",
        "Since when rows of a kind are kept, and up to when an archive was found to have them.",
        True,
        (
            text(
                "kind",
                20,
                "sales: calculation logs with their lines and promotions; audit: the audit trail; redemptions.",
            ),
            moment("purged_before", "Rows before this may be gone; null: none is.", nullable=True),
            moment("spared_before", "Rows before this stay: they came when their time was over.", nullable=True),
            moment("unchanged_since", "Rows that were changed later stay; null: any may go.", nullable=True),
            moment("archived_before", "Rows before this were in the archive when it was checked.", nullable=True),
            moment("archived_at", "Rows that were changed later may differ from it.", nullable=True),
            key("retention_marks", "kind"),
        ),
    )


def _coupons() -> Iterator[Definition]:
    yield (
        "coupon_reservations",
        "Reservations of codes that many share; an individual code has its reservation in its own row.",
        True,
        (
            identity("id", "The reservation: the token that redeems it."),
            identity("coupon_type_id", "The GENERIC coupon type."),
            identity("coupon_code_id", "The code, where the type has one in CouponCodes.", nullable=True),
            text("transaction_id", 50, "The till's transaction that holds it."),
            text("customer_id", 50, "For whom, if the till says so.", nullable=True),
            text("state", 10, "HELD, REDEEMED or CANCELLED."),
            moment("reserved_at", "When it was made."),
            moment("reserved_until", "When it runs out, this moment not included."),
            moment("ended_at", "When it was redeemed or cancelled.", nullable=True),
            key("coupon_reservations", "id"),
            sa.CheckConstraint("state IN ('HELD', 'REDEEMED', 'CANCELLED')", name="ck_coupon_reservations__state"),
            sa.Index("ix_coupon_reservations__live", "tenant_id", "coupon_type_id", "state", "reserved_until"),
            _of_customers("coupon_reservations"),
        ),
    )
    yield (
        "issue_windows",
        "How many coupons tills have had issued in the last minute, which is bounded (specification, Limits).",
        True,
        (
            content("issued", "Moments and numbers of the last 60 seconds, as MessagePack."),
            key("issue_windows"),
        ),
    )
    yield (
        "issue_keys",
        "Keys that make repeats of a till's order of coupons one order, for 24 hours.",
        True,
        (
            text("idempotency_key", 255, "The key, as the till sent it."),
            content("digest", "SHA-256 of the order: another order with the key is refused."),
            content("answer", "The coupons by their IDs, without the codes, and the failures, as MessagePack."),
            moment("seen_at", "When the coupons were issued."),
            key("issue_keys", "idempotency_key"),
            sa.Index("ix_issue_keys__seen", "seen_at"),
        ),
    )


def _deliveries() -> Iterator[Definition]:
    yield (
        "webhook_queue",
        "Deliveries that are not finished; what came of each is in NotificationLogs under the same ID.",
        True,
        (
            identity("delivery_id", "The row of NotificationLogs."),
            text(
                "lane",
                64,
                "Deliveries of one lane wait for each other, for no other: the subscription's ID, or the"
                " hash of a callbackUrl.",
            ),
            identity("event_id", "The event in outbox_events."),
            count("attempts", "How often it was tried since it was planned, or replayed by hand."),
            moment("due_at", "Not to be tried before."),
            text("lease_owner", 100, "The attempt that is under way; its token for writing the result.", nullable=True),
            moment("lease_until", "After this another worker may try.", nullable=True),
            key("webhook_queue", "delivery_id"),
            # Workers search all tenants for due deliveries, lane by lane.
            sa.Index("ix_webhook_queue__lane", "lane", "due_at"),
        ),
    )


def _clockwork() -> Iterator[Definition]:
    yield (
        "clockwork",
        "Jobs that the clock starts: each is run by one worker of all, and caught up when it was missed.",
        False,
        (
            text("name", 60, "The job."),
            moment("due_at", "When it is to run next."),
            moment("last_run_at", "When it last ran to its end.", nullable=True),
            text("cursor", 1000, "How far a job that goes round has come.", nullable=True),
            text("last_error", 1000, "Why the last run failed; null: it did not.", nullable=True),
            text("lease_owner", 100, "The run that is under way; its token for writing the result.", nullable=True),
            moment("lease_until", "After this another worker may run it.", nullable=True),
            key("clockwork", "name", tenant=False),
        ),
    )
    yield (
        "pilot_tallies",
        "How far the sales of a pilot that may go live by itself have been added up, so that each is read once a day.",
        True,
        (
            identity("promotion_id", "The promotion that is tried out."),
            text("basis", 64, "Hash of the arms and the window counted; another pilot is counted from the beginning."),
            moment("begun_at", "When this count was begun."),
            moment("counted_until", "Sales confirmed before are in it."),
            content("sums", "Transactions, sales, money and its squares by arm and currency, as JSON."),
            key("pilot_tallies", "promotion_id"),
        ),
    )

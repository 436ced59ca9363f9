"""System tables of stores that price on their own: the cloud's record of shares, and the store's own state."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import sqlalchemy as sa

from promenade.store.driver.tables.columns import Definition, content, count, identity, key, moment, text
from promenade.store.driver.types import ExactDecimal


def sync_definitions() -> Iterator[Definition]:
    """Yield the definitions of these tables."""
    yield from _of_the_cloud()
    yield from _of_a_store()
    yield from _of_its_tills()
    yield from _of_its_link()


def _of_the_cloud() -> Iterator[Definition]:
    yield (
        "store_shares",
        "What stores may spend on their own: a part of a budget or of a limit, or one coupon code. In the cloud.",
        True,
        (
            identity("deployment_id", "The store: a row of LocalDeployments."),
            # COUPON_POOL, and in a store CODES_ASKED, are requests for codes, not shares.
            text("kind", 20, "BUDGET, COUPON_TYPE, PROMOTION or COUPON_CODE; or what was asked for."),
            identity("entity_id", "The budget, coupon type, promotion or coupon code."),
            _amount("outstanding", "Given and neither reported as spent nor given back: money, or a number of uses."),
            _amount("forecast", "What the store may need of it in a day without a link, by its past days."),
            text("currency", 3, "Of a budget.", nullable=True),
            identity("reference", "The reservation that holds a code for the store.", nullable=True),
            moment("expires_at", "The store spends nothing of it from then on."),
            text("last_key", 64, "Key of the last request, whose repeat changes nothing.", nullable=True),
            content("last_answer", "What that request was answered, as JSON.", nullable=True),
            moment("changed_at", "When it was last given, spent or given back."),
            key("store_shares", "deployment_id", "kind", "entity_id"),
            sa.Index("ix_store_shares__entity", "tenant_id", "kind", "entity_id"),
            sa.Index("ix_store_shares__expiry", "expires_at"),
            sa.CheckConstraint("outstanding >= 0", name="ck_store_shares__outstanding"),
        ),
    )
    yield (
        "share_demand",
        "What all stores together may need in a day of a budget or limit that they have shares of. In the cloud.",
        True,
        (
            text("kind", 20, "BUDGET, COUPON_TYPE or PROMOTION."),
            identity("entity_id", "The budget, coupon type or promotion."),
            _amount("forecast", "The sum of the stores' forecasts."),
            count("halvings", "How often the stores' reserves are halved because so little is free."),
            _amount("piece", "What one sale uses, as far as it is known."),
            moment("changed_at", "When one of the last two changed; stores hear of it with their heartbeats."),
            key("share_demand", "kind", "entity_id"),
            sa.Index("ix_share_demand__changed", "tenant_id", "changed_at"),
        ),
    )


def _amount(name: str, doc: str) -> sa.Column[Decimal]:
    return sa.Column(name, ExactDecimal(18, 3), nullable=False, default=Decimal(0), doc=doc)


def _of_a_store() -> Iterator[Definition]:
    yield (
        "local_store",
        "What a store is: one row, made when it is first started. Empty in the cloud.",
        False,
        (
            text("name", 10, "Always `store`."),
            identity("tenant_id", "The one tenant of this database."),
            identity("instance_id", "meta.instanceId until the cloud has given one."),
            text("api_key", 64, "What tills show as X-Api-Key: 64 hexadecimal digits."),
            text(
                "password_hash", 255, "Argon2 hash of the administrator's password; none: setup is open.", nullable=True
            ),
            moment("password_changed_at", "When it was set; sessions begun before have ended.", nullable=True),
            moment("created_at", "When the store was first started."),
            key("local_store", "name", tenant=False),
        ),
    )
    yield (
        "sync_uploads",
        "What a store has yet to tell the cloud, in the order in which it happened.",
        True,
        (
            sa.Column("number", sa.BigInteger(), nullable=False, doc="The order, from 1; raised by the writer."),
            text("kind", 10, "SALE, COUPON or CANCEL."),
            identity(
                "subject_id", "The calculation log of the sale, the redemption log of the coupon, or the cancellation."
            ),
            text("transaction_id", 50, "The till's transaction, if there is one.", nullable=True),
            count("transaction_counter", "Its iteration; 0 without one."),
            content("payload", "What is sent beside what other tables hold, as MessagePack.", nullable=True),
            moment("happened_at", "When it happened."),
            moment("rejected_at", "When the cloud refused it; it is not sent again by itself.", nullable=True),
            text("reason", 1000, "Why the cloud refused it.", nullable=True),
            key("sync_uploads", "number"),
            sa.UniqueConstraint("tenant_id", "kind", "subject_id", name="uq_sync_uploads__subject"),
        ),
    )


def _of_its_tills() -> Iterator[Definition]:
    yield (
        "till_keys",
        "Keys that a store has given to single tills, beside the one that all may show. Empty in the cloud.",
        False,
        (
            text("name", 50, "Of the till."),
            text("digest", 64, "SHA-256 of the key, in hexadecimal digits; the key itself is not kept."),
            text("former_digest", 64, "Of the key before it.", nullable=True),
            moment("former_until", "How long that one is still accepted.", nullable=True),
            moment("created_at", "When the till got its first key."),
            moment("rotated_at", "When it got the present one, if that is another.", nullable=True),
            moment("last_used_at", "When a request last showed its key, to about a minute.", nullable=True),
            key("till_keys", "name", tenant=False),
        ),
    )


def _of_its_link() -> Iterator[Definition]:
    yield (
        "sync_link",
        "The one link of a store to the cloud: where, as whom, and how far it is. Empty in the cloud.",
        False,
        (
            text("name", 10, "Always `link`."),
            text("url", 2000, "The cloud's address."),
            text("auth_url", 2000, "The token endpoint."),
            text("client_id", 255, "Of the store at the token endpoint."),
            text("client_secret", 1000, "Its secret, which must be shown there: it cannot be kept as a hash."),
            text(
                "next_secret",
                1000,
                "The secret that is to replace it: written before the cloud is asked, as its answer may get lost.",
                nullable=True,
            ),
            text("store_code", 50, "What the store is called at the cloud."),
            text("store_name", 255, "In words.", nullable=True),
            text("pos_group_code", 20, "The POS group that it serves.", nullable=True),
            count("interval_seconds", "How often it asks for changes.", default=None),
            moment("changed_at", "When the settings were last changed; a running store takes them up."),
            identity("deployment_id", "What the cloud has given it when it registered.", nullable=True),
            identity("instance_id", "meta.instanceId, from the cloud.", nullable=True),
            identity("cloud_tenant_id", "The tenant that it belongs to there.", nullable=True),
            text("cursor", 500, "How far it has taken up changes.", nullable=True),
            moment("last_sync_at", "When it was last up to date with the cloud.", nullable=True),
            moment("last_attempt_at", "When it last tried.", nullable=True),
            text("last_error", 1000, "Why that failed; none: it did not.", nullable=True),
            key("sync_link", "name", tenant=False),
        ),
    )
    yield (
        "sync_pages",
        "Pages of a download from the cloud that is not complete: they are applied together.",
        True,
        (
            count("page", "Its place, counted from 0.", default=None),
            content("body", "The answer as it was received, compressed (Zstandard)."),
            moment("received_at", "When."),
            key("sync_pages", "page"),
        ),
    )

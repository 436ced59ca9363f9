"""Receive master data: a message becomes an import job of articles (specification, Master data ingest).

SOAP and REST messages both end up here, as an identifier and items: items to be upserted become rows for the importer;
those with another action code are only counted, those without a known one become rows that it refuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import json

from promenade import metrics
from promenade.errors import Invalid
from promenade.store.driver.unit import Session
from promenade.store.imports.parts import Part, pack
from promenade.store.imports.raw_payloads import RawPayload, keep_raw_payload
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import Accepted, ImportOrder, accept_import, find_accepted

INTERFACE = "ProductMerchandiseViewReplicationBulkRequest"
ITEM = "ProductMerchandiseViewReplicationRequestMessage"
ACTION_CODE = "ActionCode"
ACTION_CODES = ("01", "02", "03", "04", "05", "06")
UPSERT = "04"
OTHER = "other"  # the label of every unknown code; labels are never taken from a message
# characters kept of a value: longer than any property allows, so that the value is refused for its length
VALUE_LENGTH_MAX = 1000

MASTER_DATA = ("MASTER_DATA_SOAP", "MASTER_DATA_REST")
"""The sources of its jobs, as in ImportJobs."""

KEY_SCOPE = "MASTER_DATA"
KEY_LENGTH_MAX = 255

_PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "articleNumber": ("ProductID", "InternalID"),
    "name": ("Description", "Name"),
    "ean": ("GTIN", "GlobalTradeItemNumber"),
    "manufacturer": ("ManufacturerName", "Brand"),
    "articleGroupId": ("MerchandiseCategoryID", "ProductGroup"),
    "unit": ("BaseUnitOfMeasure", "BaseMeasureUnitCode"),
}
MEMBERS = frozenset(name for names in _PROPERTIES.values() for name in names) | {ACTION_CODE}
"""The names of what is read of a product."""


@dataclass(frozen=True, slots=True)
class Message:
    """The contents of a message: the rows to import, packed, and the number of items by action code.

    ``message_id`` is its identifier; None: it has none. ``item_codes`` counts every item.
    """

    message_id: str | None
    parts: tuple[Part, ...]
    item_codes: Mapping[str, int]

    @property
    def items_skipped(self) -> int:
        """The number of items that are not to be upserted, by a code that says so."""
        return sum(number for code, number in self.item_codes.items() if code not in (UPSERT, OTHER))


@dataclass(slots=True)
class Gathering:
    """Collects the items of a message while they are read."""

    rows: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    items: int = 0

    def add(self, codes: set[str], values: Mapping[str, str]) -> None:
        """Add an item: the action codes in it (exactly one if it is consistent) and its `MEMBERS`.

        A blank value counts as missing. An item without a number becomes a row that the importer refuses, and so does
        one without a known code: its row has the codes as its `ACTION_CODE`.
        """
        self.items += 1
        written = ", ".join(sorted(codes))
        code = written if written in ACTION_CODES else OTHER
        self.codes[code] += 1
        if code not in (UPSERT, OTHER):
            return
        row = {ACTION_CODE: written} if code == OTHER else {}
        for name, members in _PROPERTIES.items():
            for member in members:
                value = values.get(member)
                if value:
                    row[name] = value
                    break
        self.rows.append(json.encode(row))
        self.numbers.append(self.items)

    def message(self, message_id: str | None) -> Message:
        """Return the whole message. Raises Invalid (VALIDATION_FAILED) if it has no items."""
        if not self.items:
            raise Invalid("VALIDATION_FAILED", f"The message does not contain any {ITEM}.", ITEM)
        return Message(message_id, tuple(pack(self.rows, self.numbers)), dict(self.codes))


@dataclass(frozen=True, slots=True)
class Received:
    """A message and what is stored of it: its original body, the body's SHA-256, and its content type.

    ``source`` is MASTER_DATA_SOAP or MASTER_DATA_REST; repeats with the same ``key`` are one job.
    """

    source: str
    key: str
    body: bytes
    digest: bytes
    content_type: str
    message: Message


async def receive_message(context: Context, tenant_id: str, user: str, received: Received) -> Accepted:
    """Create an import job for a message and store its body, in one durable unit; a repeat returns the first job.

    Raises Conflict (KEY_REUSED) if a different message with this key was accepted within 24 hours.
    """
    message = received.message
    seen = await find_accepted(context, tenant_id, KEY_SCOPE, received.key, received.digest)
    if seen is not None:
        return seen
    order = ImportOrder(
        entity="Articles",
        source=received.source,
        user=user,
        continue_on_error=True,
        key=received.key,
        key_scope=KEY_SCOPE,
        digest=received.digest,
        rows_skipped=message.items_skipped,
    )
    payload = RawPayload(
        id=context.new_id(),
        message_id=(message.message_id or received.key)[:KEY_LENGTH_MAX],
        payload=received.body,
        content_type=received.content_type,
        received_at=context.clock(),
        user=user,
    )

    async def keep(session: Session, job_id: str) -> None:
        await keep_raw_payload(session, payload, job_id=job_id)

    accepted = await accept_import(context, tenant_id, order, message.parts, keep)
    if not accepted.is_replay:
        _count(tenant_id, message)
    return accepted


def _count(tenant_id: str, message: Message) -> None:
    for code, number in message.item_codes.items():
        metrics.drfout_items.labels(tenant_id, INTERFACE, code).inc(number)
    if message.items_skipped:
        metrics.drfout_skipped.labels(tenant_id, "action_code").inc(message.items_skipped)

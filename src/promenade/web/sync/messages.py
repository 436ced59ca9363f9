"""What stores send to the cloud and get, field by field; as in `web.pricing.messages`, in no envelope.

Every endpoint of `/sync` is declared as a `SyncOperation` in its module's ``OPERATIONS``; the reference
(docs/reference/sync.md) is made of those of all modules of ``promenade.web.sync``. The remark after ``#:`` is what it
says of a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from promenade.web.pricing.messages import Message
from promenade.web.pricing.responses import Response

# Texts that are printed and searched for contain no control characters.
_PRINTABLE = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$"
StoreCode = Annotated[str, Meta(min_length=1, max_length=50, pattern=_PRINTABLE)]
Name = Annotated[str, Meta(max_length=255, pattern=_PRINTABLE)] | None
PosGroupCode = Annotated[str, Meta(min_length=1, max_length=20)] | None
Version = Annotated[str, Meta(min_length=1, max_length=20, pattern=_PRINTABLE)]
Moment = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0, le=2_147_483_647)]


@dataclass(frozen=True, slots=True)
class SyncOperation:
    """An endpoint of `/sync`. ``doc`` is a sentence or two; ``answer`` is a text if the response is not a struct."""

    method: str
    route: str
    request: type[Struct] | None
    answer: type[Struct] | str
    doc: str


# ---- requests -------------------------------------------------------------------------------------------------------


class RegisterRequest(Message):
    """The registration of a store."""

    store_code: StoreCode  #: The store's own short code. The same code always means the same store.
    version: Version  #: Version of the store's program.
    name: Name = None  #: Name of the store.
    pos_group_code: PosGroupCode = None  #: The POS group that the store serves. Default: any.


class StoreHeartbeat(Message):
    """A heartbeat of a store."""

    deployment_id: UUID  #: From the response of `register`.
    status: Annotated[str, Meta(min_length=1, max_length=20)]  #: State of the store: `UP` or `DEGRADED`.
    version: Version  #: Version of the store's program.
    promotions_loaded: Count = 0  #: Number of promotions loaded.
    pending_transactions: Count = 0  #: Number of sales not uploaded yet.
    reserves_since: Moment | None = None  #: `serverTime` of the last response; without it there are no `reserves`.
    run_id: UUID | None = None  #: A new one with each start of the program: two at the same time are two machines.


# ---- answers --------------------------------------------------------------------------------------------------------


class RegisterAnswer(Response, frozen=True):
    """The IDs of a registered store."""

    deployment_id: str  #: Identifies the store in every other request, and is the origin of its sales.
    instance_id: str  #: The `meta.instanceId` of the store's own responses.
    tenant_id: str  #: Tenant of the store.


class Reserve(Response, frozen=True):
    """How much stores hold in reserve of a budget or limit."""

    kind: str  #: `BUDGET`, `COUPON_TYPE` or `PROMOTION`.
    entity_id: str  #: ID of the budget, coupon type or promotion.
    halvings: int  #: How often each store halves its reserve; 20: it holds none and gives the rest back.
    piece: Decimal  #: What one sale uses of it in the mean, for stores that do not know yet; 0: nobody does.


class HeartbeatAnswer(Response, frozen=True):
    """The response to a heartbeat."""

    server_time: str  #: The cloud's clock, in UTC.
    latest_cursor: str  #: The cursor after all changes: if it differs from the store's own, there are changes to fetch.
    reserves: list[Reserve] = msgspec.field(default_factory=list)  #: What has become scarce, or plenty, since then.
    epoch: int = 0  #: Raised when another machine with the store's identity was stopped: compare all shares anew.


class Changes(Response, frozen=True):
    """A page of changes."""

    cursor: str  #: To be sent unchanged with the next request; at most 200 characters.
    full: bool  #: The store must start over: rows that are on no page from this one on no longer exist.
    upserts: dict[str, list[Any]]  #: Rows by set, see below.
    deletes: dict[str, list[str]]  #: IDs of deleted rows by set; their children are deleted with them.
    has_more: bool  #: There are more pages; only all of them together are a consistent state.


OPERATIONS = (
    SyncOperation(
        "POST",
        "/sync/register",
        RegisterRequest,
        RegisterAnswer,
        "Make a store known. Asked again with the same code, it gives the same IDs and takes over the rest.",
    ),
    SyncOperation(
        "POST",
        "/sync/heartbeat",
        StoreHeartbeat,
        HeartbeatAnswer,
        "Say every 60 seconds that the store is there; after three that are missing it counts as OFFLINE.",
    ),
    SyncOperation(
        "GET",
        "/sync/promotions",
        None,
        Changes,
        "Everything that pricing needs, or what has changed of it since `cursor`. Query: `deploymentId`, `cursor`.",
    ),
)

REGISTER = msgspec.json.Decoder(RegisterRequest)
HEARTBEAT = msgspec.json.Decoder(StoreHeartbeat)

"""What stores send to the cloud and get, field by field; as in `web.pos_messages`, in no envelope.

Every endpoint of `/sync` is declared as a `SyncOperation` in its module's ``OPERATIONS``; the reference
(docs/reference/sync.md) is made of those of all modules ``promenade.web.sync*``. The remark after ``#:`` is what it
says of a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from promenade.web.pos_messages import Message
from promenade.web.pos_responses import Response

__all__ = [
    "OPERATIONS",
    "Changes",
    "HeartbeatAnswer",
    "RegisterAnswer",
    "RegisterRequest",
    "StoreHeartbeat",
    "SyncOperation",
]

# What people print and search for holds no control characters.
_PRINTABLE = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$"
StoreCode = Annotated[str, Meta(min_length=1, max_length=50, pattern=_PRINTABLE)]
Name = Annotated[str, Meta(max_length=255, pattern=_PRINTABLE)] | None
PosGroupCode = Annotated[str, Meta(min_length=1, max_length=20)] | None
Version = Annotated[str, Meta(min_length=1, max_length=20, pattern=_PRINTABLE)]
Count = Annotated[int, Meta(ge=0, le=2_147_483_647)]


@dataclass(frozen=True, slots=True)
class SyncOperation:
    """An endpoint of `/sync`. ``doc`` is a sentence or two; ``answer`` may be words where it is no struct."""

    method: str
    route: str
    request: type[Struct] | None
    answer: type[Struct] | str
    doc: str


# ---- requests -------------------------------------------------------------------------------------------------------


class RegisterRequest(Message):
    """A store that wants to be known."""

    store_code: StoreCode  #: The store's own short code. The same code again is the same store.
    version: Version  #: Version of its program.
    name: Name = None  #: What the store is called.
    pos_group_code: PosGroupCode = None  #: The POS group that it serves. Default: any.


class StoreHeartbeat(Message):
    """A store is there."""

    deployment_id: UUID  #: As `register` has answered.
    status: Annotated[str, Meta(min_length=1, max_length=20)]  #: How it is: `UP` or `DEGRADED`.
    version: Version  #: Version of its program.
    promotions_loaded: Count = 0  #: How many promotions it prices with.
    pending_transactions: Count = 0  #: Sales that it has not sent yet.


# ---- answers --------------------------------------------------------------------------------------------------------


class RegisterAnswer(Response, frozen=True):
    """What the store is called from now on."""

    deployment_id: str  #: Names the store in every other request, and is the origin of its sales.
    instance_id: str  #: What its own answers say in `meta.instanceId`.
    tenant_id: str  #: The tenant that it belongs to.


class HeartbeatAnswer(Response, frozen=True):
    """What the store may want to know."""

    server_time: str  #: The cloud's clock, in UTC.
    latest_cursor: str  #: The cursor of who has all changes: unlike the store's own, there are some to fetch.


class Changes(Response, frozen=True):
    """A page of changes."""

    cursor: str  #: Goes into the next request as it is, at most 200 characters.
    full: bool  #: The store begins anew: what no page from this one on names is gone.
    upserts: dict[str, list[Any]]  #: Rows by set, below.
    deletes: dict[str, list[str]]  #: IDs by set, of rows that are gone; their parts go with them.
    has_more: bool  #: There are further pages; only all of them together are a state of the cloud.


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

"""Envelopes: an event as the bytes and headers that leave, made anew for each attempt from the bytes in the outbox.

The same event in the same envelope is the same bytes each time (reliability W2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import msgspec

from promenade.events import events

STANDARD, CLOUDEVENTS, CLOUDEVENTS_BINARY = "STANDARD", "CLOUDEVENTS", "CLOUDEVENTS_BINARY"

JSON = "application/json"
_STRUCTURED = "application/cloudevents+json"
_PREFIX = "promenade."  # of types: a bus carries the events of many systems

# CloudEvents, HTTP binding, 3.1.3.2: printable ASCII as it is, but for spaces, double quotes and percent signs.
_PLAIN = "".join(chr(one) for one in range(0x21, 0x7F) if chr(one) not in '"%')


@dataclass(frozen=True, slots=True)
class Enveloped:
    """What is sent: the body, its type, and the attributes of a CloudEvent in binary mode, not encoded."""

    body: bytes
    content_type: str = JSON
    attributes: Mapping[str, str] | None = None

    def headers(self, prefix: str) -> dict[str, str]:
        """Return the attributes as headers, whose values are encoded as HTTP needs it."""
        return {prefix + name: quote(value, safe=_PLAIN) for name, value in (self.attributes or {}).items()}


class _Stored(msgspec.Struct, rename="camel"):
    """The body in the outbox, see `promenade.events.Envelope`; its data is passed on byte for byte."""

    type: str
    timestamp: str
    minor_version: int
    tenant_id: str
    data: msgspec.Raw


class _CloudEvent(msgspec.Struct):
    """A CloudEvent as JSON, in the order in which people read it."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str | msgspec.UnsetType
    time: str
    datacontenttype: str
    tenantid: str
    minorversion: int
    data: msgspec.Raw


_STORED = msgspec.json.Decoder(_Stored)


def enveloped(envelope: str | None, event_id: str, payload: bytes) -> Enveloped:
    """Return what is sent of an event with this body in the outbox; None is `STANDARD`."""
    if envelope not in (CLOUDEVENTS, CLOUDEVENTS_BINARY):
        return Enveloped(payload)
    event = _cloud_event(event_id, _STORED.decode(payload))
    if envelope == CLOUDEVENTS:
        return Enveloped(msgspec.json.encode(event), _STRUCTURED)
    attributes = {name: str(value) for name, value in _attributes(event).items()}
    return Enveloped(bytes(event.data), JSON, attributes)


def subject_of(payload: bytes) -> str | None:
    """Return the ID of what an event tells of; None: of nothing that has one."""
    return _subject(_STORED.decode(payload))


def _cloud_event(event_id: str, stored: _Stored) -> _CloudEvent:
    return _CloudEvent(
        specversion="1.0",
        id=event_id,
        source=f"/promenade/{quote(stored.tenant_id, safe='')}",
        type=_PREFIX + stored.type,
        subject=_subject(stored) or msgspec.UNSET,
        time=stored.timestamp,
        datacontenttype=JSON,
        tenantid=stored.tenant_id,
        minorversion=stored.minor_version,
        data=stored.data,
    )


def _attributes(event: _CloudEvent) -> dict[str, Any]:
    """Return what goes into headers: all but the data and the type of the data, which has a header of its own."""
    named = {name: getattr(event, name) for name in event.__struct_fields__}
    return {
        name: value
        for name, value in named.items()
        if name not in ("data", "datacontenttype") and value is not msgspec.UNSET
    }


def _subject(stored: _Stored) -> str | None:
    names = _about(stored.type)
    if not names:
        return None
    data: dict[str, Any] = msgspec.json.decode(stored.data)
    return next((str(data[name]) for name in names if data.get(name) is not None), None)


@cache
def _about(kind: str) -> tuple[str, ...]:
    """Return the wire names of the fields with the ID of what this kind of event tells of."""
    cls = events().get(kind)
    if cls is None:  # a kind of a later version, whose worker was replaced by this one
        return ()
    wire = {field.name: field.encode_name for field in msgspec.structs.fields(cls)}
    return tuple(wire[name] for name in cls.about)

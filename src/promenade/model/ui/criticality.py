"""The colour of a state in a user interface: the criticality of the vocabulary UI."""

from __future__ import annotations

from collections.abc import Mapping

from promenade.model.shape import PUBLIC, REPORTING, Field, Kind

NEUTRAL, NEGATIVE, CRITICAL, POSITIVE = 0, 1, 2, 3

_CODES: Mapping[int, str] = {
    POSITIVE: "ACTIVE APPROVED PILOT COMPLETED SUCCEEDED CALCULATED DELIVERED ONLINE PASSED GRANTED created updated",
    CRITICAL: "PENDING_APPROVAL SCHEDULED CREATED RESERVED RUNNING PENDING RETRYING OPEN",
    NEGATIVE: "REJECTED EXPIRED EXHAUSTED CANCELLED FAILED DEAD_LETTER OFFLINE DECLINED failed",
    NEUTRAL: "DRAFT INACTIVE ARCHIVED QUEUED REDEEMED WITHDRAWN NEVER_RUN",
}
CRITICALITY: Mapping[str, int] = {code: colour for colour, codes in _CODES.items() for code in codes.split()}
"""Of every code that a field `status` can have; a code means the same wherever it is used."""


def criticality(doc: str) -> Field:
    """Return the criticality field of another field; only administration shows it."""
    return Field(kind=Kind.INTEGER, doc=doc, virtual=True, read_only=True, hidden_from=frozenset({PUBLIC, REPORTING}))


def status_criticality() -> Field:
    """Return the criticality field of the field `status` of the same entity."""
    return criticality("Colour of the status: 1 negative, 2 critical, 3 positive, 0 neutral.")

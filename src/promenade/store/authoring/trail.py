"""Entries of the audit trail: rows of AuditLogs, written in the transaction of what they tell of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import msgspec

from promenade.store.authoring.statements import Columns, insert_rows
from promenade.store.driver.unit import Session

CHANGES_MAX = 100
"""Changed values that one entry tells; of more, only the number."""

VALUE_MAX = 300
"""Characters of one value that an entry tells."""

STATES: Mapping[str, str | None] = {
    "START_PILOT": "PILOT", "PROMOTE_TO_ACTIVE": "ACTIVE", "ACTIVATE": "ACTIVE", "END_PILOT": None,
    "DEACTIVATE": None, "EXPIRE": None, "ARCHIVE": None,
}  # fmt: skip
"""A promotion's state after an action; None: not running. Reports learn from these entries when a promotion ran, so
they stay as long as the promotion is there.
"""

Action = Literal[
    "ACCEPT_INVITATION", "ACTIVATE", "ADD_PROMOTIONS", "APPROVE", "ARCHIVE", "ASK", "CANCEL", "CHANGE_PASSWORD", "COPY",
    "CREATE", "DEACTIVATE", "DECLINE", "DELETE", "END", "END_PILOT", "ENROL", "ENROLLED", "EXHAUST", "EXPIRE", "EXPORT",
    "EXTEND", "FAIL", "GENERATE_CODES", "GRANT", "IMPORT", "ISSUE_COUPON", "LOCK", "OWN_SECRET", "PROMOTE_TO_ACTIVE",
    "RECHARGE", "REJECT", "REMOVE_PROMOTION", "REPLAY", "REQUEUE", "REVOKE", "ROTATE", "SCHEDULE", "SEND_TEST",
    "SET_UP_APP", "SIGN_IN", "START", "START_PILOT", "SUBMIT", "UNLOCK", "UPDATE", "WITHDRAW", "WITHDRAW_TOKENS",
]  # fmt: skip
"""What entries tell; the back office has words for each."""

_NAME_MAX = 255
_NOTE_MAX = 2000

Change = dict[str, str | int]
"""One changed value, see `change_of`."""


class Subject(NamedTuple):
    """A row that an entry tells of: its entity set, its ID, and its name in the eyes of users."""

    set_name: str
    id: str
    name: str


def trail_entry(
    entry_id: str,
    at: datetime,
    actor: str,
    action: Action,
    subject: Subject,
    *,
    note: str | None = None,
    owner: Subject | None = None,
    changes: str | None = None,
) -> Columns:
    """Return a row of AuditLogs. ``owner``: what the subject is a part of, on whose page the entry is shown."""
    owner = owner or subject
    return {
        "id": entry_id,
        "timestamp": at,
        "actor": actor[:_NAME_MAX],
        "action": action,
        "entity_type": subject.set_name,
        "entity_id": subject.id,
        "entity_name": subject.name[:_NAME_MAX],
        "note": None if note is None else note[:_NOTE_MAX],
        "owner_type": owner.set_name,
        "owner_id": owner.id,
        "owner_name": owner.name[:_NAME_MAX],
        "changes": changes,
    }


def change_of(name: str, before: Any, after: Any) -> Change:
    """Return the change of a property from one value to another; None is left out."""
    texts = {"from": value_text(before), "to": value_text(after)}
    return {"property": name, **{key: text for key, text in texts.items() if text is not None}}


def changes_text(changes: Sequence[Change]) -> str | None:
    """Return changes as JSON, as many as an entry tells; None: there are none."""
    told = list(changes[:CHANGES_MAX])
    if len(changes) > CHANGES_MAX:
        told.append({"more": len(changes) - CHANGES_MAX})
    return msgspec.json.encode(told).decode() if told else None


def value_text(value: Any) -> str | None:
    """Return a stored value as a text that can be read back: numbers exact, times in ISO 8601."""
    if value is None:
        return None
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Decimal):
        text = format(value.normalize(), "f")
    elif isinstance(value, list | tuple):
        text = ", ".join(map(str, value))
    else:
        text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 1]}…"


async def write_trail(session: Session, entries: Sequence[Columns]) -> None:
    """Add entries to the audit trail of the session's tenant, as done by the agent that acts in the session, if any."""
    agent = session.scope.agent
    await insert_rows(session, "AuditLogs", [{**entry, "agent": agent} for entry in entries])

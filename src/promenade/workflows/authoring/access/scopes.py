"""What the rules of clients, people and groups have in common: the scopes that each of them has."""

from __future__ import annotations

from promenade.errors import Detail
from promenade.model.access.people import PERSON_SCOPES
from promenade.workflows.authoring.unit import Unit, Write

ADMIN = "svc.Admin"


def keep_each_once(write: Write) -> None:
    """Store each scope once, in the order that they were given."""
    write.after["scopes"] = list(dict.fromkeys(write.after["scopes"] or ()))


def check_person_scopes(unit: Unit, write: Write) -> None:
    """Refuse scopes that no person may have."""
    unknown = [scope for scope in write.after["scopes"] if scope not in PERSON_SCOPES]
    if unknown and write.differs("scopes"):
        message = f"{unknown[0]} is not a scope of people; these are {', '.join(PERSON_SCOPES)}."
        unit.faults.add(Detail("UNKNOWN_SCOPE", message, write.target("scopes")))

"""Rules for people: names for good, links that the service makes, nobody locks themselves or everybody out.

A new link ends what the person signed in with before: password, app and sessions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from promenade.errors import Conflict, Detail
from promenade.model.access.people import INVITATION_HOURS, user_name_of
from promenade.store.access.clients import digest_of, secret_of
from promenade.store.access.people import client_ids, delete_sessions, other_administrators
from promenade.store.authoring.statements import hold
from promenade.workflows.authoring.access.clients import WITHDRAW
from promenade.workflows.authoring.access.scopes import ADMIN, check_person_scopes, keep_each_once
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

_USER_NAME = re.compile(r"[\w.+-]+(@[\w.-]+)?")
_OPERATOR = "cli"  # whoever has the server's command line can help anybody back in
_OTHERS = frozenset({_OPERATOR, "back-office", "system", "scheduler"})  # who acts here and is no person


@rules("People")
class _People(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is Act.DELETE:
                continue
            keep_each_once(write)
            if write.act is Act.CREATE:
                write.after["user_name"] = user_name_of(write.after["user_name"] or "") or None
            if write.act is Act.CREATE or "invitation_digest" in write.given:
                _invite(unit, write)
            if write.verb == WITHDRAW or _ends(write) or _loses(write):
                write.after["tokens_from"] = unit.at

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE:
                _check_values(unit, write)
            _check_own(unit, write)
        new = [write for write in writes if write.act is Act.CREATE]
        taken = await client_ids(unit.session, [write.after["user_name"] for write in new]) if new else set()
        for write in new:
            if write.after["user_name"] in taken | _OTHERS:
                message = "A program has this name, and createdBy must tell who acted: choose another one."
                unit.faults.add(Detail("NAME_TAKEN", message, write.target("user_name")))
        await _check_last(unit, writes)
        return []

    async def store(self, unit: Unit, writes: Sequence[Write]) -> None:
        ended = [write.id for write in writes if write.verb == WITHDRAW or _ends(write)]
        if ended:
            await delete_sessions(unit.session, ended)


def _invite(unit: Unit, write: Write) -> None:
    """Generate the secret of a link, which is returned in this response only."""
    if write.after["invitation_digest"] is not None and "invitation_digest" in write.given:
        target = write.target("invitation_digest")
        message = f"{target} is made by the service: send null for a new one."
        unit.faults.add(Detail("INVALID_SECRET", message, target))
        return
    secret = secret_of(unit.new_id)
    write.after |= {
        "invitation_digest": digest_of(secret), "invited_until": unit.at + timedelta(hours=INVITATION_HOURS),
        "password_hash": None, "password_since": None, "code_key": None, "code_step": None, "code_since": None,
    }  # fmt: skip
    unit.shown_once.setdefault(write.set_name, {})[write.id] = {"invitation": secret}


def _ends(write: Write) -> bool:
    """Return whether what the person is signed in with ends."""
    if write.before is None:
        return False
    return write.act is Act.DELETE or not write.after["is_active"] or write.differs("invitation_digest")


def _loses(write: Write) -> bool:
    """Return whether the person's tokens carry a scope that the person has no longer."""
    return write.before is not None and not set(write.before["scopes"]) <= set(write.after["scopes"])


def _check_values(unit: Unit, write: Write) -> None:
    check_person_scopes(unit, write)
    name, target = write.after["user_name"], write.target("user_name")
    if write.before is not None and write.differs("user_name"):
        message = "A user name stays, as createdBy refers to it: invite the person under the new one."
        unit.faults.add(Detail("READ_ONLY", message, target))
    elif name and _USER_NAME.fullmatch(name) is None:
        message = "A user name has letters, digits, `.`, `_`, `-` and `+`, or is a mail address."
        unit.faults.add(Detail("INVALID_VALUE", message, target))
    lacks_app = write.after["password_since"] is not None and write.after["code_since"] is None
    if write.after["code_required"] and lacks_app and write.differs("code_required"):
        message = "The person has a password and no app yet: send `invitation: null` as well, for a new link."
        unit.faults.add(Conflict("CODE_NOT_SET_UP", message, write.target("code_required")))


def _check_own(unit: Unit, write: Write) -> None:
    """Refuse that somebody takes away their own access, which nobody else might be there to give back."""
    if write.before is None or write.before["user_name"] != unit.user:
        return
    if _ends(write) or ADMIN not in write.after["scopes"]:
        message = "This is you: let another administrator do this."
        unit.faults.add(Conflict("OWN_PERSON", message))


async def _check_last(unit: Unit, writes: Sequence[Write]) -> None:
    """Refuse that the last administrator goes, though two of them may have tried to remove each other."""
    gone = [
        write.id for write in writes
        if write.before is not None and write.before["password_hash"] is not None and write.before["is_active"]
        and ADMIN in write.before["scopes"] and (_ends(write) or ADMIN not in write.after["scopes"])
    ]  # fmt: skip
    if not gone or unit.user == _OPERATOR:
        return
    await hold(unit.session, "administrators")
    if not await other_administrators(unit.session, ADMIN, gone):
        message = "Nobody else may administer this: give somebody svc.Admin first."
        unit.faults.add(Conflict("LAST_ADMINISTRATOR", message))

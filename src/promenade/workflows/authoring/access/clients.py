"""Rules for clients of the built-in issuer: known scopes, secrets that the service makes, nobody locks themselves out.

A new secret starts a rotation: for the tenant's `secretOverlapHours` the former one is accepted, too. A second rotation
in that time drops the first one's former secret at once. If a secret has leaked, its successor is made first, then
`WITHDRAW` is called.

Rows of imports bring no secret, and get none that anybody knows: `ENROL` gives a client a code, which the client
replaces by a secret of its own (`workflows.access.own_secrets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from promenade.errors import Conflict, Detail
from promenade.model.access.clients import ENROLMENT_DAYS, SCOPES
from promenade.model.access.secret_policy import SecretPolicy
from promenade.store.access.clients import NO_SECRET, digest_of, secret_of
from promenade.store.access.tenants import read_secret_policy
from promenade.workflows.authoring.access.scopes import ADMIN, keep_each_once
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Verb, Write

WITHDRAW: Verb = "withdrawTokens"
ENROL: Verb = "enrol"


@rules("Clients")
class _Clients(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        renews = any(write.before is not None and "secret_digest" in write.given for write in writes)
        overlap = (await _policy(unit)).overlap if renews else timedelta(0)
        for write in writes:
            if write.act is Act.DELETE:
                continue
            keep_each_once(write)
            if write.act is Act.CREATE:
                write.after["client_id"] = write.id
            if unit.importing:
                _give_no_secret(unit, write)
            elif write.act is Act.CREATE or "secret_digest" in write.given:
                _renew_secret(unit, write)
                if write.before is not None:
                    write.after["former_until"] = unit.at + overlap
            if write.verb == WITHDRAW:
                write.after |= {"tokens_from": unit.at, "former_digest": None, "former_until": None}
                write.after |= {"enrolment_digest": None, "enrolment_until": None}
            if write.verb == ENROL:
                _give_code(unit, write)
            if write.before is not None and not set(write.before["scopes"]) <= set(write.after["scopes"]):
                write.after["tokens_from"] = unit.at  # they carry a scope that the client no longer has

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE:
                _check_scopes(unit, write)
            if write.has_own_id:
                message = "The service gives a client its ID: leave `ID` out."
                unit.faults.add(Detail("READ_ONLY", message, write.target("id")))
            _check_own(unit, write)
        return []


async def _policy(unit: Unit) -> SecretPolicy:
    return SecretPolicy(*await read_secret_policy(unit.session))


def _renew_secret(unit: Unit, write: Write) -> None:
    """Generate a secret, which is returned in this response only; the present one becomes the former one."""
    if write.after["secret_digest"] is not None:
        target = write.target("secret_digest")
        message = f"{target} is made by the service: send null for a new one."
        unit.faults.add(Detail("INVALID_SECRET", message, target))
        return
    secret = secret_of(unit.new_id)
    write.after["secret_digest"] = digest_of(secret)
    if write.before is not None:
        write.after["former_digest"] = write.before["secret_digest"]
        write.after["rotated_at"] = unit.at
    unit.shown_once.setdefault(write.set_name, {})[write.id] = {"secret": secret}


def _give_no_secret(unit: Unit, write: Write) -> None:
    """A row of an import is found again by its code, and stored as it was received until it is carried out."""
    if "secret_digest" in write.given:
        target = write.target("secret_digest")
        message = "An import brings no secrets, nor makes new ones: leave `secret` out."
        unit.faults.add(Detail("INVALID_SECRET", message, target))
    if write.act is Act.CREATE:
        write.after["secret_digest"] = NO_SECRET
        if not write.after["code"]:
            target = write.target("code")
            unit.faults.add(
                Detail("REQUIRED", f"{target} is required in imports, which find the client by it.", target)
            )


def _give_code(unit: Unit, write: Write) -> None:
    """Generate an enrolment code, which is returned in this response only; one that it had is refused from now on."""
    code = secret_of(unit.new_id)
    write.after["enrolment_digest"] = digest_of(code)
    write.after["enrolment_until"] = unit.at + timedelta(days=ENROLMENT_DAYS)
    unit.shown_once.setdefault(write.set_name, {})[write.id] = {"enrolmentCode": code}


def _check_scopes(unit: Unit, write: Write) -> None:
    unknown = [scope for scope in write.after["scopes"] if scope not in SCOPES]
    if unknown and write.differs("scopes"):
        message = f"{unknown[0]} is not a scope; the scopes are {', '.join(SCOPES)}."
        unit.faults.add(Detail("UNKNOWN_SCOPE", message, write.target("scopes")))


def _check_own(unit: Unit, write: Write) -> None:
    """Refuse that somebody takes away their own access, which nobody else might be there to give back."""
    if write.before is None or write.before["client_id"] != unit.user:
        return
    if write.act is Act.DELETE or not write.after["is_active"] or ADMIN not in write.after["scopes"]:
        message = "This is the client that you are signed in with: let another administrator do this."
        unit.faults.add(Conflict("OWN_CLIENT", message))

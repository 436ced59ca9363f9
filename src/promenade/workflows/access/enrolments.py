"""Enrolment codes: a store replaces its code by a secret of its own, so no secret travels to ten thousand stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from promenade.errors import Detail, Invalid, NotFound
from promenade.model.declare import Service
from promenade.store.access.clients import codes_without_access, ids_by_code
from promenade.store.access.tenants import tenant_is_known
from promenade.store.authoring.statements import read_rows
from promenade.store.driver.unit import Database, Session

if TYPE_CHECKING:
    from promenade.workflows.authoring import Authoring

CODES_MAX = 1000
"""Clients in one request; each is a changed row in one unit of work."""

_FAULTS_MAX = 50
_CLIENTS = "Clients"


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What a client needs to make a secret of its own; the names are those of the answer."""

    code: str
    clientId: str  # noqa: N815 -- as in the answer
    enrolmentCode: str  # noqa: N815
    enrolmentUntil: datetime  # noqa: N815


async def create_enrolment_codes(session: Session, authoring: Authoring, codes: Sequence[str]) -> list[Enrolment]:
    """Give the tenant's clients with these codes an enrolment code each, in the order of ``codes``; in any number of
    clients the same number of statements.

    Raises Invalid (REQUIRED, TOO_MANY_ROWS, and UNKNOWN_REFERENCE for each code that no client has); then none is made.
    """
    wanted = list(dict.fromkeys(codes))
    if not wanted:
        raise Invalid("REQUIRED", "codes must name at least one client.", "codes")
    if len(wanted) > CODES_MAX:
        raise Invalid("TOO_MANY_ROWS", f"codes may name at most {CODES_MAX} clients.", "codes")
    ids = await ids_by_code(session, wanted)
    unknown = [one for one in wanted if one not in ids]
    faults = [_unknown(codes.index(one), one) for one in unknown[:_FAULTS_MAX]]
    if faults:
        first = faults[0]
        message = first.message if len(faults) == 1 else f"{len(unknown)} codes are not those of clients."
        raise Invalid("UNKNOWN_REFERENCE", message, first.target, faults if len(faults) > 1 else ())
    return await _made(session, authoring, {code: ids[code] for code in wanted})


async def enrol_clients(
    database: Database,
    tenant_id: str,
    codes: Sequence[str] | None,
    *,
    new_id: Callable[[], str],
    at: datetime,
    user: str,
) -> list[Enrolment]:
    """Give clients of a tenant enrolment codes; ``codes`` None: all active ones with neither secret nor valid code.

    Units of `CODES_MAX` clients follow each other. Raises NotFound (TENANT_NOT_FOUND), and Invalid (UNKNOWN_REFERENCE).
    """
    # Imported when needed: it brings the engine.
    from promenade.workflows.authoring import Authoring  # noqa: PLC0415

    async def find(session: Session) -> list[str]:
        if not await tenant_is_known(session, tenant_id):
            raise NotFound("TENANT_NOT_FOUND", f"There is no tenant {tenant_id}.", "tenant")
        return list(await codes_without_access(session, at))

    waiting = await database.read(find, tenant=tenant_id)
    wanted = waiting if codes is None else list(codes)
    made: list[Enrolment] = []
    for start in range(0, len(wanted), CODES_MAX):

        async def work(session: Session, start: int = start) -> list[Enrolment]:
            authoring = Authoring(session, user=user, at=at, new_id=new_id, service=Service.ADMIN)
            found = await create_enrolment_codes(session, authoring, wanted[start : start + CODES_MAX])
            await authoring.finish()
            return found

        made += await database.write(work, tenant=tenant_id)
    return made


async def _made(session: Session, authoring: Authoring, ids: dict[str, str]) -> list[Enrolment]:
    from promenade.workflows.authoring.access.clients import ENROL  # noqa: PLC0415 -- brings the engine

    await authoring.perform_many(_CLIENTS, list(ids.values()), ENROL)
    shown = authoring.shown_once[_CLIENTS]
    rows = {row["id"]: row for row in await read_rows(session, _CLIENTS, "id", list(ids.values()))}
    return [
        Enrolment(code, rows[key]["client_id"], shown[key]["enrolmentCode"], rows[key]["enrolment_until"])
        for code, key in ids.items()
    ]


def _unknown(place: int, code: str) -> Detail:
    return Detail(
        "UNKNOWN_REFERENCE", f"codes/{place}: There is no client with the code {code[:50]}.", f"codes/{place}"
    )

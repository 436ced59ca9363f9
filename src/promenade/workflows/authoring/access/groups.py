"""Rules for groups of an outside issuer: scopes that people may have, and nobody takes their own access away."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict, Detail
from promenade.model.access.groups import GROUPS_MAX, Outside
from promenade.store.access.groups import count_groups, read_groups
from promenade.store.authoring.statements import hold
from promenade.workflows.authoring.access.scopes import ADMIN, check_person_scopes, keep_each_once
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write


@rules("GroupRoles")
class _GroupRoles(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is Act.DELETE:
                continue
            keep_each_once(write)
            if write.act is Act.CREATE:
                write.after["issuer"] = None if unit.outside is None else unit.outside.issuer

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE:
                _check_values(unit, write)
        new = sum(write.act is Act.CREATE for write in writes)
        if new and await count_groups(unit.session) + new > GROUPS_MAX:
            message = f"A tenant has at most {GROUPS_MAX} groups: delete those that nobody needs."
            unit.faults.add(Conflict("TOO_MANY_GROUPS", message))
        if unit.outside is not None and ADMIN not in unit.outside.scopes:
            await _check_own(unit, writes, unit.outside)
        return []


def _check_values(unit: Unit, write: Write) -> None:
    check_person_scopes(unit, write)
    name = write.after["group_name"] or ""
    if not name.isprintable() or name != name.strip():
        message = "A group's name is printable, without spaces around it."
        unit.faults.add(Detail("INVALID_VALUE", message, write.target("group_name")))


async def _check_own(unit: Unit, writes: Sequence[Write], caller: Outside) -> None:
    """Refuse that administrators by their groups take away the last of them, though two may do so at a time.

    The one who is left can still change everything, so there is always somebody.
    """
    if not any(write.before is not None and ADMIN in write.before["scopes"] for write in writes):
        return
    await hold(unit.session, "administrators")
    groups = {row.id: (row.group_name, row.scopes) for row in await read_groups(unit.session, caller.issuer)}
    for write in writes:
        groups.pop(write.id, None)
        if write.act is not Act.DELETE and write.after["issuer"] == caller.issuer:
            groups[write.id] = (write.after["group_name"], write.after["scopes"])
    if not any(name in caller.groups and ADMIN in scopes for name, scopes in groups.values()):
        message = "You administer this by the group alone: let another administrator do this."
        unit.faults.add(Conflict("OWN_GROUP", message))

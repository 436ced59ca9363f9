"""What a body must not claim on the public API: another tenant, a lock, changes of what is not changed here.

OData lets a service ignore a value for what it computes itself, and so the rest of the way never sees one. These are
refused instead, as the specification wants them refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from odata_server.hooks import Access
from odata_server.http import Request
from promenade.errors import Detail, Invalid, NotAllowed
from promenade.model.declare import RW_RESTRICTED, EntityType, declared
from promenade.workflows.claims import check_tenant, decoded

__all__ = ["check_claims"]

_LOCKED = "locked"
_DETAILS_MAX = 50
_HARMLESS = frozenset({"ID", "tenantId", "minorVersion"})


def check_claims(tenant_id: str, access: Access, request: Request) -> None:
    """Look at the body of a write before it is decoded.

    Raises Forbidden (FOREIGN_TENANT) when it claims a tenant that is not the caller's, at any depth, NotAllowed
    (LOCKED_IS_READ_ONLY) for a change of a campaign's ``locked``, and Invalid (NOT_CHANGEABLE) for a change of what a
    restricted collection keeps. What is no JSON is left to the decoder.
    """
    check_tenant(tenant_id, request.body)
    changed = _changed_entity(access)
    if changed is None:
        return
    names = _named_by_address(changed, request.path)
    body = None if names else decoded(request.body)
    _check_changes(changed, names or (tuple(body) if isinstance(body, dict) else ()))


def _changed_entity(access: Access) -> EntityType | None:
    """The entity whose change is looked at closely: campaigns, and what is changed in part alone."""
    if access.kind != "update" or access.entity_set is None:
        return None
    entity = declared().get(access.entity_set.name)
    if entity is None or (entity.set_name != "Campaigns" and entity.public is not RW_RESTRICTED):
        return None
    return entity


def _check_changes(entity: EntityType, names: Iterable[str]) -> None:
    if entity.public is not RW_RESTRICTED:
        if _LOCKED in names:
            message = "locked is changed by the administration's actions lock and unlock alone."
            raise NotAllowed("LOCKED_IS_READ_ONLY", message, ("GET", "PATCH", "DELETE"), _LOCKED)
        return
    allowed = {entity.field(name).wire for name in entity.patchable}
    message = f"Of {entity.set_name} only {', '.join(sorted(allowed))} can be changed."
    kept = [name for name in names if name not in allowed and name not in _HARMLESS and "@" not in name]
    if kept:
        faults = [Detail("NOT_CHANGEABLE", message, name[:80]) for name in kept[:_DETAILS_MAX]]
        raise Invalid("NOT_CHANGEABLE", message, kept[0][:80], faults if len(faults) > 1 else ())


def _named_by_address(entity: EntityType, path: str) -> tuple[str, ...]:
    """The property that an address ends with, or with its ``$value``; none when it is that of an entity."""
    last = unquote(path.removesuffix("/$value").rpartition("/")[2])
    return (last,) if any(field.wire == last for field in entity.fields) else ()

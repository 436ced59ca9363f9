"""What no body of a write may claim: another tenant.

OData lets a service ignore a value for what it computes itself, and so the rest of the way never sees one. A foreign
tenant is refused instead, as the specification wants it refused (Errors).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from promenade.errors import Forbidden

__all__ = ["check_tenant", "decoded"]

_TENANT = "tenantId"


def check_tenant(tenant_id: str, body: bytes) -> None:
    """Raise Forbidden (FOREIGN_TENANT) when a body claims a tenant that is not the caller's, at any depth."""
    if not _may_name(_TENANT, body):
        return
    if any(claimed not in (None, tenant_id) for claimed in _values_of(_TENANT, decoded(body))):
        raise Forbidden("FOREIGN_TENANT", "The tenant of a row is the caller's own.", _TENANT)


def decoded(body: bytes) -> Any:
    """A body in JSON; None for what is none, which is left to the decoder."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError):
        return None


def _may_name(name: str, body: bytes) -> bool:
    """Whether JSON may hold a member of this name: without reading it, unless it hides letters."""
    return name.encode() in body or b"\\u" in body


def _values_of(name: str, body: Any) -> Iterator[Any]:
    """Every value of members of this name, however deep."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if name in value:
                yield value[name]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)

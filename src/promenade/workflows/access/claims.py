"""Check of write bodies for another tenant's ID.

OData lets a service ignore values that it computes itself, so later steps never see them. A foreign tenant is refused
instead, as the specification requires (Errors).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from promenade.errors import Forbidden

_TENANT = "tenantId"


def check_tenant(tenant_id: str, body: bytes) -> None:
    """Raise Forbidden (FOREIGN_TENANT) if a body contains a tenant other than the caller's, at any depth."""
    if not _contains_name(_TENANT, body):
        return
    if any(claimed not in (None, tenant_id) for claimed in _values_of(_TENANT, decoded(body))):
        raise Forbidden("FOREIGN_TENANT", "The tenant of a row is the caller's own.", _TENANT)


def decoded(body: bytes) -> Any:
    """Return the body decoded from JSON; None if it is invalid, which the real decoder reports."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError):
        return None


def _contains_name(name: str, body: bytes) -> bool:
    r"""Return whether JSON may contain a member of this name, without parsing it; \u escapes count as a maybe."""
    return name.encode() in body or b"\\u" in body


def _values_of(name: str, body: Any) -> Iterator[Any]:
    """Yield every value of members with this name, at any depth."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if name in value:
                yield value[name]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)

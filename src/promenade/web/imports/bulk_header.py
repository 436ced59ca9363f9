"""The metadata of a bulk import: the member ``header`` of its body, and the Idempotency-Key.

Specification, Bulk import request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from odata_server.payload import decode_json
from promenade.errors import Detail, Invalid
from promenade.interface import MINOR_VERSION
from promenade.web.http.idempotency import KEY_RULE, is_key
from promenade.workflows.authoring.callbacks import callback_fault

URL_LENGTH_MAX = 2000
_NAMES = ("tenantId", "minorVersion", "continueOnError", "idempotencyKey", "callbackUrl")


@dataclass(frozen=True, slots=True)
class BulkHeader:
    """The header of a bulk import; None: not specified."""

    tenant_id: str | None = None
    continue_on_error: bool = False
    key: str | None = None
    callback_url: str | None = None


def decode_header(text: bytes | None, key: str | None, http_hosts: Collection[str] = ()) -> BulkHeader:
    """Return the header of a body from its JSON text; ``key`` is the HTTP header's key, with which it must agree.

    ``http_hosts`` may be called back with plain http. Raises Invalid: a single error as it is, several as
    MULTIPLE_ERRORS with details.
    """
    members = decode_json(text) if text is not None else None
    if members is None:
        return BulkHeader(key=key)
    if not isinstance(members, dict):
        raise Invalid("TYPE_MISMATCH", "header must be a JSON object.", "header")
    faults = list(_faults(members, http_hosts))
    if len(faults) > 1:
        raise Invalid("MULTIPLE_ERRORS", f"{len(faults)} values are wrong.", details=faults)
    if faults:
        raise Invalid(faults[0].code, faults[0].message, faults[0].target)
    in_body = members.get("idempotencyKey")
    if key is not None and in_body is not None and key != in_body:
        raise _keys_differ()
    return BulkHeader(
        tenant_id=members.get("tenantId"),
        continue_on_error=members.get("continueOnError") or False,
        key=in_body or key,
        callback_url=members.get("callbackUrl") or None,
    )


def _faults(members: Mapping[str, Any], http_hosts: Collection[str]) -> Iterator[Detail]:
    unknown = [name for name in members if name not in _NAMES and "@" not in name]
    for name in unknown[:50]:
        yield Detail("UNKNOWN_PROPERTY", f"header has no member {name[:80]}.", f"header/{name[:80]}")
    tenant, version, goes_on, key, url = (members.get(name) for name in _NAMES)
    if not isinstance(tenant, str | None):
        yield Detail("TYPE_MISMATCH", "header/tenantId must be a string.", "header/tenantId")
    if version is not None:
        yield from _version_faults(version)
    if not isinstance(goes_on, bool | None):
        yield Detail("TYPE_MISMATCH", "header/continueOnError must be true or false.", "header/continueOnError")
    if not isinstance(key, str | None):
        yield Detail("TYPE_MISMATCH", "header/idempotencyKey must be a string.", "header/idempotencyKey")
    elif key is not None and not is_key(key):
        yield Detail("INVALID_KEY", KEY_RULE.format("header/idempotencyKey"), "header/idempotencyKey")
    if url is not None:
        yield from _url_faults(url, http_hosts)


def _version_faults(version: object) -> Iterator[Detail]:
    target = "header/minorVersion"
    if not isinstance(version, int) or isinstance(version, bool):
        yield Detail("TYPE_MISMATCH", f"{target} must be a whole number.", target)
    elif not 1 <= version <= MINOR_VERSION:
        message = f"{target} must be from 1 to {MINOR_VERSION}, the newest supported version."
        yield Detail("UNSUPPORTED_MINOR_VERSION", message, target)


def _url_faults(url: object, http_hosts: Collection[str]) -> Iterator[Detail]:
    target = "header/callbackUrl"
    if not isinstance(url, str):
        yield Detail("TYPE_MISMATCH", f"{target} must be a string.", target)
    elif len(url) > URL_LENGTH_MAX:
        yield Detail("TOO_LONG", f"{target} must have at most {URL_LENGTH_MAX} characters.", target)
    elif url:
        fault = callback_fault(url, http_hosts, target)
        if fault is not None:
            yield fault


def _keys_differ() -> Invalid:
    message = "Idempotency-Key and header/idempotencyKey differ: send only one of them, or the same key in both."
    return Invalid("KEYS_DIFFER", message, "Idempotency-Key")

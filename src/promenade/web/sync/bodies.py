"""What requests to `/sync` have in common: their scope, and the parameters of their queries."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from starlette.types import Scope

from promenade.errors import Invalid
from promenade.workflows.sync.cursors import CURSOR_LENGTH_MAX

SYNC = "svc.Sync"
"""The scope of stores; it opens nothing else, and nothing else opens `/sync`."""

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def read_query(scope: Scope, *names: str) -> dict[str, str]:
    """Return those parameters of the query that are named; `deploymentId` is a UUID in lower case, if not empty.

    Raises Invalid naming the wrong one; other parameters are ignored.
    """
    try:
        pairs = parse_qsl(scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Invalid("VALIDATION_FAILED", "The query must be in UTF-8, percent-encoded.") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in names:
            if name in given:
                raise Invalid("VALIDATION_FAILED", f"`{name}` occurs twice.", name)
            given[name] = value
    deployment_id = given.get("deploymentId")
    if deployment_id:
        if _ID.fullmatch(deployment_id) is None:
            raise Invalid("NOT_A_UUID", "`deploymentId` must be a UUID.", "deploymentId")
        given["deploymentId"] = deployment_id.lower()
    return given


def read_place(scope: Scope) -> tuple[str, str | None]:
    """Return `deploymentId` and `cursor`. Raises Invalid naming the wrong one; other parameters are ignored."""
    given = read_query(scope, "deploymentId", "cursor")
    deployment_id = given.get("deploymentId")
    if not deployment_id:
        raise Invalid("REQUIRED", "`deploymentId` is required.", "deploymentId")
    cursor = given.get("cursor") or None
    if cursor is not None and len(cursor) > CURSOR_LENGTH_MAX:
        raise Invalid("TOO_LONG", f"`cursor` may have at most {CURSOR_LENGTH_MAX} characters.", "cursor")
    return deployment_id, cursor

"""Bodies of `/sync`, validated as strictly as a till's: every fault is named, and only sound JSON is accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope

from promenade.errors import Invalid
from promenade.web.http.body import read_body, require_json
from promenade.web.http.validation import Rule, explain, require_bounded, require_sound
from promenade.workflows.sync.cursors import CURSOR_LENGTH_MAX

SYNC = "svc.Sync"
"""The scope of stores; it opens nothing else, and nothing else opens `/sync`."""

T = TypeVar("T", bound=Struct)

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


async def read_message(
    scope: Scope, receive: Receive, decoder: msgspec.json.Decoder[T], bytes_max: int, rules: Sequence[Rule] = ()
) -> T:
    """Return the body of a request, decoded by ``decoder``.

    ``rules`` check the document as a whole and report faults between fields. Raises Invalid (VALIDATION_FAILED with
    details, or a code about the JSON), TooLarge and NotAcceptable.
    """
    require_json(scope)
    body = await read_body(scope, receive, bytes_max)
    require_bounded(body)
    try:
        asked = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        asked = None
    document = require_sound(body)
    if asked is not None and not any(rule(document) for rule in rules):
        return asked
    if not isinstance(document, dict):
        raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.")
    raise explain(b'{"request":%s}' % body, decoder.type, rules)


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

"""Bodies that are one JSON object, validated as strictly as a till's: every fault is named, only sound JSON taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope

from promenade.errors import Invalid
from promenade.web.http.body import read_body, require_json
from promenade.web.http.validation import Rule, explain, require_bounded, require_sound

T = TypeVar("T", bound=Struct)


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

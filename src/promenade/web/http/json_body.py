"""Bodies that are one JSON object: every fault in them is named, and only sound JSON is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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
    """Return the body of a request by `decode_message`. Raises what that raises, TooLarge and NotAcceptable."""
    require_json(scope)
    return decode_message(await read_body(scope, receive, bytes_max), decoder, rules)


def decode_message(
    body: bytes,
    decoder: msgspec.json.Decoder[T],
    rules: Sequence[Rule] = (),
    *,
    is_fine: Callable[[T, dict[str, Any]], bool] | None = None,
) -> T:
    """Return a body that is one JSON object, decoded by ``decoder``.

    ``rules`` check the document as a whole and report faults between fields. ``is_fine`` says whether the decoded
    values may be used; if not, `explain` must find why. Raises Invalid (VALIDATION_FAILED with details, or a code about
    the JSON).
    """
    require_bounded(body)
    try:
        asked = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        asked = None
    document = require_sound(body)
    if not isinstance(document, dict):
        raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.")
    fine = asked is not None and (is_fine is None or is_fine(asked, document))
    if asked is not None and fine and not any(rule(document) for rule in rules):
        return asked
    raise explain(b'{"request":%s}' % body, decoder.type, rules)

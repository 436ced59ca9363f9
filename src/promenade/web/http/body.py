"""Reading of request bodies with a size limit, counted while streaming, whatever Content-Length says."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope

from promenade.errors import Invalid, NotAcceptable, TooLarge

BODY_BYTES_MAX = 10 * 1024 * 1024
_SECONDS_MAX = 30.0
# A body somewhat over the limit is read to its end, so that the client gets the answer instead of a connection reset.
_DRAINED_BYTES_MAX = 4 * BODY_BYTES_MAX


class Disconnected(Exception):
    """The client disconnected while sending."""


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the first value of a request header; ``name`` in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return value  # type: ignore[no-any-return]
    return None


def require_json(scope: Scope) -> None:
    """Raise NotAcceptable unless the body is uncompressed JSON; a missing Content-Type counts as JSON."""
    if header(scope, b"content-encoding") not in {None, b"identity"}:
        raise NotAcceptable("UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not read: send plain JSON.")
    content_type = header(scope, b"content-type")
    if content_type is None or content_type == b"application/json":
        return
    media_type, _, parameters = content_type.lower().partition(b";")
    media_type = media_type.strip()
    is_json = media_type == b"application/json" or (
        media_type.startswith(b"application/") and media_type[-5:] == b"+json"
    )
    charset = next((p.split(b"=", 1)[1] for p in parameters.split(b";") if p.strip().startswith(b"charset=")), b"utf-8")
    if not is_json or charset.strip(b' "') not in {b"utf-8", b"utf8", b"us-ascii"}:
        raise NotAcceptable("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json in UTF-8.")


async def read_body(scope: Scope, receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """Return the whole body, at most ``bytes_max`` long.

    Raises TooLarge (BODY_TOO_LARGE), and Invalid (BODY_TOO_SLOW) when it takes more than 30 s to arrive.
    """
    declared = header(scope, b"content-length")
    if declared is not None and int(declared) > _DRAINED_BYTES_MAX:
        raise _too_large(bytes_max)
    try:
        async with asyncio.timeout(_SECONDS_MAX):
            return await _collect(receive, bytes_max)
    except TimeoutError:
        raise Invalid("BODY_TOO_SLOW", f"The body did not arrive within {_SECONDS_MAX:.0f} s.") from None


async def _collect(receive: Receive, bytes_max: int) -> bytes:
    parts: list[bytes] = []
    total = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part: bytes = message.get("body", b"")
        total += len(part)
        more = message.get("more_body", False)
        if total > _DRAINED_BYTES_MAX:
            break
        if total <= bytes_max:
            parts.append(part)
        else:
            parts.clear()
    if total > bytes_max:
        raise _too_large(bytes_max)
    return b"".join(parts)


def _too_large(bytes_max: int) -> TooLarge:
    bound = f"{bytes_max // 2**20} MiB" if bytes_max >= 2**20 else f"{bytes_max // 2**10} KiB"
    return TooLarge("BODY_TOO_LARGE", f"The body exceeds {bound}.")

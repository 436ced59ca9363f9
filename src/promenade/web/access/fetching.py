"""Fetches small JSON documents of an external token issuer, from addresses that the operator has configured."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import httpx2


class FetchFailed(Exception):
    """The address is invalid, or no HTTP server answered there."""


FETCH_FAILURES = (FetchFailed, OSError, ValueError, RecursionError)
"""What `fetch_json` raises when there is no answer of use."""

_SECONDS = 5.0
_BODY_BYTES_MAX = 1024 * 1024
_ACCEPTED = {"accept": "application/json, application/jwk-set+json", "accept-encoding": "identity"}


async def fetch_json(url: str) -> Any:
    """Return the document at ``url``: no redirects, five seconds in total, at most one mebibyte, uncompressed."""
    import httpx2  # noqa: PLC0415 -- takes long to load, and most servers have no external issuer

    try:
        async with (
            asyncio.timeout(_SECONDS),
            httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client,
            client.stream("GET", url, headers=_ACCEPTED) as response,
        ):
            return msgspec.json.decode(await _body_of(response))
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise FetchFailed(str(error) or type(error).__name__) from error


async def _body_of(response: httpx2.Response) -> bytes:
    if response.status_code != 200 or response.headers.get("content-encoding", "identity") != "identity":
        raise ValueError(f"the address answered with status {response.status_code} or with a compressed body")
    body = b""
    async for part in response.aiter_raw():
        body += part
        if len(body) > _BODY_BYTES_MAX:
            raise ValueError("the answer is too large")
    return body

"""What is asked of an external token issuer: small JSON documents at addresses that the operator has named."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import msgspec

__all__ = ["FETCH_FAILURES", "fetch_json"]

FETCH_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError, RecursionError)
"""What `fetch_json` raises when there is no answer of use."""

_SECONDS = 5.0
_BODY_BYTES_MAX = 1024 * 1024
_ACCEPTED = {"accept": "application/json, application/jwk-set+json", "accept-encoding": "identity"}


async def fetch_json(url: str) -> Any:
    """The document at ``url``: no redirects, five seconds in all, one mebibyte, nothing compressed."""
    body = b""
    async with (
        asyncio.timeout(_SECONDS),
        httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client,
        client.stream("GET", url, headers=_ACCEPTED) as response,
    ):
        if response.status_code != 200 or response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError(f"the address answered {response.status_code}, or compressed")
        async for part in response.aiter_raw():
            body += part
            if len(body) > _BODY_BYTES_MAX:
                raise ValueError("the answer is too large")
    return msgspec.json.decode(body)

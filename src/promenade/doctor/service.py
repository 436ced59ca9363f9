"""The running service: whether it answers at its address, as which version, and what it says of its own health."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import httpx2
import msgspec
from msgspec import Meta

from promenade import __version__
from promenade.doctor.findings import Finding
from promenade.settings import Settings

_SECONDS_MAX = 5.0
_BYTES_MAX = 64 * 1024
_Word = Annotated[str, Meta(min_length=1, max_length=50)]


class _Check(msgspec.Struct):
    status: str


class Health(msgspec.Struct):
    """What is read of the answer of `/health`, of whichever version."""

    version: _Word
    timestamp: Annotated[datetime, Meta(tz=True)] | None = None
    checks: dict[_Word, _Check] = {}


async def examine_service(settings: Settings) -> Sequence[Finding]:
    """Ask for the service's health as clients would."""
    url = settings.base_url
    try:
        health = msgspec.json.decode(await _answer(f"{url}/health"), type=Health)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, msgspec.MsgspecError, ValueError, RecursionError):
        remedy = (
            "Start it with `promenade serve`, a store with `--edition local-store`; or say where it is with"
            " --public-url, or --host and --port."
        )
        return [Finding.fail("service", f"No service answers at {url}/health.", remedy)]
    down = [name for name, one in health.checks.items() if one.status == "DOWN"]
    if down:
        message = f"It answers at {url}, and says that this is down: {', '.join(down)}."
        found = Finding.fail("service", message, "Start that; tills keep pricing without the cache.")
    else:
        found = Finding.ok("service", f"It answers at {url}.")
    return [found, _version(health.version, url)]


async def _answer(url: str) -> bytes:
    """Return what answers there, which may be anything. Raises ValueError if it is too long."""
    async with (
        asyncio.timeout(_SECONDS_MAX),
        httpx2.AsyncClient(timeout=_SECONDS_MAX, trust_env=False) as http,
        http.stream("GET", url, headers={"accept-encoding": "identity"}) as response,
    ):
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > _BYTES_MAX:
                raise ValueError("this is no answer of ours")
        return bytes(body)


def _version(running: str, url: str) -> Finding:
    if running == __version__:
        return Finding.ok("version", f"{running} is installed, and runs.")
    message = f"{__version__} is installed here, {running} answers at {url}."
    return Finding.warn("version", message, "Restart the service, so that it runs what is installed.")

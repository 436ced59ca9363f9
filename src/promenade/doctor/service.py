"""The running service: whether it answers at its address, as which version, and what it says of its own health."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import httpx2
import msgspec

from promenade import __version__
from promenade.doctor.findings import Finding
from promenade.settings import Settings

_SECONDS_MAX = 5.0


class _Check(msgspec.Struct):
    status: str


class Health(msgspec.Struct):
    """What is read of the answer of `/health`, of whichever version."""

    version: str
    timestamp: datetime | None = None
    checks: dict[str, _Check] = {}


async def examine_service(settings: Settings) -> Sequence[Finding]:
    """Ask for the service's health as clients would."""
    url = settings.base_url
    try:
        async with httpx2.AsyncClient(timeout=_SECONDS_MAX, trust_env=False) as http:
            health = msgspec.json.decode((await http.get(f"{url}/health")).content, type=Health)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, msgspec.MsgspecError):
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


def _version(running: str, url: str) -> Finding:
    if running == __version__:
        return Finding.ok("version", f"{running} is installed, and runs.")
    message = f"{__version__} is installed here, {running} answers at {url}."
    return Finding.warn("version", message, "Restart the service, so that it runs what is installed.")

"""How uvicorn serves: which protocol, how long it waits, and whose word it takes for who calls."""

from __future__ import annotations

import os
from typing import Any

import uvicorn

from promenade.settings import Settings
from promenade.web.connection import Connection

__all__ = ["server_config"]

# How long requests in flight may take to end after SIGTERM before they are cut.
_GRACE_SECONDS = 20
# A server process that has not answered for so long is replaced; on a busy machine starting alone takes a while.
_STARTED_SECONDS_MAX = 30
_BACKLOG = 2048
# How long a connection is kept that nobody uses: longer than proxies and clients keep theirs, which is a minute at most
# as a rule. Where both do so for as long, one is closed just as a request is on its way, and nobody answers that.
_IDLE_SECONDS_MAX = 75


def server_config(settings: Settings, app: Any, *, factory: bool) -> uvicorn.Config:
    """The configuration of a server process; ``factory``: ``app`` makes the application.

    Who calls is who is connected. Only `--trusted-proxy` may say otherwise: whatever counts failures by address would
    else count what the caller makes up.
    """
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        factory=factory,
        workers=settings.workers,
        loop="uvloop" if os.name != "nt" else "asyncio",
        http=Connection,
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=None,
        backlog=_BACKLOG,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=_IDLE_SECONDS_MAX,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_worker_healthcheck=_STARTED_SECONDS_MAX,
    )

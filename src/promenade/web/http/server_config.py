"""The uvicorn configuration: protocol, timeouts, and which proxies are trusted."""

from __future__ import annotations

import os
from typing import Any

import uvicorn

from promenade.settings import Settings
from promenade.web.http.connection import Connection

# How long requests in flight may take to finish after SIGTERM before they are aborted.
_GRACE_SECONDS = 20
# A server process that has not responded for this long is replaced; on a busy machine the start alone takes a while.
_STARTED_SECONDS_MAX = 30
_BACKLOG = 2048
# How long an idle connection is kept: longer than proxies and clients keep theirs, usually a minute at most. If both
# sides used the same time, a connection could be closed just as a request is sent, and that request would be lost.
_IDLE_SECONDS_MAX = 75


def server_config(settings: Settings, app: Any, *, factory: bool) -> uvicorn.Config:
    """Return the configuration of a server process; ``factory``: ``app`` is a function that creates the application.

    The client address is that of the connection. Only a `--trusted-proxy` may override it: otherwise clients could fake
    the address by which failures are counted.
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

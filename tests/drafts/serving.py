"""The service with a clock that can be moved: `python -m tests.drafts.serving URL SOCKET DIRECTORY`.

SOCKET is the number of an open file that listens already: who connects waits until the service is there.

`POST /test-clock` with a number of seconds as its body lets so much time pass at once.
"""

from __future__ import annotations

import socket
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import uvicorn

from promenade import app
from promenade.settings import Settings

__all__ = ["Movable", "main"]


class Movable:
    """An ASGI application in front of the service's, with the service's clock."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._passed = timedelta()

    def clock(self) -> datetime:
        return datetime.now(UTC) + self._passed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Move the clock, or hand the request on."""
        if scope["type"] != "http" or scope["path"] != "/test-clock":
            await self._service(scope, receive, send)
            return
        self._passed += timedelta(seconds=int((await receive())["body"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def main(database_url: str, listening: str, directory: str) -> None:
    """Serve until told to end."""
    opened = socket.socket(fileno=int(listening))
    settings = Settings(port=opened.getsockname()[1], data_dir=Path(directory), database=database_url)
    movable = Movable(app.cloud(settings))
    vars(app)["clock"] = movable.clock  # before anything is opened
    config = uvicorn.Config(movable, loop="uvloop", http="httptools", ws="none", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[opened])


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The service with one more route, for comparison: `POST /null/<n>` reads the body and returns n bytes.

The difference between the two is the service's own work. Both run in one process, behind the same HTTP server with the
same settings.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import uvicorn

from promenade.app import cloud
from promenade.settings import Settings

__all__ = ["WithNull", "main"]


class WithNull:
    """An ASGI application that wraps the service's."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._answers: dict[str, bytes] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer /null, pass everything else on."""
        if scope["type"] != "http" or not scope["path"].startswith("/null/"):
            await self._service(scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        body = self._answer(scope["path"])
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, path: str) -> bytes:
        if path not in self._answers:
            self._answers[path] = b'"%s"' % (b"x" * (int(path.rpartition("/")[2]) - 2))
        return self._answers[path]


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database-url", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--redis-url")
    parser.add_argument("--webhook-allow", action="append", default=[])
    options = parser.parse_args()
    settings = Settings(
        port=options.port,
        data_dir=options.data_dir,
        database=options.database_url,
        redis_url=options.redis_url,
        webhook_allow=tuple(options.webhook_allow),
    )
    uvicorn.run(
        WithNull(cloud(settings)),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=None,
    )


if __name__ == "__main__":
    main()

"""A small server in front of the service: serves pages and OpenUI5, forwards the rest, passes commands and results.

A page has one origin, as behind a reverse proxy. It requests `/next` for its next command, an object {"name",
"arguments"}, and posts {"value"} or {"error"} to `/done`. Its requests to the service meanwhile are recorded.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2

__all__ = ["Asked", "Front"]

PAGES = Path(__file__).parent / "pages"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json"}
_HOP_BY_HOP = {"connection", "content-length", "host", "transfer-encoding", "accept-encoding", "keep-alive", "date"}
_ANSWER_SECONDS_MAX = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the page to the service, and the response."""

    method: str
    path: str
    body: str
    status: int
    answer: str


class Front:
    """The server, on its own port while it is open. ``library`` is the folder of OpenUI5's modules."""

    def __init__(self, service_url: str, library: Path) -> None:
        self.asked: list[Asked] = []
        self.orders: queue.Queue[Any] = queue.Queue()
        self.results: queue.Queue[Any] = queue.Queue()
        self.folders = {"/pages/": PAGES, "/resources/": library.resolve()}
        self.service = httpx2.Client(base_url=service_url, timeout=30)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Front:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.orders.put(None)
        self._server.shutdown()
        self._server.server_close()
        self.service.close()

    def do(self, name: str, **arguments: Any) -> Any:
        """Run a command in the page and return the result. If it fails, raise AssertionError."""
        self.asked.clear()
        self.orders.put({"name": name, "arguments": arguments})
        try:
            result = self.results.get(timeout=_ANSWER_SECONDS_MAX)
        except queue.Empty:
            raise AssertionError(f"the page has not done {name}; it asked: {self.asked}") from None
        if "error" in result:
            raise AssertionError(f"{name}: {result['error']}\nit asked: {self.asked}")
        return result.get("value")


def _handler(front: Front) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # the browser was closed
                super().handle()

        def do_GET(self) -> None:
            folder = next((prefix for prefix in front.folders if self.path.startswith(prefix)), None)
            if folder is not None:
                self._file(front.folders[folder], self.path.removeprefix(folder).partition("?")[0])
            elif self.path == "/next":
                self._answer(200, json.dumps(front.orders.get()).encode())
            else:
                self._pass_on()

        def do_POST(self) -> None:
            if self.path == "/done":
                front.results.put(json.loads(self._body()))
                self._answer(200, b"{}")
            else:
                self._pass_on()

        def do_HEAD(self) -> None:
            self._pass_on()

        def do_PATCH(self) -> None:
            self._pass_on()

        def do_DELETE(self) -> None:
            self._pass_on()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name it has in the base class)
            pass

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _file(self, folder: Path, name: str) -> None:
            path = (folder / name).resolve()
            if not (path.is_relative_to(folder) and path.is_file()):
                self._answer(404, b"", "text/plain")
                return
            self._answer(200, path.read_bytes(), _TYPES.get(path.suffix, "text/plain"))

        def _pass_on(self) -> None:
            body = self._body()
            sent = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            answer = front.service.request(
                self.command, self.path, headers={**sent, "accept-encoding": "identity"}, content=body
            )
            kept = Asked(self.command, self.path, body.decode(), answer.status_code, answer.text)
            front.asked.append(kept)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.content)
            self.wfile.flush()

        def _answer(self, status: int, body: bytes, content_type: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

    return Handler

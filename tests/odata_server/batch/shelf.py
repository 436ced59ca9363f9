"""A minimal service for batches: one set of books in a dict, with transactions.

`Shelf.requests` are the requests that arrived, in order. ``POST Books`` creates a book with the body's ``ID`` as its
key; a body with ``"bad": true`` is refused with 400; ``GET``, ``PATCH`` and ``DELETE`` of ``Books('1')`` behave as
usual.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from odata_server.batch.run import run_batch
from odata_server.errors import ODataError, bad_request, not_found
from odata_server.hooks import Hooks
from odata_server.http import Request, Response
from odata_server.source import Unit

__all__ = ["ROOT", "Shelf", "multipart", "parts_of"]

T = TypeVar("T")
ROOT = "/api/v1"


class Shelf:
    """Service and source in one; the shelf is also the unit of a change set."""

    root = ROOT

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.books: dict[str, dict[str, Any]] = {}
        self.requests: list[Request] = []
        self.units = 0
        self.runs = 1  # how often a unit is run before it is committed
        self.refuses_commit = False

    @property
    def source(self) -> Any:
        return self

    async def transact(self, caller: Any, work: Callable[[Any], Awaitable[T]], *, writes: bool) -> T:
        self.units += 1
        before = copy.deepcopy(self.books)
        try:
            for _ in range(self.runs):
                self.books = copy.deepcopy(before)
                result = await work(self)
            if self.refuses_commit:
                raise bad_request("RULE_BROKEN", "A rule about the whole set is broken.")
        except BaseException:
            self.books = before
            raise
        return result

    async def handle(self, request: Request, caller: Any) -> Response:
        async def work(unit: Unit) -> Response:
            return await self.handle_in(unit, request, caller)

        return await self.transact(caller, work, writes=True)

    async def handle_in(self, unit: Unit, request: Request, caller: Any) -> Response:
        assert request.in_batch
        assert caller == "me"
        self.requests.append(request)
        try:
            return self._answer(request)
        except ODataError as error:
            return self.failure(request, error)

    def failure(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ODataError)
        return self.hooks.render_error(request, error, "4.01")

    def _answer(self, request: Request) -> Response:
        if request.path == "Books" and request.method == "POST":
            body = _object(request.body)
            if body.get("bad"):
                raise bad_request("BAD", "A bad book.")
            self.books[str(body.get("ID"))] = body
            return Response(
                201,
                {
                    "Location": f"{ROOT}/Books('{body.get('ID')}')",
                    "ETag": 'W/"1"',
                    "Content-Type": "application/json",
                },
                request.body,
            )
        if request.path == "Books" and request.method == "GET":
            return Response(200, {"Content-Type": "text/plain"}, ",".join(self.books).encode())
        found = re.fullmatch(r"Books\('(.*?)'\)(/.*)?", request.path)
        if found is None or found[1] not in self.books:
            raise not_found()
        if request.method == "GET":
            return Response(200, {"Content-Type": "application/json"}, json.dumps(self.books[found[1]]).encode())
        if request.method == "PATCH":
            if request.headers.get("if-match", 'W/"1"') != 'W/"1"':
                raise ODataError(412, "PRECONDITION_FAILED", "It has changed.")
            self.books[found[1]] |= _object(request.body)
        if request.method == "DELETE":
            del self.books[found[1]]
        return Response(204)

    async def batch(self, body: bytes | str, content_type: str, **headers: str) -> Response:
        """Send a batch."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes) else body.encode()
        return await run_batch(self, Request("POST", "$batch", "", {"content-type": content_type, **given}, raw), "me")

    async def send(self, *parts: str, prefer: str = "", **headers: str) -> list[tuple[Mapping[str, str], int, bytes]]:
        """Send a multipart batch of these parts and return its responses, see `parts_of`."""
        more = {"prefer": prefer} if prefer else {}
        response = await self.batch(multipart("b", *parts), "multipart/mixed; boundary=b", **more, **headers)
        assert response.status == 200, response.body
        return parts_of(response)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise bad_request("MALFORMED_BODY", "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise bad_request("MALFORMED_BODY", "The body is not an object.")
    return found


def multipart(boundary: str, *parts: str) -> str:
    """Return parts between boundaries; each is its MIME headers, an empty line and content, in LF, sent as CRLF."""
    joined = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f"{joined}--{boundary}--\n".replace("\r\n", "\n").replace("\n", "\r\n")


def _pieces(content_type: str, body: bytes) -> list[bytes]:
    boundary = content_type.partition("boundary=")[2]
    assert boundary
    assert b"\n" not in body.replace(b"\r\n", b"")
    first, *pieces, last = (b"\r\n" + body).split(f"\r\n--{boundary}".encode())
    assert (first, last.strip()) == (b"", b"--")
    assert all(piece.startswith(b"\r\n") for piece in pieces)
    return [piece[2:] for piece in pieces]


def _fields(head: bytes) -> dict[str, str]:
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n"))}


def parts_of(response: Response) -> list[tuple[Mapping[str, str], int, bytes]]:
    """Return the responses of a multipart batch, change sets flattened: all headers (MIME and HTTP), status and body.

    ``in-set`` is the number of the change set that contains the response.
    """
    found: list[tuple[Mapping[str, str], int, bytes]] = []

    def read(content_type: str, body: bytes, inside: dict[str, str]) -> None:
        for number, piece in enumerate(_pieces(content_type, body), 1):
            mime_text, _, content = piece.partition(b"\r\n\r\n")
            mime = _fields(mime_text)
            if mime["content-type"].startswith("multipart/mixed"):
                read(mime["content-type"], content + b"\r\n", {"in-set": str(number)})
                continue
            assert mime["content-type"] == "application/http"
            head, empty, text = content.partition(b"\r\n\r\n")
            assert empty
            status, _, fields = head.partition(b"\r\n")
            http = _fields(fields) if fields else {}
            found.append((mime | http | inside, int(status.split(b" ")[1]), text))

    read(response.headers["Content-Type"], response.body, {})
    return found

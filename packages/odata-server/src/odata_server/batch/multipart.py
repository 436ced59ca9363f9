"""The multipart batch format: RFC 2046 around HTTP requests and responses (Protocol 4.01, 11.7.7).

Lines may end in CRLF or LF; output always uses CRLF. A body that ends before its closing boundary is refused because it
may have been cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from uuid import uuid4

from odata_server.batch.items import Answer, ChangeSet, Item, Outcome, Part, SetAnswer, check_id, malformed, too_large
from odata_server.http import Response

__all__ = ["media_type", "parse_multipart", "render_multipart"]

_METHOD = re.compile(r"[A-Za-z]{1,20}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VERSION = re.compile(r"[ \t]+HTTP/\d(?:\.\d)?[ \t]*$", re.IGNORECASE)
_PARAMETER = re.compile(r';[ \t]*([^=;" \t]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;" \t]*)[ \t]*')
_REST = re.compile(rb"(--)?[ \t]{0,100}(?:\r?\n|\Z)")
_EMPTY_LINE = re.compile(rb"(?:\A|\r?\n)\r?\n")
_LINE_BREAK = re.compile(r"\r?\n")
_HEAD_BYTES_MAX = 32_768
_MARKS_MAX = 10_000
_PLAIN_ENCODINGS = frozenset({"", "binary", "8bit", "7bit"})


def media_type(header: str) -> tuple[str, Mapping[str, str]]:
    """Split ``multipart/mixed; boundary="a b"`` into ``multipart/mixed`` and its parameters with lower-case names."""
    essence, _, _ = header.partition(";")
    found: dict[str, str] = {}
    for name, value in _PARAMETER.findall(header[len(essence) :]):
        quoted = value.startswith('"')
        found.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", value[1:-1]) if quoted else value)
    return essence.strip().lower(), found


# ---- reading ------------------------------------------------------------------------------------------------------


def parse_multipart(body: bytes, content_type: str, parts_max: int) -> tuple[Part, ...]:
    """Parse the parts of a batch.

    Raise `ODataError` if the body is not a valid batch or has more than ``parts_max`` requests.
    """
    parts: list[Part] = []
    requests = 0
    for part in _split(body, content_type):
        headers, content = _headers(part)
        kind, _ = media_type(headers.get("content-type", ""))
        if kind == "multipart/mixed":
            change_set = _change_set(content, headers["content-type"], parts_max - requests, parts_max)
            requests += len(change_set.items)
            parts.append(change_set)
        else:
            parts.append(_item(headers, content))
            requests += 1
        if max(requests, len(parts)) > parts_max:
            raise too_large(parts_max)
    ids = [item.id for item in _items(parts) if item.id is not None]
    if len(ids) != len(set(ids)):
        raise malformed("A Content-ID is used twice.")
    return tuple(parts)


def _items(parts: Sequence[Part]) -> Iterator[Item]:
    for part in parts:
        if isinstance(part, ChangeSet):
            yield from part.items
        else:
            yield part


def _change_set(body: bytes, content_type: str, room: int, parts_max: int) -> ChangeSet:
    items = []
    for part in _split(body, content_type):
        headers, content = _headers(part)
        kind, _ = media_type(headers.get("content-type", ""))
        if kind == "multipart/mixed":
            raise malformed("A change set must not be inside a change set.")
        item = _item(headers, content)
        if item.method in {"GET", "HEAD"}:
            raise malformed(f"{item.method} {item.url[:100]} is in a change set, which may hold only changes.")
        items.append(item)
        if len(items) > room:
            raise too_large(parts_max)
    return ChangeSet(tuple(items))


def _split(body: bytes, content_type: str) -> Iterator[bytes]:
    """Return the content between the boundaries."""
    boundary = media_type(content_type)[1].get("boundary", "")
    if not 1 <= len(boundary) <= 200:
        raise malformed("The Content-Type of a multipart body has no boundary.")
    mark = b"--" + boundary.encode()
    start: int | None = None
    for at, end, closing in _delimiters(body, mark):
        if start is not None:
            yield body[start : max(start, at)]
        if closing:
            return
        start = end
    raise malformed(f"The closing boundary --{boundary[:70]}-- is missing.")


def _delimiters(body: bytes, mark: bytes) -> Iterator[tuple[int, int, bool]]:
    """Find the delimiter lines.

    Each has the position of the preceding line break, the start of the next line, and whether it closes.
    """
    at = body.find(mark)
    for _ in range(_MARKS_MAX):
        if at < 0:
            return
        rest = _REST.match(body, at + len(mark))
        if rest is not None and (at == 0 or body[at - 1 : at] == b"\n"):
            before = at - 2 if body[max(at - 2, 0) : at] == b"\r\n" else at - 1
            yield max(before, 0), rest.end(), rest[1] is not None
        at = body.find(mark, at + len(mark))
    raise malformed("The boundary occurs in the content of parts.")


def _head(text: bytes) -> tuple[list[str], bytes]:
    """Split a text into the lines before the first empty line and the rest."""
    end = _EMPTY_LINE.search(text, 0, _HEAD_BYTES_MAX)
    if end is None and len(text) > _HEAD_BYTES_MAX:
        raise malformed(f"The headers of a part are longer than {_HEAD_BYTES_MAX} bytes.")
    head, rest = (text, b"") if end is None else (text[: end.start()], text[end.end() :])
    try:
        return _LINE_BREAK.split(head.decode()), rest
    except UnicodeDecodeError:
        raise malformed("The headers of a part are not UTF-8.") from None


def _headers(part: bytes) -> tuple[dict[str, str], bytes]:
    lines, content = _head(part)
    return _fields(lines), content


def _fields(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if line[:1] in {" ", "\t"} and name:  # a folded header
            found[name] += f" {line.strip()}"
            continue
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise malformed(f"{line[:100]!r} is not a header.")
        value = value.strip(" \t\r")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _item(part: Mapping[str, str], content: bytes) -> Item:
    kind, _ = media_type(part.get("content-type", ""))
    if kind != "application/http":
        raise malformed(f"A part is {kind or 'without Content-Type'}, not application/http or multipart/mixed.")
    if part.get("content-transfer-encoding", "").lower() not in _PLAIN_ENCODINGS:
        raise malformed("A part has a Content-Transfer-Encoding other than binary.")
    lines, body = _head(content.lstrip(b"\r\n"))
    method, _, url = lines[0].strip().partition(" ")
    url = _VERSION.sub("", f" {url}").strip()
    if not url or not _METHOD.fullmatch(method):
        raise malformed(f"{lines[0][:100]!r} is not a request line such as GET Books HTTP/1.1.")
    headers = _fields(lines[1:])
    in_head = headers.pop("content-id", None)
    named = part.get("content-id", in_head)
    return Item(
        method=method.upper(),
        url=url.replace(" ", "%20"),  # some clients do not encode spaces in expressions
        headers=headers,
        body=body if body.strip(b"\r\n") else b"",
        id=None if named is None else check_id(named),
        id_in_head=in_head is not None,
    )


# ---- writing ------------------------------------------------------------------------------------------------------


def render_multipart(outcomes: Sequence[Outcome]) -> tuple[str, bytes]:
    """Return the Content-Type and the body of a batch response."""
    boundary = f"batchresponse_{uuid4()}"
    return f"multipart/mixed; boundary={boundary}", _joined(boundary, (_part(outcome) for outcome in outcomes))


def _part(outcome: Outcome) -> bytes:
    if isinstance(outcome, Answer):
        return _answer(outcome)
    if outcome.failed is not None:
        return _answer(outcome.failed)
    return _set(outcome)


def _set(outcome: SetAnswer) -> bytes:
    boundary = f"changesetresponse_{uuid4()}"
    body = _joined(boundary, (_answer(one) for one in outcome.answers))
    return f"Content-Type: multipart/mixed; boundary={boundary}\r\n\r\n".encode() + body


def _joined(boundary: str, parts: Iterator[bytes]) -> bytes:
    mark = f"--{boundary}\r\n".encode()
    return b"".join(mark + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()


def _answer(answer: Answer) -> bytes:
    item = answer.item
    mime = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    if item.id is not None:
        mime += f"Content-ID: {item.id}\r\n"
    extra = {"Content-ID": item.id} if item.id is not None and item.id_in_head else {}
    return f"{mime}\r\n".encode() + _http(answer.response, extra)


def _http(response: Response, extra: Mapping[str, str]) -> bytes:
    try:
        reason = HTTPStatus(response.status).phrase
    except ValueError:
        reason = "Unknown"
    headers = {**response.headers, **extra}
    if response.status != HTTPStatus.NO_CONTENT:
        headers.setdefault("Content-Length", str(len(response.body)))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {response.status} {reason}\r\n{lines}\r\n".encode() + response.body

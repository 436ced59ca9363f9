"""What a batch consists of, whichever of its two formats it came in and goes out.

`odata_server.batch.multipart` and `odata_server.batch.json` make these from a body and a body from these;
`odata_server.batch.run` carries them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from odata_server.errors import ODataError, bad_request
from odata_server.http import Response

__all__ = ["Answer", "ChangeSet", "Item", "Outcome", "Part", "SetAnswer", "check_id", "malformed", "too_large"]

_ID = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One request of a batch, as the client wrote it; names of ``headers`` are lower-case.

    ``id_in_head``: its Content-ID stood among the headers of the request itself. ``depends_on`` names requests and
    sets before it, ``condition`` is what a JSON batch says under ``if``.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    id: str | None = None
    id_in_head: bool = False
    depends_on: tuple[str, ...] = ()
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Requests that succeed or fail together; ``name`` is that of a JSON batch's atomicity group."""

    items: tuple[Item, ...]
    name: str | None = None


Part = Item | ChangeSet


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request came to."""

    item: Item
    response: Response


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """What a change set came to, request by request; ``failed`` is the answer of the one that undid them all."""

    change_set: ChangeSet
    answers: tuple[Answer, ...]
    failed: Answer | None = None


Outcome = Answer | SetAnswer


def check_id(text: str) -> str:
    """A request identifier (Protocol 4.01, 11.7.3). Raises `ODataError` for one that no header could carry."""
    if not _ID.fullmatch(text):
        raise malformed(f"{text[:50]!r} is no identifier of a request: letters, digits and -._~ make one.")
    return text


def malformed(message: str) -> ODataError:
    """The batch as a whole is no batch; nothing of it is carried out."""
    return bad_request("MALFORMED_BATCH", message)


def too_large(parts_max: int) -> ODataError:
    """The batch has more requests than one may have."""
    return bad_request("BATCH_TOO_LARGE", f"A batch has at most {parts_max} requests, those in change sets included.")

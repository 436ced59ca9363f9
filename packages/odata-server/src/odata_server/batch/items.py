"""The parts of a batch, independent of its two wire formats.

`odata_server.batch.multipart` and `odata_server.batch.json` parse a body into these and render these as a body;
`odata_server.batch.run` executes them.
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
    """One request of a batch, as the client wrote it.

    The names in ``headers`` are lower-case. ``id_in_head``: its Content-ID was among the headers of the request itself.
    ``depends_on`` names earlier requests and change sets; ``condition`` is the value of ``if`` in a JSON batch.
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
    """Requests that succeed or fail together; ``name`` is the name of the atomicity group of a JSON batch."""

    items: tuple[Item, ...]
    name: str | None = None


Part = Item | ChangeSet


@dataclass(frozen=True, slots=True)
class Answer:
    """A request of a batch with its response."""

    item: Item
    response: Response


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """The answers of a change set, one per request; ``failed`` is the answer that rolled it back."""

    change_set: ChangeSet
    answers: tuple[Answer, ...]
    failed: Answer | None = None


Outcome = Answer | SetAnswer


def check_id(text: str) -> str:
    """Return a valid request identifier (Protocol 4.01, 11.7.3).

    Raise `ODataError` for one that cannot be sent in a header.
    """
    if not _ID.fullmatch(text):
        raise malformed(f"{text[:50]!r} is not a request identifier: use only letters, digits and -._~.")
    return text


def malformed(message: str) -> ODataError:
    """Return the error for a malformed batch; no request of it is executed."""
    return bad_request("MALFORMED_BATCH", message)


def too_large(parts_max: int) -> ODataError:
    """Return the error for a batch with more requests than allowed."""
    return bad_request("BATCH_TOO_LARGE", f"A batch has at most {parts_max} requests, those in change sets included.")

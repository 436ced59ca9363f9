"""Messages beside an answer that is a success: the header `sap-messages`, which user interfaces read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["HEADER", "SUCCESS", "WARNING", "Message", "as_header"]

HEADER = "sap-messages"
SUCCESS, INFO, WARNING = 1, 2, 3
"""How grave a message is; 4, an error, is no success."""

_BYTES_MAX = 3_500  # proxies take some 4 KiB of headers in all
_TEXT_MAX = 500


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``target`` is a path from the request's resource; ``severity`` as `SUCCESS` and its like.

    ``is_passing``: it tells of what was done, and not of a state that lasts until the user mends it.
    """

    code: str
    text: str
    severity: int
    target: str | None = None
    is_passing: bool = False


def as_header(messages: Iterable[Message]) -> dict[str, str]:
    """The header; nothing without messages. What is too much for a header is counted in its last message."""
    every = list(messages)
    found: list[str] = []
    left = _BYTES_MAX
    for place, message in enumerate(every):
        text = _encoded(message)
        left -= len(text) + 1
        if left < 0:
            rest = len(every) - place
            found.append(_encoded(Message("MORE_MESSAGES", f"And {rest} more.", message.severity)))
            break
        found.append(text)
    return {HEADER: f"[{','.join(found)}]"} if found else {}


def _encoded(message: Message) -> str:
    """ASCII, as headers have to be."""
    body: dict[str, object] = {"code": message.code, "message": message.text[:_TEXT_MAX]}
    if message.target is not None:
        body["target"] = message.target
    body["numericSeverity"] = message.severity
    if message.is_passing:
        body["transition"] = True
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))

"""Messages that accompany a successful answer: the header `sap-messages`, which user interfaces display."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

HEADER = "sap-messages"
SUCCESS, INFO, WARNING = 1, 2, 3
"""How grave a message is; 4, an error, is no success."""

_BYTES_MAX = 3_500  # proxies accept some 4 KiB of headers in total
_TEXT_MAX = 500


@dataclass(frozen=True, slots=True)
class Message:
    """A message. ``target`` is a path relative to the request's resource; ``severity`` is `SUCCESS` or another level.

    ``is_passing``: it reports an action, and not a state that lasts until the user corrects it.
    """

    code: str
    text: str
    severity: int
    target: str | None = None
    is_passing: bool = False


def as_header(messages: Iterable[Message]) -> dict[str, str]:
    """Return the header, or nothing without messages. Messages that do not fit are counted in a last one."""
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
    """Return the message as JSON in ASCII, as headers require."""
    body: dict[str, object] = {"code": message.code, "message": message.text[:_TEXT_MAX]}
    if message.target is not None:
        body["target"] = message.target
    body["numericSeverity"] = message.severity
    if message.is_passing:
        body["transition"] = True
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))

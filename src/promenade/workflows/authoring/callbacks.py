"""Callback URLs: https, or plain http to hosts that the operator allows."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from promenade.errors import Detail
from promenade.workflows.authoring.allowed import Allowed
from promenade.workflows.authoring.unit import Unit, Write


def check_callback(unit: Unit, write: Write, column: str) -> None:
    """Add INVALID_URL or HTTPS_REQUIRED if the row's URL cannot be called.

    Whether its address is public is checked at the time of the call.
    """
    url = write.after[column]
    if not url or not write.differs(column):
        return
    target = write.target(column)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    plain = not any(character <= " " or character == "\x7f" for character in url)
    if not host or port == 0 or not plain or parts.scheme not in ("http", "https") or parts.username or parts.password:
        message = f"{target} must be an https address without a user name."
        unit.faults.add(Detail("INVALID_URL", message, target))
    elif parts.scheme == "http" and not _allowed(unit.http_hosts).names(host, port or 80):
        message = f"{target} must be an https address; plain http is for hosts that the operator allows."
        unit.faults.add(Detail("HTTPS_REQUIRED", message, target))


@lru_cache(8)  # the operator's list does not change while a process runs
def _allowed(targets: frozenset[str]) -> Allowed:
    return Allowed(targets)

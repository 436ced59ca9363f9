"""Callback URLs: https, or plain http to hosts that the operator allows."""

from __future__ import annotations

from collections.abc import Collection
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
    if url and write.differs(column):
        fault = callback_fault(url, unit.http_hosts, write.target(column))
        if fault is not None:
            unit.faults.add(fault)


def callback_fault(url: str, http_hosts: Collection[str], target: str) -> Detail | None:
    """Return why a URL cannot be called (INVALID_URL, HTTPS_REQUIRED), None if it can.

    ``http_hosts`` may be called with plain http; ``target`` names the property in the request.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    plain = url.isprintable() and " " not in url
    if not host or port == 0 or not plain or parts.scheme not in ("http", "https") or parts.username or parts.password:
        return Detail("INVALID_URL", f"{target} must be an https address without a user name.", target)
    if parts.scheme == "http" and not _allowed(frozenset(http_hosts)).names(host, port or 80):
        message = f"{target} must be an https address; plain http is for hosts that the operator allows."
        return Detail("HTTPS_REQUIRED", message, target)
    return None


@lru_cache(8)  # the operator's list does not change while a process runs
def _allowed(targets: frozenset[str]) -> Allowed:
    return Allowed(targets)

"""Callback URLs: https to public addresses, or whatever the operator allows."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

from promenade.errors import Detail
from promenade.workflows.authoring.allowed import Allowed, address_of, is_public, is_this_machine
from promenade.workflows.authoring.unit import Unit, Write

_NAME_MAX = 254
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")


def check_callback(unit: Unit, write: Write, column: str) -> None:
    """Add INVALID_URL, HTTPS_REQUIRED or ADDRESS_NOT_ALLOWED if the row's URL can never be called.

    What a name leads to is checked at the time of the call: an answer here would tell about the network inside.
    """
    url = write.after[column]
    if url and write.differs(column):
        fault = callback_fault(url, unit.http_hosts, write.target(column))
        if fault is not None:
            unit.faults.add(fault)


def callback_fault(url: str, http_hosts: Collection[str], target: str) -> Detail | None:
    """Return why a URL can never be called (INVALID_URL, HTTPS_REQUIRED, ADDRESS_NOT_ALLOWED), else None.

    ``http_hosts`` may be called with plain http and at private addresses; ``target`` names the property in the request.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    plain = (
        url.isprintable()
        and " " not in url
        and "@" not in parts.netloc
        and ("[" not in parts.netloc or ":" in (host or ""))
    )
    host = _in_ascii(host or "")
    if not host or port == 0 or not plain or parts.scheme not in ("http", "https"):
        return Detail("INVALID_URL", f"{target} must be an https address without a user name.", target)
    allowed = _allowed(frozenset(http_hosts))
    if parts.scheme == "http" and not allowed.names(host, port or 80):
        message = f"{target} must be an https address; plain http is for hosts that the operator allows."
        return Detail("HTTPS_REQUIRED", message, target)
    if not _may_work(host, port or (80 if parts.scheme == "http" else 443), allowed):
        message = f"{target} must be at a public address, or at one that the operator allows."
        return Detail("ADDRESS_NOT_ALLOWED", message, target)
    return None


def _in_ascii(host: str) -> str:
    """Return a host as it is looked up, whatever script it is written in; empty if no host can have this name."""
    if not host.isascii():
        import idna  # noqa: PLC0415 -- few need it

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return ""
    if ":" in host:
        return host if address_of(host) is not None else ""
    labels = host.removesuffix(".").split(".")
    return host if len(host) <= _NAME_MAX and all(_LABEL.fullmatch(one) for one in labels) else ""


def _may_work(host: str, port: int, allowed: Allowed) -> bool:
    address = address_of(host)
    if address is None:
        return not is_this_machine(host) or allowed.names(host, port)
    return is_public(address) or allowed.opens(host, port, address)


@lru_cache(8)  # the operator's list does not change while a process runs
def _allowed(targets: frozenset[str]) -> Allowed:
    return Allowed(targets)

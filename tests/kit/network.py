"""Prevents tests from reaching other machines: outbound connections and look-ups raise an error."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterable

__all__ = ["allow_hosts", "forbid_outbound"]

_LOCAL_NAMES = {"", "localhost", "ip6-localhost"}
_allowed: set[str] = set()


class OutboundForbidden(RuntimeError):
    """A test tried to reach another machine."""


def allow_hosts(hosts: Iterable[str]) -> None:
    """Let tests also reach these hosts: servers that the environment names for them."""
    _allowed.update(hosts)


def forbid_outbound() -> None:
    """Restrict this process to the loopback interface. Call it once: it cannot be undone."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        if isinstance(address, tuple) and not _is_local(str(address[0])):
            raise OutboundForbidden(f"a test tried to reach {address[0]}")
    elif event == "socket.getaddrinfo":
        host = arguments[0]
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not _is_local(str(name)):
            raise OutboundForbidden(f"a test tried to look up {name}")


def _is_local(host: str) -> bool:
    if host in _LOCAL_NAMES or host in _allowed:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified

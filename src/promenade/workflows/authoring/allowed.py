"""Addresses that the operator opens for callbacks: authors may name them, and deliveries may go there."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class Allowed:
    """The operator's exceptions: hosts, host:port, addresses and networks, matched exactly (``--webhook-allow``)."""

    def __init__(self, targets: Iterable[str]) -> None:
        self._hosts: set[tuple[str, int | None]] = set()
        self._networks: list[tuple[Network, int | None]] = []
        for target in targets:
            self._add(target.strip().lower())

    def _add(self, target: str) -> None:
        if (network := _network(target)) is not None:
            self._networks.append((network, None))
            return
        host, colon, port = target.rpartition(":")
        name, number = (host, int(port)) if colon and port.isascii() and port.isdigit() else (target, None)
        if (network := _network(name)) is not None:
            self._networks.append((network, number))
        else:
            self._hosts.add((_plain_name(name), number))

    def names(self, host: str, port: int) -> bool:
        """Return whether a host, as spelled in a URL, is listed; plain http is allowed to listed hosts."""
        name = _plain_name(host)
        if (name, None) in self._hosts or (name, port) in self._hosts:
            return True
        try:
            return self._holds(ip_address(name), port)
        except ValueError:
            return False

    def opens(self, host: str, port: int, address: Address) -> bool:
        """Return whether a connection to ``address`` for this host and port is allowed, even if it is not public."""
        return self.names(host, port) or self._holds(address, port)

    def _holds(self, address: Address, port: int) -> bool:
        # An IPv4-mapped IPv6 address is allowed where its IPv4 address is.
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return any(
            open_port in (None, port) and (address in network or (mapped is not None and mapped in network))
            for network, open_port in self._networks
        )


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


def _plain_name(host: str) -> str:
    return host.lower().removesuffix(".")

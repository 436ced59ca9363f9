"""Addresses that callbacks may have: those of the public internet, and those that the operator opens."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from socket import inet_aton

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# IANA's special-purpose registries, 2025, without the globally reachable entries.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # a public address used by a cloud provider for its instances' metadata
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")  # all of the assigned global unicast space
_NOT_PUBLIC_6 = tuple(
    IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "3fff::/20")
)  # protocol assignments (Teredo: the embedded addresses are checked), documentation
_NAT64 = IPv6Network("64:ff9b::/96")
_TEREDO = IPv6Network("2001::/32")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_OF_NUMBERS = frozenset("0123456789abcdefx.")
_ISATAP = (0x00005EFE, 0x02005EFE)  # in front of an IPv4 address in the lower half


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet, as well as every IPv4 address embedded in it."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    number = int(address)
    carried = IPv4Address(number & 0xFFFFFFFF)
    if address in _NAT64:
        return is_public(carried)
    if address not in _GLOBAL_6:  # this excludes mapped, compatible and translated IPv4, local and multicast addresses
        return False
    if (number >> 32) & 0xFFFFFFFF in _ISATAP and not is_public(carried):
        return False
    if address in _SIX_TO_FOUR:
        return is_public(IPv4Address((number >> 80) & 0xFFFFFFFF))
    if address in _TEREDO:
        server, client = IPv4Address((number >> 64) & 0xFFFFFFFF), IPv4Address(~number & 0xFFFFFFFF)
        return is_public(server) and is_public(client)
    return not any(address in network for network in _NOT_PUBLIC_6)


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


def address_of(host: str) -> Address | None:
    """Return the address that a host of a URL is, in any notation that resolvers take, such as ``127.1``; else None."""
    name = _plain_name(host)
    with suppress(ValueError):
        return ip_address(name)
    try:
        return IPv4Address(inet_aton(name)) if name and set(name) <= _OF_NUMBERS else None
    except OSError:
        return None


def is_this_machine(host: str) -> bool:
    """Return whether a name stands for whatever machine looks it up (RFC 6761, 6.3)."""
    return _plain_name(host).rpartition(".")[2] == "localhost"


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


def _plain_name(host: str) -> str:
    return host.lower().removesuffix(".")

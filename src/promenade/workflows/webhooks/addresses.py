"""Where deliveries may go: public addresses, and what the operator names (reliability W4).

The check is made where a connection is: a name is resolved once, its addresses are judged, and the connection goes to
the very address that was judged. A name that leads elsewhere a moment later gains nothing by it.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from httpcore2 import AnyIOBackend, AsyncNetworkStream, ConnectError, ConnectTimeout

from promenade.workflows.webhooks.bounds import BoundedStream

__all__ = ["LOOK_UPS_MAX", "Allowed", "GuardedBackend", "NotPublic", "Resolve", "Unresolved", "is_public", "look_up"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, in the order to try them; raises OSError for a name that leads nowhere."""

ADDRESSES_MAX = 4  # tried of one host
CONNECT_SECONDS = 5.0  # for one address, while there are others
LOOK_UPS_MAX = 64  # at once, that began within the last second
SLOW_SECONDS = 1.0

# IANA's special-purpose registries, 2025, without what is globally reachable by its own right.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # a public number behind which a cloud keeps what it tells its own machines
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")  # all that is assigned for global unicast
_NOT_PUBLIC_6 = tuple(
    IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "3fff::/20")
)  # protocol assignments (Teredo is judged by what it carries), documentation
_NAT64 = IPv6Network("64:ff9b::/96")
_TEREDO = IPv6Network("2001::/32")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)  # before an IPv4 address in the lower half


class NotPublic(Exception):
    """None of the host's addresses may be called."""


class Unresolved(Exception):
    """The host's name leads nowhere."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, and so is every IPv4 address that it carries."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    number = int(address)
    carried = IPv4Address(number & 0xFFFFFFFF)
    if address in _NAT64:
        return is_public(carried)
    if address not in _GLOBAL_6:  # this leaves out mapped, compatible and translated IPv4, local and multicast ones
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
    """What the operator opens: hosts, host:port, addresses and networks, each exactly that (``--webhook-allow``)."""

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
        """Whether a host, as an address spells it, is named: then also plain http may go there."""
        name = _plain_name(host)
        if (name, None) in self._hosts or (name, port) in self._hosts:
            return True
        try:
            return self._holds(ip_address(name), port)
        except ValueError:
            return False

    def opens(self, host: str, port: int, address: Address) -> bool:
        """Whether a connection to ``address`` for this host and port is open, be it public or not."""
        return self.names(host, port) or self._holds(address, port)

    def _holds(self, address: Address, port: int) -> bool:
        # IPv4 in the guise of IPv6 is opened by what opens the IPv4 address.
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


class GuardedBackend(AnyIOBackend):
    """Makes the connections of a pool: to public addresses, and to what is ``allowed``; one per process."""

    def __init__(self, allowed: Allowed, resolve: Resolve | None = None) -> None:
        self._allowed = allowed
        self._resolve = resolve or look_up
        self._places = asyncio.Semaphore(LOOK_UPS_MAX)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the name is the library's
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to one of the host's open addresses. Raises NotPublic, Unresolved, ConnectError."""
        addresses = [one for one in await self._addresses(host, port) if self._is_open(host, port, one)]
        if not addresses:
            raise NotPublic(host)
        *others, last = addresses[:ADDRESSES_MAX]
        for address in others:
            with suppress(ConnectError, ConnectTimeout):
                return BoundedStream(await super().connect_tcp(str(address), port, CONNECT_SECONDS))
        return BoundedStream(await super().connect_tcp(str(last), port, timeout))

    async def connect_unix_socket(self, *_: object, **__: object) -> AsyncNetworkStream:
        """Refused: a file is no address of the internet."""
        raise NotPublic("a socket of this machine")

    def _is_open(self, host: str, port: int, address: Address) -> bool:
        return is_public(address) or self._allowed.opens(host, port, address)

    async def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        try:
            found = await self._look_up(host, port)
            addresses = [ip_address(one) for one in dict.fromkeys(found)]
        except (OSError, ValueError) as error:  # ValueError: no name at all, such as one with a label too long
            raise Unresolved(host) from error
        if not addresses:
            raise Unresolved(host)
        return addresses

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """Ask for a host's addresses. What takes long leaves its place: names that hang do not hold up the others."""
        await self._places.acquire()
        has_left = False

        def leave() -> None:
            nonlocal has_left
            if not has_left:
                has_left = True
                self._places.release()

        timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, leave)
        try:
            return await self._resolve(host, port)
        finally:
            timer.cancel()
            leave()


async def look_up(host: str, port: int) -> list[str]:
    """The addresses that the machine's resolver gives for a host, numbers in odd spellings included."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str], error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    def ask() -> None:
        found: list[str] = []
        fault: Exception | None = None
        try:
            found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, ValueError) as error:
            fault = error
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, found, fault)

    # A thread of its own, that the process does not wait for: a pool's threads would all be held by one name server
    # that hangs, and with them the look-ups of everybody else.
    threading.Thread(target=ask, name="look-up", daemon=True).start()
    return await answer

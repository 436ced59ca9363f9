"""What protects every answer: the host names that the service answers to, and the headers that browsers obey.

A page of another site whose name was pointed at this machine (DNS rebinding) gets nothing. Links in answers begin with
the public address where the settings name it, else with the name or address that the request was sent to.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from promenade.settings import Settings
from promenade.web.http.leaving import Leaving
from promenade.web.http.problems import Headers

__all__ = ["ALWAYS", "Hosts", "Protection"]

_HOST = re.compile(
    r"\[(?P<v6>[0-9a-f:.]{2,45})\](?::(?P<port6>\d{1,5}))?|(?P<name>[a-z0-9_.-]{1,253}?)\.?(?::(?P<port>\d{1,5}))?",
    re.ASCII,
)
_KNOWN_MAX = 1_000
# Of an answer that has no policy of its own: it is data. As a page it would load, send and lead to nothing, and no page
# may frame it.
_POLICY = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
ALWAYS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""What every answer has that does not say otherwise."""

_YEAR = 365 * 24 * 3600
_CLOSES = (b"connection", b"close")


class Hosts:
    """The host names that the service answers to: addresses, the machine's own names, and those that settings name.

    ``full_name`` returns the machine's name in its domain; it may ask a name server, so it is called once at most.
    """

    def __init__(self, names: Iterable[str] = (), full_name: Callable[[], str] = socket.getfqdn) -> None:
        machine = socket.gethostname().lower()
        self._names = {"localhost", machine, f"{machine}.local", *(name.lower() for name in names)}
        self._full_name: Callable[[], str] | None = full_name
        self._known: set[bytes] = set()  # headers that were found to name this service

    async def has(self, host: bytes) -> bool:
        """Return whether a Host header names this service."""
        if host in self._known:
            return True
        found = _HOST.fullmatch(host.decode("latin-1").lower())
        port = "" if found is None else found["port"] or found["port6"] or "80"
        name = "" if found is None or not 0 < int(port) < 65536 else found["v6"] or found["name"]
        is_ours = "*" in self._names or name in self._names or _is_address(name) or await self._is_full_name(name)
        if is_ours and len(self._known) < _KNOWN_MAX:
            self._known.add(host)
        return is_ours

    async def _is_full_name(self, name: str) -> bool:
        if self._full_name is not None:
            ask, self._full_name = self._full_name, None
            self._names.add((await asyncio.to_thread(ask)).lower())
        return name in self._names


class Protection:
    """What the outermost layer does for every request and answer. ``public_url`` is how clients reach the service.

    ``has_subdomains``: hosts below it are reached by https alone, too, whoever they belong to.
    While the process is ``leaving``, each answer closes its connection.
    """

    def __init__(
        self,
        hosts: Hosts | None = None,
        public_url: str | None = None,
        leaving: Leaving | None = None,
        *,
        has_subdomains: bool = False,
    ) -> None:
        self.leaving = leaving or Leaving()
        self.hosts = hosts or Hosts()
        self.public_url = public_url
        self._always = [*ALWAYS]
        if public_url is not None and public_url.startswith("https:"):
            below = b"; includeSubDomains" if has_subdomains else b""
            self._always.append((b"strict-transport-security", b"max-age=%d" % _YEAR + below))

    @classmethod
    def of(cls, settings: Settings, leaving: Leaving | None = None) -> Protection:
        """Return the protection that the settings describe."""
        reached = [urlsplit(url).hostname or "" for url in (settings.base_url, settings.mtls_url)]
        names = [*settings.allowed_hosts, *reached]
        public_url = None if settings.public_url is None else settings.base_url
        return cls(Hosts(names), public_url, leaving, has_subdomains=settings.hsts_subdomains)

    def added(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> Headers:
        """Return the headers of an answer with those of ours that it has not set itself.

        A 304 gets none: browsers would give them to the answer that they have kept.
        """
        given = [*headers, _CLOSES] if self.leaving.has_begun else list(headers)
        if status == 304:
            return given
        names = {name for name, _ in given}
        return [*given, *(one for one in self._always if one[0] not in names)]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

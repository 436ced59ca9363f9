"""A store's link to its cloud: its state, and whether the cloud answers with this certificate, clock and version."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import msgspec

from promenade import __version__
from promenade.doctor.findings import Finding, judge_clock, judge_expiry
from promenade.doctor.service import Health
from promenade.store.replica.link import Link
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient
from promenade.workflows.replica.linking import link_state
from promenade.workflows.uplink import CloudRefused, CloudUnreachable

_SECONDS_MAX = 10.0
_HTTPS_PORT = 443


async def examine_link(link: Link | None, clock: Callable[[], datetime]) -> Sequence[Finding]:
    """Look at the link, and ask the cloud for its health with the store's credentials; nothing is registered."""
    if link is None:
        return [Finding.ok("link", "The store has no cloud: it prices and sells on its own.")]
    return [_last_exchange(link, clock()), *await _certificate(link, clock()), *await _cloud(link, clock)]


def _last_exchange(link: Link, at: datetime) -> Finding:
    state = link_state(link, at)
    url = link.settings.url
    synced = f"It has never been up to date with {url}."
    if link.last_sync_at is not None:
        synced = f"It was last up to date with {url} at {link.last_sync_at:%Y-%m-%d %H:%M:%S} UTC."
    if state == "CONNECTED":
        return Finding.ok("link", synced)
    if state == "WAITING":
        return Finding.warn("link", f"It has not been tried yet with {url}.", "Start the store; it tries at once.")
    if state == "QUIET":
        return Finding.warn("link", f"{synced} It has not tried for a while.", "Start the store.")
    remedy = "Mend what it names; `promenade sync-link test` tries it at once, and the store again by itself."
    return Finding.fail("link", f"{synced} The last try failed: {link.last_error}", remedy)


async def _certificate(link: Link, at: datetime) -> Sequence[Finding]:
    address = urlsplit(link.settings.url)
    if address.scheme != "https" or address.hostname is None:
        return []
    try:
        async with asyncio.timeout(_SECONDS_MAX):
            _, writer = await asyncio.open_connection(
                address.hostname, address.port or _HTTPS_PORT, ssl=await asyncio.to_thread(ssl.create_default_context)
            )
    except ssl.SSLCertVerificationError as error:
        remedy = "See that it names this host, is not expired, and that its issuer is trusted here (SSL_CERT_FILE)."
        return [Finding.fail("certificate", f"The cloud's is not accepted: {error.verify_message}.", remedy)]
    except (OSError, TimeoutError, UnicodeError):
        return []  # behind a proxy; else the next check says it
    shown = writer.get_extra_info("peercert") or {}
    writer.close()
    if "notAfter" not in shown:
        return []
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(shown["notAfter"]), UTC)
    return [judge_expiry(f"The cloud's at {address.hostname}", until - at, "Renew it at the cloud.")]


async def _cloud(link: Link, clock: Callable[[], datetime]) -> Sequence[Finding]:
    settings = link.settings
    access = CloudAccess(settings.url, settings.auth_url, settings.client_id, settings.client_secret)
    client = HttpCloudClient(access, seconds_max=_SECONDS_MAX)
    try:
        await client.token()
        asked_at = clock()
        health = msgspec.convert(await client.get("/health", {}), Health)
        answered_at = clock()
    except msgspec.ValidationError:
        remedy = "Set the address of the cloud's Promenade: `promenade sync-link set --url`."
        return [Finding.fail("cloud", f"Something else answers at {settings.url}.", remedy)]
    except CloudRefused as error:
        remedy = "Give the store a client with the scope svc.Sync: `promenade sync-link set --client-id`."
        return [Finding.fail("cloud", error.message, remedy)]
    except CloudUnreachable as error:
        remedy = "See that this machine has the network, that a firewall or proxy lets it through, and that it is the"
        return [Finding.fail("cloud", error.message, f"{remedy} right address (`promenade sync-link show`).")]
    finally:
        await client.close()
    findings = [Finding.ok("cloud", f"It answers at {settings.url} and accepts this store's credentials.")]
    if health.timestamp is not None:
        middle = asked_at + (answered_at - asked_at) / 2
        findings.append(judge_clock((middle - health.timestamp) / timedelta(seconds=1), "the cloud", "cloud-clock"))
    return [*findings, _versions(health.version)]


def _versions(cloud: str) -> Finding:
    message = f"The store has {__version__}, the cloud {cloud}."
    if _minor(cloud) == _minor(__version__):
        return Finding.ok("cloud-version", message)
    if (_minor(cloud) or (0,)) < (_minor(__version__) or (0,)):
        return Finding.warn("cloud-version", message, "Upgrade the cloud: it should have a new version first.")
    return Finding.warn("cloud-version", message, "Upgrade the store: versions should differ for days only.")


def _minor(version: str) -> tuple[int, ...] | None:
    numbers = version.split(".")[:2]
    return tuple(int(one) for one in numbers) if all(one.isdecimal() for one in numbers) else None

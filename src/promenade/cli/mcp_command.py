"""The command that gives agents tools, by the Model Context Protocol."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

import click

from promenade.cli.console import option, run
from promenade.errors import Unavailable
from promenade.settings import LOOPBACK_HOSTS

_NAME_MAX = 100


@click.command("mcp")
@option("--url", required=True, help="Where the service is, such as https://promenade.example.com.")
@option("--client-id", help="A client of the service's own issuer, for which the agent works.")
@option("--client-secret", help="Its secret; better given by the environment variable.")
@option("--token", help="Instead of a client: a bearer token, of a person or of an external issuer.")
@option("--agent", default="mcp", show_default=True, help="The agent's name in the audit trail.")
def mcp(url: str, client_id: str | None, client_secret: str | None, token: str | None, agent: str) -> None:
    """Give an agent tools over standard input and output: read, price, draft, check, forecast, submit.

    It works with the rights of the client or person whose credential it gets, over the interfaces of a running service.
    """
    _check_url(url)
    if not (agent.isascii() and agent.isprintable() and 0 < len(agent.strip()) <= _NAME_MAX):
        raise click.UsageError(f"--agent must be up to {_NAME_MAX} printable characters of ASCII.")
    if (token is None) == (client_id is None) or (client_id is None) != (client_secret is None):
        raise click.UsageError("Give either --token, or --client-id and --client-secret.")
    from promenade.cli.log_lines import configure_log

    try:
        from promenade.web.agents.stdio import ClientSecret, GivenToken, serve_stdio
    except ModuleNotFoundError as error:
        if error.name not in {"mcp", "mcp_types"}:
            raise
        message = "The package mcp is missing: in a clone, pip install '.[mcp]'."
        raise Unavailable("MCP_NOT_INSTALLED", message) from None
    configure_log()
    credential = GivenToken(token) if token is not None else ClientSecret(client_id or "", client_secret or "")
    run(serve_stdio(url.rstrip("/"), credential, agent.strip()))


def _check_url(url: str) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in {"http", "https"} or parts.query or parts.fragment or parts.username:
        raise click.UsageError("--url must be an address such as https://promenade.example.com.")
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        raise click.UsageError("--url must begin with https:// unless the service is on this machine.")

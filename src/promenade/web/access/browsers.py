"""The browser of a request and its system, as a person would name them."""

from __future__ import annotations

from starlette.types import Scope

from promenade.web.http.body import header

# In this order: most browsers also name those that they want to be taken for.
_BROWSERS = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
_SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def browser_of(scope: Scope) -> str | None:
    """Return the browser and its system, such as "Firefox, Windows", of at most 40 characters; None: not a known one.

    Nothing that the request says is kept as it is.
    """
    agent = (header(scope, b"user-agent") or b"").decode("latin-1")
    found = (next((name for part, name in known if part in agent), "") for known in (_BROWSERS, _SYSTEMS))
    return ", ".join(one for one in found if one) or None

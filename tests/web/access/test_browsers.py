"""What the service calls the browser of a request."""

from __future__ import annotations

import pytest

from promenade.web.access.browsers import browser_of

CHROME = "(KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("agent", "browser"),
    [
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 {CHROME}", "Chrome, Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 {CHROME} Edg/140.0", "Edge, Windows"),
        (f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 {CHROME} OPR/120.0", "Opera, Linux"),
        ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        (f"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 {CHROME}", "Chrome, Android"),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 {CHROME}", "Chrome, ChromeOS"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15", "Safari, macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1", "Safari, iPhone"),
        ("Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) FxiOS/140.0 Mobile Safari/605.1.15", "Firefox, iPad"),
        ("curl/8.5.0", None),
        ("<script>\xff", None),
        (None, None),
    ],
)
def test_a_browser_is_named_as_people_do(agent: str | None, browser: str | None) -> None:
    headers = [] if agent is None else [(b"user-agent", agent.encode("latin-1"))]
    assert browser_of({"type": "http", "headers": headers}) == browser

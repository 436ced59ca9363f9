"""docs/reference/local-store.md: what a store has in addition to the cloud, from its routes and message structs."""

from __future__ import annotations

import inspect
from typing import Any, cast

from msgspec import Struct

from docs import error_codes
from docs.markdown import table, text_of
from docs.pos_reference import _handlers, _link, _shape
from promenade.web.access.local_admin import (
    ApiKey,
    LocalAdmin,
    LoginRequest,
    Redirect,
    SetupRequest,
    StorePasswordChange,
)
from promenade.web.access.local_requests import Done, LocalRequests
from promenade.web.access.store_state import (
    DownloadState,
    LinkState,
    StoreState,
    StoreStateAdmin,
    TillState,
    UploadState,
)
from promenade.web.access.till_keys import NewTillKey, Rotation, TillKeyAdmin, TillKeys, TillKeyState, TillName

__all__ = ["store_page"]

_INTRO = inspect.cleandoc(
    """
    `promenade serve --edition local-store` serves one store on a database of its own:
    [how to start one](../how-to/first-store.md). It has the addresses of [POS](pos.md), which the store's API key opens
    in `X-Api-Key`, or a key of a single till, and of [administration](admin.md) and [reporting](reporting.md), which
    the session of its administrator opens with all rights (writes show the `X-CSRF-Token` that a `HEAD /admin/` with
    `X-CSRF-Token: Fetch` answers). `/health` and `/metrics` are the same. There is no public API, no token endpoint,
    and no bearer token is accepted.

    Below `/local-admin` everything is a POST of a small JSON object; no body is an empty one.
    """
)
_SESSION = "session"
_NONE = "none"
_CONTRACTS: dict[str, tuple[str, type[Struct] | None, tuple[type[Struct], ...]]] = {
    "_setup": (_NONE, SetupRequest, (Done,)),
    "_login": (_NONE, LoginRequest, (Done, Redirect)),
    "_change_password": (_SESSION, StorePasswordChange, (Done,)),
    "_logout": (_NONE, None, (Done,)),
    "_get_api_key": (_SESSION, None, (ApiKey,)),
    "_regenerate_api_key": (_SESSION, None, (ApiKey,)),
    "_list": (_SESSION, None, (TillKeys,)),
    "_create": (_SESSION, TillName, (NewTillKey,)),
    "_rotate": (_SESSION, Rotation, (NewTillKey,)),
    "_revoke": (_SESSION, TillName, (Done,)),
    "_get_state": (_SESSION, None, (StoreState,)),
}
_MESSAGES: tuple[type[Struct], ...] = (
    SetupRequest,
    LoginRequest,
    StorePasswordChange,
    Done,
    Redirect,
    ApiKey,
    TillName,
    Rotation,
    NewTillKey,
    TillKeys,
    TillKeyState,
    StoreState,
    LinkState,
    DownloadState,
    TillState,
    UploadState,
)
_BESIDE = inspect.cleandoc(
    """
    The body is `{"error": {"code", "message", "target"}}`. A browser is refused what it does for another site
    (`CROSS_ORIGIN`, by `Sec-Fetch-Site`, or else by `Origin` against the host and `--public-url`); that and its
    `SameSite=Strict` cookie stand in the place of a CSRF token here.
    """
)


def store_page() -> str:
    """Return endpoints, messages and errors."""
    none = cast("Any", None)
    rows = []
    local = LocalAdmin(none, none, none, none, LocalRequests(""), new_key=none, by=none, clock=none)
    keys = TillKeyAdmin(none, none, none, none, new_key=none, by=none, clock=none)
    state = StoreStateAdmin(none, none, none)
    for endpoint in [*local.endpoints(), *keys.endpoints(), *state.endpoints()]:
        for method, handler in _handlers(endpoint):
            opens, takes, gives = _CONTRACTS[handler.__name__]
            answers = " or ".join(_link(one) for one in gives)
            asked = "" if takes is None else _link(takes)
            rows.append((f"`{method} {endpoint.route}`", opens, asked, answers, text_of(handler)))
    shapes = [_shape(one) for one in _MESSAGES]
    parts = ["# Local store", _INTRO, "## Addresses"]
    parts.append(table(("Address", "Opened by", "Request", "Answer", "What it does"), rows))
    parts += ["## Messages", *shapes, "## Errors", _BESIDE]
    parts.append(table(error_codes.COLUMNS, error_codes.error_rows(error_codes.LOCAL_ADMIN)))
    return "\n\n".join(parts)

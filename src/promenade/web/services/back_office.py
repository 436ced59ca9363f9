"""The back office: a web application at `/` that uses `/admin`, `/reporting` and `/pos`, shipped with the package.

`/` is its only page; the files that it loads are below `/ui/<version>/`, where the version is a hash of their contents,
so that browsers can cache them for good. Nothing is loaded from another host. None of the files contains anything about
the user: `/ui/me` returns that to the holder of a token or a session.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import NotFound, Unavailable
from promenade.model.declare import Service
from promenade.model.edm import served_entities
from promenade.model.shape import Mode
from promenade.store.driver.unit import Database
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.oauth import origin_of
from promenade.web.access.roles import ADMIN, OF_ISSUER, ROLES, deciders, verbs_for
from promenade.web.access.sign_in import SignInProvider
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.reader_pages import takes_gzip
from promenade.workflows.authoring.approvals import Policy, read_policy

POS_READER, PUBLIC_READ, PUBLIC_WRITE = "svc.POSReader", "PublicApi.Read", "PublicApi.Write"
PERSON_PASSWORD, STORE_PASSWORD = "/oauth/password", "/local-admin/password"
OWN_SESSIONS = "/oauth/sessions"
_ROOT = "/ui"
_TYPES = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".json": b"application/json",
    ".xml": b"application/xml; charset=utf-8",
    ".properties": b"text/plain; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".html": b"text/html; charset=utf-8",
    ".txt": b"text/plain; charset=utf-8",
    ".woff2": b"font/woff2",
}
_SAFE = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_KEPT = (b"cache-control", b"public, max-age=31536000, immutable")
_SERVED = ("app/", "framework/")
_PRELOAD = "app/Component-preload.js"
# OpenUI5 sets style attributes; its icons and Chart.js' images are data URLs.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src {hosts}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Services(msgspec.Struct, frozen=True, rename="camel"):
    """The services that the user's credential gives access to."""

    admin: bool  #: Whether `/admin` is allowed.
    reporting: bool  #: Whether `/reporting` is allowed.
    pos: bool  #: Whether `/pos` is allowed; in a store with the API key.
    public_api: bool  #: Whether reading and writing `/api/v1` is allowed.
    store: bool  #: Whether this is a store and its administrator, whom `/local-admin` obeys.
    clients: bool  #: Whether this service issues tokens, to the `Clients` and `People` of administration.
    groups: bool  #: Whether another issuer does, whose groups have the scopes of `GroupRoles`.


class Me(msgspec.Struct, frozen=True, rename="camel"):
    """The user of the back office."""

    user: str  #: The user, as in createdBy.
    tenant_id: str  #: The tenant whose data is shown.
    edition: str  #: `cloud` or `local-store`.
    scopes: list[str]  #: The scopes of the credential.
    services: Services  #: The services that these scopes allow.
    sets: dict[str, list[str]]  #: Entity set of administration -> `create`, `update`, `delete`.
    approval_is_binding: bool  #: Whether promotions run only with an approval by somebody else than their authors.
    password_address: str | None  #: Where the user changes their own password; null: the user has none here.
    sessions_address: str | None  #: Where the user sees their own sessions, and ends them; null: they have none here.
    may_decide: bool  #: Whether the user may approve and reject promotions, those of others where it is binding.


def back_office_endpoints(
    authenticator: Authentication,
    edition: str,
    sign_in: SignInProvider,
    database: Database,
    *,
    issues_tokens: bool = False,
) -> list[Endpoint]:
    """Return the endpoints of `/` and the files it loads, which need no credential, and of `/ui/me`, which does."""

    async def page(scope: Scope, receive: Receive) -> Answer:
        body = await asyncio.to_thread(_page)
        policy = _POLICY.format(hosts=" ".join(await _hosts(scope, sign_in)))
        headers = [(b"content-security-policy", policy.encode()), (b"cache-control", b"no-cache"), *_SAFE]
        return Answer(body, content_type=(b"content-type", _TYPES[".html"]), headers=headers)

    async def file(scope: Scope, receive: Receive) -> Answer:
        takes_compressed = takes_gzip(header(scope, b"accept-encoding") or b"")
        # Reading, compressing and decompressing take milliseconds each, for which tills would wait.
        return await asyncio.to_thread(_file, **scope["path_params"], takes_compressed=takes_compressed)

    async def settings(scope: Scope, receive: Receive) -> Answer:
        return Answer(msgspec.json.encode(await sign_in(scope)), headers=[(b"cache-control", b"no-store"), *_SAFE])

    async def me(scope: Scope, receive: Receive) -> Answer:
        caller = await authenticator.authenticate_browser(scope)
        caller.require_scope(*ROLES)
        policy = await database.read(read_policy, tenant=caller.tenant_id)
        return Answer(
            msgspec.json.encode(_me(caller, edition, policy, issues_tokens)),
            headers=[(b"cache-control", b"no-store"), *_SAFE],
        )

    return [
        Endpoint("/", {"GET": page}),
        Endpoint(f"{_ROOT}/sign-in.json", {"GET": settings}),
        Endpoint(f"{_ROOT}/me", {"GET": me}),
        Endpoint(_ROOT + "/{version}/{name:path}", {"GET": file}),
    ]


def _me(caller: Caller, edition: str, policy: Policy, issues_tokens: bool) -> Me:
    scopes = caller.scopes
    is_store = caller.session is not None
    has_groups = not issues_tokens and not is_store
    services = Services(
        admin=True,
        reporting=True,
        pos=is_store or not scopes.isdisjoint({POS_READER, ADMIN}),
        public_api=scopes >= {PUBLIC_READ, PUBLIC_WRITE},
        store=is_store,
        clients=issues_tokens,
        groups=has_groups,
    )
    closed = {**dict.fromkeys(OF_ISSUER, not issues_tokens), "GroupRoles": not has_groups, "TenantSettings": is_store}
    written = [
        one.set_name
        for one in served_entities(Service.ADMIN)
        if one.admin is not Mode.RO and not closed.get(one.set_name, False)
    ]
    sets = {name: found for name in written if (found := verbs_for(name, scopes))}
    deciding = deciders(policy.approver_scope if policy.is_binding else None)
    return Me(
        user=caller.user,
        tenant_id=caller.tenant_id,
        edition=edition,
        scopes=sorted(scopes),
        services=services,
        sets=sets,
        approval_is_binding=policy.is_binding,
        password_address=STORE_PASSWORD if is_store else PERSON_PASSWORD if caller.session_id is not None else None,
        sessions_address=None if caller.session_id is None else OWN_SESSIONS,
        may_decide=not scopes.isdisjoint(deciding),
    )


async def _hosts(scope: Scope, sign_in: SignInProvider) -> Iterable[str]:
    """Return where the page may send requests to: this server, and the token issuer."""
    try:
        issuer = origin_of((await sign_in(scope)).token_endpoint or "")
    except Unavailable:
        issuer = None  # the page itself reports that
    return ["'self'"] if issuer is None else ["'self'", issuer]


def file_address(name: str) -> str:
    """Return the path at which a file of the back office is served."""
    return f"{_ROOT}/{_version()}/{name}"


# ---- files --------------------------------------------------------------------------------------------------------


@cache
def _shipped() -> Mapping[str, Traversable]:
    """Return all files by the name under which the page requests them; compressed ones without `.gz`."""
    return dict(_below(files("promenade.web").joinpath("ui"), ""))


def _below(folder: Traversable, prefix: str) -> Iterable[tuple[str, Traversable]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _below(one, f"{prefix}{one.name}/")
        else:
            yield f"{prefix}{one.name.removesuffix('.gz')}", one


@cache
def _version() -> str:
    """Return a short hash of all names and contents."""
    found = hashlib.sha256()
    for name, one in sorted(_shipped().items()):
        found.update(f"{name}\0".encode())
        found.update(one.read_bytes())
    return found.hexdigest()[:16]


def _page() -> bytes:
    return _shipped()["index.html"].read_bytes().replace(b"{{root}}", f"{_ROOT}/{_version()}".encode())


def _file(version: str, name: str, takes_compressed: bool) -> Answer:
    kind = _TYPES.get(name[name.rfind(".") :])
    is_served = version == _version() and name.startswith(_SERVED) and (name == _PRELOAD or name in _shipped())
    if kind is None or not is_served:
        raise NotFound("NOT_FOUND", "There is nothing at this address.")
    headers = [_KEPT, (b"vary", b"accept-encoding"), *_SAFE]
    if kind == _TYPES[".woff2"]:
        return Answer(_shipped()[name].read_bytes(), content_type=(b"content-type", kind), headers=headers)
    body = _compressed(name) if name.startswith("framework/") or name == _PRELOAD else _read_compressed(name)
    if takes_compressed:
        return Answer(body, content_type=(b"content-type", kind), headers=[*headers, (b"content-encoding", b"gzip")])
    return Answer(gzip.decompress(body), content_type=(b"content-type", kind), headers=headers)


@cache
def _compressed(name: str) -> bytes:
    """Return a file compressed; for the files that every browser requests, kept in memory."""
    return gzip.compress(_preload(), mtime=0) if name == _PRELOAD else _read_compressed(name)


def _read_compressed(name: str) -> bytes:
    found = _shipped()[name]
    return found.read_bytes() if found.name.endswith(".gz") else gzip.compress(found.read_bytes(), mtime=0)


def _preload() -> bytes:
    """Return the application as the preload file that OpenUI5 requests first: modules as functions, the rest as
    text.
    """
    members = []
    for name, one in sorted(_shipped().items()):
        path, _, kind = name.removeprefix("app/").rpartition(".")
        if not name.startswith("app/") or kind not in {"js", "xml", "json", "properties"}:
            continue
        text = one.read_text("utf-8")
        value = f"function(){{{text}\n}}" if kind == "js" else msgspec.json.encode(text).decode()
        members.append(f"{msgspec.json.encode(f'promenade/{path}.{kind}').decode()}:{value}")
    return ("sap.ui.require.preload({" + ",\n".join(members) + '},"promenade/Component-preload");\n').encode()
